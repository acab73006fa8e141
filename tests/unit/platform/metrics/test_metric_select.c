// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>

#include "base/array.h"
#include "platform/metrics/internal.h"
#include "platform/metrics/metric_select.h"
#include "tables/events.h"
#include "tables/own_rows.h"
#include "tree.h"

#define CORES  "bus/event_source/devices/armv8_pmuv3_0/"
#define MIDR   "devices/system/cpu/cpu0/regs/identification/midr_el1"

#define NO_BAR "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"

/* A machine, and what is selected on it. */
struct world {
	struct tree tree;
	struct sysfs fs;
	struct pmu_list pmus;
	struct metric_options o;
	struct metric_selection s;
	struct diag d;
};

static void world_begin(struct world *w, void (*make)(struct tree *tree))
{
	*w = (struct world){ .o = { .socket = -1 } };
	make(&w->tree);
}

static int select_(struct world *w)
{
	struct sysfs fs;
	int err;

	assert_int_equal(sysfs_open(w->tree.root, &w->d, &fs), 0);
	w->fs = fs;
	assert_int_equal(pmu_list_read(&w->fs, &w->d, &w->pmus), 0);
	err = metric_select(&w->fs, &w->pmus, &w->o, &w->d, &w->s);
	if (err)
		assert_string_not_equal(w->d.what, "");
	return err;
}

static void world_end(struct world *w)
{
	metric_selection_free(&w->s);
	metric_selection_free(&w->s);
	pmu_list_free(&w->pmus);
	sysfs_close(&w->fs);
	tree_remove(&w->tree);
}

static const struct stat_metric *find(const struct world *w, const char *name, const char *pmu,
				      const char *label)
{
	const struct stat_layout *l = &w->s.layout;

	for (size_t i = 0; i < l->nr_metrics; i++)
		if (!strcmp(l->metrics[i].name, name) &&
		    !strcmp(l->pmus[l->metrics[i].pmu].name, pmu) &&
		    !strcmp(l->metrics[i].label, label))
			return &l->metrics[i];
	return NULL;
}

static bool has_note(const struct world *w, const char *text)
{
	for (size_t i = 0; i < w->s.layout.notes.nr; i++)
		if (strstr(w->s.layout.notes.items[i], text))
			return true;
	return false;
}

/* What holds for any selection. */
static void check_layout(const struct world *w)
{
	const struct stat_layout *l = &w->s.layout;
	const struct want_list *list = &w->s.wants;

	for (size_t i = 0; i < list->nr; i++) {
		const struct stat_counter *c;

		assert_true(w->s.counter_of[i] < l->nr_counters);
		c = &l->counters[w->s.counter_of[i]];
		if (list->wants[i].pmu) {
			char label[PMU_NAME_LEN + 16];

			pmu_label(list->wants[i].pmu, label, sizeof(label));
			assert_string_equal(l->pmus[c->pmu].name, label);
		}
		/* each event is one counter; those of the cores are one for each set */
		for (size_t j = 0; j < i; j++) {
			bool same = list->wants[i].pmu || list->wants[i].set == list->wants[j].set;

			if (!strcmp(list->wants[i].name, list->wants[j].name))
				assert_int_equal(w->s.counter_of[i] == w->s.counter_of[j], same);
		}
	}
	for (size_t i = 0; i < l->nr_metrics; i++) {
		const struct stat_metric *m = &l->metrics[i];

		assert_true(m->pmu < l->nr_pmus);
		assert_null(strchr(m->name, '<'));
		assert_null(strchr(m->formula, '<'));
		for (uint32_t n = 0; n < m->nr_inputs; n++)
			if (m->input[n] < STAT_CONSTANT)
				assert_int_equal(l->counters[m->input[n]].pmu, m->pmu);
	}
}

static void test_default(void **state)
{
	const struct stat_metric *m;
	struct world w;
	size_t cycles = 0;

	(void)state;
	world_begin(&w, tree_make_t410);
	assert_int_equal(select_(&w), 0);
	check_layout(&w);
	assert_int_equal(w.s.layout.nr_pmus, 34);
	assert_string_equal(w.s.layout.pmus[0].name, "nvidia_ucf_pmu_0");
	assert_string_equal(w.s.layout.pmus[33].name, "nvidia_nvdlink_pmu_1");
	assert_true(w.s.layout.pmus[33].dear);
	assert_true(w.s.layout.pmus[33].reads > 100);
	for (size_t i = 0; i < w.s.layout.nr_counters; i++) {
		cycles += !strcmp(w.s.layout.counters[i].event, "cycles");
		assert_false(w.s.layout.counters[i].asked);
		assert_string_equal(w.s.layout.counters[i].filters, "");
	}
	assert_int_equal(cycles, 34);
	m = find(&w, "t410.ucf.mem_read_bandwidth", "nvidia_ucf_pmu_1", "");
	assert_non_null(m);
	assert_string_equal(m->unit, "GB/s");
	assert_int_equal(m->nr_inputs, 2);
	assert_string_equal(w.s.layout.counters[m->input[0]].event, "mem_bytes_rd");
	assert_string_equal(w.s.layout.counters[m->input[0]].unit, "bytes");
	assert_true(m->input[1] == STAT_DURATION_NS);
	/* Bytes are to count all the time; events of one metric are a set. */
	for (size_t i = 0; i < w.s.wants.nr; i++) {
		const struct want *want = &w.s.wants.wants[i];

		assert_int_equal(want->constant, strstr(want->event, "bytes") != NULL);
		if (want->constant)
			assert_int_equal(want->set, 0);
	}
	assert_int_equal(w.s.layout.notes.nr, 0);
	world_end(&w);
}

static size_t count_of(char **patterns, size_t nr, int32_t socket)
{
	struct world w;
	size_t metrics;

	world_begin(&w, tree_make_t410);
	w.o.metrics = patterns;
	w.o.nr_metrics = nr;
	w.o.socket = socket;
	assert_int_equal(select_(&w), 0);
	check_layout(&w);
	metrics = w.s.layout.nr_metrics;
	world_end(&w);
	return metrics;
}

static void test_patterns(void **state)
{
	(void)state;
	assert_int_equal(count_of((char *[]){ "t410.ucf.mem_read_bandwidth" }, 1, -1), 2);
	assert_int_equal(count_of((char *[]){ "ucf.mem_read_bandwidth" }, 1, -1), 2);
	assert_int_equal(count_of((char *[]){ "mem_read_bandwidth" }, 1, -1), 2);
	assert_int_equal(count_of((char *[]){ "mem_read_bandwidth" }, 1, 1), 1);
	assert_int_equal(count_of((char *[]){ "mem_*_bandwidth" }, 1, 1), 2);
	assert_int_equal(count_of((char *[]){ "frequency" }, 1, -1), 34);
	assert_int_equal(count_of((char *[]){ "pcie.frequency" }, 1, -1), 12);
	assert_int_equal(count_of((char *[]){ "pcie*.frequency" }, 1, 0), 12);
	assert_int_equal(count_of((char *[]){ "frequenc?", "ucf.frequency" }, 2, -1), 34);
	assert_true(metric_matches("*", "t410.ucf.frequency"));
	assert_true(metric_matches("***y", "t410.ucf.frequency"));
	assert_true(metric_matches("t*.*.f*y", "t410.ucf.frequency"));
	assert_false(metric_matches("", "t410.ucf.frequency"));
	assert_false(metric_matches("frequency?", "t410.ucf.frequency"));
	assert_false(metric_matches("freq", "t410.ucf.frequency"));
	assert_false(metric_matches("410.ucf.frequency", "t410.ucf.frequency"));
}

static void test_unknown(void **state)
{
	struct world w;

	(void)state;
	world_begin(&w, tree_make_t410);
	w.o.metrics = (char *[]){ "mem_read_bandwidth", "hit_ratio" };
	w.o.nr_metrics = 2;
	assert_int_equal(select_(&w), -ENOENT);
	assert_non_null(strstr(w.d.what, "hit_ratio"));
	assert_non_null(strstr(w.d.help, "slc_read_hit_ratio"));
	assert_null(w.s.layout.metrics);
	world_end(&w);

	/* known elsewhere, nothing for it here */
	world_begin(&w, tree_make_t410);
	w.o.metrics = (char *[]){ "grace.scf.cmem_read_bandwidth" };
	w.o.nr_metrics = 1;
	assert_int_equal(select_(&w), -ENOENT);
	world_end(&w);
	world_begin(&w, tree_make_t410);
	w.o.metrics = (char *[]){ "grace.scf.cmem_read_bandwidth", "ucf.frequency" };
	w.o.nr_metrics = 2;
	assert_int_equal(select_(&w), 0);
	assert_int_equal(w.s.layout.nr_metrics, 2);
	assert_true(has_note(&w, "grace.scf.cmem_read_bandwidth"));
	world_end(&w);
}

/* A link shows only the events that its peer can cause. */
static void test_hidden_events(void **state)
{
	const char *gone = PMU_DEVICES "/nvidia_nvlink_c2c_pmu_0/events/in_wr_req";
	struct world w;

	(void)state;
	world_begin(&w, tree_make_t410);
	tree_drop(&w.tree, gone);
	assert_int_equal(select_(&w), 0);
	assert_null(find(&w, "t410.nvlink_c2c.in_wr_latency", "nvidia_nvlink_c2c_pmu_0", ""));
	assert_non_null(find(&w, "t410.nvlink_c2c.in_wr_latency", "nvidia_nvlink_c2c_pmu_1", ""));
	assert_int_equal(w.s.layout.notes.nr, 0);
	world_end(&w);

	world_begin(&w, tree_make_t410);
	tree_drop(&w.tree, gone);
	w.o.metrics = (char *[]){ "in_wr_latency" };
	w.o.nr_metrics = 1;
	assert_int_equal(select_(&w), 0);
	assert_int_equal(w.s.layout.nr_metrics, 1);
	assert_true(has_note(&w, "does not have the event in_wr_req"));
	world_end(&w);
}

static void test_per_port(void **state)
{
	const struct stat_metric *m;
	struct world w;

	(void)state;
	world_begin(&w, tree_make_t410);
	w.o.per_port = true;
	w.o.socket = 0;
	w.o.metrics = (char *[]){ "pcie.read_latency" };
	w.o.nr_metrics = 1;
	assert_int_equal(select_(&w), 0);
	check_layout(&w);
	assert_int_equal(w.s.layout.nr_metrics, 6 * 8);
	/* two events for each port, and one of cycles, which no filter touches */
	assert_int_equal(w.s.layout.nr_counters, 6 * (8 * 2 + 1));
	m = find(&w, "t410.pcie.read_latency", "nvidia_pcie_pmu_0_rc_3", "port 7");
	assert_non_null(m);
	assert_string_equal(m->filters, "src_rp_mask=0x80");
	assert_string_equal(m->places, "ports");
	world_end(&w);

	/* without names: only PMUs that have ports */
	world_begin(&w, tree_make_t410);
	w.o.per_port = true;
	assert_int_equal(select_(&w), 0);
	assert_int_equal(w.s.layout.nr_pmus, 24);
	world_end(&w);
}

static void test_per_gpu(void **state)
{
	const struct stat_metric *m;
	struct world w;

	(void)state;
	world_begin(&w, tree_make_t410);
	tree_put(&w.tree, PMU_DEVICES "/nvidia_nvlink_c2c_pmu_1/peer", "nr_cpu=1\n");
	w.o.per_gpu = true;
	assert_int_equal(select_(&w), 0);
	check_layout(&w);
	assert_int_equal(w.s.layout.nr_pmus, 1);
	m = find(&w, "t410.nvlink_c2c.out_rd_latency", "nvidia_nvlink_c2c_pmu_0", "GPU 1");
	assert_non_null(m);
	assert_string_equal(m->filters, "gpu_mask=0x2");
	assert_string_equal(m->places, "GPUs");
	assert_null(find(&w, "t410.nvlink_c2c.out_rd_latency", "nvidia_nvlink_c2c_pmu_0", ""));
	assert_true(has_note(&w, "nvidia_nvlink_c2c_pmu_1: no GPUs"));
	world_end(&w);
}

static void test_windows(void **state)
{
	const struct stat_metric *m;
	struct world w;

	(void)state;
	world_begin(&w, tree_make_t410);
	tree_put(&w.tree, "bus/pci/devices/0002:81:00.0/resource",
		 "0x0000000040000000 0x0000000040ffffff 0x0000000000040200\n" NO_BAR NO_BAR NO_BAR
			 NO_BAR NO_BAR);
	w.o.ranges = (char *[]){ "0002:81:00.0:BAR0" };
	w.o.nr_ranges = 1;
	w.o.socket = 0;
	assert_int_equal(select_(&w), 0);
	check_layout(&w);
	assert_int_equal(w.s.layout.nr_pmus, 6);
	m = find(&w, "t410.pcie_tgt.read_request_rate", "nvidia_pcie_tgt_pmu_0_rc_1",
		 "0002:81:00.0 BAR0");
	assert_non_null(m);
	assert_non_null(strstr(m->filters, "dst_addr_en=1"));
	/* a window on cycles would free the slot of another one */
	assert_string_equal(w.s.layout.counters[m->input[1]].event, "cycles");
	assert_string_equal(w.s.layout.counters[m->input[1]].filters, "");
	assert_true(has_note(&w, "the one with traffic"));
	world_end(&w);

	world_begin(&w, tree_make_t410);
	w.o.ranges = (char *[]){ "0002:81:00.0:BAR0" };
	w.o.nr_ranges = 1;
	assert_true(select_(&w) < 0);
	world_end(&w);
}

static void test_events(void **state)
{
	struct world w;

	(void)state;
	world_begin(&w, tree_make_t410);
	w.o.events = (char *[]){ "nvidia_ucf_pmu_0/mem_bytes_rd,src_loc_cpu=1/", "page-faults" };
	w.o.nr_events = 2;
	assert_int_equal(select_(&w), 0);
	check_layout(&w);
	assert_int_equal(w.s.layout.nr_metrics, 0);
	assert_int_equal(w.s.layout.nr_counters, 2);
	assert_true(w.s.layout.counters[0].asked);
	assert_string_equal(w.s.layout.counters[0].unit, "bytes");
	assert_string_equal(w.s.layout.pmus[1].family, "core");
	world_end(&w);

	/* What is asked for is the metric's counter as well. */
	world_begin(&w, tree_make_t410);
	w.o.events = (char *[]){ "nvidia_ucf_pmu_0/mem_bytes_rd/" };
	w.o.nr_events = 1;
	w.o.metrics = (char *[]){ "mem_read_bandwidth" };
	w.o.nr_metrics = 1;
	w.o.socket = 0;
	assert_int_equal(select_(&w), 0);
	check_layout(&w);
	assert_int_equal(w.s.wants.nr, 2);
	assert_int_equal(w.s.layout.nr_counters, 1);
	assert_true(w.s.layout.counters[0].asked);
	world_end(&w);

	world_begin(&w, tree_make_t410);
	w.o.events = (char *[]){ "ucf/nonsense/" };
	w.o.nr_events = 1;
	assert_true(select_(&w) < 0);
	assert_non_null(strchr(w.d.what, '^'));
	world_end(&w);
}

/* Does a number of ports go into the metric? */
static bool has_constant(const struct stat_metric *m, double value)
{
	for (uint32_t n = 0; n < m->nr_inputs; n++)
		if (m->input[n] == STAT_CONSTANT)
			return m->constant[n] == value;
	return false;
}

/* Grace: always a mask that names the ports, and one metric for each other socket. */
static void test_grace(void **state)
{
	const struct stat_metric *m;
	struct world w;

	(void)state;
	world_begin(&w, tree_make_grace);
	assert_int_equal(select_(&w), 0);
	check_layout(&w);
	assert_int_equal(w.s.layout.nr_pmus, 10);
	for (size_t i = 0; i < w.s.wants.nr; i++) {
		const struct want *want = &w.s.wants.wants[i];

		if (filter_row_use(want->pmu->kind, FILTER_PORTS) &&
		    strcmp(want->event, "cycles") != 0)
			assert_true(want->config.config1 != 0);
	}
	m = find(&w, "grace.pcie.read_bandwidth", "nvidia_pcie_pmu_0", "");
	assert_non_null(m);
	assert_string_equal(m->filters, "root_port=0x3ff");
	m = find(&w, "grace.pcie.read_utilization", "nvidia_pcie_pmu_0", "");
	assert_non_null(m);
	assert_true(has_constant(m, 10));
	m = find(&w, "grace.scf.remote_read_latency_s0_to_s1", "nvidia_scf_pmu_0", "");
	assert_non_null(m);
	assert_string_equal(m->to, "socket 1");
	assert_non_null(strstr(m->formula, "socket_1_rd_outstanding"));
	assert_null(find(&w, "grace.scf.remote_read_latency_s0_to_s2", "nvidia_scf_pmu_0", ""));
	assert_null(find(&w, "grace.scf.remote_read_latency_s0_to_s0", "nvidia_scf_pmu_0", ""));
	world_end(&w);

	/* Ports of CNVLink are sockets: the others that there are. */
	world_begin(&w, tree_make_grace);
	w.o.per_port = true;
	w.o.metrics = (char *[]){ "cnvlink.read_bandwidth" };
	w.o.nr_metrics = 1;
	assert_int_equal(select_(&w), 0);
	assert_int_equal(w.s.layout.nr_metrics, 2);
	m = find(&w, "grace.cnvlink.read_bandwidth", "nvidia_cnvlink_pmu_1", "socket 0");
	assert_non_null(m);
	assert_string_equal(m->filters, "rem_socket=0x1");
	assert_string_equal(m->places, "pairs of sockets");
	world_end(&w);

	/* The peak of one root port is known, that of one port of a link is not. */
	world_begin(&w, tree_make_grace);
	w.o.per_port = true;
	assert_int_equal(select_(&w), 0);
	m = find(&w, "grace.pcie.read_utilization", "nvidia_pcie_pmu_0", "port 9");
	assert_non_null(m);
	assert_true(has_constant(m, 1));
	assert_null(find(&w, "grace.nvlink_c2c0.read_utilization", "nvidia_nvlink_c2c0_pmu_0",
			 "port 0"));
	assert_non_null(
		find(&w, "grace.nvlink_c2c0.read_bandwidth", "nvidia_nvlink_c2c0_pmu_0", "port 0"));
	world_end(&w);
}

static void put_cores(struct tree *tree, const char *midr)
{
	tree_put(tree, CORES "type", "8\n");
	tree_put(tree, CORES "cpus", "0-3\n");
	tree_put(tree, CORES "format/event", "config:0-15\n");
	tree_put(tree, CORES "events/inst_retired", "event=0x0008\n");
	tree_put(tree, CORES "events/cpu_cycles", "event=0x0011\n");
	tree_put(tree, MIDR, midr);
}

static void tree_make_v2(struct tree *tree)
{
	tree_make(tree);
	put_cores(tree, "0x00000000410fd4f0\n");
}

static void tree_make_strange(struct tree *tree)
{
	tree_make(tree);
	put_cores(tree, "0x00000000610f0000\n");
}

static void test_cores(void **state)
{
	const struct stat_metric *m;
	struct world w;

	(void)state;
	world_begin(&w, tree_make_v2);
	w.o.workload = true;
	assert_int_equal(select_(&w), 0);
	check_layout(&w);
	m = find(&w, "grace.core.ipc", "cores", "");
	assert_non_null(m);
	assert_string_equal(w.s.layout.counters[m->input[0]].name, "inst_retired");
	assert_int_equal(w.s.wants.wants[0].type, 8);
	/* A common event that the kernel does not show is one that this core lacks. */
	assert_null(find(&w, "grace.core.l1d_cache_mpki", "cores", ""));
	world_end(&w);

	/* Events that only the core's manual knows are taken by number. */
	world_begin(&w, tree_make_v2);
	tree_put(&w.tree, CORES "events/inst_spec", "event=0x001b\n");
	w.o.metrics = (char *[]){ "load_percentage", "l1d_cache_mpki" };
	w.o.nr_metrics = 2;
	assert_int_equal(select_(&w), 0);
	m = find(&w, "grace.core.load_percentage", "cores", "");
	assert_non_null(m);
	assert_int_equal(w.s.wants.wants[m->input[0]].config.config, 0x70);
	assert_true(has_note(&w, "do not have the event L1D_CACHE_REFILL"));
	world_end(&w);

	/* Nothing without a workload, and reasons with one. */
	world_begin(&w, tree_make_v2);
	assert_int_equal(select_(&w), 0);
	assert_int_equal(w.s.wants.nr, 0);
	assert_int_equal(w.s.layout.notes.nr, 0);
	world_end(&w);
	world_begin(&w, tree_make_strange);
	w.o.workload = true;
	assert_int_equal(select_(&w), 0);
	/* Architectural events mean the same on any Arm core; widths and numbers do not. */
	assert_non_null(find(&w, "grace.core.ipc", "cores", ""));
	assert_true(has_note(&w, "MIDR 0x610f0000"));
	world_end(&w);
	world_begin(&w, tree_make_strange);
	tree_put(&w.tree, CORES "events/inst_spec", "event=0x001b\n");
	tree_put(&w.tree, CORES "events/op_retired", "event=0x003a\n");
	tree_put(&w.tree, CORES "events/op_spec", "event=0x003b\n");
	tree_put(&w.tree, CORES "events/stall_slot", "event=0x003f\n");
	w.o.metrics = (char *[]){ "*.core.*" };
	w.o.nr_metrics = 1;
	assert_int_equal(select_(&w), 0);
	assert_int_equal(w.s.layout.nr_metrics, 1);
	world_end(&w);
	world_begin(&w, tree_make);
	tree_put(&w.tree, CORES "type", "8\n");
	tree_put(&w.tree, CORES "cpus", "0-3\n");
	tree_put(&w.tree, CORES "format/event", "config:0-15\n");
	tree_put(&w.tree, CORES "events/sw_incr", "event=0x0000\n");
	tree_put(&w.tree, MIDR, "0x00000000610f0000\n");
	w.o.workload = true;
	assert_int_equal(select_(&w), 0);
	assert_int_equal(w.s.wants.nr, 0);
	assert_true(has_note(&w, "has none of the events"));
	world_end(&w);
	world_begin(&w, tree_make_t410);
	w.o.workload = true;
	assert_int_equal(select_(&w), 0);
	assert_true(has_note(&w, "no PMU here"));
	world_end(&w);
}

/* Each core metric divides by the event of its own group; asked events stay what they are. */
static void test_core_groups(void **state)
{
	const struct stat_metric *load, *store;
	struct world w;

	(void)state;
	world_begin(&w, tree_make_v2);
	tree_put(&w.tree, CORES "events/inst_spec", "event=0x001b\n");
	w.o.metrics = (char *[]){ "load_percentage", "store_percentage" };
	w.o.nr_metrics = 2;
	w.o.events = (char *[]){ "page-faults", "page-faults" };
	w.o.nr_events = 2;
	assert_int_equal(select_(&w), 0);
	check_layout(&w);
	load = find(&w, "grace.core.load_percentage", "cores", "");
	store = find(&w, "grace.core.store_percentage", "cores", "");
	assert_non_null(load);
	assert_non_null(store);
	assert_int_equal(load->nr_inputs, 2);
	assert_int_not_equal(load->input[1], store->input[1]);
	assert_string_equal(w.s.layout.counters[load->input[1]].name,
			    w.s.layout.counters[store->input[1]].name);
	/* Both are alone: one counter. */
	assert_int_equal(w.s.layout.nr_counters, 5);
	world_end(&w);
}

static void make_zen4(struct tree *tree)
{
	tree_make_platform(tree, "zen4");
}

static void make_zen3(struct tree *tree)
{
	tree_make_platform(tree, "zen3");
}

static void make_granite(struct tree *tree)
{
	tree_make_platform(tree, "granite");
}

/* Controllers of other vendors, also where sysfs names no events. */
static void test_controllers(void **state)
{
	struct world w;

	(void)state;
	world_begin(&w, make_zen4);
	assert_int_equal(select_(&w), 0);
	/* channels; at the IO hubs of a socket four counts in both ways, eight links that send */
	assert_int_equal(w.s.layout.nr_metrics, 24 * 2 + 2 * 3);
	assert_int_equal(w.s.wants.nr, 24 * 2 + 2 * (8 + 8));
	assert_non_null(find(&w, "amd-zen.umc.read_bandwidth", "amd_umc_13", ""));
	assert_non_null(find(&w, "amd-zen.umc.write_bandwidth", "amd_umc_0", ""));
	assert_string_equal(w.s.wants.wants[0].event, "umc_cas_cmd.rd");
	assert_int_equal(w.s.wants.wants[0].config.config, 0x10a);
	check_layout(&w);
	world_end(&w);

	world_begin(&w, make_granite);
	assert_int_equal(select_(&w), 0);
	/* channels; stacks with eight ports, links in both ways, home agents, a CXL device */
	assert_int_equal(w.s.layout.nr_metrics, 2 * 12 * 2 + 2 * 2 + 2 * 2 * 2 + 2 * 2 * 6 + 2);
	assert_int_equal(w.s.wants.nr, 2 * 12 * 4 + 2 * 2 * 8 + 2 * 2 * 2 + 2 * 2 * 7 + 2);
	assert_non_null(find(&w, "xeon-granite.upi.send_bandwidth", "uncore_upi_1.cpu0", ""));
	assert_non_null(find(&w, "xeon-granite.imc.read_bandwidth", "uncore_imc_11.cpu4", ""));
	world_end(&w);

	/* By the name of the event, as if sysfs had it */
	world_begin(&w, make_zen3);
	assert_int_equal(select_(&w), 0);
	assert_int_equal(w.s.layout.nr_metrics, 2 * 2);
	assert_non_null(find(&w, "amd-zen2.df.bandwidth_4_7", "amd_df.cpu4", ""));
	world_end(&w);
	world_begin(&w, make_zen4);
	w.o.events = (char *[]){ "amd_umc_7/umc_cas_cmd.wr/" };
	w.o.nr_events = 1;
	assert_int_equal(select_(&w), 0);
	assert_int_equal(w.s.wants.nr, 1);
	assert_int_equal(w.s.wants.wants[0].config.config, 0x20a);
	world_end(&w);
}

#define OWN(kind_, id_, unit_, formula_, default_)                                           \
	{                                                                                    \
		.platform = PMU_PLATFORM_OWN, .kind = kind_, .id = id_, .title = id_,        \
		.unit = unit_, .formula = formula_, .by_default = default_, .source = "wiki" \
	}
static const struct metric_row own_metrics[] = {
	OWN(PMU_UCF, "site.ucf.read_size", "B", "mem_bytes_rd / mem_access_rd", true),
	OWN(PMU_UCF, "site.ucf.reads", "requests", "mem_access_rd", false),
	OWN(PMU_CORE, "site.core.cpi", "ratio", "CPU_CYCLES / INST_RETIRED", true),
	OWN(PMU_CORE, "site.core.nothing", "ratio", "NO_EVENT / CPU_CYCLES", true),
};

/* Metrics of a file are selected as built-in ones are, and counters stay those of the program. */
static void test_own_metrics(void **state)
{
	static const struct own_rows own = { .metrics = own_metrics,
					     .nr_metrics = ARRAY_SIZE(own_metrics) };
	size_t built_in = count_of((char *[]){ "ucf.*" }, 1, -1);
	const struct stat_metric *m;
	struct world w;

	(void)state;
	own_rows_use(&own);
	assert_null(own_rows());
	assert_ptr_equal(counter_row_at(0), &counter_rows[0]);
	assert_int_equal(count_of((char *[]){ "ucf.*" }, 1, -1), built_in + 2 * 2);
	assert_int_equal(count_of((char *[]){ "site.*" }, 1, 1), 2);
	assert_int_equal(count_of((char *[]){ "reads" }, 1, -1), 2);
	world_begin(&w, tree_make_t410);
	assert_int_equal(select_(&w), 0);
	check_layout(&w);
	m = find(&w, "site.ucf.read_size", "nvidia_ucf_pmu_1", "");
	assert_non_null(m);
	assert_int_equal(m->nr_inputs, 2);
	assert_string_equal(w.s.layout.counters[m->input[1]].event, "mem_access_rd");
	assert_null(find(&w, "site.ucf.reads", "nvidia_ucf_pmu_1", ""));
	world_end(&w);
	/* On cores that no row knows, too; an event that they lack is told. */
	world_begin(&w, tree_make_strange);
	w.o.workload = true;
	assert_int_equal(select_(&w), 0);
	assert_non_null(find(&w, "site.core.cpi", "cores", ""));
	assert_null(find(&w, "site.core.nothing", "cores", ""));
	assert_true(has_note(&w, "site.core.nothing: these cores do not have the event NO_EVENT"));
	world_end(&w);
	own_rows_use(NULL);
	assert_null(own_metric_at(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_metrics),   cmocka_unit_test(test_default),
		cmocka_unit_test(test_patterns),      cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_hidden_events), cmocka_unit_test(test_per_port),
		cmocka_unit_test(test_per_gpu),	      cmocka_unit_test(test_windows),
		cmocka_unit_test(test_events),	      cmocka_unit_test(test_grace),
		cmocka_unit_test(test_cores),	      cmocka_unit_test(test_core_groups),
		cmocka_unit_test(test_controllers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
