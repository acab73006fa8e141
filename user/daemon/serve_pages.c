// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "daemon/serve_pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
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

static const char index_text[] =
	"t410trace " T410TRACE_VERSION ": accounts of jobs\n"
	"\n"
	"/metrics  totals of this machine and of its largest jobs (OpenMetrics)\n"
	"/healthz  is everything read, written and up to date? (" HEALTH_SCHEMA
	"; status 503 when not)\n"
	"/report   the last interval by job (t410trace.report/1)\n"
	"/jobs     running jobs with their totals so far (t410trace.jobs/1)\n";

/* --- /metrics, /report, /jobs: made once an interval, when somebody asks */

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

static int write_metrics(const struct serve_pages *p, FILE *out, enum exposition e)
{
	const struct serve_keeper *k = p->keeper;
	struct accounts_node node = { 0 };
	int err = node_of_run(k, &node);
	const struct openmetrics_state s = {
		.host = &k->host,
		.node = &node,
		.jobs_running = accounts_nr_running(k->accounts),
		.unreported = k->unreported,
		.reports_written = k->reported,
		.reports_removed = k->removed,
		.reports_unwritten = k->unwritten,
		.store_errors = k->store_trouble.errors,
		.spool_errors = k->spool_trouble.errors,
		.clock_wrong = k->clock_trouble.now,
		.interval_ns = k->last ? k->last->end_ns - k->last->start_ns : 0,
		.setting_ns = p->config->interval_ns,
		.cost_ns = k->cost_ns,
	};

	err = err ? err : openmetrics_write(out, k->metrics, &s, e);
	free(node.totals);
	return err;
}

static int write_text_metrics(const struct serve_pages *p, FILE *out)
{
	return write_metrics(p, out, EXPOSITION_TEXT);
}

static int write_openmetrics(const struct serve_pages *p, FILE *out)
{
	return write_metrics(p, out, EXPOSITION_OPENMETRICS);
}

static int write_report(const struct serve_pages *p, FILE *out)
{
	return p->keeper->last ? json_write(out, p->keeper->last) : -EAGAIN;
}

/* Copies: what is handed out lasts for the call only. */
static int add_running(void *arg, const struct account_job *j)
{
	return j->state == ACCOUNT_RUNNING ? account_list_add(arg, j) : 0;
}

static int write_jobs(const struct serve_pages *p, FILE *out)
{
	const struct serve_keeper *k = p->keeper;
	const struct job_context context = { .host = &k->host, .node = accounts_node(k->accounts) };
	struct account_list r = { 0 };
	int err = accounts_each(k->accounts, add_running, &r);

	if (!err)
		err = jobs_json_write(out, &context, r.jobs, r.nr);
	account_list_release(&r);
	return err;
}

/* The type of metrics is that of their exposition; clients choose between the first two. */
static const struct page {
	const char *path;
	const char *type;
	int (*write)(const struct serve_pages *p, FILE *out);
} pages[SERVE_NR_PAGES] = {
	[EXPOSITION_TEXT] = { "/metrics", NULL, write_text_metrics },
	[EXPOSITION_OPENMETRICS] = { "/metrics", NULL, write_openmetrics },
	{ "/report", TYPE_JSON, write_report },
	{ "/jobs", TYPE_JSON, write_jobs },
};

static int text_of(const struct serve_pages *p,
		   int (*write)(const struct serve_pages *p, FILE *out), char **ret,
		   size_t *ret_size)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int err = out ? write(p, out) : -ENOMEM;

	if (out && fclose(out) && !err)
		err = -ENOMEM;
	if (err) {
		free(text);
		return err;
	}
	*ret = text;
	*ret_size = size;
	return 0;
}

static int cached(struct serve_pages *p, size_t i, struct http_page *ret)
{
	struct serve_page *c = &p->cache[i];
	char *body;
	int err = 0;

	if (!c->text || c->changes != p->keeper->changes) {
		free(c->text);
		c->text = NULL;
		err = text_of(p, pages[i].write, &c->text, &c->size);
		c->changes = p->keeper->changes;
	}
	if (err)
		return err;
	body = malloc(c->size ? c->size : 1);
	if (!body)
		return -ENOMEM;
	memcpy(body, c->text, c->size);
	*ret = (struct http_page){ 200, pages[i].type ? pages[i].type : openmetrics_type(i), body,
				   c->size };
	return 0;
}

/* --- /healthz */

static void put_part(json_t *o, const char *key, const struct serve_trouble *t, int *err)
{
	json_t *part = json_object();

	put_bool(part, "ok", !t->now, err);
	put_number(part, "errors", t->errors, err);
	put_name(part, "problem", t->now ? t->why : NULL, sizeof(t->why), err);
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

static void late(json_t *list, uint64_t age_ns, int *err)
{
	char text[80];

	snprintf(text, sizeof(text), "no interval was closed for %.0f s", age_ns / 1e9);
	problem(list, "intervals", text, err);
}

static json_t *health(const struct serve_pages *p, bool *ret_ok, int *err)
{
	const struct serve_keeper *k = p->keeper;
	const struct serve_trouble *spool = serve_keeper_spool(k);
	uint64_t now = monotonic_ns();
	uint64_t age = now - (k->intervals ? k->closed_ns : p->started_ns);
	json_t *o = json_object(), *problems = json_array();

	if (age > LATE_INTERVALS * p->config->interval_ns + LATE_NS)
		late(problems, age, err);
	if (k->store_trouble.now)
		problem(problems, "store", k->store_trouble.why, err);
	if (spool->now)
		problem(problems, "spool", spool->why, err);
	if (k->counters_trouble.now)
		problem(problems, "counters", k->counters_trouble.why, err);
	if (k->clock_trouble.now)
		problem(problems, "clock", k->clock_trouble.why, err);
	*ret_ok = !json_array_size(problems);
	put_text(o, "schema", HEALTH_SCHEMA, err);
	put_text(o, "status", *ret_ok ? "ok" : "failing", err);
	put(o, "problems", problems, err);
	put_text(o, "version", T410TRACE_VERSION, err);
	put_number(o, "uptime_ns", now - p->started_ns, err);
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
	put_part(o, "store", &k->store_trouble, err);
	put_part(o, "spool", spool, err);
	put_part(o, "counters", &k->counters_trouble, err);
	put_part(o, "clock", &k->clock_trouble, err);
	put_losses(o, accounts_node(k->accounts), err);
	return o;
}

static int health_page(const struct serve_pages *p, struct http_page *ret)
{
	bool ok = false;
	char *text = NULL;
	size_t size = 0;
	int err = 0;
	json_t *o = health(p, &ok, &err);
	FILE *out = open_memstream(&text, &size);

	if (!out)
		err = err ? err : -ENOMEM;
	if (out) {
		err = put_line(out, o, 0, err);
		o = NULL;
		if (fclose(out) && !err)
			err = -ENOMEM;
	}
	json_decref(o);
	if (err)
		free(text);
	else
		*ret = (struct http_page){ ok ? 200 : 503, TYPE_JSON, text, size };
	return err;
}

static int text_page(int status, const char *text, struct http_page *ret)
{
	char *body = strdup(text);

	if (!body)
		return -ENOMEM;
	*ret = (struct http_page){ status, TYPE_TEXT, body, strlen(text) };
	return 0;
}

int serve_pages_get(void *arg, const struct http_request *q, struct http_page *ret)
{
	struct serve_pages *p = arg;
	size_t i = 0;
	int err;

	if (!strcmp(q->path, "/"))
		return text_page(200, index_text, ret);
	if (!strcmp(q->path, "/healthz"))
		return health_page(p, ret);
	while (i < ARRAY_SIZE(pages) && strcmp(q->path, pages[i].path) != 0)
		i++;
	if (i == ARRAY_SIZE(pages))
		return -ENOENT;
	err = cached(p, pages[i].type ? i : openmetrics_negotiate(q->accept), ret);
	return err == -EAGAIN ? text_page(503, "the first interval has not ended yet\n", ret) : err;
}

void serve_pages_release(struct serve_pages *p)
{
	for (size_t i = 0; i < SERVE_NR_PAGES; i++)
		free(p->cache[i].text);
}
