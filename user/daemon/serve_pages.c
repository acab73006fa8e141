// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "daemon/serve_pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "daemon/http_socket.h"
#include "report/job/job_report.h"
#include "report/json/json.h"
#include "report/json/internal.h"
#include "report/put.h"
#include "version.h"

#define HEALTH_SCHEMA  "t410trace.health/1"
/* So many intervals, and a little more, may go by without a closing. */
#define LATE_INTERVALS 3
#define LATE_NS	       (5 * NS_PER_S)

#define TYPE_TEXT      "text/plain; charset=utf-8"
#define TYPE_JSON      "application/json"

/*
 * What a client may see. The kernel tells who is at a unix socket; at TCP it can be anybody, so that
 * there are no names, unless the administrator wants them there.
 */
enum sees {
	SEES_NUMBERS, /* of the machine, and of jobs by their ids */
	SEES_OWN,     /* also own jobs */
	SEES_ALL,
};

struct viewer {
	enum sees sees;
	uid_t uid;
};

static struct viewer viewer_of(const struct serve_config *c, const struct http_request *q)
{
	struct viewer v = { .sees = c->names ? SEES_ALL : SEES_NUMBERS };

	if (q->fd < 0 || http_socket_user(q->fd, &v.uid))
		return v;
	if (!v.uid || v.uid == geteuid() ||
	    (c->readers != NO_READERS && http_socket_in_group(q->fd, c->readers)))
		v.sees = SEES_ALL;
	else if (v.sees == SEES_NUMBERS)
		v.sees = SEES_OWN;
	return v;
}

/* --- what is wrong */

static uint64_t age_ns(const struct serve_pages *p)
{
	const struct serve_keeper *k = p->keeper;

	return monotonic_ns() - (k->intervals ? k->closed_ns : p->started_ns);
}

static const struct serve_trouble *trouble_of(const struct serve_keeper *k, enum health_part part)
{
	switch (part) {
	case HEALTH_STORE:
		return &k->store_trouble;
	case HEALTH_SPOOL:
		return serve_keeper_spool(k);
	case HEALTH_COUNTERS:
		return &k->counters_trouble;
	case HEALTH_CLOCK:
		return &k->clock_trouble;
	default:
		return NULL;
	}
}

/* Bits by enum health_part */
static uint32_t unhealthy_parts(const struct serve_pages *p)
{
	bool late = age_ns(p) > LATE_INTERVALS * p->config->interval_ns + LATE_NS;
	uint32_t parts = (uint32_t)late << HEALTH_INTERVALS;

	for (enum health_part i = HEALTH_INTERVALS + 1; i < NR_HEALTH_PARTS; i++)
		parts |= (uint32_t)trouble_of(p->keeper, i)->now << i;
	return parts;
}

/* --- /metrics, /report, /jobs */

/*
 * Counters begin with the run. Those of the accounts would go on where the store was written last: with
 * intervals that it did not take they would go back by a little, and a reset counts as all of the rest.
 * Gaps and jobs that ended in them come at the begin of a run, and are found again if they were not stored:
 * they never go back.
 */
static int node_of_run(const struct serve_keeper *k, struct accounts_node *ret)
{
	const struct accounts_node *now = accounts_node(k->accounts), *base = &k->base;
	int err = accounts_node_since(now, base, ret);

	if (err)
		return err;
	ret->counters = now->counters;
	ret->nr_counters = now->nr_counters;
	ret->gaps = now->gaps;
	ret->gap_ns = now->gap_ns;
	ret->jobs_started = now->jobs_started - base->jobs_started;
	ret->jobs_ended = now->jobs_ended - base->jobs_ended;
	ret->jobs_stale = now->jobs_stale;
	ret->jobs_dropped = now->jobs_dropped - base->jobs_dropped;
	ret->late_rows = now->late_rows - base->late_rows;
	return 0;
}

static int write_metrics(const struct serve_pages *p, const struct viewer *v, FILE *out,
			 enum exposition e)
{
	const struct serve_keeper *k = p->keeper;
	struct accounts_node node = { 0 };
	int err = node_of_run(k, &node);
	const struct openmetrics_state s = {
		.host = &k->host,
		.node = &node,
		.names = v->sees == SEES_ALL,
		.jobs_running = accounts_nr_running(k->accounts),
		.unreported = k->unreported,
		.reports_written = k->reported,
		.reports_removed = k->removed,
		.reports_unwritten = k->unwritten,
		.store_errors = k->store_trouble.errors,
		.spool_errors = k->spool_trouble.errors,
		.clock_wrong = k->clock_trouble.now,
		.unhealthy = unhealthy_parts(p),
		.start_ns = p->start_ns,
		.reload_failed = p->reload_failed,
		.restart_needed = p->restart_needed,
		.interval_ns = k->last ? k->last->end_ns - k->last->start_ns : 0,
		.setting_ns = p->config->interval_ns,
		.cost_ns = k->cost_ns,
	};

	err = err ? err : openmetrics_write(out, k->metrics, &s, e);
	free(node.totals);
	return err;
}

static int write_text_metrics(const struct serve_pages *p, const struct viewer *v, FILE *out)
{
	return write_metrics(p, v, out, EXPOSITION_TEXT);
}

static int write_openmetrics(const struct serve_pages *p, const struct viewer *v, FILE *out)
{
	return write_metrics(p, v, out, EXPOSITION_OPENMETRICS);
}

static int write_report(const struct serve_pages *p, const struct viewer *v, FILE *out)
{
	(void)v;
	return p->keeper->last ? json_write(out, p->keeper->last) : -EAGAIN;
}

struct choice {
	const struct viewer *viewer;
	struct account_list list;
};

/* By the kernel's uid, not by the name in an environment. */
static bool may_see(const struct viewer *v, const struct row_job *job)
{
	return v->sees == SEES_ALL || (v->uid && (job->uid == v->uid || job->owner == v->uid));
}

/* Copies: what is handed out lasts for the call only. */
static int add_running(void *arg, const struct account_job *j)
{
	struct choice *c = arg;

	return j->state == ACCOUNT_RUNNING && may_see(c->viewer, &j->job)
		       ? account_list_add(&c->list, j)
		       : 0;
}

static int write_jobs(const struct serve_pages *p, const struct viewer *v, FILE *out)
{
	const struct serve_keeper *k = p->keeper;
	const struct job_context context = { .host = &k->host, .node = accounts_node(k->accounts) };
	struct choice c = { .viewer = v };
	int err = accounts_each(k->accounts, add_running, &c);

	if (!err)
		err = jobs_json_write(out, &context, c.list.jobs, c.list.nr);
	account_list_release(&c.list);
	return err;
}

/* --- /healthz */

/* Names of files and of reports, ids of users, and words of programs are not for everybody. */
static const char *reason(const struct viewer *v, const char *why)
{
	return v->sees == SEES_ALL ? why
				   : "the log says why, and so does this page for root at the unix "
				     "socket";
}

static void put_part(json_t *o, const char *key, const struct viewer *v,
		     const struct serve_trouble *t, int *err)
{
	json_t *part = json_object();

	put_bool(part, "ok", !t->now, err);
	put_number(part, "errors", t->errors, err);
	put_name(part, "problem", t->now ? reason(v, t->why) : NULL, sizeof(t->why), err);
	put_number(part, "failing_ns", t->now ? monotonic_ns() - t->since_ns : 0, err);
	put(o, key, part, err);
}

static void put_losses(json_t *o, const struct accounts_node *node, int *err)
{
	json_t *lost = json_lost(&node->quality, err);

	put_number(lost, "jobs", node->jobs_dropped, err);
	put_number(lost, "late_rows", node->late_rows, err);
	put(o, "lost", lost, err);
}

/* Through put_text(): names of files in it may be anything. */
static void problem(json_t *list, const char *part, const char *text, int *err)
{
	json_t *o = json_object();

	put_text(o, "part", part, err);
	put_text(o, "text", text, err);
	put_element(list, o, err);
}

static json_t *health(const struct serve_pages *p, const struct viewer *v, bool *ret_ok, int *err)
{
	const struct serve_keeper *k = p->keeper;
	uint64_t age = age_ns(p);
	uint32_t unhealthy = unhealthy_parts(p);
	json_t *o = json_object(), *problems = json_array();
	char late[80];

	snprintf(late, sizeof(late), "no interval was closed for %.0f s", age / 1e9);
	for (enum health_part i = 0; i < NR_HEALTH_PARTS; i++)
		if (unhealthy >> i & 1)
			problem(problems, health_part_name(i),
				i == HEALTH_INTERVALS ? late : reason(v, trouble_of(k, i)->why),
				err);
	*ret_ok = !json_array_size(problems);
	put_text(o, "schema", HEALTH_SCHEMA, err);
	put_text(o, "status", *ret_ok ? "ok" : "failing", err);
	put(o, "problems", problems, err);
	put_text(o, "version", T410TRACE_VERSION, err);
	put_number(o, "uptime_ns", monotonic_ns() - p->started_ns, err);
	put_number(o, "intervals", k->intervals, err);
	put_number(o, "interval_ns", p->config->interval_ns, err);
	put_number(o, "age_ns", age, err);
	put_number(o, "cost_ns", k->cost_ns, err);
	put_number(o, "cost_cpu_ns", k->cost_cpu_ns, err);
	put_number(o, "jobs", accounts_nr_running(k->accounts), err);
	put_number(o, "reported", k->reported, err);
	put_number(o, "unreported", k->unreported, err);
	put_number(o, "reports_removed", k->removed, err);
	put_number(o, "reports_unwritten", k->unwritten, err);
	put_number(o, "damaged", k->damaged, err);
	put_part(o, "store", v, &k->store_trouble, err);
	put_part(o, "spool", v, serve_keeper_spool(k), err);
	put_part(o, "counters", v, &k->counters_trouble, err);
	put_part(o, "clock", v, &k->clock_trouble, err);
	put_losses(o, accounts_node(k->accounts), err);
	return o;
}

static int write_health(const struct serve_pages *p, const struct viewer *v, FILE *out)
{
	bool ok = false;
	int err = 0;
	json_t *o = health(p, v, &ok, &err);

	err = put_line(out, o, 0, err);
	return err || ok ? err : 503;
}

/* --- the pages */

static int write_index(const struct serve_pages *p, const struct viewer *v, FILE *out);

/**
 * struct page - a page
 * @path: its path. Two of the same path are forms: enum exposition chooses
 * @about: its line of the index, NULL for none
 * @schema: of its JSON, behind that line; NULL for none
 * @type: content type; NULL: that of its exposition
 * @write: writes it; 0, another HTTP status than 200, or a negative errno
 * @each_time: for each request. Others are kept until the accounts change, with names and without
 * @sees: clients who see less get status 403
 *
 * The index and the answer to a wrong path are made of the rows. All are for GET and HEAD, and at TCP
 * for clients that ask by a name of this machine: see http_open() and http_hosts().
 */
struct page {
	const char *path;
	const char *about;
	const char *schema;
	const char *type;
	int (*write)(const struct serve_pages *p, const struct viewer *v, FILE *out);
	bool each_time;
	enum sees sees;
};

static const struct page rows[] = {
	{ "/metrics", "totals of this machine and of its largest jobs (OpenMetrics)", NULL, NULL,
	  .write = write_text_metrics },
	{ "/metrics", NULL, NULL, NULL, .write = write_openmetrics },
	{ "/healthz", "is everything read, written and up to date? 503 when not", HEALTH_SCHEMA,
	  TYPE_JSON, .write = write_health, .each_time = true },
	{ "/report", "the last interval by job", "t410trace.report/1", TYPE_JSON,
	  .write = write_report, .sees = SEES_ALL },
	{ "/jobs", "running jobs with their totals so far", "t410trace.jobs/1", TYPE_JSON,
	  .write = write_jobs, .sees = SEES_OWN },
	{ "/", NULL, NULL, TYPE_TEXT, .write = write_index, .each_time = true },
};

static int write_index(const struct serve_pages *p, const struct viewer *v, FILE *out)
{
	(void)p;
	fputs("t410trace " T410TRACE_VERSION ": accounts of jobs\n\n", out);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].about && v->sees >= rows[i].sees)
			fprintf(out, "%-9s %s%s%s%s\n", rows[i].path, rows[i].about,
				rows[i].schema ? " (" : "", rows[i].schema ?: "",
				rows[i].schema ? ")" : "");
	return 0;
}

/* Make it; @ret is untouched after an error */
static int make(const struct serve_pages *p, const struct page *row, const struct viewer *v,
		struct serve_page *ret)
{
	struct serve_page made = { .changes = p->keeper->changes, .unhealthy = unhealthy_parts(p) };
	FILE *out = open_memstream(&made.text, &made.size);
	int status = out ? row->write(p, v, out) : -ENOMEM;

	if (out && fclose(out) && status >= 0)
		status = -ENOMEM;
	if (status < 0) {
		free(made.text);
		return status;
	}
	made.status = status ? status : 200;
	*ret = made;
	return 0;
}

/* A page that is not right now, or not at all: the reason, and which there are. */
static int no_page(const struct serve_pages *p, const struct viewer *v, int status, const char *why,
		   struct http_page *ret)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return -ENOMEM;
	fprintf(out, "%s\n\n", why);
	write_index(p, v, out);
	if (fclose(out)) {
		free(text);
		return -ENOMEM;
	}
	*ret = (struct http_page){ status, TYPE_TEXT, text, size };
	return 0;
}

static const char *denial(const struct viewer *v)
{
	return v->sees == SEES_OWN
		       ? "this page is for root and for the group in the setting \"readers\""
		       : "names of jobs and users are shown at the unix socket of t410trace, by "
			 "user; \"names = "
			 "yes\" in serve.conf shows them here";
}

/* Make the page, unless it is kept: two forms of each row, without names and with them */
static int find_page(struct serve_pages *p, size_t row, const struct viewer *v,
		     struct serve_page **ret)
{
	struct serve_page *kept;

	if (!p->cache)
		p->cache = calloc(2 * ARRAY_SIZE(rows), sizeof(*p->cache));
	if (!p->cache)
		return -ENOMEM;
	kept = *ret = &p->cache[2 * row + (v->sees == SEES_ALL)];
	/* each user has other jobs */
	if (kept->text && kept->changes == p->keeper->changes &&
	    kept->unhealthy == unhealthy_parts(p) && !rows[row].each_time &&
	    (v->sees != SEES_OWN || rows[row].sees == SEES_NUMBERS))
		return 0;
	free(kept->text);
	kept->text = NULL;
	return make(p, &rows[row], v, kept);
}

int serve_pages_get(void *arg, const struct http_request *q, struct http_page *ret)
{
	struct serve_pages *p = arg;
	const struct viewer v = viewer_of(p->config, q);
	struct serve_page *page;
	char *body;
	size_t i = 0;
	int err;

	while (i < ARRAY_SIZE(rows) && strcmp(q->path, rows[i].path) != 0)
		i++;
	if (i == ARRAY_SIZE(rows))
		return no_page(p, &v, 404, "no such page", ret);
	if (v.sees < rows[i].sees)
		return no_page(p, &v, 403, denial(&v), ret);
	i += rows[i].type ? 0 : openmetrics_negotiate(q->accept);
	err = find_page(p, i, &v, &page);
	if (err == -EAGAIN)
		return no_page(p, &v, 503, "the first interval has not ended yet", ret);
	if (err)
		return err;
	body = malloc(page->size ? page->size : 1);
	if (!body)
		return -ENOMEM;
	memcpy(body, page->text, page->size);
	*ret = (struct http_page){ page->status, rows[i].type ?: openmetrics_type(i), body,
				   page->size };
	return 0;
}

void serve_pages_reloaded(struct serve_pages *p, bool failed, bool restart_needed)
{
	serve_pages_release(p);
	p->cache = NULL;
	p->reload_failed = failed;
	if (!failed)
		p->restart_needed = restart_needed;
}

void serve_pages_release(struct serve_pages *p)
{
	for (size_t i = 0; p->cache && i < 2 * ARRAY_SIZE(rows); i++)
		free(p->cache[i].text);
	free(p->cache);
}
