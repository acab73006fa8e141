// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/utf8.h"
#include "random.h"
#include "tables/job_rules.h"
#include "tree.h"

#define MAX_ROWS 512

/* The columns of tests/fixtures/job-paths.tsv */
struct row {
	char *path;
	char *scheduler;
	char *id;
	char *step;
	char *job;
	char *part;
	char *provisional;
	char *line;
};

static struct row rows[MAX_ROWS];
static size_t nr_rows;

static char *column(char **rest)
{
	char *text = strsep(rest, "\t");

	assert_non_null(text);
	return strcmp(text, "-") ? text : text + 1;
}

static int read_rows(void **state)
{
	FILE *f = fopen(TESTS_DIR "/fixtures/job-paths.tsv", "r");
	char *line = NULL;
	size_t room = 0;

	(void)state;
	assert_non_null(f);
	while (getline(&line, &room, f) > 0) {
		struct row *r = &rows[nr_rows];
		char *rest;

		if (line[0] == '#')
			continue;
		assert_true(nr_rows < MAX_ROWS);
		nr_rows++;
		line[strcspn(line, "\n")] = '\0';
		rest = r->line = strdup(line);
		r->path = column(&rest);
		r->scheduler = column(&rest);
		r->id = column(&rest);
		r->step = column(&rest);
		r->job = column(&rest);
		r->part = column(&rest);
		r->provisional = column(&rest);
		assert_null(rest);
	}
	free(line);
	fclose(f);
	return 0;
}

static int free_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_rows; i++)
		free(rows[i].line);
	return 0;
}

static void differs(const struct row *r, const char *what, const char *got)
{
	print_error("%s: %s is \"%s\"\n", r->path, what, got);
	fail();
}

static void check(const struct row *r)
{
	struct job_path job;
	const char *name;

	memset(&job, 0xa5, sizeof(job));
	name = job_resolve(r->path, &job) ? scheduler_name(job.scheduler) : "none";
	if (strcmp(name, r->scheduler))
		differs(r, "scheduler", name);
	if (!strcmp(name, "none"))
		return;
	if (strcmp(job.id, r->id))
		differs(r, "id", job.id);
	if (strcmp(job.step, r->step))
		differs(r, "step", job.step);
	if (job.length != strlen(r->job) || strncmp(r->path, r->job, job.length))
		differs(r, "length", r->path + job.length);
	if (job.step_length != strlen(r->part) || strncmp(r->path, r->part, job.step_length))
		differs(r, "step_length", r->path + job.step_length);
	if (job.provisional != !strcmp(r->provisional, "yes"))
		differs(r, "provisional", job.provisional ? "yes" : "no");
}

static void test_vectors(void **state)
{
	(void)state;
	assert_true(nr_rows >= 80);
	for (size_t i = 0; i < nr_rows; i++)
		check(&rows[i]);
}

/* Every scheduler has rows, and so do paths that are nobody's. */
static void test_all_covered(void **state)
{
	unsigned int seen = 0;

	(void)state;
	for (size_t i = 0; i < nr_rows; i++) {
		enum scheduler s = scheduler_find(rows[i].scheduler);

		assert_true(s < NR_SCHEDULERS);
		seen |= 1U << s;
	}
	assert_int_equal(seen, (1U << NR_SCHEDULERS) - 1);
}

/* A job's own cgroup, and the step's, belong to the same job as what is below them. */
static void test_ancestors(void **state)
{
	struct job_path whole, part;
	char path[1024];

	(void)state;
	for (size_t i = 0; i < nr_rows; i++) {
		if (!job_resolve(rows[i].path, &whole))
			continue;
		snprintf(path, sizeof(path), "%.*s", (int)whole.length, rows[i].path);
		assert_true(job_resolve(path, &part));
		assert_int_equal(part.scheduler, whole.scheduler);
		assert_string_equal(part.id, whole.id);
		assert_int_equal(part.length, whole.length);
		snprintf(path, sizeof(path), "%.*s", (int)whole.step_length, rows[i].path);
		assert_true(job_resolve(path, &part));
		assert_string_equal(part.step, whole.step);
		assert_int_equal(part.step_length, whole.step_length);
	}
}

#define ID   "c5451972db8726aff08e8c2409a5c4323dca6630e3fffd2cdda7404131b77b9a"
#define POD  "12345678-1234-1234-1234-123456789012"
#define PART "/user.slice/user-1000.slice/user@1000.service"

/* What a user's own part of the tree says counts for those who are believed. */
static void test_users(void **state)
{
	static const struct job_users nobody, one = { .nr = 2, .uids = { 7, 1000 } },
					      other = { .nr = 1, .uids = { 994 } };
	static const struct {
		const char *path;
		enum scheduler scheduler; /* when believed */
		const char *id;
		const char *plain; /* cgroup of the job when not */
	} users[] = {
		{ PART "/app.slice/docker-" ID ".scope", SCHEDULER_DOCKER, ID, PART },
		{ PART "/user.slice/libpod-" ID ".scope/container", SCHEDULER_PODMAN, ID, PART },
		{ PART "/kubepods/pod" POD, SCHEDULER_KUBERNETES, POD, PART },
		{ PART "/app.slice/a.service", SCHEDULER_SYSTEMD, "a.service", PART },
		{ PART "/user@994.service/shell-0-fpUt87KFAo.service", SCHEDULER_FLUX, "fpUt87KFAo",
		  PART },
		{ "freezer:" PART "/docker/" ID, SCHEDULER_DOCKER, ID, "freezer:" PART },
	};
	struct job_path job;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(users); i++) {
		const char *path = users[i].path;

		assert_true(job_resolve_for(path, &one, &job));
		assert_int_equal(job.scheduler, users[i].scheduler);
		assert_string_equal(job.id, users[i].id);
		assert_int_equal(job.owner, 1000);
		for (int k = 0; k < 2; k++) {
			assert_true(job_resolve_for(path, k ? &nobody : &other, &job));
			assert_int_equal(job.scheduler, SCHEDULER_SYSTEMD);
			assert_string_equal(job.id, "user@1000.service");
			assert_string_equal(job.step, "");
			assert_int_equal(job.owner, 0);
			assert_int_equal(job.length, strlen(users[i].plain));
			assert_int_equal(job.step_length, strlen(users[i].plain));
		}
	}
}

/* A name alone makes nobody a user: only where the system's manager makes cgroups. */
static void test_forged_users(void **state)
{
	static const struct job_users one = { .nr = 2, .uids = { 1000, JOB_OWNER_UNKNOWN } },
				      all = { .all = true };
	static const char *const forged[] = {
		"/system.slice/mine.service/user@1000.service/docker-" ID ".scope",
		"/user.slice/user-1001.slice/user@1000.service/docker-" ID ".scope",
		"/user@1000.service/docker-" ID ".scope",
		"/a/b/user@1000.service/docker-" ID ".scope",
		"/user.slice/user-1000.slice/user@1000x.service/docker-" ID ".scope",
		"/user.slice/user-4294967295.slice/user@4294967295.service/docker-" ID ".scope",
	};
	struct job_path job;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(forged); i++) {
		assert_true(job_resolve_for(forged[i], &one, &job));
		assert_int_equal(job.scheduler, SCHEDULER_SYSTEMD);
		assert_true(job_resolve_for(forged[i], &all, &job));
		assert_int_equal(job.scheduler, SCHEDULER_DOCKER);
		assert_int_equal(job.owner, JOB_OWNER_UNKNOWN);
	}
	/* root's own, and what is in a container of the machine, need nobody's leave */
	assert_true(job_resolve_for("/user.slice/user-0.slice/user@0.service/docker-" ID ".scope",
				    &one, &job));
	assert_int_equal(job.scheduler, SCHEDULER_DOCKER);
	assert_int_equal(job.owner, 0);
	assert_true(
		job_resolve_for("/system.slice/docker-" ID ".scope" PART "/a.service", &one, &job));
	assert_int_equal(job.scheduler, SCHEDULER_DOCKER);
	assert_int_equal(job.owner, 0);
}

static bool is_harmless(const char *text)
{
	size_t len = strlen(text), n;
	uint32_t c;

	for (size_t i = 0; i < len; i += n) {
		n = utf8_decode(text + i, len - i, &c);
		if (!n || utf8_unsafe(c))
			return false;
	}
	return true;
}

/* Whatever the path is, the answer is in bounds and can be shown. */
static void check_any(const char *path)
{
	struct job_path job;

	memset(&job, 0xa5, sizeof(job));
	if (!job_resolve(path, &job))
		return;
	assert_true(job.scheduler > SCHEDULER_NONE && job.scheduler < NR_SCHEDULERS);
	assert_true(memchr(job.id, '\0', sizeof(job.id)) && job.id[0]);
	assert_non_null(memchr(job.step, '\0', sizeof(job.step)));
	assert_true(is_harmless(job.id) && is_harmless(job.step));
	assert_true(job.length > 0 && job.length <= job.step_length);
	assert_true(job.step_length <= strlen(path));
	assert_true(path[job.length] == '/' || !path[job.length]);
	assert_true(path[job.step_length] == '/' || !path[job.step_length]);
}

static void test_hostile(void **state)
{
	static const struct {
		const char *path;
		const char *id;
	} named[] = {
		{ "/system.slice/a\nb\x1b[31m.service", "a?b?[31m.service" },
		{ "/system.slice/a\\x0ab\\x00c.service", "a?b?c.service" },
		{ "/system.slice/\xff\xc3.service", "??.service" },
		{ "/system.slice/\xc3\xa9t\xc3\xa9.service", "\xc3\xa9t\xc3\xa9.service" },
		{ "/system.slice/\\xc3\\xa9.service", "\xc3\xa9.service" },
		{ "/system.slice/r\xe2\x80\xaetl.service", "r?tl.service" },
		{ "/system.slice/../../etc/..x.service", "..x.service" },
	};
	struct job_path job;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(named); i++) {
		assert_true(job_resolve(named[i].path, &job));
		assert_string_equal(job.id, named[i].id);
		check_any(named[i].path);
	}
	assert_true(job_resolve("/slurmstepd.scope/job_1/step_a\tb", &job));
	assert_string_equal(job.step, "a?b");
	assert_false(job_resolve("", &job));
	assert_false(job_resolve(":", &job));
	assert_false(job_resolve("//", &job));
}

/* Cut between characters, at every length */
static void test_cut(void **state)
{
	static const char *const letters[] = { "x", "\xc3\xa9", "\xe2\x82\xac",
					       "\xf0\x9f\x98\x80" };
	char path[1024];
	struct job_path job;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(letters); i++) {
		for (size_t n = 20; n < 160; n++) {
			strcpy(path, "/slurmstepd.scope/job_1/step_");
			for (size_t j = 0; j < n; j++)
				strcat(path, letters[i]);
			strcat(path, "/x.service");
			check_any(path);
			assert_true(job_resolve(path, &job));
			assert_string_equal(job.id, "1");
			assert_true(strlen(job.step) >= JOB_STEP_LEN - 4 ||
				    strlen(job.step) == n * strlen(letters[i]));
			path[strlen(path) - 10] = '\0';
			memcpy(path, "/slurmstepd.slice", 17);
			strcat(path, ".service");
			check_any(path);
			assert_true(job_resolve(path, &job));
			assert_int_equal(job.scheduler, SCHEDULER_SYSTEMD);
		}
	}
}

/* Long paths must not take long either: these are the kinds that could. */
static void test_long(void **state)
{
	static const char *const pieces[] = { "/",
					      "a",
					      "/a",
					      "-",
					      "_",
					      ":",
					      "-kubepods-burstable-pod",
					      ":docker:",
					      ".service",
					      "/x.service",
					      "kubepods-",
					      "/slurmstepd.scope",
					      "/user@1.service",
					      "\\x2d",
					      "/slurm/uid_0",
					      "\xff",
					      "_slurmstepd.scope" };
	size_t size = draw_times(1 << 16, 1 << 13);
	char *path = malloc(size + 1);

	(void)state;
	assert_non_null(path);
	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
		size_t n = strlen(pieces[i]);

		path[0] = '/';
		for (size_t at = 1; at < size; at++)
			path[at] = pieces[i][(at - 1) % n];
		path[size] = '\0';
		check_any(path);
		memcpy(path + size - 8, ".service", 8);
		check_any(path);
	}
	free(path);
}

/* One of the paths, with some bytes changed, moved, or taken from another one */
static size_t mutate(struct draw *d, char *path, size_t room)
{
	static const char bits[] = "/-_:.\\x2d0a@()<>%\xff\xc3\n";
	size_t len = strlen(strcpy(path, rows[draw_below(d, nr_rows)].path));

	for (uint64_t n = draw_below(d, 6); n; n--) {
		const char *other = rows[draw_below(d, nr_rows)].path;
		size_t at = draw_below(d, len + 1);

		switch (draw_below(d, 4)) {
		case 0:
			if (at < len)
				path[at] = bits[draw_below(d, sizeof(bits) - 1)];
			break;
		case 1:
			len = at;
			break;
		case 2:
			if (len + strlen(other) < room)
				len += strlen(strcpy(path + len, other));
			break;
		default:
			if (at < len)
				memmove(path + at, path + at + 1, --len - at);
		}
		path[len] = '\0';
	}
	return len;
}

static void test_mutations(void **state)
{
	struct draw d = { 20261122 };
	char path[4096];

	(void)state;
	for (size_t i = draw_times(50000, 2000); i; i--) {
		size_t len = mutate(&d, path, sizeof(path));
		/* In memory of its own, so that a byte too far is seen */
		char *exact = malloc(len + 1);

		assert_non_null(exact);
		memcpy(exact, path, len + 1);
		check_any(exact);
		free(exact);
	}
}

static void test_variables(void **state)
{
	(void)state;
	assert_string_equal(job_variables(SCHEDULER_SLURM)->id, "SLURM_JOB_ID");
	assert_string_equal(job_variables(SCHEDULER_KUBERNETES)->name, "HOSTNAME");
	assert_null(job_variables(SCHEDULER_SYSTEMD)->name);
	assert_null(job_variables(NR_SCHEDULERS)->id);
}

static void test_harmless(void **state)
{
	char text[8];

	(void)state;
	assert_int_equal(utf8_harmless(text, sizeof(text), "1234567", 7), 0);
	assert_int_equal(utf8_harmless(text, sizeof(text), "12345678", 8), -ENAMETOOLONG);
	assert_string_equal(text, "1234567");
	assert_int_equal(utf8_harmless(text, sizeof(text), "12345\xe2\x82\xac", 8), -ENAMETOOLONG);
	assert_string_equal(text, "12345");
	assert_int_equal(utf8_harmless(text, sizeof(text), "1\xe2\x82", 3), 0);
	assert_string_equal(text, "1??");
	assert_int_equal(utf8_harmless(text, sizeof(text), "a\0b", 3), 0);
	assert_string_equal(text, "a?b");
	assert_int_equal(utf8_harmless(text, 1, "", 0), 0);
	assert_string_equal(text, "");
	assert_int_equal(utf8_harmless(text, 1, "x", 1), -ENAMETOOLONG);
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),	     cmocka_unit_test(test_all_covered),
		cmocka_unit_test(test_ancestors),    cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_cut),	     cmocka_unit_test(test_long),
		cmocka_unit_test(test_mutations),    cmocka_unit_test(test_variables),
		cmocka_unit_test(test_harmless),     cmocka_unit_test(test_users),
		cmocka_unit_test(test_forged_users),
	};

	return cmocka_run_group_tests(tests, read_rows, free_rows);
}
