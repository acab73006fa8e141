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
#include "cli/job_file.h"
#include "cli/job_merge.h"
#include "cli/formats.h"
#include "cli/output.h"
#include "cli/state_file.h"
#include "cli/values.h"
#include "report/job/job_report.h"
#include "report/losses.h"

#define POLL_NS	     100000000 /* time between polls with --wait */
#define TRIES	     10	       /* retries when the data changes meanwhile */
#define NAMED_OTHERS 3
/* Schedulers hold a requeued job back for longer than this. */
#define JUST_NOW_NS  (60 * NS_PER_S)

#define MAX_RECORD   (1 << 20) /* more than any record of an account */
#define BLANKS	     " \t\r\n"

/* Read all of standard input. */
static int read_input(char **ret, struct diag *d)
{
	cleanup_free char *text = malloc(MAX_RECORD + 1);
	size_t nr;

	if (!text)
		return diag_fail(d, -ENOMEM, "cannot read a record: out of memory");
	nr = fread(text, 1, MAX_RECORD + 1, stdin);
	if (ferror(stdin))
		return diag_fail(d, -errno, "cannot read standard input: %s", strerror(errno));
	if (nr > MAX_RECORD)
		return diag_fail(d, -E2BIG, "standard input is too long for a compact record");
	text[nr] = '\0';
	if (strlen(text) != nr)
		return diag_fail(d, -EINVAL, "standard input is no text");
	*ret = take_ptr(text);
	return 0;
}

static int decode(char *text, struct diag *d)
{
	cleanup_free char *json = NULL;
	size_t length;
	int err;

	text += strspn(text, BLANKS);
	for (length = strlen(text); length && strchr(BLANKS, text[length - 1]); length--)
		text[length - 1] = '\0';
	err = job_compact_decode(text, &json);
	if (!err) {
		puts(json);
		return 0;
	}
	if (err == -EPROTONOSUPPORT) {
		diag_fail(d, err, "this compact record is of a later version");
		diag_help(d, "use the t410trace that wrote it, or a later one");
	} else if (err == -ENOTSUP) {
		diag_fail(
			d, err,
			"compact records without an \"l\" behind the number are not read any more");
		diag_help(d, "make it again: \"t410trace job --compact\" on the node that has the "
			     "account");
	} else if (err == -EINVAL) {
		diag_fail(d, err, "this is no compact record, or it is damaged");
		diag_help(d, "a record is one line that begins with " JOB_COMPACT_PREFIX
			     "; databases may have cut it");
	} else {
		diag_error(d, err, "cannot decode the record");
	}
	return err;
}

/* Print the JSON in a compact record, "-": the one on standard input; returns the exit status. */
static int job_decode(const char *who, const char *text)
{
	cleanup_free char *copy = NULL;
	struct diag d = { 0 };
	int err = 0;

	if (!strcmp(text, "-")) {
		err = read_input(&copy, &d);
	} else {
		copy = strdup(text);
		if (!copy)
			err = diag_fail(&d, -ENOMEM, "cannot decode the record: out of memory");
	}
	if (!err)
		err = decode(copy, &d);
	return output_end(who, err, &d) ? EXIT_FAILED : EXIT_OK_;
}

static bool waits(const struct account_options *a)
{
	return a->wait_ns != UINT64_MAX;
}

/* A matching account, by its key. */
struct job_candidate {
	char key[sizeof(((struct account_job *)NULL)->key)];
	enum account_state state;
	bool whole; /* the id matches completely, not only its begin */
	uint64_t end_ns;
	size_t order; /* as read: the last begun first */
};

/**
 * struct job_look - a search and its result
 * @args, @show: the user's options
 * @until_ns: end of waiting (CLOCK_MONOTONIC)
 * @asked_ns: when the command was given (CLOCK_REALTIME)
 * @file: the store
 * @id: the id to find
 * @found, @nr, @cap: accounts, the last first
 * @out: where accounts are written to
 * @incomplete: a written account lacks data
 * @no_history: it has no intervals
 */
struct job_look {
	const struct account_options *args;
	const struct output_options *show;
	uint64_t until_ns;
	uint64_t asked_ns;
	struct job_file file;
	const char *id;
	struct job_candidate *found;
	size_t nr;
	size_t cap;
	FILE *out;
	bool incomplete;
	bool no_history;
};

/*
 * Its last interval precedes the start of the awaited run: it is of an earlier run, whose end was
 * not recorded.
 */
static bool is_of_before(const struct job_look *l, const struct account_job *j)
{
	return waits(l->args) && j->state == ACCOUNT_RUNNING &&
	       l->file.node.until_ns < l->args->since_ns;
}

static int note_candidate(void *arg, const struct account_job *j)
{
	struct job_look *l = arg;
	const char *wanted = l->id;
	bool whole = !strcmp(j->job.id, wanted) || !strcmp(j->key, wanted);
	struct job_candidate *c;

	if ((!whole && !job_id_fits(j->job.id, wanted)) || is_of_before(l, j))
		return 0;
	if (array_reserve(l->found, l->cap, l->nr))
		return -ENOMEM;
	c = &l->found[l->nr++];
	str_copy(c->key, sizeof(c->key), j->key);
	c->whole = whole;
	c->state = j->state;
	c->end_ns = j->whole.end_ns;
	c->order = l->nr;
	return 0;
}

/* A complete match of the id comes first, then running jobs, then the job that ended last. */
static int newest_first(const void *a, const void *b)
{
	const struct job_candidate *x = a, *y = b;
	bool x_runs = x->state == ACCOUNT_RUNNING, y_runs = y->state == ACCOUNT_RUNNING;

	return ORDER(y->whole, x->whole) ?: ORDER(y_runs, x_runs) ?:
	       (x_runs ? 0 : ORDER(y->end_ns, x->end_ns)) ?: ORDER(x->order, y->order);
}

static int find(struct job_look *l, const char *id, struct diag *d)
{
	const struct store_query q = {
		.scheduler = l->args->scheduler,
		.id = id,
		.since_ns = l->args->since_ns,
		.newest = SIZE_MAX,
	};

	l->id = id;
	return store_each_job(l->file.store, &q, note_candidate, l, d);
}

/* As given, which also finds keys; and in the spelling of accounts. */
static int look_once(struct job_look *l, struct diag *d)
{
	const struct job_wanted *w = &l->args->wanted;
	const char *const ids[] = { l->args->name, w->id, w->flux };
	int err = job_file_open(l->args->file, d, &l->file);

	if (err)
		return err;
	l->nr = 0;
	for (size_t i = 0; i < ARRAY_SIZE(ids) && !err && !l->nr; i++)
		if (ids[i][0] && (!i || strcmp(ids[i], ids[0]) != 0))
			err = find(l, ids[i], d);
	if (err)
		job_file_close(&l->file);
	else if (l->nr)
		qsort(l->found, l->nr, sizeof(*l->found), newest_first);
	return err;
}

static bool has_ended(const struct job_look *l)
{
	return l->nr && l->found[0].state != ACCOUNT_RUNNING;
}

/*
 * A requeued job may have started again after the last interval: then only an earlier run is known.
 * That is not the answer before accounts are newer than the question, unless it ended just now or
 * --since chose it.
 */
static bool may_be_earlier(const struct job_look *l)
{
	return has_ended(l) && !l->args->since_ns &&
	       l->found[0].end_ns + JUST_NOW_NS < l->asked_ns &&
	       l->file.node.until_ns < l->asked_ns;
}

/* Until the job has ended, the time is over, or no daemon could complete the account. */
static int look_until_ended(struct job_look *l, struct diag *d)
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

/*
 * Was data lost while somebody looked? Time that nobody looked is no reason for another exit status:
 * the account says when that was, and its numbers are those of the rest.
 */
static bool lacks_data(const struct job_file *f, const struct account_job *j)
{
	for (size_t i = 0; i < j->nr_node; i++)
		if (j->node[i].missing && !f->node.counters[j->node[i].counter].bdf[0])
			return true;
	return losses_lasting(&j->quality);
}

/* In the requested format, with intervals if requested. */
static int write_in_format(struct job_look *l, struct job_context *c, const struct account_job *j,
			   const struct table_options *o)
{
	struct account_list history = { 0 };
	const struct report_format *f = formats_chosen(l->show);
	bool shown = l->args->history || f->path;
	struct diag d = { 0 };
	int err = 0;

	/* The largest interval is compared with the peak of memory, where that is known. */
	if (shown || c->host->peaks.nr)
		err = store_each_span(l->file.store, j->key, account_list_add, &history, &d);
	/* An account is useful without history: then it has no largest interval. */
	if (err && !shown) {
		account_list_release(&history);
		err = 0;
	}
	c->history = shown ? &history : NULL;
	c->kept = &history;
	if (!err)
		err = f->job(l->out, c, j, o);
	c->history = c->kept = NULL;
	l->no_history = !history.nr;
	account_list_release(&history);
	return err;
}

static int write_account(void *arg, const struct account_job *j)
{
	struct job_look *l = arg;
	struct job_context c = job_file_context(&l->file);
	const struct table_options o = {
		.width = output_width(stdout),
		.verbose = l->show->verbose,
	};
	cleanup_free char *compact = NULL;
	int err;

	l->incomplete |= lacks_data(&l->file, j);
	if (!l->args->compact)
		return write_in_format(l, &c, j, &o);
	err = job_compact(&c, j, &compact);
	if (!err)
		fprintf(l->out, "%s\n", compact);
	return err;
}

static int write_found(struct job_look *l, struct diag *d)
{
	size_t nr = l->args->all ? l->nr : 1;
	int err = 0;

	l->incomplete = false;
	for (size_t i = 0; i < nr && !err; i++) {
		const struct store_query q = { .id = l->found[i].key };

		if (i && l->show->format == OUTPUT_TEXT && !l->args->compact)
			fputc('\n', l->out);
		d->what[0] = '\0';
		err = store_each_job(l->file.store, &q, write_account, l, d);
	}
	if (err && !d->what[0])
		diag_error(d, err, "cannot show the account");
	return err;
}

/* Written to memory first: the data may change meanwhile. */
static int print_found(struct job_look *l, struct diag *d)
{
	cleanup_free char *text = NULL;
	size_t size;
	int err;

	l->out = open_memstream(&text, &size);
	if (!l->out)
		return diag_fail(d, -errno, "cannot show the account: %s", strerror(errno));
	err = write_found(l, d);
	if (fclose(l->out) && !err)
		err = diag_error(d, -errno, "cannot show the account");
	job_file_done(&l->file);
	return err ? err
		   : job_file_write(format_path(formats_chosen(l->show), l->show), text, size, d);
}

static void tell_state(const char *who, const struct job_look *l, struct diag *d, const char *more)
{
	char state[256];

	job_file_state(&l->file, state, sizeof(state));
	diag_help(d, "%s%s", state, more);
	output_diag(who, d);
}

/* Mention further jobs of this id, so that one is not taken for all. */
static void tell_others(const char *who, const struct job_look *l)
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
	output_diag(who, &d);
}

static void tell_running(const char *who, const struct job_look *l)
{
	struct diag d = { 0 };

	if (!l->nr || l->found[0].state != ACCOUNT_RUNNING)
		return;
	if (!waits(l->args))
		diag_fail(&d, 0, "job %s is running: this is its account so far", l->args->name);
	else if (l->file.kept)
		diag_fail(&d, 0, "job %s has not ended within %g s: this is its account so far",
			  l->args->name, (double)l->args->wait_ns / 1e9);
	else
		diag_fail(&d, 0,
			  "the account of job %s will not be complete soon: this is what it has",
			  l->args->name);
	tell_state(who, l, &d, "");
}

/* With --wait: the requested run may have come since, and this is the one before. */
static void tell_earlier(const char *who, const struct job_look *l)
{
	struct diag d = { 0 };

	diag_fail(&d, 0,
		  "no account is newer than the question: this one may be of an earlier run of job "
		  "%s",
		  l->args->name);
	tell_state(who, l, &d, ". --since with the begin of the job leaves no doubt");
}

static void tell_step(const char *who, const struct job_look *l)
{
	struct diag d = { 0 };

	if (!l->args->wanted.step[0])
		return;
	diag_fail(&d, 0,
		  "step %s has no account of its own: this is that of its job, with all steps",
		  l->args->wanted.step);
	output_diag(who, &d);
}

static void tell_damaged(const char *who, const struct job_look *l)
{
	struct diag d = { 0 };

	if (job_file_damage(&l->file, &d))
		output_diag(who, &d);
}

static int tell_none(const char *who, const struct job_look *l)
{
	struct diag d = { 0 };

	diag_fail(&d, 0, "there is no account of job %s in %s", l->args->name,
		  state_file_name(l->args->file));
	tell_state(who, l, &d,
		   l->args->since_ns ? ". \"t410trace jobs\" lists those that are there; those "
				       "that ended before --since were left out"
				     : ". \"t410trace jobs\" lists those that are there");
	tell_damaged(who, l);
	return EXIT_NO_JOB;
}

/* A CSV file without any interval; the page tells so itself. */
static void tell_no_history(const char *who, const struct job_look *l)
{
	struct diag d = { 0 };

	if (!l->show->csv || !l->no_history)
		return;
	diag_fail(&d, 0, "no intervals of job %s are kept: the file has names of columns only",
		  l->args->name);
	diag_help(&d, "the setting history of \"t410trace serve\" keeps them, as in history = 10s "
		      "for 1h, 5m for 30d");
	output_diag(who, &d);
}

static int show(const char *who, struct job_look *l)
{
	if (output_finish(who))
		return EXIT_FAILED;
	tell_step(who, l);
	tell_others(who, l);
	tell_running(who, l);
	tell_no_history(who, l);
	tell_damaged(who, l);
	if (waits(l->args) && may_be_earlier(l))
		tell_earlier(who, l);
	if (waits(l->args) && (!has_ended(l) || may_be_earlier(l)))
		return EXIT_WAITED;
	return l->incomplete || l->file.damaged.nr ? EXIT_INCOMPLETE : EXIT_OK_;
}

/* The final exit status, or an error: -EAGAIN to look again. */
static int look_and_show(const char *who, struct job_look *l, struct diag *d)
{
	int err = waits(l->args) ? look_until_ended(l, d) : look_once(l, d);
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

static int run(struct options *o)
{
	const struct timespec pause = { .tv_nsec = POLL_NS };
	const struct account_options *a = &o->account;
	struct job_look l = { .args = a, .show = &o->run.output };
	struct diag d = { 0 };
	int status, tries = 0;

	if (a->decode)
		return job_decode(o->who, a->decode);
	if (a->merge.nr)
		return job_merge_command(o);
	l.asked_ns = clock_ns(CLOCK_REALTIME);
	if (waits(a))
		l.until_ns = monotonic_ns() + a->wait_ns;
	status = look_and_show(o->who, &l, &d);
	while (status == -EAGAIN && tries++ < TRIES) {
		nanosleep(&pause, NULL);
		status = look_and_show(o->who, &l, &d);
	}
	free(l.found);
	if (status >= 0)
		return status;
	output_diag(o->who, &d);
	return status == -ENOENT || status == -ENODATA ? EXIT_NO_JOB : EXIT_FAILED;
}

/* Accounts have the numbers of jobs; the array spelling of tasks is not kept. */
static int take_job(struct options *o, const char *text, struct diag *d)
{
	struct account_options *a = &o->account;
	struct job_wanted *w = &a->wanted;
	const char *wrong;

	if (job_merge_is_report(text))
		return text_list_add(&a->merge_more, text) ? diag_no_memory(d) : 0;
	if (a->name)
		return diag_fail(d, -EINVAL, "unexpected argument \"%s\": one job at a time", text);
	a->name = text;
	wrong = job_wanted_parse(text, w);
	/* A key; or the text before a colon is part of the id. */
	if (strlen(text) >= sizeof(w->id) || w->scheduler == NR_SCHEDULERS) {
		*w = (struct job_wanted){ 0 };
		return 0;
	}
	if (wrong)
		return diag_fail(d, -EINVAL, "%s %s", text, wrong);
	if (w->scheduler <= SCHEDULER_SLURM && w->id[strspn(w->id, "0123456789")] == '_')
		return diag_fail(
			d, -EINVAL,
			"%s is the task of an array: its account has the number of its job, "
			"JobId= in \"scontrol show job %s\", JobIDRaw of sacct",
			text, w->id);
	a->scheduler = w->scheduler;
	return 0;
}

static int check(struct options *o, struct diag *d)
{
	const struct account_options *a = &o->account;

	if (a->decode && (a->name || waits(a) || a->compact || a->all))
		return diag_fail(d, -EINVAL, "--decode takes no job and none of its options");
	if (job_merge_check(o, d))
		return -EINVAL;
	if (!a->decode && !a->name && !a->merge.nr)
		return diag_fail(d, -EINVAL, "which job? (\"t410trace jobs\" lists them)");
	if (a->history && o->run.output.format != OUTPUT_JSON)
		return diag_fail(d, -EINVAL, "--history needs --json");
	if (a->all && waits(a))
		return diag_fail(d, -EINVAL, "--all and --wait exclude each other");
	return 0;
}

static const struct option_row rows[] = {
	{ 0, 0, "Print JSON (t410trace.job/1), a line for each account", AS_JSON },
	{ 0, 0,
	  "Instead, write one HTML page to OUT: the account, and its intervals over time, or its "
	  "nodes (docs/PAGE.md)",
	  OPTION("html", 0, "OUT", value_text, run.output.html) },
	{ 0, 0,
	  "Instead, write its intervals, or its nodes, as comma-separated values to FILE, - for "
	  "standard output: a line for each number (docs/EXPORT.md)",
	  OPTION("csv", 0, "FILE", value_text, run.output.csv) },
	{ 0, 0, "With --json: also its intervals, if \"t410trace serve\" keeps them (history)",
	  SWITCH("history", 0, account.history) },
	{ 0, 0, "Print one short line without blanks, for a scheduler's database",
	  SWITCH("compact", 0, account.compact) },
	{ 0, 0, "Print the JSON in such a line (- reads it from standard input)",
	  OPTION("decode", 0, "TEXT", value_text, account.decode) },
	{ 0, 0, "Wait until the job has ended and its account is complete, at most so long",
	  OPTION("wait", 0, "TIME", value_time, account.wait_ns), WITHIN(0, 86400e9), .bare = "s" },
	{ 0, 0,
	  "Of jobs that ended before TIME nothing: \"90s\", \"2h\" or \"7d\" ago, "
	  "\"2026-11-22\", \"16:30\", \"@1763740800\"",
	  OPTION("since", 0, "TIME", value_since, account.since_ns) },
	{ 0, 0, "Show all jobs of this id, the last one first", SWITCH("all", 0, account.all) },
	{ 0, 0,
	  "Instead, make one account of closing reports of nodes: files, a folder that the nodes "
	  "share, or - for standard input; further files may follow (docs/JOBS.md)",
	  OPTION("merge", 0, "PATH", value_item, account.merge) },
	{ 0, 0, "With --merge: the nodes of the job, as in \"n[001-128]\"; missing ones are named",
	  OPTION("nodes", 0, "LIST", value_text, account.nodes) },
	{ 0, 0,
	  "With --merge: users whose files in a folder are accepted beside those of root and of "
	  "the folder's owner; \"yes\" is for all",
	  OPTION("owner", 0, "USER[,...]", value_user_jobs, account.owners) },
	{ 0, 0, "Where accounts are (default: state in serve.conf, or " STORE_DEFAULT_FILE ")",
	  OPTION("state", 0, "FILE", value_text, account.file) },
	{ 0, 0, "Also show bounds, losses and what measuring cost",
	  SWITCH("verbose", 'v', run.output.verbose) },
	{ 0 },
};

const struct command command_job = {
	.name = "job",
	.brief = "the account of a job",
	.args = "JOBID",
	.doc = "Show the account of a job: what it moved, from its begin to its end or so far.",
	.more = "JOBID is the number or name that the scheduler gave it (\"12\"), with the "
		"scheduler before it (\"slurm:12\"), the first 12 digits or more of a container's "
		"or pod's, or the key of an account (\"t410trace jobs\" shows keys with --json). "
		"Of several jobs of one id it is the one that runs, or ended last. With --merge it "
		"may be left out.\n\n"
		"Accounts are kept by \"t410trace serve\".",
	.options = rows,
	.formats = FORMATS_ONE,
	.statuses = 1u << EXIT_INCOMPLETE | 1u << EXIT_NO_JOB | 1u << EXIT_WAITED,
	.argument = take_job,
	.check = check,
	.run = run,
};
