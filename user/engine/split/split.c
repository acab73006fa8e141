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
#include "engine/split/split_later.h"
#include "tables/weight_rows.h"

/* Losses that are kept in mind. */
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
 * struct ahead - a counter that a second thread splits, while this one splits the one before it
 * @worker: the thread
 * @room: where the filters of every other counter work
 * @part, @crowd: the thread's own; the lists of @crowd that nobody changes are the block's
 * @later: what it hands out
 * @ready: @crowd is that of the block
 * @busy: it was given counter @in_group of @b
 * @err: what came of it
 */
struct ahead {
	struct worker *worker;
	struct filter_room *room;
	struct part part;
	struct crowd crowd;
	struct split_later later;
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
	struct filter **filters;   /* by counter and kind; made when needed */
	double *limits;		   /* by counter: bytes by second, 0 = not known */
	struct split_fewer *fewer; /* by counter */
	struct filter_room *room;
	struct part part;    /* its arrays are kept from block to block */
	struct ahead *ahead; /* NULL: there is one thread */
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
	s->fewer = calloc(header->layout.nr_counters + 1, sizeof(*s->fewer));
	s->room = filter_room_new();
	if (!s->filters || !s->limits || !s->fewer || !s->room) {
		free(s->filters);
		free(s->limits);
		free(s->fewer);
		filter_room_free(s->room);
		free(s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

static void part_free(struct part *p)
{
	free(p->x);
	free(p->share);
	free(p->given);
	matrix_free(&p->activity);
	matrix_free(&p->within);
}

static void ahead_free(struct ahead *a)
{
	if (!a)
		return;
	worker_free(a->worker);
	filter_room_free(a->room);
	part_free(&a->part);
	free(a->crowd.members);
	split_later_free(&a->later);
	free(a);
}

int splitter_two_threads(struct splitter *s)
{
	struct ahead *a = calloc(1, sizeof(*a));
	int err;

	if (!a)
		return -ENOMEM;
	a->s = s;
	a->room = filter_room_new();
	err = a->room ? worker_new(&a->worker) : -ENOMEM;
	if (err) {
		ahead_free(a);
		return err;
	}
	s->ahead = a;
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
	free(s->fewer);
	filter_room_free(s->room);
	part_free(&s->part);
	ahead_free(s->ahead);
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

static uint64_t larger(uint64_t a, uint64_t b)
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
	to->pooled = larger(to->pooled, t->pooled);
	for (int k = 0; k < TRACE_MAX_WEIGHTS; k++)
		to->used[k] |= t->used[k];
}

/* Part of the block's slices (or I/O) that are missing. */
static double lost_part(const struct splitter *s, const struct split_block *b, bool io)
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
			    struct part *p, struct split_tally *t)
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

/* With two threads, every other counter of tasks is the second one's. */
static bool is_for_second(const struct splitter *s, uint32_t counter)
{
	const struct layout *l = &s->header->layout;
	bool second = false;

	for (uint32_t i = l->groups[l->counters[counter].group].first; i < counter; i++)
		second ^= is_of_tasks(&l->counters[i]);
	return s->ahead && second;
}

/* A filter stays in its room, whoever works there: both threads never do so in the same one. */
static struct filter_room *room_of(const struct splitter *s, uint32_t counter)
{
	return is_for_second(s, counter) ? s->ahead->room : s->room;
}

/* Activity as the filter has it; counters that counted in all windows share it. */
static int fill_activity(const struct crowd *c, const struct split_block *b, struct part *p)
{
	cleanup_free uint32_t *columns = NULL;
	int err;

	if (p->activity_whole && p->nr_windows == b->nr_windows)
		return 0;
	columns = calloc(c->nr + 1, sizeof(*columns));
	err = columns ? matrix_shape(&p->activity, p->nr_windows, c->nr_columns) : -ENOMEM;
	err = err ? err : matrix_shape(&p->within, p->nr_windows, c->nr_columns);
	if (err)
		return err;
	for (size_t i = 0; i < c->nr; i++)
		columns[i] = c->members[i].column == NO_COLUMN ? c->nr_columns - 1
							       : c->members[i].column;
	for (size_t k = 0; k < p->nr_windows; k++) {
		float *row = matrix_row(&p->activity, k), *within = matrix_row(&p->within, k);
		size_t w = p->window[k];
		double unit = within_unit(&b->windows[w]);

		for (size_t i = c->first[w]; i < c->first[w + 1]; i++) {
			uint32_t column = columns[c->of[i]];

			row[column] += p->x[i];
			within[column] += p->x[i] * unit * within_mean(&b->activity[i]);
		}
	}
	p->activity_whole = p->nr_windows == b->nr_windows;
	return 0;
}

/*
 * Nobody writes more to memory than leaves a cache. Of reads no event says that. Where activity is
 * what was read at most, it is not asked: that caches take lines is in it.
 */
static double most_of(const struct splitter *s, const struct part *p)
{
	if (p->kind != FILTER_TRAFFIC ||
	    s->header->layout.counters[p->counter].direction != DIRECTION_WRITE)
		return 0;
	return weight_most_written(s->header->weights[p->x_of % TRACE_MAX_WEIGHTS]);
}

static int run_filter(struct splitter *s, const struct crowd *c, const struct split_block *b,
		      struct part *p)
{
	struct filter **f = &s->filters[p->counter * NR_FILTER_KINDS + p->kind];
	double middle[SPLIT_MAX_WINDOWS], length[SPLIT_MAX_WINDOWS];
	uint32_t workloads[FILTER_MAX_WORKLOADS];
	uint64_t kin[FILTER_MAX_WORKLOADS];
	bool ended[FILTER_MAX_WORKLOADS];
	uint64_t start = b->windows[0].start_ns;
	struct filter_input in = {
		.nr_windows = p->nr_windows,
		.nr_workloads = c->nr_columns,
		.workloads = workloads,
		.kin = kin,
		.ended = ended,
		.activity = &p->activity,
		.within = lost_part(s, b, false) > 0 ? NULL : &p->within,
		.bytes = p->bytes,
		.ratio = p->ratio,
		.middle_s = middle,
		.length_s = length,
		.block_s = (b->windows[b->nr_windows - 1].end_ns - start) / 1e9,
		.no_limit = s->header->layout.counters[p->counter].unit != UNIT_BYTES,
		.most = most_of(s, p),
	};
	cleanup_free struct filter_slice *slices = NULL;
	int err = fill_activity(c, b, p);

	err = err ? err : split_activity_slices(s->header, c, b, p, &slices, &in.nr_slices);
	in.slices = slices;
	if (!err && !*f)
		err = filter_new(p->kind, room_of(s, p->counter), f);
	if (err)
		return err;
	crowd_workloads(c, workloads);
	crowd_kin(c, kin, ended);
	for (size_t k = 0; k < p->nr_windows; k++) {
		const struct trace_window *window = &b->windows[p->window[k]];

		length[k] = (window->end_ns - window->start_ns) / 1e9;
		middle[k] = (window->start_ns - start) / 1e9 + length[k] / 2;
	}
	return filter_block(*f, &in, &p->estimated);
}

/*
 * By method: makes @p->estimated from the activity of tasks. -ENODATA: it has nothing to say. A
 * method without one divides in proportion to activity.
 */
static int (*const estimates[NR_METHODS])(struct splitter *s, const struct crowd *c,
					  const struct split_block *b, struct part *p) = {
	[METHOD_STATE_SPACE] = run_filter,
};

/* The bytes of one window, exactly; the background is the last portion. */
static int give(const struct crowd *c, const struct split_block *b, struct part *p, size_t k,
		uint64_t bytes, struct portion *portions, uint64_t *units)
{
	size_t w = p->window[k], first = c->first[w], nr = c->first[w + 1] - first;
	uint64_t *parts = units + nr + 1, sum = split_units(p->share + first, nr, units);
	int err;

	/* Alone in a window: all of it is its own. */
	if (nr == 1)
		units[0] = sum = 1;
	units[nr] = nr == 1 ? 0 : (uint64_t)(p->background[k] * SPLIT_SHARE_UNITS);
	for (size_t i = 0; !sum && i < nr; i++)
		units[i] = b->activity[first + i].on_cpu_ns;
	err = apportion(bytes, units, nr + 1, parts);
	if (err)
		return err;
	for (size_t i = 0; i < nr; i++) {
		struct crowd_member *m = &c->members[c->of[first + i]];

		portions[i] = (struct portion){ m->workload, parts[i] };
		p->given[first + i] = parts[i];
		m->bytes += parts[i];
	}
	portions[nr] = (struct portion){ WORKLOAD_BACKGROUND, parts[nr] };
	return 0;
}

/* A counter that workloads may own. */
static int split_counter(struct splitter *s, const struct crowd *c, const struct split_block *b,
			 struct part *p, uint32_t in_group, const struct split_sink *sink)
{
	size_t most = 0;
	cleanup_free struct portion *portions = NULL;
	cleanup_free uint64_t *units = NULL;
	int err = 0;

	for (size_t w = 0; w < b->nr_windows; w++)
		if (c->first[w + 1] - c->first[w] > most)
			most = c->first[w + 1] - c->first[w];
	portions = calloc(most + 1, sizeof(*portions));
	units = calloc(most + 1, 2 * sizeof(*units));
	if (!portions || !units)
		return -ENOMEM;
	for (size_t k = 0; k < p->nr_windows && !err; k++) {
		size_t w = p->window[k], nr = c->first[w + 1] - c->first[w];
		uint64_t bytes = b->windows[w].readings[in_group].value;

		if (nr) {
			err = give(c, b, p, k, bytes, portions, units);
			nr += portions[nr].bytes != 0;
		}
		if (!err)
			err = sink->bytes(sink->arg, p->counter, &b->windows[w], bytes, portions,
					  nr);
	}
	return err ? err : split_bounds(c, b, p, lost_part(s, b, false), sink);
}

/* The windows in which a counter counted. */
static void take_windows(const struct split_block *b, uint32_t in_group, struct part *p)
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

static void note_limit(struct splitter *s, struct part *p)
{
	s->limits[p->counter] = p->estimated->limit_per_s;
	for (size_t k = 0; k < p->nr_windows; k++)
		p->full[p->window[k]] |= p->estimated->full[k];
}

/* How the bytes of a counter are shared in each window; the filter learns meanwhile. */
static int find_shares(struct splitter *s, struct crowd *c, const struct split_block *b,
		       struct part *p, struct split_tally *t)
{
	const struct counter *counter = &s->header->layout.counters[p->counter];
	bool second = s->header->nr_weights > 1 && counter->direction == DIRECTION_WRITE;
	/* What core events say of memory traffic, they do not say of energy. */
	uint32_t weight = counter->unit != UNIT_BYTES ? NO_WEIGHT : second ? 1 : 0;
	struct split_fewer_of of;
	bool fewer = second && weight == 1 && estimates[s->method] &&
		     split_fewer_find(s->header, weight, &of) &&
		     split_fewer_judge(&s->fewer[p->counter], c, b, p, &of);
	uint32_t x_of = fewer ? TRACE_MAX_WEIGHTS + weight : weight;
	int err = -ENODATA;

	p->estimated = NULL;
	if (p->x_of != x_of) {
		choose_activity(s, b, weight, p, t);
		if (fewer && p->kind == FILTER_TRAFFIC && split_fewer_take(b, &of, p))
			t->used[of.read] = true;
		crowd_columns(c, b, p->x);
		p->activity_whole = false;
		p->x_of = x_of;
	}
	for (size_t i = 0; i < c->nr; i++) {
		c->members[i].cluster = NO_CLUSTER;
		c->members[i].bytes = 0;
	}
	if (estimates[s->method] && p->nr_windows)
		err = estimates[s->method](s, c, b, p);
	if (err == -ENODATA) {
		split_in_proportion(c, b, p);
		if (estimates[s->method])
			t->simple += p->nr_windows;
		return 0;
	}
	if (err)
		return err;
	note_limit(s, p);
	*(p->estimated->part < 0.5 ? &t->simple : &t->estimated) += p->nr_windows;
	t->pooled = larger(t->pooled, c->nr_pooled);
	crowd_clusters(c, p->estimated);
	return split_as_estimated(c, p);
}

/* A counter of a device, by I/O. */
static int split_device(struct splitter *s, struct crowd *c, const struct split_block *b,
			struct part *p, uint32_t in_group, const struct split_sink *sink,
			struct split_tally *t)
{
	const struct split_io_how how = {
		.direction = s->header->layout.counters[p->counter].direction,
		.filter = method_row(s->method)->learns
				  ? &s->filters[p->counter * NR_FILTER_KINDS + FILTER_IO]
				  : NULL,
		.room = s->room,
		.lost = lost_part(s, b, true),
	};
	size_t pooled = 0;
	int err = split_io(c, b, p, in_group, &how, sink, &pooled);

	t->pooled = larger(t->pooled, pooled);
	return err;
}

/* Room for elements of a block's activity: memory of that size would be new pages each time. */
static int make_room(struct part *p, size_t nr)
{
	if (nr <= p->cap)
		return 0;
	part_free(p);
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
static int split_tasks(struct splitter *s, struct crowd *c, const struct split_block *b,
		       struct part *p, uint32_t in_group, const struct split_sink *sink,
		       struct split_tally *t)
{
	int err;

	p->counter = s->header->layout.groups[b->group].first + in_group;
	take_windows(b, in_group, p);
	err = find_shares(s, c, b, p, t);
	return err ? err : split_counter(s, c, b, p, in_group, sink);
}

/* What the second thread does. */
static void split_ahead(void *arg)
{
	struct ahead *a = arg;
	struct split_sink sink = split_later_sink(&a->later);

	a->err = split_tasks(a->s, &a->crowd, a->b, &a->part, a->in_group, &sink, &a->tally);
}

/* The members of a crowd are changed while a counter is split; the rest of it is not. */
static int copy_crowd(struct ahead *a, const struct crowd *c)
{
	struct crowd_member *members = a->crowd.members;

	if (a->ready)
		return 0;
	members = reallocarray(members, c->nr + 1, sizeof(*members));
	if (!members)
		return -ENOMEM;
	memcpy(members, c->members, c->nr * sizeof(*members));
	a->crowd = *c;
	a->crowd.members = members;
	a->part.x_of = NO_ACTIVITY;
	memset(a->part.full, 0, sizeof(a->part.full));
	a->ready = true;
	return 0;
}

/* Gives the next counter of tasks behind @in_group to the second thread, if it is for that one. */
static int begin_ahead(struct splitter *s, const struct crowd *c, const struct split_block *b,
		       uint32_t in_group)
{
	const struct group *g = &s->header->layout.groups[b->group];
	const struct counter *counters = &s->header->layout.counters[g->first];
	struct ahead *a = s->ahead;
	uint32_t next = in_group + 1;
	int err;

	while (next < g->nr && !is_of_tasks(&counters[next]))
		next++;
	if (!a || next == g->nr || !is_for_second(s, g->first + next))
		return 0;
	err = copy_crowd(a, c);
	if (!err)
		err = make_room(&a->part, b->nr + 1);
	if (err)
		return err;
	a->b = b;
	a->in_group = next;
	a->tally = (struct split_tally){ 0 };
	a->busy = true;
	worker_start(a->worker, split_ahead, a);
	return 0;
}

/* Is a counter the second thread's? Then its part is done when this returns. */
static struct part *wait_ahead(struct ahead *a, uint32_t in_group)
{
	if (!a || !a->busy || a->in_group != in_group)
		return NULL;
	worker_wait(a->worker);
	a->busy = false;
	return &a->part;
}

/* A counter of tasks that one thread splits or the other has split; @ret: its part. */
static int split_next(struct splitter *s, struct crowd *c, const struct split_block *b,
		      uint32_t in_group, const struct split_sink *sink, struct split_tally *t,
		      struct part **ret)
{
	struct part *done = wait_ahead(s->ahead, in_group);
	int err;

	*ret = done ? done : &s->part;
	if (!done) {
		err = begin_ahead(s, c, b, in_group);
		return err ? err : split_tasks(s, c, b, &s->part, in_group, sink, t);
	}
	err = s->ahead->err;
	if (!err)
		err = split_later_play(&s->ahead->later, done->counter, sink);
	for (size_t w = 0; w < b->nr_windows; w++)
		s->part.full[w] |= done->full[w];
	add_tally(t, &s->ahead->tally);
	return err;
}

static int split_group(struct splitter *s, struct crowd *c, const struct split_block *b,
		       struct part *p, const struct split_sink *sink)
{
	const struct group *g = &s->header->layout.groups[b->group];
	struct split_tally t = { 0 };
	bool weighed = false, owned = false;
	int err = 0;

	memset(p->full, 0, sizeof(p->full));
	for (uint32_t i = 0; i < g->nr && !err; i++) {
		const struct counter *counter = &s->header->layout.counters[g->first + i];

		if (is_of_tasks(counter) && c->nr) {
			struct part *done;

			err = split_next(s, c, b, i, sink, &t, &done);
			owned |= counter->unit == UNIT_BYTES;
			weighed |= done->kind != FILTER_CPU_TIME;
			continue;
		}
		p->counter = g->first + i;
		take_windows(b, i, p);
		if (counter->device && counter->unit == UNIT_BYTES && c->nr) {
			err = split_device(s, c, b, p, i, sink, &t);
			p->x_of = NO_ACTIVITY;
			continue;
		}
		for (size_t k = 0; k < p->nr_windows && !err; k++) {
			const struct trace_window *w = &b->windows[p->window[k]];

			err = sink->bytes(sink->arg, p->counter, w, w->readings[i].value, NULL, 0);
		}
	}
	/* After an error it may still be at work. */
	if (s->ahead && s->ahead->busy)
		wait_ahead(s->ahead, s->ahead->in_group);
	if (owned && weighed)
		t.weight_windows = b->nr_windows;
	else if (owned && s->header->nr_weights && method_row(s->method)->events)
		t.fallback_windows = b->nr_windows;
	for (size_t w = 0; w < b->nr_windows; w++)
		t.saturated += p->full[w];
	add_tally(&s->since, &t);
	add_tally(&s->all, &t);
	return err;
}

int splitter_block(struct splitter *s, const struct split_block *b, const struct split_sink *sink)
{
	struct crowd crowd = { 0 };
	int err = 0;

	for (size_t w = 0; w < b->nr_windows && !err; w++)
		err = sink->window(sink->arg, &b->windows[w]);
	if (!err && b->nr_windows)
		err = crowd_make(b, sink, &crowd);
	if (err || !b->nr_windows)
		return err;
	s->part.x_of = NO_ACTIVITY;
	if (s->ahead)
		s->ahead->ready = false;
	err = make_room(&s->part, b->nr + 1);
	if (!err)
		err = split_group(s, &crowd, b, &s->part, sink);
	crowd_free(&crowd);
	return err;
}
