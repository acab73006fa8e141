// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "engine/book/contexts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sums.h"
#include "base/times.h"

/* Starts of one process, by the kernel's records and by ticks of /proc, differ by no more. */
#define SAME_NS	      20000000u
/* Until two looks are known. */
#define USUAL_NS      1000000000u
/* Looks may be this many usual distances apart: one may be late. */
#define LATE	      2
/* More processes in an interval cannot be kept apart from each other: its users are unknown. */
#define MAX_PROCESSES 4096
#define NR_DISTANCES  8

/**
 * struct looks - at a device
 * @rule: how its owner is looked for, so far
 * @items, @nr: processes of the interval; the first @nr_here were in the last look
 * @first_ns, @last_ns: the first look of the run, and the last one; 0 = none
 * @longest_ns: largest distance of two looks of which the later one is in the interval
 * @missed: a look is missing, or there were too many processes
 * @partial: the last look had too many processes
 * @distances, @nr_distances: of the last looks, as in a ring
 * @told_ns, @samples, @copies: see struct device_users
 */
struct looks {
	enum owner_rule rule;
	struct book_process *items;
	size_t nr, cap;
	size_t nr_here;
	uint64_t first_ns, last_ns;
	uint64_t longest_ns;
	bool missed;
	bool partial;
	uint64_t distances[NR_DISTANCES];
	size_t nr_distances;
	uint64_t told_ns;
	uint64_t samples;
	bool copies;
};

struct contexts {
	const struct trace_header *header;
	struct identity *id;
	struct looks *devices;
	uint64_t *gone_ns; /* see contexts_gone() */
};

/* Of these nothing but open nodes tells the users, where contexts do not. */
static bool is_held(enum device_kind kind)
{
	return kind == DEVICE_GPU || kind == DEVICE_RDMA || kind == DEVICE_VFIO;
}

int contexts_new(const struct trace_header *header, struct identity *id, struct contexts **ret)
{
	struct contexts *x = calloc(1, sizeof(*x));

	if (!x)
		return -ENOMEM;
	x->header = header;
	x->id = id;
	x->devices = calloc(header->nr_devices + 1, sizeof(*x->devices));
	x->gone_ns = calloc(header->nr_devices + 1, sizeof(*x->gone_ns));
	if (!x->devices || !x->gone_ns) {
		contexts_free(x);
		return -ENOMEM;
	}
	for (size_t i = 0; header->holders && i < header->nr_devices; i++)
		if (is_held(header->devices[i].kind))
			x->devices[i].rule = OWNER_NODES;
	*ret = x;
	return 0;
}

void contexts_free(struct contexts *x)
{
	if (!x)
		return;
	for (size_t i = 0; x->devices && i < x->header->nr_devices; i++)
		free(x->devices[i].items);
	free(x->devices);
	free(x->gone_ns);
	free(x);
}

const uint64_t *contexts_gone(const struct contexts *x)
{
	return x->gone_ns;
}

bool contexts_tell(const struct contexts *x, uint32_t device)
{
	return x->devices[device].rule == OWNER_CONTEXTS;
}

static bool is_process(const struct book_process *p, uint32_t pid, uint64_t start_ns)
{
	return p->pid == pid &&
	       later(p->start_ns, start_ns) - earlier(p->start_ns, start_ns) <= SAME_NS;
}

/*
 * The workload that a process is now. It stays unknown if no task of this number began at that
 * time: its number was given to another one, or the task is not known yet.
 */
static int find_workload(struct contexts *x, const struct book_process *p, uint32_t *ret)
{
	const struct workload *w = identity_get(x->id, p->workload);
	const struct task *t = w ? w->task : identity_near(x->id, p->pid, p->start_ns, SAME_NS);
	int err;

	*ret = WORKLOAD_LOST;
	if (!t)
		return 0;
	err = identity_workload(x->id, t->key.pid, t->tgid, t->key.start_ns, t->cgroup_id, ret);
	if (!err)
		identity_keep(x->id, *ret);
	return err;
}

static bool has_cgroup(const struct contexts *x, const struct book_process *p)
{
	const struct workload *w = identity_get(x->id, p->workload);

	return w && w->key.cgroup_id;
}

/* The process in the interval; NULL with 0 returned: it is one too many. */
static int add_process(struct contexts *x, struct looks *l, const struct book_process *new,
		       struct book_process **ret)
{
	*ret = NULL;
	if (l->nr == MAX_PROCESSES) {
		l->missed = l->partial = true;
		return 0;
	}
	if (array_reserve(l->items, l->cap, l->nr))
		return -ENOMEM;
	l->items[l->nr] = *new;
	*ret = &l->items[l->nr++];
	return find_workload(x, *ret, &(*ret)->workload);
}

/* A process that went to another cgroup has been a user in both. */
static int see(struct contexts *x, struct looks *l, size_t nr_before, const struct trace_context *c,
	       uint64_t now_ns)
{
	struct book_process new = { .pid = c->pid,
				    .start_ns = c->start_ns,
				    .instance = c->instance,
				    .workload = WORKLOAD_LOST,
				    .from_ns = earlier(c->since_ns, now_ns),
				    .to_ns = now_ns,
				    .here = true };
	struct book_process *p;
	uint32_t workload;
	int err;

	for (size_t i = 0; i < nr_before; i++) {
		p = &l->items[i];
		if (p->instance != c->instance || !is_process(p, c->pid, c->start_ns))
			continue;
		err = find_workload(x, p, &workload);
		if (err)
			return err;
		if (workload == p->workload || !has_cgroup(x, p)) {
			p->workload = workload;
			p->to_ns = now_ns;
			p->here = true;
			return 0;
		}
		new.from_ns = now_ns;
	}
	return add_process(x, l, &new, &p);
}

/* Those that are here come first. */
static void put_in_order(struct looks *l)
{
	l->nr_here = 0;
	for (size_t i = 0; i < l->nr; i++) {
		struct book_process p = l->items[i];

		if (!p.here)
			continue;
		l->items[i] = l->items[l->nr_here];
		l->items[l->nr_here++] = p;
	}
}

static int see_all(struct contexts *x, struct looks *l, const struct trace_contexts *look)
{
	size_t before = l->nr_here;
	int err = 0;

	l->partial = false;
	for (size_t i = 0; i < before; i++)
		l->items[i].here = false;
	for (uint32_t i = 0; i < look->nr && !err; i++)
		err = see(x, l, before, &look->processes[i], look->end_ns);
	put_in_order(l);
	return err;
}

static void note_distance(struct looks *l, const struct trace_contexts *look)
{
	uint64_t ns;

	if (!l->last_ns) {
		l->first_ns = look->end_ns;
		return;
	}
	ns = look->end_ns > l->last_ns ? look->end_ns - l->last_ns : 0;
	l->longest_ns = later(l->longest_ns, ns);
	/* A look between them could not tell. */
	l->missed |= look->start_ns > l->last_ns;
	if (ns && look->start_ns <= l->last_ns)
		l->distances[l->nr_distances++ % NR_DISTANCES] = ns;
}

int contexts_look(struct contexts *x, const struct trace_contexts *look)
{
	struct looks *l = &x->devices[look->device];

	if (l->rule != OWNER_CONTEXTS) {
		l->rule = OWNER_CONTEXTS;
		l->nr = l->nr_here = 0;
	}
	note_distance(l, look);
	l->last_ns = later(l->last_ns, look->end_ns);
	if (look->nr)
		x->gone_ns[look->device] = 0;
	else if (l->nr_here)
		x->gone_ns[look->device] = l->last_ns;
	return see_all(x, l, look);
}

int contexts_holders(struct contexts *x, const struct trace_contexts *look)
{
	struct looks *l = &x->devices[look->device];
	int err;

	if (l->rule == OWNER_CONTEXTS)
		return 0;
	l->rule = OWNER_NODES;
	l->nr_here = l->nr;
	err = see_all(x, l, look);
	/* The next look tells nothing if it finds one owner. */
	for (size_t i = 0; i < l->nr; i++)
		l->items[i].here = false;
	l->nr_here = 0;
	return err;
}

/* Of several entries of a process the last one; those that are here come first. */
static struct book_process *find_process(const struct looks *l, uint32_t pid, uint64_t start_ns)
{
	struct book_process *found = NULL;

	for (size_t i = 0; i < l->nr && !(found && found->here); i++)
		if (is_process(&l->items[i], pid, start_ns))
			found = &l->items[i];
	return found;
}

int contexts_activity(struct contexts *x, const struct trace_activity *a)
{
	struct looks *l = &x->devices[a->device];
	int err = 0;

	l->copies = a->copies && (l->copies || !l->told_ns);
	l->told_ns = sum_capped(l->told_ns, a->end_ns - a->start_ns);
	l->samples = sum_capped(l->samples, a->samples);
	for (uint32_t i = 0; i < a->nr && !err; i++) {
		const struct trace_busy *b = &a->processes[i];
		struct book_process *p = find_process(l, b->pid, b->start_ns);
		/* It came and went between two looks. */
		const struct book_process new = { .pid = b->pid,
						  .start_ns = b->start_ns,
						  .instance = TRACE_NO_INSTANCE,
						  .workload = WORKLOAD_LOST,
						  .from_ns = a->end_ns,
						  .to_ns = a->end_ns };

		if (!b->busy_ns)
			continue;
		if (!p)
			err = add_process(x, l, &new, &p);
		if (err || !p)
			continue;
		p->busy_ns = sum_capped(p->busy_ns, b->busy_ns);
		p->copy_ns = sum_capped(p->copy_ns, earlier(b->copy_ns, b->busy_ns));
	}
	return err;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The usual distance of looks: their median. */
static uint64_t usual(const struct looks *l)
{
	size_t nr = l->nr_distances < NR_DISTANCES ? l->nr_distances : NR_DISTANCES;
	uint64_t sorted[NR_DISTANCES];

	if (!nr)
		return USUAL_NS;
	memcpy(sorted, l->distances, sizeof(sorted));
	qsort(sorted, nr, sizeof(*sorted), by_size);
	return sorted[nr / 2];
}

static bool are_known(const struct looks *l, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t most = LATE * usual(l);

	if (!l->last_ns || l->missed || l->longest_ns > most)
		return false;
	if (l->first_ns > start_ns && l->first_ns - start_ns > most)
		return false;
	return end_ns <= l->last_ns || end_ns - l->last_ns <= most;
}

static int by_start(const void *a, const void *b)
{
	const struct book_process *x = a, *y = b;

	return ORDER(x->from_ns, y->from_ns) ?: ORDER(x->pid, y->pid) ?: ORDER(x->instance, y->instance)
	       ?: ORDER(x->start_ns, y->start_ns);
}

/*
 * A move to another cgroup becomes known when the task has run there, which may be after the look: at
 * the end of an interval those of the last look are looked up again, so that none owns it from a
 * cgroup that it had left.
 */
static int see_at_end(struct contexts *x, struct looks *l, uint64_t end_ns)
{
	size_t before = l->nr_here;
	int err = 0;

	for (size_t i = 0; i < before; i++)
		l->items[i].here = false;
	for (size_t i = 0; i < before && !err; i++) {
		const struct book_process *p = &l->items[i];
		const struct trace_context c = { .pid = p->pid,
						 .start_ns = p->start_ns,
						 .instance = p->instance,
						 .since_ns = end_ns };

		err = see(x, l, before, &c, later(p->to_ns, end_ns));
	}
	put_in_order(l);
	return err;
}

static int close_device(struct contexts *x, uint32_t device, uint64_t start_ns, uint64_t end_ns,
			struct book *book)
{
	struct looks *l = &x->devices[device];
	struct book_use use = { .rule = l->rule,
				.start_ns = start_ns,
				.end_ns = end_ns,
				.told_ns = l->told_ns,
				.samples = l->samples,
				.copies = l->copies };
	int err = see_at_end(x, l, end_ns);

	/* By now tasks of those that are gone may be known, too. */
	for (size_t i = l->nr_here; i < l->nr && !err; i++)
		if (!has_cgroup(x, &l->items[i]))
			err = find_workload(x, &l->items[i], &l->items[i].workload);
	if (l->nr)
		qsort(l->items, l->nr, sizeof(*l->items), by_start);
	use.known = are_known(l, start_ns, end_ns);
	/* All are gone by the last look: what moves after it may be a newcomer's. */
	use.gone = l->rule == OWNER_CONTEXTS && l->nr && !l->nr_here && end_ns > l->last_ns;
	if (use.gone && x->gone_ns[device] <= start_ns)
		use.known = false;
	use.processes = l->items;
	use.nr = l->nr;
	if (!err && l->rule != OWNER_NONE)
		err = book_use(book, device, &use);
	/* Links of a function have no users of their own. */
	for (uint32_t i = 0; i < x->header->nr_devices && !err && l->rule != OWNER_NONE; i++)
		if (x->header->devices[i].function == device + 1)
			err = book_use(book, i, &use);
	put_in_order(l);
	l->nr = l->nr_here;
	for (size_t i = 0; i < l->nr; i++) {
		struct book_process *p = &l->items[i];

		p->from_ns = end_ns;
		p->busy_ns = p->copy_ns = 0;
		identity_keep(x->id, p->workload);
	}
	l->longest_ns = l->told_ns = l->samples = 0;
	l->missed = l->partial;
	l->copies = false;
	return err;
}

int contexts_close(struct contexts *x, const uint64_t *starts_ns, const uint64_t *ends_ns,
		   struct book *book)
{
	const struct trace_header *h = x->header;
	int err = 0;

	for (uint32_t i = 0; h->layout.nr_sockets && i < h->nr_devices && !err; i++) {
		uint32_t at = trace_device_socket(h, i);

		err = close_device(x, i, starts_ns[at], ends_ns[at], book);
	}
	return err;
}

void contexts_keep(const struct contexts *x)
{
	for (size_t i = 0; i < x->header->nr_devices; i++)
		for (size_t k = 0; k < x->devices[i].nr; k++)
			identity_keep(x->id, x->devices[i].items[k].workload);
}
