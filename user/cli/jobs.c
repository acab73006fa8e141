// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* t410trace jobs: which jobs have accounts. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "cli/arg_parts.h"
#include "cli/commands.h"
#include "cli/job_file.h"
#include "cli/output.h"
#include "cli/time_arg.h"

#define DEFAULT_NR 100
#define MAX_NR	   1000000

enum {
	KEY_JSON = 0x100,
	KEY_FILE,
	KEY_RUNNING,
	KEY_ENDED,
	KEY_USER,
	KEY_SCHEDULER,
	KEY_SINCE,
};

struct jobs_args {
	bool json;
	bool verbose;
	size_t nr;
	const char *file;
	struct store_query query;
};

static const char doc[] = "List the jobs that have accounts, the last one at the end.\v"
			  "Accounts are kept by \"t410trace serve\"; \"t410trace job\" shows one.";

const struct argp_option jobs_options[] = {
	{ "json", KEY_JSON, NULL, 0, "Print JSON (t410trace.jobs/1)", 0 },
	{ "running", KEY_RUNNING, NULL, 0, "Only jobs that are running", 0 },
	{ "ended", KEY_ENDED, NULL, 0, "Only jobs that are over", 0 },
	{ "user", KEY_USER, "NAME", 0, "Only jobs of this user", 0 },
	{ "scheduler", KEY_SCHEDULER, "NAME", 0,
	  "Only jobs of slurm, flux, kubernetes, docker, podman, libvirt or systemd", 0 },
	{ "since", KEY_SINCE, "TIME", 0,
	  "Only jobs that were there after TIME: \"90s\", \"2h\" or \"7d\" ago, \"2026-11-22\", "
	  "\"16:30\", \"@1763740800\"",
	  0 },
	{ "last", 'n', "N", 0, "At most the last N (default 100; 0 is all)", 0 },
	{ "file", KEY_FILE, "FILE", 0, "Where accounts are (default " STORE_DEFAULT_FILE ")", 0 },
	{ "verbose", 'v', NULL, 0, "Show more of each job", 0 },
	{ 0 },
};

static void set_scheduler(struct jobs_args *args, const char *name, struct argp_state *state)
{
	args->query.scheduler = scheduler_find(name);
	if (args->query.scheduler == SCHEDULER_NONE || args->query.scheduler >= NR_SCHEDULERS)
		argp_error(state,
			   "--scheduler %s: must be slurm, flux, kubernetes, docker, podman, "
			   "libvirt or systemd",
			   name);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct jobs_args *args = state->input;

	switch (key) {
	case KEY_JSON:
		args->json = true;
		return 0;
	case KEY_RUNNING:
		args->query.states |= 1u << ACCOUNT_RUNNING;
		return 0;
	case KEY_ENDED:
		args->query.states |= 1u << ACCOUNT_ENDED | 1u << ACCOUNT_STALE;
		return 0;
	case KEY_USER:
		args->query.user = arg;
		return 0;
	case KEY_SCHEDULER:
		set_scheduler(args, arg, state);
		return 0;
	case KEY_SINCE:
		if (time_arg_parse(arg, clock_ns(CLOCK_REALTIME), &args->query.since_ns))
			argp_error(state, "--since %s: not a point in time", arg);
		return 0;
	case 'n':
		args->nr = arg_number_in(state, "-n", arg, 0, MAX_NR, "");
		return 0;
	case KEY_FILE:
		args->file = arg;
		return 0;
	case 'v':
		args->verbose = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state,
			   "unexpected argument \"%s\": one job is shown by \"t410trace job\"",
			   arg);
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = { jobs_options, parse_option, NULL, doc, NULL, NULL, NULL };

struct job_list {
	struct account_job *jobs;
	size_t nr;
	size_t cap;
};

static void release(struct job_list *l)
{
	for (size_t i = 0; i < l->nr; i++)
		account_job_release(&l->jobs[i]);
	free(l->jobs);
	*l = (struct job_list){ 0 };
}

static int add_job(void *arg, const struct account_job *j)
{
	struct job_list *l = arg;

	if (array_room(l->jobs, l->cap, l->nr) || account_job_copy(j, &l->jobs[l->nr]))
		return -ENOMEM;
	l->nr++;
	return 0;
}

/* They were read from the last on; the last one is to be at the end, right above the prompt. */
static void turn_round(struct job_list *l)
{
	for (size_t i = 0; i < l->nr / 2; i++) {
		struct account_job j = l->jobs[i];

		l->jobs[i] = l->jobs[l->nr - 1 - i];
		l->jobs[l->nr - 1 - i] = j;
	}
}

static int write_list(const struct jobs_args *args, const struct job_file *f,
		      const struct job_list *l)
{
	const struct job_context c = job_file_context(f);
	const struct table_options o = {
		.width = terminal_width(stdout),
		.verbose = args->verbose,
	};

	return args->json ? jobs_json_write(stdout, &c, l->jobs, l->nr)
			  : jobs_table_write(stdout, &c, l->jobs, l->nr, &o);
}

/* What the list does not show. */
static void tell(const char *who, const struct job_file *f, bool more, size_t nr)
{
	struct diag d = { 0 };
	char state[256];

	if (job_file_damage(f, &d))
		print_diag(who, &d);
	d = (struct diag){ 0 };
	if (more) {
		diag_fail(&d, 0, "these are the last %zu jobs", nr);
		diag_help(&d, "-n 0 shows all, --since and other options choose");
		print_diag(who, &d);
	}
	if (!job_file_state(f, state, sizeof(state))) {
		diag_fail(&d, 0, "%s", state);
		print_diag(who, &d);
	}
}

/* EXIT_OK_, EXIT_INCOMPLETE or an error. */
static int list(const char *who, const struct jobs_args *args, struct diag *d)
{
	struct store_query q = args->query;
	struct job_list l = { 0 };
	struct job_file f;
	bool more = false;
	int err = job_file_open(args->file, d, &f);

	if (err)
		return err;
	d->what[0] = '\0';
	/* one more than asked for, to know whether there are more */
	q.newest = args->nr ? args->nr + 1 : SIZE_MAX;
	err = store_each_job(f.store, &q, add_job, &l, d);
	if (!err) {
		if (args->nr && l.nr > args->nr) {
			more = true;
			account_job_release(&l.jobs[--l.nr]);
		}
		turn_round(&l);
		job_file_done(&f);
		err = write_list(args, &f, &l);
	}
	if (err && !d->what[0])
		diag_fail(d, err, "cannot show the jobs: %s", strerror(-err));
	if (!err) {
		tell(who, &f, more, l.nr);
		err = f.damaged.nr ? EXIT_INCOMPLETE : EXIT_OK_;
	}
	release(&l);
	job_file_close(&f);
	return err;
}

int cmd_jobs(int argc, char **argv)
{
	struct jobs_args args = { .nr = DEFAULT_NR };
	struct diag d = { 0 };
	int status, tries = 0;

	argp_err_exit_status = EXIT_USAGE;
	if (argp_parse(&argp, argc, argv, 0, NULL, &args))
		return EXIT_FAILED;
	do {
		status = list(argv[0], &args, &d);
	} while (status == -EAGAIN && tries++ < 10);
	if (end_output(argv[0], status < 0 ? status : 0, &d))
		return EXIT_FAILED;
	return status;
}
