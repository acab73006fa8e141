// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The tables as a whole: nothing missing, nothing twice, nothing that the drivers do not have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "stat.h"
#include "tables/counter_rows.h"
#include "tables/device_rows.h"
#include "tables/events.h"
#include "tables/formula.h"
#include "tables/metric_units.h"
#include "tables/metrics.h"

#ifndef TESTS_DIR
#define TESTS_DIR "tests"
#endif
/* What the real drivers show in sysfs, listed in the virtual machines. */
#define GOLDEN TESTS_DIR "/machine/checks/golden/"

static bool is_words(const char *text)
{
	return text && *text && text[0] != ' ' && text[strlen(text) - 1] != ' ';
}

/* The unit that the name of an event speaks of. */
static enum event_unit unit_by_name(const struct event_row *row)
{
	const char *name = row->name;

	if (strstr(name, "cycles"))
		return EVENT_CYCLES;
	if (strstr(name, "cum_outs") || strstr(name, "outstanding"))
		return EVENT_OUTSTANDING;
	if (strstr(name, "bytes") || strstr(name, "wr_data"))
		return EVENT_BYTES;
	return strstr(name, "_data") && row->kind == PMU_GRACE_SCF ? EVENT_BEATS : EVENT_REQUESTS;
}

/* Of others, rows say what reports count, and nothing more. */
static bool is_nvidia(enum pmu_kind kind)
{
	return !strncmp(pmu_families[kind].pattern, "nvidia_", 7);
}

static void test_event_rows(void **state)
{
	size_t count[NR_PMU_KINDS] = { 0 };

	(void)state;
	for (size_t i = 0; i < nr_event_rows; i++) {
		const struct event_row *row = &event_rows[i];

		assert_in_range(row->kind, 0, NR_PMU_KINDS - 1);
		assert_true(is_words(row->counts));
		assert_true(is_words(row->source));
		assert_int_equal(row->unit, unit_by_name(row));
		count[row->kind] += strstr(row->name, "<s>") ? 4 : 1;
		for (size_t j = 0; j < i; j++)
			assert_true(event_rows[j].kind != row->kind ||
				    strcmp(event_rows[j].name, row->name));
	}
	for (size_t i = 0; i < NR_PMU_KINDS; i++)
		assert_int_equal(!!event_row_find(i, "cycles"), is_nvidia(i));
	assert_int_equal(count[PMU_UCF], 20);
	assert_int_equal(count[PMU_GRACE_SCF], 54);
	assert_int_equal(count[PMU_GRACE_CNVLINK], 15);
	for (enum event_unit u = 0; u < NR_EVENT_UNITS; u++)
		assert_true(is_words(event_unit_name(u)));
	assert_string_equal(event_unit_name(EVENT_BEATS), "beats");
	assert_string_equal(event_unit_name(EVENT_OUTSTANDING), "outstanding");
}

static void test_event_find(void **state)
{
	static const char *const strangers[] = { "",
						 "socket_<s>_rd_data",
						 "socket_4_rd_data",
						 "socket__rd_data",
						 "socket_00_rd_data",
						 "socket_0_rd_dat",
						 "socket_0_rd_data2",
						 "socket_",
						 "mem_bytes_rd" };

	(void)state;
	for (char n = '0'; n <= '3'; n++) {
		char name[] = "socket_0_wr_data";

		name[7] = n;
		assert_non_null(event_row_find(PMU_GRACE_SCF, name));
		assert_int_equal(event_row_find(PMU_GRACE_SCF, name)->unit, EVENT_BYTES);
	}
	for (size_t i = 0; i < ARRAY_SIZE(strangers); i++)
		assert_null(event_row_find(PMU_GRACE_SCF, strangers[i]));
	assert_null(event_row_find(PMU_CORE, "cycles"));
	assert_null(event_row_find(PMU_NVCLINK, "in_wr_req"));
}

static const struct filter_row *filter_named(enum pmu_kind kind, const char *name)
{
	for (size_t i = 0; i < nr_filter_rows; i++)
		if (filter_rows[i].kind == kind && !strcmp(filter_rows[i].name, name))
			return &filter_rows[i];
	return NULL;
}

static void test_filter_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_filter_rows; i++) {
		const struct filter_row *row = &filter_rows[i];
		bool mask = row->use == FILTER_PORTS || row->use == FILTER_GPUS;

		assert_true(is_words(row->meaning));
		assert_true(is_words(row->source));
		assert_int_equal(mask, row->all != 0);
		assert_ptr_equal(filter_named(row->kind, row->name), row);
		assert_non_null(filter_row_use(row->kind, row->use));
	}
	assert_string_equal(filter_row_use(PMU_GRACE_PCIE, FILTER_PORTS)->name, "root_port");
	assert_int_equal(filter_row_use(PMU_GRACE_PCIE, FILTER_PORTS)->all, 0x3ff);
	assert_string_equal(filter_row_use(PMU_PCIE_TGT, FILTER_RANGE_MASK)->name, "dst_addr_mask");
	assert_null(filter_row_use(PMU_GRACE_SCF, FILTER_PORTS));
	assert_null(filter_named(PMU_UCF, "event"));
	assert_null(filter_named(PMU_UCF, "src_rp_mask"));
}

static void test_constraint_rows(void **state)
{
	bool seen[NR_CONSTRAINTS] = { false };

	(void)state;
	for (size_t i = 0; i < nr_constraint_rows; i++) {
		const struct constraint_row *row = &constraint_rows[i];

		assert_in_range(row->rule, 0, NR_CONSTRAINTS - 1);
		assert_true(is_words(row->why));
		assert_true(is_words(row->remedy));
		assert_true(is_words(row->source));
		assert_ptr_equal(constraint_find(row->kind, row->rule), row);
		seen[row->rule] = true;
	}
	for (size_t i = 0; i < NR_CONSTRAINTS; i++)
		assert_true(seen[i]);
	/* A family has the rule exactly where it has what the rule is about. */
	for (enum pmu_kind kind = 0; kind < NR_PMU_KINDS; kind++) {
		bool windows = pmu_families[kind].ranges;
		bool bdf = filter_row_use(kind, FILTER_BDF);

		assert_int_equal(!!constraint_find(kind, CONSTRAINT_RANGES), windows);
		assert_int_equal(!!constraint_find(kind, CONSTRAINT_EMPTY_RANGE), windows);
		assert_int_equal(!!constraint_find(kind, CONSTRAINT_BDF_AND_PORTS), bdf);
		assert_int_equal(!!constraint_find(kind, CONSTRAINT_ONE_BDF), bdf);
		assert_int_equal(!!constraint_find(kind, CONSTRAINT_EMPTY_PORTS),
				 pmu_families[kind].platform == PMU_PLATFORM_GRACE &&
					 filter_row_use(kind, FILTER_PORTS));
	}
	assert_null(constraint_find(PMU_UCF, CONSTRAINT_RANGES));
}

/* "config1:0-9" has ten bits. */
static unsigned int format_width(const char *text)
{
	unsigned int low, high;
	int nr = sscanf(strchr(text, ':') + 1, "%u-%u", &low, &high);

	assert_true(nr >= 1);
	return nr == 1 ? 1 : high - low + 1;
}

static void check_event(enum pmu_kind kind, const char *name, const char *text)
{
	const struct event_row *row = event_row_find(kind, name);
	const char *place;
	uint64_t code;

	assert_non_null(row);
	assert_int_equal(strncmp(text, "event=", 6), 0);
	assert_int_equal(parse_u64(text + 6, &code), 0);
	place = strstr(row->name, "<s>");
	assert_int_equal(row->code + (place ? name[place - row->name] - '0' : 0), code);
}

static void check_format(enum pmu_kind kind, const char *name, const char *text)
{
	const struct filter_row *row = filter_named(kind, name);

	if (!strcmp(name, "event"))
		return;
	assert_non_null(row);
	if (row->all)
		assert_int_equal(row->all, (1ULL << format_width(text)) - 1);
}

/* Lines like "nvidia_ucf_pmu_0/events/cycles = event=0x100000000". */
static void check_golden(const char *path, size_t *events, size_t *filters)
{
	char line[256], pmu[128], dir[128], name[128], text[128];
	FILE *file = fopen(path, "r");
	int32_t n, rc;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		const struct pmu_family *family;

		if (sscanf(line, "%127[^/ ]/%127[^/ ]/%127[^/ ] = %127s", pmu, dir, name, text) !=
		    4)
			continue;
		family = pmu_family_match(pmu, PMU_PLATFORM_UNKNOWN, &n, &rc);
		/* One PMU of each kind is enough to count. */
		if (!family || n != 0 || rc > 0)
			continue;
		if (!strcmp(dir, "events")) {
			check_event(family->kind, name, text);
			events[family->kind]++;
		} else if (!strcmp(dir, "format")) {
			check_format(family->kind, name, text);
			filters[family->kind] += !!strcmp(name, "event");
		}
	}
	fclose(file);
}

/* What makes a name and what takes it apart agree; too little room cuts. */
/* Bytes of both directions, with rows of the same name where they are counted without -D. */
static void test_device_rows(void **state)
{
	unsigned int ways[NR_PMU_KINDS] = { 0 };

	(void)state;
	for (size_t i = 0; i < nr_device_rows; i++) {
		const struct device_row *row = &device_rows[i];
		bool known = event_row_find(row->kind, row->event), filter = !row->filter[0];

		assert_true(is_words(row->source));
		for (size_t k = 0; k < nr_counter_rows; k++)
			known |= counter_rows[k].kind == row->kind &&
				 !strcmp(counter_rows[k].event, row->event) &&
				 counter_rows[k].direction == row->direction;
		assert_true(known);
		for (size_t k = 0; k < nr_filter_rows; k++)
			filter |= filter_rows[k].kind == row->kind &&
				  filter_rows[k].use == FILTER_DESTINATION &&
				  !strcmp(filter_rows[k].name, row->filter);
		assert_true(filter);
		assert_int_equal(row->filter[0] != '\0', row->destination != DESTINATION_ANY);
		if (row->part == DEVICE_BYTES)
			ways[row->kind] |= row->use << 2 * row->direction;
	}
	for (enum pmu_kind kind = 0; kind < NR_PMU_KINDS; kind++)
		assert_true(!ways[kind] || ways[kind] == 0xf);
	assert_int_equal(pmu_family_one_port()->kind, PMU_DWC_PORT);
	assert_int_equal(ways[PMU_DWC_PORT], 0xf);
}

static void test_family_names(void **state)
{
	char name[64], cut[20];
	int32_t n, rc;

	(void)state;
	for (size_t i = 0; i < NR_PMU_KINDS; i++) {
		const struct pmu_family *f = &pmu_families[i];

		pmu_family_name(f, 1, 13, name, sizeof(name));
		assert_ptr_equal(pmu_family_match(name, f->platform, &n, &rc), f);
		assert_true(pmu_name_fits(f->pattern, name));
		assert_true(!f->by_cpu || pmu_family_match(name, PMU_PLATFORM_T410, &n, &rc) != f);
		assert_ptr_equal(pmu_family_match(name, f->platform, &n, &rc), f);
		assert_int_equal(n, strstr(f->pattern, "<n>") ? 1 : -1);
		assert_int_equal(rc, strstr(f->pattern, "<rc>") ? 13 : -1);
		for (size_t room = 1; room <= sizeof(cut); room++) {
			pmu_family_name(f, 1, 13, cut, room);
			assert_int_equal(strlen(cut),
					 strlen(name) < room ? strlen(name) : room - 1);
			assert_memory_equal(cut, name, strlen(cut));
		}
	}
	pmu_family_name(&pmu_families[PMU_PCIE], 0, 3, name, sizeof(name));
	assert_string_equal(name, "nvidia_pcie_pmu_0_rc_3");
	pmu_family_name(&pmu_families[PMU_DWC_PORT], 0x10008, 0, name, sizeof(name));
	assert_string_equal(name, "dwc_rootport_10008");
}

/* What the drivers have and what the tables have is the same. */
static void test_golden(void **state)
{
	size_t events[NR_PMU_KINDS] = { 0 }, filters[NR_PMU_KINDS] = { 0 };

	(void)state;
	check_golden(GOLDEN "sysfs-t410", events, filters);
	check_golden(GOLDEN "sysfs-grace", events, filters);
	for (size_t i = 0; i < nr_event_rows; i++)
		events[event_rows[i].kind] -= strstr(event_rows[i].name, "<s>") ? 4 : 1;
	for (size_t i = 0; i < nr_filter_rows; i++)
		filters[filter_rows[i].kind]--;
	for (enum pmu_kind kind = 0; kind < PMU_UNKNOWN; kind++) {
		assert_int_equal(events[kind], 0);
		assert_int_equal(filters[kind], 0);
	}
}

/* Is it a name that a formula of this row may use? */
/* Memory controllers: the event of a row that counts bytes, as many as the row says. */
static bool known_to_counters(const struct metric_row *row, const char *name)
{
	for (size_t i = 0; i < nr_counter_rows; i++) {
		const struct counter_row *c = &counter_rows[i];
		enum direction direction = strstr(row->id, "read_bandwidth") ? DIRECTION_READ
					   : strstr(row->id, "write_bandwidth")
						   ? DIRECTION_WRITE
						   : DIRECTION_READWRITE;
		char bytes[24];

		if (c->kind != row->kind || strcmp(c->event, name) != 0)
			continue;
		snprintf(bytes, sizeof(bytes), c->counts > 1 ? " * %u / %u / " : " * %u / ",
			 c->scale, c->counts);
		if (c->sets != COUNTERS_PARTS && c->direction != direction)
			return false;
		return strstr(row->formula, bytes);
	}
	return false;
}

static bool known_name(const struct metric_row *row, const char *name, const char *formula)
{
	char text[METRIC_ID_LEN], beats[METRIC_ID_LEN + 8];
	const struct event_row *event;

	if (!strcmp(name, "duration_ns") || !strcmp(name, "duration_s") || !strcmp(name, "ports"))
		return true;
	if (row->kind == PMU_CORE)
		return core_event_find(row->platform, name);
	assert_int_equal(metric_text(name, 0, 1, text, sizeof(text)), 0);
	event = event_row_find(row->kind, text);
	if (!event)
		return known_to_counters(row, name);
	/* Beats are no bytes. */
	snprintf(beats, sizeof(beats), "%s * %d", name, EVENT_BEAT_BYTES);
	return event->unit != EVENT_BEATS || strstr(formula, beats);
}

static void check_metric(const struct metric_row *row)
{
	const char *prefix = pmu_platform_name(row->platform);
	struct formula *f = NULL;
	struct diag d = { 0 };

	assert_true(is_words(row->title) && is_words(row->source));
	/* A clock and power are of nobody's traffic; the cores have no destination. */
	assert_int_equal(is_words(row->from),
			 strcmp(row->unit, "GHz") != 0 && strcmp(row->unit, "W") != 0);
	assert_int_equal(is_words(row->to), is_words(row->from) && row->kind != PMU_CORE);
	assert_true(strlen(row->id) < METRIC_ID_LEN);
	/* What many chips have is called by itself. */
	if (row->platform == PMU_PLATFORM_UNKNOWN)
		prefix = pmu_families[row->kind].short_name;
	assert_int_equal(strncmp(row->id, prefix, strlen(prefix)), 0);
	assert_non_null(metric_unit_find(row->unit));
	if (row->kind != PMU_CORE) {
		assert_int_equal(pmu_families[row->kind].platform, row->platform);
		assert_true(row->by_default);
	}
	assert_int_equal(formula_parse(row->formula, &d, &f), 0);
	assert_in_range(formula_nr_names(f), 1, STAT_MAX_INPUTS);
	for (size_t i = 0; i < formula_nr_names(f); i++)
		assert_true(known_name(row, formula_name(f, i), row->formula));
	assert_int_equal(metric_has_other(row), !!strstr(row->formula, "<o>"));
	formula_free(f);
}

static void test_metric_rows(void **state)
{
	size_t core[2] = { 0 }, uncore[NR_PMU_KINDS + 1] = { 0 };
	const struct metric_row *row, *other;

	(void)state;
	for (size_t i = 0; (row = metric_row_at(i)); i++) {
		check_metric(row);
		uncore[row->kind]++;
		if (row->kind == PMU_CORE && row->by_default)
			core[row->platform]++;
		for (size_t j = 0; j < i; j++) {
			other = metric_row_at(j);
			assert_string_not_equal(other->id, row->id);
		}
	}
	for (enum pmu_kind kind = 0; kind < PMU_UNKNOWN; kind++)
		assert_true(uncore[kind]);
	assert_in_range(core[PMU_PLATFORM_T410], 8, 12);
	assert_in_range(core[PMU_PLATFORM_GRACE], 8, 12);
	assert_null(metric_row_at(SIZE_MAX));
}

static void test_core_events(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_core_event_rows; i++) {
		const struct core_event_row *row = &core_event_rows[i];

		assert_true(row->code);
		assert_true(is_words(row->source));
		for (size_t j = 0; j < i; j++) {
			assert_string_not_equal(core_event_rows[j].name, row->name);
			assert_int_not_equal(core_event_rows[j].code, row->code);
		}
	}
	assert_int_equal(core_event_find(PMU_PLATFORM_GRACE, "INST_RETIRED")->code, 8);
	assert_int_equal(core_event_find(PMU_PLATFORM_T410, "CPU_CYCLES")->code, 0x11);
	assert_null(core_event_find(PMU_PLATFORM_T410, "inst_retired"));
	assert_null(core_event_find(PMU_PLATFORM_T410, ""));
}

static const struct metric_row *metric_find(const char *id)
{
	const struct metric_row *row;

	for (size_t i = 0; (row = metric_row_at(i)); i++) {
		if (!strcmp(row->id, id))
			return row;
	}
	return NULL;
}

/* Every metric has a line in the fixture, whose answers Python computed. */
static void test_known_answers(void **state)
{
	FILE *file = fopen(TESTS_DIR "/fixtures/metrics.txt", "r");
	size_t nr = 0;
	char line[1024];

	(void)state;
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		char *at = line, *id = strsep(&at, "\t"), *formula = strsep(&at, "\t");
		char *list = strsep(&at, "\t"), *expected = strsep(&at, "\n");
		double values[STAT_MAX_INPUTS], want, got;
		const struct metric_row *row;
		struct formula *f = NULL;

		if (*id == '#')
			continue;
		row = metric_find(id);
		assert_non_null(row);
		assert_string_equal(row->formula, formula);
		assert_int_equal(formula_parse(formula, NULL, &f), 0);
		for (size_t i = 0; i < formula_nr_names(f); i++)
			assert_int_equal(parse_double(strsep(&list, ","), &values[i]), 0);
		assert_null(list);
		assert_int_equal(parse_double(expected, &want), 0);
		assert_true(formula_eval(f, values, &got));
		/* The same operations in the same order: no tolerance. */
		assert_true(got == want);
		formula_free(f);
		nr++;
	}
	fclose(file);
	assert_int_equal(nr, nr_metric_rows_t410 + nr_metric_rows_grace + nr_metric_rows_core +
				     nr_metric_rows_controllers);
}

/*
 * Computed by hand, from the rates of tests/machine/checks/rates.conf over a second; and what
 * the Grace tuning guide prints beside its counts.
 */
static const struct {
	const char *id;
	const char *values[5];
	double input[5];
	double expected;
} by_hand[] = {
	{ "t410.ucf.mem_read_bandwidth",
	  { "mem_bytes_rd", "duration_ns" },
	  { 51.03e9, 1e9 },
	  51.03 },
	{ "t410.ucf.mem_read_request_rate", { "mem_access_rd", "cycles" }, { 1.25e9, 2e9 }, 0.625 },
	{ "t410.pcie.read_latency_cycles", { "rd_cum_outs", "rd_req" }, { 75e9, 93.75e6 }, 800 },
	{ "t410.pcie.read_latency",
	  { "rd_cum_outs", "rd_req", "cycles", "duration_ns" },
	  { 75e9, 93.75e6, 2e9, 1e9 },
	  400 },
	{ "t410.cmem.read_latency_cycles", { "rd_cum_outs", "rd_req" }, { 300e9, 1e9 }, 300 },
	{ "t410.cmem.read_bandwidth", { "rd_req", "duration_ns" }, { 1e9, 1e9 }, 32 },
	{ "t410.cmem.reads_in_flight", { "rd_cum_outs", "cycles" }, { 300e9, 2e9 }, 150 },
	{ "t410.nvclink.frequency", { "cycles", "duration_ns" }, { 1.5e9, 1e9 }, 1.5 },
	{ "grace.scf.cmem_read_bandwidth",
	  { "cmem_rd_data", "duration_ns" },
	  { 35572420, 88826372 },
	  12.81508424097294 },
	{ "grace.scf.remote_read_bandwidth",
	  { "remote_socket_rd_data", "duration_ns" },
	  { 36189087, 134526031 },
	  8.60837694676356 },
	{ "grace.scf.frequency",
	  { "cycles", "duration_ns" },
	  { 10515321, 168225760 },
	  0.06250719865970586 },
	{ "grace.pcie.read_bandwidth",
	  { "rd_bytes_loc", "rd_bytes_rem", "duration_ns" },
	  { 1168472064, 49152, 1966391711 },
	  0.594246410551514 },
	{ "grace.nvlink_c2c0.bidirectional_bandwidth",
	  { "rd_bytes_loc", "wr_bytes_loc", "duration_ns" },
	  { 208418816, 4026531840, 777059774 },
	  5.449967682923708 },
	{ "grace.pcie.read_utilization",
	  { "rd_req_loc", "rd_req_rem", "ports", "cycles" },
	  { 3e8, 1e8, 2, 2e9 },
	  10 },
	{ "grace.scf.remote_write_utilization_s<s>_to_s<o>",
	  { "socket_<o>_wb_access", "socket_<o>_wr_access", "cycles" },
	  { 1e9, 5e8, 3e9 },
	  25 },
	{ "t410.core.bus_bandwidth", { "BUS_ACCESS", "duration_s" }, { 1e9, 2 }, 16e9 },
	{ "grace.core.ipc", { "INST_RETIRED", "CPU_CYCLES" }, { 5e9, 2e9 }, 2.5 },
};

static void test_by_hand(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(by_hand); i++) {
		const struct metric_row *row = metric_find(by_hand[i].id);
		struct formula *f = NULL;
		double got = 0;

		assert_non_null(row);
		assert_int_equal(formula_parse(row->formula, NULL, &f), 0);
		for (size_t j = 0; j < formula_nr_names(f); j++)
			assert_string_equal(formula_name(f, j), by_hand[i].values[j]);
		assert_true(formula_eval(f, by_hand[i].input, &got));
		assert_true(fabs(got - by_hand[i].expected) <= 1e-14 * by_hand[i].expected);
		formula_free(f);
	}
}

static void test_metric_text(void **state)
{
	char text[16] = "before";
	char *large;

	(void)state;
	assert_int_equal(metric_text("a_s<s>_to_s<o>", 3, 0, text, sizeof(text)), 0);
	assert_string_equal(text, "a_s3_to_s0");
	assert_int_equal(metric_text("<o><s><x><", 10, 2, text, sizeof(text)), 0);
	assert_string_equal(text, "210<x><");
	assert_int_equal(metric_text("", 0, 0, text, 1), 0);
	assert_string_equal(text, "");
	strcpy(text, "before");
	assert_int_equal(metric_text("", 0, 0, text, 0), -ENAMETOOLONG);
	assert_int_equal(metric_text("0123456789012345", 0, 0, text, sizeof(text)), -ENAMETOOLONG);
	assert_int_equal(metric_text("<s>", 10, 0, text, 2), -ENAMETOOLONG);
	assert_string_equal(text, "before");
	assert_int_equal(metric_text("012345678901234", 0, 0, text, sizeof(text)), 0);
	large = calloc(1, 2000);
	assert_non_null(large);
	memset(large, 'a', 1999);
	assert_int_equal(metric_text(large, 0, 0, large, 2000), -ENAMETOOLONG);
	free(large);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_event_rows),  cmocka_unit_test(test_event_find),
		cmocka_unit_test(test_filter_rows), cmocka_unit_test(test_constraint_rows),
		cmocka_unit_test(test_device_rows), cmocka_unit_test(test_family_names),
		cmocka_unit_test(test_golden),	    cmocka_unit_test(test_metric_rows),
		cmocka_unit_test(test_core_events), cmocka_unit_test(test_known_answers),
		cmocka_unit_test(test_by_hand),	    cmocka_unit_test(test_metric_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
