// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Ids of jobs as schedulers and engines print them. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define ID  "c5451972db8726aff08e8c2409a5c4323dca6630e3fffd2cdda7404131b77b9a"
#define POD "3f0c1ad2-5b7e-4c11-9a64-0d2f8e7b6c15"

static void accepted(void **state)
{
	static const struct {
		const char *text;
		enum scheduler scheduler;
		const char *id, *step, *flux;
	} rows[] = {
		/* squeue, sacct */
		{ "12", SCHEDULER_NONE, "12", "", "" },
		{ "slurm:12", SCHEDULER_SLURM, "12", "", "" },
		{ "slurm:4294967295", SCHEDULER_SLURM, "4294967295", "", "" },
		{ "12.batch", SCHEDULER_SLURM, "12", "batch", "" },
		{ "12.0", SCHEDULER_SLURM, "12", "0", "" },
		{ "slurm:12.0+2", SCHEDULER_SLURM, "12", "0+2", "" },
		{ "12.interactive", SCHEDULER_SLURM, "12", "interactive", "" },
		{ "4700_3", SCHEDULER_NONE, "4700_3", "", "" },
		{ "4700_0.extern", SCHEDULER_SLURM, "4700_0", "extern", "" },
		{ "slurm:4700_3", SCHEDULER_SLURM, "4700_3", "", "" },
		{ "slurm:s5K1KKYAYG5D00", SCHEDULER_SLURM, "s5K1KKYAYG5D00", "", "" },
		/* flux jobs */
		{ "\xc6\x92pUt87KFAo", SCHEDULER_FLUX, "fpUt87KFAo", "", "" },
		{ "fpUt87KFAo", SCHEDULER_NONE, "fpUt87KFAo", "", "" },
		{ "flux:fpUt87KFAo", SCHEDULER_FLUX, "fpUt87KFAo", "", "" },
		{ "flux:\xc6\x92pUt87KFAo", SCHEDULER_FLUX, "fpUt87KFAo", "", "" },
		{ "flux:6080526582546432", SCHEDULER_FLUX, "fpUt87KFAo", "", "" },
		{ "6080526582546432", SCHEDULER_NONE, "6080526582546432", "", "fpUt87KFAo" },
		{ "0x159a34eb000000", SCHEDULER_FLUX, "fpUt87KFAo", "", "" },
		{ "0015.9a34.eb00.0000", SCHEDULER_FLUX, "fpUt87KFAo", "", "" },
		{ "job.0015.9a34.eb00.0000", SCHEDULER_FLUX, "fpUt87KFAo", "", "" },
		{ "flux:f11pUt87KFAo", SCHEDULER_FLUX, "fpUt87KFAo", "", "" },
		{ "flux:0", SCHEDULER_FLUX, "f1", "", "" },
		{ "flux:18446744073709551615", SCHEDULER_FLUX, "fjpXCZedGfVQ", "", "" },
		/* kubectl, docker ps, crictl ps */
		{ POD, SCHEDULER_NONE, POD, "", "" },
		{ "3F0C1AD2-5B7E-4C11-9A64-0D2F8E7B6C15", SCHEDULER_NONE, POD, "", "" },
		{ "3f0c1ad2_5b7e_4c11_9a64_0d2f8e7b6c15", SCHEDULER_NONE, POD, "", "" },
		{ "pod3f0c1ad2_5b7e_4c11_9a64_0d2f8e7b6c15", SCHEDULER_NONE, POD, "", "" },
		{ "3f0c1ad2_5b7e", SCHEDULER_NONE, "3f0c1ad2-5b7e", "", "" },
		{ "kubernetes:12345678_1234", SCHEDULER_KUBERNETES, "12345678-1234", "", "" },
		{ "pod/web-0", SCHEDULER_NONE, "web-0", "", "" },
		{ "kubernetes:web-0", SCHEDULER_KUBERNETES, "web-0", "", "" },
		{ "containerd://" ID, SCHEDULER_NONE, ID, "", "" },
		{ "c5451972db87", SCHEDULER_NONE, "c5451972db87", "", "" },
		{ "C5451972DB87", SCHEDULER_NONE, "c5451972db87", "", "" },
		{ "docker:" ID, SCHEDULER_DOCKER, ID, "", "" },
		{ "podman:c5451972db87", SCHEDULER_PODMAN, "c5451972db87", "", "" },
		/* virsh, lxc, systemctl */
		{ "libvirt:Web 01", SCHEDULER_LIBVIRT, "Web 01", "", "" },
		{ "Web01", SCHEDULER_NONE, "Web01", "", "" },
		{ "lxc:101", SCHEDULER_LXC, "101", "", "" },
		{ "101.scope", SCHEDULER_NONE, "101.scope", "", "" },
		{ "0xmas", SCHEDULER_NONE, "0xmas", "", "" },
		{ "job.fast", SCHEDULER_NONE, "job.fast", "", "" },
		{ "systemd:nginx", SCHEDULER_SYSTEMD, "nginx.service", "", "" },
		{ "systemd:dev-disk-by\\x2duuid-1234.swap", SCHEDULER_SYSTEMD,
		  "dev-disk-by-uuid-1234.swap", "", "" },
		{ "app-a\\x2db@x.service", SCHEDULER_NONE, "app-a-b@x.service", "", "" },
		{ "systemd:dbus-:1.2-org.x@0.service", SCHEDULER_SYSTEMD,
		  "dbus-:1.2-org.x@0.service", "", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct job_wanted w;
		const char *wrong = job_wanted_parse(rows[i].text, &w);

		if (wrong || w.scheduler != rows[i].scheduler || strcmp(w.id, rows[i].id) ||
		    strcmp(w.step, rows[i].step) || strcmp(w.flux, rows[i].flux))
			fail_msg("%s: %s, %s:%s step %s flux %s", rows[i].text,
				 wrong ? wrong : "taken", scheduler_name(w.scheduler), w.id, w.step,
				 w.flux);
	}
}

static void refused(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "", "slurm:12" },
		{ "a/b", "slurm:12" },
		{ "a\tb", "slurm:12" },
		{ "nobody:12", "slurm:12" },
		{ "slurm:", "slurm:12" },
		{ "slurm:abc", "12.batch" },
		{ "slurm:0", "12.batch" },
		{ "slurm:012", "12.batch" },
		{ "slurm:4294967296", "12.batch" },
		{ "slurm:12.foo", "12.batch" },
		{ "slurm:12_", "12.batch" },
		{ "slurm:12_3_4", "12.batch" },
		{ "4700_[1-3]", "12_3" },
		{ "4711+1", "scontrol" },
		{ "12345678.ba+", "sacct -o" },
		{ "\xc6\x92", "f58" },
		{ "\xc6\x92pUt0", "f58" },
		{ "flux:pUt87KFAo", "f58" },
		{ "flux:18446744073709551616", "f58" },
		{ "flux:fjpXCZedGfVQz", "f58" },
		{ "flux:0000.0004.74ab", "f58" },
		{ "docker:happy_bell", "--no-trunc" },
		{ "docker:c5451972db8", "--no-trunc" },
		{ "container:" ID "0", "--no-trunc" },
		{ "kubernetes:Web_0", "pod" },
		{ "systemd:x.slice", "scope" },
		{ "systemd:x.timer", "scope" },
		{ "libvirt:" POD, "virsh" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct job_wanted w;
		const char *wrong = job_wanted_parse(rows[i].text, &w);

		if (!wrong || !strstr(wrong, rows[i].why))
			fail_msg("%s: %s", rows[i].text, wrong ? wrong : "was taken");
	}
}

static void long_ones(void **state)
{
	struct job_wanted w;
	char text[2 * JOB_ID_LEN];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[JOB_ID_LEN - 1] = '\0';
	assert_null(job_wanted_parse(text, &w));
	assert_string_equal(w.id, text);
	text[JOB_ID_LEN - 1] = 'x';
	text[sizeof(text) - 1] = '\0';
	assert_non_null(job_wanted_parse(text, &w));
	/* a suffix that does not fit */
	memcpy(text, "systemd:", 8);
	text[8 + JOB_ID_LEN - 1] = '\0';
	job_wanted_parse(text, &w);
	assert_true(strlen(w.id) < sizeof(w.id));
}

static void arrays(void **state)
{
	(void)state;
	assert_true(job_array_fits("4700_3", "4700_3"));
	assert_true(job_array_fits("4700_3", "4700"));
	assert_false(job_array_fits("4700_3", "470"));
	assert_false(job_array_fits("4700_31", "4700_3"));
	assert_false(job_array_fits("4700_3", "4700_"));
	assert_false(job_array_fits("", ""));
	assert_false(job_array_fits("", "4700"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepted),
		cmocka_unit_test(refused),
		cmocka_unit_test(long_ones),
		cmocka_unit_test(arrays),
	};

	return cmocka_run_group_tests_name("job spelling", tests, NULL, NULL);
}
