// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * An interval comes into the accounts in two steps. The first finds out where everything goes and
 * makes room for it; it may fail, and then takes back what can be seen of it. The second adds,
 * and cannot fail.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/accounts/internal.h"

#define SECOND 1000000000u

static uint64_t start_of(const struct report *r)
{
	return r->start_time_ns;
}

static uint64_t end_of(const struct report *r)
{
	return sum_capped(r->start_time_ns, r->end_ns - r->start_ns);
}

/* --- counters */

/* Ports have their devices' bytes once more, links are beside their functions. */
static bool is_beside(const struct report *r, const struct counter *c)
{
	enum device_kind kind =
		c->device <= r->nr_devices ? r->devices[c->device - 1].device->kind : DEVICE_OTHER;

	return kind == DEVICE_PORT || kind == DEVICE_LINK;
}

/* Are its bytes in no other counter? Of a device, there may be one of all that it moves. */
static bool is_whole(const struct report *r, const struct counter *c)
{
	if (c->unit != UNIT_BYTES)
		return false;
	if (!c->device)
		return true;
	if (is_beside(r, c))
		return false;
	for (size_t i = 0; c->destination != DESTINATION_ANY && i < r->nr_counters; i++) {
		const struct counter *other = r->counters[i].counter;

		if (other->device == c->device && other->direction == c->direction &&
		    other->unit == UNIT_BYTES && other->destination == DESTINATION_ANY)
			return false;
	}
	return true;
}

static struct account_counter describe(const struct report *r, const struct counter *c)
{
	struct account_counter ret = { .socket = report_socket_id(r, c),
				       .source = c->source,
				       .direction = c->direction,
				       .destination = c->destination,
				       .unit = c->unit,
				       .whole = is_whole(r, c) };

	str_copy(ret.name, sizeof(ret.name), c->name);
	if (c->device && c->device <= r->nr_devices)
		str_copy(ret.bdf, sizeof(ret.bdf), r->devices[c->device - 1].device->bdf);
	return ret;
}

static int map_counter(struct accounts *a, const struct report *r, size_t i)
{
	const struct counter *c = r->counters[i].counter;
	size_t nr = a->node.nr_counters + a->pending_counters, k;
	struct account_counter counter;

	if (!unit_is_split(c->unit) || c->term) {
		a->map[i] = NO_COUNTER;
		return 0;
	}
	counter = describe(r, c);
	/* Mostly it is where it was the last time. */
	if (i < a->nr_map && a->map[i] < nr &&
	    account_counter_same(&a->node.counters[a->map[i]], &counter))
		return 0;
	for (k = 0; k < nr && !account_counter_same(&a->node.counters[k], &counter); k++)
		;
	if (k == nr) {
		if (accounts_sums_reserve(a, nr + 1))
			return -ENOMEM;
		a->node.counters[nr] = counter;
		a->pending_counters++;
	}
	a->map[i] = (uint32_t)k;
	return 0;
}

static int map_counters(struct accounts *a, const struct report *r)
{
	size_t nr;

	a->pending_counters = 0;
	if (accounts_reserve(a->map, a->cap_map, r->nr_counters))
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_counters; i++)
		if (map_counter(a, r, i))
			return -ENOMEM;
	a->nr_map = r->nr_counters;
	nr = a->node.nr_counters + a->pending_counters;
	return accounts_reserve(a->view, a->cap_view, nr);
}

/* --- rows */

static bool is_active(const struct report_row *row)
{
	bool active = row->on_cpu_ns != 0;

	for (size_t i = 0; i < row->nr_shares && !active; i++)
		active = row->shares[i].high != 0;
	for (size_t i = 0; i < row->nr_devices && !active; i++)
		active = row->devices[i].io_read_bytes || row->devices[i].io_write_bytes;
	return active;
}

static void begin_attempt(const struct accounts *a, struct account_entry *e)
{
	if (e->attempt == a->attempt)
		return;
	e->attempt = a->attempt;
	e->whole_row = e->ends = e->active = e->others = false;
	e->who = NULL;
	e->next_step = 0;
}

/* Find the job of a row, or begin one; NULL in @t->entry for what has no account. */
static int find_job(struct accounts *a, const struct report_row *row, struct target *t)
{
	const struct row_job *job = row->job;
	struct account_entry *e;

	*t = (struct target){ .step = NO_STEP };
	if (!job || !job->cgroup_id || !(a->o.schedulers >> job->scheduler & 1))
		return 0;
	e = accounts_entry_find(a, job->cgroup_id);
	if (e ? e->account.state != ACCOUNT_RUNNING
	      : accounts_closed_has(a->closed, job->cgroup_id)) {
		t->late = row->leaf && is_active(row);
		return 0;
	}
	if (!e) {
		e = accounts_entry_new(a, job->cgroup_id, true);
		if (!e)
			return -ENOMEM;
		e->pending = true;
	}
	begin_attempt(a, e);
	t->entry = e;
	t->active = is_active(row);
	e->active = e->active || t->active;
	e->whole_row = e->whole_row || !row->leaf;
	if (job->step[0])
		return 0;
	e->ends = e->ends || row->exited;
	if (!e->who || !job->provisional)
		e->who = job;
	if (row->cgroup && !e->account.path && !e->pending_path) {
		e->pending_path = strdup(row->cgroup);
		if (!e->pending_path)
			return -ENOMEM;
	}
	return 0;
}

static struct account_part *step_of(struct account_entry *e, const struct target *t)
{
	return t->step == NO_STEP ? NULL : &e->account.steps[t->step];
}

static int find_step(struct account_entry *e, const char *step, size_t *ret)
{
	size_t nr = e->account.nr_steps + e->pending_steps;

	/* Steps mostly come in the same order. */
	for (size_t i = 0; i < nr; i++) {
		*ret = (e->next_step + i) % nr;
		if (!strncmp(e->account.steps[*ret].step, step, JOB_STEP_LEN)) {
			e->next_step = *ret + 1;
			return 0;
		}
	}
	*ret = nr;
	if (nr == ACCOUNT_MAX_STEPS) {
		e->others = true;
		*ret = nr - 1;
		return 0;
	}
	return accounts_part_step(e, step);
}

/*
 * What a share adds to the job as a whole. Values are those of leaf rows, so that they add up to
 * the counter; how far off they may be is known best of the row of all of them.
 */
static struct account_total for_whole(const struct account_entry *e, const struct report_row *row,
				      const struct share *s)
{
	struct account_total t = { .value = row->leaf ? s->value : 0 };

	if (row->leaf == e->whole_row)
		return t;
	t.low = s->low;
	t.high = s->high;
	t.inseparable = s->separable ? 0 : s->value;
	return t;
}

static int reserve_shares(struct accounts *a, struct account_entry *e, struct account_part *step,
			  const struct report_row *row)
{
	size_t hint = 0, step_hint = 0;

	for (size_t i = 0; i < row->nr_shares; i++) {
		const struct share *s = &row->shares[i];
		uint32_t c = a->map[s->counter];
		struct account_total t = for_whole(e, row, s);

		if (c == NO_COUNTER)
			continue;
		if ((t.value || t.high) && accounts_part_reserve(&e->account.whole, c, &hint))
			return -ENOMEM;
		if (step && (s->value || s->high) && accounts_part_reserve(step, c, &step_hint))
			return -ENOMEM;
	}
	return 0;
}

static int reserve_io(const struct report *r, struct account_entry *e, struct account_part *step,
		      const struct report_row *row)
{
	for (size_t i = 0; i < row->nr_devices; i++) {
		const struct row_device *d = &row->devices[i];
		const struct device *device = r->devices[d->device].device;

		if (!d->io_read_bytes && !d->io_write_bytes)
			continue;
		if (accounts_part_reserve_io(&e->account.whole, device) ||
		    (step && accounts_part_reserve_io(step, device)))
			return -ENOMEM;
	}
	return 0;
}

static int prepare_row(struct accounts *a, const struct report *r, size_t i)
{
	const struct report_row *row = &r->rows[i];
	struct target *t = &a->targets[i];
	struct account_part *step;

	if (!t->entry)
		return 0;
	if (row->job->step[0] && find_step(t->entry, row->job->step, &t->step))
		return -ENOMEM;
	if (!t->active)
		return 0;
	step = step_of(t->entry, t);
	if (reserve_shares(a, t->entry, step, row))
		return -ENOMEM;
	return row->leaf ? reserve_io(r, t->entry, step, row) : 0;
}

static void drop_bases(struct accounts *a)
{
	accounts_sums_drop(a->fresh);
	accounts_sums_drop(a->after);
	a->fresh = a->after = NULL;
}

/* A job whose account is closed with this interval needs room for the machine's counters. */
static bool will_be_over(const struct accounts *a, const struct account_entry *e)
{
	bool seen = e->attempt == a->attempt;

	return e->account.state == ACCOUNT_RUNNING && (seen ? e->ends : a->broken && e->base);
}

static int prepare_jobs(struct accounts *a, const struct report *r)
{
	bool begins = false, within = false;
	int err;

	for (size_t i = 0; i < a->nr_jobs; i++) {
		struct account_entry *e = a->jobs[i];
		size_t nr = a->node.nr_counters + a->pending_counters;

		begins = begins || ((e->pending || e->waiting) && e->attempt == a->attempt);
		err = e->pending ? accounts_begin_prepare(e, r) : 0;
		if (err)
			return err;
		within = within || e->begin_ns;
		if (!will_be_over(a, e))
			continue;
		free(e->node);
		e->node = calloc(nr + 1, sizeof(*e->node));
		if (!e->node)
			return -ENOMEM;
	}
	a->fresh = begins ? accounts_sums_take(a, a->node.nr_counters) : NULL;
	a->after = within ? accounts_sums_take(a, a->node.nr_counters + a->pending_counters) : NULL;
	if ((!begins || a->fresh) && (!within || a->after))
		return 0;
	drop_bases(a);
	return -ENOMEM;
}

static int prepare(struct accounts *a, const struct report *r)
{
	int err = map_counters(a, r);

	if (!err)
		err = accounts_reserve(a->targets, a->cap_targets, r->nr_rows);
	for (size_t i = 0; i < r->nr_rows && !err; i++)
		err = find_job(a, &r->rows[i], &a->targets[i]);
	/* Only now it is known which jobs have a row as a whole. */
	for (size_t i = 0; i < r->nr_rows && !err; i++)
		err = prepare_row(a, r, i);
	if (!err)
		err = accounts_groups_reserve(a, r);
	if (!err)
		err = accounts_gpus_reserve(a, r);
	return err ? err : prepare_jobs(a, r);
}

/* Take back what can be seen of an interval that found no memory; memory stays. */
static void take_back(struct accounts *a)
{
	size_t nr = 0;

	for (size_t i = 0; i < a->nr_jobs; i++) {
		struct account_entry *e = a->jobs[i];

		accounts_part_drop_steps(e);
		free(e->pending_path);
		e->pending_path = NULL;
		free(e->node);
		e->node = NULL;
		if (e->pending) {
			accounts_entry_unhash(a, e);
			accounts_entry_free(e);
			continue;
		}
		if (e->attempt == a->attempt) {
			accounts_part_trim(&e->account.whole);
			accounts_groups_trim(&e->account);
			accounts_gpus_trim(&e->account);
			for (size_t k = 0; k < e->account.nr_steps; k++)
				accounts_part_trim(&e->account.steps[k]);
		}
		a->jobs[nr++] = e;
	}
	a->nr_jobs = nr;
	a->pending_counters = 0;
	a->nr_map = 0;
}

/* --- adding */

static void add_gap(struct account_job *j, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t from = start_ns < end_ns ? start_ns : end_ns;

	j->gap_ns = sum_capped(j->gap_ns, end_ns - from);
	if (j->nr_gaps == ACCOUNT_MAX_GAPS)
		j->gaps[j->nr_gaps - 1].end_ns = end_ns;
	else
		j->gaps[j->nr_gaps++] = (struct account_gap){ from, end_ns };
}

/* The machine was not observed since the last interval: which jobs are still there? */
static void add_break(struct accounts *a, const struct report *r)
{
	uint64_t start = start_of(r), until = a->node.until_ns;

	if (a->node.intervals) {
		a->node.gaps++;
		if (start > until)
			a->node.gap_ns = sum_capped(a->node.gap_ns, start - until);
	}
	for (size_t i = 0; i < a->nr_jobs; i++) {
		struct account_entry *e = a->jobs[i];
		uint64_t last = e->waiting ? e->account.whole.end_ns : until;

		if (e->account.state != ACCOUNT_RUNNING || e->pending)
			continue;
		if (e->attempt != a->attempt) {
			accounts_entry_over(a, e, ACCOUNT_STALE, last);
			continue;
		}
		add_gap(&e->account, last, start);
		if (!e->waiting)
			continue;
		e->waiting = false;
		e->base = a->fresh;
		e->base->refs++;
	}
}

static void add_counters(struct accounts *a)
{
	struct accounts_node *n = &a->node;

	for (; a->pending_counters; a->pending_counters--) {
		n->totals[n->nr_totals] = (struct account_node_total){
			.counter = (uint32_t)n->nr_totals,
			.missing = n->intervals,
		};
		n->nr_totals++;
		n->nr_counters++;
	}
}

static void make_key(struct account_job *j)
{
	char id[JOB_ID_LEN];
	size_t i;

	str_copy(id, sizeof(id), j->job.id);
	for (i = 0; id[i]; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-",
			    id[i]))
			id[i] = '_';
	/* What follows tells jobs apart; this is for people. */
	id[80] = 0;
	snprintf(j->key, sizeof(j->key), "%s-%s-%" PRIu64 "-%" PRIu64,
		 scheduler_name(j->job.scheduler), id, j->job.cgroup_id,
		 j->whole.start_ns / SECOND);
	if (j->job.owner)
		str_append(j->key, sizeof(j->key), "-u%" PRIu32, j->job.owner);
}

static void copy_if(char *to, size_t size, const char *from)
{
	if (from[0])
		str_copy(to, size, from);
}

static void add_identity(struct account_job *j, const struct row_job *who)
{
	if (!who)
		return;
	if (!j->job.id[0] || (j->job.provisional && !who->provisional)) {
		str_copy(j->job.id, sizeof(j->job.id), who->id);
		j->job.scheduler = who->scheduler;
		j->job.provisional = who->provisional;
		j->job.owner = who->owner;
	}
	copy_if(j->job.name, sizeof(j->job.name), who->name);
	copy_if(j->job.user, sizeof(j->job.user), who->user);
	if (who->uid)
		j->job.uid = who->uid;
}

static void begin_job(struct accounts *a, struct account_entry *e, const struct report *r,
		      const struct row_job *any)
{
	struct account_job *j = &e->account;
	const struct row_job *who = e->who ? e->who : any;

	e->pending = false;
	e->base = e->begin_ns ? a->after : a->fresh;
	e->base->refs++;
	add_identity(j, who);
	str_copy(j->boot, sizeof(j->boot), a->o.boot);
	j->state = ACCOUNT_RUNNING;
	j->late_start = a->broken && !(who && who->made);
	j->whole.start_ns = accounts_begin_time(r, e->begin_ns);
	if (e->begin_ns)
		accounts_begin_job(a, e, r);
	make_key(j);
	e->active = true;
	a->node.jobs_started++;
}

/* Facts of a single job that are not sums. */
static void add_job(struct accounts *a, struct account_entry *e)
{
	if (e->attempt != a->attempt || e->account.state != ACCOUNT_RUNNING)
		return;
	add_identity(&e->account, e->who);
	if (e->pending_path) {
		e->account.path = e->pending_path;
		e->pending_path = NULL;
	}
	e->account.nr_steps += e->pending_steps;
	e->pending_steps = 0;
	if (e->others)
		accounts_part_fold_others(&e->account);
}

static void add_to(struct account_total *to, const struct account_total *t)
{
	to->value += t->value;
	to->low += t->low;
	to->high += t->high;
	to->inseparable += t->inseparable;
}

static void add_shares(const struct accounts *a, struct account_entry *e, struct account_part *step,
		       const struct report_row *row)
{
	size_t hint = 0, step_hint = 0;

	for (size_t i = 0; i < row->nr_shares; i++) {
		const struct share *s = &row->shares[i];
		uint32_t c = a->map[s->counter];
		struct account_total t = for_whole(e, row, s), *to;

		if (c == NO_COUNTER)
			continue;
		if (t.value || t.high) {
			to = accounts_part_total(&e->account.whole, c, &hint);
			add_to(to, &t);
		}
		if (!step || (!s->value && !s->high))
			continue;
		to = accounts_part_total(step, c, &step_hint);
		t = (struct account_total){ c, s->value, s->low, s->high,
					    s->separable ? 0 : s->value };
		add_to(to, &t);
	}
}

static void add_io(struct account_part *p, const char *bdf, const struct row_device *d)
{
	struct account_io *io = accounts_part_io(p, bdf);

	io->read_bytes = sum_capped(io->read_bytes, d->io_read_bytes);
	io->write_bytes = sum_capped(io->write_bytes, d->io_write_bytes);
}

static void add_leaf(const struct report *r, struct account_entry *e, struct account_part *step,
		     const struct report_row *row)
{
	e->account.whole.on_cpu_ns += row->on_cpu_ns;
	if (step)
		step->on_cpu_ns += row->on_cpu_ns;
	for (size_t i = 0; i < row->nr_devices; i++) {
		const struct row_device *d = &row->devices[i];
		const char *bdf = r->devices[d->device].device->bdf;

		if (!d->io_read_bytes && !d->io_write_bytes)
			continue;
		add_io(&e->account.whole, bdf, d);
		if (step)
			add_io(step, bdf, d);
	}
}

static void add_row(struct accounts *a, const struct report *r, size_t i)
{
	const struct report_row *row = &r->rows[i];
	const struct target *t = &a->targets[i];
	struct account_part *step;

	a->node.late_rows += t->late;
	if (!t->entry)
		return;
	step = step_of(t->entry, t);
	if (t->active)
		add_shares(a, t->entry, step, row);
	if (t->active && row->leaf)
		add_leaf(r, t->entry, step, row);
	if (!step)
		return;
	if (!step->start_ns)
		step->start_ns = later(accounts_begin_time(r, row->job->begin_ns),
				       t->entry->account.whole.start_ns);
	/* The clock may have been set back. */
	step->end_ns = later(end_of(r), later(step->end_ns, step->start_ns));
	/* The steps pooled in "others" do not all end at once. */
	if (row->exited && strcmp(step->step, ACCOUNT_OTHER_STEPS) != 0)
		step->ended = true;
}

/* Did something change that is worth to be stored? */
static void note_change(struct accounts *a, struct account_entry *e)
{
	if (e->account.state != ACCOUNT_RUNNING)
		return;
	if (e->attempt == a->attempt && e->ends) {
		accounts_entry_over(a, e, ACCOUNT_ENDED, a->node.until_ns);
	} else if ((e->attempt == a->attempt && e->active) || a->broken ||
		   ++e->idle >= ACCOUNTS_IDLE_SAVE) {
		e->changed = a->generation;
		e->idle = 0;
	}
}

static void add(struct accounts *a, const struct report *r)
{
	a->generation++;
	if (a->broken)
		add_break(a, r);
	add_counters(a);
	if (!a->node.intervals)
		a->node.since_ns = start_of(r);
	a->node.until_ns = end_of(r);
	accounts_sums_add(a, r);
	if (a->after)
		accounts_sums_retake(a, a->after);
	for (size_t i = 0; i < r->nr_rows; i++)
		if (a->targets[i].entry && a->targets[i].entry->pending)
			begin_job(a, a->targets[i].entry, r, r->rows[i].job);
	for (size_t i = 0; i < a->nr_jobs; i++)
		add_job(a, a->jobs[i]);
	for (size_t i = 0; i < r->nr_rows; i++)
		add_row(a, r, i);
	accounts_groups_add(a, r);
	accounts_gpus_add(a, r);
	for (size_t i = 0; i < a->nr_jobs; i++) {
		accounts_begin_own(a->jobs[i]);
		note_change(a, a->jobs[i]);
	}
	drop_bases(a);
	a->started = true;
	a->last_end_ns = r->end_ns;
	if (a->nr_jobs > ACCOUNTS_MAX_OVER)
		accounts_entry_sweep(a, 0);
}

int accounts_interval(struct accounts *a, const struct report *r)
{
	int err;

	if (r->by != ROW_JOB || r->summary || r->end_ns < r->start_ns)
		return -EINVAL;
	a->attempt++;
	a->broken = !a->started || r->start_ns != a->last_end_ns;
	err = prepare(a, r);
	if (err)
		take_back(a);
	else
		add(a, r);
	return err;
}
