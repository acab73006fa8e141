// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sampling latencies with a kernel of our own: every count and every nanosecond is known. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>

#include "base/array.h"
#include "platform/meter/sampler.h"
#include "tree.h"

#define MS	   1000000ull
#define MAX_FDS	   256
#define T410_PMUS  8
#define T410_TOTAL 16 /* probes of all of them */

/* --- a kernel */

struct event {
	bool open;
	bool pinned;
	bool enabled;
	uint32_t type;
	uint64_t config;
	int cpu;
	int leader;
	uint64_t begin_ns;
};

static struct kernel {
	struct event events[MAX_FDS];
	int nr;
	int nr_open;
	uint64_t now;
	uint64_t cost_ns;   /* of a reading */
	uint32_t dear_type; /* ten times as dear */
	uint64_t rate;	    /* counts of each event in a ms: rate + config */
	uint64_t shift;	    /* added to each count */
	uint64_t jump_ns;   /* and to the times */
	uint32_t hit_type;  /* what is below is for PMUs of this type; 0: all */
	int open_error;
	size_t group_size;  /* largest group that the driver takes, 0: any */
	size_t busy_above;  /* larger pinned groups do not run */
	bool busy;	    /* pinned groups do not run */
	bool standing;	    /* nothing runs */
	ssize_t read_error; /* a negative errno, or what to take away from the bytes */
	bool wrong_number;
	int nr_enabled;
	size_t stopping; /* events that are to be closed next */
} k;

static bool is_hit(uint32_t type)
{
	return !k.hit_type || k.hit_type == type;
}

static size_t group_length(int leader)
{
	size_t n = 0;

	for (int i = 0; i < k.nr; i++)
		n += k.events[i].open && k.events[i].leader == leader;
	return n;
}

static int fake_open(const struct perf_event_attr *attr, int pid, int cpu, int leader)
{
	struct event *e = &k.events[k.nr];

	assert_true(k.nr < MAX_FDS);
	assert_int_equal(pid, -1);
	assert_int_equal(attr->size, sizeof(*attr));
	/* only leaders wait for enable(), and only they are pinned */
	assert_int_equal(attr->disabled, leader < 0);
	assert_false(attr->pinned && leader >= 0);
	if (k.open_error && is_hit(attr->type))
		return k.open_error;
	if (leader >= 0 && k.group_size && group_length(leader) >= k.group_size)
		return -EINVAL;
	*e = (struct event){
		.open = true,
		.pinned = attr->pinned,
		.type = attr->type,
		.config = attr->config,
		.cpu = cpu,
		.leader = leader < 0 ? k.nr : leader,
	};
	k.nr_open++;
	return k.nr++;
}

/* Every event counts from when its group was started, with a rate of its own. */
static uint64_t count_of(const struct event *e, uint64_t since)
{
	return (k.now - since) / MS * (k.rate + e->config) + k.shift;
}

static ssize_t fake_read(int fd, uint64_t *words, size_t nr)
{
	const struct event *e = &k.events[fd];
	bool hit = is_hit(e->type);
	size_t n = group_length(fd);

	assert_true(e->open && e->leader == fd);
	assert_int_equal(k.stopping, 0);
	assert_int_equal(nr, 3 + n);
	if (e->type == k.dear_type)
		k.now += 9 * k.cost_ns;
	k.now += k.cost_ns / 2;
	words[0] = n + (hit && k.wrong_number);
	words[1] = k.now - e->begin_ns + k.jump_ns;
	words[2] = hit && k.standing ? 0 : words[1];
	for (int i = fd, at = 3; i < k.nr; i++)
		if (k.events[i].open && k.events[i].leader == fd)
			words[at++] = count_of(&k.events[i], e->begin_ns);
	k.now += k.cost_ns - k.cost_ns / 2;
	if (!e->enabled || (hit && e->pinned && (k.busy || (k.busy_above && n > k.busy_above))))
		return 0;
	if (hit && k.read_error < 0)
		return k.read_error;
	return nr * sizeof(*words) - (hit ? k.read_error : 0);
}

static int fake_enable(int fd)
{
	assert_true(k.events[fd].open && k.events[fd].leader == fd);
	if (!k.events[fd].enabled)
		k.events[fd].begin_ns = k.now;
	k.events[fd].enabled = true;
	k.nr_enabled++;
	k.now++; /* time passes before it can be read */
	return 0;
}

/* What counts latencies is stopped to be closed only: its events take no turns. */
static int fake_disable(int fd)
{
	assert_true(k.events[fd].open && k.events[fd].leader == fd);
	assert_int_equal(k.stopping, 0);
	k.stopping = group_length(fd);
	return 0;
}

static void fake_close(int fd)
{
	assert_true(k.events[fd].open);
	k.stopping -= k.stopping > 0;
	/* siblings go first */
	if (k.events[fd].leader == fd)
		assert_int_equal(group_length(fd), 1);
	k.events[fd].open = false;
	k.nr_open--;
}

static uint64_t fake_now(void)
{
	return k.now;
}

static const struct perf_ops fake = { fake_open,  fake_read, fake_enable, fake_disable,
				      fake_close, fake_now,  fake_now };

/* --- a machine */

struct world {
	struct tree tree;
	struct sysfs fs;
	struct pmu_list pmus;
	struct sampler *s;
	struct trace_sink sink;
	int answer; /* of the sink */
	size_t nr[T410_TOTAL];
	struct trace_sample first[T410_TOTAL], last[T410_TOTAL];
	uint64_t requests[T410_TOTAL], cycles[T410_TOTAL], longest_ns;
};

static const uint32_t both[] = { 0, 1 };

static int on_sample(void *arg, const struct trace_event *e)
{
	const struct trace_sample *s = &e->sample;
	struct world *w = arg;

	assert_int_equal(e->type, TRACE_SAMPLE);
	if (w->answer)
		return w->answer;
	assert_true(s->probe < T410_TOTAL);
	assert_true(s->end_ns > s->start_ns);
	if (w->nr[s->probe]++)
		assert_true(s->start_ns >= w->last[s->probe].end_ns);
	else
		w->first[s->probe] = *s;
	w->last[s->probe] = *s;
	w->requests[s->probe] += s->requests;
	w->cycles[s->probe] += s->cycles;
	if (s->end_ns - s->start_ns > w->longest_ns)
		w->longest_ns = s->end_ns - s->start_ns;
	return 0;
}

static void setup(struct world *w)
{
	struct diag d = { 0 };

	memset(w, 0, sizeof(*w));
	k = (struct kernel){ .now = 5000 * MS, .rate = 1000 };
	tree_make_t410(&w->tree);
	assert_int_equal(sysfs_open(w->tree.root, &d, &w->fs), 0);
	assert_int_equal(pmu_list_read(&w->fs, &d, &w->pmus), 0);
	w->sink = (struct trace_sink){ on_sample, w };
}

static void open_with(struct world *w, struct sampler_options o)
{
	o.interval_ns = o.interval_ns ? o.interval_ns : 100 * MS;
	o.budget = o.budget > 0 ? o.budget : 0.005;
	if (!o.socket_ids) {
		o.socket_ids = both;
		o.nr_sockets = 2;
	}
	o.ops = &fake;
	assert_int_equal(sampler_open(&w->pmus, &o, &w->s), 0);
}

static void teardown(struct world *w)
{
	sampler_free(w->s);
	assert_int_equal(k.nr_open, 0);
	pmu_list_free(&w->pmus);
	sysfs_close(&w->fs);
	tree_remove(&w->tree);
}

static const struct pmu *pmu_named(const struct world *w, const char *name)
{
	for (size_t i = 0; i < w->pmus.nr; i++)
		if (!strcmp(w->pmus.pmus[i].name, name))
			return &w->pmus.pmus[i];
	fail_msg("no %s", name);
	return NULL;
}

static size_t nr_probes(const struct world *w)
{
	size_t nr;

	sampler_probes(w->s, &nr);
	return nr;
}

static struct self_cost cost_of(const struct world *w)
{
	struct self_cost cost = { 0 };

	sampler_cost(w->s, &cost);
	return cost;
}

/* Steps as a live run does, whenever there is something to do. */
static void run_until(struct world *w, uint64_t end_ns)
{
	while (sampler_next_ns(w->s) < end_ns) {
		if (sampler_next_ns(w->s) > k.now)
			k.now = sampler_next_ns(w->s);
		assert_int_equal(sampler_step(w->s, &w->sink), 0);
	}
	if (k.now < end_ns)
		k.now = end_ns;
}

#define SCF "devices/scf1"

static void put_scf_event(struct world *w, const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), SCF "/events/%s", name);
	tree_put(&w->tree, path, text);
}

/* Grace has its latencies in the fabric's PMU; reads of the own socket have its number. */
static void grace(void **state)
{
	static const uint32_t ids[] = { 1 };
	const struct probe *probes;
	struct diag d = { 0 };
	struct world w;
	size_t nr;

	(void)state;
	setup(&w);
	pmu_list_free(&w.pmus);
	tree_link(&w.tree, "bus/event_source/devices/nvidia_scf_pmu_1", "../../../devices/scf1");
	tree_put(&w.tree, SCF "/type", "90\n");
	tree_put(&w.tree, SCF "/cpumask", "2\n");
	tree_put(&w.tree, SCF "/associated_cpus", "2-3\n");
	tree_put(&w.tree, SCF "/format/event", "config:0-32\n");
	put_scf_event(&w, "cycles", "event=0x100000000\n");
	put_scf_event(&w, "socket_0_rd_outstanding", "event=0x115\n");
	put_scf_event(&w, "socket_0_rd_access", "event=0x12d\n");
	put_scf_event(&w, "socket_1_rd_outstanding", "event=0x116\n");
	put_scf_event(&w, "socket_1_rd_access", "event=0x12e\n");
	put_scf_event(&w, "gmem_rd_outstanding", "event=0x16f\n");
	put_scf_event(&w, "gmem_rd_access", "event=0x16e\n");
	assert_int_equal(pmu_list_read(&w.fs, &d, &w.pmus), 0);
	open_with(&w, (struct sampler_options){ .socket_ids = ids, .nr_sockets = 1 });
	probes = sampler_probes(w.s, &nr);
	assert_true(nr >= 2);
	assert_string_equal(probes[nr - 2].name, "scf1/local_rd");
	assert_int_equal(probes[nr - 2].destination, DESTINATION_CMEM);
	assert_int_equal(probes[nr - 2].socket, 0);
	assert_string_equal(probes[nr - 1].name, "scf1/gmem_rd");
	assert_int_equal(probes[nr - 1].destination, DESTINATION_GMEM);
	assert_int_equal(k.events[k.nr - 5].config, 0x100000000);
	assert_int_equal(k.events[k.nr - 4].config, 0x116);
	assert_int_equal(k.events[k.nr - 3].config, 0x12e);
	teardown(&w);
}

/* --- opening */

static void probes_of_a_t410(void **state)
{
	static const char *const names[T410_TOTAL] = {
		"cmem0/rd",	      "cmem1/rd",	    "nvlink_c2c0/out_rd",
		"nvlink_c2c0/out_wr", "nvlink_c2c0/in_rd",  "nvlink_c2c0/in_wr",
		"nvlink_c2c1/out_rd", "nvlink_c2c1/out_wr", "nvlink_c2c1/in_rd",
		"nvlink_c2c1/in_wr",  "nvclink0/out_rd",    "nvclink0/in_rd",
		"nvclink1/out_rd",    "nvclink1/in_rd",	    "nvdlink0/in_rd",
		"nvdlink1/in_rd",
	};
	const struct probe *probes;
	struct world w;
	size_t nr;

	(void)state;
	setup(&w);
	open_with(&w, (struct sampler_options){ 0 });
	probes = sampler_probes(w.s, &nr);
	assert_int_equal(nr, T410_TOTAL);
	for (size_t i = 0; i < nr; i++)
		assert_string_equal(probes[i].name, names[i]);
	assert_int_equal(sampler_pmus(w.s), T410_PMUS);
	assert_string_equal(sampler_note(w.s), "");
	assert_string_equal(probes[0].pmu, "nvidia_cmem_latency_pmu_0");
	assert_int_equal(probes[0].socket, 0);
	assert_true(probes[0].by_tasks);
	assert_int_equal(probes[15].socket, 1);
	assert_int_equal(probes[15].destination, DESTINATION_CXL);
	assert_int_equal(probes[3].direction, DIRECTION_WRITE);
	assert_false(probes[4].by_tasks);
	/* one group a PMU, on its CPU */
	assert_int_equal(k.nr_enabled, T410_PMUS);
	assert_int_equal(k.nr_open, T410_PMUS + 2 * T410_TOTAL);
	assert_int_equal(k.events[3].cpu, 2);
	teardown(&w);
	sampler_free(NULL);
}

/* Sockets have the index that the trace gives them; without one there is no probe. */
static void a_socket_that_nobody_knows(void **state)
{
	static const uint32_t ids[] = { 7, 1 };
	struct world w;
	size_t nr;

	(void)state;
	setup(&w);
	open_with(&w, (struct sampler_options){ .socket_ids = ids, .nr_sockets = 2 });
	assert_int_equal(sampler_probes(w.s, &nr)[0].socket, 1);
	assert_int_equal(nr, T410_TOTAL / 2);
	assert_non_null(strstr(sampler_note(w.s), "nvidia_cmem_latency_pmu_0: its socket"));
	teardown(&w);
}

static void pmus_that_cannot_be_opened(void **state)
{
	struct world w;

	(void)state;
	setup(&w);
	k.hit_type = pmu_named(&w, "nvidia_nvclink_pmu_0")->type;
	k.open_error = -EACCES;
	open_with(&w, (struct sampler_options){ 0 });
	assert_int_equal(nr_probes(&w), T410_TOTAL - 2);
	assert_string_equal(sampler_note(w.s), "nvidia_nvclink_pmu_0: Permission denied");
	sampler_free(w.s);
	k.hit_type = 0;
	open_with(&w, (struct sampler_options){ 0 });
	assert_int_equal(nr_probes(&w), 0);
	assert_int_equal(sampler_next_ns(w.s), UINT64_MAX);
	sampler_start(w.s);
	assert_int_equal(sampler_mark(w.s, true, &w.sink), 0);
	teardown(&w);
}

static void others_hold_the_counters(void **state)
{
	struct world w;

	(void)state;
	setup(&w);
	k.hit_type = pmu_named(&w, "nvidia_nvdlink_pmu_1")->type;
	k.busy = true;
	open_with(&w, (struct sampler_options){ 0 });
	assert_int_equal(nr_probes(&w), T410_TOTAL);
	assert_string_equal(sampler_note(w.s), "");
	assert_false(k.events[k.nr - 3].pinned); /* the leader of the last PMU takes turns */
	teardown(&w);
}

/* Traffic comes first: latencies get what it leaves, or nothing. */
static void beside_counters_of_traffic(void **state)
{
	struct counted_pmu counted[] = { { .pinned = true }, { .pinned = false } };
	const struct sampler_options o = { .counted = counted, .nr_counted = 2 };
	struct world w;

	(void)state;
	setup(&w);
	counted[0].pmu = pmu_named(&w, "nvidia_nvlink_c2c_pmu_0");
	counted[1].pmu = pmu_named(&w, "nvidia_nvlink_c2c_pmu_1");
	k.busy_above = 5;
	k.hit_type = counted[0].pmu->type;
	open_with(&w, o);
	assert_int_equal(nr_probes(&w), T410_TOTAL - 2 - 4);
	assert_string_equal(sampler_note(w.s),
			    "nvidia_nvlink_c2c_pmu_0: not enough counters for all latencies; "
			    "nvidia_nvlink_c2c_pmu_1: all counters are used for traffic");
	for (int i = 0; i < k.nr; i++)
		if (k.events[i].open && k.events[i].type == k.hit_type)
			assert_int_equal(k.events[i].pinned, k.events[i].leader == i);
	sampler_free(w.s);
	k.busy = true;
	open_with(&w, o);
	assert_int_equal(nr_probes(&w), T410_TOTAL - 8);
	assert_non_null(strstr(sampler_note(w.s), "_0: no counters are left for latencies"));
	teardown(&w);
}

static void a_driver_that_takes_small_groups(void **state)
{
	struct world w;
	size_t nr;

	(void)state;
	setup(&w);
	k.group_size = 3;
	open_with(&w, (struct sampler_options){ 0 });
	assert_int_equal(nr_probes(&w), T410_PMUS);
	assert_string_equal(sampler_probes(w.s, &nr)[2].name, "nvlink_c2c0/out_rd");
	assert_non_null(strstr(sampler_note(w.s), "not enough counters for all latencies"));
	sampler_free(w.s);
	k.group_size = 2;
	open_with(&w, (struct sampler_options){ 0 });
	assert_int_equal(nr_probes(&w), 0);
	assert_non_null(strstr(sampler_note(w.s), "no counters are left for latencies"));
	teardown(&w);
}

/* --- reading */

static void samples_add_up(void **state)
{
	struct self_cost cost;
	uint64_t begin;
	struct world w;

	(void)state;
	setup(&w);
	open_with(&w, (struct sampler_options){ 0 });
	assert_int_equal(sampler_step(w.s, &w.sink), 0); /* nothing to start from */
	k.now += 50 * MS;
	begin = k.now;
	sampler_start(w.s);
	run_until(&w, begin + 950 * MS);
	assert_int_equal(w.nr[0], 9);
	assert_int_equal(sampler_mark(w.s, false, &w.sink), 0);
	for (size_t p = 0; p < T410_TOTAL; p++) {
		assert_int_equal(w.nr[p], 10);
		assert_int_equal(w.first[p].start_ns, begin);
		assert_int_equal(w.last[p].end_ns, begin + 950 * MS);
		assert_int_equal(w.last[p].enabled_ns, 50 * MS);
		assert_int_equal(w.last[p].running_ns, 50 * MS);
		assert_int_equal(w.cycles[p], 950 * k.rate);
	}
	/* rd_req is event 1 of CMEM, out_wr_req 8 of NVLink-C2C and in_rd_req 2 of links */
	assert_int_equal(w.requests[0], 950 * (k.rate + 1));
	assert_int_equal(w.requests[3], 950 * (k.rate + 8));
	assert_int_equal(w.requests[15], 950 * (k.rate + 2));
	assert_int_equal(w.last[3].outstanding, 50 * (k.rate + 7));
	cost = cost_of(&w);
	assert_int_equal(cost.probes, T410_PMUS * (1 + 1 + 1 + 10));
	assert_int_equal(cost.probe_deferred, 0);
	assert_int_equal(cost.probe_failed, 0);
	teardown(&w);
}

/* What was read a moment before a mark is not read again; at the end it is. */
static void marks(void **state)
{
	struct world w;

	(void)state;
	setup(&w);
	open_with(&w, (struct sampler_options){ 0 });
	sampler_start(w.s);
	run_until(&w, k.now + 409 * MS);
	assert_int_equal(sampler_mark(w.s, false, &w.sink), 0);
	assert_int_equal(w.nr[0], 4);
	k.now += MS;
	assert_int_equal(sampler_mark(w.s, false, &w.sink), 0);
	assert_int_equal(w.nr[0], 5);
	k.now += 2 * MS;
	assert_int_equal(sampler_mark(w.s, true, &w.sink), 0);
	assert_int_equal(w.nr[0], 6);
	assert_int_equal(w.last[15].end_ns - w.last[15].start_ns, 2 * MS);
	teardown(&w);
}

/* All readings on a CPU together keep to its budget, and all PMUs get their turns. */
static void budget(void **state)
{
	static const double budgets[] = { 0.005, 0.02, 0.2 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(budgets); i++) {
		struct self_cost first, cost;
		uint64_t begin, allowed;
		struct world w;

		setup(&w);
		begin = k.now;
		k.cost_ns = 2 * MS;
		open_with(&w, (struct sampler_options){ .budget = budgets[i] });
		sampler_start(w.s);
		first = cost_of(&w);
		run_until(&w, begin + 60000 * MS);
		assert_int_equal(sampler_mark(w.s, false, &w.sink), 0);
		cost = cost_of(&w);
		/* two CPUs; 60 s of budget, of which nearly all is used if it is scarce */
		allowed = 2 * (uint64_t)(budgets[i] * (k.now - begin));
		assert_true(cost.probe_ns <= allowed + first.probe_ns);
		if (budgets[i] < 0.05)
			assert_true(cost.probe_ns >= allowed - 8 * k.cost_ns);
		assert_int_equal(cost.probe_deferred > 0, budgets[i] < 0.05);
		for (size_t p = 1; p < T410_TOTAL; p++)
			assert_true(w.nr[p] + 1 >= w.nr[0] && w.nr[p] <= w.nr[0] + 1);
		/* at the end whatever it costs */
		assert_int_equal(sampler_mark(w.s, true, &w.sink), 0);
		assert_int_equal(cost_of(&w).probes, cost.probes + T410_PMUS);
		assert_true(k.now - w.last[0].end_ns < T410_PMUS * k.cost_ns);
		teardown(&w);
	}
}

/* Cheap ones do not take the budget of a dear one, which waits longer for it. */
static void cheap_and_dear(void **state)
{
	size_t readings[2] = { 0 };
	const struct probe *probes;
	struct world w;
	size_t nr;

	(void)state;
	setup(&w);
	k.cost_ns = MS;
	k.dear_type = pmu_named(&w, "nvidia_nvlink_c2c_pmu_0")->type;
	open_with(&w, (struct sampler_options){ 0 });
	sampler_start(w.s);
	run_until(&w, k.now + 60000 * MS);
	probes = sampler_probes(w.s, &nr);
	for (size_t p = 0; p < nr; p++) {
		size_t *all = &readings[probes[p].socket];

		*all = *all ? *all : w.nr[p];
		assert_true(w.nr[p] + 1 >= *all && w.nr[p] <= *all + 1);
	}
	assert_true(readings[0] > 15 && readings[1] > 3 * readings[0] - 5);
	teardown(&w);
}

/* The price of a reading is learnt: one that becomes dear is made less often. */
static void dear_readings_become_seldom(void **state)
{
	struct world w;
	size_t before;

	(void)state;
	setup(&w);
	k.cost_ns = MS / 100;
	open_with(&w, (struct sampler_options){ 0 });
	sampler_start(w.s);
	run_until(&w, k.now + 10000 * MS);
	before = w.nr[0];
	assert_true(before >= 98);
	assert_int_equal(cost_of(&w).probe_deferred, 0);
	k.cost_ns = 10 * MS;
	run_until(&w, k.now + 100000 * MS);
	/* 0.5 s for four PMUs a CPU: 12 readings each */
	assert_true(w.nr[0] - before >= 10 && w.nr[0] - before <= 18);
	assert_true(w.longest_ns > 1000 * MS);
	teardown(&w);
}

/* A mark waits for the budget like everything else; the sample goes on behind it. */
static void a_mark_without_budget(void **state)
{
	struct world w;

	(void)state;
	setup(&w);
	k.cost_ns = 10 * MS;
	open_with(&w, (struct sampler_options){ 0 });
	sampler_start(w.s);
	k.now += 95 * MS;
	assert_int_equal(sampler_mark(w.s, false, &w.sink), 0);
	assert_int_equal(w.nr[0], 0);
	assert_int_equal(cost_of(&w).probe_deferred, T410_PMUS);
	/* due and still waiting: put off once, not each time we ask */
	k.now += 100 * MS;
	assert_int_equal(sampler_step(w.s, &w.sink), 0);
	assert_int_equal(sampler_mark(w.s, false, &w.sink), 0);
	assert_int_equal(cost_of(&w).probe_deferred, T410_PMUS);
	assert_true(sampler_next_ns(w.s) > k.now);
	teardown(&w);
}

/* Nothing is lost by a reading that fails: the next sample has it all. */
static void failed_readings(void **state)
{
	uint64_t begin;
	struct world w;

	(void)state;
	setup(&w);
	open_with(&w, (struct sampler_options){ 0 });
	begin = k.now;
	sampler_start(w.s);
	k.hit_type = pmu_named(&w, "nvidia_cmem_latency_pmu_0")->type;
	k.read_error = -EIO;
	run_until(&w, begin + 150 * MS);
	k.read_error = 8; /* too short */
	run_until(&w, begin + 250 * MS);
	k.read_error = 0;
	k.wrong_number = true;
	run_until(&w, begin + 350 * MS);
	k.wrong_number = false;
	k.standing = true; /* it did not count for a moment */
	run_until(&w, begin + 450 * MS);
	k.standing = false;
	assert_int_equal(w.nr[0], 0);
	assert_int_equal(w.nr[1], 4);
	assert_int_equal(cost_of(&w).probe_failed, 4);
	run_until(&w, begin + 550 * MS);
	assert_int_equal(w.nr[0], 1);
	assert_int_equal(w.first[0].start_ns, begin);
	assert_int_equal(w.first[0].end_ns, begin + 500 * MS);
	assert_int_equal(w.requests[0], 500 * (k.rate + 1));
	teardown(&w);
}

/* A count that ran backwards is not believed; the driver makes up for it later. */
static void counts_that_run_backwards(void **state)
{
	uint64_t begin;
	struct world w;

	(void)state;
	setup(&w);
	open_with(&w, (struct sampler_options){ 0 });
	begin = k.now;
	sampler_start(w.s);
	k.shift = -(uint64_t)1000000000;
	run_until(&w, begin + 150 * MS);
	assert_int_equal(cost_of(&w).probe_failed, T410_PMUS);
	k.shift = 0;
	run_until(&w, begin + 250 * MS);
	assert_int_equal(w.nr[0], 1);
	assert_int_equal(w.requests[0], 200 * (k.rate + 1));
	/* One that stays behind is where samples begin again. */
	k.shift = -250 * (k.rate + 1);
	run_until(&w, begin + 450 * MS);
	assert_int_equal(cost_of(&w).probe_failed, 3 * T410_PMUS);
	run_until(&w, begin + 650 * MS);
	assert_int_equal(w.nr[0], 2);
	assert_int_equal(w.last[0].start_ns, begin + 500 * MS);
	assert_int_equal(w.last[0].requests, 100 * (k.rate + 1));
	/* A clock of events that jumps is another one: a sample is no longer than its time. */
	k.jump_ns = 3600 * 1000 * MS;
	run_until(&w, begin + 750 * MS);
	assert_int_equal(w.last[0].enabled_ns, 100 * MS);
	teardown(&w);
}

/* Pinned events that lost their counters read as nothing: started again, then in turns. */
static void a_group_that_was_thrown_out(void **state)
{
	int leader = 0;
	uint64_t begin;
	struct world w;

	(void)state;
	setup(&w);
	open_with(&w, (struct sampler_options){ 0 });
	begin = k.now;
	sampler_start(w.s);
	run_until(&w, begin + 150 * MS);
	assert_int_equal(w.nr[0], 1);
	k.events[leader].enabled = false;
	run_until(&w, begin + 250 * MS);
	assert_int_equal(w.nr[0], 1);
	assert_int_equal(cost_of(&w).probe_failed, 1);
	assert_true(k.events[leader].enabled);
	/* what it missed is in no sample */
	run_until(&w, begin + 450 * MS);
	assert_int_equal(w.nr[0], 2);
	assert_int_equal(w.last[0].start_ns, begin + 300 * MS);
	assert_int_equal(w.last[0].enabled_ns, 100 * MS);

	k.hit_type = pmu_named(&w, "nvidia_cmem_latency_pmu_0")->type;
	k.busy = true;
	run_until(&w, begin + 650 * MS);
	assert_false(k.events[leader].open);
	assert_false(k.events[k.nr - 3].pinned);
	run_until(&w, begin + 850 * MS);
	assert_int_equal(w.nr[0], 3);
	assert_int_equal(cost_of(&w).probe_failed, 3);
	teardown(&w);
}

static void a_group_that_cannot_come_back(void **state)
{
	uint64_t begin;
	struct world w;

	(void)state;
	setup(&w);
	open_with(&w, (struct sampler_options){ 0 });
	begin = k.now;
	sampler_start(w.s);
	k.hit_type = pmu_named(&w, "nvidia_cmem_latency_pmu_0")->type;
	k.busy = true;
	k.open_error = -ENODEV;
	run_until(&w, begin + 1050 * MS);
	assert_int_equal(w.nr[0], 0);
	assert_int_equal(w.nr[1], 10);
	assert_int_equal(cost_of(&w).probe_failed, 2);
	assert_int_equal(sampler_mark(w.s, true, &w.sink), 0);
	assert_int_equal(w.nr[1], 11);
	teardown(&w);
}

static void sinks_that_refuse(void **state)
{
	uint64_t begin;
	struct world w;

	(void)state;
	setup(&w);
	open_with(&w, (struct sampler_options){ 0 });
	begin = k.now;
	sampler_start(w.s);
	w.answer = -EINVAL;
	run_until(&w, begin + 150 * MS);
	assert_int_equal(cost_of(&w).probe_failed, T410_PMUS);
	w.answer = -ENOSPC;
	k.now += 100 * MS;
	assert_int_equal(sampler_step(w.s, &w.sink), -ENOSPC);
	assert_int_equal(sampler_mark(w.s, true, &w.sink), -ENOSPC);
	teardown(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grace),
		cmocka_unit_test(probes_of_a_t410),
		cmocka_unit_test(a_socket_that_nobody_knows),
		cmocka_unit_test(pmus_that_cannot_be_opened),
		cmocka_unit_test(others_hold_the_counters),
		cmocka_unit_test(beside_counters_of_traffic),
		cmocka_unit_test(a_driver_that_takes_small_groups),
		cmocka_unit_test(samples_add_up),
		cmocka_unit_test(marks),
		cmocka_unit_test(budget),
		cmocka_unit_test(cheap_and_dear),
		cmocka_unit_test(dear_readings_become_seldom),
		cmocka_unit_test(a_mark_without_budget),
		cmocka_unit_test(failed_readings),
		cmocka_unit_test(counts_that_run_backwards),
		cmocka_unit_test(a_group_that_was_thrown_out),
		cmocka_unit_test(a_group_that_cannot_come_back),
		cmocka_unit_test(sinks_that_refuse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
