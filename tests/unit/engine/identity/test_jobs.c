// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Jobs: which cgroups are whose, and rows by job. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>

#include "book_world.h"
#include "base/array.h"
#include "engine/book/book_rows.h"
#include "engine/identity/internal.h"
#include "engine/session/internal.h"
#include "random.h"

static void told(struct world *w, uint64_t cgroup, const char *path)
{
	assert_int_equal(identity_cgroup(w->id, cgroup, path), 0);
}

static const struct job *job_of(const struct world *w, uint64_t cgroup)
{
	const struct cgroup_name *c = identity_cgroup_find(w->id, cgroup);

	return c ? c->job : NULL;
}

static struct report *next_report(struct world *w)
{
	struct report *r = report_of(w);

	check(r);
	book_clear(w->book);
	identity_closed(w->id);
	return r;
}

/* The next report has a row of this key, which says @exited, or none. */
enum { ABSENT, LIVES, EXITED };
static void next_has(struct world *w, const char *key, int what)
{
	struct report *r = next_report(w);
	const struct report_row *found = row(r, key);

	assert_int_equal(!found ? ABSENT : found->exited ? EXITED : LIVES, what);
	report_free(r);
}

static void moved(struct world *w, uint32_t id, uint64_t all)
{
	const struct portion p[] = { { id, all } };

	window(w, 0, 10, (uint64_t[]){ all, 0, 0 });
	bytes(w, CPU, all, p, 1);
	bounds(w, CPU, id, all, all);
	assert_int_equal(book_on_cpu(w->book, 0, id, 10), 0);
}

/* --- who is who */

static void cgroups_know_their_job(void **state)
{
	struct world w = world_new(ROW_JOB, true);
	const struct job *j;

	(void)state;
	told(&w, 1, "/");
	told(&w, 2, "/slurm");
	told(&w, 3, "/slurm/uid_0/job_12");
	told(&w, 4, "/slurm/uid_0/job_12/step_0");
	told(&w, 5, "/slurm/uid_0/job_12/step_0/task_1");
	told(&w, 6, "/slurm/uid_0/job_12/step_batch");
	assert_null(job_of(&w, 1));
	assert_null(job_of(&w, 2));
	j = job_of(&w, 3);
	assert_non_null(j);
	assert_int_equal(j->who.scheduler, SCHEDULER_SLURM);
	assert_string_equal(j->who.id, "12");
	assert_int_equal(j->who.cgroup_id, 3);
	assert_string_equal(j->path, "/slurm/uid_0/job_12");
	assert_ptr_equal(job_of(&w, 4), j);
	assert_ptr_equal(job_of(&w, 5), j);
	assert_ptr_equal(identity_job(w.id, 3), j);
	assert_string_equal(identity_cgroup_find(w.id, 3)->step, "");
	assert_string_equal(identity_cgroup_find(w.id, 5)->step, "0");
	assert_string_equal(identity_cgroup_find(w.id, 6)->step, "batch");
	world_free(&w);
}

#define USERS "/user.slice/user-1000.slice/user@1000.service"

/* Whoever is not believed has one job, the part of the tree that is theirs, whatever is in it. */
static void users_who_are_not_believed(void **state)
{
	static const struct job_users users = { .nr = 1, .uids = { 994 } };
	struct world w = world_new(ROW_JOB, true);
	const struct job *j;
	struct report *r;
	char path[256];

	(void)state;
	identity_believe(w.id, &users);
	told(&w, 3, USERS);
	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(path, sizeof(path), USERS "/app.slice/docker-%064u.scope", i);
		told(&w, 10 + i, path);
	}
	told(&w, 4, "/user.slice/user-994.slice/user@994.service/shell-0-fpUt87KFAo.service");
	j = job_of(&w, 3);
	assert_non_null(j);
	assert_string_equal(j->who.id, "user@1000.service");
	assert_int_equal(j->who.owner, 0);
	for (unsigned int i = 0; i < 1000; i++)
		assert_ptr_equal(job_of(&w, 10 + i), j);
	assert_string_equal(job_of(&w, 4)->who.id, "fpUt87KFAo");
	assert_int_equal(job_of(&w, 4)->who.owner, 994);
	assert_int_equal(HASH_COUNT(w.id->jobs), 2);
	moved(&w, workload(&w, 10, 10), 1);
	r = next_report(&w);
	assert_true(row(r, "job:3")->leaf);
	assert_string_equal(row(r, "job:3")->cgroup, USERS);
	report_free(r);
	world_free(&w);
}

static void a_path_used_again_is_another_job(void **state)
{
	struct world w = world_new(ROW_JOB, true);
	const struct job *first;

	(void)state;
	told(&w, 3, "/slurm/uid_0/job_12");
	told(&w, 4, "/slurm/uid_0/job_12/step_0");
	first = job_of(&w, 3);
	identity_cgroup_gone(w.id, 4);
	assert_false(first->gone);
	identity_cgroup_gone(w.id, 3);
	assert_true(first->gone);
	told(&w, 5, "/slurm/uid_0/job_12");
	told(&w, 6, "/slurm/uid_0/job_12/step_0");
	assert_ptr_not_equal(job_of(&w, 5), first);
	assert_ptr_equal(job_of(&w, 6), job_of(&w, 5));
	assert_ptr_equal(job_of(&w, 4), first);
	assert_int_equal(identity_cgroup_by_path(w.id, "/slurm/uid_0/job_12")->id, 5);
	/* nobody said that it is gone: that another one is there does */
	told(&w, 7, "/slurm/uid_0/job_12");
	assert_true(identity_job(w.id, 5)->gone);
	assert_int_equal(identity_jobs_ended(w.id, 1 << SCHEDULER_SLURM), 2);
	assert_int_equal(identity_jobs_ended(w.id, 1 << SCHEDULER_FLUX), 0);
	assert_int_equal(identity_jobs_begun(w.id, 1 << SCHEDULER_SLURM), 3);
	assert_int_equal(identity_jobs_begun(w.id, 1 << SCHEDULER_FLUX), 0);
	/* that was wrong: the records came late */
	told(&w, 5, "/slurm/uid_0/job_12");
	assert_false(identity_job(w.id, 5)->gone);
	assert_true(identity_job(w.id, 7)->gone);
	assert_ptr_equal(job_of(&w, 6), identity_job(w.id, 5));
	world_free(&w);
}

/* The moment is known of what is made, and of nothing that is found or renamed. */
static void when_it_was_made(void **state)
{
	struct world w = world_new(ROW_JOB, true);

	(void)state;
	told(&w, 2, "/slurm/uid_0/job_11");
	identity_making(w.id, true, 410);
	told(&w, 3, "/slurm/uid_0/job_12");
	identity_making(w.id, true, 420);
	told(&w, 4, "/slurm/uid_0/job_12/step_0");
	assert_int_equal(job_of(&w, 3)->who.begin_ns, 410);
	assert_true(job_of(&w, 3)->who.made);
	assert_int_equal(identity_cgroup_find(w.id, 4)->made_ns, 420);
	assert_int_equal(identity_cgroup_find(w.id, 2)->made_ns, 0);
	/* one that has only a stand-in for its number begins when that is known */
	assert_int_equal(identity_jobs_begun(w.id, UINT32_MAX), 2);
	told(&w, 5, "/system.slice/slurmstepd.scope/s5K1KKYAYG5D00");
	assert_int_equal(identity_jobs_begun(w.id, UINT32_MAX), 2);
	for (int i = 0; i < 2; i++)
		identity_job_news(w.id, &(struct trace_job_news){ .cgroup_id = 5, .id = "77" });
	assert_int_equal(identity_jobs_begun(w.id, UINT32_MAX), 3);
	world_free(&w);
}

/* Found in the tree before it was removed, told of after. */
static void what_is_gone_stays_gone(void **state)
{
	struct world w = world_new(ROW_JOB, true);

	(void)state;
	told(&w, 3, "/slurm/uid_0/job_12");
	identity_cgroup_gone(w.id, 3);
	told(&w, 3, "/slurm/uid_0/job_12");
	assert_true(job_of(&w, 3)->gone);
	identity_cgroup_gone(w.id, 3);
	assert_int_equal(identity_jobs_ended(w.id, UINT32_MAX), 1);
	next_has(&w, "job:3", EXITED);
	next_has(&w, "job:3", ABSENT);
	world_free(&w);
}

static void a_step_may_come_before_its_job(void **state)
{
	struct world w = world_new(ROW_JOB, true);

	(void)state;
	/* in the same interval: the key is that of the job's own cgroup */
	told(&w, 4, "/slurm/uid_0/job_1/step_0");
	assert_int_equal(job_of(&w, 4)->who.cgroup_id, 4);
	told(&w, 3, "/slurm/uid_0/job_1");
	assert_int_equal(job_of(&w, 4)->who.cgroup_id, 3);
	assert_ptr_equal(identity_job(w.id, 3), job_of(&w, 4));
	assert_null(identity_job(w.id, 4));
	/* later: who knows it by its key is not confused */
	told(&w, 14, "/slurm/uid_0/job_2/step_0");
	next_has(&w, "job:14:0", LIVES);
	told(&w, 13, "/slurm/uid_0/job_2");
	told(&w, 15, "/slurm/uid_0/job_2/step_1");
	assert_int_equal(job_of(&w, 15)->who.cgroup_id, 14);
	next_has(&w, "job:14:1", LIVES);
	identity_cgroup_gone(w.id, 14);
	identity_cgroup_gone(w.id, 15);
	next_has(&w, "job:14", LIVES);
	identity_cgroup_gone(w.id, 13);
	next_has(&w, "job:14", EXITED);
	/* never: it is over with its last cgroup */
	told(&w, 24, "/slurm/uid_0/job_3/step_0");
	told(&w, 25, "/slurm/uid_0/job_3/step_1");
	identity_cgroup_gone(w.id, 24);
	next_has(&w, "job:24:0", EXITED);
	next_has(&w, "job:24:1", LIVES);
	identity_cgroup_gone(w.id, 25);
	next_has(&w, "job:24", EXITED);
	next_has(&w, "job:24", ABSENT);
	world_free(&w);
}

static void news_of_jobs(void **state)
{
	struct world w = world_new(ROW_JOB, false);
	const struct job *j;

	(void)state;
	told(&w, 3, "/slurm/uid_0/job_12");
	told(&w, 4, "/slurm/uid_0/job_12/step_0");
	j = job_of(&w, 3);
	assert_int_equal(identity_select_jobs(w.id, (char *[]){ "77" }, 1), 0);
	assert_true(identity_has_selection(w.id));
	assert_false(j->chosen);
	identity_job_news(w.id, &(struct trace_job_news){ .cgroup_id = 99, .id = "77" });
	identity_job_news(w.id, &(struct trace_job_news){ .cgroup_id = 3, .name = "lbm" });
	identity_job_news(w.id, &(struct trace_job_news){ .cgroup_id = 3, .user = "eve" });
	assert_string_equal(j->who.id, "12");
	assert_string_equal(j->who.name, "lbm");
	assert_string_equal(j->who.user, "eve");
	identity_job_news(w.id, &(struct trace_job_news){ .cgroup_id = 3, .id = "77" });
	assert_string_equal(j->who.id, "77");
	assert_string_equal(j->who.name, "lbm");
	assert_true(j->chosen);
	assert_true(identity_cgroup_find(w.id, 4)->selected);
	world_free(&w);
}

static void jobs_asked_for(void **state)
{
	struct world w = world_new(ROW_JOB, false);
	struct report *r;

	(void)state;
	told(&w, 3, "/slurm/uid_0/job_12");
	told(&w, 5, "/slurm/uid_0/job_13");
	told(&w, 6, "/slurm/uid_0/job_13/step_0");
	told(&w, 7, "/slurm/uid_0/job_13/step_1");
	assert_int_equal(identity_select_jobs(w.id, (char *[]){ "slurm:12" }, 1), 0);
	assert_int_equal(identity_select_jobs(w.id, (char *[]){ "flux:14" }, 1), 0);
	assert_int_equal(identity_select(w.id, "/slurm/uid_0/job_13/step_1"), 0);
	told(&w, 4, "/slurm/uid_0/job_12/step_0");
	told(&w, 8, "/slurm/uid_0/job_14");
	moved(&w, workload(&w, 9, 8), 100);
	r = next_report(&w);
	assert_int_equal(r->counters[CPU].unattributed[REASON_OTHER], 100);
	assert_non_null(row(r, "job:3"));
	assert_non_null(row(r, "job:3:0"));
	assert_non_null(row(r, "job:5"));
	assert_null(row(r, "job:5:0"));
	assert_non_null(row(r, "job:5:1"));
	assert_null(row(r, "job:8"));
	report_free(r);
	/* one of the same id that begins later */
	identity_cgroup_gone(w.id, 4);
	identity_cgroup_gone(w.id, 3);
	next_has(&w, "job:3", EXITED);
	told(&w, 30, "/slurm/uid_0/job_12");
	next_has(&w, "job:30", LIVES);
	world_free(&w);
}

static void jobs_are_forgotten(void **state)
{
	struct world w = world_new(ROW_JOB, true);
	char path[64];

	(void)state;
	for (uint64_t i = 1; i < 5000; i++) {
		snprintf(path, sizeof(path), "/slurm/uid_0/job_%d", (int)(i % 7) + 1);
		told(&w, 2 * i, path);
		strcat(path, "/step_0");
		told(&w, 2 * i + 1, path);
		moved(&w, workload(&w, i, 2 * i + 1), 10);
		identity_cgroup_gone(w.id, 2 * i + 1);
		identity_cgroup_gone(w.id, 2 * i);
		if (i % 10 == 0)
			report_free(next_report(&w));
	}
	for (int i = 0; i < 40; i++)
		report_free(next_report(&w));
	for (uint64_t i = 1; i < 10002; i++) {
		assert_null(identity_cgroup_find(w.id, i));
		assert_null(identity_job(w.id, i));
	}
	assert_null(identity_cgroup_by_path(w.id, "/slurm/uid_0/job_1"));
	assert_true(w.id->nr_ids < 400);
	world_free(&w);
}

/* Rows of a cgroup share what is known of its job; what was reported stays as it was. */
static void reports_keep_names(void **state)
{
	struct world w = world_new(ROW_PROCESS, true);
	struct report *before, *after;
	uint32_t ids[2];

	(void)state;
	told(&w, 3, "/slurm/uid_0/job_12");
	identity_job_news(w.id, &(struct trace_job_news){ .cgroup_id = 3, .name = "lbm" });
	ids[0] = workload(&w, 10, 3);
	ids[1] = workload(&w, 11, 3);
	for (int i = 0; i < 2; i++)
		moved(&w, ids[i], 1);
	before = next_report(&w);
	assert_ptr_equal(before->rows[0].job, before->rows[1].job);
	identity_job_news(w.id, &(struct trace_job_news){ .cgroup_id = 3, .name = "dgemm" });
	moved(&w, ids[0], 1);
	after = next_report(&w);
	assert_string_equal(before->rows[0].job->name, "lbm");
	assert_string_equal(after->rows[0].job->name, "dgemm");
	world_free(&w);
	assert_string_equal(after->rows[0].job->id, "12");
	report_free(before);
	report_free(after);
}

/* --- rows */

static void jobs_and_their_steps(void **state)
{
	struct world w = world_new(ROW_JOB, true);
	const struct report_row *job, *step, *own;
	struct report *r;
	uint32_t ids[7];

	(void)state;
	told(&w, 1, "/");
	told(&w, 3, "/slurm/uid_0/job_12");
	told(&w, 4, "/slurm/uid_0/job_12/step_0");
	told(&w, 5, "/slurm/uid_0/job_12/step_0/task_1"); /* threaded, perhaps */
	told(&w, 6, "/slurm/uid_0/job_12/step_1");
	told(&w, 7, "/slurm/uid_0/job_13");
	identity_job_news(w.id, &(struct trace_job_news){ .cgroup_id = 3, .name = "lbm" });
	ids[0] = workload(&w, 10, 1);
	ids[1] = workload(&w, 11, 3);
	ids[2] = workload(&w, 12, 4);
	ids[3] = workload(&w, 12, 5); /* moved, or another thread of it */
	ids[4] = workload(&w, 13, 6);
	ids[5] = workload(&w, 14, 7);
	ids[6] = workload(&w, 15, 99); /* nobody knows this cgroup */
	for (int i = 0; i < 7; i++)
		moved(&w, ids[i], 1 << i);
	r = next_report(&w);
	assert_int_equal(r->by, ROW_JOB);
	assert_int_equal(r->nr_rows, 6);
	job = row(r, "job:3");
	assert_false(job->leaf);
	assert_int_equal(job->kind, ROW_JOB);
	assert_int_equal(share(job, CPU)->value, 2 + 4 + 8 + 16);
	assert_int_equal(job->on_cpu_ns, 40);
	assert_string_equal(job->job->id, "12");
	assert_string_equal(job->job->name, "lbm");
	assert_string_equal(job->job->step, "");
	assert_string_equal(job->cgroup, "/slurm/uid_0/job_12");
	assert_int_equal(job->cgroup_id, 3);
	assert_string_equal(job->parent, "");
	step = row(r, "job:3:0");
	assert_true(step->leaf);
	assert_int_equal(share(step, CPU)->value, 4 + 8);
	assert_string_equal(step->parent, "job:3");
	assert_string_equal(step->job->step, "0");
	assert_string_equal(step->job->name, "lbm");
	assert_string_equal(step->cgroup, "/slurm/uid_0/job_12/step_0");
	assert_int_equal(step->cgroup_id, 4);
	own = row(r, "job:3:own");
	assert_int_equal(share(own, CPU)->value, 2);
	assert_string_equal(own->parent, "job:3");
	assert_string_equal(own->job->step, "");
	assert_true(row(r, "job:7")->leaf);
	assert_int_equal(share(row(r, "job:7"), CPU)->value, 32);
	assert_int_equal(share(row(r, "job:none"), CPU)->value, 1 + 64);
	assert_null(row(r, "job:none")->job);
	assert_int_equal(row(r, "job:none")->pid + row(r, "job:none")->start_ns, 0);
	report_free(r);
	world_free(&w);
}

static void the_end_is_told_once(void **state)
{
	struct world w = world_new(ROW_JOB, true);
	uint32_t late;

	(void)state;
	told(&w, 3, "/slurm/uid_0/job_12");
	told(&w, 4, "/slurm/uid_0/job_12/step_0");
	told(&w, 5, "/system.slice/a.service");
	late = workload(&w, 12, 4);
	moved(&w, workload(&w, 13, 5), 100);
	/* idle, but there */
	next_has(&w, "job:3:0", LIVES);
	next_has(&w, "job:3", LIVES);
	next_has(&w, "job:5", ABSENT);
	identity_cgroup_gone(w.id, 4);
	identity_cgroup_gone(w.id, 3);
	identity_cgroup_gone(w.id, 5);
	next_has(&w, "job:3", EXITED);
	next_has(&w, "job:5", ABSENT);
	/* a slice that comes late */
	moved(&w, late, 10);
	next_has(&w, "job:3", LIVES);
	next_has(&w, "job:3", ABSENT);
	/* both in one interval, and a step that ends before */
	told(&w, 13, "/slurm/uid_0/job_12");
	told(&w, 14, "/slurm/uid_0/job_12/step_0");
	identity_cgroup_gone(w.id, 14);
	next_has(&w, "job:13:0", EXITED);
	next_has(&w, "job:13:0", ABSENT);
	moved(&w, workload(&w, 12, 13), 10);
	moved(&w, workload(&w, 12, 14), 10);
	identity_cgroup_gone(w.id, 13);
	next_has(&w, "job:13", EXITED);
	told(&w, 23, "/slurm/uid_0/job_12");
	identity_cgroup_gone(w.id, 23);
	told(&w, 24, "/system.slice/b.service");
	identity_cgroup_gone(w.id, 24);
	next_has(&w, "job:23", EXITED);
	world_free(&w);
}

static void idle_units(void **state)
{
	struct world w = world_new(ROW_JOB, true);
	const struct book_scope scope = {
		.by = ROW_JOB, .all = true, .idle_units = true, .devices = devices, .nr_devices = 5
	};
	struct book *all;
	struct report *r = calloc(1, sizeof(*r));

	(void)state;
	assert_int_equal(book_new(&layout, &scope, w.id, &all), 0);
	told(&w, 5, "/system.slice/a.service");
	assert_int_equal(book_finish(all), 0);
	assert_int_equal(book_report(all, r), 0);
	assert_non_null(row(r, "job:5"));
	report_free(r);
	next_has(&w, "job:5", ABSENT);
	book_clear(all);
	assert_int_equal(book_finish(all), 0);
	r = calloc(1, sizeof(*r));
	assert_int_equal(book_report(all, r), 0);
	assert_null(row(r, "job:5"));
	report_free(r);
	book_free(all);
	/* its end is told all the same */
	identity_cgroup_gone(w.id, 5);
	next_has(&w, "job:5", EXITED);
	world_free(&w);
}

static void other_rows_know_their_job(void **state)
{
	struct world w = world_new(ROW_PROCESS, true), c = world_new(ROW_CGROUP, true);
	const struct report_row *found;
	struct report *r;

	(void)state;
	told(&w, 4, "/slurm/uid_0/job_12/step_0");
	moved(&w, workload(&w, 12, 4), 10);
	moved(&w, workload(&w, 13, 1), 10);
	r = next_report(&w);
	found = row(r, "pid:12:120");
	assert_string_equal(found->job->id, "12");
	assert_string_equal(found->job->step, "0");
	assert_null(row(r, "pid:13:130")->job);
	report_free(r);
	told(&c, 3, "/slurm/uid_0/job_12");
	told(&c, 4, "/slurm/uid_0/job_12/step_0");
	moved(&c, workload(&c, 12, 4), 10);
	r = next_report(&c);
	assert_string_equal(row(r, "cgroup:4")->job->step, "0");
	assert_string_equal(row(r, "cgroup:3")->job->step, "");
	assert_int_equal(row(r, "cgroup:3")->job->cgroup_id, 3);
	report_free(r);
	world_free(&w);
	world_free(&c);
}

static void v1_hierarchies_have_roots_of_their_own(void **state)
{
	const uint64_t v1 = 1ull << TRACE_HIERARCHY_SHIFT;
	struct world w = world_new(ROW_CGROUP, true);
	struct report *r;

	(void)state;
	told(&w, 1, "/");
	told(&w, 2, "/a");
	told(&w, v1 | 1, "freezer:/");
	told(&w, v1 | 2, "freezer:/slurm");
	told(&w, v1 | 3, "freezer:/slurm/uid_0/job_3");
	moved(&w, workload(&w, 12, 2), 10);
	moved(&w, workload(&w, 13, v1 | 3), 20);
	moved(&w, workload(&w, 14, v1 | 1), 40);
	r = next_report(&w);
	for (size_t i = 0; i < r->nr_rows; i++)
		if (r->rows[i].cgroup && !strcmp(r->rows[i].cgroup, "freezer:/") &&
		    !r->rows[i].leaf)
			assert_int_equal(share(&r->rows[i], CPU)->value, 60);
	assert_int_equal(share(row(r, "cgroup:1"), CPU)->value, 10);
	assert_int_equal(r->nr_rows, 7);
	report_free(r);
	assert_int_equal(identity_select(w.id, "freezer:/slurm"), 0);
	assert_true(identity_cgroup_find(w.id, v1 | 3)->selected);
	assert_false(identity_cgroup_find(w.id, v1 | 1)->selected);
	assert_false(identity_cgroup_find(w.id, 2)->selected);
	assert_int_equal(identity_select(w.id, "freezer:/"), 0);
	assert_true(identity_cgroup_find(w.id, v1 | 1)->selected);
	assert_false(identity_cgroup_find(w.id, 2)->selected);
	world_free(&w);
}

/* --- whatever happens, everything is somewhere once, and jobs end once */

enum { NR_JOBS = 4, NR_STEPS = 3 };

/* Cgroups of a job that live; 0 = not there. */
struct place {
	uint64_t own;
	uint64_t step[NR_STEPS];
};

static void make_or_remove(struct world *w, struct draw *d, struct place *p, uint64_t *last)
{
	int job = draw_below(d, NR_JOBS), step = draw_below(d, NR_STEPS);
	char path[64];

	p += job;
	if (draw_below(d, 3)) {
		snprintf(path, sizeof(path), "/slurm/uid_0/job_%d", 1 + job);
		if (!p->own) {
			p->own = ++*last;
			if (draw_below(d, 4))
				told(w, p->own, path);
		}
		if (!p->step[step]) {
			p->step[step] = ++*last;
			snprintf(path, sizeof(path), "/slurm/uid_0/job_%d/step_%d", 1 + job, step);
			told(w, p->step[step], path);
		}
		snprintf(path, sizeof(path), "/slurm/uid_0/job_%d", 1 + job);
		if (!draw_below(d, 4)) /* late */
			told(w, p->own, path);
		return;
	}
	for (int i = 0; i < NR_STEPS; i++) {
		identity_cgroup_gone(w->id, p->step[i]);
		p->step[i] = 0;
	}
	identity_cgroup_gone(w->id, p->own);
	p->own = 0;
}

static void random_traffic(struct world *w, struct draw *d, const struct place *places,
			   uint64_t last)
{
	for (int k = 0; k < 20; k++) {
		const struct place *p = &places[draw_below(d, NR_JOBS)];
		uint64_t in[] = { p->own, p->step[draw_below(d, NR_STEPS)], 1,
				  1 + draw_below(d, last) };
		uint64_t cgroup = in[draw_below(d, 4)], all = draw_below(d, 1ull << 40);
		uint32_t pid = 1 + draw_below(d, 30);
		struct portion portions[2] = { { workload(w, pid, cgroup),
						 draw_below(d, all + 1) } };

		portions[1].workload = WORKLOAD_BACKGROUND;
		portions[1].bytes = all - portions[0].bytes;
		window(w, 0, 10, (uint64_t[]){ all, 0, 0 });
		bytes(w, CPU, all, portions, 2);
		bounds(w, CPU, portions[0].workload, 0, all);
		assert_int_equal(book_on_cpu(w->book, 0, portions[0].workload, 10), 0);
		assert_int_equal(book_io(w->book, 0, portions[0].workload, 5, 6), 0);
	}
}

/* Keys are unique, parents are there and are the sums of their rows. */
static void check_tree(const struct report *r)
{
	for (size_t i = 0; i < r->nr_rows; i++) {
		const struct report_row *parent = &r->rows[i];
		uint64_t value = 0, ns = 0;

		assert_ptr_equal(row(r, parent->key), parent);
		if (parent->parent[0])
			assert_non_null(row(r, parent->parent));
		if (parent->leaf)
			continue;
		for (size_t k = 0; k < r->nr_rows; k++)
			if (!strcmp(r->rows[k].parent, parent->key)) {
				value += share(&r->rows[k], CPU) ? share(&r->rows[k], CPU)->value
								 : 0;
				ns += r->rows[k].on_cpu_ns;
			}
		assert_int_equal(ns, parent->on_cpu_ns);
		if (share(parent, CPU))
			assert_true(value == share(parent, CPU)->value);
	}
}

static uint64_t count_ended(const struct report *r)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < r->nr_rows; i++)
		nr += r->rows[i].exited && r->rows[i].job && !r->rows[i].job->step[0];
	return nr;
}

static void random_lives(void **state)
{
	size_t runs = draw_times(200, 10);

	(void)state;
	for (size_t run = 0; run < runs; run++) {
		struct draw d = { 1 + run };
		struct world w = world_new(ROW_JOB, true);
		struct book *total = new_book(w.id, ROW_JOB, true);
		struct place places[NR_JOBS] = { 0 };
		struct report *r = calloc(1, sizeof(*r));
		uint64_t last = 1, ended = 0, bytes = 0;

		told(&w, 1, "/");
		for (int i = 0; i < 40; i++) {
			struct report *part;

			for (int k = draw_below(&d, 6); k > 0; k--)
				make_or_remove(&w, &d, places, &last);
			random_traffic(&w, &d, places, last);
			part = report_of(&w);
			check(part);
			check_tree(part);
			ended += count_ended(part);
			bytes += part->counters[CPU].value;
			report_free(part);
			assert_int_equal(book_add(total, w.book), 0);
			book_clear(w.book);
			identity_closed(w.id);
			/* jobs that live are those that have cgroups, whose end was not told */
			assert_int_equal(identity_jobs_ended(w.id, UINT32_MAX), ended);
		}
		assert_int_equal(book_report(total, r), 0);
		check(r);
		check_tree(r);
		assert_true(bytes == r->counters[CPU].value);
		assert_int_equal(count_ended(r), ended);
		report_free(r);
		book_free(total);
		world_free(&w);
	}
}

/* A short cgroup of a job with a step, and processes in it, between two marks. */
static void pass_by(const struct trace_sink *out, uint64_t nr, uint64_t start)
{
	uint64_t id = 100 + 2 * nr;
	char path[64];

	snprintf(path, sizeof(path), "/slurm/uid_0/job_%d", 1 + (int)(nr % 50));
	assert_int_equal(trace_send_cgroup(out, id, path), 0);
	strcat(path, "/step_0");
	assert_int_equal(trace_send_cgroup(out, id + 1, path), 0);
	for (uint32_t i = 0; i < 10; i++) {
		const struct trace_task t = { .pid = 1 + i,
					      .tgid = 1 + i,
					      .start_ns = start + i,
					      .cgroup_id = id + 1,
					      .comm = "short" };
		const struct trace_slice s = { .pid = 1 + i,
					       .tgid = 1 + i,
					       .task_start_ns = start + i,
					       .cgroup_id = id + 1,
					       .start_ns = start + i,
					       .end_ns = start + i + 10,
					       .on_cpu_ns = 5 };

		assert_int_equal(trace_send_task(out, &t), 0);
		assert_int_equal(trace_send_slice(out, &s), 0);
		/* the end of some is not seen, and some are never told of */
		if (i == 3)
			assert_int_equal(trace_send_resync(out, true), 0);
		if (i == 3)
			assert_int_equal(trace_send_resync(out, false), 0);
		if (i != 5)
			assert_int_equal(trace_send_exit(out, 1 + i, start + i), 0);
	}
	assert_int_equal(trace_send_cgroup(out, id + 1, NULL), 0);
	assert_int_equal(trace_send_cgroup(out, id, NULL), 0);
}

static void nothing_is_kept_without_a_summary(void **state)
{
	const struct trace_header header = { .layout = layout,
					     .devices = devices,
					     .nr_devices = 5 };
	const struct session_options o = { .by = ROW_JOB, .all = true, .no_summary = true };
	uint64_t ends[2] = { 0 }, intervals = draw_times(2000, 200), ended = 0;
	struct trace_mark m = { .first = true, .ends_ns = ends };
	struct trace_sink out;
	struct session *s;
	struct report *r;

	(void)state;
	assert_int_equal(session_new(&header, &o, &s), 0);
	out = session_sink(s);
	assert_int_equal(trace_send_mark(&out, &m), 0);
	m.first = false;
	for (uint64_t i = 0; i < intervals; i++) {
		const struct reading readings[] = { { 1000, 100, 100 },
						    { 0, 100, 100 },
						    { 0, 100, 100 } };
		const struct trace_window w = { 0, i * 100, i * 100 + 100, readings };

		pass_by(&out, i, i * 100);
		assert_int_equal(trace_send_window(&out, &w), 0);
		m.time_ns = ends[0] = ends[1] = (i + 1) * 100;
		assert_int_equal(session_report(s, &m, &r), 0);
		ended += count_ended(r);
		report_free(r);
		/* what may still be needed: of the last intervals, however long it goes on */
		assert_true(HASH_COUNT(s->id->jobs) <= 20);
		assert_int_equal(HASH_COUNT(s->id->living), 0);
		assert_true(HASH_COUNT(s->id->cgroups) <= 40);
		assert_true(HASH_CNT(hh_path, s->id->paths) <= 40);
		assert_true(HASH_COUNT(s->id->tasks) <= 60);
		assert_true(HASH_COUNT(s->id->workloads) <= 60);
		assert_true(s->id->nr_ids <= 100);
		assert_int_equal(HASH_COUNT(s->interval->rows), 0);
	}
	assert_int_equal(ended, intervals);
	assert_int_equal(identity_jobs_ended(session_identity(s), 1 << SCHEDULER_SLURM), intervals);
	assert_int_equal(identity_jobs_begun(session_identity(s), 1 << SCHEDULER_SLURM), intervals);
	assert_null(s->total);
	assert_int_equal(session_summary(s, &r), -EINVAL);
	session_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cgroups_know_their_job),
		cmocka_unit_test(users_who_are_not_believed),
		cmocka_unit_test(reports_keep_names),
		cmocka_unit_test(a_path_used_again_is_another_job),
		cmocka_unit_test(what_is_gone_stays_gone),
		cmocka_unit_test(when_it_was_made),
		cmocka_unit_test(a_step_may_come_before_its_job),
		cmocka_unit_test(news_of_jobs),
		cmocka_unit_test(jobs_asked_for),
		cmocka_unit_test(jobs_are_forgotten),
		cmocka_unit_test(jobs_and_their_steps),
		cmocka_unit_test(the_end_is_told_once),
		cmocka_unit_test(idle_units),
		cmocka_unit_test(other_rows_know_their_job),
		cmocka_unit_test(v1_hierarchies_have_roots_of_their_own),
		cmocka_unit_test(random_lives),
		cmocka_unit_test(nothing_is_kept_without_a_summary),
	};

	return cmocka_run_group_tests_name("jobs", tests, NULL, NULL);
}
