// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Jobs that are asked for in the spellings of schedulers and engines. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>

#include "book_world.h"
#include "base/array.h"
#include "engine/identity/internal.h"

static void told(struct world *w, uint64_t cgroup, const char *path)
{
	assert_int_equal(identity_cgroup(w->id, cgroup, path), 0);
}

static const struct job *job_of(const struct world *w, uint64_t cgroup)
{
	const struct cgroup_name *c = identity_cgroup_find(w->id, cgroup);

	return c ? c->job : NULL;
}

static void long_ids_asked_for(void **state)
{
	static const char container[] =
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	static const struct {
		const char *id, *wanted;
		bool fits;
	} rows[] = {
		{ container, container, true },
		{ container, "0123456789ab", true },
		{ container, "0123456789a", false },
		{ container, "0123456789ac", false },
		{ "12345678-1234-1234-1234-123456789012", "12345678-1234", true },
		{ "12345678-1234-1234-1234-123456789012", "12345678", false },
		{ "12", "12", true },
		{ "12", "123456789012", false },
		{ "123456789012345", "123456789012", false },
		{ "a-unit-with-a-long-name-of-its-own.service", "a-unit-with-a", false },
	};
	struct world w = world_new(ROW_JOB, false);
	char path[100];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(job_id_fits(rows[i].id, rows[i].wanted), rows[i].fits);
	snprintf(path, sizeof(path), "/docker/%s", container);
	told(&w, 3, path);
	assert_int_equal(identity_select_jobs(w.id, (char *[]){ "docker:0123456789ab" }, 1), 0);
	assert_true(job_of(&w, 3)->chosen);
	world_free(&w);
}

/* One of each kind: who is selected, and which of the wishes were for somebody. */
static void parts_asked_for(void **state)
{
	static const char container[] =
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	static char *const wishes[] = { "12.0",		"4700_3",	    "slurm:4800",
					"web-0",	"13.batch",	    "4700_4",
					"0123456789ab", "6080526582546432", "a/b" };
	static const bool seen[] = { true, true, true, true, false, false, true, true, false };
	struct world w = world_new(ROW_JOB, false);
	char path[160];

	(void)state;
	told(&w, 3, "/slurm/uid_0/job_12");
	told(&w, 4, "/slurm/uid_0/job_12/step_0");
	assert_int_equal(identity_select_jobs(w.id, wishes, ARRAY_SIZE(wishes)), 0);
	told(&w, 5, "/slurm/uid_0/job_12/step_1");
	told(&w, 6, "/slurm/uid_0/job_14/step_0");
	told(&w, 7, "/slurm/uid_0/job_15");
	told(&w, 8, "/kubepods/pod12345678-1234-1234-1234-123456789012");
	snprintf(path, sizeof(path), "/kubepods/pod12345678-1234-1234-1234-123456789013/%s",
		 container);
	told(&w, 9, path);
	told(&w, 10, "/user.slice/shell-0-fpUt87KFAo.service");
	told(&w, 11, "/slurm/uid_0/job_16");
	/* a step alone, and its job's row */
	assert_true(identity_cgroup_find(w.id, 4)->selected);
	assert_false(identity_cgroup_find(w.id, 3)->selected);
	assert_false(identity_cgroup_find(w.id, 5)->selected);
	assert_true(job_of(&w, 3)->selected);
	assert_false(job_of(&w, 3)->chosen);
	assert_true(identity_cgroup_find(w.id, 9)->selected);
	assert_true(job_of(&w, 10)->chosen);
	/* what only tasks know; of a wish that nothing can be, nobody is meant */
	assert_false(job_of(&w, 8)->selected);
	assert_false(job_of(&w, 6)->selected);
	identity_job_news(w.id, &(struct trace_job_news){ .cgroup_id = 6, .id = "14 4700_3" });
	identity_job_news(w.id, &(struct trace_job_news){ .cgroup_id = 7, .id = "15 4800_1" });
	identity_job_news(w.id, &(struct trace_job_news){ .cgroup_id = 8, .name = "web-0" });
	identity_job_news(w.id, &(struct trace_job_news){ .cgroup_id = 11, .id = "16 4700_31" });
	assert_true(identity_cgroup_find(w.id, 6)->selected);
	assert_string_equal(job_of(&w, 6)->who.id, "14");
	assert_true(job_of(&w, 7)->chosen);
	assert_true(job_of(&w, 8)->chosen);
	assert_false(job_of(&w, 11)->selected);
	for (size_t i = 0; i < ARRAY_SIZE(wishes); i++)
		assert_int_equal(identity_job_seen(w.id, i), seen[i]);
	world_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_ids_asked_for),
		cmocka_unit_test(parts_asked_for),
	};

	return cmocka_run_group_tests_name("jobs asked for", tests, NULL, NULL);
}
