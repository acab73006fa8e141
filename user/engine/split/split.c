// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "engine/split/split.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/worker.h"
#include "engine/filter/constants.h"
#include "engine/split/apportion.h"
#include "engine/identity/identity.h"
#include "engine/split/internal.h"
#include "engine/split/split_deferred.h"
#include "tables/weight_rows.h"

/* Losses that are remembered. */
#define MAX_LOST 64

/* How blocks were split; @used: which weights. */
struct split_tally {
	uint64_t weight_windows;
	uint64_t fallback_windows;
	uint64_t pooled;
	uint64_t saturated;
	uint64_t estimated, simple; /* windows of counters */
	bool used[TRACE_MAX_WEIGHTS];
};

/**
 * struct second_thread - a counter that a second thread splits, while this one splits the one before it
 * @worker: the thread
 * @workspace: of the filters of every other counter
 * @block, @workloads: the thread's own; the lists of @workloads that nobody changes are the block's
 * @deferred: what it hands out
 * @ready: @workloads are those of the block
 * @busy: it was given counter @in_group of @b
 * @err: what came of it
 */
struct second_thread {
	struct worker *worker;
	struct filter_workspace *workspace;
	struct counter_block block;
	struct workloads workloads;
	struct split_deferred deferred;
	struct split_tally tally;
	struct splitter *s;
	const struct split_block *b;
	uint32_t in_group;
	bool ready, busy;
	int err;
};

struct splitter {
	const struct trace_header *header;
	enum method method;
	struct filter **filters;       /* by counter and kind; made when needed */
	double *limits;		       /* by counter: bytes by second, 0 = not known */
	struct split_minimum *minimum; /* by counter */
	struct filter_workspace *workspace;
	struct counter_block block;   /* its arrays are kept from block to block */
	struct second_thread *second; /* NULL: there is one thread */
	struct trace_lost lost[MAX_LOST];
	bool lost_io[MAX_LOST]; /* of these: I/O, not slices */
	size_t nr_lost;
	struct split_tally since, all; /* the last report, the beginning */
};

int splitter_new(const struct trace_header *header, enum method method, struct splitter **ret)
{
	struct splitter *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->header = header;
	s->method = method;
	s->filters = calloc(header->layout.nr_counters * NR_FILTER_KINDS + 1, sizeof(*s->filters));
	s->limits = calloc(header->layout.nr_counters + 1, sizeof(*s->limits));
	s->minimum = calloc(header->layout.nr_counters + 1, sizeof(*s->minimum));
	s->workspace = filter_workspace_new();
	if (!s->filters || !s->limits || !s->minimum || !s->workspace) {
		free(s->filters);
		free(s->limits);
		free(s->minimum);
		filter_workspace_free(s->workspace);
		free(s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

static void counter_block_free(struct counter_block *p)
{
	free(p->x);
	free(p->share);
	free(p->given);
	matrix_free(&p->activity);
	matrix_free(&p->within);
}

static void second_free(struct second_thread *a)
{
	if (!a)
		return;
	worker_free(a->worker);
	filter_workspace_free(a->workspace);
	counter_block_free(&a->block);
	free(a->workloads.members);
	split_deferred_free(&a->deferred);
	free(a);
}

int splitter_two_threads(struct splitter *s)
{
	struct second_thread *a = calloc(1, sizeof(*a));
	int err;

	if (!a)
		return -ENOMEM;
	a->s = s;
	a->workspace = filter_workspace_new();
	err = a->workspace ? worker_new(&a->worker) : -ENOMEM;
	if (err) {
		second_free(a);
		return err;
	}
	s->second = a;
	return 0;
}

void splitter_free(struct splitter *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->header->layout.nr_counters * NR_FILTER_KINDS; i++)
		filter_free(s->filters[i]);
	free(s->filters);
	free(s->limits);
	free(s->minimum);
	filter_workspace_free(s->workspace);
	counter_block_free(&s->block);
	second_free(s->second);
	free(s);
}

void splitter_forget(struct splitter *s, uint32_t workload)
{
	for (size_t i = 0; i < s->header->layout.nr_counters * NR_FILTER_KINDS; i++)
		if (s->filters[i])
			filter_forget(s->filters[i], workload);
}

void splitter_lost(struct splitter *s, const struct trace_lost *lost)
{
	bool io = !strcmp(lost->what, "io");

	if ((!io && strcmp(lost->what, "slices")) || !lost->count)
		return;
	if (s->nr_lost == MAX_LOST) {
		s->nr_lost--;
		memmove(s->lost, s->lost + 1, s->nr_lost * sizeof(*s->lost));
		memmove(s->lost_io, s->lost_io + 1, s->nr_lost * sizeof(*s->lost_io));
	}
	s->lost[s->nr_lost] = *lost;
	s->lost_io[s->nr_lost] = io;
	s->lost[s->nr_lost++].what = NULL; /* the caller's */
}

void splitter_quality(struct splitter *s, bool all, struct quality *ret)
{
	const struct trace_header *h = s->header;
	const struct split_tally *t = all ? &s->all : &s->since;

	ret->method = s->method;
	ret->weight_windows = t->weight_windows;
	ret->fallback_windows = t->fallback_windows;
	ret->pooled_workloads = t->pooled;
	ret->weights[0] = '\0';
	for (uint32_t i = 0; i < h->nr_weights; i++) {
		size_t length = strlen(ret->weights);

		if (t->used[i])
			snprintf(ret->weights + length, sizeof(ret->weights) - length, "%s%s",
				 length ? "," : "", h->weights[i]);
	}
	if (!ret->weights[0])
		str_copy(ret->weights, sizeof(ret->weights), "cpu-time");
	if (!all)
		s->since = (struct split_tally){ 0 };
}

uint64_t splitter_saturated(const struct splitter *s, bool all)
{
	return all ? s->all.saturated : s->since.saturated;
}

void splitter_models(const struct splitter *s, bool all, uint64_t *estimated, uint64_t *simple)
{
	const struct split_tally *t = all ? &s->all : &s->since;

	*estimated = t->estimated;
	*simple = t->simple;
}

uint64_t splitter_limit(const struct splitter *s, uint32_t counter)
{
	return (uint64_t)s->limits[counter];
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void add_tally(struct split_tally *to, const struct split_tally *t)
{
	to->weight_windows += t->weight_windows;
	to->fallback_windows += t->fallback_windows;
	to->saturated += t->saturated;
	to->estimated += t->estimated;
	to->simple += t->simple;
	to->pooled = max_u64(to->pooled, t->pooled);
	for (int k = 0; k < TRACE_MAX_WEIGHTS; k++)
		to->used[k] |= t->used[k];
}

/* Fraction of the block's slices (or I/O) that is missing. */
static double lost_fraction(const struct splitter *s, const struct split_block *b, bool io)
{
	uint32_t socket = s->header->layout.groups[b->group].socket;
	uint64_t start = b->windows[0].start_ns, end = b->windows[b->nr_windows - 1].end_ns;
	double count = 0;

	for (size_t i = 0; i < s->nr_lost; i++) {
		const struct trace_lost *l = &s->lost[i];

		if (s->lost_io[i] == io && l->socket == socket && l->start_ns < end &&
		    l->end_ns > start)
			count += l->count;
	}
	return count / (count + b->nr + 1);
}

/* What activity is measured in, for this counter and block. */
static void choose_activity(const struct splitter *s, const struct split_block *b, uint32_t weight,
			    struct counter_block *p, struct split_tally *t)
{
	uint32_t nr = s->header->nr_weights;

	p->kind = FILTER_CPU_TIME;
	if (method_row(s->method)->events && weight < nr &&
	    split_activity_counts(b, weight, p->x)) {
		p->kind = weight_follows_traffic(s->header->weights[weight]) ? FILTER_TRAFFIC
									     : FILTER_WORK;
		t->used[weight] = true;
		return;
	}
	for (size_t i = 0; i < b->nr; i++)
		p->x[i] = b->activity[i].on_cpu_ns;
}

/* Are the bytes of this counter divided among tasks? */
static bool is_of_tasks(const struct counter *c)
{
	return !c->device && (c->source == SOURCE_CPU || c->source == SOURCE_ANY) &&
	       unit_is_split(c->unit);
}

/* With two threads, the second one takes every other counter of tasks. */
static bool is_for_second(const struct splitter *s, uint32_t counter)
{
	const struct layout *l = &s->header->layout;
	bool second = false;

	for (uint32_t i = l->groups[l->counters[counter].group].first; i < counter; i++)
		second ^= is_of_tasks(&l->counters[i]);
	return s->second && second;
}

/* A filter keeps its workspace, so two threads never work in the same one. */
static struct filter_workspace *workspace_of(const struct splitter *s, uint32_t counter)
{
	return is_for_second(s, counter) ? s->second->workspace : s->workspace;
}

/* Activity in the filter's form; counters that counted in all windows share it. */
static int fill_activity(const struct workloads *ws, const struct split_block *b,
			 struct counter_block *p)
{
	cleanup_free uint32_t *columns = NULL;
	int err;

	if (p->activity_whole && p->nr_windows == b->nr_windows)
		return 0;
	columns = calloc(ws->nr + 1, sizeof(*columns));
	err = columns ? matrix_shape(&p->activity, p->nr_windows, ws->nr_columns) : -ENOMEM;
	err = err ? err : matrix_shape(&p->within, p->nr_windows, ws->nr_columns);
	if (err)
		return err;
	for (size_t i = 0; i < ws->nr; i++)
		columns[i] = ws->members[i].column == NO_COLUMN ? ws->nr_columns - 1
								: ws->members[i].column;
	for (size_t k = 0; k < p->nr_windows; k++) {
		float *row = matrix_row(&p->activity, k), *within = matrix_row(&p->within, k);
		size_t w = p->window[k];
		double unit = within_unit(&b->windows[w]);

		for (size_t i = ws->first[w]; i < ws->first[w + 1]; i++) {
			uint32_t column = columns[ws->of[i]];

			row[column] += p->x[i];
			within[column] += p->x[i] * unit * within_mean(&b->activity[i]);
		}
	}
	p->activity_whole = p->nr_windows == b->nr_windows;
	return 0;
}

/*
 * A workload cannot write more to memory than leaves its caches. No event bounds its reads. Where
 * activity is at most the lines read, this is not asked: that measure already allows for caches
 * that keep lines.
 */
static double bound_of(const struct splitter *s, const struct counter_block *p)
{
	if (p->kind != FILTER_TRAFFIC ||
	    s->header->layout.counters[p->counter].direction != DIRECTION_WRITE)
		return 0;
	return weight_max_written(s->header->weights[p->x_of % TRACE_MAX_WEIGHTS]);
}

static int run_filter(struct splitter *s, const struct workloads *ws, const struct split_block *b,
		      struct counter_block *p)
{
	struct filter **f = &s->filters[p->counter * NR_FILTER_KINDS + p->kind];
	double middle[SPLIT_MAX_WINDOWS], length[SPLIT_MAX_WINDOWS];
	uint32_t workloads[FILTER_MAX_WORKLOADS];
	uint64_t kin[FILTER_MAX_WORKLOADS];
	bool ended[FILTER_MAX_WORKLOADS];
	uint64_t start = b->windows[0].start_ns;
	struct filter_input in = {
		.nr_windows = p->nr_windows,
		.nr_workloads = ws->nr_columns,
		.workloads = workloads,
		.kin = kin,
		.ended = ended,
		.activity = &p->activity,
		.within = lost_fraction(s, b, false) > 0 ? NULL : &p->within,
		.bytes = p->bytes,
		.ratio = p->ratio,
		.middle_s = middle,
		.length_s = length,
		.block_s = (b->windows[b->nr_windows - 1].end_ns - start) / 1e9,
		.no_limit = s->header->layout.counters[p->counter].unit != UNIT_BYTES,
		.bound = bound_of(s, p),
	};
	cleanup_free struct filter_slice *slices = NULL;
	int err = fill_activity(ws, b, p);

	err = err ? err : split_activity_slices(s->header, ws, b, p, &slices, &in.nr_slices);
	in.slices = slices;
	if (!err && !*f)
		err = filter_new(p->kind, workspace_of(s, p->counter), f);
	if (err)
		return err;
	workloads_numbers(ws, workloads);
	workloads_kin(ws, kin, ended);
	for (size_t k = 0; k < p->nr_windows; k++) {
		const struct trace_window *window = &b->windows[p->window[k]];

		length[k] = (window->end_ns - window->start_ns) / 1e9;
		middle[k] = (window->start_ns - start) / 1e9 + length[k] / 2;
	}
	return filter_block(*f, &in, &p->estimated);
}

/*
 * By method: makes @p->estimated from the activity of tasks. -ENODATA: no estimate. A method
 * without a function divides in proportion to activity.
 */
static int (*const estimates[NR_METHODS])(struct splitter *s, const struct workloads *ws,
					  const struct split_block *b, struct counter_block *p) = {
	[METHOD_STATE_SPACE] = run_filter,
};

/* The bytes of one window, exactly; the background is the last portion. */
static int give(const struct workloads *ws, const struct split_block *b, struct counter_block *p,
		size_t k, uint64_t bytes, struct portion *portions, uint64_t *units)
{
	size_t w = p->window[k], first = ws->first[w], nr = ws->first[w + 1] - first;
	uint64_t *shares = units + nr + 1, sum = split_units(p->share + first, nr, units);
	int err;

	/* Alone in a window: all of it is its own. */
	if (nr == 1)
		units[0] = sum = 1;
	units[nr] = nr == 1 ? 0 : (uint64_t)(p->background[k] * SPLIT_SHARE_UNITS);
	for (size_t i = 0; !sum && i < nr; i++)
		units[i] = b->activity[first + i].on_cpu_ns;
	err = apportion(bytes, units, nr + 1, shares);
	if (err)
		return err;
	for (size_t i = 0; i < nr; i++) {
		struct member *m = &ws->members[ws->of[first + i]];

		portions[i] = (struct portion){ m->workload, shares[i] };
		p->given[first + i] = shares[i];
		m->bytes += shares[i];
	}
	portions[nr] = (struct portion){ WORKLOAD_BACKGROUND, shares[nr] };
	return 0;
}

/* A counter that workloads may own. */
static int split_counter(struct splitter *s, const struct workloads *ws,
			 const struct split_block *b, struct counter_block *p, uint32_t in_group,
			 const struct split_sink *sink)
{
	size_t max = 0;
	cleanup_free struct portion *portions = NULL;
	cleanup_free uint64_t *units = NULL;
	int err = 0;

	for (size_t w = 0; w < b->nr_windows; w++)
		if (ws->first[w + 1] - ws->first[w] > max)
			max = ws->first[w + 1] - ws->first[w];
	portions = calloc(max + 1, sizeof(*portions));
	units = calloc(max + 1, 2 * sizeof(*units));
	if (!portions || !units)
		return -ENOMEM;
	for (size_t k = 0; k < p->nr_windows && !err; k++) {
		size_t w = p->window[k], nr = ws->first[w + 1] - ws->first[w];
		uint64_t bytes = b->windows[w].readings[in_group].value;

		if (nr) {
			err = give(ws, b, p, k, bytes, portions, units);
			nr += portions[nr].bytes != 0;
		}
		if (!err)
			err = sink->bytes(sink->arg, p->counter, &b->windows[w], bytes, portions,
					  nr);
	}
	return err ? err : split_bounds(ws, b, p, lost_fraction(s, b, false), sink);
}

/* The windows in which a counter counted. */
static void take_windows(const struct split_block *b, uint32_t in_group, struct counter_block *p)
{
	p->nr_windows = 0;
	memset(p->background, 0, sizeof(p->background));
	for (size_t w = 0; w < b->nr_windows; w++) {
		const struct reading *r = &b->windows[w].readings[in_group];

		if (!r->running_ns)
			continue;
		p->window[p->nr_windows] = w;
		p->bytes[p->nr_windows] = r->value;
		p->ratio[p->nr_windows++] =
			r->running_ns < r->enabled_ns ? (double)r->running_ns / r->enabled_ns : 1;
	}
}

static void note_limit(struct splitter *s, struct counter_block *p)
{
	s->limits[p->counter] = p->estimated->limit_per_s;
	for (size_t k = 0; k < p->nr_windows; k++)
		p->saturated[p->window[k]] |= p->estimated->saturated[k];
}

/* Each window's shares of the bytes of a counter; the filter learns meanwhile. */
static int find_shares(struct splitter *s, struct workloads *ws, const struct split_block *b,
		       struct counter_block *p, struct split_tally *t)
{
	const struct counter *counter = &s->header->layout.counters[p->counter];
	bool second = s->header->nr_weights > 1 && counter->direction == DIRECTION_WRITE;
	/* Core events that follow memory traffic say nothing about energy. */
	uint32_t weight = counter->unit != UNIT_BYTES ? NO_WEIGHT : second ? 1 : 0;
	struct split_weight_pair of;
	bool minimum = second && weight == 1 && estimates[s->method] &&
		       split_minimum_find(s->header, weight, &of) &&
		       split_minimum_judge(&s->minimum[p->counter], ws, b, p, &of);
	uint32_t x_of = minimum ? TRACE_MAX_WEIGHTS + weight : weight;
	int err = -ENODATA;

	p->estimated = NULL;
	if (p->x_of != x_of) {
		choose_activity(s, b, weight, p, t);
		if (minimum && p->kind == FILTER_TRAFFIC && split_minimum_take(b, &of, p))
			t->used[of.read] = true;
		workloads_columns(ws, b, p->x);
		p->activity_whole = false;
		p->x_of = x_of;
	}
	for (size_t i = 0; i < ws->nr; i++) {
		ws->members[i].cluster = NO_CLUSTER;
		ws->members[i].bytes = 0;
	}
	if (estimates[s->method] && p->nr_windows)
		err = estimates[s->method](s, ws, b, p);
	if (err == -ENODATA) {
		split_in_proportion(ws, b, p);
		if (estimates[s->method])
			t->simple += p->nr_windows;
		return 0;
	}
	if (err)
		return err;
	note_limit(s, p);
	*(p->estimated->mix < 0.5 ? &t->simple : &t->estimated) += p->nr_windows;
	t->pooled = max_u64(t->pooled, ws->nr_pooled);
	workloads_clusters(ws, p->estimated);
	return split_as_estimated(ws, p);
}

/* A counter of a device, by I/O. */
static int split_device(struct splitter *s, struct workloads *ws, const struct split_block *b,
			struct counter_block *p, uint32_t in_group, const struct split_sink *sink,
			struct split_tally *t)
{
	const struct split_io_how how = {
		.direction = s->header->layout.counters[p->counter].direction,
		.filter = method_row(s->method)->learns
				  ? &s->filters[p->counter * NR_FILTER_KINDS + FILTER_IO]
				  : NULL,
		.workspace = s->workspace,
		.lost = lost_fraction(s, b, true),
	};
	size_t pooled = 0;
	int err = split_io(ws, b, p, in_group, &how, sink, &pooled);

	t->pooled = max_u64(t->pooled, pooled);
	return err;
}

/* Memory for a block's activity is kept: allocating that size would take new pages each time. */
static int reserve(struct counter_block *p, size_t nr)
{
	if (nr <= p->cap)
		return 0;
	counter_block_free(p);
	p->cap = 0;
	p->x = calloc(nr, sizeof(*p->x));
	p->share = calloc(nr, sizeof(*p->share));
	p->given = calloc(nr, sizeof(*p->given));
	if (!p->x || !p->share || !p->given)
		return -ENOMEM;
	p->cap = nr;
	return 0;
}

/* A counter of tasks. */
static int split_tasks(struct splitter *s, struct workloads *ws, const struct split_block *b,
		       struct counter_block *p, uint32_t in_group, const struct split_sink *sink,
		       struct split_tally *t)
{
	int err;

	p->counter = s->header->layout.groups[b->group].first + in_group;
	take_windows(b, in_group, p);
	err = find_shares(s, ws, b, p, t);
	return err ? err : split_counter(s, ws, b, p, in_group, sink);
}

/* The work of the second thread. */
static void run_second(void *arg)
{
	struct second_thread *a = arg;
	struct split_sink sink = split_deferred_sink(&a->deferred);

	a->err = split_tasks(a->s, &a->workloads, a->b, &a->block, a->in_group, &sink, &a->tally);
}

/* Members change while a counter is split; the rest of the workloads does not. */
static int copy_workloads(struct second_thread *a, const struct workloads *ws)
{
	struct member *members = a->workloads.members;

	if (a->ready)
		return 0;
	members = reallocarray(members, ws->nr + 1, sizeof(*members));
	if (!members)
		return -ENOMEM;
	memcpy(members, ws->members, ws->nr * sizeof(*members));
	a->workloads = *ws;
	a->workloads.members = members;
	a->block.x_of = NO_ACTIVITY;
	memset(a->block.saturated, 0, sizeof(a->block.saturated));
	a->ready = true;
	return 0;
}

/*
 * Hands the next counter of tasks behind @in_group to the second thread, if it is one of its
 * counters.
 */
static int begin_second(struct splitter *s, const struct workloads *ws, const struct split_block *b,
			uint32_t in_group)
{
	const struct group *g = &s->header->layout.groups[b->group];
	const struct counter *counters = &s->header->layout.counters[g->first];
	struct second_thread *a = s->second;
	uint32_t next = in_group + 1;
	int err;

	while (next < g->nr && !is_of_tasks(&counters[next]))
		next++;
	if (!a || next == g->nr || !is_for_second(s, g->first + next))
		return 0;
	err = copy_workloads(a, ws);
	if (!err)
		err = reserve(&a->block, b->nr + 1);
	if (err)
		return err;
	a->b = b;
	a->in_group = next;
	a->tally = (struct split_tally){ 0 };
	a->busy = true;
	worker_start(a->worker, run_second, a);
	return 0;
}

/* Waits for the second thread if it splits this counter. Return: does it? */
static struct counter_block *wait_second(struct second_thread *a, uint32_t in_group)
{
	if (!a || !a->busy || a->in_group != in_group)
		return NULL;
	worker_wait(a->worker);
	a->busy = false;
	return &a->block;
}

/* A counter of tasks, split by this thread or by the other one; @ret: its readings. */
static int split_next(struct splitter *s, struct workloads *ws, const struct split_block *b,
		      uint32_t in_group, const struct split_sink *sink, struct split_tally *t,
		      struct counter_block **ret)
{
	struct counter_block *done = wait_second(s->second, in_group);
	int err;

	*ret = done ? done : &s->block;
	if (!done) {
		err = begin_second(s, ws, b, in_group);
		return err ? err : split_tasks(s, ws, b, &s->block, in_group, sink, t);
	}
	err = s->second->err;
	if (!err)
		err = split_deferred_play(&s->second->deferred, done->counter, sink);
	for (size_t w = 0; w < b->nr_windows; w++)
		s->block.saturated[w] |= done->saturated[w];
	add_tally(t, &s->second->tally);
	return err;
}

static int split_group(struct splitter *s, struct workloads *ws, const struct split_block *b,
		       struct counter_block *p, const struct split_sink *sink)
{
	const struct group *g = &s->header->layout.groups[b->group];
	struct split_tally t = { 0 };
	bool weighed = false, owned = false;
	int err = 0;

	memset(p->saturated, 0, sizeof(p->saturated));
	for (uint32_t i = 0; i < g->nr && !err; i++) {
		const struct counter *counter = &s->header->layout.counters[g->first + i];

		if (is_of_tasks(counter) && ws->nr) {
			struct counter_block *done;

			err = split_next(s, ws, b, i, sink, &t, &done);
			owned |= counter->unit == UNIT_BYTES;
			weighed |= done->kind != FILTER_CPU_TIME;
			continue;
		}
		p->counter = g->first + i;
		take_windows(b, i, p);
		if (counter->device && counter->unit == UNIT_BYTES && ws->nr) {
			err = split_device(s, ws, b, p, i, sink, &t);
			p->x_of = NO_ACTIVITY;
			continue;
		}
		for (size_t k = 0; k < p->nr_windows && !err; k++) {
			const struct trace_window *w = &b->windows[p->window[k]];

			err = sink->bytes(sink->arg, p->counter, w, w->readings[i].value, NULL, 0);
		}
	}
	/* After an error it may still be at work. */
	if (s->second && s->second->busy)
		wait_second(s->second, s->second->in_group);
	if (owned && weighed)
		t.weight_windows = b->nr_windows;
	else if (owned && s->header->nr_weights && method_row(s->method)->events)
		t.fallback_windows = b->nr_windows;
	for (size_t w = 0; w < b->nr_windows; w++)
		t.saturated += p->saturated[w];
	add_tally(&s->since, &t);
	add_tally(&s->all, &t);
	return err;
}

int splitter_block(struct splitter *s, const struct split_block *b, const struct split_sink *sink)
{
	struct workloads workloads = { 0 };
	int err = 0;

	for (size_t w = 0; w < b->nr_windows && !err; w++)
		err = sink->window(sink->arg, &b->windows[w]);
	if (!err && b->nr_windows)
		err = workloads_make(b, sink, &workloads);
	if (err || !b->nr_windows)
		return err;
	s->block.x_of = NO_ACTIVITY;
	if (s->second)
		s->second->ready = false;
	err = reserve(&s->block, b->nr + 1);
	if (!err)
		err = split_group(s, &workloads, b, &s->block, sink);
	workloads_free(&workloads);
	return err;
}
