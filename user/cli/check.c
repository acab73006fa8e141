// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* t410trace check: capabilities of this machine and their gaps; are its counts right? */
#include "cli/commands.h"
#include "cli/check_gpu.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/output.h"
#include "cli/values.h"
#include "live/selftest/selftest.h"
#include "platform/check/checks.h"
#include "platform/sys/resctrl.h"
#include "platform/sys/sysfs.h"
#include "report/grid.h"
#include "version.h"

#define CHECK_SCHEMA	"t410trace.check/1"
#define SELFTEST_SCHEMA "t410trace.selftest/1"
#define ROWS_A_PHASE	(1 + SELFTEST_PROGRAMS)
#define MAX_ROWS	(SELFTEST_MAX_SOCKETS * 2 * ROWS_A_PHASE)

static json_t *checks_to_json(const struct check_list *list)
{
	json_t *checks = json_array();

	for (size_t i = 0; i < list->nr; i++) {
		const struct check_row *row = &list->rows[i];

		output_append(&checks, json_pack("{s:s, s:s, s:s, s:s}", "name", row->name,
						 "status", check_status_name(row->status), "found",
						 row->found, "remedy", row->remedy));
	}
	return json_pack("{s:s, s:b, s:s, s:o}", "schema", CHECK_SCHEMA, "ok", check_all_ok(list),
			 "status", check_status_name(check_worst(list)), "checks", checks);
}

/* Rows about the machine and its uses come first, whatever they say. */
static const char *const about_machine[] = {
	"machine",     "pmus",	    "gpus",	      "gpu_helper",   "gpu_driver",
	"gpu_nvml",    "gpu_links", "gpu_accounting", "gpu_counters", "gpu_pids",
	"gpu_holders", "peak",	    "kernel",	      "serve",
};

static const struct check_row *find_row(const struct check_list *list, const char *name)
{
	for (size_t i = 0; i < list->nr; i++)
		if (!strcmp(list->rows[i].name, name))
			return &list->rows[i];
	return NULL;
}

static bool is_about_machine(const struct check_row *row)
{
	for (size_t i = 0; i < ARRAY_SIZE(about_machine); i++)
		if (!strcmp(row->name, about_machine[i]))
			return true;
	return false;
}

/* Its remedy goes below it. */
static void print_row(const struct check_row *row, int width)
{
	char label[64];

	snprintf(label, sizeof(label), "%-7s  %-*s", check_status_name(row->status), width,
		 row->name);
	output_labelled(stdout, 11 + width, label, row->found);
	output_wrapped(stdout, 13 + width, row->remedy);
}

/* One sentence, with the names of the rows that it rests on. */
static void print_verdict(const struct check_list *list)
{
	enum check_status worst = check_worst(list);
	char names[OUTPUT_COLUMNS * 4] = "", text[sizeof(names) + 200];
	size_t nr = 0;

	for (size_t i = 0; i < list->nr; i++)
		if (list->rows[i].status == worst)
			str_append(names, sizeof(names), "%s%s", nr++ ? ", " : "",
				   list->rows[i].name);
	if (worst == CHECK_OK)
		snprintf(text, sizeof(text), "t410trace can work here.");
	else if (worst == CHECK_LIMITED)
		snprintf(text, sizeof(text), "t410trace can work here, with limits: %s.", names);
	else if (!strcmp(names, "pmus"))
		snprintf(text, sizeof(text),
			 "t410trace cannot count traffic here (missing: pmus), but with "
			 "--no-counters attribute CPU time and requests to disks.");
	else
		snprintf(text, sizeof(text), "t410trace cannot work here, missing: %s.", names);
	output_wrapped(stdout, 0, text);
	putchar('\n');
}

static void print_checks(const struct check_list *list, bool all)
{
	size_t left_out = 0;
	int width = 0;

	for (size_t i = 0; i < list->nr; i++) {
		const struct check_row *row = &list->rows[i];

		if ((all || row->status != CHECK_OK || is_about_machine(row)) &&
		    (int)strlen(row->name) > width)
			width = (int)strlen(row->name);
	}
	print_verdict(list);
	for (size_t i = 0; i < ARRAY_SIZE(about_machine); i++)
		if (find_row(list, about_machine[i]))
			print_row(find_row(list, about_machine[i]), width);
	for (size_t i = 0; i < list->nr; i++) {
		const struct check_row *row = &list->rows[i];

		if (is_about_machine(row))
			continue;
		if (all || row->status != CHECK_OK)
			print_row(row, width);
		else
			left_out++;
	}
	if (left_out)
		printf("\n%zu more checks are ok; -v shows them.\n", left_out);
}

static int show(const struct options *o, const struct sysfs *fs, struct diag *d, bool *ret_ok)
{
	struct check_list list = { 0 };
	int err;

	err = check_machine(fs, "/proc", o->run.resctrl ? o->run.resctrl : RESCTRL_ROOT, &list);
	if (!err)
		err = check_gpu(fs, &list);
	if (err)
		return diag_error(d, err, "cannot look at this machine");
	*ret_ok = check_all_ok(&list);
	if (o->run.output.format != OUTPUT_JSON)
		print_checks(&list, o->run.output.verbose);
	else if ((err = output_json(checks_to_json(&list))))
		diag_error(d, err, "cannot show the checks");
	return err;
}

/* --- the self-test */

/* A line: the counter of a phase, or a program's share in it */
struct row {
	const struct selftest_phase *phase;
	int program; /* -1: the counter */
	struct selftest_result result;
};

struct verdicts {
	struct row rows[MAX_ROWS];
	size_t nr;
	enum selftest_verdict all;
};

static const char *const program_names[SELFTEST_PROGRAMS] = { "heavy", "light" };

static void judge_phase(const struct selftest_phase *p, struct verdicts *v)
{
	struct selftest_result counter = selftest_judge_counter(p);

	v->rows[v->nr++] = (struct row){ p, -1, counter };
	for (int i = 0; i < SELFTEST_PROGRAMS; i++)
		v->rows[v->nr++] = (struct row){ p, i, selftest_judge_program(p, &counter, i) };
}

static void judge_all(const struct selftest *s, struct verdicts *v)
{
	v->all = SELFTEST_RIGHT;
	for (size_t i = 0; i < s->nr; i++)
		for (int k = 0; k < 2 && !s->sockets[i].skipped[0]; k++)
			judge_phase(&s->sockets[i].phases[k], v);
	for (size_t i = 0; i < v->nr; i++)
		v->all = selftest_worst(v->all, v->rows[i].result.verdict);
	for (size_t i = 0; i < s->nr; i++)
		if (s->sockets[i].skipped[0])
			v->all = selftest_worst(v->all, SELFTEST_UNDECIDED);
}

static struct grid_cell what_cell(const struct grid_place *at)
{
	const struct row *row = at->row;
	const char *direction = direction_name(row->phase->direction);

	if (row->program < 0)
		return grid_text("socket %u, %s", row->phase->socket, direction);
	return grid_text("  %s program", program_names[row->program]);
}

static struct grid_cell holds_cell(const struct grid_place *at)
{
	const struct row *row = at->row;

	if (row->program < 0)
		return grid_is(GRID_EMPTY);
	return grid_text("%s", row->result.held ? "holds" : "no");
}

static struct grid_cell bar_cell(const struct grid_place *at)
{
	const struct row *row = at->row;
	const struct selftest_part *part;

	if (row->program < 0)
		return grid_is(GRID_EMPTY);
	part = &row->phase->parts[row->program];
	return grid_if(part->found, grid_range(part->given, part->low, part->high, false));
}

GRID_CELL(verdict_cell, struct row, grid_text("%s", selftest_verdict_name(row->result.verdict)));
GRID_CELL(known_cell, struct row, grid_bytes(row->result.known));
GRID_CELL(seen_cell, struct row, grid_bytes(row->result.seen));
GRID_CELL(ratio_cell, struct row, grid_ratio(row->result.seen, row->result.known));

static const struct grid_column columns[] = {
	{ .head = "VERDICT", .width = 9, .look = GRID_LEFT, .cell = verdict_cell },
	{ .head = "WHAT", .width = 18, .look = GRID_LEFT, .cell = what_cell },
	{ .head = "MOVED", .cell = known_cell },
	{ .head = "SEEN", .cell = seen_cell },
	{ .head = "RATIO", .cell = ratio_cell },
	{ .head = "RANGE", .width = FORMAT_RANGE_WIDTH, .cell = bar_cell },
	{ .head = "HOLDS", .width = 5, .look = GRID_LEFT, .gap = 1, .cell = holds_cell },
};

static void print_head(const struct selftest *s)
{
	const struct quality *q = &s->quality;

	printf("t410trace %s, Linux %s, platform %s, %zu socket%s, %.1f s\n", T410TRACE_VERSION,
	       s->host.kernel, s->host.platform, s->nr, s->nr == 1 ? "" : "s",
	       s->ns / (double)NS_PER_S);
	printf("%s\n%s\n", s->counters, s->weights);
	if (s->cache)
		printf("largest cache %.1f MiB, buffers of %llu MiB\n", s->cache / 1048576.0,
		       SELFTEST_BYTES >> 20);
	else
		printf("largest cache not known, buffers of %llu MiB\n", SELFTEST_BYTES >> 20);
	printf("windows lost %llu, invalid %llu, merged %llu; CPU time lost %.3f s\n\n",
	       (unsigned long long)q->lost_windows, (unsigned long long)q->invalid_windows,
	       (unsigned long long)q->merged_windows, q->lost_slices_ns / (double)NS_PER_S);
}

static int print_text(const struct selftest *s, const struct verdicts *v)
{
	static const char *const ends[] = {
		[SELFTEST_RIGHT] = "This machine is right.",
		[SELFTEST_WRONG] = "This machine is wrong: please report this output as a bug.",
		[SELFTEST_UNDECIDED] = "Not all could be decided: see the reasons above.",
	};
	int err = 0;

	GRID(g, columns, stdout, OUTPUT_COLUMNS, v);
	print_head(s);
	grid_fit(&g);
	grid_heading(&g);
	for (size_t i = 0; !err && i < v->nr; i++) {
		err = grid_row(&g, &v->rows[i]);
		output_wrapped(stdout, 12, v->rows[i].result.reason);
	}
	for (size_t i = 0; i < s->nr; i++)
		if (s->sockets[i].skipped[0])
			printf("%-10s socket %u: %s\n", "undecided", s->sockets[i].id,
			       s->sockets[i].skipped);
	printf("\n%s\n", ends[v->all]);
	return err;
}

static json_t *row_to_json(const struct row *row)
{
	const struct selftest_result *r = &row->result;
	const struct selftest_phase *p = row->phase;
	json_t *j = json_pack("{s:i, s:s, s:s, s:I, s:I, s:I, s:s}", "socket", (int)p->socket,
			      "direction", direction_name(p->direction), "verdict",
			      selftest_verdict_name(r->verdict), "moved_bytes",
			      (json_int_t)r->known, "seen_bytes", (json_int_t)r->seen,
			      "doubt_bytes", (json_int_t)r->doubt, "reason", r->reason);
	const struct selftest_part *part;

	if (!j || row->program < 0)
		return j;
	part = &p->parts[row->program];
	json_object_set_new(j, "program", json_string(program_names[row->program]));
	json_object_set_new(j, "interval_holds", json_boolean(r->held));
	if (part->found) {
		json_object_set_new(j, "low_bytes", json_integer(part->low));
		json_object_set_new(j, "high_bytes", json_integer(part->high));
		json_object_set_new(j, "on_cpu_ns", json_integer(part->on_cpu_ns));
	}
	return j;
}

static int print_json(const struct selftest *s, const struct verdicts *v)
{
	const struct quality *q = &s->quality;
	json_t *rows = json_array(), *skipped = json_array(), *losses;

	for (size_t i = 0; i < v->nr; i++)
		output_append(&rows, row_to_json(&v->rows[i]));
	for (size_t i = 0; i < s->nr; i++)
		if (s->sockets[i].skipped[0])
			output_append(&skipped,
				      json_pack("{s:i, s:s}", "socket", (int)s->sockets[i].id,
						"reason", s->sockets[i].skipped));
	losses = json_pack("{s:I, s:I, s:I, s:I}", "lost_windows", (json_int_t)q->lost_windows,
			   "invalid_windows", (json_int_t)q->invalid_windows, "merged_windows",
			   (json_int_t)q->merged_windows, "lost_slices_ns",
			   (json_int_t)q->lost_slices_ns);
	return output_json(json_pack(
		"{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:o}", "schema",
		SELFTEST_SCHEMA, "version", T410TRACE_VERSION, "kernel", s->host.kernel, "platform",
		s->host.platform, "verdict", selftest_verdict_name(v->all), "counters", s->counters,
		"weights", s->weights, "duration_ns", (json_int_t)s->ns, "cache_bytes",
		(json_int_t)s->cache, "buffer_bytes", (json_int_t)SELFTEST_BYTES, "quality", losses,
		"rows", rows, "skipped", skipped));
}

static void log_line(const char *text)
{
	fputs(text, stderr);
}

static int run_selftest(const struct options *o)
{
	static const int statuses[] = {
		[SELFTEST_RIGHT] = EXIT_OK_,
		[SELFTEST_WRONG] = EXIT_FAILED,
		[SELFTEST_UNDECIDED] = EXIT_INCOMPLETE,
	};
	struct verdicts verdicts = { 0 };
	struct selftest s;
	struct diag d = { 0 };
	int err = selftest_run(o->run.output.verbose ? log_line : NULL, &d, &s);

	if (!err) {
		judge_all(&s, &verdicts);
		err = o->run.output.format == OUTPUT_JSON ? print_json(&s, &verdicts)
							  : print_text(&s, &verdicts);
		if (err)
			diag_error(&d, err, "cannot show the self-test");
	}
	err = output_end(o->who, err, &d);
	return err ? exit_of(err) : statuses[verdicts.all];
}

/* --- the command */

static int run(struct options *o)
{
	struct sysfs fs = { .fd = -1 };
	struct diag d = { 0 };
	bool ok = false;
	int err;

	if (o->selftest)
		return run_selftest(o);
	err = sysfs_open(NULL, &d, &fs);
	if (!err)
		err = show(o, &fs, &d, &ok);
	sysfs_close(&fs);
	return output_end(o->who, err, &d) || !ok ? EXIT_FAILED : EXIT_OK_;
}

static const struct option_row rows[] = {
	{ 0, 0, PLATFORM_IS, PLATFORM },
	{ 0, 0,
	  "Where the kernel's monitoring groups are, whose sum is compared with the counters "
	  "(default " RESCTRL_ROOT "; none: it is not)",
	  OPTION("resctrl", 0, "DIR|none", value_resctrl, run.resctrl) },
	{ 0, 0, "Print JSON (" CHECK_SCHEMA ", or t410trace.selftest/1)", AS_JSON },
	{ 0, 0,
	  "Move a known number of bytes on each socket, and compare them with what t410trace says: "
	  "below 20 s, 256 MiB, two CPUs of a socket at a time",
	  SWITCH("selftest", 0, selftest) },
	{ 0, 0, "Also show what is as it should be, or messages of a self-test",
	  SWITCH("verbose", 'v', run.output.verbose) },
	{ 0 },
};

const struct command command_check = {
	.name = "check",
	.brief = "what this machine has and lacks for t410trace",
	.doc = "Show whether this machine has what t410trace needs.",
	.options = rows,
	.statuses = 1u << EXIT_INCOMPLETE,
	.incomplete = "the self-test could not decide",
	.run = run,
};
