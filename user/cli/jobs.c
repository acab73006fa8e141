// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* t410trace jobs: the list of jobs with accounts. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/job_file.h"
#include "cli/formats.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/values.h"
#include "report/format.h"

#define USUAL	   100
/* The text below a truncated list, and the minimum number of jobs shown */
#define TOLD_LINES 2
#define LEAST_JOBS 5

static struct store_query query_of(const struct account_options *a)
{
	struct store_query q = {
		.scheduler = a->scheduler,
		.user = a->user,
		.since_ns = a->since_ns,
	};

	if (a->running)
		q.states |= 1u << ACCOUNT_RUNNING;
	if (a->ended)
		q.states |= 1u << ACCOUNT_ENDED | 1u << ACCOUNT_STALE;
	return q;
}

/* They were read last first; the last one is shown at the end, right above the prompt. */
static void turn_round(struct account_list *l)
{
	for (size_t i = 0; i < l->nr / 2; i++) {
		struct account_job j = l->jobs[i];

		l->jobs[i] = l->jobs[l->nr - 1 - i];
		l->jobs[l->nr - 1 - i] = j;
	}
}

static int write_list(FILE *out, const struct options *args, const struct job_file *f,
		      const struct account_list *l, size_t first)
{
	const struct job_context c = job_file_context(f);
	const struct table_options o = {
		.width = output_width(stdout),
		.verbose = args->run.output.verbose,
	};

	return report_formats[args->run.output.format].jobs(out, &c, l->jobs + first, l->nr - first,
							    &o);
}

struct whole_list {
	const struct options *args;
	const struct job_file *f;
	const struct account_list *l;
};

static int put_list(FILE *out, void *arg)
{
	const struct whole_list *w = arg;

	return write_list(out, w->args, w->f, w->l, 0);
}

/*
 * The first job that fits on a terminal with all later ones, unless the user gave a number. Each
 * has a line, so that one try gives the number of the rest.
 */
static int find_first(const struct options *args, const struct job_file *f,
		      const struct account_list *l, size_t *ret)
{
	struct whole_list whole = { args, f, l };
	size_t height = output_height(stdout), others;
	char state[256];
	long lines;

	*ret = 0;
	if (args->account.nr != JOBS_USUAL || args->run.output.format != OUTPUT_TEXT || !height)
		return 0;
	lines = format_lines(put_list, &whole);
	if (lines < 0)
		return (int)lines;
	if ((size_t)lines <= height)
		return 0;
	others = (size_t)lines - l->nr + TOLD_LINES;
	if (!job_file_state(f, state, sizeof(state)))
		others += TOLD_LINES;
	height = height > others + LEAST_JOBS ? height - others : LEAST_JOBS;
	*ret = l->nr > height ? l->nr - height : 0;
	return 0;
}

/* Count another job for the progress line; a large store takes a while. */
struct jobs_reading {
	struct account_list *list;
	struct progress progress;
	const char *who;
};

static int take(void *arg, const struct account_job *j)
{
	struct jobs_reading *r = arg;

	progress_count(&r->progress, r->who, "jobs");
	return account_list_add(r->list, j);
}

/* A line about jobs missing from the list. */
static void tell(const char *who, const struct job_file *f, bool more, size_t nr)
{
	struct diag d = { 0 };
	char state[256];

	if (job_file_damage(f, &d))
		output_diag(who, &d);
	d = (struct diag){ 0 };
	if (more) {
		diag_fail(&d, 0, "these are the last %zu jobs", nr);
		diag_help(&d, "-n 0 shows all, --since and other options choose");
		output_diag(who, &d);
	}
	if (!job_file_state(f, state, sizeof(state))) {
		diag_fail(&d, 0, "%s", state);
		output_diag(who, &d);
	}
}

/* EXIT_OK_, EXIT_INCOMPLETE or an error. */
static int list(const char *who, const struct options *args, struct diag *d)
{
	struct store_query q = query_of(&args->account);
	struct account_list l = { 0 };
	struct jobs_reading r = { .list = &l, .who = who };
	uint64_t most = args->account.nr == JOBS_USUAL ? USUAL : args->account.nr;
	size_t first = 0;
	struct job_file f;
	bool more = false;
	int err = job_file_open(args->account.file, d, &f);

	if (err)
		return err;
	d->what[0] = '\0';
	/* one more than requested, to know whether there are more */
	q.newest = most ? most + 1 : SIZE_MAX;
	err = store_each_job(f.store, &q, take, &r, d);
	progress_end(&r.progress);
	if (!err) {
		if (most && l.nr > most) {
			more = true;
			account_job_release(&l.jobs[--l.nr]);
		}
		turn_round(&l);
		job_file_done(&f);
		err = find_first(args, &f, &l, &first);
		if (!err)
			err = write_list(stdout, args, &f, &l, first);
	}
	if (err && !d->what[0])
		diag_error(d, err, "cannot show the jobs");
	if (!err) {
		tell(who, &f, more || first, l.nr - first);
		err = f.damaged.nr ? EXIT_INCOMPLETE : EXIT_OK_;
	}
	account_list_release(&l);
	job_file_close(&f);
	return err;
}

static int run(struct options *o)
{
	struct diag d = { 0 };
	int status, tries = 0;

	do {
		status = list(o->who, o, &d);
	} while (status == -EAGAIN && tries++ < 10);
	if (output_end(o->who, status < 0 ? status : 0, &d))
		return status == -ENOENT || status == -ENODATA ? EXIT_NO_JOB : EXIT_FAILED;
	return status;
}

static int refuse(struct options *o, const char *text, struct diag *d)
{
	(void)o;
	return diag_fail(d, -EINVAL,
			 "unexpected argument \"%s\": one job is shown by \"t410trace job\"", text);
}

static const char *scheduler(unsigned int value)
{
	return value + 1 < NR_SCHEDULERS ? scheduler_name((enum scheduler)(value + 1)) : NULL;
}

static const struct option_row rows[] = {
	{ 0, 0, "Print JSON (t410trace.jobs/1)", AS_JSON },
	{ 0, 0, "Only jobs that are running", SWITCH("running", 0, account.running) },
	{ 0, 0, "Only jobs that are over", SWITCH("ended", 0, account.ended) },
	{ 0, 0, "Only jobs of this user", OPTION("user", 0, "NAME", value_text, account.user) },
	{ 0, 0, "Only jobs of %s",
	  OPTION("scheduler", 0, "NAME", value_scheduler, account.scheduler), .choice = scheduler },
	{ 0, 0,
	  "Only jobs that were there after TIME: \"90s\", \"2h\" or \"7d\" ago, \"2026-11-22\", "
	  "\"16:30\", \"@1763740800\"",
	  OPTION("since", 0, "TIME", value_since, account.since_ns) },
	{ 0, 0, "At most the last N (default 100, and as many as fit on a terminal; 0 is all)",
	  OPTION("last", 'n', "N", value_number, account.nr), WITHIN(0, 1e6) },
	{ 0, 0, "Where accounts are (default: state in serve.conf, or " STORE_DEFAULT_FILE ")",
	  OPTION("state", 0, "FILE", value_text, account.file) },
	{ 0, 0, "Show more of each job", SWITCH("verbose", 'v', run.output.verbose) },
	{ 0 },
};

const struct command command_jobs = {
	.name = "jobs",
	.brief = "the jobs that accounts were kept of",
	.doc = "List the jobs that have accounts, the last one at the end.",
	.more = "Accounts are kept by \"t410trace serve\"; \"t410trace job\" shows one.",
	.options = rows,
	.statuses = 1u << EXIT_INCOMPLETE | 1u << EXIT_NO_JOB,
	.argument = refuse,
	.run = run,
};
