// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Closing reports are read: as they were written, damaged, and hostile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <cmocka.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account_world.h"
#include "base/array.h"
#include "base/text.h"
#include "random.h"
#include "report/job/job_merge.h"
#include "report/job/job_report.h"

static char *file_text(const char *name)
{
	FILE *f = world_must(fopen(name, "re"));
	char *text = NULL;
	size_t size = 0;

	assert_true(getdelim(&text, &size, '\0', f) > 0);
	fclose(f);
	return text;
}

/* A report that was read is written as it was. */
static void test_round_trip(void **state)
{
	static const char *const names[] = { "job", "job-trouble", "job-energy", "job-together" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char name[PATH_MAX], *text, *written = NULL;
		struct job_reading r;
		struct diag d = { 0 };
		struct job_context c = { .host = &r.host, .node = &r.node };
		size_t size;
		FILE *f = world_must(open_memstream(&written, &size));

		snprintf(name, sizeof(name), "tests/golden/%s%s.json",
			 i < 2 ? "../../docs/examples/" : "", names[i]);
		text = file_text(name);
		if (job_read(text, strlen(text), &r, &d))
			fail_msg("%s: %s", name, d.what);
		assert_int_equal(job_json_write(f, &c, &r.job), 0);
		fclose(f);
		/* peaks are the machine's, and not read */
		json_t *was = json_loads(text, 0, NULL), *is = json_loads(written, 0, NULL);

		json_object_del(was, "peak");
		json_object_del(json_object_get(was, "quality"), "least_running_ratio");
		json_object_del(json_object_get(is, "quality"), "least_running_ratio");
		for (size_t k = 0; k < json_array_size(json_object_get(was, "counters")); k++) {
			json_t *x = json_array_get(json_object_get(was, "counters"), k);
			json_t *y = json_array_get(json_object_get(is, "counters"), k);

			x = json_object_get(x, "machine");
			y = json_object_get(y, "machine");
			assert_true(fabs(json_number_value(json_object_get(x, "running_ratio")) -
					 json_number_value(json_object_get(y, "running_ratio"))) <
				    1e-9);
			json_object_del(x, "running_ratio");
			json_object_del(y, "running_ratio");
		}
		assert_true(json_equal(was, is));
		json_decref(was);
		json_decref(is);
		job_reading_release(&r);
		free(written);
		free(text);
	}
}

#define DIGITS_40 "9999999999999999999999999999999999999999"

/* One change of the example, and what is said of it */
static const struct {
	const char *from, *to, *said;
	int err;
} changes[] = {
	{ "t410trace.job/1", "t410trace.job/2", "another version", -EPROTONOSUPPORT },
	{ "t410trace.job/1", "t410trace.jobs/1", "no closing report", -EBADMSG },
	{ "\"late_start\":false", "\"late_start\":false,\"nodes\":{}", "merged", -EALREADY },
	{ "\"value\":", "\"value\":1", "is not the sum", -EBADMSG },
	{ "\"attributed\":", "\"attributed\":1", "its \"", -EBADMSG },
	{ "\"missing\":0", "\"missing\":120", "missing", -EBADMSG },
	{ "\"state\":\"ended\"", "\"state\":\"over\"", "state", -EBADMSG },
	{ "\"on_cpu_ns\":", "\"on_cpu_ns\":-", "on_cpu_ns", -EBADMSG },
	{ "\"socket\":0", "\"socket\":\"x\"", "socket", -EBADMSG },
	{ "\"intervals\":", "\"interval\":", "intervals", -EBADMSG },
	{ "\"id\":\"12\"", "\"id\":\"\"", "\"id\"", -EBADMSG },
	{ "{", "[", "damaged", -EBADMSG },
	{ "\"on_cpu_ns\":", "\"on_cpu_ns\":NaN,\"x\":", "damaged", -EBADMSG },
	{ "\"on_cpu_ns\":", "\"on_cpu_ns\":1e999,\"x\":", "damaged", -EBADMSG },
	{ "\"on_cpu_ns\":", "\"on_cpu_ns\":1e3,\"x\":", "on_cpu_ns", -EBADMSG },
	{ "\"on_cpu_ns\":", "\"on_cpu_ns\":99999999999999999999,\"x\":", "damaged", -EBADMSG },
	{ "\"on_cpu_ns\":", "\"on_cpu_ns\":\"" DIGITS_40 "\",\"x\":", "on_cpu_ns", -EBADMSG },
	{ "\"on_cpu_ns\":", "\"on_cpu_ns\":\"0x7\",\"x\":", "on_cpu_ns", -EBADMSG },
	{ "\"on_cpu_ns\":", "\"on_cpu_ns\":1,\"on_cpu_ns\":", "damaged", -EBADMSG },
	{ "\"end_ns\":", "\"end_ns\":\"9223372036854775808\",\"x\":", "no time", -EBADMSG },
	{ "\"index\":0", "\"index\":1", "that the job has not", -EBADMSG },
	{ "\"index\":0", "\"index\":4294967296", "that the job has not", -EBADMSG },
};

static void test_damaged(void **state)
{
	char *text = file_text("docs/examples/job.json");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		const char *at = world_must(strstr(text, changes[i].from));
		struct job_reading r;
		struct diag d = { 0 };
		char *changed;

		assert_true(asprintf(&changed, "%.*s%s%s", (int)(at - text), text, changes[i].to,
				     at + strlen(changes[i].from)) > 0);
		if (job_read(changed, strlen(changed), &r, &d) != changes[i].err ||
		    !strstr(d.what, changes[i].said))
			fail_msg("%s: \"%s\"", changes[i].to, d.what);
		free(changed);
	}
	free(text);
}

/* Cut anywhere, or with a character that is another one, it is read or refused, and nothing else. */
static void test_hostile(void **state)
{
	char *text = file_text("docs/examples/job.json");
	size_t size = strlen(text);
	struct draw d = { 77 };

	(void)state;
	for (size_t i = 0; i < draw_times(3000, 100); i++) {
		size_t at = draw_below(&d, size);
		struct job_reading r;
		char was = text[at];

		if (i % 4)
			text[at] = "0123456789-\"{}[],:.ex"[draw_below(&d, 21)];
		if (!job_read(text, i % 4 ? size : at, &r, NULL))
			job_reading_release(&r);
		text[at] = was;
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
