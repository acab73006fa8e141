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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_of_sockets),
		cmocka_unit_test(hbm_is_not_in_the_total),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
