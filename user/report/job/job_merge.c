// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/job/job_merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/fnv.h"
#include "base/hostlist.h"
#include "base/text.h"
#include "report/job/job_kind.h"
#include "report/losses.h"

/* An account that is in a run, so that it is not added a second time */
struct piece {
	uint64_t hash;
	uint64_t end_ns;
	sum128 on_cpu_ns;
};

/* A run of a job: reports whose times touch each other. @folder: see job_merge_add() */
struct run {
	uint64_t start_ns;
	uint64_t end_ns;
	unsigned int folder;
	struct piece *pieces;
	size_t nr_pieces, cap_pieces;
	size_t cap_nodes, cap_kinds;
	struct job_nodes nodes;
	/* of several kinds: without counters */
	struct job_kind all;
};

struct job_merge {
	struct run *runs;
	size_t nr, cap;
	struct job_refused *refused;
	size_t nr_refused, cap_refused;
	struct text_list twice;
};

struct job_merge *job_merge_new(void)
{
	return calloc(1, sizeof(struct job_merge));
}

static void free_run(struct run *r)
{
	for (size_t i = 0; i < r->nodes.nr_kinds; i++)
		job_kind_release(&r->nodes.kinds[i]);
	job_kind_release(&r->all);
	text_list_free(&r->nodes.missing);
	text_list_free(&r->nodes.extra);
	free(r->nodes.kinds);
	free(r->nodes.items);
	free(r->pieces);
}

void job_merge_free(struct job_merge *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->nr; i++)
		free_run(&m->runs[i]);
	for (size_t i = 0; i < m->nr_refused; i++) {
		free(m->refused[i].report);
		free(m->refused[i].text);
	}
	text_list_free(&m->twice);
	free(m->refused);
	free(m->runs);
	free(m);
}

/* --- nodes */

static void value_add(struct job_node_value *to, const struct job_node_value *from)
{
	to->counted |= from->counted;
	to->value += from->value;
	to->low += from->low;
	to->high += from->high;
}

static void add_gpus(struct job_node_gpus *to, const struct job_node_gpus *from)
{
	to->nr = sum_capped(to->nr, from->nr);
	to->held_ns = sum_capped(to->held_ns, from->held_ns);
	to->known_ns = sum_capped(to->known_ns, from->known_ns);
	to->idle_ns = sum_capped(to->idle_ns, from->idle_ns);
	to->busy_ns = sum_capped(to->busy_ns, from->busy_ns);
}

static struct job_node node_of(const struct job_reading *r)
{
	const struct account_job *j = &r->job;
	struct job_node n = {
		.reports = 1,
		.state = j->state,
		.late_start = j->late_start,
		.nr_gaps = j->nr_gaps,
		.gap_ns = j->gap_ns,
		.start_ns = j->whole.start_ns,
		.end_ns = j->whole.end_ns,
		.duration_ns = job_duration(j, &j->whole),
		.covered_ns = j->covered_ns,
		.on_cpu_ns = j->whole.on_cpu_ns,
		.clock_set_ns = job_clock_set(j),
		.clock_back_ns = job_clock_back(j),
		.incomplete = losses_lasting(&j->quality),
		.quality = j->quality,
	};

	str_copy(n.name, sizeof(n.name), r->host.name);
	memcpy(n.gaps, j->gaps, sizeof(n.gaps));
	for (size_t i = 0; i < j->nr_node; i++) {
		n.counters_missing += j->node[i].missing != 0;
		n.incomplete |= j->node[i].missing && !r->node.counters[i].bdf[0];
	}
	for (size_t i = 0; i < j->nr_gpus; i++) {
		const struct account_gpu *g = &j->gpus[i];
		const struct job_node_gpus one = { 1, g->held_ns, g->known_ns, g->idle_ns,
						   g->busy_ns };

		add_gpus(&n.gpus, &one);
	}
	for (size_t i = 0; i < NR_JOB_METRICS; i++) {
		struct job_sum_value v = job_metric(&r->node, j, &j->whole, i);

		if (v.counted)
			n.values[i] = (struct job_node_value){ true, v.value, v.low, v.high };
	}
	return n;
}

/* A second account of a node: the job's cgroup was made again. */
static void join_node(struct job_node *to, const struct job_node *from)
{
	uint64_t gpus;

	if (from->start_ns < to->start_ns)
		to->start_ns = from->start_ns;
	if (from->end_ns > to->end_ns) {
		to->end_ns = from->end_ns;
		to->state = from->state;
	}
	to->reports += from->reports;
	to->late_start |= from->late_start;
	for (size_t i = 0; i < from->nr_gaps && to->nr_gaps < ACCOUNT_MAX_GAPS; i++)
		to->gaps[to->nr_gaps++] = from->gaps[i];
	to->gap_ns = sum_capped(to->gap_ns, from->gap_ns);
	to->duration_ns = sum_capped(to->duration_ns, from->duration_ns);
	to->covered_ns = sum_capped(to->covered_ns, from->covered_ns);
	to->on_cpu_ns += from->on_cpu_ns;
	to->clock_set_ns = sum_capped(to->clock_set_ns, from->clock_set_ns);
	to->clock_back_ns = sum_capped(to->clock_back_ns, from->clock_back_ns);
	to->counters_missing = sum_capped(to->counters_missing, from->counters_missing);
	to->incomplete |= from->incomplete;
#define ADD_LOSS(name, ...) to->quality.name = sum_capped(to->quality.name, from->quality.name);
	QUALITY_NUMBERS(ADD_LOSS)
#undef ADD_LOSS
	gpus = to->gpus.nr > from->gpus.nr ? to->gpus.nr : from->gpus.nr;
	add_gpus(&to->gpus, &from->gpus);
	/* The same GPUs, held once more. */
	to->gpus.nr = gpus;
	for (size_t i = 0; i < NR_JOB_METRICS; i++)
		value_add(&to->values[i], &from->values[i]);
}

static int add_node(struct run *r, const struct job_node *n, uint32_t kind)
{
	struct job_nodes *all = &r->nodes;

	if (array_reserve(all->items, r->cap_nodes, all->nr))
		return -ENOMEM;
	all->items[all->nr] = *n;
	all->items[all->nr++].kind = kind;
	return 0;
}

bool job_node_value(const struct job_node *n, size_t spread, sum128 *ret)
{
	*ret = spread == JOB_SPREAD_CPUS ? n->on_cpu_ns : n->values[spread].value;
	return spread == JOB_SPREAD_CPUS || n->values[spread].counted;
}

bool job_nodes_incomplete(const struct job_nodes *n)
{
	for (size_t i = 0; i < n->nr; i++)
		if (n->items[i].incomplete || n->items[i].state == ACCOUNT_STALE)
			return true;
	return n->missing.nr || n->nr_refused;
}

size_t job_nodes_count(const struct job_nodes *n)
{
	size_t nr = 0;

	for (size_t i = 0; i < n->nr; i++)
		nr += !i || strcmp(n->items[i].name, n->items[i - 1].name) != 0;
	return nr;
}

char *job_nodes_names(const struct job_nodes *n, bool (*is)(const struct job_node *n), size_t size)
{
	cleanup_free const char **names = calloc(n->nr + 1, sizeof(*names));
	size_t nr = 0;

	if (!names)
		return NULL;
	for (size_t i = 0; i < n->nr; i++)
		if (is(&n->items[i]) && (!nr || strcmp(names[nr - 1], n->items[i].name) != 0))
			names[nr++] = n->items[i].name;
	return hostlist_fold(names, nr, size);
}

/* --- runs */

static int add_kind(struct run *r, struct job_kind *k, uint32_t *ret)
{
	struct job_nodes *n = &r->nodes;
	size_t i = 0;
	int err;

	while (i < n->nr_kinds && !job_kind_same(&n->kinds[i], k))
		i++;
	*ret = (uint32_t)i;
	if (i < n->nr_kinds) {
		err = job_kind_join(&n->kinds[i], k, true);
		job_kind_release(k);
		return err;
	}
	if (array_reserve(n->kinds, r->cap_kinds, n->nr_kinds)) {
		job_kind_release(k);
		return -ENOMEM;
	}
	n->kinds[n->nr_kinds++] = *k;
	return 0;
}

static int add_piece(struct run *r, const struct piece *p)
{
	if (array_reserve(r->pieces, r->cap_pieces, r->nr_pieces))
		return -ENOMEM;
	r->pieces[r->nr_pieces++] = *p;
	return 0;
}

static void stretch(struct run *r, uint64_t start_ns, uint64_t end_ns, unsigned int folder)
{
	if (!r->nr_pieces || start_ns < r->start_ns)
		r->start_ns = start_ns;
	if (end_ns > r->end_ns)
		r->end_ns = end_ns;
	r->folder = folder ?: r->folder;
}

/* A report has filled the time between two runs: they are one. */
static int join_runs(struct run *to, struct run *from)
{
	cleanup_free uint32_t *map = calloc(from->nodes.nr_kinds + 1, sizeof(*map));
	int err = map ? 0 : -ENOMEM;

	stretch(to, from->start_ns, from->end_ns, from->folder);
	for (size_t i = 0; i < from->nodes.nr_kinds && !err; i++)
		err = add_kind(to, &from->nodes.kinds[i], &map[i]);
	/* They are those of @to now. */
	if (!err)
		from->nodes.nr_kinds = 0;
	for (size_t i = 0; i < from->nodes.nr && !err; i++)
		err = add_node(to, &from->nodes.items[i], map[from->nodes.items[i].kind]);
	for (size_t i = 0; i < from->nr_pieces && !err; i++)
		err = add_piece(to, &from->pieces[i]);
	return err;
}

static bool is_of(const struct run *r, const struct row_job *who)
{
	const struct row_job *of = &r->nodes.kinds[0].job.job;

	return of->scheduler == who->scheduler && of->owner == who->owner &&
	       !strcmp(of->id, who->id);
}

static bool touches(const struct run *r, const struct account_job *j, unsigned int folder)
{
	if (folder && r->folder == folder)
		return true;
	return j->whole.start_ns <= r->end_ns + JOB_MERGE_APART_NS &&
	       r->start_ns <= j->whole.end_ns + JOB_MERGE_APART_NS;
}

/* The run that a report belongs to, with all that it joins; a new one if there is none. */
static int find_run(struct job_merge *m, const struct account_job *j, unsigned int folder,
		    struct run **ret)
{
	struct run *to = NULL;
	int err = 0;

	for (size_t i = 0; i < m->nr && !err; i++) {
		struct run *r = &m->runs[i];

		if (!is_of(r, &j->job) || !touches(r, j, folder))
			continue;
		if (!to) {
			to = r;
			continue;
		}
		err = join_runs(to, r);
		free_run(r);
		*r = m->runs[--m->nr];
		i--;
	}
	if (!err && !to) {
		if (array_reserve(m->runs, m->cap, m->nr))
			return -ENOMEM;
		to = &m->runs[m->nr];
		*to = (struct run){ 0 };
	}
	*ret = to;
	return err;
}

/* 0; -EEXIST for the same again, -EINVAL for another report of the same account */
static int look_for_twice(const struct job_merge *m, const struct row_job *who,
			  const struct piece *p)
{
	for (size_t i = 0; i < m->nr; i++) {
		const struct run *r = &m->runs[i];

		for (size_t k = 0; k < r->nr_pieces; k++)
			if (r->pieces[k].hash == p->hash && is_of(r, who))
				return r->pieces[k].end_ns == p->end_ns &&
						       r->pieces[k].on_cpu_ns == p->on_cpu_ns
					       ? -EEXIST
					       : -EINVAL;
	}
	return 0;
}

static int add_to_run(struct job_merge *m, struct run *r, const struct job_node *n,
		      struct job_kind *k, const struct piece *p, unsigned int folder)
{
	uint32_t kind = 0;
	int err;

	stretch(r, n->start_ns, n->end_ns, folder);
	err = add_piece(r, p);
	if (err)
		job_kind_release(k);
	else
		err = add_kind(r, k, &kind);
	if (!err)
		err = add_node(r, n, kind);
	/* A run without any node is none: nothing looks at it. */
	if (r == &m->runs[m->nr]) {
		if (r->nodes.nr_kinds)
			m->nr++;
		else
			free_run(r);
	}
	return err;
}

int job_merge_add(struct job_merge *m, struct job_reading *r, unsigned int folder)
{
	const struct account_job *j = &r->job;
	const struct piece p = {
		.hash = fnv_text(fnv_text(fnv_text(FNV_BASIS, r->host.name), "\n"), j->key),
		.end_ns = j->whole.end_ns,
		.on_cpu_ns = j->whole.on_cpu_ns,
	};
	int err = look_for_twice(m, &j->job, &p);
	struct run *run = NULL;
	struct job_node n;
	struct job_kind k;

	if (!err)
		err = find_run(m, j, folder, &run);
	if (err) {
		job_reading_release(r);
		return err;
	}
	n = node_of(r);
	err = job_kind_of(r, &k);
	return err ? err : add_to_run(m, run, &n, &k, &p, folder);
}

int job_merge_refuse(struct job_merge *m, const char *report, const char *reason, const char *text)
{
	struct job_refused *r;

	if (array_reserve(m->refused, m->cap_refused, m->nr_refused))
		return -ENOMEM;
	r = &m->refused[m->nr_refused++];
	*r = (struct job_refused){ strdup(report), reason, strdup(text) };
	return r->report && r->text ? 0 : -ENOMEM;
}

int job_merge_twice(struct job_merge *m, const char *report)
{
	return text_list_add(&m->twice, report);
}

const struct job_refused *job_merge_refused(const struct job_merge *m, size_t *ret_nr)
{
	*ret_nr = m->nr_refused;
	return m->refused;
}

/* --- the end */

static int compare_nodes(const void *a, const void *b)
{
	const struct job_node *x = a, *y = b;

	return hostlist_compare(x->name, y->name) ?: ORDER(x->kind, y->kind) ?:
	       ORDER(x->start_ns, y->start_ns);
}

static void sort_nodes(struct job_nodes *n)
{
	size_t nr = 0;

	qsort(n->items, n->nr, sizeof(*n->items), compare_nodes);
	for (size_t i = 0; i < n->nr; i++) {
		struct job_node *last = nr ? &n->items[nr - 1] : NULL;

		if (last && last->kind == n->items[i].kind && !strcmp(last->name, n->items[i].name))
			join_node(last, &n->items[i]);
		else
			n->items[nr++] = n->items[i];
	}
	n->nr = nr;
	for (size_t i = 0; i < nr; i++) {
		n->covered_ns = sum_capped(n->covered_ns, n->items[i].covered_ns);
		n->duration_ns = sum_capped(n->duration_ns, n->items[i].duration_ns);
	}
}

static int compare_sums(const void *a, const void *b)
{
	const sum128 *x = a, *y = b;

	return ORDER(*x, *y);
}

static sum128 median_of(const sum128 *sorted, size_t nr)
{
	return nr % 2 ? sorted[nr / 2]
		      : sorted[nr / 2 - 1] + (sorted[nr / 2] - sorted[nr / 2 - 1]) / 2;
}

static void spread_of(const struct job_nodes *n, uint32_t kind, size_t which, sum128 *sorted,
		      struct job_spread *ret)
{
	struct job_spread s = { 0 };
	sum128 value, least = 0, most = 0;

	for (size_t i = 0; i < n->nr; i++) {
		if (n->items[i].kind != kind || !job_node_value(&n->items[i], which, &value))
			continue;
		if (!s.nr || value < least) {
			least = value;
			s.first = i;
		}
		if (!s.nr || value > most) {
			most = value;
			s.last = i;
		}
		s.sum += value;
		sorted[s.nr++] = value;
	}
	if (s.nr) {
		qsort(sorted, s.nr, sizeof(*sorted), compare_sums);
		s.points[0] = least;
		s.points[1] = sorted[(s.nr - 1) / 4];
		s.points[2] = median_of(sorted, s.nr);
		s.points[3] = sorted[s.nr - 1 - (s.nr - 1) / 4];
		s.points[4] = most;
	}
	*ret = s;
}

double job_spread_imbalance(const struct job_spread *s)
{
	double mean = (double)s->sum / (double)s->nr, most = (double)s->points[4];

	/* Rounded, the mean may be above the largest. */
	return !s->sum ? 0 : most > mean ? most / mean : 1;
}

static int make_spreads(struct job_nodes *n)
{
	cleanup_free sum128 *sorted = calloc(n->nr + 1, sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	for (size_t k = 0; k < n->nr_kinds; k++)
		for (size_t i = 0; i < NR_JOB_SPREADS; i++)
			spread_of(n, (uint32_t)k, i, sorted, &n->kinds[k].spreads[i]);
	return 0;
}

/* The first @length letters of @name, or with @domain one that goes on with a domain */
struct sought {
	const char *name;
	size_t length;
	bool domain;
};

static int compare_sought(const void *key, const void *item)
{
	const struct sought *s = key;
	const char *name = *(const char *const *)item;
	int order = strncmp(s->name, name, s->length);

	return order ? order : ORDER(s->domain ? '.' : '\0', (unsigned char)name[s->length]);
}

/* "n1" and "n1.example.org" are one node, "n1.a" and "n1.b" are two. @names: by strcmp() */
static bool is_among(const char *const *names, size_t nr, const char *name)
{
	size_t length = strlen(name), host = strcspn(name, ".");
	const struct sought itself = { name, length, false };
	const struct sought other = { name, host, host == length };

	return bsearch(&itself, names, nr, sizeof(*names), compare_sought) ||
	       bsearch(&other, names, nr, sizeof(*names), compare_sought);
}

/* Names of @from that are not in @in */
static int names_not_in(const char **from, size_t nr, const char **in, size_t nr_in,
			struct text_list *ret)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++)
		if (!is_among(in, nr_in, from[i]))
			err = text_list_add(ret, from[i]);
	return err;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted, each name once; returns how many these are. */
static size_t sort_names(const char **names, size_t nr)
{
	size_t left = 0;

	qsort(names, nr, sizeof(*names), compare_texts);
	for (size_t i = 0; i < nr; i++)
		if (!left || strcmp(names[left - 1], names[i]) != 0)
			names[left++] = names[i];
	return left;
}

static int compare_names(const void *a, const void *b)
{
	return hostlist_compare(*(const char *const *)a, *(const char *const *)b);
}

static int look_for_missing(struct job_nodes *n, const struct text_list *expected)
{
	cleanup_free const char **there = calloc(n->nr + 1, sizeof(*there));
	cleanup_free const char **wanted = calloc(expected->nr + 1, sizeof(*wanted));
	size_t nr;
	int err;

	if (!there || !wanted)
		return -ENOMEM;
	for (size_t i = 0; i < n->nr; i++)
		there[i] = n->items[i].name;
	if (expected->nr)
		memcpy(wanted, expected->items, expected->nr * sizeof(*wanted));
	nr = sort_names(there, n->nr);
	n->expected = sort_names(wanted, expected->nr);
	err = names_not_in(wanted, n->expected, there, nr, &n->missing)
		      ?: names_not_in(there, nr, wanted, n->expected, &n->extra);
	if (n->missing.nr)
		qsort(n->missing.items, n->missing.nr, sizeof(*n->missing.items), compare_names);
	if (n->extra.nr)
		qsort(n->extra.items, n->extra.nr, sizeof(*n->extra.items), compare_names);
	return err;
}

/* Its nodes, as its name: "n[1-3]" */
static int name_kind(const struct job_nodes *n, struct job_kind *k, size_t kind, bool all)
{
	cleanup_free const char **names = calloc(n->nr + 1, sizeof(*names));
	cleanup_free char *text = NULL;
	size_t nr = 0;

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < n->nr; i++)
		if ((all || n->items[i].kind == kind) &&
		    (!nr || strcmp(names[nr - 1], n->items[i].name) != 0))
			names[nr++] = n->items[i].name;
	k->nr_nodes = nr;
	text = hostlist_fold(names, nr, sizeof(k->host.name));
	if (!text)
		return -ENOMEM;
	str_copy(k->host.name, sizeof(k->host.name), text);
	return 0;
}

static int finish_run(struct job_merge *m, struct run *r, const struct text_list *expected)
{
	struct job_nodes *n = &r->nodes;
	int err = 0;

	sort_nodes(n);
	n->refused = m->refused;
	n->nr_refused = m->nr_refused;
	n->twice = &m->twice;
	for (size_t i = 0; i < n->nr_kinds && !err; i++) {
		job_kind_finish(&n->kinds[i]);
		err = name_kind(n, &n->kinds[i], i, false);
	}
	for (size_t i = 0; i < n->nr_kinds && n->nr_kinds > 1 && !err; i++)
		err = job_kind_join(&r->all, &n->kinds[i], false);
	if (!err && n->nr_kinds > 1) {
		str_copy(r->all.host.platform, sizeof(r->all.host.platform), "mixed");
		err = name_kind(n, &r->all, 0, true);
	}
	if (!err)
		err = make_spreads(n);
	return err || !expected ? err : look_for_missing(n, expected);
}

static int compare_runs(const void *a, const void *b)
{
	const struct run *x = a, *y = b;
	const struct row_job *p = &x->nodes.kinds[0].job.job, *q = &y->nodes.kinds[0].job.job;

	return ORDER(p->scheduler, q->scheduler) ?: hostlist_compare(p->id, q->id) ?:
	       ORDER(p->owner, q->owner) ?: ORDER(y->start_ns, x->start_ns);
}

int job_merge_finish(struct job_merge *m, const struct text_list *expected)
{
	int err = 0;

	if (m->nr)
		qsort(m->runs, m->nr, sizeof(*m->runs), compare_runs);
	for (size_t i = 0; i < m->nr && !err; i++)
		err = finish_run(m, &m->runs[i], expected);
	return err;
}

size_t job_merge_runs(const struct job_merge *m)
{
	return m->nr;
}

const struct account_job *job_merge_run(const struct job_merge *m, size_t i,
					struct job_context *ret)
{
	const struct run *r = &m->runs[i];
	const struct job_kind *k = r->nodes.nr_kinds > 1 ? &r->all : &r->nodes.kinds[0];

	*ret = (struct job_context){ .host = &k->host, .node = &k->node, .nodes = &r->nodes };
	return &k->job;
}
