// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ctype.h>
#include <errno.h>
#include <cmocka.h>
#include <jansson.h>
#include <zlib.h>

#include "base/array.h"
#include "base/base32.h"
#include "base/sums.h"
#include "report/format.h"
#include "report/job/job_report.h"
#include "report/job/job_sums.h"
#include "sample_account.h"
#include "sample_report.h"

/* The examples in docs/ are what the program writes. */
#define EXAMPLE(name) "../../docs/examples/" name

struct wanted {
	uint64_t cgroup;
	struct account_job jobs[2];
	size_t nr;
};

static int take(void *arg, const struct account_job *j)
{
	struct wanted *w = arg;

	if (!w->cgroup || j->job.cgroup_id == w->cgroup)
		w->jobs[w->nr++] = world_copy_job(j);
	return 0;
}

/* The accounts, jobs 12 and 13, and what they are read with. */
struct sample {
	struct accounts *a;
	struct job_context c;
	struct account_job jobs[2];
};

static struct sample sample(bool trouble)
{
	struct sample s = { .a = sample_accounts(trouble) };
	struct wanted w = { 0 };

	assert_int_equal(accounts_each(s.a, take, &w), 0);
	assert_int_equal(w.nr, 2);
	s.c = (struct job_context){ .host = &world_host, .node = accounts_node(s.a) };
	memcpy(s.jobs, w.jobs, sizeof(s.jobs));
	return s;
}

static void sample_free(struct sample *s)
{
	account_job_release(&s->jobs[0]);
	account_job_release(&s->jobs[1]);
	accounts_free(s->a);
}

static char *json_text(const struct sample *s, size_t job)
{
	char *text = NULL;
	size_t len;
	FILE *f = world_must(open_memstream(&text, &len));

	assert_int_equal(job_json_write(f, &s->c, &s->jobs[job]), 0);
	assert_int_equal(fclose(f), 0);
	return text;
}

static char *table_text(const struct sample *s, size_t job, const struct table_options *o)
{
	char *text = NULL;
	size_t len;
	FILE *f = world_must(open_memstream(&text, &len));

	assert_int_equal(job_table_write(f, &s->c, &s->jobs[job], o), 0);
	assert_int_equal(fclose(f), 0);
	return text;
}

static char *list_text(const struct sample *s, size_t nr, const struct table_options *o)
{
	char *text = NULL;
	size_t len;
	FILE *f = world_must(open_memstream(&text, &len));

	if (o)
		assert_int_equal(jobs_table_write(f, &s->c, s->jobs, nr, o), 0);
	else
		assert_int_equal(jobs_json_write(f, &s->c, s->jobs, nr), 0);
	assert_int_equal(fclose(f), 0);
	return text;
}

static void check(const char *name, char *text)
{
	sample_check_golden(name, text);
	free(text);
}

static void test_golden(void **state)
{
	struct table_options plain = { 0 }, wide = { .width = 120, .verbose = true };
	struct table_options narrow = { .width = 60, .quiet = true, .top = 1 };
	struct sample s = sample(false);

	(void)state;
	check(EXAMPLE("job.json"), json_text(&s, 0));
	check(EXAMPLE("job.txt"), table_text(&s, 0, &plain));
	check(EXAMPLE("jobs.json"), list_text(&s, 2, NULL));
	check(EXAMPLE("jobs.txt"), list_text(&s, 2, &plain));
	check("job-verbose-120.txt", table_text(&s, 0, &wide));
	check("job-60-quiet-top.txt", table_text(&s, 0, &narrow));
	check("jobs-120.txt", list_text(&s, 2, &wide));
	check("jobs-60-top.txt", list_text(&s, 2, &narrow));
	check("jobs-none.txt", list_text(&s, 0, &plain));
	check("jobs-none.json", list_text(&s, 0, NULL));
	sample_free(&s);
	s = sample(true);
	check(EXAMPLE("job-trouble.json"), json_text(&s, 0));
	check(EXAMPLE("job-trouble.txt"), table_text(&s, 0, &plain));
	check("job-running-trouble.txt", table_text(&s, 1, &plain));
	check("jobs-trouble.txt", list_text(&s, 2, &plain));
	sample_free(&s);
}

/* --- JSON */

static json_t *parse(char *text)
{
	json_t *o = world_must(json_loads(text, JSON_REJECT_DUPLICATES, NULL));

	free(text);
	return o;
}

static uint64_t integer(json_t *o, const char *key)
{
	json_t *value = json_object_get(o, key);

	if (!json_is_integer(value))
		fail_msg("%s is no integer", key);
	return (uint64_t)json_integer_value(value);
}

/* The job, the others and nobody: together they are the counter, to the byte. */
static void check_conserved(json_t *report)
{
	json_t *counters = json_object_get(report, "counters"), *c, *reason, *metric;
	uint64_t of_job = 0, of_machine = 0;
	const char *key;
	size_t i;

	assert_int_equal(json_array_size(counters), WORLD_COUNTERS);
	json_array_foreach (counters, i, c) {
		json_t *machine = json_object_get(c, "machine");
		uint64_t sum = 0;

		json_object_foreach (json_object_get(machine, "unattributed"), key, reason)
			sum += (uint64_t)json_integer_value(reason);
		assert_int_equal(sum, integer(c, "unattributed"));
		assert_int_equal(integer(c, "value") + integer(c, "others"),
				 integer(machine, "attributed"));
		assert_int_equal(integer(machine, "attributed") + sum, integer(machine, "value"));
		assert_true(integer(c, "low") <= integer(c, "value"));
		assert_true(integer(c, "value") <= integer(c, "high"));
		if (i % 6 == 0 || i % 6 == 2 || i % 6 == 3) {
			of_job += integer(c, "value");
			of_machine += integer(machine, "value");
		}
	}
	metric = json_object_get(json_object_get(report, "metrics"), "mem_read_bytes");
	assert_int_equal(integer(metric, "value"), of_job);
	assert_int_equal(integer(metric, "machine"), of_machine);
	assert_int_equal(integer(metric, "value") + integer(metric, "others") +
				 integer(metric, "unattributed"),
			 of_machine);
}

static void test_conserved(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct sample s = sample(i / 2);
		json_t *o = parse(json_text(&s, i % 2));

		check_conserved(o);
		json_decref(o);
		sample_free(&s);
	}
}

/* Reads and writes as one number are a sum of their own, in every text of the job. */
/* The lines of directions and of devices are all memory, which the job, others and nobody share. */
static void test_all_memory(void **state)
{
	(void)state;
	for (int trouble = 0; trouble < 2; trouble++) {
		struct sample s = sample(trouble);

		for (size_t i = 0; i < ARRAY_SIZE(s.jobs); i++) {
			const struct account_job *j = &s.jobs[i];
			const struct job_sum_value all = job_sum_all(s.c.node, j, &j->whole);
			sum128 lines = 0;

			for (int d = 0; d < NR_DIRECTIONS; d++) {
				lines += job_sum_of(s.c.node, j, &j->whole, JOB_SUM_MEM, d).value;
				lines += job_sum_of(s.c.node, j, &j->whole, JOB_SUM_DEVICE_MEM, d)
						 .value;
			}
			assert_true(all.counted && all.value > 0);
			assert_true(lines == all.value);
			assert_true(all.value + all.others + all.unattributed == all.machine);
		}
		sample_free(&s);
	}
}

static void test_together(void **state)
{
	const struct table_options wide = { .width = 120 };
	struct account_counter counters[WORLD_COUNTERS];
	struct accounts_node node;
	struct sample s = sample(false);
	json_t *metrics, *o;
	char *text, *json;
	uint64_t sum = 0;

	(void)state;
	node = *s.c.node;
	s.c.node = &node;
	memcpy(counters, node.counters, sizeof(counters));
	node.counters = counters;
	for (size_t i = 0; i < WORLD_COUNTERS; i++)
		if (!counters[i].bdf[0] && counters[i].source == SOURCE_CPU)
			counters[i].direction = DIRECTION_READWRITE;
	o = parse(json_text(&s, 0));
	metrics = json_object_get(o, "metrics");
	assert_null(json_object_get(metrics, "mem_read_bytes"));
	assert_null(json_object_get(metrics, "mem_write_bytes"));
	for (size_t i = 0; i < WORLD_COUNTERS; i++)
		if (i % 6 < 4)
			sum += integer(json_array_get(json_object_get(o, "counters"), i), "value");
	assert_int_equal(integer(json_object_get(metrics, "mem_readwrite_bytes"), "value"), sum);
	assert_non_null(json_object_get(metrics, "gmem_readwrite_bytes"));
	json_decref(o);
	check("job-together.txt", table_text(&s, 0, &wide));
	check("job-together.json", json_text(&s, 0));
	check("jobs-together.txt", list_text(&s, 2, &wide));
	check("jobs-together.json", list_text(&s, 2, NULL));
	assert_int_equal(job_compact(&s.c, &s.jobs[0], &text), 0);
	assert_int_equal(job_compact_decode(text, &json), 0);
	o = parse(json);
	assert_int_equal(json_integer_value(
				 json_array_get(json_object_get(json_object_get(o, "m"), "mb"), 0)),
			 sum);
	assert_null(json_object_get(json_object_get(o, "m"), "mr"));
	json_decref(o);
	free(text);
	sample_free(&s);
}

/* Energy is a number of its own in every text of the job, and in no sum of bytes. */
static void test_energy(void **state)
{
	const struct table_options wide = { .width = 120, .verbose = true };
	struct account_counter counters[WORLD_COUNTERS];
	struct accounts_node node;
	struct sample s = sample(false);
	json_t *metrics, *energy, *o;
	char *text, *json;
	uint64_t sum = 0, bytes = 0;

	(void)state;
	node = *s.c.node;
	s.c.node = &node;
	memcpy(counters, node.counters, sizeof(counters));
	node.counters = counters;
	for (size_t i = 0; i < WORLD_COUNTERS; i++) {
		if (i % 6 != 3)
			continue;
		snprintf(counters[i].name, sizeof(counters[i].name), "power%u/energy-pkg",
			 counters[i].socket);
		counters[i].source = SOURCE_ANY;
		counters[i].direction = DIRECTION_READWRITE;
		counters[i].destination = DESTINATION_ANY;
		counters[i].unit = UNIT_NANOJOULES;
		counters[i].whole = false;
	}
	o = parse(json_text(&s, 0));
	metrics = json_object_get(o, "metrics");
	for (size_t i = 0; i < WORLD_COUNTERS; i++) {
		uint64_t v = integer(json_array_get(json_object_get(o, "counters"), i), "value");

		sum += i % 6 == 3 ? v : 0;
		bytes += i % 6 == 0 || i % 6 == 2 ? v : 0;
	}
	energy = json_object_get(metrics, "energy_nanojoules");
	assert_int_equal(integer(energy, "value"), sum);
	assert_int_equal(integer(energy, "machine"), integer(energy, "value") +
							     integer(energy, "others") +
							     integer(energy, "unattributed"));
	assert_null(json_object_get(energy, "bytes_per_second"));
	assert_int_equal(integer(json_object_get(metrics, "mem_read_bytes"), "value"), bytes);
	assert_null(json_object_get(metrics, "mem_readwrite_bytes"));
	assert_null(json_object_get(metrics, "remote_read_bytes"));
	json_decref(o);
	check("job-energy.txt", table_text(&s, 0, &wide));
	check("job-energy.json", json_text(&s, 0));
	check("jobs-energy.txt", list_text(&s, 2, &wide));
	check("jobs-energy.json", list_text(&s, 2, NULL));
	assert_int_equal(job_compact(&s.c, &s.jobs[0], &text), 0);
	assert_int_equal(job_compact_decode(text, &json), 0);
	o = parse(json);
	assert_int_equal(json_integer_value(
				 json_array_get(json_object_get(json_object_get(o, "m"), "nj"), 0)),
			 sum);
	json_decref(o);
	free(text);
	sample_free(&s);
}

/* What no counter tells is absent; what was counted and is nothing is 0. */
static void test_absent(void **state)
{
	struct sample s = sample(false);
	json_t *o, *metrics, *counter;

	(void)state;
	for (size_t i = 0; i < s.jobs[0].nr_node; i++)
		if (i % 6 == 3)
			s.jobs[0].node[i].missing = s.jobs[0].intervals;
	o = parse(json_text(&s, 0));
	metrics = json_object_get(o, "metrics");
	assert_non_null(json_object_get(metrics, "gmem_read_bytes"));
	assert_null(json_object_get(metrics, "remote_read_bytes"));
	assert_null(json_object_get(metrics, "cxl_read_bytes"));
	assert_null(json_object_get(metrics, "pcie_write_bytes"));
	assert_int_equal(integer(json_object_get(metrics, "device_mem_read_bytes"), "value"), 0);
	assert_true(json_is_true(
		json_object_get(json_object_get(metrics, "mem_read_bytes"), "partial")));
	counter = json_array_get(json_object_get(o, "counters"), 3);
	assert_null(json_object_get(counter, "value"));
	assert_int_equal(integer(json_object_get(counter, "machine"), "missing"), 120);
	json_decref(o);
	sample_free(&s);
}

/* A report is written whatever is in it: too large numbers, names that are no text. */
static void test_absurd(void **state)
{
	struct table_options plain = { 0 };
	struct sample s = sample(true);
	struct account_job *j = &s.jobs[0];
	const char *value;
	json_t *o;
	char *record;

	(void)state;
	j->whole.totals[0].value = j->whole.totals[0].high = (sum128)1 << 100;
	j->node[0].value = j->node[0].attributed = (sum128)1 << 100;
	assert_int_equal(j->whole.nr_io, 1);
	j->whole.io[0].read_bytes = 1ull << 63;
	j->whole.start_ns = UINT64_MAX;
	j->job.cgroup_id = UINT64_MAX;
	j->covered_ns = 0;
	memset(j->job.name, 0xff, sizeof(j->job.name));
	memset(j->job.id, '\n', sizeof(j->job.id));
	memset(j->steps[0].step, 0x1b, sizeof(j->steps[0].step));
	o = parse(json_text(&s, 0));
	/* exact, and no number that readers would round; the rest is what other counters have */
	value = json_string_value(json_object_get(
		json_object_get(json_object_get(o, "metrics"), "mem_read_bytes"), "value"));
	assert_non_null(value);
	assert_memory_equal(value, "12676506002282", 14);
	assert_int_equal(strlen(value), 31);
	value = json_string_value(json_object_get(
		json_object_get(json_array_get(json_object_get(o, "counters"), 0), "machine"),
		"value"));
	assert_string_equal(value, "1267650600228229401496703205376");
	value = json_string_value(
		json_object_get(json_array_get(json_object_get(o, "devices"), 0), "read_bytes"));
	assert_non_null(value);
	assert_string_equal(value, "9223372036854775808");
	assert_int_equal(integer(o, "duration_ns"), 0);
	json_decref(o);
	record = table_text(&s, 0, &plain);
	assert_null(strchr(record, 0x1b));
	free(record);
	free(list_text(&s, 2, &plain));
	json_decref(parse(list_text(&s, 2, NULL)));
	assert_int_equal(job_compact(&s.c, j, &record), 0);
	free(record);
	sample_free(&s);
}

/* The clock was set forward by an hour: begin and end are what it said, durations are not. */
static void test_clock_set(void **state)
{
	struct table_options plain = { 0 };
	struct sample s = sample(false);
	struct account_job *j = &s.jobs[0];
	char *text = table_text(&s, 0, &plain);
	json_t *o = parse(json_text(&s, 0));
	json_int_t duration = integer(o, "duration_ns");

	(void)state;
	assert_null(strstr(text, "clock:"));
	assert_null(json_object_get(o, "clock_set_ns"));
	assert_int_equal(duration, j->whole.end_ns - j->whole.start_ns);
	free(text);
	json_decref(o);
	j->whole.end_ns += 3600 * WORLD_SECOND;
	j->steps[0].end_ns += 3600 * WORLD_SECOND;
	o = parse(json_text(&s, 0));
	assert_int_equal(integer(o, "duration_ns"), duration);
	assert_int_equal(integer(o, "clock_set_ns"), 3600 * WORLD_SECOND);
	assert_int_equal(integer(json_array_get(json_object_get(o, "steps"), 0), "duration_ns"),
			 duration);
	assert_true(json_real_value(json_object_get(json_object_get(o, "quality"), "coverage")) ==
		    1.0);
	json_decref(o);
	text = table_text(&s, 0, &plain);
	assert_non_null(strstr(text, "clock: it was set forward by 3600"));
	assert_null(strstr(text, "set back"));
	free(text);
	sample_free(&s);
}

/* It was set back: the times are in order, and the report says that they are not the clock's. */
static void test_clock_set_back(void **state)
{
	struct table_options plain = { 0 };
	struct sample s = sample(false);
	struct account_job *j = &s.jobs[0];
	json_t *o;
	char *text;

	(void)state;
	j->clock_back_ns = WORLD_SECOND - 1;
	o = parse(json_text(&s, 0));
	assert_null(json_object_get(o, "clock_back_ns"));
	json_decref(o);
	j->clock_back_ns = 1800 * WORLD_SECOND;
	o = parse(json_text(&s, 0));
	assert_int_equal(integer(o, "clock_back_ns"), 1800 * WORLD_SECOND);
	assert_int_equal(integer(o, "duration_ns"), j->whole.end_ns - j->whole.start_ns);
	json_decref(o);
	text = table_text(&s, 0, &plain);
	assert_non_null(strstr(text, "clock: it was set back by 1800"));
	free(text);
	sample_free(&s);
}

/* No line is wider than it was asked to be, at any width. */
static void test_width(void **state)
{
	struct sample s = sample(true);

	(void)state;
	for (size_t width = 60; width < 130; width++) {
		struct table_options o = { .width = width, .verbose = width % 2 };
		char *texts[] = { table_text(&s, 0, &o), list_text(&s, 2, &o) };

		for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
			char *rest = texts[i], *line;

			while ((line = strsep(&rest, "\n"))) {
				if (format_width(line) > width)
					fail_msg("width %zu: \"%s\"", width, line);
				assert_true(!line[0] || line[strlen(line) - 1] != ' ');
			}
			free(texts[i]);
		}
	}
	sample_free(&s);
}

/* --- compact records */

static void test_compact(void **state)
{
	struct sample s = sample(false);
	char *record = NULL, *json = NULL, *again;
	json_t *o, *m;

	(void)state;
	assert_int_equal(job_compact(&s.c, &s.jobs[0], &record), 0);
	assert_true(strlen(record) < 700);
	assert_int_equal(strspn(record, "abcdefghijklmnopqrstuvwxyz1234567:"), strlen(record));
	assert_int_equal(job_compact_decode(record, &json), 0);
	/* A database that makes all letters capital does no harm. */
	for (size_t i = 0; record[i]; i++)
		record[i] = (char)toupper(record[i]);
	assert_int_equal(job_compact_decode(record, &again), 0);
	assert_string_equal(again, json);
	free(again);
	free(record);
	m = json_loads(json, 0, NULL);
	record = world_must(json_dumps(m, JSON_INDENT(2) | JSON_REAL_PRECISION(4)));
	record = world_must(realloc(record, strlen(record) + 2));
	strcat(record, "\n");
	json_decref(m);
	check(EXAMPLE("job-compact.json"), record);
	o = parse(json);
	m = json_array_get(json_object_get(json_object_get(o, "m"), "mr"), 0);
	assert_int_equal(json_integer_value(m), 3225087450746);
	json_decref(o);
	sample_free(&s);
}

/* Bounds that were rounded are outside of the real ones, and not far. */
static void test_compact_bounds(void **state)
{
	struct sample s = sample(true);
	char *record, *json;
	json_t *o, *full, *m, *v;
	uint64_t low, high;

	(void)state;
	full = parse(json_text(&s, 0));
	v = json_object_get(json_object_get(full, "metrics"), "mem_write_bytes");
	assert_int_equal(job_compact(&s.c, &s.jobs[0], &record), 0);
	assert_int_equal(job_compact_decode(record, &json), 0);
	free(record);
	o = parse(json);
	m = json_object_get(json_object_get(o, "m"), "mw");
	low = (uint64_t)json_integer_value(json_array_get(m, 1));
	high = (uint64_t)json_integer_value(json_array_get(m, 2));
	assert_in_range(integer(v, "low") - low, 1, integer(v, "low") / 1000);
	assert_in_range(high - integer(v, "high"), 1, integer(v, "high") / 1000);
	assert_int_equal(integer(o, "gap"), 7000);
	assert_int_equal(integer(o, "late"), 1);
	assert_int_equal(integer(o, "miss"), 1);
	assert_int_equal(integer(o, "lost"), 1);
	json_decref(o);
	json_decref(full);
	sample_free(&s);
}

/* The longest names, and numbers of which no digit is a zero: it fits. */
static void test_compact_fits(void **state)
{
	struct sample s = sample(true);
	struct account_job *j = &s.jobs[0], big = *j;
	struct draw d = { 7 };
	char *record;

	(void)state;
	for (size_t i = 0; i < sizeof(big.job.id) - 1; i++)
		big.job.id[i] = (char)('!' + draw_below(&d, 90));
	for (size_t i = 0; i < sizeof(big.job.name) - 1; i++)
		big.job.name[i] = (char)('!' + draw_below(&d, 90));
	for (size_t i = 0; i < sizeof(big.job.user) - 1; i++)
		big.job.user[i] = (char)('!' + draw_below(&d, 90));
	for (size_t i = 0; i < big.whole.nr_totals; i++) {
		struct account_total *total = &big.whole.totals[i];

		total->value = draw_u64(&d) / 16;
		total->low = total->value / 2;
		total->high = sum_capped(total->value, total->low);
	}
	assert_int_equal(job_compact(&s.c, &big, &record), 0);
	assert_true(strlen(record) < 4000);
	assert_true(strlen(record) > 1000);
	free(record);
	sample_free(&s);
}

static void check_refused(const char *record, int err)
{
	char *json = NULL;

	assert_int_equal(job_compact_decode(record, &json), err);
	assert_null(json);
}

static void test_compact_hostile(void **state)
{
	struct sample s = sample(false);
	struct draw d = { 11 };
	char *record, *json;
	size_t len, step = draw_times(1, 37);

	(void)state;
	assert_int_equal(job_compact(&s.c, &s.jobs[0], &record), 0);
	len = strlen(record);
	check_refused("", -EINVAL);
	check_refused("t4j", -EINVAL);
	check_refused("t4j1", -EINVAL);
	check_refused("t4j1l", -EINVAL);
	check_refused("t4j1l:", -EINVAL);
	check_refused("t4j1l:!", -EINVAL);
	check_refused("t4jl:", -EINVAL);
	check_refused("t4j0l:aaaa", -EINVAL);
	check_refused("JS1:H4sI", -EINVAL);
	check_refused("t4j2l:anything", -EPROTONOSUPPORT);
	check_refused("T4J12L:", -EPROTONOSUPPORT);
	/* base64, as early commits had it */
	check_refused("T4J1:H4sIAAAAAAAAA6uuBQBDv6ajAgAAAA==", -ENOTSUP);
	check_refused("t4j1:h4si", -ENOTSUP);
	/* No objects, two of them, a key twice, a NUL; and {}, once alone and once behind another */
	check_refused("t4j1l:d6fqqaaaaaaaaaqdrohakabjxnga2aqaaaaa", -EINVAL);
	check_refused("t4j1l:d6fqqaaaaaaaaaqdkovfaaqaq34q55qdaaaaa", -EINVAL);
	check_refused("t4j1l:d6fqqaaaaaaaaaqdvoxk3lqfaa7k4lbdaqaaaaa", -EINVAL);
	check_refused("t4j1l:d6fqqaaaaaaaaaqdvnleuvfsglkadekgwuafhnhbragqaaaa", -EINVAL);
	check_refused("t4j1l:d6fqqaaaaaaaaaqdvnleuvfskjrfbkqfadjehjjabeaaaaa", -EINVAL);
	check_refused(
		"t4j1l:d6fqqaaaaaaaaaqdvoxakacdx6tkgaqaaaab7cyiaaaaaaaaaib2xlqfabb37jvdaiaaaaa",
		-EINVAL);
	assert_int_equal(job_compact_decode("t4j1l:d6fqqaaaaaaaaaadvoxakacdx6tkgaqaaaaa", &json),
			 0);
	assert_string_equal(json, "{}");
	free(json);
	/* Each end and each damaged character is seen: gzip has a check sum. */
	for (size_t i = 6; i < len; i += step) {
		char kept = record[i];

		record[i] = 0;
		check_refused(record, -EINVAL);
		record[i] = kept == 'a' ? 'b' : 'a';
		if (i > 6 + 16)
			check_refused(record, -EINVAL);
		record[i] = (char)(1 + draw_below(&d, 255));
		json = NULL;
		if (!job_compact_decode(record, &json))
			free(json);
		record[i] = kept;
	}
	free(record);
	sample_free(&s);
}

/* A record of so many letters, which compress to almost nothing. */
static char *bomb(size_t letters)
{
	size_t room = letters / 100 + 1000;
	uint8_t *packed = world_must(malloc(room));
	char *text = world_must(malloc(letters + 8)), *encoded, *record;
	z_stream z = { .next_in = (Bytef *)text, .avail_in = (uInt)letters + 8 };

	memset(text, 'a', letters + 8);
	memcpy(text, "{\"a\":\"", 6);
	memcpy(text + letters + 6, "\"}", 2);
	z.next_out = packed;
	z.avail_out = (uInt)room;
	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	encoded = world_must(base32_encode(packed, z.total_out));
	deflateEnd(&z);
	assert_true(asprintf(&record, "%s%s", JOB_COMPACT_PREFIX, encoded) > 0);
	free(encoded);
	free(packed);
	free(text);
	return record;
}

static void test_compact_bomb(void **state)
{
	const size_t most = 1024 * 1024 - 8;
	char *record = bomb(most), *json = NULL;

	(void)state;
	assert_int_equal(job_compact_decode(record, &json), 0);
	assert_int_equal(strlen(json), 1024 * 1024);
	free(json);
	free(record);
	record = bomb(most + 1);
	check_refused(record, -EINVAL);
	free(record);
	record = bomb(100 * most);
	check_refused(record, -EINVAL);
	free(record);
}

static void test_base32(void **state)
{
	/* RFC 4648, 10, in small letters and without the padding */
	static const char *const texts[][2] = {
		{ "", "" },
		{ "f", "my" },
		{ "fo", "mzxq" },
		{ "foo", "mzxw6" },
		{ "foob", "mzxw6yq" },
		{ "fooba", "mzxw6ytb" },
		{ "foobar", "mzxw6ytboi" },
	};
	static const char *const bad[] = {
		"m",	"mz",  "mzx",  "mzxr", "mzxw6y", "m=", "m1", "m8", "mzxw6ytboi======",
		"my\n", " my", "m\xff"
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		char *text = base32_encode((const uint8_t *)texts[i][0], strlen(texts[i][0]));
		uint8_t *bytes = NULL;
		size_t nr = 99;

		assert_string_equal(text, texts[i][1]);
		assert_int_equal(base32_decode(text, &bytes, &nr), 0);
		assert_int_equal(nr, strlen(texts[i][0]));
		assert_memory_equal(bytes, texts[i][0], nr);
		free(bytes);
		free(text);
	}
	/* what is bad leaves nothing behind */
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		uint8_t *bytes = NULL;
		size_t nr = 99;

		assert_int_equal(base32_decode(bad[i], &bytes, &nr), -EINVAL);
		assert_null(bytes);
		assert_int_equal(nr, 99);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),		cmocka_unit_test(test_conserved),
		cmocka_unit_test(test_together),	cmocka_unit_test(test_energy),
		cmocka_unit_test(test_absent),		cmocka_unit_test(test_absurd),
		cmocka_unit_test(test_clock_set),	cmocka_unit_test(test_clock_set_back),
		cmocka_unit_test(test_width),		cmocka_unit_test(test_compact),
		cmocka_unit_test(test_compact_bounds),	cmocka_unit_test(test_compact_fits),
		cmocka_unit_test(test_compact_hostile), cmocka_unit_test(test_compact_bomb),
		cmocka_unit_test(test_base32),		cmocka_unit_test(test_all_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
