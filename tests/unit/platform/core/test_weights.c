// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/resource.h>

#include "base/array.h"
#include "fake_perf.h"
#include "platform/pmu/pmu.h"
#include "platform/core/weights.h"
#include "tree.h"

#define DEVICES PMU_DEVICES "/"
#define ARM	DEVICES "armv8_pmuv3_0/"
#define MIDR	"devices/system/cpu/cpu0/regs/identification/midr_el1"
#define OLYMPUS "0x000000004e0f0101\n"

struct machine {
	struct tree tree;
	struct sysfs fs;
	struct weight_cores cores;
};

static void look(struct machine *m)
{
	struct diag d = { 0 };

	assert_int_equal(sysfs_open(m->tree.root, &d, &m->fs), 0);
	assert_int_equal(weight_cores_read(&m->fs, &m->cores), 0);
}

/* A machine with one kind of cores and some events, beside a PMU that is not of a core. */
static void make_arm(struct machine *m, const char *midr)
{
	tree_make(&m->tree);
	tree_put(&m->tree, ARM "type", "10\n");
	tree_put(&m->tree, ARM "cpus", "0-3\n");
	tree_put(&m->tree, ARM "format/event", "config:0-15\n");
	tree_put(&m->tree, ARM "format/long", "config1:0\n");
	tree_put(&m->tree, ARM "format/threshold", "config3:0-3\n");
	tree_put(&m->tree, ARM "events/cpu_cycles", "event=0x0011\n");
	tree_put(&m->tree, ARM "events/l2d_cache_wb", "event=0x0018\n");
	tree_put(&m->tree, ARM "events/chained", "event=0x1b,long=1\n");
	tree_put(&m->tree, ARM "events/damaged", "event=\n");
	tree_put(&m->tree, ARM "events/unknown_field", "event=1,inv=1\n");
	tree_put(&m->tree, ARM "events/too_modern", "event=1,threshold=3\n");
	tree_put(&m->tree, DEVICES "nvidia_ucf_pmu_0/type", "20\n");
	tree_put(&m->tree, DEVICES "nvidia_ucf_pmu_0/cpumask", "0\n");
	tree_put(&m->tree, "devices/system/cpu/online", "0-3\n");
	if (midr)
		tree_put(&m->tree, MIDR, midr);
	look(m);
}

static void drop(struct machine *m)
{
	sysfs_close(&m->fs);
	tree_remove(&m->tree);
}

static int find(const struct machine *m, const char *name, struct diag *d, struct weight_event *e)
{
	return weight_event_find(&m->fs, &m->cores, name, d, e);
}

static void rows_make_sense(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_WEIGHT_CORES; i++) {
		assert_int_equal(weight_cores[i].core, i);
		assert_non_null(weight_cores[i].name);
		assert_non_null(weight_cores[i].source);
	}
	for (size_t i = 0; i < nr_weight_rows; i++) {
		const struct weight_row *row = &weight_rows[i];

		assert_in_range(row->core, 0, NR_WEIGHT_CORES - 1);
		assert_in_range(row->role, WEIGHT_READ, WEIGHT_OTHER);
		assert_int_not_equal(row->code, 0);
		assert_in_range(strlen(row->name), 1, WEIGHT_NAME_LEN - 1);
		assert_true(row->counts && row->counts[0]);
		assert_true(row->source && row->source[0]);
		/* "auto" is about memory traffic alone */
		assert_true(row->role != WEIGHT_OTHER || !row->rank);
		/* and the same name means the same on all cores */
		assert_int_equal(weight_follows_traffic(row->name), row->role != WEIGHT_OTHER);
		for (size_t k = 0; k < i; k++) {
			const struct weight_row *other = &weight_rows[k];

			if (other->core != row->core)
				continue;
			assert_string_not_equal(other->name, row->name);
			assert_int_not_equal(other->code, row->code);
			assert_true(!row->rank || other->role != row->role ||
				    other->rank != row->rank);
		}
	}
}

/* Every core has a first choice for reads, Arm and Intel for writes; no rank is left out. */
static void auto_tries_by_rank(void **state)
{
	(void)state;
	for (size_t c = 0; c < NR_WEIGHT_CORES; c++) {
		struct weight_cores cores = { .nr_pmus = 1, .type = 10, .core = &weight_cores[c] };

		for (int role = WEIGHT_READ; role <= WEIGHT_WRITE; role++) {
			struct weight_event e;
			size_t ranked = 0;
			uint8_t rank = 1;

			for (size_t i = 0; i < nr_weight_rows; i++)
				ranked += weight_rows[i].core == c &&
					  (int)weight_rows[i].role == role && weight_rows[i].rank;
			while (!weight_event_auto(&cores, role, rank, &e))
				rank++;
			assert_true(ranked || (role == WEIGHT_WRITE &&
					       (c == WEIGHT_CORE_ZEN4 || c == WEIGHT_CORE_ZEN5)));
			assert_int_equal(rank - 1, ranked);
			assert_int_equal(weight_event_auto(&cores, role, 0, &e), -ENOENT);
		}
	}
}

static void cores_are_recognized(void **state)
{
	/* N1, V1, N2, Azure Cobalt 100, V3AE, V3, N3 */
	static const uint64_t neoverse[] = { 0x413fd0c1, 0x411fd401, 0x410fd493, 0x6d0fd490,
					     0x410fd830, 0x410fd840, 0x410fd8e0 };

	(void)state;
	assert_ptr_equal(weight_core_find(0x4e0f0100), &weight_cores[WEIGHT_CORE_OLYMPUS]);
	assert_ptr_equal(weight_core_find(0x4e1f0103), &weight_cores[WEIGHT_CORE_OLYMPUS]);
	assert_ptr_equal(weight_core_find(0x410fd4f0), &weight_cores[WEIGHT_CORE_NEOVERSE_V2]);
	for (size_t i = 0; i < ARRAY_SIZE(neoverse); i++)
		assert_ptr_equal(weight_core_find(neoverse[i]),
				 &weight_cores[WEIGHT_CORE_NEOVERSE]);
	assert_null(weight_core_find(0));
	assert_null(weight_core_find(0x410fd4e0));
	assert_null(weight_core_find(0x4e0fd4f0));
	assert_null(weight_core_find(0x1410fd4f0));
	assert_null(weight_core_find(UINT64_MAX));
}

static void the_pmu_of_the_cores(void **state)
{
	struct machine m;

	(void)state;
	make_arm(&m, OLYMPUS);
	assert_int_equal(m.cores.nr_pmus, 1);
	assert_string_equal(m.cores.pmu, "armv8_pmuv3_0");
	assert_int_equal(m.cores.type, 10);
	assert_int_equal(m.cores.midr, 0x4e0f0101);
	assert_ptr_equal(m.cores.core, &weight_cores[WEIGHT_CORE_OLYMPUS]);

	/* two kinds of cores */
	tree_put(&m.tree, DEVICES "armv8_pmuv3_1/cpus", "4-7\n");
	tree_put(&m.tree, DEVICES "armv8_pmuv3_1/type", "11\n");
	sysfs_close(&m.fs);
	look(&m);
	assert_int_equal(m.cores.nr_pmus, 2);
	assert_int_equal(m.cores.type, 10);
	drop(&m);

	/* a type that is none */
	make_arm(&m, "no number\n");
	tree_put(&m.tree, ARM "type", "10000000000\n");
	sysfs_close(&m.fs);
	look(&m);
	assert_int_equal(m.cores.nr_pmus, 0);
	assert_int_equal(m.cores.midr, 0);
	assert_null(m.cores.core);
	drop(&m);
}

/* A Neoverse N1 of a chip, or of an emulator, that does not count what the last cache misses */
static void events_that_the_kernel_does_not_show(void **state)
{
	struct weight_event e;
	struct machine m;

	(void)state;
	make_arm(&m, "0x413fd0c1\n");
	assert_null(m.cores.core);
	assert_int_equal(m.cores.midr, 0x413fd0c1);
	tree_put(&m.tree, ARM "events/ll_cache_miss_rd", "event=0x0037\n");
	sysfs_close(&m.fs);
	look(&m);
	assert_ptr_equal(m.cores.core, &weight_cores[WEIGHT_CORE_NEOVERSE]);
	assert_int_equal(weight_event_auto(&m.cores, WEIGHT_READ, 1, &e), 0);
	assert_int_equal(e.config, 0x37);
	drop(&m);
}

static void a_tree_without_pmus(void **state)
{
	struct weight_cores cores = { .type = 7 };
	struct diag d = { 0 };
	struct machine m;

	(void)state;
	tree_make(&m.tree);
	assert_int_equal(sysfs_open(m.tree.root, &d, &m.fs), 0);
	assert_int_equal(weight_cores_read(&m.fs, &cores), -ENOENT);
	assert_int_equal(cores.type, 7);
	drop(&m);
}

static void names(void **state)
{
	static const struct {
		const char *name, *called;
		uint32_t type;
		uint64_t config, config1;
		bool software;
	} rows[] = {
		{ "page-faults", "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0,
		  true },
		{ "Context_Switches", "context-switches", PERF_TYPE_SOFTWARE,
		  PERF_COUNT_SW_CONTEXT_SWITCHES, 0, true },
		/* sysfs knows best */
		{ "cpu-cycles", "cpu_cycles", 10, 0x11, 0, false },
		{ "CPU_CYCLES", "cpu_cycles", 10, 0x11, 0, false },
		{ "chained", "chained", 10, 0x1b, 1, false },
		{ "l2d_cache_wb", "l2d_cache_wb", 10, 0x18, 0, false },
		/* then what we know about the core */
		{ "L3D_CACHE_REFILL", "l3d_cache_refill", 10, 0x2a, 0, false },
		{ "store_stream", "store_stream", 10, 0x126, 0, false },
		{ "instructions", "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0,
		  false },
		{ "r1cb", "r1cb", 10, 0x1cb, 0, false },
		{ "R00FF", "rff", 10, 0xff, 0, false },
		{ "rffffffffffffffff", "rffffffffffffffff", 10, UINT64_MAX, 0, false },
	};
	struct machine m;

	(void)state;
	make_arm(&m, OLYMPUS);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct weight_event e;
		struct diag d = { 0 };

		assert_int_equal(find(&m, rows[i].name, &d, &e), 0);
		assert_string_equal(e.name, rows[i].called);
		assert_int_equal(e.type, rows[i].type);
		assert_int_equal(e.config, rows[i].config);
		assert_int_equal(e.config1, rows[i].config1);
		assert_int_equal(e.config2, 0);
		assert_int_equal(e.software, rows[i].software);
		assert_string_equal(d.what, "");
	}
	drop(&m);
}

static void bad_names(void **state)
{
	static const struct {
		const char *name;
		int err;
	} rows[] = {
		{ "", -ENOENT },
		{ "l3d", -ENOENT },
		{ "r", -ENOENT },
		{ "r0x12", -ENOENT },
		{ "r-1", -ENOENT },
		{ "r12345678901234567", -ENOENT },
		{ "rgg", -ENOENT },
		{ "../type", -ENOENT },
		{ "page faults", -ENOENT },
		{ "damaged", -EINVAL },
		{ "unknown_field", -ENOENT },
		{ "too_modern", -EOPNOTSUPP },
		/* of the other core */
		{ "l3d_cache_lmiss_rd", -ENOENT },
	};
	struct machine m;

	(void)state;
	make_arm(&m, OLYMPUS);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct weight_event e = { .config = 77 };
		struct diag d = { 0 };

		assert_int_equal(find(&m, rows[i].name, &d, &e), rows[i].err);
		assert_int_equal(e.config, 77);
		assert_string_not_equal(d.what, "");
		/* a name that is unknown is answered with those that are known */
		if (rows[i].err == -ENOENT && strcmp(rows[i].name, "unknown_field")) {
			assert_non_null(strstr(d.help, "page-faults"));
			assert_non_null(strstr(d.help, "l3d_cache_refill"));
			assert_non_null(strstr(d.help, "cpu_cycles"));
		}
	}
	drop(&m);
}

/* Events of the cores need one kind of cores that can count; the kernel's own do not. */
static void no_single_pmu(void **state)
{
	struct weight_event e = { .config = 77 };
	struct machine m;
	struct diag d;

	(void)state;
	make_arm(&m, NULL);
	for (uint32_t nr = 0; nr <= 2; nr += 2) {
		m.cores.nr_pmus = nr;
		d = (struct diag){ 0 };
		assert_int_equal(find(&m, "instructions", &d, &e), -ENODEV);
		assert_non_null(strstr(d.what, nr ? "several kinds" : "no PMU"));
		assert_non_null(strstr(d.help, "cpu-time"));
		assert_int_equal(find(&m, "r11", &d, &e), -ENODEV);
		assert_int_equal(find(&m, "cpu_cycles_", &d, &e), -ENOENT);
		assert_int_equal(e.config, 77);
		assert_int_equal(find(&m, "page-faults", &d, &e), 0);
		e.config = 77;
	}
	drop(&m);
}

static void specifications(void **state)
{
	static const struct {
		const char *spec;
		int err;
		uint32_t nr;
	} rows[] = {
		{ "a", 0, 1 },		 { "a,b", 0, 2 },	{ "", -EINVAL, 0 },
		{ ",", -EINVAL, 0 },	 { "a,", -EINVAL, 0 },	{ ",a", -EINVAL, 0 },
		{ "a,b,c", -EINVAL, 0 }, { "a,a", -EINVAL, 0 }, { "a-b,A_B", -EINVAL, 0 },
	};
	char names[LEDGER_MAX_WEIGHTS][WEIGHT_NAME_LEN], longest[2 * WEIGHT_NAME_LEN];
	struct diag d;
	uint32_t nr;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		d = (struct diag){ 0 };
		strcpy(names[0], "untouched");
		nr = 77;
		assert_int_equal(weight_spec_parse(rows[i].spec, &d, names, &nr), rows[i].err);
		if (!rows[i].err) {
			assert_int_equal(nr, rows[i].nr);
			assert_string_equal(names[0], "a");
			assert_true(nr == 1 || !strcmp(names[1], "b"));
		} else {
			assert_int_equal(nr, 77);
			assert_string_equal(names[0], "untouched");
			assert_string_not_equal(d.what, "");
		}
	}
	memset(longest, 'x', sizeof(longest));
	longest[WEIGHT_NAME_LEN - 1] = '\0';
	assert_int_equal(weight_spec_parse(longest, &d, names, &nr), 0);
	longest[WEIGHT_NAME_LEN - 1] = 'x';
	longest[WEIGHT_NAME_LEN] = '\0';
	assert_int_equal(weight_spec_parse(longest, &d, names, &nr), -ENAMETOOLONG);
}

/* What "auto" says where it can open nothing; no event is opened here. */
static void auto_says_why_not(void **state)
{
	static const struct {
		const char *midr;
		bool second, none;
		const char *note;
	} rows[] = {
		{ OLYMPUS, true, false, "several kinds of cores" },
		{ OLYMPUS, false, true, "no PMU" },
		{ "0x413fd0c1\n", false, false, "MIDR 0x413fd0c1" },
		{ NULL, false, false, "this kind of core" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct weights w = { .nr = 77 };
		struct diag d = { 0 };
		struct machine m;

		make_arm(&m, rows[i].midr);
		if (rows[i].second) {
			tree_put(&m.tree, DEVICES "cpu/type", "4\n");
		} else if (rows[i].none) {
			tree_drop(&m.tree, ARM "cpus");
		}
		assert_int_equal(weights_open(&perf_kernel, &m.fs, "auto", 4, &d, &w), 0);
		assert_int_equal(w.nr, 0);
		assert_int_equal(w.nr_cpus, 4);
		assert_non_null(strstr(w.note, rows[i].note));
		weights_close(&w);
		drop(&m);
	}
}

static void nothing_asked_nothing_opened(void **state)
{
	struct weights w = { .nr = 77 };
	struct diag d = { 0 };
	struct machine m;

	(void)state;
	make_arm(&m, OLYMPUS);
	assert_int_equal(weights_open(&perf_kernel, &m.fs, "cpu-time", 4, &d, &w), 0);
	assert_int_equal(w.nr, 0);
	assert_string_equal(w.note, "");
	weights_close(&w);
	weights_close(NULL);

	w.nr = 77;
	assert_int_equal(weights_open(&perf_kernel, &m.fs, "page-faults,l3d", 4, &d, &w), -ENOENT);
	/* one event, spelt in two ways */
	assert_int_equal(weights_open(&perf_kernel, &m.fs, "r11,R0011", 4, &d, &w), -EINVAL);
	assert_non_null(strstr(d.what, "twice"));
	tree_put(&m.tree, "devices/system/cpu/online", "all\n");
	assert_int_equal(weights_open(&perf_kernel, &m.fs, "auto", 4, &d, &w), -EINVAL);
	assert_non_null(strstr(d.what, "online"));
	assert_int_equal(w.nr, 77);
	drop(&m);
}

/* --- a faked kernel */

#define MANY_CPUS 100

/* Each event is an open file. */
static int open_within_limit(const struct perf_event_attr *attr, int pid, int cpu, int leader)
{
	struct rlimit files;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
	return fake.open_now >= files.rlim_cur ? -EMFILE : fake_open(attr, pid, cpu, leader);
}

static void many_cpus_are_many_files(void **state)
{
	struct perf_ops ops = fake_kernel;
	struct rlimit was, now;
	struct weights w;
	struct diag d = { 0 };
	struct machine m;

	(void)state;
	ops.open = open_within_limit;
	fake_reset();
	fake_add(10, FAKE_MAX, 0);
	make_arm(&m, OLYMPUS);
	tree_put(&m.tree, "devices/system/cpu/online", "0-99\n");
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	now = was;
	now.rlim_cur = 64;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
	assert_int_equal(weights_open(&ops, &m.fs, "auto", MANY_CPUS, &d, &w), 0);
	assert_string_equal(w.note, "");
	assert_int_equal(w.nr, 2);
	assert_int_equal(fake.open_now, 2 * MANY_CPUS);
	weights_close(&w);
	assert_int_equal(fake.open_now, 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &now), 0);
	assert_int_equal(now.rlim_cur, 64);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	drop(&m);
}

/* Back from where its events have ended; others are pinned there by now, or it is gone again. */
static void events_come_back_with_their_cpu(void **state)
{
	struct fake_pmu *cores;
	struct diag d = { 0 };
	struct weights w;
	struct machine m;
	int fds[2];

	(void)state;
	fake_reset();
	cores = fake_add(10, FAKE_MAX, 0);
	make_arm(&m, OLYMPUS);
	assert_int_equal(weights_open(&fake_kernel, &m.fs, "auto", 4, &d, &w), 0);
	assert_int_equal(fake.open_now, 8);
	weights_let_go(&w);
	assert_int_equal(fake.open_now, 0);
	assert_int_equal(w.nr, 2);
	for (int e = 0; e < 2; e++) {
		fds[e] = weights_open_on(&w, e, 3);
		assert_true(fds[e] >= 0);
		assert_int_equal(fake.events[fds[e] - FAKE_FD].cpu, 3);
		assert_int_equal(fake.events[fds[e] - FAKE_FD].attr.config, w.events[e].config);
		assert_true(fake.events[fds[e] - FAKE_FD].attr.pinned);
		fake_close(fds[e]);
	}
	assert_int_not_equal(w.events[0].config, w.events[1].config);
	cores->held = FAKE_MAX;
	fds[0] = weights_open_on(&w, 0, 3);
	assert_false(fake.events[fds[0] - FAKE_FD].attr.pinned);
	fake_close(fds[0]);
	fake.cpu_gone = 3;
	assert_int_equal(weights_open_on(&w, 1, 3), -ENODEV);
	weights_close(&w);
	assert_int_equal(fake.open_now, 0);
	drop(&m);
}

/* Readings of the event of CPU 0, the second of which is wrong: the first was taken when it was opened. */
static int failed_read, cpu0_reads;
static bool goes_back;

static ssize_t read_wrong(int fd, uint64_t *words, size_t nr)
{
	ssize_t got = fake_read(fd, words, nr);

	if (fake.events[fd - FAKE_FD].cpu || ++cpu0_reads < 2)
		return got;
	if (goes_back)
		words[0] = 1000000 - cpu0_reads;
	return cpu0_reads == failed_read ? 0 : got;
}

/* An event's gain is known only if both readings succeeded and none went back. */
static void gains_of_good_readings_alone(void **state)
{
	static const struct {
		int failed_read;
		bool back;
		const char *online;
		int err;
		const char *note;
	} rows[] = {
		{ 0, false, "0-3", 0, "" },
		{ 2, false, "0-3", 0, "1 of 4 CPUs" },
		{ 3, false, "0-3", 0, "1 of 4 CPUs" },
		{ 0, true, "0-3", 0, "1 of 4 CPUs" },
		{ 0, true, "0", -EBUSY, "" },
	};
	struct perf_ops ops = fake_kernel;

	(void)state;
	ops.read = read_wrong;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct weights w = { 0 };
		struct diag d = { 0 };
		struct machine m;

		fake_reset();
		fake_add(10, FAKE_MAX, 0);
		make_arm(&m, OLYMPUS);
		tree_put(&m.tree, "devices/system/cpu/online", rows[i].online);
		failed_read = rows[i].failed_read;
		goes_back = rows[i].back;
		cpu0_reads = 0;
		assert_int_equal(weights_open(&ops, &m.fs, "r11", 4, &d, &w), rows[i].err);
		assert_non_null(strstr(w.note, rows[i].note));
		assert_true(rows[i].note[0] || !w.note[0]);
		weights_close(&w);
		assert_int_equal(fake.open_now, 0);
		drop(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_make_sense),
		cmocka_unit_test(auto_tries_by_rank),
		cmocka_unit_test(cores_are_recognized),
		cmocka_unit_test(the_pmu_of_the_cores),
		cmocka_unit_test(events_that_the_kernel_does_not_show),
		cmocka_unit_test(a_tree_without_pmus),
		cmocka_unit_test(names),
		cmocka_unit_test(bad_names),
		cmocka_unit_test(no_single_pmu),
		cmocka_unit_test(specifications),
		cmocka_unit_test(auto_says_why_not),
		cmocka_unit_test(nothing_asked_nothing_opened),
		cmocka_unit_test(many_cpus_are_many_files),
		cmocka_unit_test(events_come_back_with_their_cpu),
		cmocka_unit_test(gains_of_good_readings_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
