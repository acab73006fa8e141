// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Accounts of nodes made at random, written as closing reports, read again and merged; beside sums
 * that are made the plain way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account_world.h"
#include "base/array.h"
#include "base/text.h"
#include "random.h"
#include "report/job/job_merge.h"
#include "report/job/job_report.h"

#define NR_KNOWN     10
#define NR_STEPS     5
#define S	     1000000000ull

/* Counters of a machine; those from FIRST_DEVICE on are of devices, which not all nodes have. */
#define FIRST_DEVICE 7
static const struct account_counter known[NR_KNOWN] = {
	{ "ucf0/rd", 0, SOURCE_CPU, DIRECTION_READ, DESTINATION_CMEM, "", UNIT_BYTES, true },
	{ "ucf0/wr", 0, SOURCE_CPU, DIRECTION_WRITE, DESTINATION_CMEM, "", UNIT_BYTES, true },
	{ "ucf1/rd", 1, SOURCE_CPU, DIRECTION_READ, DESTINATION_CMEM, "", UNIT_BYTES, true },
	{ "ucf1/wr", 1, SOURCE_CPU, DIRECTION_WRITE, DESTINATION_CMEM, "", UNIT_BYTES, true },
	{ "ucf0/dev", 0, SOURCE_DEVICE, DIRECTION_READ, DESTINATION_ANY, "", UNIT_BYTES, true },
	{ "power0/pkg", 0, SOURCE_ANY, DIRECTION_READWRITE, DESTINATION_ANY, "", UNIT_NANOJOULES,
	  false },
	/* Once it had another direction. */
	{ "ucf0/rd", 0, SOURCE_CPU, DIRECTION_READWRITE, DESTINATION_CMEM, "", UNIT_BYTES, true },
	{ "pcie0/rd/a", 0, SOURCE_DEVICE, DIRECTION_READ, DESTINATION_ANY, "0002:81:00.0",
	  UNIT_BYTES, true },
	{ "pcie0/rd/b", 0, SOURCE_DEVICE, DIRECTION_READ, DESTINATION_ANY, "0003:81:00.0",
	  UNIT_BYTES, true },
	{ "pcie0/gmem/b", 0, SOURCE_DEVICE, DIRECTION_READ, DESTINATION_GMEM, "0003:81:00.0",
	  UNIT_BYTES, false },
};

/* The closing report of a node, as text and as an account */
struct made {
	struct job_reading r;
	char *text;
	size_t size;
};

static sum128 draw_sum(struct draw *d)
{
	sum128 v = draw_u64(d) >> draw_below(d, 60);

	return draw_below(d, 20) ? v : v << draw_below(d, 24);
}

static struct account_total draw_total(struct draw *d, uint32_t counter, sum128 most)
{
	struct account_total t = { .counter = counter };

	t.value = most - most / (1 + draw_below(d, 9));
	t.low = t.value - t.value / (2 + draw_below(d, 9));
	t.high = t.value + (most - t.value) / (1 + draw_below(d, 9));
	t.inseparable = draw_below(d, 3) ? 0 : t.value / 2;
	return t;
}

static void draw_node_total(struct draw *d, struct account_job *j, size_t i)
{
	struct account_node_total *t = &j->node[i];

	*t = (struct account_node_total){ .counter = (uint32_t)i, .enabled_ns = j->covered_ns };
	if (!draw_below(d, 12))
		t->missing = draw_below(d, 2) ? j->intervals : 1;
	if (t->missing == j->intervals)
		return;
	t->running_ns = draw_below(d, 4) ? t->enabled_ns : t->enabled_ns / 4;
	t->value = t->attributed = draw_sum(d);
	for (int r = 0; r < NR_REASONS; r++)
		t->value += t->unattributed[r] = draw_below(d, 2) ? draw_sum(d) : 0;
}

static void draw_io(struct draw *d, struct account_part *p)
{
	p->io = world_must(calloc(2, sizeof(*p->io)));
	for (int i = 0; i < 2; i++) {
		struct account_io *io = &p->io[p->nr_io];

		if (draw_below(d, 2))
			continue;
		*io = (struct account_io){ .read_bytes = draw_below(d, S), .write_bytes = 1 };
		snprintf(io->bdf, sizeof(io->bdf), "0002:81:00.%d", i);
		snprintf(io->name, sizeof(io->name), "nvme%d", (int)draw_below(d, 2));
		p->nr_io++;
	}
}

/* Of two slots; their cards differ between machines. */
static void draw_gpus(struct draw *d, struct account_job *j, size_t number)
{
	j->gpus = world_must(calloc(2, sizeof(*j->gpus)));
	for (int i = 0; i < 2; i++) {
		struct account_gpu *g = &j->gpus[j->nr_gpus];

		if (draw_below(d, 2))
			continue;
		j->nr_gpus++;
		snprintf(g->bdf, sizeof(g->bdf), "000%d:01:00.0", i);
		snprintf(g->uuid, sizeof(g->uuid), "GPU-%zu", number);
		g->held_ns = S + draw_below(d, 100 * S);
		g->alone_ns = g->held_ns / 2;
		g->known_ns = draw_below(d, 2) ? g->held_ns : 0;
		g->idle_ns = g->known_ns / 3;
		g->busy_low_ns = g->busy_ns = g->busy_high_ns = g->known_ns / 4;
		g->link_ns = draw_below(d, 2) ? g->alone_ns : 0;
		if (g->link_ns)
			g->link[0] = (struct account_link){ 7 + draw_sum(d), 3, 1 };
	}
}

static void draw_part(struct draw *d, const struct account_job *j, struct account_part *p)
{
	p->totals = world_must(calloc(NR_KNOWN, sizeof(*p->totals)));
	for (size_t i = 0; i < j->nr_node; i++)
		if (j->node[i].missing < j->intervals && draw_below(d, 5) && j->node[i].attributed)
			p->totals[p->nr_totals++] = draw_total(
				d, (uint32_t)i, j->node[i].attributed / (p == &j->whole ? 1 : 9));
	draw_io(d, p);
	/* Three of the largest are more than 64 bits. */
	p->on_cpu_ns = draw_below(d, 9) ? draw_below(d, 1000 * S) : UINT64_MAX / 2 - 7;
}

static void draw_life(struct draw *d, struct account_job *j)
{
	j->whole.start_ns = WORLD_TIME + draw_below(d, 20 * S);
	j->whole.end_ns = j->whole.start_ns + 60 * S + draw_below(d, 60 * S);
	j->state = draw_below(d, 9) ? ACCOUNT_ENDED : ACCOUNT_STALE;
	j->whole.ended = j->state == ACCOUNT_ENDED;
	j->intervals = 2 + draw_below(d, 9);
	j->covered_ns = j->whole.end_ns - j->whole.start_ns;
	j->quality.method = draw_below(d, 4) ? METHOD_STATE_SPACE : METHOD_WEIGHTS;
	j->quality.windows = draw_below(d, 1000);
	j->quality.late_slices = draw_below(d, 3);
	j->self.cpu_ns = draw_below(d, S);
	snprintf(j->quality.weights, sizeof(j->quality.weights), "l3d");
}

static void write_made(struct made *m)
{
	struct job_context c = { .host = &m->r.host, .node = &m->r.node };
	FILE *f = world_must(open_memstream(&m->text, &m->size));

	assert_int_equal(job_json_write(f, &c, &m->r.job), 0);
	assert_int_equal(fclose(f), 0);
}

/* @other: of a platform that counts something else */
static struct made make(struct draw *d, size_t number, bool other)
{
	struct made m = { .r.host = { .sockets = 2 } };
	struct account_job *j = &m.r.job;
	struct accounts_node *n = &m.r.node;

	snprintf(m.r.host.name, sizeof(m.r.host.name), "n%03zu", number);
	snprintf(m.r.host.platform, sizeof(m.r.host.platform), other ? "grace" : "t410");
	n->counters = world_must(calloc(NR_KNOWN, sizeof(*n->counters)));
	for (size_t i = other; i < NR_KNOWN; i++)
		if (i < FIRST_DEVICE || draw_below(d, 2))
			n->counters[n->nr_counters++] = known[i];
	j->job = (struct row_job){ .scheduler = SCHEDULER_SLURM, .cgroup_id = 100 + number };
	snprintf(j->job.id, sizeof(j->job.id), "12");
	snprintf(j->key, sizeof(j->key), "slurm-12-%zu-1", 100 + number);
	snprintf(j->boot, sizeof(j->boot), "boot");
	draw_life(d, j);
	j->node = world_must(calloc(NR_KNOWN, sizeof(*j->node)));
	for (; j->nr_node < n->nr_counters; j->nr_node++)
		draw_node_total(d, j, j->nr_node);
	draw_part(d, j, &j->whole);
	j->steps = world_must(calloc(NR_STEPS, sizeof(*j->steps)));
	for (uint32_t i = 0; i < NR_STEPS; i++) {
		struct account_part *p = &j->steps[j->nr_steps];

		if (draw_below(d, 2))
			continue;
		j->nr_steps++;
		snprintf(p->step, sizeof(p->step), "%u", i);
		p->start_ns = j->whole.start_ns + i;
		p->end_ns = j->whole.end_ns - i;
		draw_part(d, j, p);
	}
	draw_gpus(d, j, number);
	write_made(&m);
	return m;
}

static void made_free(struct made *m)
{
	job_reading_release(&m->r);
	free(m->text);
}

static void add(struct job_merge *m, const struct made *from, unsigned int folder, int wanted)
{
	struct job_reading r;
	struct diag d = { 0 };

	if (job_read(from->text, from->size, &r, &d))
		fail_msg("%s: %s", d.what, from->text);
	assert_int_equal(r.job.nr_gpus, from->r.job.nr_gpus);
	assert_memory_equal(r.job.gpus, from->r.job.gpus, r.job.nr_gpus * sizeof(*r.job.gpus));
	assert_int_equal(job_merge_add(m, &r, folder), wanted);
}

/* --- the plain way */

/* Sums of a counter over all nodes of a platform, in a step or in the job as a whole */
struct plain {
	struct account_total sum;
	long double low2, high2, sure_low, sure_high;
	size_t nr;
};

static const struct account_part *part_of(const struct account_job *j, const char *step)
{
	if (!step)
		return &j->whole;
	for (size_t i = 0; i < j->nr_steps; i++)
		if (!strcmp(j->steps[i].step, step))
			return &j->steps[i];
	return NULL;
}

static const struct account_total *total_of(const struct accounts_node *n,
					    const struct account_part *p,
					    const struct account_counter *c)
{
	for (size_t i = 0; p && i < p->nr_totals; i++)
		if (account_counter_same(&n->counters[p->totals[i].counter], c))
			return &p->totals[i];
	return NULL;
}

static struct plain plain_of(const struct made *made, size_t nr, const char *platform,
			     const char *step, const struct account_counter *c)
{
	struct plain p = { 0 };

	for (size_t i = 0; i < nr; i++) {
		const struct job_reading *r = &made[i].r;
		const struct account_total *t = total_of(&r->node, part_of(&r->job, step), c);
		long double low, high;

		if (!t || strcmp(r->host.platform, platform) != 0)
			continue;
		p.nr++;
		p.sum.value += t->value;
		p.sum.low += t->low;
		p.sum.high += t->high;
		p.sum.inseparable += t->inseparable;
		low = (long double)(t->value - t->low);
		high = (long double)(t->high - t->value);
		if (r->job.quality.method == METHOD_WEIGHTS) {
			p.sure_low += low;
			p.sure_high += high;
		} else {
			p.low2 += low * low;
			p.high2 += high * high;
		}
	}
	return p;
}

static void near(sum128 is, long double wanted)
{
	long double difference = (long double)is - wanted;

	if (difference < -1 - wanted * 1e-12L || difference > 2 + wanted * 1e-12L)
		fail_msg("%Lf, not %Lf", (long double)is, wanted);
}

static void check_total(const struct account_total *t, const struct plain *p)
{
	static const struct account_total none;

	t = t ?: &none;
	assert_true(t->value == p->sum.value && t->inseparable == p->sum.inseparable);
	/* No wider than the sum of the nodes' intervals, and each node alone is as it was. */
	assert_true(t->low >= p->sum.low && t->low <= t->value);
	assert_true(t->high <= p->sum.high && t->high >= t->value);
	if (p->nr == 1)
		assert_true(t->low == p->sum.low && t->high == p->sum.high);
	near(t->value - t->low, p->sure_low + sqrtl(p->low2));
	near(t->high - t->value, p->sure_high + sqrtl(p->high2));
}

/* The machine's part of a counter */
static void check_node(const struct made *made, size_t nr, const struct job_kind *k, size_t at)
{
	struct account_node_total sum = { 0 };
	const struct account_node_total *is = &k->job.node[at];
	uint64_t intervals = 0;
	uint32_t nodes = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct job_reading *r = &made[i].r;

		for (size_t c = 0; c < r->job.nr_node; c++) {
			const struct account_node_total *t = &r->job.node[c];

			if (strcmp(r->host.platform, k->host.platform) != 0 ||
			    !account_counter_same(&r->node.counters[c], &k->node.counters[at]))
				continue;
			nodes++;
			intervals += r->job.intervals;
			sum.missing += t->missing;
			sum.value += t->value;
			sum.attributed += t->attributed;
			for (int x = 0; x < NR_REASONS; x++)
				sum.unattributed[x] += t->unattributed[x];
		}
	}
	assert_int_equal(k->of[at].nodes, nodes);
	assert_true(is->value == sum.value && is->attributed == sum.attributed);
	assert_memory_equal(is->unattributed, sum.unattributed, sizeof(sum.unattributed));
	assert_int_equal(is->missing, sum.missing == intervals ? k->job.intervals : sum.missing);
}

static void check_kind(const struct made *made, size_t nr, const struct job_kind *k)
{
	for (size_t c = 0; c < NR_KNOWN; c++) {
		struct plain p = plain_of(made, nr, k->host.platform, NULL, &known[c]);

		check_total(total_of(&k->node, &k->job.whole, &known[c]), &p);
		for (uint32_t s = 0; s < NR_STEPS; s++) {
			char step[12];

			snprintf(step, sizeof(step), "%u", s);
			p = plain_of(made, nr, k->host.platform, step, &known[c]);
			check_total(total_of(&k->node, part_of(&k->job, step), &known[c]), &p);
		}
	}
	for (size_t i = 0; i < k->job.nr_node; i++)
		check_node(made, nr, k, i);
}

/* Of each sum: that of the account is the sum of the nodes, and so are those of the list. */
static void check_metrics(const struct made *made, size_t nr, const struct job_nodes *n,
			  const struct job_kind *k)
{
	for (size_t m = 0; m < NR_JOB_METRICS; m++) {
		struct job_sum_value all = job_metric(&k->node, &k->job, &k->job.whole, m);
		sum128 sum = 0, list = 0, value;

		for (size_t i = 0; i < nr; i++) {
			const struct job_reading *r = &made[i].r;

			if (!strcmp(r->host.platform, k->host.platform))
				sum += job_metric(&r->node, &r->job, &r->job.whole, m).value;
		}
		for (size_t i = 0; i < n->nr; i++)
			if (&n->kinds[n->items[i].kind] == k &&
			    job_node_value(&n->items[i], m, &value))
				list += value;
		assert_true(all.value == sum && list == sum && k->spreads[m].sum == sum);
	}
}

static void check_gpus(const struct made *made, size_t nr, const struct account_job *j,
		       const struct job_nodes *n)
{
	uint64_t nodes = 0, all = 0;

	for (size_t k = 0; k < j->nr_gpus; k++) {
		struct account_gpu sum = { 0 };

		for (size_t i = 0; i < nr; i++)
			for (size_t g = 0; g < made[i].r.job.nr_gpus; g++) {
				const struct account_gpu *of = &made[i].r.job.gpus[g];

				if (strcmp(of->bdf, j->gpus[k].bdf) != 0)
					continue;
				all++;
				sum.held_ns += of->held_ns;
				sum.idle_ns += of->idle_ns;
				sum.busy_ns += of->busy_ns;
				sum.link[0].value += of->link[0].value;
			}
		assert_int_equal(j->gpus[k].held_ns, sum.held_ns);
		assert_int_equal(j->gpus[k].idle_ns, sum.idle_ns);
		assert_int_equal(j->gpus[k].busy_ns, sum.busy_ns);
		assert_true(j->gpus[k].link[0].value == sum.link[0].value);
	}
	for (size_t i = 0; i < n->nr; i++)
		nodes += n->items[i].gpus.nr;
	assert_int_equal(nodes, all);
}

static void check_all(const struct made *made, size_t nr, const struct job_merge *m)
{
	struct job_context c;
	const struct account_job *j;
	uint64_t late = 0, covered = 0;
	sum128 cpu = 0;

	assert_int_equal(job_merge_runs(m), 1);
	j = job_merge_run(m, 0, &c);
	assert_int_equal(c.nodes->nr, nr);
	for (size_t i = 0; i < nr; i++) {
		cpu += made[i].r.job.whole.on_cpu_ns;
		late += made[i].r.job.quality.late_slices;
		covered += made[i].r.job.covered_ns;
	}
	assert_true(j->whole.on_cpu_ns == cpu);
	assert_int_equal(j->quality.late_slices, late);
	assert_int_equal(c.nodes->covered_ns, covered);
	check_gpus(made, nr, j, c.nodes);
	for (size_t i = 0; i < c.nodes->nr_kinds; i++) {
		check_kind(made, nr, &c.nodes->kinds[i]);
		check_metrics(made, nr, c.nodes, &c.nodes->kinds[i]);
	}
}

static void run(uint64_t seed)
{
	struct draw d = { seed };
	size_t nr = 1 + draw_below(&d, 12);
	bool mixed = !draw_below(&d, 3);
	struct made made[12];
	struct job_merge *m = world_must(job_merge_new());

	for (size_t i = 0; i < nr; i++) {
		made[i] = make(&d, i, mixed && i % 2);
		add(m, &made[i], 0, 0);
	}
	/* the same once more counts nothing */
	add(m, &made[draw_below(&d, nr)], 0, -EEXIST);
	assert_int_equal(job_merge_finish(m, NULL), 0);
	check_all(made, nr, m);
	job_merge_free(m);
	for (size_t i = 0; i < nr; i++)
		made_free(&made[i]);
}

static void test_random(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= draw_times(300, 20); seed++)
		run(seed * 7919);
}

/* --- runs, nodes and kinds */

/* A report of a node at a time, in seconds */
static struct made made_at(const char *host, uint64_t cgroup, uint64_t from, uint64_t to)
{
	struct draw d = { 1 + cgroup };
	struct made m = make(&d, 0, false);

	free(m.text);
	snprintf(m.r.host.name, sizeof(m.r.host.name), "%s", host);
	m.r.job.job.cgroup_id = cgroup;
	snprintf(m.r.job.key, sizeof(m.r.job.key), "slurm-12-%" PRIu64 "-1", cgroup);
	m.r.job.whole.start_ns = WORLD_TIME + from * S;
	m.r.job.whole.end_ns = WORLD_TIME + to * S;
	m.r.job.covered_ns = (to - from) * S;
	m.r.job.state = ACCOUNT_ENDED;
	while (m.r.job.nr_steps)
		account_part_release(&m.r.job.steps[--m.r.job.nr_steps]);
	write_made(&m);
	return m;
}

static void add_at(struct job_merge *m, const char *host, uint64_t cgroup, uint64_t from,
		   uint64_t to, unsigned int folder)
{
	struct made made = made_at(host, cgroup, from, to);

	add(m, &made, folder, 0);
	made_free(&made);
}

/* The nodes of run @i, the last one first */
static void expect_run(const struct job_merge *m, size_t i, const char *names, size_t nr)
{
	struct job_context c;

	job_merge_run(m, i, &c);
	assert_string_equal(c.host->name, names);
	assert_int_equal(c.nodes->nr, nr);
}

static void test_requeued(void **state)
{
	struct job_merge *m = world_must(job_merge_new());

	(void)state;
	add_at(m, "n1", 1, 0, 50, 0);
	add_at(m, "n2", 2, 300, 400, 0);
	add_at(m, "n2", 3, 1, 52, 0);
	add_at(m, "n3", 4, 301, 390, 0);
	assert_int_equal(job_merge_finish(m, NULL), 0);
	assert_int_equal(job_merge_runs(m), 2);
	expect_run(m, 0, "n[2-3]", 2);
	expect_run(m, 1, "n[1-2]", 2);
	job_merge_free(m);
}

/* In any order: a report that fills the time between two others makes one run of them. */
static void test_one_run(void **state)
{
	static const uint64_t times[3][2] = { { 0, 50 }, { 500, 600 }, { 40, 510 } };
	static const int orders[3][3] = { { 0, 1, 2 }, { 2, 1, 0 }, { 1, 2, 0 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
		struct job_merge *m = world_must(job_merge_new());

		for (int k = 0; k < 3; k++) {
			char host[8];
			int n = orders[i][k];

			snprintf(host, sizeof(host), "n%d", n);
			add_at(m, host, 10 + n, times[n][0], times[n][1], 0);
		}
		assert_int_equal(job_merge_finish(m, NULL), 0);
		assert_int_equal(job_merge_runs(m), 1);
		expect_run(m, 0, "n[0-2]", 3);
		job_merge_free(m);
	}
}

/* A folder of one run has nodes that were used one after the other. */
static void test_folder(void **state)
{
	struct job_merge *m = world_must(job_merge_new());

	(void)state;
	add_at(m, "n1", 1, 0, 50, 7);
	add_at(m, "n2", 2, 5000, 5050, 7);
	add_at(m, "n3", 3, 10000, 10050, 7);
	assert_int_equal(job_merge_finish(m, NULL), 0);
	assert_int_equal(job_merge_runs(m), 1);
	expect_run(m, 0, "n[1-3]", 3);
	job_merge_free(m);
}

/* Without PrologFlags=Contain a node may have several cgroups of a run: all are the job's. */
static void test_again_on_node(void **state)
{
	struct job_merge *m = world_must(job_merge_new());
	struct job_context c;

	(void)state;
	add_at(m, "n1", 1, 0, 50, 0);
	add_at(m, "n1", 2, 60, 90, 0);
	assert_int_equal(job_merge_finish(m, NULL), 0);
	assert_int_equal(job_merge_runs(m), 1);
	expect_run(m, 0, "n1", 1);
	job_merge_run(m, 0, &c);
	assert_int_equal(c.nodes->items[0].reports, 2);
	assert_int_equal(c.nodes->items[0].duration_ns, 80 * S);
	job_merge_free(m);
}

/* Of one account there is one report; another one with its key is not taken for the same. */
static void test_differs(void **state)
{
	struct job_merge *m = world_must(job_merge_new());
	struct made first = made_at("n1", 1, 0, 50), second = made_at("n1", 1, 0, 51);

	(void)state;
	add(m, &first, 0, 0);
	add(m, &second, 0, -EINVAL);
	add(m, &first, 0, -EEXIST);
	made_free(&first);
	made_free(&second);
	job_merge_free(m);
}

static void test_missing(void **state)
{
	struct text_list expected = { 0 };
	struct job_merge *m = world_must(job_merge_new());
	struct job_context c;

	(void)state;
	add_at(m, "n1.example.org", 1, 0, 50, 0);
	add_at(m, "n3", 2, 0, 50, 0);
	add_at(m, "n9", 3, 0, 50, 0);
	for (const char *const *name = (const char *const[]){ "n1", "n2", "n3", "n10", NULL };
	     *name; name++)
		assert_int_equal(text_list_add(&expected, *name), 0);
	assert_int_equal(job_merge_refuse(m, "a.json", "damaged", "it is empty"), 0);
	assert_int_equal(job_merge_finish(m, &expected), 0);
	job_merge_run(m, 0, &c);
	assert_int_equal(c.nodes->expected, 4);
	assert_int_equal(c.nodes->missing.nr, 2);
	assert_string_equal(c.nodes->missing.items[0], "n2");
	assert_string_equal(c.nodes->missing.items[1], "n10");
	assert_int_equal(c.nodes->extra.nr, 1);
	assert_string_equal(c.nodes->extra.items[0], "n9");
	assert_true(job_nodes_incomplete(c.nodes));
	assert_int_equal(c.nodes->nr_refused, 1);
	text_list_free(&expected);
	job_merge_free(m);
}

/* A domain may be there or not, but two domains are two nodes; a name that is given twice is one. */
static void test_domains(void **state)
{
	static const char *const names[] = { "n1.a",	 "n1.b", "n2.a", "10.0.0.1",
					     "10.0.0.2", "n3",	 "n3",	 "n3-x" };
	struct text_list expected = { 0 };
	struct job_merge *m = world_must(job_merge_new());
	struct job_context c;

	(void)state;
	add_at(m, "n1.a", 1, 0, 50, 0);
	add_at(m, "n2", 2, 0, 50, 0);
	add_at(m, "10.0.0.2", 3, 0, 50, 0);
	add_at(m, "n3.c", 4, 0, 50, 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(text_list_add(&expected, names[i]), 0);
	assert_int_equal(job_merge_finish(m, &expected), 0);
	job_merge_run(m, 0, &c);
	assert_int_equal(c.nodes->expected, 7);
	assert_int_equal(c.nodes->missing.nr, 3);
	assert_string_equal(c.nodes->missing.items[0], "10.0.0.1");
	assert_string_equal(c.nodes->missing.items[1], "n1.b");
	assert_string_equal(c.nodes->missing.items[2], "n3-x");
	assert_int_equal(c.nodes->extra.nr, 0);
	text_list_free(&expected);
	job_merge_free(m);
}

static void test_spread(void **state)
{
	static const uint64_t cpu[] = { 40, 10, 70, 20 };
	struct job_merge *m = world_must(job_merge_new());
	const struct job_spread *s;
	struct job_context c;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cpu); i++) {
		char host[8];
		struct made made;

		snprintf(host, sizeof(host), "n%zu", i);
		made = made_at(host, i, 0, 50);
		free(made.text);
		made.r.job.whole.on_cpu_ns = cpu[i];
		write_made(&made);
		add(m, &made, 0, 0);
		made_free(&made);
	}
	assert_int_equal(job_merge_finish(m, NULL), 0);
	job_merge_run(m, 0, &c);
	s = &c.nodes->kinds[0].spreads[JOB_SPREAD_CPUS];
	assert_int_equal(s->nr, 4);
	assert_true(s->points[0] == 10 && s->points[1] == 10 && s->points[2] == 30 &&
		    s->points[3] == 70 && s->points[4] == 70 && s->sum == 140);
	assert_string_equal(c.nodes->items[s->first].name, "n1");
	assert_string_equal(c.nodes->items[s->last].name, "n2");
	assert_true(fabs(job_spread_imbalance(s) - 2) < 1e-12);
	job_merge_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),	      cmocka_unit_test(test_requeued),
		cmocka_unit_test(test_one_run),	      cmocka_unit_test(test_folder),
		cmocka_unit_test(test_again_on_node), cmocka_unit_test(test_differs),
		cmocka_unit_test(test_missing),	      cmocka_unit_test(test_domains),
		cmocka_unit_test(test_spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
