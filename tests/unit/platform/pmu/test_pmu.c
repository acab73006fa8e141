// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "base/array.h"
#include "platform/pmu/pmu.h"
#include "tables/counter_rows.h"
#include "tree.h"

#define DEVICES PMU_DEVICES "/"
#define UCF	DEVICES "nvidia_ucf_pmu_0/"

/* One trip through discovery of what is in @tree. */
static void read_tree(const struct tree *tree, struct pmu_list *list)
{
	struct diag d = { 0 };
	struct sysfs fs;

	assert_int_equal(sysfs_open(tree->root, &d, &fs), 0);
	assert_int_equal(pmu_list_read(&fs, &d, list), 0);
	sysfs_close(&fs);
}

/* A healthy PMU with one event and no filter. */
static void put_pmu(const struct tree *tree, const char *name)
{
	static const char *const files[][2] = {
		{ "type", "40\n" },
		{ "associated_cpus", "0-3\n" },
		{ "cpumask", "0\n" },
		{ "identifier", "2cf2036b\n" },
		{ "events/a", "event=0x1\n" },
		{ "format/event", "config:0-32\n" },
		{ "perf_event_mux_interval_ms", "4\n" },
	};
	char path[256];

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), DEVICES "%s/%s", name, files[i][0]);
		tree_put(tree, path, files[i][1]);
	}
}

static void test_families(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_pmu_families; i++) {
		const struct pmu_family *family = &pmu_families[i];

		assert_int_equal(family->kind, i);
		assert_non_null(family->short_name);
		assert_non_null(family->title);
		assert_non_null(family->source);
		for (size_t j = 0; j < i; j++) {
			const struct pmu_family *other = &pmu_families[j];

			/* The CPU tells those apart that have the same names. */
			if (family->by_cpu && other->by_cpu && family->platform != other->platform)
				continue;
			assert_string_not_equal(family->short_name, other->short_name);
			assert_string_not_equal(family->pattern, other->pattern);
		}
	}
}

static void test_t410(void **state)
{
	static const size_t expected[NR_PMU_KINDS] = { 2, 12, 12, 2, 2, 2, 2 };
	size_t count[NR_PMU_KINDS] = { 0 };
	const struct pmu *pmu;
	struct pmu_list list;
	struct tree tree;

	(void)state;
	tree_make_t410(&tree);
	read_tree(&tree, &list);
	tree_remove(&tree);
	assert_int_equal(list.nr, 34);
	for (size_t i = 0; i < list.nr; i++) {
		pmu = &list.pmus[i];
		count[pmu->kind]++;
		assert_string_equal(pmu->problem, "");
		assert_true(pmu->usable);
		assert_int_equal(pmu->platform, PMU_PLATFORM_T410);
		assert_string_equal(pmu->identifier, pmu->family->identifier);
		assert_int_equal(pmu->active_cpu, pmu->socket * 2);
		assert_int_equal(cpulist_count(&pmu->cpus), 2);
		assert_true(cpulist_contains(&pmu->cpus, pmu->active_cpu));
		assert_int_equal(pmu->mux_interval_ms, 4);
		assert_true(pmu_find(&list, pmu->kind, pmu->socket, pmu->rc) == pmu);
	}
	assert_memory_equal(count, expected, sizeof(count));

	pmu = pmu_find(&list, PMU_PCIE_TGT, 1, 5);
	assert_non_null(pmu);
	assert_string_equal(pmu->name, "nvidia_pcie_tgt_pmu_1_rc_5");
	assert_int_equal(pmu->nr_events, 5);
	assert_int_equal(pmu->nr_formats, 5);
	assert_null(pmu_find(&list, PMU_PCIE_TGT, 1, 6));
	assert_null(pmu_find(&list, PMU_PCIE_TGT, 1, -1));
	assert_null(pmu_find(&list, PMU_UCF, 2, -1));
	assert_string_equal(pmu_find(&list, PMU_NVLINK_C2C, 0, -1)->peer, "nr_gpu=2");
	assert_int_equal(pmu_find(&list, PMU_UCF, 0, -1)->nr_events, 20);
	pmu_list_free(&list);
	pmu_list_free(&list);
	pmu_list_free(NULL);
}

/* A term list of a vector ends with an empty name. */
struct vector {
	enum pmu_kind kind;
	const char *event;
	struct pmu_term terms[4];
	struct pmu_config config;
};

static void check_vectors(const struct pmu_list *list, const struct vector *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct vector *row = &rows[i];
		int32_t rc = row->kind == PMU_PCIE || row->kind == PMU_PCIE_TGT ? 0 : -1;
		const struct pmu *pmu = pmu_find(list, row->kind, 0, rc);
		struct pmu_config config = { 0 };
		struct diag d = { 0 };
		size_t terms = 0;

		assert_non_null(pmu);
		while (row->terms[terms].name[0])
			terms++;
		assert_int_equal(pmu_encode(pmu, row->event, row->terms, terms, &d, &config), 0);
		assert_int_equal(config.config, row->config.config);
		assert_int_equal(config.config1, row->config.config1);
		assert_int_equal(config.config2, row->config.config2);
		assert_int_equal(config.config3, row->config.config3);
		assert_string_equal(d.what, "");
	}
}

/* Facts about the hardware, by the bits that its driver reads. */
static const struct vector t410_vectors[] = {
	{ PMU_UCF,
	  NULL,
	  { { "event", 0 }, { "src_loc_cpu", 1 }, { "dst_loc_cmem", 1 } },
	  { 0, 0x102, 0, 0 } },
	{ PMU_UCF,
	  NULL,
	  { { "event", 0 }, { "src_loc_noncpu", 1 }, { "dst_rem", 1 } },
	  { 0, 0x801, 0, 0 } },
	{ PMU_UCF,
	  "mem_bytes_rd",
	  { { "src_loc_cpu", 1 }, { "dst_rem", 1 } },
	  { 0x123, 0x802, 0, 0 } },
	{ PMU_UCF, "mem_bytes_wr", { { "src_rem", 1 } }, { 0x124, 0x4, 0, 0 } },
	{ PMU_UCF, "cycles", { { "", 0 } }, { 0x100000000, 0, 0, 0 } },
	{ PMU_PCIE, "cycles", { { "", 0 } }, { 0x100000000, 0, 0, 0 } },
	{ PMU_PCIE, NULL, { { "event", 0 }, { "src_rp_mask", 1 } }, { 0, 0x1, 0, 0 } },
	{ PMU_PCIE,
	  "wr_bytes",
	  { { "src_rp_mask", 3 }, { "dst_loc_cmem", 1 } },
	  { 1, 0x3, 0x1, 0 } },
	{ PMU_PCIE,
	  NULL,
	  { { "event", 3 }, { "src_rp_mask", 3 }, { "dst_loc_cmem", 1 } },
	  { 3, 0x3, 0x1, 0 } },
	{ PMU_PCIE,
	  "rd_cum_outs",
	  { { "src_bdf", 0x108 }, { "src_bdf_en", 1 } },
	  { 4, 0x1010800, 0, 0 } },
	{ PMU_PCIE,
	  "rd_cum_outs",
	  { { "src_bdf", 0x180 }, { "src_bdf_en", 1 } },
	  { 4, 0x1018000, 0, 0 } },
	{ PMU_PCIE,
	  "rd_bytes",
	  { { "src_bdf", 0x2709 }, { "src_bdf_en", 1 } },
	  { 0, 0x1270900, 0, 0 } },
	{ PMU_PCIE, "rd_bytes", { { "src_bdf", 0 }, { "src_bdf_en", 1 } }, { 0, 0x1000000, 0, 0 } },
	{ PMU_PCIE,
	  "rd_bytes",
	  { { "src_bdf", 0xffff }, { "src_rp_mask", 0xff } },
	  { 0, 0xffffff, 0, 0 } },
	{ PMU_PCIE_TGT, "rd_bytes", { { "dst_rp_mask", 3 } }, { 0x18, 0, 0, 0 } },
	{ PMU_PCIE_TGT,
	  "wr_bytes",
	  { { "dst_addr_base", 0x10000 }, { "dst_addr_mask", 0xfff00 }, { "dst_addr_en", 1 } },
	  { 0x801, 0x10000, 0xfff00, 0 } },
	{ PMU_PCIE_TGT,
	  "wr_bytes",
	  { { "dst_addr_base", UINT64_MAX }, { "dst_addr_en", 1 } },
	  { 0x801, UINT64_MAX, 0, 0 } },
	{ PMU_PCIE_TGT, "cycles", { { "", 0 } }, { 0x4, 0, 0, 0 } },
	{ PMU_CMEM_LATENCY, "rd_req", { { "", 0 } }, { 1, 0, 0, 0 } },
	{ PMU_CMEM_LATENCY, "rd_cum_outs", { { "", 0 } }, { 2, 0, 0, 0 } },
	{ PMU_CMEM_LATENCY, "cycles", { { "", 0 } }, { 0, 0, 0, 0 } },
	{ PMU_NVLINK_C2C, "in_rd_cum_outs", { { "gpu_mask", 1 } }, { 1, 1, 0, 0 } },
	{ PMU_NVLINK_C2C, "in_rd_cum_outs", { { "gpu_mask", 2 } }, { 1, 2, 0, 0 } },
	{ PMU_NVLINK_C2C, "out_rd_req", { { "", 0 } }, { 6, 0, 0, 0 } },
	{ PMU_NVLINK_C2C, "out_rd_cum_outs", { { "gpu_mask", 2 } }, { 5, 2, 0, 0 } },
	{ PMU_NVCLINK, "in_rd_req", { { "", 0 } }, { 2, 0, 0, 0 } },
	{ PMU_NVCLINK, "out_rd_req", { { "", 0 } }, { 6, 0, 0, 0 } },
	{ PMU_NVDLINK, "in_rd_req", { { "", 0 } }, { 2, 0, 0, 0 } },
};

static void test_encode_t410(void **state)
{
	struct pmu_list list;
	struct tree tree;

	(void)state;
	tree_make_t410(&tree);
	read_tree(&tree, &list);
	tree_remove(&tree);
	check_vectors(&list, t410_vectors, ARRAY_SIZE(t410_vectors));
	pmu_list_free(&list);
}

static void test_encode_grace(void **state)
{
	static const char *const files[][2] = {
		{ "nvidia_pcie_pmu_0/events/rd_bytes_loc", "event=0x0\n" },
		{ "nvidia_pcie_pmu_0/events/rd_bytes_rem", "event=0x1\n" },
		{ "nvidia_pcie_pmu_0/format/root_port", "config1:0-9\n" },
		{ "nvidia_nvlink_c2c0_pmu_0/format/port", "config1:0-1\n" },
		{ "nvidia_cnvlink_pmu_0/format/rem_socket", "config1:0-3\n" },
		{ "nvidia_scf_pmu_0/events/cmem_wr_total_bytes", "event=0x1db\n" },
		{ "nvidia_scf_pmu_0/events/socket_3_wr_access", "event=0x13c\n" },
	};
	static const char *const names[] = { "nvidia_pcie_pmu_0", "nvidia_nvlink_c2c0_pmu_0",
					     "nvidia_nvlink_c2c1_pmu_0", "nvidia_cnvlink_pmu_0",
					     "nvidia_scf_pmu_0" };
	static const struct vector rows[] = {
		{ PMU_GRACE_PCIE, "rd_bytes_loc", { { "root_port", 0x100 } }, { 0, 0x100, 0, 0 } },
		{ PMU_GRACE_PCIE, "rd_bytes_rem", { { "root_port", 4 } }, { 1, 4, 0, 0 } },
		{ PMU_GRACE_NVLINK_C2C0, NULL, { { "event", 0 }, { "port", 1 } }, { 0, 1, 0, 0 } },
		{ PMU_GRACE_CNVLINK,
		  NULL,
		  { { "event", 0 }, { "rem_socket", 0xe } },
		  { 0, 0xe, 0, 0 } },
		{ PMU_GRACE_SCF, "cmem_wr_total_bytes", { { "", 0 } }, { 0x1db, 0, 0, 0 } },
		{ PMU_GRACE_SCF, "socket_3_wr_access", { { "", 0 } }, { 0x13c, 0, 0, 0 } },
	};
	struct pmu_list list;
	struct tree tree;
	char path[256];

	(void)state;
	tree_make(&tree);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		put_pmu(&tree, names[i]);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), DEVICES "%s", files[i][0]);
		tree_put(&tree, path, files[i][1]);
	}
	read_tree(&tree, &list);
	tree_remove(&tree);
	assert_int_equal(list.nr, ARRAY_SIZE(names));
	for (size_t i = 0; i < list.nr; i++) {
		assert_int_equal(list.pmus[i].platform, PMU_PLATFORM_GRACE);
		assert_int_equal(list.pmus[i].rc, -1);
	}
	check_vectors(&list, rows, ARRAY_SIZE(rows));
	pmu_list_free(&list);
}

static const struct {
	enum pmu_kind kind;
	const char *event;
	struct pmu_term terms[2];
	int err;
	const char *what;
	const char *help;
} refusals[] = {
	{ PMU_UCF,
	  "mem_bytes",
	  { { "", 0 } },
	  -ENOENT,
	  "no event \"mem_bytes\"",
	  "mem_bytes_rd, mem_bytes_wr" },
	{ PMU_UCF, "", { { "", 0 } }, -ENOENT, "no event", "bus_cycles" },
	{ PMU_UCF, NULL, { { "", 0 } }, -EINVAL, "no event", "" },
	{ PMU_UCF,
	  "cycles",
	  { { "src_cpu", 1 } },
	  -ENOENT,
	  "no filter \"src_cpu\"",
	  "src_loc_cpu" },
	{ PMU_UCF,
	  "cycles",
	  { { "src_loc_cpu", 2 } },
	  -ERANGE,
	  "src_loc_cpu",
	  "1 bit, so 0 to 0x1" },
	{ PMU_UCF, NULL, { { "event", 0x200000000 } }, -ERANGE, "event", "33 bits" },
	{ PMU_UCF, "mem_bytes_rd", { { "event", 0x123 } }, -EINVAL, "already set", "once" },
	{ PMU_UCF,
	  "cycles",
	  { { "dst_rem", 1 }, { "dst_rem", 1 } },
	  -EINVAL,
	  "already set",
	  "once" },
	{ PMU_UCF,
	  "cycles",
	  { { "dst_rem", 0 }, { "dst_rem", 1 } },
	  -EINVAL,
	  "already set",
	  "once" },
	{ PMU_PCIE,
	  "rd_bytes",
	  { { "src_rp_mask", 0x100 } },
	  -ERANGE,
	  "0x100 does not fit",
	  "0 to 0xff" },
	{ PMU_PCIE, "rd_bytes", { { "src_bdf", 0x10000 } }, -ERANGE, "src_bdf", "0xffff" },
	{ PMU_NVCLINK, "in_rd_req", { { "gpu_mask", 1 } }, -ENOENT, "gpu_mask", "event" },
	{ PMU_NVCLINK, "in_wr_req", { { "", 0 } }, -ENOENT, "in_wr_req", "in_rd_req" },
};

static void test_encode_refused(void **state)
{
	struct pmu_list list;
	struct tree tree;

	(void)state;
	tree_make_t410(&tree);
	read_tree(&tree, &list);
	tree_remove(&tree);
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		int32_t rc = refusals[i].kind == PMU_PCIE ? 0 : -1;
		const struct pmu *pmu = pmu_find(&list, refusals[i].kind, 0, rc);
		struct pmu_config config = { 11, 12, 13, 14 };
		struct diag d = { 0 };
		size_t nr = !!refusals[i].terms[0].name[0] + !!refusals[i].terms[1].name[0];

		assert_int_equal(
			pmu_encode(pmu, refusals[i].event, refusals[i].terms, nr, &d, &config),
			refusals[i].err);
		assert_non_null(strstr(d.what, pmu->name));
		assert_non_null(strstr(d.what, refusals[i].what));
		assert_non_null(strstr(d.help, refusals[i].help));
		assert_int_equal(config.config, 11);
		assert_int_equal(config.config1, 12);
		assert_int_equal(config.config2, 13);
		assert_int_equal(config.config3, 14);
		/* The text is optional. */
		assert_int_equal(
			pmu_encode(pmu, refusals[i].event, refusals[i].terms, nr, NULL, &config),
			refusals[i].err);
	}
	pmu_list_free(&list);
}

/* Fields in pieces: the low bits of the value go to the lowest bits of the word. */
static void test_encode_pieces(void **state)
{
	struct pmu_config config = { 0 };
	struct pmu_term term = { "split", 0xabc };
	struct tree tree;
	struct pmu_list list;

	(void)state;
	tree_make(&tree);
	put_pmu(&tree, "nvidia_ucf_pmu_0");
	tree_put(&tree, UCF "format/split", "config3:60-63,0-7\n");
	tree_put(&tree, UCF "format/over", "config:32-33\n");
	tree_put(&tree, UCF "events/two", "event=0x5,split=0xfff\n");
	tree_put(&tree, UCF "events/flag", "event=0x100000000,split\n");
	read_tree(&tree, &list);
	tree_remove(&tree);
	assert_int_equal(list.nr, 1);
	assert_string_equal(list.pmus[0].problem, "");
	assert_int_equal(pmu_encode(list.pmus, "a", &term, 1, NULL, &config), 0);
	assert_int_equal(config.config, 1);
	assert_int_equal(config.config3, 0xa0000000000000bc);
	assert_int_equal(pmu_encode(list.pmus, "two", NULL, 0, NULL, &config), 0);
	assert_int_equal(config.config, 5);
	assert_int_equal(config.config3, 0xf0000000000000ff);
	assert_int_equal(pmu_encode(list.pmus, "flag", NULL, 0, NULL, &config), 0);
	assert_int_equal(config.config, 0x100000000);
	assert_int_equal(config.config3, 1);
	assert_int_equal(pmu_encode(list.pmus, "two", &term, 1, NULL, &config), -EINVAL);
	/* Another name for bits that the event has taken. */
	strcpy(term.name, "over");
	term.value = 1;
	assert_int_equal(pmu_encode(list.pmus, "a", &term, 1, NULL, &config), -EINVAL);
	pmu_list_free(&list);
}

static void test_format_parse(void **state)
{
	static const struct {
		const char *text;
		int err;
		unsigned int word, width;
		size_t nr;
	} rows[] = {
		{ "config:0", 0, 0, 1, 1 },
		{ "config:0-63", 0, 0, 64, 1 },
		{ "config1:8-23", 0, 1, 16, 1 },
		{ "config:0-7,32-35", 0, 0, 12, 2 },
		{ "config3:63,1,5-6", 0, 3, 4, 3 },
		{ "config:0,2,4,6,8,10,12,14", 0, 0, 8, 8 },
		{ "config:0,2,4,6,8,10,12,14,16", -E2BIG, 0, 0, 0 },
		{ "", -EINVAL, 0, 0, 0 },
		{ "config", -EINVAL, 0, 0, 0 },
		{ "config:", -EINVAL, 0, 0, 0 },
		{ "config0:1", -EINVAL, 0, 0, 0 },
		{ "config4:1", -EINVAL, 0, 0, 0 },
		{ "config12:1", -EINVAL, 0, 0, 0 },
		{ "conf:1", -EINVAL, 0, 0, 0 },
		{ "config:64", -EINVAL, 0, 0, 0 },
		{ "config:7-0", -EINVAL, 0, 0, 0 },
		{ "config:0-", -EINVAL, 0, 0, 0 },
		{ "config:0,", -EINVAL, 0, 0, 0 },
		{ "config:-1", -EINVAL, 0, 0, 0 },
		{ "config:0-7,7", -EINVAL, 0, 0, 0 },
		{ "config:0-7 ", -EINVAL, 0, 0, 0 },
		{ "config:99999999999999999999", -EINVAL, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pmu_format format = { .name = "name", .text = "before" };

		assert_int_equal(pmu_format_parse(rows[i].text, &format), rows[i].err);
		assert_string_equal(format.text, rows[i].err ? "before" : rows[i].text);
		assert_string_equal(format.name, "name");
		assert_int_equal(format.word, rows[i].word);
		assert_int_equal(format.width, rows[i].width);
		assert_int_equal(format.nr_ranges, rows[i].nr);
	}
}

static void test_event_parse(void **state)
{
	static const struct {
		const char *text;
		int err;
		size_t nr;
		uint64_t first;
	} rows[] = {
		{ "event=0x1d", 0, 1, 0x1d },
		{ "event=0x100000000", 0, 1, 0x100000000 },
		{ "event=0xffffffffffffffff", 0, 1, UINT64_MAX },
		{ "event=7,filter=1", 0, 2, 7 },
		{ "flag", 0, 1, 1 },
		{ "a=1,b,c,d,e,f,g,h", 0, 8, 1 },
		{ "a=1,b,c,d,e,f,g,h,i", -E2BIG, 0, 0 },
		{ "", -EINVAL, 0, 0 },
		{ "event=", -EINVAL, 0, 0 },
		{ "event=?", -EINVAL, 0, 0 },
		{ "event=0x1,", -EINVAL, 0, 0 },
		{ ",event=0x1", -EINVAL, 0, 0 },
		{ "=1", -EINVAL, 0, 0 },
		{ "event=0x1 ", -EINVAL, 0, 0 },
		{ "event==1", -EINVAL, 0, 0 },
		{ "ev\033ent=1", -EINVAL, 0, 0 },
		{ "event=-1", -EINVAL, 0, 0 },
		{ "event=0x10000000000000000", -ERANGE, 0, 0 },
	};
	char text[PMU_TEXT_LEN + 1];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pmu_event event = { .name = "name", .text = "before" };

		assert_int_equal(pmu_event_parse(rows[i].text, &event), rows[i].err);
		assert_string_equal(event.text, rows[i].err ? "before" : rows[i].text);
		assert_string_equal(event.name, "name");
		assert_int_equal(event.nr_terms, rows[i].nr);
		assert_int_equal(event.terms[0].value, rows[i].first);
	}
	memset(text, 'a', PMU_TEXT_LEN);
	text[PMU_TEXT_LEN] = '\0';
	assert_int_equal(pmu_event_parse(text, &(struct pmu_event){ 0 }), -E2BIG);
	/* A name of a term that is too long for its own buffer. */
	text[PMU_NAME_LEN] = '\0';
	assert_int_equal(pmu_event_parse(text, &(struct pmu_event){ 0 }), -E2BIG);
}

/* Damage to one file, what is said about it, and whether events can still be opened. */
static void test_damage(void **state)
{
	static const struct {
		const char *file;
		const char *content; /* NULL: no such file */
		const char *problem;
		bool usable;
	} rows[] = {
		{ "type", NULL, "type: missing", false },
		{ "type", "x\n", "type: not understood", false },
		{ "type", "", "type: not understood", false },
		{ "type", "4294967296\n", "type: number too large", false },
		{ "cpumask", NULL, "cpumask: missing", false },
		{ "cpumask", "\n", "cpumask: no CPUs", false },
		{ "cpumask", "0-1\n", "cpumask: 2 CPUs instead of one", false },
		{ "cpumask", "1-\n", "cpumask: not understood", false },
		{ "associated_cpus", NULL, "associated_cpus: missing", true },
		{ "associated_cpus", "", "associated_cpus: no CPUs", true },
		{ "associated_cpus", "3-1", "associated_cpus: not understood", true },
		{ "identifier", "\033[2J\n", "identifier: not understood", true },
		{ "identifier", NULL, "", true },
		{ "peer", "\377\n", "peer: not understood", true },
		{ "perf_event_mux_interval_ms", "-1\n",
		  "perf_event_mux_interval_ms: not understood", true },
		{ "perf_event_mux_interval_ms", NULL, "", true },
		{ "events/a", "event=\n", "events/a: not understood", true },
		{ "events/a", "event=1?\n", "events/a: not understood", true },
		{ "events/wp", "event=0x2,chn=?,dev=?\n", "", true },
		{ "events/b\033c", "event=1\n", "events: a file with a strange name", true },
		{ "events/a.unit", "Bytes\n", "", true },
		{ "format/event", "config9:1\n", "format/event: not understood", true },
		{ "format/b c", "config:1\n", "format: a file with a strange name", true },
	};
	char path[256];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pmu_list list;
		struct tree tree;

		tree_make(&tree);
		put_pmu(&tree, "nvidia_ucf_pmu_0");
		put_pmu(&tree, "nvidia_ucf_pmu_1");
		snprintf(path, sizeof(path), UCF "%s", rows[i].file);
		if (rows[i].content)
			tree_put(&tree, path, rows[i].content);
		else
			tree_drop(&tree, path);
		read_tree(&tree, &list);
		tree_remove(&tree);
		assert_int_equal(list.nr, 2);
		assert_string_equal(list.pmus[0].problem, rows[i].problem);
		assert_int_equal(list.pmus[0].usable, rows[i].usable);
		assert_string_equal(list.pmus[1].problem, "");
		assert_true(list.pmus[1].usable);
		pmu_list_free(&list);
	}
}

/* The kernel registers the PMU of energy for what a CPU should have; a hypervisor has none of it. */
static void test_no_events(void **state)
{
	struct pmu_list list;
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_put(&tree, DEVICES "power/type", "9\n");
	tree_put(&tree, DEVICES "power/cpumask", "0\n");
	tree_put(&tree, DEVICES "power/format/event", "config:0-7\n");
	tree_put(&tree, DEVICES "power/events/energy-pkg", "event=0x02\n");
	read_tree(&tree, &list);
	assert_string_equal(list.pmus[0].problem, "");
	pmu_list_free(&list);
	tree_drop(&tree, DEVICES "power/events/energy-pkg");
	read_tree(&tree, &list);
	tree_remove(&tree);
	assert_int_equal(list.nr, 1);
	assert_string_equal(list.pmus[0].problem, "it has no events");
	pmu_list_free(&list);
}

static void test_strange_trees(void **state)
{
	struct pmu_list list;
	struct tree tree;
	char *large;

	(void)state;
	/* No devices at all. */
	tree_make(&tree);
	read_tree(&tree, &list);
	assert_int_equal(list.nr, 0);
	pmu_list_free(&list);

	/* Names that are nearly right are somebody else's. */
	put_pmu(&tree, "nvidia_ucf_pmu_");
	put_pmu(&tree, "nvidia_ucf_pmu_x");
	put_pmu(&tree, "nvidia_ucf_pmu_00");
	put_pmu(&tree, "nvidia_ucf_pmu_01");
	put_pmu(&tree, "nvidia_ucf_pmu_-1");
	put_pmu(&tree, "nvidia_ucf_pmu_0x");
	put_pmu(&tree, "nvidia_ucf_pmu_2147483648");
	put_pmu(&tree, "nvidia_pcie_pmu_0_rc_");
	put_pmu(&tree, "nvidia_pcie_pmu_0_rc");
	put_pmu(&tree, "nvidia_pcie_pmu");
	put_pmu(&tree, "xnvidia_ucf_pmu_0");
	read_tree(&tree, &list);
	assert_int_equal(list.nr, 0);
	pmu_list_free(&list);

	/* Links into nowhere and into themselves, a file instead of a directory, 10 MB. */
	tree_link(&tree, DEVICES "nvidia_ucf_pmu_0", "../../nowhere");
	tree_link(&tree, DEVICES "nvidia_ucf_pmu_1", "nvidia_ucf_pmu_1");
	tree_put(&tree, DEVICES "nvidia_ucf_pmu_2", "no directory\n");
	put_pmu(&tree, "nvidia_ucf_pmu_3");
	large = malloc(10 << 20);
	assert_non_null(large);
	memset(large, '1', 10 << 20);
	tree_write(&tree, DEVICES "nvidia_ucf_pmu_3/associated_cpus", large, 10 << 20);
	tree_write(&tree, DEVICES "nvidia_ucf_pmu_3/events/large", large, 10 << 20);
	free(large);
	put_pmu(&tree, "nvidia_ucf_pmu_10");
	tree_link(&tree, DEVICES "nvidia_ucf_pmu_11", "nvidia_ucf_pmu_10");
	read_tree(&tree, &list);
	tree_remove(&tree);
	assert_int_equal(list.nr, 6);
	assert_string_equal(list.pmus[0].problem,
			    "type: missing; associated_cpus: missing; cpumask: missing; "
			    "events: missing; format: missing");
	for (size_t i = 0; i < 3; i++) {
		assert_string_not_equal(list.pmus[i].problem, "");
		assert_false(list.pmus[i].usable);
		assert_int_equal(list.pmus[i].active_cpu, -1);
	}
	assert_string_equal(list.pmus[3].problem,
			    "associated_cpus: too long; events/large: too long");
	assert_true(list.pmus[3].usable);
	assert_int_equal(list.pmus[3].nr_events, 1);
	/* In order of numbers, not of letters. */
	assert_string_equal(list.pmus[4].name, "nvidia_ucf_pmu_10");
	assert_string_equal(list.pmus[4].problem, "");
	assert_true(list.pmus[5].usable);
	pmu_list_free(&list);
}

static void test_no_pmu(void **state)
{
	struct diag d = { 0 };
	struct pmu_list list;
	struct tree tree;
	struct sysfs fs;

	(void)state;
	tree_make(&tree);
	assert_int_equal(sysfs_open(tree.root, &d, &fs), 0);
	assert_int_equal(no_pmu_diag(&fs, &d), -ENODEV);
	assert_non_null(strstr(d.what, tree.root));
	for (size_t i = 0; i < PMU_UNKNOWN; i++)
		assert_int_equal(!!strstr(d.what, pmu_families[i].pattern),
				 !pmu_families[i].by_cpu && counter_rows_have(i, COUNTERS_SUMS));
	assert_non_null(strstr(d.help, "nvidia_cspmu"));
	assert_non_null(strstr(d.help, "CONFIG_NVIDIA_TEGRA410_CMEM_LATENCY_PMU"));
	assert_non_null(strstr(d.help, "make demo"));

	put_pmu(&tree, "nvidia_uncore_pmu_0");
	put_pmu(&tree, "nvidia_uncore_pmu_7");
	assert_int_equal(no_pmu_diag(&fs, &d), -ENODEV);
	assert_non_null(strstr(d.what, "nvidia_uncore_pmu_0 (t410: ucf), nvidia_uncore_pmu_7"));
	assert_non_null(strstr(d.help, "does not know"));
	assert_non_null(strstr(d.help, "make demo"));
	assert_int_equal(no_pmu_diag(&fs, NULL), -ENODEV);
	sysfs_close(&fs);
	read_tree(&tree, &list);
	tree_remove(&tree);
	assert_int_equal(list.nr, 2);
	assert_int_equal(list.pmus[1].kind, PMU_UNKNOWN);
	assert_int_equal(list.pmus[1].instance, 7);
	assert_int_equal(list.pmus[1].socket, -1);
	pmu_list_free(&list);
}

static void test_sysfs(void **state)
{
	struct sysfs fs = { .fd = 4711 };
	char name[8] = "before", target[PATH_MAX];
	struct diag d = { 0 };
	struct tree tree;

	(void)state;
	tree_make(&tree);
	assert_int_equal(sysfs_open("/nonexistent/tree", &d, &fs), -ENOENT);
	assert_int_equal(fs.fd, 4711);
	assert_non_null(strstr(d.what, "/nonexistent/tree"));
	assert_int_equal(sysfs_open(tree.root, &d, &fs), 0);
	tree_put(&tree, "file", "x\n");
	tree_link(&tree, "good", "a/b/target");
	tree_link(&tree, "plain", "file");
	tree_link(&tree, "long", "a/b/12345678");
	assert_int_equal(sysfs_link_name(&fs, name, sizeof(name), "file"), -EINVAL);
	assert_int_equal(sysfs_link_name(&fs, name, sizeof(name), "none"), -ENOENT);
	assert_int_equal(sysfs_link_name(&fs, name, sizeof(name), "long"), -ENAMETOOLONG);
	assert_string_equal(name, "before");
	assert_int_equal(sysfs_link_name(&fs, name, sizeof(name), "good"), 0);
	assert_string_equal(name, "target");
	assert_int_equal(sysfs_link_name(&fs, name, sizeof(name), "plain"), 0);
	assert_string_equal(name, "file");
	assert_true(sysfs_exists(&fs, "file"));
	assert_true(sysfs_exists(&fs, "plain"));
	assert_false(sysfs_exists(&fs, "good"));
	assert_false(sysfs_exists(&fs, "none"));
	strcpy(target, "before");
	assert_int_equal(sysfs_link(&fs, target, "file"), -EINVAL);
	assert_int_equal(sysfs_link(&fs, target, "none"), -ENOENT);
	assert_string_equal(target, "before");
	assert_int_equal(sysfs_link(&fs, target, "good"), 0);
	assert_string_equal(target, "a/b/target");
	sysfs_close(&fs);
	sysfs_close(&fs);
	sysfs_close(NULL);
	tree_remove(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_families),      cmocka_unit_test(test_sysfs),
		cmocka_unit_test(test_t410),	      cmocka_unit_test(test_encode_t410),
		cmocka_unit_test(test_encode_grace),  cmocka_unit_test(test_encode_refused),
		cmocka_unit_test(test_encode_pieces), cmocka_unit_test(test_format_parse),
		cmocka_unit_test(test_event_parse),   cmocka_unit_test(test_damage),
		cmocka_unit_test(test_no_events),     cmocka_unit_test(test_strange_trees),
		cmocka_unit_test(test_no_pmu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
