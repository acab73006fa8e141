// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Whole runs on copies of the sysfs of other vendors' machines: what is opened, what it is called,
 * and that the bytes of a report are those that the boxes of each socket counted. The kernel is
 * made up: this says nothing about drivers or hardware.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/json_place.h"
#include "box_world.h"
#include "platform/check/checks.h"
#include "platform/check/checks_devices.h"
#include "platform/pmu/explain.h"
#include "platform/pmu/fit.h"
#include "platform/pmu/platform_file.h"

#define MAX_EVENTS 9

/* What is written down here a second time, from the documents and not from the tables. */
struct machine {
	const char *name;
	int sockets;
	size_t events, counters; /* of all sockets */
	const char *platform;
	const char *first, *pmus; /* the first counter, and whose it is */
	uint32_t from, to;	  /* perf types that are opened */
	struct {
		uint64_t config, config1;
		enum direction direction;
		uint64_t bytes;
	} moved[MAX_EVENTS];
};

#define READS(code)                                                        \
	{                                                                  \
		.config = (code), .direction = DIRECTION_READ, .bytes = 64 \
	}
#define WRITES(code)                                                        \
	{                                                                   \
		.config = (code), .direction = DIRECTION_WRITE, .bytes = 64 \
	}
#define TOGETHER(code)                                                          \
	{                                                                       \
		.config = (code), .direction = DIRECTION_READWRITE, .bytes = 64 \
	}
/* A count is 2^-32 J, which is 5^9 / 2^23 nJ: what is left over comes later */
#define JOULES(code)                                  \
	{                                             \
		.config = (code), .direction = ENERGY \
	}
#define CAS_OF(socket) "imc" #socket "/cas_count_read"

/* clang-format off */
static const struct machine machines[] = {
	{ "skylake", 2, 2 * 6 * 2, 4, "xeon-to-skylake", CAS_OF(0), "uncore_imc_0-5", 20, 25,
	  { READS(0x304), WRITES(0xc04) } },
	{ "icelake", 2, 2 * 4 * 2, 4, "xeon-icelake", "imc_free0/read",
	  "uncore_imc_free_running_0-3", 28, 31, { READS(0x20ff), WRITES(0x21ff) } },
	{ "sapphire", 2, 2 * 8 * 2, 4, "xeon-sapphire", CAS_OF(0), "uncore_imc_0-7", 20, 27,
	  { READS(0xcf05), WRITES(0xf005) } },
	{ "granite", 2, 2 * 12 * 4, 4, "xeon-granite", CAS_OF(0), "uncore_imc_0-11", 20, 31,
	  { READS(0xcf05), READS(0xcf06), WRITES(0xf005), WRITES(0xf006) } },
	{ "skylake-client", 1, 2, 2, "intel-client", "imc0/data_reads", "uncore_imc", 20, 20,
	  { READS(0x1), WRITES(0x2) } },
	{ "alderlake", 1, 4, 2, "intel-client", "imc_free0/data_read",
	  "uncore_imc_free_running_0-1", 20, 21, { READS(0x20ff), WRITES(0x30ff) } },
	{ "zen4", 2, 24 * 2, 4, "amd-zen", "umc0/umc_cas_cmd.rd", "amd_umc_0-11", 20, 43,
	  { READS(0x10a), WRITES(0x20a) } },
	{ "zen3", 2, 2 * 8, 4, "amd-zen2", "df0/dram_channel_data_0_3", "amd_df", 20, 20,
	  { TOGETHER(0x3807), TOGETHER(0x3847), TOGETHER(0x3887), TOGETHER(0x38c7),
	    TOGETHER(0x100003807), TOGETHER(0x100003847), TOGETHER(0x100003887),
	    TOGETHER(0x1000038c7) } },
	{ "broadwell", 2, 2 * (4 * 2 + 2), 8, "xeon-to-skylake", CAS_OF(0), "uncore_imc_0-3", 20, 24,
	  { READS(0x304), WRITES(0xc04), JOULES(0x2), JOULES(0x3) } },
	{ "milan", 1, 8 + 1, 3, "amd-zen2", "df0/dram_channel_data_0_3", "amd_df", 20, 21,
	  { TOGETHER(0x3807), TOGETHER(0x3847), TOGETHER(0x3887), TOGETHER(0x38c7),
	    TOGETHER(0x100003807), TOGETHER(0x100003847), TOGETHER(0x100003887),
	    TOGETHER(0x1000038c7), JOULES(0x2) } },
	{ "graviton", 1, 1, 1, "arm-cmn", "cmn0/hnf_mc_reqs", "arm_cmn_0", 20, 20,
	  { TOGETHER(0xd0005) } },
	{ "altra2", 2, 2, 2, "arm-cmn", "cmn0/hnf_mc_reqs", "arm_cmn_0", 20, 21,
	  { TOGETHER(0xd0005) } },
	{ "ampereone", 2, 8 * 2, 4, "ampereone", "mcu0/rd_rda_sent", "ampere_mcu_pmu_0-3", 20, 27,
	  { READS(0xf), WRITES(0x10) } },
	{ "altra", 1, 4 * 2, 2, "arm-dmc620", "dmc6200/clkdiv2_rdwr.rd", "arm_dmc620_*", 20, 23,
	  { READS(0x1), { 0x1, 0x1, DIRECTION_WRITE, 64 } } },
	{ "altra-numa", 2, 4 * 2, 4, "arm-dmc620", "dmc6200/clkdiv2_rdwr.rd", "arm_dmc620_*", 20, 23,
	  { READS(0x1), { 0x1, 0x1, DIRECTION_WRITE, 64 } } },
	{ "yitian-numa", 2, 4 * 3, 4, "yitian710", "drw0/hif_rd", "ali_drw_*", 20, 23,
	  { READS(0x2), WRITES(0x1), WRITES(0x3) } },
	{ "kunpeng2", 1, 4 * 2, 2, "kunpeng", "ddrc_sub0/flux_rd", "hisi_sccl*", 20, 23,
	  { { 0x84, 0, DIRECTION_READ, 32 }, { 0x83, 0, DIRECTION_WRITE, 32 } } },
	{ "yitian", 1, 4 * 3, 2, "yitian710", "drw0/hif_rd", "ali_drw_*", 20, 23,
	  { READS(0x2), WRITES(0x1), WRITES(0x3) } },
};
/* clang-format on */

static const struct machine *machine;

static const struct machine *machine_called(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++)
		if (!strcmp(machines[i].name, name))
			return &machines[i];
	fail_msg("no machine %s", name);
	return NULL;
}

static uint64_t nanojoules(uint64_t counts)
{
	return (unsigned __int128)counts * 1953125 >> 23;
}

/* CPU 0 or 1 reads all PMUs of machines whose devices have nodes; the first half is of socket 0. */
static bool one_reads_all(void)
{
	return machine->name && strstr(machine->name, "-numa");
}

static int socket_of(int fd)
{
	if (one_reads_all())
		return (int)((kernel.attrs[fd].type - machine->from) * 2 /
			     (machine->to - machine->from + 1));
	return kernel.cpus[fd] / CPUS_OF_SOCKET;
}

static uint64_t truth(const struct world *w, int socket, enum direction direction)
{
	uint64_t sum = 0;

	for (int fd = 0; fd < kernel.nr; fd++) {
		bool known = false;

		if (!kernel.open[fd])
			continue;
		assert_in_range(kernel.attrs[fd].type, machine->from, machine->to);
		for (size_t i = 0; i < MAX_EVENTS; i++) {
			if ((!machine->moved[i].bytes && machine->moved[i].direction != ENERGY) ||
			    kernel.attrs[fd].config != machine->moved[i].config ||
			    kernel.attrs[fd].config1 != machine->moved[i].config1)
				continue;
			known = true;
			if (machine->moved[i].direction != direction || socket_of(fd) != socket)
				continue;
			if (direction == ENERGY)
				sum += nanojoules(w->total[fd]) - nanojoules(w->sent[fd]);
			else
				sum += (w->total[fd] - w->sent[fd]) * machine->moved[i].bytes;
		}
		assert_true(known);
	}
	return sum;
}

/* @small: PMU with few counters, @room: so many beside the first */
static void start(struct world *w, const char *name, uint32_t small, int room)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.small_type = small;
	kernel.small_room = room;
	tree_make_platform(&w->tree, name);
	world_open(w, COUNTERS_SUMS);
}

static void each_machine_counts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		struct world *w = calloc(1, sizeof(*w));
		struct report *r;

		machine = &machines[i];
		start(w, machine->name, 0, 0);
		assert_int_equal(w->cpus.nr_sockets, machine->sockets);
		assert_int_equal(w->counters.nr_readers, one_reads_all() ? 1 : machine->sockets);
		assert_int_equal(w->counters.nr_events, machine->events);
		assert_int_equal(w->counters.nr, machine->counters);
		assert_string_equal(w->counters.items[0].name, machine->first);
		assert_string_equal(w->counters.items[0].pmu, machine->pmus);
		assert_int_equal(w->counters.items[0].source, SOURCE_ANY);
		assert_string_equal(pmu_platform_name(w->counters.pmus[0].pmu->platform),
				    machine->platform);
		for (size_t p = 0; p < w->counters.nr_pmus; p++)
			assert_true(w->counters.pmus[p].pinned);
		r = run(w);
		check_sums(w, r, truth);
		report_free(r);
		end_world(w);
	}
}

/* Two dies of a socket are read on CPUs of their own: each is a counter. */
static void two_dies(void **state)
{
	static const struct machine dies = { .name = "kunpeng",
					     .from = 20,
					     .to = 27,
					     .moved = { { 0x1, 0, DIRECTION_READ, 32 },
							{ 0x0, 0, DIRECTION_WRITE, 32 } } };
	struct world *w = calloc(1, sizeof(*w));
	struct report *r;

	(void)state;
	machine = &dies;
	start(w, "kunpeng", 0, 0);
	assert_int_equal(w->counters.nr_readers, 2);
	assert_int_equal(w->counters.nr, 4);
	assert_string_equal(w->counters.items[0].name, "ddrc0.cpu0/flux_rd");
	assert_string_equal(w->counters.items[2].name, "ddrc0.cpu2/flux_rd");
	r = run(w);
	check_sums(w, r, truth);
	report_free(r);
	end_world(w);
}

/* Of a machine with two sockets it is not known which one a PMU is of. */
static void unknown_sockets(const char *name, size_t nr, bool second)
{
	struct counters counters;
	struct pmu_list pmus;
	struct diag d = { 0 };
	struct tree tree;
	struct sysfs fs;

	tree_make_platform(&tree, name);
	if (second)
		tree_put(&tree, "devices/system/cpu/cpu3/topology/physical_package_id", "1\n");
	assert_int_equal(sysfs_open(tree.root, &d, &fs), 0);
	assert_int_equal(pmu_list_read(&fs, &d, &pmus), 0);
	assert_int_equal(pmus.nr, nr);
	for (size_t i = 0; i < pmus.nr; i++) {
		assert_int_equal(pmus.pmus[i].socket, -1);
		assert_int_equal(pmus.pmus[i].instance, i);
	}
	assert_int_equal(counters_open(&ops, &pmus, COUNTERS_SUMS, &d, &counters), -ENODEV);
	assert_non_null(strstr(d.what, "its socket is unknown"));
	pmu_list_free(&pmus);
	sysfs_close(&fs);
	tree_remove(&tree);
}

/*
 * The CPU that reads a PMU does not tell its socket: of one socket it is clear, of two not. That of a
 * mesh tells it if each socket has one. Else the firmware said no NUMA node, and CPU 0 reads them all.
 */
static void a_second_socket(void **state)
{
	(void)state;
	unknown_sockets("altra", 4, true);
	unknown_sockets("graviton", 1, true);
	unknown_sockets("nodeless", 2, false);
}

/* What firmware says of the nodes of devices is believed of all of them or of none. */
static void nodes_of_devices(void **state)
{
	static const struct {
		const char *file, *text;
		bool believed;
	} rows[] = {
		{ "devices/platform/CTRL0000:03/numa_node", "1\n", true },
		{ "devices/platform/CTRL0000:03/numa_node", "-1\n",
		  false }, /* of one it says none */
		{ "devices/platform/CTRL0000:03/numa_node", "7\n", false }, /* a node of its own */
		{ "devices/system/node/node1/cpulist", "\n", false },
		{ "devices/system/node/node1/cpulist", "0-7\n", false },
		{ "devices/system/node/node1/cpulist", "0-3\n", false }, /* socket 1 has none */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pmu_list pmus;
		struct diag d = { 0 };
		struct tree tree;
		struct sysfs fs;

		tree_make_platform(&tree, "altra-numa");
		tree_put(&tree, rows[i].file, rows[i].text);
		assert_int_equal(sysfs_open(tree.root, &d, &fs), 0);
		assert_int_equal(pmu_list_read(&fs, &d, &pmus), 0);
		assert_int_equal(pmus.nr, 4);
		for (size_t k = 0; k < pmus.nr; k++)
			assert_int_equal(pmus.pmus[k].socket, rows[i].believed ? (int)k / 2 : -1);
		pmu_list_free(&pmus);
		sysfs_close(&fs);
		tree_remove(&tree);
	}
}

/* A channel whose counters others hold takes turns; the sum of the others stays a sum. */
static void a_channel_is_held(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct report *r;

	(void)state;
	machine = &machines[0];
	start(w, machine->name, 22, 0);
	assert_string_equal(w->counters.items[0].pmu, "uncore_imc_0-1,3-5");
	assert_int_equal(w->counters.nr, 4 + 4);
	r = run(w);
	check_sums(w, r, truth);
	report_free(r);
	end_world(w);
}

/*
 * Eight channels, and counters for four, or for three when somebody holds one: a sum that does not
 * fit into a turn is two, and no count is added to another sum.
 */
static void channels_take_turns(void **state)
{
	static const struct {
		int room;
		size_t counters;
		const char *names[5];
	} cases[] = {
		{ 3, 4, { "df0/dram_channel_data_0_3", "df0/dram_channel_data_4_7" } },
		{ 2,
		  8,
		  { "df0/dram_channel_data_0_3", "df0/dram_channel_data_0_3/turn1",
		    "df0/dram_channel_data_4_7", "df0/dram_channel_data_4_7/turn2" } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct world *w = calloc(1, sizeof(*w));
		struct report *r;

		machine = machine_called("zen3");
		start(w, machine->name, 20, cases[i].room);
		assert_int_equal(w->counters.nr, cases[i].counters);
		for (size_t k = 0; cases[i].names[k]; k++)
			assert_string_equal(w->counters.items[k].name, cases[i].names[k]);
		assert_false(w->counters.pmus[0].pinned);
		r = run(w);
		check_sums(w, r, truth);
		report_free(r);
		end_world(w);
	}
}

/* Where memory controllers count reads and writes apart, the mesh is left out. */
static void better_than_the_mesh(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct text_list notes = { 0 };

	(void)state;
	memset(&kernel, 0, sizeof(kernel));
	tree_make_platform(&w->tree, "altra");
	tree_put(&w->tree, PMU_DEVICES "/arm_cmn_0/type", "99\n");
	tree_put(&w->tree, PMU_DEVICES "/arm_cmn_0/cpumask", "0\n");
	tree_put(&w->tree, PMU_DEVICES "/arm_cmn_0/format/type", "config:0-15\n");
	tree_put(&w->tree, PMU_DEVICES "/arm_cmn_0/format/eventid", "config:16-26\n");
	world_open(w, COUNTERS_SUMS);
	assert_string_equal(w->counters.items[0].name, "dmc6200/clkdiv2_rdwr.rd");
	assert_int_equal(w->counters.nr, 2);
	assert_string_equal(pmu_platform_name(pmu_list_platform(&w->pmus)), "arm-dmc620");
	assert_int_equal(pmu_fit_notes(&w->fs, &w->pmus, &notes), 0);
	assert_int_equal(notes.nr, 2);
	assert_string_equal(notes.items[1], "arm_cmn_<n> counts the same bytes as arm_dmc620_<x>, "
					    "which reports take.");
	text_list_free(&notes);
	end_world(w);
}

/* What counts by turns is no sum: each half of a held channel is a counter with a name. */
static void halves_of_a_held_channel(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct report *r;

	(void)state;
	machine = machine_called("granite");
	start(w, machine->name, 22, 0);
	for (uint32_t i = 0; i < w->counters.nr; i++)
		for (uint32_t k = 0; k < i; k++)
			assert_string_not_equal(w->counters.items[i].name,
						w->counters.items[k].name);
	r = run(w);
	check_sums(w, r, truth);
	report_free(r);
	end_world(w);
}

/* Energy is counted beside traffic, in its own unit, but not instead of traffic that is broken. */
static void energy_beside_traffic(void **state)
{
	struct counters counters;
	struct world *w = calloc(1, sizeof(*w));
	struct diag d = { 0 };
	char name[64];

	(void)state;
	memset(&kernel, 0, sizeof(kernel));
	tree_make_platform(&w->tree, "broadwell");
	world_open(w, COUNTERS_SUMS);
	for (size_t i = 0; i < w->counters.nr; i++)
		assert_int_equal(w->counters.items[i].unit, i < 4 ? UNIT_BYTES : UNIT_NANOJOULES);
	assert_string_equal(w->counters.items[4].name, "power0/energy-pkg");
	assert_string_equal(w->counters.items[7].name, "power1/energy-ram");
	tree_put(&w->tree, PMU_DEVICES "/power/events/energy-ram.scale", "1e-6");
	pmu_list_free(&w->pmus);
	assert_int_equal(pmu_list_read(&w->fs, &d, &w->pmus), 0);
	counters_close(&w->counters);
	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), PMU_DEVICES "/uncore_imc_%d/type", i);
		tree_drop(&w->tree, name);
	}
	pmu_list_free(&w->pmus);
	assert_int_equal(pmu_list_read(&w->fs, &d, &w->pmus), 0);
	assert_int_equal(counters_open(&ops, &w->pmus, COUNTERS_SUMS, &d, &counters), -ENODEV);
	assert_non_null(strstr(d.what, "no usable PMU that counts memory traffic"));
	end_world(w);
}

/* Where nothing counts traffic there is still energy; what is wrong with it is an error then. */
static void energy_alone(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct diag d = { 0 };

	(void)state;
	memset(&kernel, 0, sizeof(kernel));
	tree_make_platform(&w->tree, "broadwell");
	tree_put(&w->tree, "devices/system/cpu/modalias",
		 "cpu:type:x86,ven0000fam0006mod0001:feature:,0000\n");
	world_open(w, COUNTERS_SUMS);
	assert_int_equal(w->counters.nr, 4);
	assert_int_equal(w->counters.nr_sockets, 2);
	for (size_t i = 0; i < w->counters.nr; i++)
		assert_int_equal(w->counters.items[i].unit, UNIT_NANOJOULES);
	assert_string_equal(w->counters.no_energy, "");
	counters_close(&w->counters);
	kernel.gone_type = 24;
	assert_int_equal(counters_open(&ops, &w->pmus, COUNTERS_SUMS, &d, &w->counters), -ENODEV);
	assert_non_null(strstr(d.what, "power"));
	end_world(w);
}

/* Without energy there is still traffic, and the reason is told. */
static void energy_cannot_be_opened(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	(void)state;
	memset(&kernel, 0, sizeof(kernel));
	kernel.gone_type = 24;
	tree_make_platform(&w->tree, "broadwell");
	world_open(w, COUNTERS_SUMS);
	assert_int_equal(w->counters.nr, 4);
	assert_int_equal(w->counters.nr_events, 2 * 4 * 2);
	assert_non_null(strstr(w->counters.no_energy, "energy is not counted: "));
	assert_non_null(strstr(w->counters.no_energy, "power"));
	end_world(w);
}

/* Without the free-running counters, those of the channels are taken. */
static void the_second_choice(void **state)
{
	static const struct machine channels = { .from = 20,
						 .to = 27,
						 .moved = { READS(0xf04), WRITES(0x3004) } };
	struct world *w = calloc(1, sizeof(*w));
	char name[96];
	struct report *r;

	(void)state;
	memset(&kernel, 0, sizeof(kernel));
	machine = &channels;
	tree_make_platform(&w->tree, "icelake");
	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), PMU_DEVICES "/uncore_imc_free_running_%d/type", i);
		tree_drop(&w->tree, name);
	}
	world_open(w, COUNTERS_SUMS);
	assert_string_equal(w->counters.items[0].name, "imc0/cas_count_read");
	assert_int_equal(w->counters.nr_events, 2 * 8 * 2);
	r = run(w);
	check_sums(w, r, truth);
	report_free(r);
	end_world(w);
}

static const char own_text[] =
	"{ \"schema\": \"t410trace.platform/1\", \"platform\": \"mine\", \"title\": \"mine\",\n"
	"  \"pmus\": [ { \"pmu\": \"uncore_imc_<n>\", \"name\": \"mc\", \"title\": \"mc\",\n"
	"    \"socket\": \"cpus\", \"from\": \"nowhere\", \"rows\": [\n"
	"      { \"event\": \"reads\", \"terms\": \"event=0x4,umask=0xf\", \"bytes\": 64,\n"
	"        \"counts\": 9, \"direction\": \"read\", \"source\": \"cpu\", \"from\": \"x\" },\n"
	"      { \"event\": \"cas_count_write\", \"direction\": \"write\", \"source\": \"any\",\n"
	"        \"from\": \"y\" } ] } ] }\n";

static uint64_t own_truth(const struct world *w, int socket, enum direction direction)
{
	uint64_t sum = 0;

	for (int fd = 0; fd < kernel.nr; fd++) {
		if (!kernel.open[fd] || socket_of(fd) != socket)
			continue;
		if (kernel.attrs[fd].config == 0xf04 && direction == DIRECTION_READ)
			sum += w->total[fd] * 64 / 9 - w->sent[fd] * 64 / 9;
		if (kernel.attrs[fd].config == 0x3004 && direction == DIRECTION_WRITE)
			sum += (w->total[fd] - w->sent[fd]) * 64;
	}
	return sum;
}

/* The user's rows take the place of the built-in ones: those of the second choice, nothing twice. */
static void rows_of_the_user(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	char path[PATH_MAX];
	struct diag d = { 0 };
	struct report *r;

	(void)state;
	memset(&kernel, 0, sizeof(kernel));
	tree_make_platform(&w->tree, "icelake");
	tree_put(&w->tree, "own.json", own_text);
	tree_path(&w->tree, "own.json", path);
	assert_int_equal(platform_file_use(path, &d), 0);
	assert_int_equal(platform_file_use(path, &d), 0);
	assert_int_equal(platform_file_use("/another", &d), -EBUSY);
	world_open(w, COUNTERS_SUMS);
	assert_int_equal(platform_file_check(&w->fs, &w->pmus, &d), 0);
	assert_string_equal(w->counters.items[0].name, "mc0/reads");
	assert_string_equal(pmu_platform_name(w->counters.pmus[0].pmu->platform), "mine");
	assert_int_equal(w->counters.nr_events, 2 * 8 * 2);
	assert_int_equal(w->counters.nr, 4);
	r = run(w);
	check_sums(w, r, own_truth);
	report_free(r);
	end_world(w);
	platform_file_drop();
	assert_null(own_rows());
}

static void places_in_json(void **state)
{
	static const char text[] =
		" { \"a\\\"b\": \"}],\",\n\"c\": [ 1, [2, {}],\n{\"d\": null} ] ,\n"
		"\"e\":{}, \"ab\": 1 }";
	const char *top = json_place_value(text), *c = json_place_member(top, "c");

	(void)state;
	assert_int_equal(*top, '{');
	assert_int_equal(json_place_line(text, top), 1);
	assert_int_equal(json_place_line(text, c), 2);
	assert_int_equal(*json_place_item(c, 1), '[');
	assert_int_equal(json_place_line(text, json_place_item(c, 2)), 3);
	assert_int_equal(*json_place_member(json_place_item(c, 2), "d"), 'n');
	assert_null(json_place_item(c, 3));
	assert_null(json_place_key(top, "b"));
	assert_null(json_place_key(top, "a"));
	assert_null(json_place_key(c, "d"));
	assert_null(json_place_item(top, 0));
	assert_int_equal(json_place_line(text, json_place_key(top, "e")), 4);
	assert_int_equal(*json_place_member(top, "ab"), '1');
	assert_null(json_place_key(json_place_member(top, "e"), "x"));
}

/* No PMU of such a chip is known to count devices: neither its own nor one that nobody knows. */
static void devices_are_not_counted(void **state)
{
	static const uint8_t config[64] = { 0x86, 0x80, 0x20, 0x20, [10] = 0x00, 0x06 };
	struct check_row row, gpus;
	struct tree tree;
	struct sysfs fs;
	struct diag d = { 0 };

	(void)state;
	tree_make_platform(&tree, "skylake");
	tree_write(&tree, "bus/pci/devices/0000:00:00.0/config", config, sizeof(config));
	tree_put(&tree, PMU_DEVICES "/nvidia_uncore_pmu_0/type", "99\n");
	assert_int_equal(sysfs_open(tree.root, &d, &fs), 0);
	assert_int_equal(check_devices(&fs, &row, &gpus), 0);
	assert_string_equal(row.found, "0 PCIe PMUs, 0 root ports");
	sysfs_close(&fs);
	tree_remove(&tree);
}

/* A CPU that no row knows: the names fit, and still nothing is counted. */
static void another_cpu(void **state)
{
	struct text_list notes = { 0 };
	struct pmu_list pmus;
	struct diag d = { 0 };
	struct tree tree;
	struct sysfs fs;

	(void)state;
	tree_make_platform(&tree, "skylake");
	tree_put(&tree, "devices/system/cpu/modalias",
		 "cpu:type:x86,ven0000fam0006mod00FE:feature:,0000\n");
	assert_int_equal(sysfs_open(tree.root, &d, &fs), 0);
	assert_int_equal(pmu_list_read(&fs, &d, &pmus), 0);
	assert_int_equal(pmus.nr, 0);
	assert_int_equal(pmu_fit_notes(&fs, &pmus, &notes), 0);
	assert_int_equal(notes.nr, 5);
	assert_non_null(strstr(notes.items[0], "No PMU here counts memory traffic: there are"));
	assert_non_null(strstr(notes.items[3], "uncore_imc_<n>: not counted. The CPU is "
					       "GenuineIntel-6-FE, and"));
	text_list_free(&notes);
	assert_int_equal(no_pmu_diag(&fs, &d), -ENODEV);
	assert_non_null(strstr(d.help, "GenuineIntel-6-FE"));
	pmu_list_free(&pmus);
	sysfs_close(&fs);
	tree_remove(&tree);
}

/* What sysfs says otherwise is told: of bytes the table is believed, of bits sysfs. */
static void sysfs_says_otherwise(void **state)
{
	struct text_list notes = { 0 };
	struct check_row row;
	struct pmu_list pmus;
	struct diag d = { 0 };
	struct tree tree;
	struct sysfs fs;

	(void)state;
	tree_make_platform(&tree, "sapphire");
	tree_put(&tree, PMU_DEVICES "/uncore_imc_3/events/cas_count_read.scale", "3.814697266e-6");
	tree_put(&tree, PMU_DEVICES "/uncore_imc_4/events/cas_count_write",
		 "event=0x05,umask=0xf1");
	assert_int_equal(sysfs_open(tree.root, &d, &fs), 0);
	assert_int_equal(pmu_list_read(&fs, &d, &pmus), 0);
	check_judge_pmus(&fs, &pmus, &row);
	assert_int_equal(row.status, CHECK_LIMITED);
	assert_non_null(strstr(
		row.found,
		"16 imc, 4 iio_free, 4 upi, 4 cha; uncore_imc_3: sysfs and documents differ"));
	assert_int_equal(pmu_notes(&pmus, NULL, &notes), 0);
	assert_int_equal(notes.nr, 1);
	assert_non_null(strstr(notes.items[0], "uncore_imc_3: sysfs says that a count of "
					       "cas_count_read is 4 bytes, and documents say 64"));
	tree_put(&tree, PMU_DEVICES "/uncore_imc_3/events/cas_count_read.scale", "6.103515625e-5");
	pmu_list_free(&pmus);
	assert_int_equal(pmu_list_read(&fs, &d, &pmus), 0);
	check_judge_pmus(&fs, &pmus, &row);
	assert_int_equal(row.status, CHECK_LIMITED);
	assert_non_null(strstr(row.found, "uncore_imc_4: sysfs and documents differ about an "
					  "event's code"));
	assert_int_equal(pmu_fit_notes(&fs, &pmus, &notes), 0);
	assert_int_equal(notes.nr, 4);
	assert_non_null(strstr(notes.items[3], "uncore_imc_4: sysfs encodes cas_count_write as "
					       "event=0x05,umask=0xf1, and documents as "
					       "event=0x5,umask=0xf0"));
	text_list_free(&notes);
	pmu_list_free(&pmus);
	sysfs_close(&fs);
	tree_remove(&tree);
}

static void check_on(const char *machine, struct check_row *ret)
{
	struct pmu_list pmus;
	struct diag d = { 0 };
	struct tree tree;
	struct sysfs fs;

	tree_make_platform(&tree, machine);
	assert_int_equal(sysfs_open(tree.root, &d, &fs), 0);
	assert_int_equal(pmu_list_read(&fs, &d, &pmus), 0);
	check_judge_pmus(&fs, &pmus, ret);
	pmu_list_free(&pmus);
	sysfs_close(&fs);
	tree_remove(&tree);
}

/* "check" says what is left out, and why. */
static void checks_tell_it(void **state)
{
	struct check_row row;

	(void)state;
	check_on("zen4", &row);
	assert_int_equal(row.status, CHECK_OK);
	assert_string_equal(row.found, "24 umc, 2 df");
	check_on("icelake", &row);
	assert_int_equal(row.status, CHECK_OK);
	assert_string_equal(
		row.found,
		"8 imc_free, 16 imc, 4 iio_free, 4 upi, 4 cha; uncore_imc_<n> counts the same "
		"bytes as uncore_imc_free_running_<n>, which reports take");
	check_on("alderlake", &row);
	assert_int_equal(row.status, CHECK_OK);
	assert_string_equal(row.found, "2 imc_free; uncore_imc_<n>: not counted");
	check_judge_kernel("6.12.1", false, &row);
	assert_int_equal(row.status, CHECK_LIMITED);
	check_judge_kernel("6.12.1", true, &row);
	assert_int_equal(row.status, CHECK_OK);
	check_judge_kernel("5.4.0", true, &row);
	assert_int_equal(row.status, CHECK_MISSING);
}

static void cpus_are_recognized(void **state)
{
	struct cpu_id id = { 1, 2, 3 };
	char text[40];

	(void)state;
	assert_true(cpu_id_parse("cpu:type:x86,ven0000fam0006mod00CF:feature:,0001", &id));
	assert_int_equal(cpu_id_platform(&id), PMU_PLATFORM_SPR);
	cpu_id_text(&id, text, sizeof(text));
	assert_string_equal(text, "GenuineIntel-6-CF");
	assert_true(cpu_id_parse("cpu:type:x86,ven0002fam0019mod0011:feature:", &id));
	assert_int_equal(cpu_id_platform(&id), PMU_PLATFORM_ZEN);
	id.model = 0x61; /* of a client: its data fabric is another one */
	assert_int_equal(cpu_id_platform(&id), PMU_PLATFORM_UNKNOWN);
	id.model = 0x11;
	cpu_id_text(&id, text, sizeof(text));
	assert_string_equal(text, "AuthenticAMD-25-11");
	/* Another vendor's CPU with the same numbers is another CPU. */
	assert_true(cpu_id_parse("cpu:type:x86,ven000Afam0006mod00CF:feature:", &id));
	assert_int_equal(cpu_id_platform(&id), PMU_PLATFORM_UNKNOWN);
	assert_false(cpu_id_parse("cpu:type:aarch64:feature:,0000", &id));
	assert_false(cpu_id_parse("", &id));
	assert_int_equal(cpu_midr_platform(0xc00fac30), PMU_PLATFORM_AMPEREONE);
	assert_int_equal(cpu_midr_platform(0x481fd010), PMU_PLATFORM_KUNPENG);
	assert_int_equal(cpu_midr_platform(0x410fd4f0), PMU_PLATFORM_UNKNOWN);
	cpu_midr_text(0x481fd010, text, sizeof(text));
	assert_string_equal(text, "0x00000000481fd010");
	assert_true(cpu_text_fits("0x00000000480fd010", text));
	assert_true(cpu_text_fits("0x481fd010", text));
	assert_false(cpu_text_fits("0x482fd010", text));
	assert_false(cpu_text_fits("0x480fd020", text));
	assert_false(cpu_text_fits("GenuineIntel-6-CF", text));
	assert_false(cpu_text_fits("0x0", "GenuineIntel-6-CF"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_machine_counts),	cmocka_unit_test(two_dies),
		cmocka_unit_test(checks_tell_it),	cmocka_unit_test(devices_are_not_counted),
		cmocka_unit_test(rows_of_the_user),	cmocka_unit_test(places_in_json),
		cmocka_unit_test(a_second_socket),	cmocka_unit_test(nodes_of_devices),
		cmocka_unit_test(a_channel_is_held),	cmocka_unit_test(halves_of_a_held_channel),
		cmocka_unit_test(channels_take_turns),	cmocka_unit_test(energy_beside_traffic),
		cmocka_unit_test(energy_alone),		cmocka_unit_test(energy_cannot_be_opened),
		cmocka_unit_test(better_than_the_mesh), cmocka_unit_test(the_second_choice),
		cmocka_unit_test(another_cpu),		cmocka_unit_test(sysfs_says_otherwise),
		cmocka_unit_test(cpus_are_recognized),
	};

	return cmocka_run_group_tests_name("platforms", tests, NULL, NULL);
}
