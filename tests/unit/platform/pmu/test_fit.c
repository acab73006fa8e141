// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is said of machines whose total is not what it seems, and of those without a PMU that counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/array.h"
#include "platform/check/checks.h"
#include "platform/pmu/fit.h"
#include "platform/pmu/pmu.h"
#include "tree.h"

/* What is said against the total, in list and in check. */
static void doubts(const char *machine, const char *const *files, const char *const *texts,
		   const char *said)
{
	struct text_list notes = { 0 };
	struct check_row row;
	struct pmu_list pmus;
	struct diag d = { 0 };
	struct tree tree;
	struct sysfs fs;

	tree_make_platform(&tree, machine);
	for (size_t i = 0; files[i]; i++)
		tree_put(&tree, files[i], texts[i]);
	assert_int_equal(sysfs_open(tree.root, &d, &fs), 0);
	assert_int_equal(pmu_list_read(&fs, &d, &pmus), 0);
	assert_int_equal(pmu_fit_doubts(&fs, &pmus, &notes), 0);
	assert_int_equal(notes.nr, !!said);
	if (said && !strstr(notes.items[0], said))
		fail_msg("\"%s\" lacks \"%s\"", notes.items[0], said);
	check_judge_pmus(&fs, &pmus, &row);
	assert_int_equal(row.status, said ? CHECK_LIMITED : CHECK_OK);
	assert_int_equal(!row.remedy[0], !said);
	assert_true(!said || strstr(row.found, said));
	text_list_free(&notes);
	pmu_list_free(&pmus);
	sysfs_close(&fs);
	tree_remove(&tree);
}

#define NODE(n) "devices/system/node/node" #n "/cpulist"

/* The sum over the channels of Zen 2 and 3 is documented for one NUMA node of each socket. */
static void nodes_of_sockets(void **state)
{
	static const char *const files[] = { NODE(0), NODE(1), NODE(2), NODE(3), NULL };
	static const char *const nps1[] = { "0-3", "4-7", "", "" };
	static const char *const nps2[] = { "0-1", "2-3", "4-5", "6-7" };
	static const char *const nps0[] = { "0-7", "", "", "" };
	static const char *const one[] = { "0-3", "4", "5", "6-7" };

	(void)state;
	doubts("zen3", files + 4, NULL, NULL);
	doubts("zen3", files, nps1, NULL);
	doubts("zen3", files, nps2, "amd_df: a socket has 2 NUMA nodes, and the sum");
	doubts("zen3", files, nps0, "amd_df: a NUMA node has several sockets, and the sum");
	doubts("zen3", files, one, "a socket has 3 NUMA nodes");
	/* channels are counted one by one */
	doubts("zen4", files, nps2, NULL);
}

static void hbm_is_not_in_the_total(void **state)
{
	static const char *const files[] = { PMU_DEVICES "/uncore_hbm_3/type", NULL };
	static const char *const texts[] = { "77" };

	(void)state;
	doubts("sapphire", files, texts, "uncore_hbm_<n>: HBM is not in the total");
	doubts("sapphire", files + 1, NULL, NULL);
}

#define X86(family, model) \
	"cpu:type:x86,ven0000fam00" family "mod00" model ":feature:,0000,0098,00A0\n"
#define AMD(family, model) "cpu:type:x86,ven0002fam00" family "mod00" model ":feature:,0000\n"
#define GUEST(model)	   "cpu:type:x86,ven0000fam0006mod00" model ":feature:,0000,009F,00A0\n"

/* What is said where no PMU counts memory: what is true, and nothing that does not help. */
static const struct {
	const char *modalias, *midr, *pmus[3];
	const char *said[3], *unsaid[2];
} helps[] = {
	/* Granite Rapids, Clearwater Forest and Sapphire Rapids on a kernel before them */
	{ X86("06", "AD"),
	  NULL,
	  { "uncore_type_3_0", "uncore_type_11_1" },
	  { "older than the CPU, GenuineIntel-6-AD", "uncore_type_<i>_<i>", "from Linux 6.8" },
	  { "modprobe", "irtual machine" } },
	{ X86("06", "DD"), NULL, { "uncore_type_3_0" }, { "Clearwater Forest: 6.13" }, { 0 } },
	{ X86("06", "8F"), NULL, { "uncore_type_3_0", "power" }, { "Use a newer one." }, { 0 } },
	/* Genoa and Turin: the data fabric is older than the memory controllers */
	{ AMD("19", "11"),
	  NULL,
	  { "amd_df" },
	  { "there are amd_df, but no PMU of its memory", "since 6.7" },
	  { "modprobe" } },
	{ AMD("1A", "02"),
	  NULL,
	  { "amd_df" },
	  { "there are amd_df, but no PMU of its memory", "since 6.7" },
	  { "modprobe" } },
	{ X86("06", "55"),
	  NULL,
	  { "uncore_cha_0", "uncore_cha_1" },
	  { "there are uncore_cha_<n>, but no PMU of its memory", "Linux has it;" },
	  { "modprobe", "older" } },
	{ X86("06", "8F"),
	  NULL,
	  { "uncore_cha_0", "uncore_upi_0" },
	  { "uncore_cha_<n>, uncore_upi_<n>, but no PMU", "Linux has it;" },
	  { "older", "modprobe" } },
	/* Diamond Rapids and a client, which have no row */
	{ X86("13", "01"),
	  NULL,
	  { "uncore_imc_0", "uncore_imc_1" },
	  { "there are uncore_imc_<n>, but no row is about the CPU, GenuineIntel-19-1", "--explain",
	    "--platform FILE" },
	  { "modprobe", "irtual machine" } },
	{ X86("13", "01"),
	  NULL,
	  { "uncore_type_3_0" },
	  { "has no names for the PMUs of the CPU, GenuineIntel-19-1", "newer", "--platform FILE" },
	  { "modprobe", "irtual machine" } },
	{ AMD("19", "61"),
	  NULL,
	  { "power" },
	  { "no row is about the CPU, AuthenticAMD-25-61" },
	  { "modprobe", "irtual machine" } },
	/* No driver, or no hardware */
	{ X86("06", "55"),
	  NULL,
	  { NULL },
	  { "intel_uncore (CONFIG_", "modprobe" },
	  { "amd", "irtual machine" } },
	{ AMD("19", "01"),
	  NULL,
	  { NULL },
	  { "amd_uncore (CONFIG_", "modprobe" },
	  { "intel", "irtual machine" } },
	{ GUEST("55"), NULL, { NULL }, { "is a virtual machine", "on the host" }, { "modprobe" } },
	{ GUEST("FE"), NULL, { NULL }, { "of this virtual machine" }, { "modprobe" } },
	/* Olympus, Neoverse V2, AmpereOne, Kunpeng, Neoverse N1; nothing at all */
	{ NULL, "0x4e0f0100\n", { NULL }, { "the T410 needs Linux 7.1", "modprobe" }, { 0 } },
	{ NULL,
	  "0x410fd4f0\n",
	  { "arm_cspmu_cache_0" },
	  { "Neoverse V2, which Grace has",
	    "Grace needs these drivers, try modprobe: "
	    "nvidia_cspmu (CONFIG_",
	    "Other chips" },
	  { "7.1", "t410_c2c" } },
	{ NULL,
	  "0xc00fac30\n",
	  { "arm_cspmu_mc_0" },
	  { "AmpereOne needs Linux 6.7", "ampere_cspmu" },
	  { "nvidia", "7.1" } },
	{ NULL, "0x480fd010\n", { NULL }, { "hisi_uncore_ddrc_pmu" }, { "nvidia", "Linux" } },
	{ NULL,
	  "0x413fd0c1\n",
	  { NULL },
	  { "0x00000000413fd0c1, Neoverse", "arm-cmn", "arm_dmc620_pmu" },
	  { "nvidia", "7.1" } },
	{ NULL, NULL, { NULL }, { "the T410 needs Linux 7.1" }, { 0 } },
};

static void what_helps(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(helps); i++) {
		struct diag d = { 0 };
		struct tree tree;
		struct sysfs fs;
		char name[96];

		tree_make(&tree);
		tree_put(&tree, PMU_DEVICES "/software/type", "1\n");
		if (helps[i].modalias)
			tree_put(&tree, "devices/system/cpu/modalias", helps[i].modalias);
		if (helps[i].midr)
			tree_put(&tree, "devices/system/cpu/cpu0/regs/identification/midr_el1",
				 helps[i].midr);
		for (size_t k = 0; k < 3 && helps[i].pmus[k]; k++) {
			snprintf(name, sizeof(name), PMU_DEVICES "/%s/type", helps[i].pmus[k]);
			tree_put(&tree, name, "9\n");
		}
		assert_int_equal(sysfs_open(tree.root, &d, &fs), 0);
		assert_int_equal(no_pmu_diag(&fs, &d), -ENODEV);
		for (size_t k = 0; k < 3 && helps[i].said[k]; k++)
			if (!strstr(d.help, helps[i].said[k]))
				fail_msg("row %zu lacks \"%s\": %s", i, helps[i].said[k], d.help);
		for (size_t k = 0; k < 2 && helps[i].unsaid[k]; k++)
			if (strstr(d.help, helps[i].unsaid[k]))
				fail_msg("row %zu has \"%s\": %s", i, helps[i].unsaid[k], d.help);
		/* nothing was cut */
		assert_true(strlen(d.help) + 1 < sizeof(d.help));
		sysfs_close(&fs);
		tree_remove(&tree);
	}
}

static void notes_of(const struct tree *tree, struct text_list *notes, struct check_row *row)
{
	struct pmu_list pmus;
	struct diag d = { 0 };
	struct sysfs fs;

	*notes = (struct text_list){ 0 };
	assert_int_equal(sysfs_open(tree->root, &d, &fs), 0);
	assert_int_equal(pmu_list_read(&fs, &d, &pmus), 0);
	assert_int_equal(pmu_fit_notes(&fs, &pmus, notes), 0);
	check_judge_pmus(&fs, &pmus, row);
	pmu_list_free(&pmus);
	sysfs_close(&fs);
}

/* There are PMUs, and none that counts memory: the same is said. */
static void only_parts_are_here(void **state)
{
	struct text_list notes;
	struct check_row row;
	struct tree tree;
	char name[64];

	(void)state;
	tree_make_platform(&tree, "zen4");
	for (int i = 0; i < 24; i++) {
		static const char *const files[] = { "type",
						     "cpumask",
						     "perf_event_mux_interval_ms",
						     "format/event",
						     "format/rdwrmask",
						     "format",
						     "" };

		for (size_t f = 0; f < ARRAY_SIZE(files); f++) {
			snprintf(name, sizeof(name), PMU_DEVICES "/amd_umc_%d/%s", i, files[f]);
			tree_drop(&tree, name);
		}
	}
	notes_of(&tree, &notes, &row);
	assert_non_null(strstr(notes.items[0],
			       "No PMU here counts memory traffic: the CPU is AuthenticAMD-25-11"));
	assert_int_equal(row.status, CHECK_LIMITED);
	assert_non_null(strstr(row.found, "2 df; no usable PMU counts memory traffic"));
	assert_non_null(strstr(row.remedy, "since 6.7"));
	text_list_free(&notes);
	tree_remove(&tree);
}

static void nameless_pmus_are_left_out(void **state)
{
	struct text_list notes;
	struct check_row row;
	struct tree tree;

	(void)state;
	tree_make_platform(&tree, "sapphire");
	tree_put(&tree, PMU_DEVICES "/uncore_type_14_0/type", "88\n");
	notes_of(&tree, &notes, &row);
	assert_non_null(
		strstr(notes.items[notes.nr - 1], "uncore_type_<i>_<i>: the kernel has no"));
	assert_int_equal(row.status, CHECK_OK);
	assert_non_null(strstr(row.found, "uncore_type_<i>_<i>: the kernel has no names"));
	text_list_free(&notes);
	tree_remove(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_of_sockets),
		cmocka_unit_test(hbm_is_not_in_the_total),
		cmocka_unit_test(what_helps),
		cmocka_unit_test(only_parts_are_here),
		cmocka_unit_test(nameless_pmus_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
