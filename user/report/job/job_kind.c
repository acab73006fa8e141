// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sums over nodes are exact. The errors of different nodes are independent: their squares are added
 * up, not they themselves. Certain bounds are added up as they are.
 */
#include "report/job/job_kind.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* --- errors */

static int reserve_bars(struct job_bars *b, size_t nr)
{
	struct job_bar *items = nr > b->nr ? reallocarray(b->items, nr, sizeof(*items)) : b->items;

	if (nr <= b->nr)
		return 0;
	if (!items)
		return -ENOMEM;
	memset(items + b->nr, 0, (nr - b->nr) * sizeof(*items));
	b->items = items;
	b->nr = nr;
	return 0;
}

static int bars_of(const struct account_part *p, bool certain, size_t nr, struct job_bars *ret)
{
	if (reserve_bars(ret, nr))
		return -ENOMEM;
	for (size_t i = 0; i < p->nr_totals; i++) {
		const struct account_total *t = &p->totals[i];
		double low = (double)(t->value - t->low), high = (double)(t->high - t->value);
		struct job_bar *b = &ret->items[t->counter];

		b->nr = 1;
		if (certain) {
			b->sure_low = low;
			b->sure_high = high;
		} else {
			b->low = low * low;
			b->high = high * high;
		}
	}
	return 0;
}

static void add_bar(struct job_bar *to, const struct job_bar *from)
{
	to->low += from->low;
	to->high += from->high;
	to->sure_low += from->sure_low;
	to->sure_high += from->sure_high;
	to->nr += from->nr;
}

/* Never wider than the sum of the errors, which @most is. */
static sum128 error_of(double squares, double certain, sum128 most)
{
	double error = ceil(certain + sqrt(squares));

	return error < (double)most ? (sum128)error : most;
}

static void apply_bars(struct account_part *p, const struct job_bars *b)
{
	for (size_t i = 0; i < p->nr_totals; i++) {
		struct account_total *t = &p->totals[i];
		const struct job_bar *of = &b->items[t->counter];

		if (of->nr < 2)
			continue;
		t->low = t->value - error_of(of->low, of->sure_low, t->value - t->low);
		t->high = t->value + error_of(of->high, of->sure_high, t->high - t->value);
	}
}

/* --- one node */

int job_kind_of(struct job_reading *r, struct job_kind *ret)
{
	struct job_kind k = { .host = r->host, .node = r->node, .job = r->job, .nr_nodes = 1 };
	bool certain = !method_row(r->job.quality.method)->learns;
	size_t nr = k.node.nr_counters;
	int err;

	k.job.nodes = 1;
	/* The node has its own. */
	k.job.clock_back_ns = k.job.nr_gaps = 0;
	k.of = calloc(nr + 1, sizeof(*k.of));
	k.bars = calloc(k.job.nr_steps + 1, sizeof(*k.bars));
	err = k.of && k.bars ? bars_of(&k.job.whole, certain, nr, &k.bars[0]) : -ENOMEM;
	for (size_t i = 0; i < k.job.nr_steps && !err; i++)
		err = bars_of(&k.job.steps[i], certain, nr, &k.bars[i + 1]);
	for (size_t i = 0; i < nr && !err; i++)
		k.of[i] = (struct job_kind_counter){ 1, k.job.intervals };
	if (err)
		job_kind_release(&k);
	else
		*ret = k;
	return err;
}

/* The names of two counters without the number of their PMU: "ucf0/x" is like "ucf1/x". */
static bool names_alike(const char *a, const char *b)
{
	size_t x = strcspn(a, "/"), y = strcspn(b, "/");

	if (strcmp(a + x, b + y) != 0)
		return false;
	while (x && isdigit((unsigned char)a[x - 1]))
		x--;
	while (y && isdigit((unsigned char)b[y - 1]))
		y--;
	return x == y && !memcmp(a, b, x);
}

/* Devices differ between machines that are the same otherwise. */
static bool has_alike(const struct accounts_node *n, const struct account_counter *c)
{
	for (size_t i = 0; i < n->nr_counters; i++) {
		const struct account_counter *o = &n->counters[i];

		if (!o->bdf[0] && o->source == c->source && o->direction == c->direction &&
		    o->destination == c->destination && o->unit == c->unit &&
		    o->whole == c->whole && names_alike(o->name, c->name))
			return true;
	}
	return false;
}

static bool has_all(const struct accounts_node *n, const struct accounts_node *of)
{
	for (size_t i = 0; i < of->nr_counters; i++)
		if (!of->counters[i].bdf[0] && !has_alike(n, &of->counters[i]))
			return false;
	return true;
}

bool job_kind_same(const struct job_kind *a, const struct job_kind *b)
{
	return !strcmp(a->host.platform, b->host.platform) && has_all(&a->node, &b->node) &&
	       has_all(&b->node, &a->node);
}

/* --- several */

/* A counter of another account in this one, which has it afterwards. */
static int find_counter(struct job_kind *k, const struct account_counter *c, uint32_t *ret)
{
	size_t i = 0, nr = k->node.nr_counters;
	struct account_counter *counters;
	struct account_node_total *node;
	struct job_kind_counter *of;

	while (i < nr && !account_counter_same(&k->node.counters[i], c))
		i++;
	*ret = (uint32_t)i;
	if (i < nr)
		return 0;
	counters = reallocarray(k->node.counters, nr + 1, sizeof(*counters));
	k->node.counters = counters ?: k->node.counters;
	node = reallocarray(k->job.node, nr + 1, sizeof(*node));
	k->job.node = node ?: k->job.node;
	of = reallocarray(k->of, nr + 1, sizeof(*of));
	k->of = of ?: k->of;
	if (!counters || !node || !of)
		return -ENOMEM;
	counters[nr] = *c;
	node[nr] = (struct account_node_total){ .counter = (uint32_t)nr };
	of[nr] = (struct job_kind_counter){ 0 };
	k->node.nr_counters = k->job.nr_node = nr + 1;
	return 0;
}

static void add_node_total(struct account_node_total *to, const struct account_node_total *from)
{
	to->value += from->value;
	to->attributed += from->attributed;
	for (int i = 0; i < NR_REASONS; i++)
		to->unattributed[i] += from->unattributed[i];
	to->enabled_ns = sum_capped(to->enabled_ns, from->enabled_ns);
	to->running_ns = sum_capped(to->running_ns, from->running_ns);
	to->missing = sum_capped(to->missing, from->missing);
}

/* @map: gets the number of each counter of @from in @to */
static int join_counters(struct job_kind *to, const struct job_kind *from, uint32_t *map)
{
	int err = 0;

	for (size_t i = 0; i < from->node.nr_counters && !err; i++) {
		err = find_counter(to, &from->node.counters[i], &map[i]);
		if (err)
			break;
		add_node_total(&to->job.node[map[i]], &from->job.node[i]);
		to->of[map[i]].nodes += from->of[i].nodes;
		to->of[map[i]].intervals =
			sum_capped(to->of[map[i]].intervals, from->of[i].intervals);
	}
	return err;
}

static int compare_totals(const void *a, const void *b)
{
	const struct account_total *x = a, *y = b;

	return ORDER(x->counter, y->counter);
}

/* By address and name: a slot may have another card in another machine. */
static int join_io(struct account_part *to, const struct account_part *from)
{
	struct account_io *io = reallocarray(to->io, to->nr_io + from->nr_io + 1, sizeof(*io));

	if (!io)
		return -ENOMEM;
	to->io = io;
	for (size_t i = 0; i < from->nr_io; i++) {
		size_t k = 0;

		while (k < to->nr_io && (strcmp(io[k].bdf, from->io[i].bdf) != 0 ||
					 strcmp(io[k].name, from->io[i].name) != 0))
			k++;
		if (k == to->nr_io) {
			io[to->nr_io++] = from->io[i];
			continue;
		}
		io[k].read_bytes = sum_capped(io[k].read_bytes, from->io[i].read_bytes);
		io[k].write_bytes = sum_capped(io[k].write_bytes, from->io[i].write_bytes);
	}
	return 0;
}

/* A part and its errors, which belong together; @map: NULL: without counters */
struct part {
	struct account_part *part;
	struct job_bars *bars;
};

static int join_part(struct part to, struct part from, const uint32_t *map, bool first)
{
	struct account_part add = *from.part;
	uint64_t start_ns = first ? add.start_ns : earlier(to.part->start_ns, add.start_ns);
	uint64_t end_ns = later(to.part->end_ns, add.end_ns);
	bool ended = add.ended && (first || to.part->ended);
	int err;

	add.nr_io = 0;
	add.nr_totals = map ? add.nr_totals : 0;
	add.totals = calloc(add.nr_totals + 1, sizeof(*add.totals));
	if (!add.totals)
		return -ENOMEM;
	for (size_t i = 0; i < add.nr_totals; i++) {
		add.totals[i] = from.part->totals[i];
		add.totals[i].counter = map[add.totals[i].counter];
	}
	qsort(add.totals, add.nr_totals, sizeof(*add.totals), compare_totals);
	err = account_part_add(to.part, &add);
	free(add.totals);
	if (!err)
		err = join_io(to.part, from.part);
	for (size_t i = 0; i < from.bars->nr && map && !err; i++) {
		err = reserve_bars(to.bars, map[i] + 1);
		if (!err)
			add_bar(&to.bars->items[map[i]], &from.bars->items[i]);
	}
	to.part->start_ns = start_ns;
	to.part->end_ns = end_ns;
	to.part->ended = ended;
	return err;
}

/* The step of that name; beyond the bound the last one, which is called as in accounts. */
static int find_step(struct job_kind *k, const char *name, size_t *ret, bool *ret_new)
{
	size_t nr = k->job.nr_steps, i = 0;
	struct account_part *steps;
	struct job_bars *bars;

	while (i < nr && strcmp(k->job.steps[i].step, name) != 0)
		i++;
	*ret_new = i == nr && nr < ACCOUNT_MAX_STEPS;
	*ret = i < nr || *ret_new ? i : nr - 1;
	if (!*ret_new) {
		if (i == nr)
			str_copy(k->job.steps[nr - 1].step, JOB_STEP_LEN, ACCOUNT_OTHER_STEPS);
		return 0;
	}
	steps = reallocarray(k->job.steps, nr + 1, sizeof(*steps));
	k->job.steps = steps ?: k->job.steps;
	bars = reallocarray(k->bars, nr + 2, sizeof(*bars));
	k->bars = bars ?: k->bars;
	if (!steps || !bars)
		return -ENOMEM;
	steps[nr] = (struct account_part){ 0 };
	str_copy(steps[nr].step, sizeof(steps[nr].step), name);
	bars[nr + 1] = (struct job_bars){ 0 };
	k->job.nr_steps++;
	return 0;
}

static int join_steps(struct job_kind *to, const struct job_kind *from, const uint32_t *map)
{
	int err = 0;

	for (size_t i = 0; i < from->job.nr_steps && !err; i++) {
		bool is_new = false;
		size_t k = 0;

		err = find_step(to, from->job.steps[i].step, &k, &is_new);
		if (!err)
			err = join_part((struct part){ &to->job.steps[k], &to->bars[k + 1] },
					(struct part){ &from->job.steps[i], &from->bars[i + 1] },
					map, is_new);
	}
	return err;
}

static void add_gpu(struct account_gpu *to, const struct account_gpu *from)
{
	if (strcmp(to->uuid, from->uuid) != 0)
		to->uuid[0] = '\0';
	to->held_ns = sum_capped(to->held_ns, from->held_ns);
	to->alone_ns = sum_capped(to->alone_ns, from->alone_ns);
	to->known_ns = sum_capped(to->known_ns, from->known_ns);
	to->idle_ns = sum_capped(to->idle_ns, from->idle_ns);
	to->busy_ns = sum_capped(to->busy_ns, from->busy_ns);
	to->busy_low_ns = sum_capped(to->busy_low_ns, from->busy_low_ns);
	to->busy_high_ns = sum_capped(to->busy_high_ns, from->busy_high_ns);
	to->link_ns = sum_capped(to->link_ns, from->link_ns);
	for (int d = 0; d < NR_WAYS; d++) {
		to->link[d].value += from->link[d].value;
		to->link[d].low += from->link[d].low;
		to->link[d].high += from->link[d].high;
	}
}

/* By address, as machines of a kind have them: GPUs of several nodes are one there. */
static int join_gpus(struct account_job *to, const struct account_job *from)
{
	struct account_gpu *gpus =
		reallocarray(to->gpus, to->nr_gpus + from->nr_gpus + 1, sizeof(*gpus));

	if (!gpus)
		return -ENOMEM;
	to->gpus = gpus;
	for (size_t i = 0; i < from->nr_gpus; i++) {
		size_t k = 0;

		while (k < to->nr_gpus && strcmp(gpus[k].bdf, from->gpus[i].bdf) < 0)
			k++;
		if (k < to->nr_gpus && !strcmp(gpus[k].bdf, from->gpus[i].bdf)) {
			add_gpu(&gpus[k], &from->gpus[i]);
			continue;
		}
		memmove(&gpus[k + 1], &gpus[k], (to->nr_gpus++ - k) * sizeof(*gpus));
		gpus[k] = from->gpus[i];
	}
	return 0;
}

/* Running: it goes on somewhere; stale: the end of some node was not seen. */
static enum account_state state_of(enum account_state a, enum account_state b)
{
	if (a == ACCOUNT_RUNNING || b == ACCOUNT_RUNNING)
		return ACCOUNT_RUNNING;
	return a == ACCOUNT_STALE ? a : b;
}

/* Losses, and the tracer's cost */
static int join_quality(struct account_job *to, const struct account_job *from)
{
	struct accounts_node sum = { .quality = to->quality, .self = to->self };
	const struct accounts_node add = { .quality = from->quality, .self = from->self };
	int err = accounts_node_add(&sum, &add);

	free(sum.totals);
	if (err)
		return err;
	/* Of the first one: nodes that differ say so. */
	sum.quality.method = to->quality.method;
	memcpy(sum.quality.weights, to->quality.weights, sizeof(sum.quality.weights));
	to->quality = sum.quality;
	to->self = sum.self;
	return 0;
}

static void join_life(struct account_job *to, const struct account_job *from)
{
	to->state = state_of(to->state, from->state);
	to->late_start |= from->late_start;
	to->gap_ns = sum_capped(to->gap_ns, from->gap_ns);
	to->intervals = sum_capped(to->intervals, from->intervals);
	to->covered_ns = later(to->covered_ns, from->covered_ns);
	to->others_unknown_ns = later(to->others_unknown_ns, from->others_unknown_ns);
	to->nodes += from->nodes;
	/* Each node has its own. */
	to->clock_back_ns = to->nr_gaps = 0;
	if (!to->job.name[0])
		memcpy(to->job.name, from->job.name, sizeof(to->job.name));
	if (!to->job.user[0])
		memcpy(to->job.user, from->job.user, sizeof(to->job.user));
}

/* The first nodes: all that is not added up is theirs. */
static int begin(struct job_kind *to, const struct job_kind *from)
{
	const struct account_job *j = &from->job;

	to->host = from->host;
	to->host.sockets = 0;
	to->job = (struct account_job){ .job = j->job, .state = j->state };
	memcpy(to->job.boot, j->boot, sizeof(j->boot));
	memcpy(to->job.key, j->key, sizeof(j->key));
	to->job.quality.method = j->quality.method;
	memcpy(to->job.quality.weights, j->quality.weights, sizeof(j->quality.weights));
	to->job.path = j->path ? strdup(j->path) : NULL;
	to->bars = calloc(1, sizeof(*to->bars));
	return to->bars && (to->job.path || !j->path) ? 0 : -ENOMEM;
}

int job_kind_join(struct job_kind *to, const struct job_kind *from, bool counters)
{
	cleanup_free uint32_t *map = calloc(from->node.nr_counters + 1, sizeof(*map));
	bool first = !to->nr_nodes;
	int err = !map ? -ENOMEM : first ? begin(to, from) : 0;

	if (!err && counters)
		err = join_counters(to, from, map);
	if (!err)
		err = join_part(
			(struct part){ &to->job.whole, &to->bars[0] },
			(struct part){ (struct account_part *)&from->job.whole, &from->bars[0] },
			counters ? map : NULL, first);
	if (!err)
		err = join_steps(to, from, counters ? map : NULL);
	if (!err)
		err = join_quality(&to->job, &from->job) ?: join_gpus(&to->job, &from->job);
	if (err)
		return err;
	join_life(&to->job, &from->job);
	to->host.sockets += from->host.sockets;
	to->nr_nodes += from->nr_nodes;
	return 0;
}

void job_kind_finish(struct job_kind *k)
{
	apply_bars(&k->job.whole, &k->bars[0]);
	for (size_t i = 0; i < k->job.nr_steps; i++)
		apply_bars(&k->job.steps[i], &k->bars[i + 1]);
	/* A counter without any value on the nodes that have it has none: it is not 0. */
	for (size_t i = 0; i < k->job.nr_node; i++)
		if (k->job.node[i].missing >= k->of[i].intervals)
			k->job.node[i].missing = k->job.intervals;
}

void job_kind_release(struct job_kind *k)
{
	for (size_t i = 0; k->bars && i <= k->job.nr_steps; i++)
		free(k->bars[i].items);
	free(k->bars);
	free(k->of);
	accounts_node_release(&k->node);
	account_job_release(&k->job);
	*k = (struct job_kind){ 0 };
}
