// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* t410trace job: the account of one job, also for scripts that run when a job ends. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/job_decode.h"
#include "cli/job_file.h"
#include "cli/output.h"
#include "cli/time_arg.h"

#define POLL_NS	     100000000 /* between looks with --wait */
#define TRIES	     10	       /* looks, when what is looked at changes meanwhile */
#define MAX_WAIT_S   86400.0
#define NAMED_OTHERS 3
/* Schedulers let a requeued job wait for longer than this. */
#define JUST_NOW_NS  (60 * NS_PER_S)

enum {
	KEY_JSON = 0x100,
	KEY_COMPACT,
	KEY_CASELESS,
	KEY_FILE,
	KEY_WAIT,
	KEY_SINCE,
	KEY_ALL,
	KEY_DECODE,
};

struct job_args {
	bool json;
	bool compact;
	bool caseless;
	bool all;
	bool verbose;
	bool wait;
	uint64_t wait_ns;
	const char *wait_text;
	uint64_t since_ns;
	const char *file;
	const char *decode;
	const char *name; /* as given */
	const char *id;	  /* without the scheduler */
	enum scheduler scheduler;
};

static const char doc[] =
	"Show the account of a job: what it moved, from its begin to its end or so far.\v"
	"JOBID is the number or name that the scheduler gave it (\"12\"), with the scheduler "
	"before it "
	"(\"slurm:12\"), the first 12 digits or more of a container's or pod's, or the key of an "
	"account (\"t410trace jobs\" shows keys with --json). Of "
	"several jobs of one id it is the one that runs, or ended last.\n\n"
	"Accounts are kept by \"t410trace serve\".";

const struct argp_option job_options[] = {
	{ "json", KEY_JSON, NULL, 0, "Print JSON (t410trace.job/1), a line for each account", 0 },
	{ "compact", KEY_COMPACT, NULL, 0,
	  "Print one short line without blanks, for a scheduler's database", 0 },
	{ "caseless", KEY_CASELESS, NULL, 0,
	  "With --compact: for databases that change the case of letters; a fifth longer", 0 },
	{ "decode", KEY_DECODE, "TEXT", 0,
	  "Print the JSON in such a line (- reads it from "
	  "standard input)",
	  0 },
	{ "wait", KEY_WAIT, "SECONDS", 0,
	  "Wait until the job has ended and its account is complete, at most so long", 0 },
	{ "since", KEY_SINCE, "TIME", 0,
	  "Of jobs that ended before TIME nothing: \"90s\", \"2h\" or \"7d\" ago, \"2026-11-22\", "
	  "\"16:30\", \"@1763740800\"",
	  0 },
	{ "all", KEY_ALL, NULL, 0, "Show all jobs of this id, the last one first", 0 },
	{ "file", KEY_FILE, "FILE", 0, "Where accounts are (default " STORE_DEFAULT_FILE ")", 0 },
	{ "verbose", 'v', NULL, 0, "Also show bounds, losses and what measuring cost", 0 },
	{ 0 },
};

static void set_wait(struct job_args *args, const char *text, struct argp_state *state)
{
	double seconds;

	if (parse_double(text, &seconds) || !(seconds >= 0 && seconds <= MAX_WAIT_S))
		argp_error(state, "--wait %s: must be a number of seconds up to %g", text,
			   MAX_WAIT_S);
	args->wait = true;
	args->wait_ns = seconds * 1e9;
	args->wait_text = text;
}

/* "slurm:12"; what stands before a colon may also be a part of the id. */
static void set_name(struct job_args *args, const char *text, struct argp_state *state)
{
	const char *colon = strchr(text, ':');
	char scheduler[32];

	if (args->name)
		argp_error(state, "unexpected argument \"%s\": one job at a time", text);
	args->name = args->id = text;
	if (!colon || (size_t)(colon - text) >= sizeof(scheduler))
		return;
	memcpy(scheduler, text, colon - text);
	scheduler[colon - text] = '\0';
	if (scheduler_find(scheduler) >= NR_SCHEDULERS)
		return;
	args->scheduler = scheduler_find(scheduler);
	args->id = colon + 1;
}

static void check(const struct job_args *args, struct argp_state *state)
{
	if (args->decode && (args->name || args->wait || args->compact || args->all))
		argp_error(state, "--decode takes no job and none of its options");
	if (!args->decode && (!args->name || !args->id[0]))
		argp_error(state, "which job? (\"t410trace jobs\" lists them)");
	if (args->json && args->compact)
		argp_error(state, "--json and --compact exclude each other");
	if (args->caseless && !args->compact)
		argp_error(state, "--caseless needs --compact");
	if (args->all && args->wait)
		argp_error(state, "--all and --wait exclude each other");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct job_args *args = state->input;

	switch (key) {
	case KEY_JSON:
		args->json = true;
		return 0;
	case KEY_COMPACT:
		args->compact = true;
		return 0;
	case KEY_CASELESS:
		args->caseless = true;
		return 0;
	case KEY_DECODE:
		args->decode = arg;
		return 0;
	case KEY_WAIT:
		set_wait(args, arg, state);
		return 0;
	case KEY_SINCE:
		if (time_arg_parse(arg, clock_ns(CLOCK_REALTIME), &args->since_ns))
			argp_error(state, "--since %s: not a point in time", arg);
		return 0;
	case KEY_ALL:
		args->all = true;
		return 0;
	case KEY_FILE:
		args->file = arg;
		return 0;
	case 'v':
		args->verbose = true;
		return 0;
	case ARGP_KEY_ARG:
		set_name(args, arg, state);
		return 0;
	case ARGP_KEY_END:
		check(args, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = { job_options, parse_option, "JOBID", doc, NULL, NULL, NULL };

/* An account that fits, by its key. */
struct candidate {
	char key[sizeof(((struct account_job *)NULL)->key)];
	enum account_state state;
	bool whole; /* the id is not only the begin of its id */
	uint64_t end_ns;
	size_t order; /* as read: the last begun first */
};

/**
 * struct look - what was found
 * @until_ns: end of waiting (CLOCK_MONOTONIC)
 * @asked_ns: when the command was given (CLOCK_REALTIME)
 * @file: the store
 * @found, @nr, @cap: accounts, the last first
 * @out: where accounts are written to
 * @incomplete: one that was written lacks something
 */
struct look {
	const struct job_args *args;
	uint64_t until_ns;
	uint64_t asked_ns;
	struct job_file file;
	struct candidate *found;
	size_t nr;
	size_t cap;
	FILE *out;
	bool incomplete;
};

static int note_candidate(void *arg, const struct account_job *j)
{
	struct look *l = arg;
	const char *wanted = l->args->id;
	bool whole = !strcmp(j->job.id, wanted) || !strcmp(j->key, wanted);
	struct candidate *c;

	if (!whole && !job_id_fits(j->job.id, wanted))
		return 0;
	if (array_room(l->found, l->cap, l->nr))
		return -ENOMEM;
	c = &l->found[l->nr++];
	str_copy(c->key, sizeof(c->key), j->key);
	c->whole = whole;
	c->state = j->state;
	c->end_ns = j->whole.end_ns;
	c->order = l->nr;
	return 0;
}

/* Who has just this id comes first. What runs is newer than what is over, and of that the newest is what ended last. */
static int newest_first(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	bool x_runs = x->state == ACCOUNT_RUNNING, y_runs = y->state == ACCOUNT_RUNNING;

	if (x->whole != y->whole)
		return x->whole ? -1 : 1;
	if (x_runs != y_runs)
		return x_runs ? -1 : 1;
	if (!x_runs && x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static int look_once(struct look *l, struct diag *d)
{
	const struct store_query q = {
		.scheduler = l->args->scheduler,
		.id = l->args->id,
		.since_ns = l->args->since_ns,
		.newest = SIZE_MAX,
	};
	int err = job_file_open(l->args->file, d, &l->file);

	if (err)
		return err;
	l->nr = 0;
	err = store_each_job(l->file.store, &q, note_candidate, l, d);
	if (err)
		job_file_close(&l->file);
	else if (l->nr)
		qsort(l->found, l->nr, sizeof(*l->found), newest_first);
	return err;
}

static bool has_ended(const struct look *l)
{
	return l->nr && l->found[0].state != ACCOUNT_RUNNING;
}

/*
 * A job that was requeued may have begun anew after the last interval: then only an earlier run is known.
 * That is not the answer before accounts are newer than the question, unless it ended just now or --since
 * chose it.
 */
static bool may_be_earlier(const struct look *l)
{
	return has_ended(l) && !l->args->since_ns &&
	       l->found[0].end_ns + JUST_NOW_NS < l->asked_ns &&
	       l->file.node.until_ns < l->asked_ns;
}

/* Until it has ended, the time is over, or nobody is there who could complete the account. */
static int look_until_ended(struct look *l, struct diag *d)
{
	const struct timespec pause = { .tv_nsec = POLL_NS };
	int err = look_once(l, d);

	while (!err && (!has_ended(l) || may_be_earlier(l)) && l->file.kept &&
	       monotonic_ns() < l->until_ns) {
		job_file_close(&l->file);
		nanosleep(&pause, NULL);
		err = look_once(l, d);
	}
	return err;
}

/* Is something not in it that no later interval can bring? */
static bool lacks_data(const struct job_file *f, const struct account_job *j)
{
	const struct quality *q = &j->quality;

	for (size_t i = 0; i < j->nr_node; i++)
		if (j->node[i].missing && !f->node.counters[j->node[i].counter].bdf[0])
			return true;
	return j->state == ACCOUNT_STALE || j->late_start || j->nr_gaps || q->lost_slices_ns ||
	       q->lost_tasks || q->lost_cgroups || q->late_slices || q->lost_slices ||
	       q->bad_records || q->uncounted_ns || q->lost_io;
}

static int write_account(void *arg, const struct account_job *j)
{
	struct look *l = arg;
	const struct job_context c = job_file_context(&l->file);
	const struct table_options o = {
		.width = terminal_width(stdout),
		.verbose = l->args->verbose,
	};
	cleanup_free char *compact = NULL;
	int err;

	l->incomplete |= lacks_data(&l->file, j);
	if (l->args->json)
		return job_json_write(l->out, &c, j);
	if (!l->args->compact)
		return job_table_write(l->out, &c, j, &o);
	err = job_compact(&c, j, l->args->caseless, &compact);
	if (!err)
		fprintf(l->out, "%s\n", compact);
	return err;
}

static int write_found(struct look *l, struct diag *d)
{
	size_t nr = l->args->all ? l->nr : 1;
	int err = 0;

	l->incomplete = false;
	for (size_t i = 0; i < nr && !err; i++) {
		const struct store_query q = { .id = l->found[i].key };

		if (i && !l->args->json && !l->args->compact)
			fputc('\n', l->out);
		d->what[0] = '\0';
		err = store_each_job(l->file.store, &q, write_account, l, d);
	}
	if (err && !d->what[0])
		diag_fail(d, err, "cannot show the account: %s", strerror(-err));
	return err;
}

/* Into memory first: until it is known that nothing has changed meanwhile. */
static int print_found(struct look *l, struct diag *d)
{
	cleanup_free char *text = NULL;
	size_t size;
	int err;

	l->out = open_memstream(&text, &size);
	if (!l->out)
		return diag_fail(d, -errno, "cannot show the account: %s", strerror(errno));
	err = write_found(l, d);
	if (fclose(l->out) && !err)
		err = diag_fail(d, -ENOMEM, "cannot show the account: out of memory");
	job_file_done(&l->file);
	if (!err && (fwrite(text, 1, size, stdout) != size || fflush(stdout)))
		err = diag_fail(d, -errno, "cannot write the output: %s", strerror(errno));
	return err;
}

/* That there are others of this id, so that nobody takes one for all. */
static void tell_others(const char *who, const struct look *l)
{
	struct diag d = { 0 };

	if (l->args->all || l->nr < 2)
		return;
	diag_fail(&d, 0, "%zu jobs have the id %s, and this is the last one; the other%s:", l->nr,
		  l->args->name, l->nr == 2 ? " is" : "s are");
	for (size_t i = 1; i < l->nr && i <= NAMED_OTHERS; i++)
		str_append(d.what, sizeof(d.what), " %s (%s)", l->found[i].key,
			   account_state_name(l->found[i].state));
	if (l->nr > NAMED_OTHERS + 1)
		str_append(d.what, sizeof(d.what), " and %zu more", l->nr - 1 - NAMED_OTHERS);
	diag_help(&d, "--all shows all of them, and the key instead of the id one");
	print_diag(who, &d);
}

static void tell_running(const char *who, const struct look *l)
{
	struct diag d = { 0 };
	char state[256];

	if (!l->nr || l->found[0].state != ACCOUNT_RUNNING)
		return;
	job_file_state(&l->file, state, sizeof(state));
	if (!l->args->wait)
		diag_fail(&d, 0, "job %s is running: this is its account so far", l->args->name);
	else if (l->file.kept)
		diag_fail(&d, 0, "job %s has not ended within %s s: this is its account so far",
			  l->args->name, l->args->wait_text);
	else
		diag_fail(&d, 0,
			  "the account of job %s will not be complete soon: this is what it has",
			  l->args->name);
	diag_help(&d, "%s", state);
	print_diag(who, &d);
}

/* With --wait: what was asked for may have come since, and this is what came before. */
static void tell_earlier(const char *who, const struct look *l)
{
	struct diag d = { 0 };
	char state[256];

	job_file_state(&l->file, state, sizeof(state));
	diag_fail(&d, 0,
		  "no account is newer than the question: this one may be of an earlier run of job "
		  "%s",
		  l->args->name);
	diag_help(&d, "%s. --since with the begin of the job leaves no doubt", state);
	print_diag(who, &d);
}

static void tell_damaged(const char *who, const struct look *l)
{
	struct diag d = { 0 };

	if (job_file_damage(&l->file, &d))
		print_diag(who, &d);
}

static int tell_none(const char *who, const struct look *l)
{
	struct diag d = { 0 };
	char state[256];

	job_file_state(&l->file, state, sizeof(state));
	diag_fail(&d, 0, "there is no account of job %s in %s", l->args->name,
		  l->args->file ? l->args->file : STORE_DEFAULT_FILE);
	diag_help(&d, "%s. \"t410trace jobs\" lists those that are there%s", state,
		  l->args->since_ns ? "; those that ended before --since were left out" : "");
	print_diag(who, &d);
	tell_damaged(who, l);
	return EXIT_NO_JOB;
}

static int show(const char *who, struct look *l)
{
	if (finish_output(who))
		return EXIT_FAILED;
	tell_others(who, l);
	tell_running(who, l);
	tell_damaged(who, l);
	if (l->args->wait && may_be_earlier(l))
		tell_earlier(who, l);
	if (l->args->wait && (!has_ended(l) || may_be_earlier(l)))
		return EXIT_WAITED;
	return l->incomplete || l->file.damaged.nr ? EXIT_INCOMPLETE : EXIT_OK_;
}

/* The status of the end, or an error: -EAGAIN to look again. */
static int look_and_show(const char *who, struct look *l, struct diag *d)
{
	int err = l->args->wait ? look_until_ended(l, d) : look_once(l, d);
	int status;

	if (err)
		return err;
	if (l->nr)
		err = print_found(l, d);
	job_file_done(&l->file);
	status = err ? err : l->nr ? show(who, l) : tell_none(who, l);
	job_file_close(&l->file);
	return status;
}

int cmd_job(int argc, char **argv)
{
	const struct timespec pause = { .tv_nsec = POLL_NS };
	struct job_args args = { 0 };
	struct look l = { .args = &args };
	struct diag d = { 0 };
	int status, tries = 0;

	argp_err_exit_status = EXIT_USAGE;
	if (argp_parse(&argp, argc, argv, 0, NULL, &args))
		return EXIT_FAILED;
	if (args.decode)
		return job_decode(argv[0], args.decode);
	l.asked_ns = clock_ns(CLOCK_REALTIME);
	l.until_ns = monotonic_ns() + args.wait_ns;
	status = look_and_show(argv[0], &l, &d);
	while (status == -EAGAIN && tries++ < TRIES) {
		nanosleep(&pause, NULL);
		status = look_and_show(argv[0], &l, &d);
	}
	free(l.found);
	if (status >= 0)
		return status;
	print_diag(argv[0], &d);
	return status == -ENOENT || status == -ENODATA ? EXIT_NO_JOB : EXIT_FAILED;
}
