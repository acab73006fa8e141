// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Users and owners of devices as text, and as lines of formats of data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "report/csv/csv.h"
#include "report/gpus.h"
#include "report/perfetto/perfetto.h"
#include "sample_report.h"

#define ALONE 2
#define BOTH  4

static struct report *report;

static int setup(void **state)
{
	(void)state;
	report = sample_report(ROW_PROCESS);
	sample_with_users(report);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	report_free(report);
	return 0;
}

static void assert_owner(const struct report_device *d, const char *expected)
{
	char text[GPUS_TEXT_LEN];

	gpus_owner(report, d, text);
	assert_string_equal(text, expected);
}

static void owners(void **state)
{
	struct row_job step = { .scheduler = SCHEDULER_SLURM, .id = "12", .step = "0" };
	struct row_job container = {
		.scheduler = SCHEDULER_DOCKER,
		.id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	};
	struct report_device *d = &report->devices[ALONE];
	char text[GPUS_TEXT_LEN];

	(void)state;
	assert_owner(d, "slurm job 12");
	d->by.undivided = true;
	assert_owner(d, "slurm job 12, not divided among its tasks");
	assert_owner(&report->devices[BOTH], "shared: slurm job 12 on instance 1 and Xorg "
					     "(system.slice/gdm.service) on instance 2");
	d->by.found = OWNERSHIP_FREE;
	d->exclusive[0] = '\0';
	assert_owner(d, "nobody");
	d->by.found = OWNERSHIP_UNKNOWN;
	assert_owner(d, "not known");
	/* found by open nodes: the row has its name */
	strcpy(d->exclusive, report->rows[0].key);
	assert_owner(d, "2 [kworker/u352:11]");
	gpus_user(&(struct device_user){ .pid = 7, .instance = DEVICE_NO_INSTANCE }, text);
	assert_string_equal(text, "process 7");
	/* a job by its step, and a container by the digits of its id that people know */
	gpus_user(&(struct device_user){ .job = &step, .instance = 3 }, text);
	assert_string_equal(text, "slurm job 12 step 0 on instance 3");
	gpus_user(&(struct device_user){ .job = &container, .instance = DEVICE_NO_INSTANCE }, text);
	assert_string_equal(text, "docker job 0123456789ab");
	/* names of others cannot steer the terminal */
	gpus_user(&(struct device_user){ .pid = 7,
					 .comm = "\x1b[31m",
					 .cgroup = (char *)"/a\x1b",
					 .instance = DEVICE_NO_INSTANCE },
		  text);
	assert_string_equal(text, "\\x1b[31m (a\\x1b)");
}

static void shares(void **state)
{
	struct device_users *u = &report->devices[ALONE].by;
	double share, low, high;

	(void)state;
	assert_true(gpus_busy(u, &share, &low, &high));
	assert_true(share == 0.5 && low == 0.5 && high == 0.5);
	assert_false(gpus_idle(u));
	u->users[0].busy_ns = 0;
	assert_true(gpus_idle(u));
	u->told_ns = 0;
	assert_false(gpus_idle(u));
	assert_false(gpus_busy(u, &share, &low, &high));
}

static int put_csv(FILE *out, const struct report *r, const void *arg)
{
	(void)arg;
	return csv_write(out, r);
}

static int put_timeline(FILE *out, const struct report *r, const void *arg)
{
	struct perfetto *t = NULL;
	int err = perfetto_new(out, &t);

	(void)arg;
	if (!err)
		err = perfetto_write(t, r);
	if (!err)
		err = perfetto_finish(t);
	perfetto_free(t);
	return err;
}

static void assert_has(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("not \"%s\" in:\n%s", words, text);
}

static void formats(void **state)
{
	char *text = sample_text(put_csv, report, NULL);

	(void)state;
	assert_has(text, ",user,busy_ns,500000000,500000000,500000000,ns,,0002:81:00.1,");
	assert_has(text, ",user,copy_ns,125000000,,,ns,,0002:81:00.1,");
	assert_has(text, ",user,held_ns,1000000000,,,ns,,0002:81:00.1,");
	assert_has(text, ",101,,python,");
	free(text);
	text = sample_text(put_timeline, report, NULL);
	assert_has(text, "slurm job 12 busy_ns");
	assert_has(text, "Xorg (system.slice/gdm.service) on instance 2 held_ns");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(owners, setup, teardown),
		cmocka_unit_test_setup_teardown(shares, setup, teardown),
		cmocka_unit_test_setup_teardown(formats, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
