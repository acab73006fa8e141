// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The files of --merge: each is read once, and only sums are kept of it. */
#include "cli/job_merge.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hostlist.h"
#include "base/text.h"
#include "base/exit_status.h"
#include "cli/formats.h"
#include "cli/job_file.h"
#include "cli/output.h"
#include "report/job/job_merge.h"

/* More than any report: 256 steps with 4096 counters each are not what a job has. */
#define MAX_REPORT  (16u << 20)
#define NAMED_ONES  3
#define SUFFIX	    ".json"
#define NAMES_BYTES 400

/**
 * struct merging - what is read
 * @args: the user's options
 * @m: the merge
 * @d: gets what ends it
 * @text, @size, @cap: a report, as it is read
 * @folder: number of the folder whose files belong to one run; 0: none
 * @in_folder: @name is a file of a folder
 * @name: of the file, or a description
 */
struct merging {
	const struct account_options *args;
	struct job_merge *m;
	struct diag *d;
	char *text;
	size_t size, cap;
	unsigned int folder;
	bool in_folder;
	const char *name;
};

/* --- one report */

static int refuse(struct merging *g, const char *report, const char *reason, const char *text)
{
	return job_merge_refuse(g->m, report, reason, text) ? diag_no_memory(g->d) : 0;
}

static bool is_wanted_id(const struct merging *g, const struct account_job *j)
{
	const struct job_wanted *w = &g->args->wanted;
	const char *const ids[] = { g->args->name, w->id, w->flux };

	if (!g->args->name)
		return true;
	if (g->args->scheduler != SCHEDULER_NONE && j->job.scheduler != g->args->scheduler)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		if (ids[i][0] && (!strcmp(j->key, ids[i]) || job_id_fits(j->job.id, ids[i])))
			return true;
	return false;
}

/*
 * In a folder that nodes share, a file is called as its report says: KEY.NODE.json, or NODE.json
 * where a folder is of one run. KEY.json is in a machine's own spool.
 */
static bool is_called(const struct merging *g, const struct job_reading *r, bool *ret_by_node)
{
	char own[ACCOUNT_FILE_LEN], shared[ACCOUNT_FILE_LEN], node[ACCOUNT_FILE_LEN];
	char host[sizeof(r->host.name)];

	str_copy(host, sizeof(host), r->host.name);
	account_file_name(r->job.key, NULL, own);
	account_file_name(r->job.key, host, shared);
	account_file_name(host, NULL, node);
	*ret_by_node = !strcmp(g->name, node);
	if (*ret_by_node || !strcmp(g->name, own) || !strcmp(g->name, shared))
		return true;
	host[strcspn(host, ".")] = '\0';
	account_file_name(r->job.key, host, shared);
	account_file_name(host, NULL, node);
	*ret_by_node = !strcmp(g->name, node);
	return *ret_by_node || !strcmp(g->name, shared);
}

static int add_reading(struct merging *g, struct job_reading *r, const char *report)
{
	char text[256];
	bool by_node = false;
	int err;

	if (g->in_folder && !is_called(g, r, &by_node)) {
		snprintf(text, sizeof(text),
			 "its name is not that of a report of %s: another node may have written it",
			 r->host.name);
		job_reading_release(r);
		return refuse(g, report, "name", text);
	}
	if (!is_wanted_id(g, &r->job) || r->job.whole.end_ns < g->args->since_ns) {
		/* A folder of one run has nothing of other jobs. */
		bool strange = by_node && !is_wanted_id(g, &r->job);

		snprintf(text, sizeof(text), "it is of job %s", r->job.job.id);
		job_reading_release(r);
		return strange ? refuse(g, report, "job", text) : 0;
	}
	err = job_merge_add(g->m, r, by_node ? g->folder : 0);
	if (err == -EEXIST)
		return job_merge_twice(g->m, report) ? diag_no_memory(g->d) : 0;
	if (err == -EINVAL)
		return refuse(g, report, "differs",
			      "another report of the same account was read before it, and differs");
	return err ? diag_no_memory(g->d) : 0;
}

static int add_text(struct merging *g, const char *report)
{
	struct job_reading r;
	struct diag why = { 0 };
	int err = job_read(g->text, g->size, &r, &why);

	if (!err)
		return add_reading(g, &r, report);
	if (err == -ENOMEM)
		return diag_no_memory(g->d);
	return refuse(g, report,
		      err == -EPROTONOSUPPORT ? "version"
		      : err == -EALREADY      ? "merged"
					      : "damaged",
		      why.what);
}

/* --- a stream of them */

static int put_char(struct merging *g, int c)
{
	if (array_reserve(g->text, g->cap, g->size))
		return diag_no_memory(g->d);
	g->text[g->size++] = (char)c;
	return 0;
}

/*
 * Up to the end of a JSON value. What is damaged has no end: then it ends where a line begins with
 * the next one. 1, 0 at the end of the stream, or a negative errno: -E2BIG if no end is near.
 */
static int next_text(struct merging *g, FILE *in)
{
	bool quoted = false, escaped = false;
	size_t depth = 0, blanks = 0;
	int c, err = 0;

	g->size = 0;
	while (!err && (c = getc_unlocked(in)) != EOF) {
		if (g->size + blanks > MAX_REPORT)
			return -E2BIG;
		if (c == '\n' && g->size) {
			int next = getc_unlocked(in);

			ungetc(next, in);
			if (!depth || next == '{')
				return 1;
		}
		if (!g->size && c && strchr(" \t\r\n", c)) {
			blanks++;
			continue;
		}
		err = put_char(g, c);
		if (escaped || c == '\\')
			escaped = !escaped;
		else if (c == '"' || c == '\n')
			quoted = c == '"' && !quoted;
		else if (!quoted && (c == '{' || c == '['))
			depth++;
		else if (!quoted && (c == '}' || c == ']') && depth && !--depth)
			return err ? err : 1;
	}
	return err ? err : g->size > 0;
}

static int read_stream(struct merging *g, FILE *in, const char *path)
{
	char report[512];
	size_t nr = 0;
	int more;

	do {
		more = next_text(g, in);
		if (nr)
			snprintf(report, sizeof(report), "report %zu of %.400s", nr + 1, path);
		else
			str_copy(report, sizeof(report), path);
		if (ferror(in))
			return refuse(g, path, "unreadable", strerror(errno));
		if (more == -E2BIG)
			return refuse(g, report, "damaged",
				      "it is too long; nothing behind it was read");
		if (more > 0) {
			more = add_text(g, report) ?: more;
			nr++;
		}
	} while (more > 0);
	if (more < 0)
		return more;
	return nr ? 0 : refuse(g, path, "damaged", "it is empty");
}

/* --- files and folders */

/* Only Slurm's user and root write into a folder that nodes share; or who was named. */
static bool is_owner(const struct account_options *a, uid_t uid, uid_t folder)
{
	bool given = a->owners.all;

	for (uint32_t i = 0; i < a->owners.nr; i++)
		given |= a->owners.uids[i] == uid;
	return given || !uid || uid == folder;
}

static int read_file_of(struct merging *g, int folder, const char *path, uid_t owner)
{
	const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	int fd = openat(folder, g->name, flags), err;
	char report[PATH_MAX + NAME_MAX], text[128];
	struct stat st;
	FILE *in;

	snprintf(report, sizeof(report), "%s/%s", path, g->name);
	if (fd < 0 && errno == ELOOP)
		return refuse(g, report, "owner", "it is a symbolic link, not a file");
	if (fd < 0 || fstat(fd, &st)) {
		err = refuse(g, report, "unreadable", strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		err = refuse(g, report, "owner", "it is no file");
	} else if (!is_owner(g->args, st.st_uid, owner)) {
		snprintf(text, sizeof(text),
			 "it belongs to uid %u, not to root or to the folder's owner (--owner)",
			 st.st_uid);
		err = refuse(g, report, "owner", text);
	} else if (st.st_mode & S_IWOTH) {
		err = refuse(g, report, "owner", "everybody may write to it");
	} else {
		in = fdopen(fd, "r");
		if (!in) {
			close(fd);
			return diag_no_memory(g->d);
		}
		err = read_stream(g, in, report);
		fclose(in);
		return err;
	}
	if (fd >= 0)
		close(fd);
	return err;
}

/* By their names, files of the other jobs need not be opened: SCHEDULER-ID-CGROUP-BEGIN... */
static bool is_of_another(const struct merging *g, const regex_t *keys, const char *name)
{
	const struct job_wanted *w = &g->args->wanted;
	const char *const ids[] = { g->args->name, w->id, w->flux };
	char id[ACCOUNT_FILE_LEN];
	regmatch_t at[3];

	if (!g->args->name || regexec(keys, name, ARRAY_SIZE(at), at, 0))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		size_t length = strlen(ids[i]);

		account_file_name(ids[i], NULL, id);
		/* Long ids may be given by their begin; keys have 80 characters of them. */
		length = length < 80 ? length : 80;
		if (length &&
		    (!strncmp(name + at[2].rm_so, id, length) || !strncmp(name, id, length)))
			return false;
	}
	return true;
}

static int list_folder(const struct merging *g, DIR *dir, struct text_list *ret)
{
	char pattern[2 * SCHEDULER_NAMES_LEN] = "^(";
	struct dirent *entry;
	regex_t keys;
	int err = 0;

	for (int i = SCHEDULER_NONE + 1; i < NR_SCHEDULERS; i++)
		str_append(pattern, sizeof(pattern), "%s%s", i > SCHEDULER_NONE + 1 ? "|" : "",
			   scheduler_name(i));
	str_append(pattern, sizeof(pattern), ")-(.+)-[0-9]+-[0-9]+(-u[0-9]+)?(\\..*)?\\.json$");
	if (regcomp(&keys, pattern, REG_EXTENDED))
		return -ENOMEM;
	for (errno = 0; !err && (entry = readdir(dir)); errno = 0) {
		size_t length = strlen(entry->d_name);

		if (entry->d_name[0] != '.' && length > strlen(SUFFIX) &&
		    !strcmp(entry->d_name + length - strlen(SUFFIX), SUFFIX) &&
		    !is_of_another(g, &keys, entry->d_name))
			err = text_list_add(ret, entry->d_name);
	}
	err = err ?: errno ? -errno : 0;
	regfree(&keys);
	return err;
}

static int compare_names(const void *a, const void *b)
{
	return hostlist_compare(*(const char *const *)a, *(const char *const *)b);
}

static int read_folder(struct merging *g, const char *path)
{
	cleanup_texts struct text_list names = { 0 };
	cleanup_closedir DIR *dir = opendir(path);
	struct stat st;
	int err;

	if (!dir || fstat(dirfd(dir), &st))
		return diag_fail(g->d, -errno, "cannot read the folder %s: %s", path,
				 strerror(errno));
	if (st.st_mode & S_IWOTH) {
		diag_fail(g->d, -EPERM, "everybody may write to %s: reports there may be forged",
			  path);
		return diag_advise(g->d, -EPERM, "chmod o-w, or name the files");
	}
	err = list_folder(g, dir, &names);
	if (err)
		return diag_fail(g->d, err, "cannot read the folder %s: %s", path, strerror(-err));
	if (names.nr)
		qsort(names.items, names.nr, sizeof(*names.items), compare_names);
	g->in_folder = true;
	g->folder++;
	for (size_t i = 0; i < names.nr && !err; i++) {
		g->name = names.items[i];
		err = read_file_of(g, dirfd(dir), path, st.st_uid);
	}
	g->in_folder = false;
	return err;
}

static int read_path(struct merging *g, const char *path)
{
	cleanup_fclose FILE *in = NULL;
	struct stat st;

	if (!strcmp(path, "-"))
		return read_stream(g, stdin, "standard input");
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return read_folder(g, path);
	in = fopen(path, "re");
	return in ? read_stream(g, in, path) : refuse(g, path, "unreadable", strerror(errno));
}

static int read_all(struct merging *g)
{
	const struct text_list *lists[] = { &g->args->merge, &g->args->merge_more };
	int err = 0;

	for (size_t l = 0; l < ARRAY_SIZE(lists); l++)
		for (size_t i = 0; i < lists[l]->nr && !err; i++)
			err = read_path(g, lists[l]->items[i]);
	return err;
}

/* --- what is shown of it */

static bool same_job(const struct account_job *a, const struct account_job *b)
{
	return a->job.scheduler == b->job.scheduler && a->job.owner == b->job.owner &&
	       !strcmp(a->job.id, b->job.id);
}

/* Not the last run of its job? */
static bool is_earlier(const struct job_merge *m, size_t i)
{
	struct job_context c;

	return i && same_job(job_merge_run(m, i - 1, &c), job_merge_run(m, i, &c));
}

static int write_run(FILE *out, const struct options *o, const struct job_context *c,
		     const struct account_job *j)
{
	const struct table_options t = {
		.width = output_width(stdout),
		.verbose = o->run.output.verbose,
	};
	cleanup_free char *compact = NULL;
	int err;

	if (!o->account.compact)
		return formats_chosen(&o->run.output)->job(out, c, j, &t);
	err = job_compact(c, j, &compact);
	if (!err)
		fprintf(out, "%s\n", compact);
	return err;
}

static int write_runs(FILE *out, const struct options *o, const struct job_merge *m,
		      bool *ret_incomplete)
{
	bool text = formats_chosen(&o->run.output)->option == NULL && !o->account.compact;
	size_t nr = 0;
	int err = 0;

	for (size_t i = 0; i < job_merge_runs(m) && !err; i++) {
		struct job_context c;
		const struct account_job *j = job_merge_run(m, i, &c);

		if (!o->account.all && is_earlier(m, i))
			continue;
		if (nr++ && text)
			fputc('\n', out);
		*ret_incomplete |= job_nodes_incomplete(c.nodes);
		err = write_run(out, o, &c, j);
	}
	return err;
}

static void tell_refused(const char *who, const struct job_merge *m)
{
	struct diag d = { 0 };
	size_t nr;
	const struct job_refused *refused = job_merge_refused(m, &nr);

	if (!nr)
		return;
	diag_fail(&d, 0, "%zu report%s left out:", nr, nr == 1 ? " is" : "s are");
	for (size_t i = 0; i < nr && i < NAMED_ONES; i++)
		str_append(d.what, sizeof(d.what), "%s %.100s (%.100s)", i ? "," : "",
			   refused[i].report, refused[i].text);
	if (nr > NAMED_ONES)
		str_append(d.what, sizeof(d.what), " and %zu more", nr - NAMED_ONES);
	output_diag(who, &d);
}

static void tell_names(const char *who, const struct text_list *names, const char *what)
{
	cleanup_free char *text =
		hostlist_fold((const char *const *)names->items, names->nr, NAMES_BYTES);
	struct diag d = { 0 };

	if (!names->nr)
		return;
	diag_fail(&d, 0, "%s: %s", what, text ?: "");
	output_diag(who, &d);
}

static bool is_stale(const struct job_node *n)
{
	return n->state == ACCOUNT_STALE;
}

/* Messages that the text has itself; other formats go to programs. */
static void tell_nodes(const struct options *o, const struct job_merge *m)
{
	struct job_context c;
	cleanup_free char *stale = NULL;
	struct diag d = { 0 };

	job_merge_run(m, 0, &c);
	if (formats_chosen(&o->run.output)->option || o->account.compact) {
		tell_refused(o->who, m);
		tell_names(o->who, &c.nodes->missing, "no report of these nodes is there");
		stale = job_nodes_names(c.nodes, is_stale, NAMES_BYTES);
		if (stale && stale[0]) {
			diag_fail(&d, 0, "the job ended unobserved on %s", stale);
			output_diag(o->who, &d);
		}
	}
}

static void tell_earlier(const struct options *o, const struct job_merge *m)
{
	size_t nr = 0;
	struct diag d = { 0 };

	for (size_t i = 0; i < job_merge_runs(m); i++)
		nr += is_earlier(m, i);
	if (!nr || o->account.all)
		return;
	diag_fail(&d, 0, "there are reports of %zu earlier run%s, which %s not in it", nr,
		  nr == 1 ? "" : "s", nr == 1 ? "is" : "are");
	diag_help(&d, "--all shows each run, and --since TIME those that ended after it");
	output_diag(o->who, &d);
}

static int tell_none(const struct options *o, const struct job_merge *m)
{
	struct diag d = { 0 };

	if (o->account.name)
		diag_fail(&d, 0, "there is no report of job %s", o->account.name);
	else
		diag_fail(&d, 0, "there is no report of a job");
	diag_help(&d, "reports are files of JSON in the spool of \"t410trace serve\", or what "
		      "\"t410trace job --json\" prints");
	output_diag(o->who, &d);
	tell_refused(o->who, m);
	return EXIT_NO_JOB;
}

static size_t count_jobs(const struct job_merge *m, bool all)
{
	size_t nr = 0;

	for (size_t i = 0; i < job_merge_runs(m); i++)
		nr += all || !is_earlier(m, i);
	return nr;
}

static int print(const struct options *o, const struct job_merge *m, bool *ret_incomplete,
		 struct diag *d)
{
	const struct report_format *f = formats_chosen(&o->run.output);
	cleanup_free char *text = NULL;
	size_t size = 0;
	FILE *out;
	int err;

	if (f->path && count_jobs(m, o->account.all) > 1) {
		diag_fail(d, -EINVAL, "%s is for one job, and there are reports of %zu", f->option,
			  count_jobs(m, o->account.all));
		return diag_advise(d, -EINVAL, "name the job");
	}
	out = open_memstream(&text, &size);
	if (!out)
		return diag_no_memory(d);
	err = write_runs(out, o, m, ret_incomplete);
	if (fclose(out) && !err)
		err = -errno;
	if (err)
		return diag_error(d, err, "cannot show the account");
	return job_file_write(format_path(f, &o->run.output), text, size, d);
}

/* The database gets to know that no node of the job has a report. */
static int print_missing(const struct options *o, struct merging *g,
			 const struct text_list *expected)
{
	const struct account_options *a = &o->account;
	struct job_nodes nodes = { .expected = expected->nr, .missing = *expected };
	cleanup_free char *record = NULL;
	int err;

	job_merge_refused(g->m, &nodes.nr_refused);
	err = job_compact_missing(a->scheduler, a->wanted.id, &nodes, &record);
	if (err)
		return diag_error(g->d, err, "cannot show the account");
	printf("%s\n", record);
	if (output_finish(o->who))
		return EXIT_FAILED;
	tell_none(o, g->m);
	return EXIT_INCOMPLETE;
}

static int merge(const struct options *o, struct merging *g)
{
	cleanup_texts struct text_list expected = { 0 };
	bool incomplete = false;
	int err = read_all(g);

	if (!err && o->account.nodes)
		err = hostlist_expand(o->account.nodes, &expected, g->d);
	if (!err && job_merge_finish(g->m, o->account.nodes ? &expected : NULL))
		err = diag_no_memory(g->d);
	if (err)
		return err;
	if (!job_merge_runs(g->m))
		return o->account.compact && expected.nr && o->account.scheduler
			       ? print_missing(o, g, &expected)
			       : tell_none(o, g->m);
	err = print(o, g->m, &incomplete, g->d);
	if (err)
		return err;
	if (output_finish(o->who))
		return EXIT_FAILED;
	tell_earlier(o, g->m);
	tell_nodes(o, g->m);
	return incomplete ? EXIT_INCOMPLETE : EXIT_OK_;
}

int job_merge_command(const struct options *o)
{
	struct diag d = { 0 };
	struct merging g = { .args = &o->account, .m = job_merge_new(), .d = &d };
	int status = g.m ? merge(o, &g) : diag_no_memory(&d);

	free(g.text);
	job_merge_free(g.m);
	if (status >= 0)
		return status;
	output_diag(o->who, &d);
	return EXIT_FAILED;
}

bool job_merge_is_report(const char *text)
{
	size_t length = strlen(text);

	return !strcmp(text, "-") || strchr("/.", text[0]) ||
	       (length > strlen(SUFFIX) && !strcmp(text + length - strlen(SUFFIX), SUFFIX));
}

int job_merge_check(const struct options *o, struct diag *d)
{
	const struct account_options *a = &o->account;
	cleanup_texts struct text_list expected = { 0 };

	if (!a->merge.nr && a->merge_more.nr)
		return diag_fail(d, -EINVAL, "unexpected argument \"%s\": reports need --merge",
				 a->merge_more.items[0]);
	if (!a->merge.nr && (a->nodes || a->owners.all || a->owners.nr))
		return diag_fail(d, -EINVAL, "%s needs --merge", a->nodes ? "--nodes" : "--owner");
	if (!a->merge.nr)
		return 0;
	if (a->decode || a->history || a->file || a->wait_ns != UINT64_MAX)
		return diag_fail(d, -EINVAL,
				 "--merge and %s exclude each other: closing reports are read, "
				 "not the store",
				 a->decode    ? "--decode"
				 : a->history ? "--history"
				 : a->file    ? "--state"
					      : "--wait");
	return a->nodes ? hostlist_expand(a->nodes, &expected, d) : 0;
}
