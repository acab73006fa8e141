// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* t410trace top: the machine's activity, or a recording, on a terminal. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/run_check.h"
#include "cli/top_file.h"
#include "cli/top_metrics.h"
#include "live/run/live.h"
#include "live/run/run.h"
#include "report/format.h"
#include "report/top/screen.h"
#include "trace/midrun.h"

#define RECORDING_NAME_LEN 4096

struct top {
	struct options *o;
	struct run run;
	struct past *past;
	struct view view;
	struct screen *screen;
	struct midrun *midrun;
	struct top_metrics metrics;
	enum row_kind by, wanted_by;   /* kind of rows now, and from the next interval on */
	char file[RECORDING_NAME_LEN]; /* the current recording */
};

/* --- neighbours */

/* Only while their page is shown */
static int look_at_neighbours(struct top *t, struct diag *d)
{
	struct neighbours_report *r = NULL;
	int err;

	if (t->view.page != VIEW_LATENCIES)
		return 0;
	err = live_neighbours(t->run.live, d, &r);
	if (!err && top_neighbours(&t->view, r))
		err = diag_no_memory(d);
	neighbours_report_free(r);
	return err;
}

/* --- recording */

/* The requested name, or one with the time */
static void name_file(struct top *t)
{
	const char *wanted = t->o->run.output.file;

	if (wanted)
		snprintf(t->file, sizeof(t->file), "%s", wanted);
	else
		output_dated_name(t->file, sizeof(t->file), ".rec");
}

static void say_end(struct top *t, int err, const struct diag *d, uint64_t bytes)
{
	char size[FORMAT_NUMBER_LEN];

	t->view.recording = "";
	format_bytes(bytes, size);
	if (err)
		snprintf(t->view.note, sizeof(t->view.note), "%s", d->what);
	else
		snprintf(t->view.note, sizeof(t->view.note), "recorded %s to %.300s", size,
			 t->file);
}

/* Start or end it; errors are shown, and the run goes on. */
static void record(struct top *t)
{
	struct diag d = { 0 };
	uint64_t bytes = 0;
	int err;

	if (midrun_records(t->midrun)) {
		err = midrun_stop(t->midrun, &d, &bytes);
		say_end(t, err, &d, bytes);
		return;
	}
	name_file(t);
	err = midrun_start(t->midrun, t->file, &d);
	if (!err)
		t->view.recording = t->file;
	snprintf(t->view.note, sizeof(t->view.note), err ? "%s" : "records to %s from here on",
		 err ? d.what : t->file);
}

/* End a recording as "record" does: with a mark that includes all counts up to now. */
static int mark_recording(struct top *t, bool last, struct diag *d)
{
	struct trace_mark mark;

	return midrun_records(t->midrun) ? live_mark(t->run.live, last, d, &mark) : 0;
}

/* A full disk ends the recording, not the view. */
static void check_recording(struct top *t)
{
	if (midrun_records(t->midrun) && midrun_error(t->midrun))
		record(t);
}

static int open_late(void *arg, const struct trace_header *header, struct diag *d,
		     struct trace_sink *ret)
{
	struct top *t = arg;

	if (midrun_new(header, &t->midrun))
		return diag_no_memory(d);
	*ret = midrun_sink(t->midrun);
	return 0;
}

/* --- rows */

static void choose_rows(struct top *t)
{
	t->wanted_by = keys_rows(t->wanted_by, t->o->run.by == ROW_THREAD);
	snprintf(t->view.note, sizeof(t->view.note), "a row is a %s from the next interval on",
		 row_kind_name(t->wanted_by));
}

/* The interval that has just ended is the last one with the old rows. */
static int change_rows(struct top *t, struct diag *d)
{
	int err;

	if (t->wanted_by == t->by)
		return 0;
	err = live_regroup(t->run.live, t->wanted_by, t->midrun, d);
	if (err == -EINVAL || err == -ENOENT) {
		snprintf(t->view.note, sizeof(t->view.note), "%s", d->what);
		t->wanted_by = t->by;
		return 0;
	}
	if (!err)
		t->by = t->wanted_by;
	return err;
}

/* --- the run */

static int on_interval(void *arg, bool last, struct diag *d)
{
	struct top *t = arg;
	struct report *r;
	int err;

	/* Nobody would see the last one. */
	if (last)
		return mark_recording(t, true, d);
	err = live_report(t->run.live, false, d, &r);
	if (err)
		return err;
	if (view_add(&t->view, r))
		err = diag_no_memory(d);
	report_free(r);
	if (!err)
		err = top_metrics_interval(&t->metrics, d);
	if (!err)
		err = look_at_neighbours(t, d);
	if (!err)
		err = change_rows(t, d);
	check_recording(t);
	screen_old(t->screen);
	return err;
}

static void on_news(void *arg, const char *text)
{
	struct top *t = arg;

	snprintf(t->view.note, sizeof(t->view.note), "%s", text);
	if (t->screen)
		screen_old(t->screen);
}

/* The current interval ends at once, or after the rest of the new time. */
static void change_interval(struct top *t, bool longer)
{
	struct run_loop *c = &t->run.run_loop;
	uint64_t to = keys_interval(c->interval_ns, longer), now = monotonic_ns();
	char text[UNITS_TEXT_LEN];

	if (to < t->o->run.window_ns)
		to = c->interval_ns;
	c->next_ns = c->next_ns - c->interval_ns + to;
	if (c->next_ns < now)
		c->next_ns = now;
	c->interval_ns = t->view.interval_ns = to;
	time_text(to, text);
	snprintf(t->view.note, sizeof(t->view.note), "interval: %s", text);
}

static int on_wish(void *arg, enum keys_wish wish, struct diag *d)
{
	struct top *t = arg;
	int err = 0;

	if (wish == KEYS_END) {
		loop_end(&t->run.run_loop.loop);
	} else if (wish == KEYS_RECORD) {
		err = mark_recording(t, false, d);
		if (!err)
			record(t);
	} else if (wish == KEYS_ROWS) {
		choose_rows(t);
	} else {
		change_interval(t, wish == KEYS_LONGER);
	}
	return err;
}

static void on_gone(void *arg)
{
	struct top *t = arg;

	loop_end(&t->run.run_loop.loop);
}

static int open_live(struct top *t, struct diag *d)
{
	const struct screen_owner owner = { on_wish, on_gone, t };
	const struct live_recorder recorder = { .open = open_late, .arg = t, .reports = true };
	/* Fail early if there is no screen */
	int err = screen_check(d);

	if (!err)
		err = run_open(&t->run, &recorder, d);
	if (!err)
		err = screen_open(&t->view, &owner, d, &t->screen);
	if (!err)
		err = screen_add(t->screen, &t->run.run_loop.loop, d);
	return err ? err : top_metrics_add(&t->metrics, &t->run.run_loop.loop, d);
}

static int follow(struct top *t)
{
	struct run_options *r = &t->o->run;
	struct diag d = { 0 };
	int err;

	t->run = RUN_INIT;
	t->run.who = t->o->who;
	t->run.args = r;
	t->run.interval = on_interval;
	t->run.news = on_news;
	t->run.run_loop.hangup = HANGUP_OTHERS; /* the screen's */
	t->run.arg = t;
	t->view.state = VIEW_LIVE;
	t->view.interval_ns = r->interval_ns;
	t->by = t->wanted_by = r->by;
	t->metrics = (struct top_metrics){ .args = r, .view = &t->view };
	err = open_live(t, &d);
	if (!err)
		err = run_loop(&t->run, &d);
	screen_close(t->screen);
	top_metrics_end(&t->metrics);
	if (midrun_records(t->midrun))
		record(t);
	if (t->file[0])
		fprintf(stderr, "%s: %s\n", t->o->who, t->view.note);
	run_stop(&t->run);
	midrun_free(t->midrun);
	if (err)
		output_diag(t->o->who, &d);
	return run_end(&t->run, err, false);
}

static int top(struct options *o)
{
	struct top t = { .o = o, .past = past_new(PAST_MAX_BYTES) };
	int status;

	if (!t.past) {
		struct diag d;

		diag_no_memory(&d);
		output_diag(o->who, &d);
		return EXIT_FAILED;
	}
	view_init(&t.view, t.past);
	status = o->run.file ? top_file(o, &t.view) : follow(&t);
	view_free(&t.view);
	past_free(t.past);
	return status;
}

static int check(struct options *o, struct diag *d)
{
	const char *out = o->run.output.file;
	int err = o->run.file ? run_check_selection(&o->run, d) : run_check_live(&o->run, d);

	if (!err && out && out_file_is_stdout(out))
		err = diag_fail(d, -EINVAL, "-o %s: the view is there: give a file", out);
	/* Without latencies there are none, which is no loss. They need the run's summary. */
	o->run.neighbours = true;
	/* Text on standard error would disturb the picture. */
	o->run.output.quiet = true;
	return err;
}

const struct command command_top = {
	.name = "top",
	.brief = "a live view on a terminal, also of a recording",
	.args = "\n-p PID[,PID...]\n-G CGROUP[,...]\n-J JOBID[,...]\nFILE",
	.doc = "Show on a terminal which processes, threads, cgroups or jobs cause the memory "
	       "traffic, with what they did in the last minutes; left and right go back and forth "
	       "in time. FILE is a recording or NDJSON, also one that is still being written; - is "
	       "the standard input. The key ? shows all keys (docs/TOP.md).",
	.more = "Without a terminal that can move its cursor (TERM=dumb, a pipe) it ends with "
		"status 1 and says what to use instead. NO_COLOR=1 leaves colours out.",
	.bit = FOR_TOP,
	.argument = run_take_recording,
	.check = check,
	.run = top,
};
