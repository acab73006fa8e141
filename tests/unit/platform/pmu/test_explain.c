// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/array.h"
#include "platform/pmu/explain.h"

/* A PMU as discovery would leave it. */
static struct pmu make(const char *name, const char *identifier)
{
	struct pmu pmu = { .usable = true };

	pmu.family = pmu_family_match(name, PMU_PLATFORM_UNKNOWN, &pmu.instance, &pmu.rc);
	assert_non_null(pmu.family);
	pmu.kind = pmu.family->kind;
	pmu.platform = pmu.family->platform;
	pmu.socket = pmu.instance;
	strcpy(pmu.name, name);
	strcpy(pmu.identifier, identifier);
	return pmu;
}

static struct text_list notes;

static void explain(struct pmu *pmus, size_t nr, const char *release)
{
	const struct pmu_list list = { .pmus = pmus, .nr = nr };

	text_list_free(&notes);
	assert_int_equal(pmu_notes(&list, release, &notes), 0);
}

static void says(size_t i, const char *text)
{
	assert_true(i < notes.nr);
	if (!strstr(notes.items[i], text))
		fail_msg("\"%s\" lacks \"%s\"", notes.items[i], text);
}

/* The CPUs say another socket than the name: said once of each kind. */
static void test_numbers(void **state)
{
	struct pmu pmus[] = {
		make("nvidia_scf_pmu_1", "2cf0036b"),
		make("nvidia_pcie_pmu_0", "1030036b"),
		make("nvidia_pcie_pmu_1", "1030036b"),
		make("nvidia_pcie_pmu_2", "1030036b"),
	};

	(void)state;
	pmus[2].socket = 0;
	pmus[3].socket = 1;
	explain(pmus, ARRAY_SIZE(pmus), "7.2.13");
	assert_int_equal(notes.nr, 1);
	says(0, "nvidia_pcie_pmu_1: name and associated_cpus disagree");
	says(0, "(2 of these PMUs)");
}

static void test_nothing_odd(void **state)
{
	struct pmu pmus[] = {
		make("nvidia_ucf_pmu_0", "2cf2036b"),
		make("nvidia_ucf_pmu_1", "2cf2136b"), /* other firmware, no other hardware */
		make("nvidia_pcie_pmu_0_rc_0", "1030136b"),
		make("nvidia_nvlink_c2c_pmu_0", "NVDA2023"),
		make("nvidia_scf_pmu_0", "2cf0036b"),
		make("nvidia_pcie_pmu_0", "1030036b"),
	};

	(void)state;
	strcpy(pmus[3].peer, "nr_gpu=2");
	explain(pmus, ARRAY_SIZE(pmus), "7.2.13");
	assert_int_equal(notes.nr, 0);
	explain(pmus, ARRAY_SIZE(pmus), NULL);
	assert_int_equal(notes.nr, 0);
	explain(NULL, 0, "6.8.0");
	assert_int_equal(notes.nr, 0);
}

static void test_unknown(void **state)
{
	struct pmu pmus[] = {
		make("nvidia_uncore_pmu_0", "2cf2036b"), make("nvidia_uncore_pmu_1", "1070036b"),
		make("nvidia_uncore_pmu_2", "2cf2036b"), make("nvidia_uncore_pmu_3", "1060036b"),
		make("nvidia_uncore_pmu_4", "9990036b"), make("nvidia_uncore_pmu_5", ""),
	};

	(void)state;
	explain(pmus, ARRAY_SIZE(pmus), "6.17.0");
	assert_int_equal(notes.nr, 5);
	says(0, "nvidia_uncore_pmu_0, nvidia_uncore_pmu_2: by the identifier 2cf2036b");
	says(0, "Unified Coherence Fabric (ucf) of the T410");
	says(0, "Linux 7.1 or newer");
	says(0, "vendors");
	says(0, "not a socket");
	says(1, "(pcie_tgt) of the T410");
	says(2, "(cnvlink) of Grace");
	assert_null(strstr(notes.items[2], "7.1"));
	says(3, "identifier 9990036b");
	says(4, "identifier none");
}

/* Kernels before 7.1 compare the product only and find Grace in a T410. */
static void test_mistaken(void **state)
{
	struct pmu pmus[] = {
		make("nvidia_pcie_pmu_0", "1030136b"),
		make("nvidia_pcie_pmu_1", "1030136b"),
		make("nvidia_scf_pmu_0", "2cf2036b"),
	};

	(void)state;
	explain(pmus, ARRAY_SIZE(pmus), "6.18.3-debian");
	assert_int_equal(notes.nr, 2);
	says(0, "nvidia_pcie_pmu_0, nvidia_pcie_pmu_1: ");
	says(0, "(pcie) of the T410");
	says(0, "PMUs are missing");
	says(0, "7.1");
	says(1, "(ucf) of the T410");
	assert_null(strstr(notes.items[1], "missing"));
}

static void test_one_gpu(void **state)
{
	struct pmu pmu = make("nvidia_nvlink_c2c_pmu_1", "NVDA2023");

	(void)state;
	strcpy(pmu.peer, "nr_gpu=1");
	explain(&pmu, 1, "7.2.0");
	assert_int_equal(notes.nr, 1);
	says(0, "nvidia_nvlink_c2c_pmu_1");
	says(0, "second");
	strcpy(pmu.peer, "nr_cpu=1");
	explain(&pmu, 1, "7.2.0");
	assert_int_equal(notes.nr, 0);
}

static void test_port_masks(void **state)
{
	static const struct {
		const char *release;
		size_t nr;
	} rows[] = {
		{ "6.13.12", 1 }, { "6.8.0-1012-nvidia", 1 },
		{ "5.15", 1 },	  { "6.14.0-rc1", 0 },
		{ "7.0.1", 0 },	  { "10.1", 0 },
		{ NULL, 0 },	  { "", 0 },
		{ "x.y", 0 },	  { "6", 0 },
		{ "6.", 0 },
	};
	struct pmu pmu = make("nvidia_nvlink_c2c0_pmu_0", "1050036b");
	struct pmu scf = make("nvidia_scf_pmu_0", "2cf0036b");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		explain(&pmu, 1, rows[i].release);
		assert_int_equal(notes.nr, rows[i].nr);
		if (notes.nr)
			says(0, rows[i].release);
	}
	/* The fabric has no ports. */
	explain(&scf, 1, "6.8.0");
	assert_int_equal(notes.nr, 0);
}

static void test_unusable(void **state)
{
	struct pmu pmu = make("nvidia_ucf_pmu_0", "2cf2036b");

	(void)state;
	pmu.usable = false;
	strcpy(pmu.problem, "type: missing");
	explain(&pmu, 1, "7.2.0");
	assert_int_equal(notes.nr, 1);
	says(0, "nvidia_ucf_pmu_0 cannot be counted: type: missing.");
	pmu.problem[0] = '\0';
	explain(&pmu, 1, "7.2.0");
	says(0, "sysfs does not say");
	explain(NULL, 0, NULL);
	text_list_free(&notes);
}

static void test_identity(void **state)
{
	char text[64] = "before";

	(void)state;
	assert_false(pmu_identity("", text, sizeof(text)));
	assert_false(pmu_identity("2cf2136b", text, sizeof(text)));
	assert_string_equal(text, "before");
	assert_true(pmu_identity("NVDA2021", text, sizeof(text)));
	assert_string_equal(text, "CPU memory read latency (cmem_latency) of the T410");
	assert_true(pmu_identity("NVDA2021", text, 4));
	assert_string_equal(text, "CPU");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_odd), cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_unknown),	    cmocka_unit_test(test_mistaken),
		cmocka_unit_test(test_one_gpu),	    cmocka_unit_test(test_port_masks),
		cmocka_unit_test(test_identity),    cmocka_unit_test(test_unusable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
