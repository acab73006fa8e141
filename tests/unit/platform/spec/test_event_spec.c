// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/perf_event.h>

#include "base/array.h"
#include "base/text.h"
#include "caret.h"
#include "platform/spec/event_spec.h"
#include "platform/pmu/pmu_match.h"
#include "random.h"
#include "tree.h"
#include "valgrind.h"

#define DEVICES PMU_DEVICES "/"
#define CORE	DEVICES "armv8_pmuv3_0/"
#define C2C_1	"devices/platform/NVDA2023:01/nvidia_nvlink_c2c_pmu_1/"

static struct tree tree;
static struct sysfs fs;
static struct pmu_list pmus;

/*
 * A T410 with CPUs that can count; the second socket's NVLink-C2C leads to CPUs, and a PMU
 * is damaged.
 */
static int make_machine(void **state)
{
	struct diag d = { 0 };

	(void)state;
	tree_make_t410(&tree);
	tree_put(&tree, CORE "cpus", "0-3\n");
	tree_put(&tree, CORE "format/event", "config:0-15\n");
	tree_put(&tree, CORE "events/inst_retired", "event=0x0008\n");
	tree_put(&tree, CORE "events/l2d_cache_wb", "event=0x0018\n");
	tree_put(&tree, CORE "events/damaged", "event=\n");
	tree_drop(&tree, C2C_1 "events/in_wr_req");
	tree_drop(&tree, C2C_1 "events/out_wr_req");
	tree_drop(&tree, C2C_1 "format/gpu_mask");
	tree_put(&tree, DEVICES "nvidia_ucf_pmu_7/events/cycles", "event=0x100000000\n");
	tree_put(&tree, DEVICES "nvidia_ucf_pmu_7/format/event", "config:0-32\n");
	assert_int_equal(sysfs_open(tree.root, &d, &fs), 0);
	assert_int_equal(pmu_list_read(&fs, &d, &pmus), 0);
	assert_int_equal(pmus.nr, 35);
	return 0;
}

static int free_machine(void **state)
{
	(void)state;
	pmu_list_free(&pmus);
	sysfs_close(&fs);
	tree_remove(&tree);
	return 0;
}

/* "NAME[:SET] NAME[:SET] ..." of a list. */
static void list_text(const struct want_list *list, char *ret, size_t size)
{
	ret[0] = '\0';
	for (size_t i = 0; i < list->nr; i++) {
		const struct want *want = &list->wants[i];

		assert_true(want->asked);
		assert_string_equal(want->label, "");
		str_append(ret, size, "%s%s", i ? " " : "", want->name);
		if (want->set)
			str_append(ret, size, ":%u", want->set);
	}
}

static void expect(int32_t socket, const char *text, const char *names)
{
	struct want_list list = { 0 };
	struct diag d = { 0 };
	char got[4096];

	if (event_spec_add(&fs, &pmus, socket, text, &d, &list))
		fail_msg("%s: %s (%s)", text, d.what, d.help);
	list_text(&list, got, sizeof(got));
	assert_string_equal(got, names);
	want_list_free(&list);
}

#define UCF0	 "nvidia_ucf_pmu_0/"
#define UCF1	 "nvidia_ucf_pmu_1/"
#define C2C0	 "nvidia_nvlink_c2c_pmu_0/"
#define BOTH(ev) UCF0 ev "/ " UCF1 ev "/"

static void pmus_have_many_names(void **state)
{
	static const struct {
		const char *name;
		size_t nr;
		const char *first;
		const char *last;
	} rows[] = {
		{ "nvidia_ucf_pmu_1", 1, "nvidia_ucf_pmu_1", "nvidia_ucf_pmu_1" },
		{ "ucf", 3, "nvidia_ucf_pmu_0", "nvidia_ucf_pmu_7" },
		{ "nvidia_ucf_pmu", 3, "nvidia_ucf_pmu_0", "nvidia_ucf_pmu_7" },
		{ "ucf1", 1, "nvidia_ucf_pmu_1", "nvidia_ucf_pmu_1" },
		{ "ucf01", 0, "", "" },
		{ "ucf2", 0, "", "" },
		{ "ucf99999999999999999999", 0, "", "" },
		{ "ucf0.rc0", 0, "", "" },
		{ "ucf.", 0, "", "" },
		{ "UCF", 0, "", "" },
		{ "", 0, "", "" },
		{ "nvidia_ucf_pmu_", 0, "", "" },
		{ "nvidia_ucf", 0, "", "" },
		{ "pcie", 12, "nvidia_pcie_pmu_0_rc_0", "nvidia_pcie_pmu_1_rc_5" },
		{ "nvidia_pcie_pmu", 12, "nvidia_pcie_pmu_0_rc_0", "nvidia_pcie_pmu_1_rc_5" },
		{ "pcie0", 6, "nvidia_pcie_pmu_0_rc_0", "nvidia_pcie_pmu_0_rc_5" },
		{ "pcie0.rc1", 1, "nvidia_pcie_pmu_0_rc_1", "nvidia_pcie_pmu_0_rc_1" },
		{ "pcie.rc1", 2, "nvidia_pcie_pmu_0_rc_1", "nvidia_pcie_pmu_1_rc_1" },
		{ "pcie0.rc", 0, "", "" },
		{ "pcie0.rc1x", 0, "", "" },
		{ "pcie0rc1", 0, "", "" },
		{ "pcie_tgt1", 6, "nvidia_pcie_tgt_pmu_1_rc_0", "nvidia_pcie_tgt_pmu_1_rc_5" },
		{ "pcie_tgt1.rc5", 1, "nvidia_pcie_tgt_pmu_1_rc_5", "nvidia_pcie_tgt_pmu_1_rc_5" },
		{ "cmem_latency0", 1, "nvidia_cmem_latency_pmu_0", "nvidia_cmem_latency_pmu_0" },
		{ "nvlink_c2c0", 1, "nvidia_nvlink_c2c_pmu_0", "nvidia_nvlink_c2c_pmu_0" },
		{ "nvidia_ucf_pmu_*", 3, "nvidia_ucf_pmu_0", "nvidia_ucf_pmu_7" },
		{ "nvidia_pcie_pmu_?_rc_3", 2, "nvidia_pcie_pmu_0_rc_3", "nvidia_pcie_pmu_1_rc_3" },
		{ "pcie?.rc2", 2, "nvidia_pcie_pmu_0_rc_2", "nvidia_pcie_pmu_1_rc_2" },
		{ "*link*_1", 3, "nvidia_nvlink_c2c_pmu_1", "nvidia_nvdlink_pmu_1" },
		{ "*", 35, "nvidia_ucf_pmu_0", "nvidia_nvdlink_pmu_1" },
		{ "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", 0, "", "" },
		{ "nvidia_scf_*", 0, "", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pmu_choice choice = { 0 };

		assert_int_equal(pmu_match(&pmus, rows[i].name, &choice), 0);
		if (choice.nr != rows[i].nr)
			fail_msg("%s: %zu PMUs", rows[i].name, choice.nr);
		if (choice.nr) {
			assert_string_equal(choice.pmus[0]->name, rows[i].first);
			assert_string_equal(choice.pmus[choice.nr - 1]->name, rows[i].last);
		}
		pmu_choice_free(&choice);
	}
	pmu_choice_free(NULL);
}

/* On Grace a family has a number at its end, and one is called like another of T410. */
static void names_on_grace(void **state)
{
	static const char *const names[] = { "nvidia_nvlink_c2c0_pmu_0", "nvidia_nvlink_c2c0_pmu_1",
					     "nvidia_nvlink_c2c1_pmu_0", "nvidia_pcie_pmu_0",
					     "nvidia_scf_pmu_1" };
	static const struct {
		const char *name;
		size_t nr;
		size_t first;
	} rows[] = {
		{ "nvlink_c2c0", 2, 0 }, { "nvlink_c2c01", 1, 1 }, { "nvlink_c2c10", 1, 2 },
		{ "nvlink_c2c1", 1, 2 }, { "pcie", 1, 3 },	   { "pcie0", 1, 3 },
		{ "pcie_grace", 1, 3 },	 { "pcie_grace0", 1, 3 },  { "scf1", 1, 4 },
		{ "scf", 1, 4 },
	};
	struct pmu grace[ARRAY_SIZE(names)] = { 0 };
	struct pmu_list list = { grace, ARRAY_SIZE(grace), 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		str_copy(grace[i].name, sizeof(grace[i].name), names[i]);
		grace[i].family = pmu_family_match(names[i], PMU_PLATFORM_UNKNOWN,
						   &grace[i].instance, &grace[i].rc);
		assert_non_null(grace[i].family);
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pmu_choice choice = { 0 };

		assert_int_equal(pmu_match(&list, rows[i].name, &choice), 0);
		assert_int_equal(choice.nr, rows[i].nr);
		assert_ptr_equal(choice.pmus[0], &grace[rows[i].first]);
		pmu_choice_free(&choice);
	}
}

static void events_are_understood(void **state)
{
	(void)state;
	expect(-1, "nvidia_ucf_pmu_0/mem_bytes_rd,src_loc_cpu=1/",
	       UCF0 "mem_bytes_rd,src_loc_cpu=1/");
	expect(-1, "ucf/mem_bytes_rd/", BOTH("mem_bytes_rd"));
	expect(0, "ucf/mem_bytes_rd/", UCF0 "mem_bytes_rd/");
	expect(1, "ucf/mem_bytes_rd/", UCF1 "mem_bytes_rd/");
	expect(-1, "mem_bytes_rd", BOTH("mem_bytes_rd"));
	expect(1, "mem_bytes_rd", UCF1 "mem_bytes_rd/");
	expect(1, "rd_cum_outs,slc_wb",
	       "nvidia_pcie_pmu_1_rc_0/rd_cum_outs/ nvidia_pcie_pmu_1_rc_1/rd_cum_outs/ "
	       "nvidia_pcie_pmu_1_rc_2/rd_cum_outs/ nvidia_pcie_pmu_1_rc_3/rd_cum_outs/ "
	       "nvidia_pcie_pmu_1_rc_4/rd_cum_outs/ nvidia_pcie_pmu_1_rc_5/rd_cum_outs/ "
	       "nvidia_cmem_latency_pmu_1/rd_cum_outs/ " UCF1 "slc_wb/");
	/* terms in any order, flags without a value, numbers of both kinds */
	expect(-1, "ucf0/src_rem,mem_bytes_rd,dst_rem=1/",
	       UCF0 "mem_bytes_rd,src_rem=1,dst_rem=1/");
	expect(-1, "ucf0/event=0x111/", UCF0 "event=0x111/");
	expect(-1, "ucf0/event=273/", UCF0 "event=0x111/");
	expect(-1, "ucf0/0x111/", UCF0 "event=0x111/");
	expect(-1, "ucf0/r111/", UCF0 "event=0x111/");
	expect(-1, "ucf0/0/", UCF0 "event=0x0/");
	expect(-1, "pcie0.rc1/rd_bytes,src_bdf=0x8100,src_bdf_en/",
	       "nvidia_pcie_pmu_0_rc_1/rd_bytes,src_bdf=0x8100,src_bdf_en=1/");
	/* whole words of the configuration */
	expect(-1, "ucf0/config=0x100000000/", UCF0 "event=0x100000000/");
	expect(-1, "ucf0/config=0x111,config1=0x802/", UCF0 "event=0x111,src_loc_cpu=1,dst_rem=1/");
	expect(-1, "ucf0/mem_bytes_rd,config1=0x2/", UCF0 "mem_bytes_rd,src_loc_cpu=1/");
	expect(-1, "ucf0/config=0,config2=0,config3=0/", UCF0 "event=0x0/");
	expect(-1, "pcie_tgt0.rc0/config=0x809,config1=0x1000,config2=0xfffffffffffff000/",
	       "nvidia_pcie_tgt_pmu_0_rc_0/event=0x1,dst_rp_mask=0x1,dst_addr_en=1,"
	       "dst_addr_base=0x1000,dst_addr_mask=0xfffffffffffff000/");
	/* blanks, and the modifier that changes nothing */
	expect(-1, " ucf0/cycles/D , ucf1/ cycles , src_rem = 1 /:D ",
	       UCF0 "cycles/ " UCF1 "cycles,src_rem=1/");
}

static void configurations_are_encoded(void **state)
{
	struct want_list list = { 0 };
	struct diag d = { 0 };

	(void)state;
	assert_int_equal(event_spec_add(&fs, &pmus, -1, "ucf1/cycles,dst_rem/", &d, &list), 0);
	assert_int_equal(list.nr, 1);
	assert_string_equal(list.wants[0].pmu->name, "nvidia_ucf_pmu_1");
	assert_int_equal(list.wants[0].type, list.wants[0].pmu->type);
	assert_int_equal(list.wants[0].config.config, 0x100000000);
	assert_int_equal(list.wants[0].config.config1, 0x800);
	assert_string_equal(list.wants[0].event, "cycles");
	assert_string_equal(list.wants[0].filters, "dst_rem=1");
	want_list_free(&list);
}

/* Peers decide what a link can count: those that can, do. */
static void only_some_can(void **state)
{
	(void)state;
	expect(-1, "nvlink_c2c/in_wr_req/", C2C0 "in_wr_req/");
	expect(-1, "in_wr_req", C2C0 "in_wr_req/");
	expect(-1, "nvlink_c2c/in_rd_req/", C2C0 "in_rd_req/ nvidia_nvlink_c2c_pmu_1/in_rd_req/");
	expect(-1, "nvlink_c2c/in_rd_req,gpu_mask=2/", C2C0 "in_rd_req,gpu_mask=0x2/");
	expect(-1, "nvlink_c2c/event=4/", C2C0 "event=0x4/");
	expect(-1, "{nvlink_c2c/in_rd_req/,nvlink_c2c/in_wr_req/}",
	       C2C0 "in_rd_req/:1 " C2C0 "in_wr_req/:1");
	/* nvidia_ucf_pmu_7 is damaged */
	expect(-1, "ucf/cycles/", BOTH("cycles"));
	expect(-1, "nvidia_*/mem_bytes_rd/", BOTH("mem_bytes_rd"));
}

static void groups_are_sets(void **state)
{
	struct want_list list = { .last_set = 6 };
	struct diag d = { 0 };

	(void)state;
	expect(-1, "{ucf/mem_bytes_rd/,ucf/cycles/}",
	       UCF0 "mem_bytes_rd/:1 " UCF0 "cycles/:1 " UCF1 "mem_bytes_rd/:2 " UCF1 "cycles/:2");
	expect(-1,
	       "{ ucf0/mem_bytes_rd/ , nvidia_ucf_pmu_0/cycles/ }:D,ucf1/cycles/,{ucf1/slc_wb/}",
	       UCF0 "mem_bytes_rd/:1 " UCF0 "cycles/:1 " UCF1 "cycles/ " UCF1 "slc_wb/:2");
	/* names alone go where the others are */
	expect(-1, "{cycles,mem_bytes_rd}",
	       UCF0 "cycles/:1 " UCF0 "mem_bytes_rd/:1 " UCF1 "cycles/:2 " UCF1 "mem_bytes_rd/:2");
	expect(-1, "{cycles,ucf1/mem_bytes_rd/}", UCF1 "cycles/:1 " UCF1 "mem_bytes_rd/:1");
	expect(-1, "{instructions,page-faults},r11", "instructions:1 page-faults:1 r11");
	/* numbers go on where the list is */
	assert_int_equal(event_spec_add(&fs, &pmus, 0, "{ucf/cycles/}", &d, &list), 0);
	assert_int_equal(event_spec_add(&fs, &pmus, 0, "{ucf/cycles/}", &d, &list), 0);
	assert_int_equal(list.nr, 2);
	assert_int_equal(list.wants[0].set, 7);
	assert_int_equal(list.wants[1].set, 8);
	assert_int_equal(list.last_set, 8);
	want_list_free(&list);
}

static void cores_and_the_kernel(void **state)
{
	static const struct {
		const char *text;
		const char *name;
		uint32_t type; /* 10: that of the cores' PMU */
		uint64_t config;
	} rows[] = {
		{ "INST_RETIRED", "inst_retired", 32, 8 },
		{ "inst-retired", "inst_retired", 32, 8 },
		{ "r11", "r11", 32, 0x11 },
		{ "instructions", "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
		{ "page-faults", "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
		{ "page-faults:D", "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
		{ "armv8_pmuv3_0/l2d_cache_wb/", "l2d_cache_wb", 32, 0x18 },
		{ "armv8_pmuv3_0/r11/", "r11", 32, 0x11 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct want_list list = { 0 };
		struct diag d = { 0 };

		/* the cores are not a matter of sockets */
		assert_int_equal(event_spec_add(&fs, &pmus, 1, rows[i].text, &d, &list), 0);
		assert_int_equal(list.nr, 1);
		assert_null(list.wants[0].pmu);
		assert_string_equal(list.wants[0].name, rows[i].name);
		assert_string_equal(list.wants[0].event, rows[i].name);
		assert_string_equal(list.wants[0].filters, "");
		assert_int_equal(list.wants[0].type, rows[i].type);
		assert_int_equal(list.wants[0].config.config, rows[i].config);
		assert_true(list.wants[0].asked);
		want_list_free(&list);
	}
}

/* The rest of the text from the caret on, and words that must be in the message and in the help. */
struct bad {
	const char *text;
	const char *from;
	int err;
	const char *what;
	const char *help;
	int32_t socket;
};

static const struct bad bad_texts[] = {
	/* the text */
	{ "", "", -EINVAL, "an event is expected", "", -1 },
	{ "  ", "", -EINVAL, "an event is expected", "", -1 },
	{ ",", ",", -EINVAL, "an event is expected", "", -1 },
	{ "ucf/cycles/,", "", -EINVAL, "an event is expected", "", -1 },
	{ "ucf/cycles/,,x", ",x", -EINVAL, "an event is expected", "", -1 },
	{ "/cycles/", "/cycles/", -EINVAL, "the name of a PMU is missing", "", -1 },
	{ "ucf/cycles", "", -EINVAL, "the second / is missing", "", -1 },
	{ "ucf/", "", -EINVAL, "the second / is missing", "", -1 },
	{ "ucf/cycles,", "", -EINVAL, "the second / is missing", "", -1 },
	{ "ucf/cycles,/", "/", -EINVAL, "name of an event or filter is missing", "", -1 },
	{ "ucf/,cycles/", ",cycles/", -EINVAL, "name of an event or filter is missing", "", -1 },
	{ "ucf/=1/", "=1/", -EINVAL, "name of an event or filter is missing", "", -1 },
	{ "ucf/cyc*/", "*/", -EINVAL, "a comma or / is expected", "", -1 },
	{ "ucf/$/", "$/", -EINVAL, "cannot be in the name", "", -1 },
	{ "ucf/cycles src_rem/", "src_rem/", -EINVAL, "a comma or / is expected", "", -1 },
	{ "ucf/cycles,src_rem=/", "/", -EINVAL, "a number is expected", "", -1 },
	{ "ucf/cycles,src_rem==1/", "=1/", -EINVAL, "a number is expected", "", -1 },
	{ "ucf/cycles,src_rem=+1/", "+1/", -EINVAL, "a number is expected", "", -1 },
	{ "ucf/cycles/x/", "/", -EINVAL, "a comma is expected", "", -1 },
	{ "ucf/cycles/ucf/cycles/", "/cycles/", -EINVAL, "a comma is expected", "", -1 },
	{ "ucf/cycles/:", "", -EINVAL, "a modifier, which is a letter", "", -1 },
	{ "ucf/cycles/3", "3", -EINVAL, "a modifier, which is a letter", "", -1 },
	{ "cycles,src_rem=1", "=1", -EINVAL, "between slashes", "", -1 },
	{ "ucf\001/cycles/", "\001/cycles/", -EINVAL, "a comma is expected", "", -1 },
	{ "\303\274cf/cycles/", "\303\274cf/cycles/", -EINVAL, "cannot be in the name", "", -1 },
	{ "sched:sched_switch:x", "_switch:x", -EINVAL, "a comma is expected", "", -1 },
	{ "ucf/a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q/", "q/", -EINVAL, "too many terms", "", -1 },
	/* groups */
	{ "{", "", -EINVAL, "an event is expected", "", -1 },
	{ "{}", "}", -EINVAL, "an event is expected", "", -1 },
	{ "{ucf/cycles/", "", -EINVAL, "the closing } of the group is missing", "", -1 },
	{ "{ucf/cycles/,}", "}", -EINVAL, "an event is expected", "", -1 },
	{ "{ucf/cycles/,{cycles}}", "{cycles}}", -EINVAL, "inside another", "", -1 },
	{ "ucf/cycles/}", "}", -EINVAL, "there is no { for this }", "", -1 },
	{ "{cycles}}", "}", -EINVAL, "there is no { for this }", "", -1 },
	{ "{cycles}cycles", "cycles", -EINVAL, "a comma is expected", "", -1 },
	{ "{ucf0/cycles/,ucf1/cycles/}", "ucf1/cycles/}", -EINVAL,
	  "a group is on one PMU: nvidia_ucf_pmu_1 is not nvidia_ucf_pmu_0", "group of its own",
	  -1 },
	{ "{ucf/cycles/,pcie/cycles/}", "pcie/cycles/}", -EINVAL, "a group is on one PMU",
	  "group of its own", -1 },
	{ "{ucf0/cycles/,page-faults}", "page-faults}", -EINVAL, "events of the cores",
	  "group of its own", -1 },
	{ "{page-faults,ucf0/cycles/}", "ucf0/cycles/}", -EINVAL, "events of the cores",
	  "group of its own", -1 },
	{ "{ucf0/cycles/,rd_bytes}", "rd_bytes}", -ENOENT,
	  "nvidia_ucf_pmu_0 has no event \"rd_bytes\"", "mem_bytes_rd", -1 },
	/* modifiers */
	{ "ucf/cycles/u", "u", -EINVAL, "cannot leave out user, kernel", "leave it out", -1 },
	{ "ucf/cycles/:Dk", "k", -EINVAL, "cannot leave out user, kernel", "leave it out", -1 },
	{ "cycles:G", "G", -EINVAL, "cannot leave out user, kernel", "leave it out", -1 },
	{ "{ucf/cycles/}:H", "H", -EINVAL, "cannot leave out user, kernel", "leave it out", -1 },
	{ "instructions:u", "u", -EINVAL, "counted together", "leave it out", -1 },
	{ "ucf/cycles/pp", "pp", -EINVAL, "nothing is sampled", "leave it out", -1 },
	{ "ucf/cycles/e", "e", -EINVAL, "no other user", "leave it out", -1 },
	{ "{ucf/cycles/}:W", "W", -EINVAL, "stays a group", "leave it out", -1 },
	{ "ucf/cycles/b", "b", -EINVAL, "how perf reads", "leave it out", -1 },
	{ "ucf/cycles/:z", "z", -EINVAL, "perf has no such modifier", "leave it out", -1 },
	/* PMUs */
	{ "ufc/cycles/", "ufc/cycles/", -ENOENT, "there is no PMU \"ufc\"",
	  "did you mean \"ucf\"? ", -1 },
	{ "nvidia_ucf_pm_0/cycles/", "nvidia_ucf_pm_0/cycles/", -ENOENT, "there is no PMU",
	  "did you mean \"nvidia_ucf_pmu_0\"? ", -1 },
	{ "ucf0/cycles/,xyz*/cycles/", "xyz*/cycles/", -ENOENT, "there is no PMU \"xyz*\"", "ucf",
	  -1 },
	{ "ucf9/cycles/", "ucf9/cycles/", -ENOENT, "there is no PMU", "did you mean \"ucf", -1 },
	{ "kprobe/cycles/", "kprobe/cycles/", -ENOENT, "kprobe is neither a known uncore PMU",
	  "perf stat", -1 },
	{ "../cycles/", "../cycles/", -ENOENT, "there is no PMU \"..\"", "ucf", -1 },
	{ "ucf/cycles/", "ucf/cycles/", -ENOENT, "\"ucf\" belongs to socket 5",
	  "nvidia_ucf_pmu_0, nvidia_ucf_pmu_1", 5 },
	{ "slc_wb,ucf1/cycles/", "ucf1/cycles/", -ENOENT, "\"ucf1\" belongs to socket 0",
	  "nvidia_ucf_pmu_1", 0 },
	{ "mem_bytes_rd", "mem_bytes_rd", -ENOENT, "\"mem_bytes_rd\" belongs to socket 5", "", 5 },
	{ "ucf7/cycles/", "ucf7/cycles/", -EINVAL, "nvidia_ucf_pmu_7 cannot be counted",
	  "type: missing", -1 },
	/* events and filters */
	{ "ucf", "ucf", -EINVAL, "\"ucf\" is a PMU", "write ucf/EVENT/; it has bus_cycles", -1 },
	{ "mem_byte_rd", "mem_byte_rd", -ENOENT, "there is no event \"mem_byte_rd\"",
	  "did you mean \"mem_bytes_rd\"? ", -1 },
	{ "page-fault", "page-fault", -ENOENT, "there is no event",
	  "did you mean \"page-faults\"? ", -1 },
	{ "inst_retire", "inst_retire", -ENOENT, "there is no event",
	  "did you mean \"inst_retired\"? ", -1 },
	{ "auto", "auto", -ENOENT, "there is no event \"auto\"", "", -1 },
	{ "damaged", "damaged", -EINVAL, "events/damaged", "", -1 },
	{ "armv8_pmuv3_0/inst_retire/", "inst_retire/", -ENOENT, "armv8_pmuv3_0 has no such event",
	  "did you mean \"inst_retired\"? ", -1 },
	{ "armv8_pmuv3_0//", "/", -EINVAL, "only the name of an event", "armv8_pmuv3_0/r11/", -1 },
	{ "armv8_pmuv3_0/r1,r2/", "r2/", -EINVAL, "only the name of an event", "", -1 },
	{ "armv8_pmuv3_0/event=1/", "event=1/", -EINVAL, "only the name of an event", "", -1 },
	{ "ucf0//", "/", -EINVAL, "which event of nvidia_ucf_pmu_0?", "bus_cycles, cycles", -1 },
	{ "ucf0/src_rem=1/", "src_rem=1/", -EINVAL, "which event", "mem_bytes_rd", -1 },
	{ "ucf0/src_rem,mem_bytes/", "mem_bytes/", -ENOENT,
	  "nvidia_ucf_pmu_0 has no event or filter \"mem_bytes\"",
	  "did you mean \"mem_bytes_rd\"? ", -1 },
	{ "ucf/mem_bytes_rd,src_cpu/", "src_cpu/", -ENOENT, "no event or filter \"src_cpu\"",
	  "src_loc_cpu", -1 },
	{ "ucf/mem_bytes_rd,src_loc_cpus=1/", "src_loc_cpus=1/", -ENOENT,
	  "no filter \"src_loc_cpus\"",
	  "did you mean \"src_loc_cpu\"? filters of nvidia_ucf_pmu_0 are: src_loc_cpu", -1 },
	{ "ucf/mem_bytes_rd,mem_bytes_wr/", "mem_bytes_wr/", -EINVAL, "a second event", "slashes",
	  -1 },
	{ "ucf/mem_bytes_rd=1/", "mem_bytes_rd=1/", -EINVAL, "takes no value", "", -1 },
	{ "ucf/mem_bytes_rd,event=1/", "event=1/", -EINVAL, "already set", "", -1 },
	{ "ucf/event/", "/", -EINVAL, "the number of the event is missing", "", -1 },
	{ "ucf/cycles,src_rem,src_rem=1/", "src_rem=1/", -EINVAL, "already set", "once", -1 },
	{ "ucf/cycles,src_rem=x/", "x/", -EINVAL, "not a number", "hexadecimal", -1 },
	{ "ucf/cycles,src_rem=-1/", "-1/", -EINVAL, "not a number", "hexadecimal", -1 },
	{ "ucf/cycles,src_rem=0x/", "0x/", -EINVAL, "not a number", "hexadecimal", -1 },
	{ "ucf/cycles,src_rem=2/", "2/", -ERANGE, "does not fit", "0 to 0x1 fit", -1 },
	{ "ucf/0x200000000/", "0x200000000/", -ERANGE, "does not fit", "0 to 0x1ffffffff fit", -1 },
	{ "ucf/event=18446744073709551616/", "18446744073709551616/", -ERANGE, "64 bits", "", -1 },
	{ "ucf/0x10000000000000000/", "0x10000000000000000/", -ERANGE, "64 bits", "", -1 },
	{ "ucf/12ab/", "12ab/", -EINVAL, "not a number", "", -1 },
	{ "ucf/config=0x200000000/", "0x200000000/", -EINVAL,
	  "no field of nvidia_ucf_pmu_0 has bits 0x200000000 of config", "format", -1 },
	{ "ucf/cycles,config1=0x8/", "0x8/", -EINVAL, "bits 0x8 of config1", "", -1 },
	{ "ucf/cycles,config3=1/", "1/", -EINVAL, "bits 0x1 of config3", "", -1 },
	{ "ucf/cycles,config4=1/", "config4=1/", -ENOENT, "no filter \"config4\"", "", -1 },
	{ "ucf/cycles,config=1/", "config=1/", -EINVAL, "already set", "", -1 },
	{ "nvlink_c2c1/in_wr_req/", "in_wr_req/", -ENOENT, "no event or filter \"in_wr_req\"",
	  "did you mean", -1 },
	/* rules: the term at fault */
	{ "pcie_tgt/rd_req,dst_addr_en/", "dst_addr_en/", -EINVAL, "base 0 and mask 0", "leave",
	  -1 },
	{ "pcie_tgt/rd_req,dst_addr_base=4096/", "dst_addr_base=4096/", -EINVAL,
	  "without dst_addr_en", "dst_addr_en=1", -1 },
	{ "pcie_tgt/dst_addr_en,dst_addr_base=1,cycles/", "dst_addr_en,dst_addr_base=1,cycles/",
	  -EINVAL, "on cycles", "without a window", -1 },
	{ "pcie_tgt/config=0x804,config1=1/", "config=0x804,config1=1/", -EINVAL, "on cycles", "",
	  -1 },
	{ "pcie/rd_req,src_bdf=1/", "src_bdf=1/", -EINVAL, "without src_bdf_en", "src_bdf_en=1",
	  -1 },
	{ "pcie/rd_req,src_bdf_en,src_rp_mask=1/", "src_rp_mask=1/", -EINVAL, "together with",
	  "not both", -1 },
	{ "nvlink_c2c/event=9/", "event=9/", -ENOENT, "not among its events",
	  "lists: cycles, in_rd", -1 },
	{ "cmem_latency/rd_req,src_rem=1/", "src_rem=1/", -ENOENT, "no filter \"src_rem\"",
	  "it takes no filters", -1 },
	{ "nvlink_c2c1/4/", "4/", -ENOENT, "not among its events", "lists", -1 },
};

static void check_bad(const struct pmu_list *list, const struct bad *row)
{
	struct want before = { .name = "before" };
	struct want_list wants = { &before, 1, 1, 3 };
	char line[sizeof(((struct diag *)0)->what)];
	struct diag d = { 0 };
	size_t at = 9999;
	int err;

	err = event_spec_add(&fs, list, row->socket, row->text, &d, &wants);
	if (err != row->err)
		fail_msg("%s: %d: %s", row->text, err, d.what);
	if (!caret_read(&d, line, &at) || strlen(row->text) != strlen(line) ||
	    at != strlen(row->text) - strlen(row->from) || strcmp(row->text + at, row->from))
		fail_msg("%s: %zu: %s", row->text, at, d.what);
	if (!strstr(d.what, row->what) || strstr(d.what, row->what) > strchr(d.what, '\n'))
		fail_msg("%s: %s", row->text, d.what);
	if (!strstr(d.help, row->help))
		fail_msg("%s: %s", row->text, d.help);
	for (const char *c = d.what; *c; c++)
		assert_true(*c == '\n' || (*c >= ' ' && *c <= '~'));
	/* nothing was touched, and nobody has to listen */
	assert_ptr_equal(wants.wants, &before);
	assert_int_equal(wants.nr, 1);
	assert_int_equal(wants.last_set, 3);
	assert_string_equal(before.name, "before");
	assert_int_equal(event_spec_add(&fs, list, row->socket, row->text, NULL, &wants), row->err);
}

static void problems_are_pointed_at(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad_texts); i++)
		check_bad(&pmus, &bad_texts[i]);
}

static void machines_without(void **state)
{
	static const struct bad rows[] = {
		{ "ucf/cycles/", "ucf/cycles/", -ENOENT, "there is no PMU \"ucf\"", "check", -1 },
		{ "cycles", "cycles", -ENOENT, "there is no event", "", -1 },
		{ "page-faults,instructions", "instructions", -ENODEV, "have no PMU", "page-faults",
		  -1 },
		{ "r11", "r11", -ENODEV, "have no PMU", "page-faults", -1 },
	};
	struct want_list list = { 0 };
	struct pmu_list none = { 0 };
	struct tree empty;
	struct diag d = { 0 };
	struct sysfs full = fs;

	(void)state;
	tree_make(&empty);
	assert_int_equal(sysfs_open(empty.root, &d, &fs), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_bad(&none, &rows[i]);
	assert_int_equal(event_spec_add(&fs, &none, 0, "page-faults", &d, &list), 0);
	assert_int_equal(list.nr, 1);
	want_list_free(&list);
	sysfs_close(&fs);
	tree_remove(&empty);
	fs = full;
}

/* Of a long text only the surroundings of the place are shown. */
static void long_texts_are_cut(void **state)
{
	char text[4096] = "", line[sizeof(((struct diag *)0)->what)];

	(void)state;
	for (size_t i = 0; i < 60; i++) {
		struct want_list list = { 0 };
		struct diag d = { 0 };
		size_t at;

		text[0] = '\0';
		for (size_t k = 0; k < 60; k++)
			str_append(text, sizeof(text), "%sucf/%s/", k ? "," : "",
				   k == i ? "wrong" : "cycles");
		assert_int_equal(event_spec_add(&fs, &pmus, -1, text, &d, &list), -ENOENT);
		assert_true(caret_read(&d, line, &at));
		assert_memory_equal(line + at, "wrong/", 6);
		assert_true(strlen(line) < 80);
		assert_int_equal(!strncmp(line, "...", 3), i > 2);
		assert_int_equal(!strcmp(line + strlen(line) - 3, "..."), i < 57);
	}
	/* names and numbers without an end */
	memset(text, 'a', sizeof(text) - 1);
	for (size_t i = 0; i < 4; i++) {
		struct want_list list = { 0 };
		struct diag d = { 0 };
		size_t at;

		memcpy(text, i == 1 ? "ucf/" : i == 2 ? "ucf/cycles,src_rem=1" : "aaaa", 4);
		if (i)
			text[sizeof(text) - 2] = '/';
		if (i == 2)
			memcpy(text, "ucf/cycles,src_rem=1", 20);
		assert_true(event_spec_add(&fs, &pmus, -1, text, &d, &list) < 0);
		assert_true(caret_read(&d, line, &at));
		assert_int_equal(list.nr, 0);
	}
}

/* Change a few letters: take some out, put others in, repeat a part. */
static void mutate(struct draw *draw, char *text, size_t size)
{
	static const char letters[] = "/,{}:=*?.0123456789abcdefrxucsDuk_- \t\n\001\377%";

	for (uint64_t n = 1 + draw_below(draw, 4); n; n--) {
		size_t length = strlen(text), at = draw_below(draw, length + 1);
		size_t some = 1 + draw_below(draw, 6);

		switch (draw_below(draw, 3)) {
		case 0: /* out */
			if (some > length - at)
				some = length - at;
			memmove(text + at, text + at + some, length - at - some + 1);
			break;
		case 1: /* another letter */
			if (at < length)
				text[at] = letters[draw_below(draw, sizeof(letters) - 1)];
			break;
		default: /* what is there once more, with a letter in between */
			if (length + some + 1 >= size || some > length - at)
				break;
			memmove(text + at + some, text + at, length - at + 1);
			text[at] = letters[draw_below(draw, sizeof(letters) - 1)];
			break;
		}
	}
}

static void mutations_do_no_harm(void **state)
{
	static const char *const good[] = {
		"nvidia_ucf_pmu_0/mem_bytes_rd,src_loc_cpu=1/,{ucf/cycles/,ucf/0x111/}",
		"{pcie0.rc1/rd_bytes,src_bdf=0x8100,src_bdf_en=1/,pcie0.rc1/cycles/}:D",
		"pcie_tgt/wr_bytes,dst_addr_en,dst_addr_base=0x1000,dst_addr_mask=0xfffff000/",
		"ucf*/config=0x100000000,config1=0xf07/,instructions,page-faults,r11",
		"nvidia_nvlink_c2c_pmu_?/in_rd_req,gpu_mask=3/,{cycles,mem_bytes_rd}",
	};
	struct draw draw = { .state = 20260711 };
	size_t understood = 0;

	(void)state;
	for (size_t i = 0; i < under_valgrind(2000, 30000); i++) {
		char text[256], line[sizeof(((struct diag *)0)->what)];
		struct want_list list = { 0 };
		struct diag d = { 0 };
		size_t at;
		int err;

		str_copy(text, sizeof(text), good[i % ARRAY_SIZE(good)]);
		mutate(&draw, text, sizeof(text));
		err = event_spec_add(&fs, &pmus, (int32_t)draw_below(&draw, 3) - 1, text, &d,
				     &list);
		if (!err) {
			understood++;
			assert_true(list.nr > 0);
			assert_string_equal(d.what, "");
		} else {
			assert_int_equal(list.nr, 0);
			if (!caret_read(&d, line, &at))
				fail_msg("%s: %s", text, d.what);
			for (const char *c = d.what; *c; c++)
				assert_true(*c == '\n' || (*c >= ' ' && *c <= '~'));
		}
		want_list_free(&list);
	}
	/* both kinds were tried */
	assert_in_range(understood, under_valgrind(20, 300), under_valgrind(1950, 29000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pmus_have_many_names),
		cmocka_unit_test(names_on_grace),
		cmocka_unit_test(events_are_understood),
		cmocka_unit_test(configurations_are_encoded),
		cmocka_unit_test(only_some_can),
		cmocka_unit_test(groups_are_sets),
		cmocka_unit_test(cores_and_the_kernel),
		cmocka_unit_test(problems_are_pointed_at),
		cmocka_unit_test(machines_without),
		cmocka_unit_test(long_texts_are_cut),
		cmocka_unit_test(mutations_do_no_harm),
	};

	return cmocka_run_group_tests(tests, make_machine, free_machine);
}
