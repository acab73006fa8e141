// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/top_file.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exit_status.h"
#include "base/units.h"
#include "cli/output.h"
#include "live/run/signals.h"
#include "replay/replay_file.h"
#include "report/table/table.h"
#include "report/top/screen.h"

/* While a file is read, keys are handled after this many events. */
#define EVENTS	 1024
#define LOOK_NS	 30000000ull
/* A growing file is checked this often. */
#define GROWS_NS 200000000ull
/* When intervals are played, each is shown for its own time, or at most for this one. */
#define PLAY_NS	 200000000ull

struct top_file {
	struct options *o;
	struct view *view;
	struct screen *screen;
	struct replay_file file;
	struct loop loop;
	int signals;
	int fd;		  /* waited for in the loop */
	uint64_t look_ns; /* at @fd, which is a file, or the terminal: when next */
	uint64_t play_ns; /* when the next interval is shown */
	uint64_t events;
	bool over;  /* the user has seen enough */
	bool again; /* read it once more, in other intervals */
	bool apart; /* rows were of another kind before: there is no sum of the run */
};

static bool is_stdin(const struct top_file *t)
{
	return !strcmp(t->o->run.file, "-");
}

static bool is_file(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode);
}

/* --- sources of the loop, besides the screen */

static int signals_fd(void *arg)
{
	const struct top_file *t = arg;

	return t->signals;
}

static int on_signal(void *arg, struct diag *d)
{
	struct top_file *t = arg;

	(void)d;
	if (signals_take(t->signals)) {
		t->over = true;
		loop_end(&t->loop);
	}
	return 0;
}

static int more_fd(void *arg)
{
	const struct top_file *t = arg;

	return t->fd >= 0 && !is_file(t->fd) ? t->fd : -1;
}

static uint64_t more_ns(void *arg)
{
	const struct top_file *t = arg;

	return t->fd >= 0 && is_file(t->fd) ? t->look_ns : UINT64_MAX;
}

static int on_more(void *arg, struct diag *d)
{
	struct top_file *t = arg;

	(void)d;
	loop_end(&t->loop);
	return 0;
}

static uint64_t play_ns(void *arg)
{
	const struct top_file *t = arg;

	return t->view->playing ? t->play_ns : UINT64_MAX;
}

static int on_play(void *arg, struct diag *d)
{
	struct top_file *t = arg;
	uint64_t ns = t->view->interval_ns;

	(void)d;
	t->play_ns = monotonic_ns() + (ns < PLAY_NS ? ns : PLAY_NS);
	view_play_on(t->view);
	screen_old(t->screen);
	return 0;
}

static const struct loop_source signals_source = { .fd = signals_fd, .run = on_signal };
static const struct loop_source more_source = { .fd = more_fd, .when = more_ns, .run = on_more };
static const struct loop_source play_source = { .when = play_ns, .run = on_play };

/* Handle keys until there is more to read: -ECANCELED when nothing more is needed. */
static int wait_for_more(struct top_file *t, int fd, struct diag *d)
{
	int err;

	t->fd = fd;
	t->look_ns = monotonic_ns() + GROWS_NS;
	err = loop_run(&t->loop, d);
	t->fd = -1;
	return err ? err : t->over || t->again ? -ECANCELED : 0;
}

/* --- reading */

static int on_read(void *arg, int fd, bool at_end)
{
	struct top_file *t = arg;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct diag d;
	int err;

	if (at_end && (!is_file(fd) || replay_file_ended(&t->file)))
		return 0;
	if (!at_end && (is_file(fd) || poll(&p, 1, 0) > 0))
		return 1;
	/* A file that grows is looked at for its newest interval. */
	if (t->view->state == VIEW_READING)
		t->view->at_whole = false;
	t->view->state = VIEW_WAITING;
	screen_old(t->screen);
	err = wait_for_more(t, fd, &d);
	return err ? err : 1;
}

static int on_event(void *arg, const struct trace_event *e)
{
	struct top_file *t = arg;
	struct diag d;
	int err;

	(void)e;
	if (t->over || t->again)
		return -ECANCELED;
	if (++t->events % EVENTS || monotonic_ns() < t->look_ns)
		return 0;
	t->look_ns = monotonic_ns() + LOOK_NS;
	err = on_signal(t, &d);
	return err ? err : screen_look(t->screen, &d);
}

static int on_report(void *arg, struct report *report, struct diag *d)
{
	struct top_file *t = arg;

	screen_old(t->screen);
	return (report->summary ? view_add_whole(t->view, report) : view_add(t->view, report))
		       ? diag_no_memory(d)
		       : 0;
}

/* --- requests of keys */

static void change_interval(struct top_file *t, bool longer)
{
	uint64_t to = keys_interval(t->view->interval_ns, longer);
	char text[UNITS_TEXT_LEN];

	if (to == t->view->interval_ns)
		return;
	t->again = true;
	t->o->run.interval_ns = t->view->interval_ns = to;
	time_text(to, text);
	snprintf(t->view->note, sizeof(t->view->note), "interval: %s", text);
}

/* A file is read again; for a pipe, rows change from now on. */
static void change_rows(struct top_file *t)
{
	struct run_options *r = &t->o->run;
	bool by_thread = replay_file_header(&t->file)->by_thread;
	enum row_kind first = by_thread ? ROW_THREAD : ROW_PROCESS;
	enum row_kind by = keys_rows(r->by_given ? r->by : first, by_thread);

	if (is_stdin(t) && (t->view->state == VIEW_AT_END || replay_regroup(t->file.replay, by))) {
		snprintf(t->view->note, sizeof(t->view->note),
			 "the standard input cannot be read again: --by says what a row is");
		return;
	}
	t->apart = is_stdin(t);
	r->by = by;
	r->by_given = true;
	t->again = !is_stdin(t);
	snprintf(t->view->note, sizeof(t->view->note), "a row is a %s%s", row_kind_name(by),
		 t->again ? "" : " from the next interval on");
}

static int on_wish(void *arg, enum keys_wish wish, struct diag *d)
{
	struct top_file *t = arg;

	(void)d;
	if (wish == KEYS_END) {
		t->over = true;
	} else if (wish == KEYS_RECORD) {
		snprintf(t->view->note, sizeof(t->view->note), "this is a recording already");
		return 0;
	} else if (wish == KEYS_ROWS) {
		change_rows(t);
		if (!t->again)
			return 0;
	} else if (is_stdin(t)) {
		snprintf(t->view->note, sizeof(t->view->note),
			 "the standard input cannot be read again: -i gives the interval");
		return 0;
	} else {
		change_interval(t, wish == KEYS_LONGER);
	}
	loop_end(&t->loop);
	return 0;
}

static void on_gone(void *arg)
{
	struct top_file *t = arg;

	t->over = true;
	loop_end(&t->loop);
}

/* --- from start to end */

static int open_screen(struct top_file *t, struct diag *d)
{
	const struct screen_owner owner = { on_wish, on_gone, t };
	sigset_t mask;
	int err = screen_open(t->view, &owner, d, &t->screen);

	if (!err)
		err = signals_open(HANGUP_OTHERS, d, &mask, &t->signals);
	if (!err)
		err = screen_add(t->screen, &t->loop, d);
	if (!err)
		err = loop_add(&t->loop, &signals_source, t, d);
	if (!err)
		err = loop_add(&t->loop, &play_source, t, d);
	return err ? err : loop_add(&t->loop, &more_source, t, d);
}

static int open_file(struct top_file *t, struct diag *d)
{
	const struct replay_output output = { .report = on_report,
					      .arg = t,
					      .regroups = is_stdin(t) };

	t->file = (struct replay_file){ .who = t->o->who, .args = &t->o->run };
	t->view->state = VIEW_READING;
	return replay_file_open(&t->file, &output, d);
}

static int find_neighbours(struct top_file *t, struct diag *d)
{
	struct neighbours_report *r = NULL;
	int err = replay_neighbours(t->file.replay, &r);

	if (!err)
		err = top_neighbours(t->view, r);
	neighbours_report_free(r);
	return err ? diag_no_memory(d) : 0;
}

/* From the beginning to the end of the file, and then until the user quits */
static int show_once(struct top_file *t, struct diag *d)
{
	const struct input_wait wait = { on_read, t };
	struct diag problem = { 0 };
	int err, shown = 0;

	replay_file_wait(&t->file, &wait);
	t->file.also.sinks[t->file.also.nr++] = (struct trace_sink){ on_event, t };
	err = replay_file_read(&t->file, &problem);
	if (!err && replay_intervals(t->file.replay))
		err = find_neighbours(t, &problem);
	if (!err && replay_intervals(t->file.replay) && !t->apart)
		err = replay_summary(t->file.replay);
	if (t->over || t->again)
		return 0;
	t->view->state = VIEW_AT_END;
	/* Data before the problem can be viewed. */
	if (err && past_count(t->view->past)) {
		snprintf(t->view->note, sizeof(t->view->note), "%s", problem.what);
	} else if (err) {
		*d = problem;
		return err;
	}
	screen_old(t->screen);
	shown = loop_run(&t->loop, d);
	if (!shown && err)
		*d = problem;
	return shown ? shown : err;
}

static int show(struct top_file *t, struct diag *d)
{
	/* Before the terminal is taken: problems of the file are reported at once. */
	int err = screen_check(d);

	if (!err)
		err = open_file(t, d);
	if (!err)
		err = open_screen(t, d);
	while (!err) {
		err = show_once(t, d);
		if (err || !t->again)
			break;
		t->again = false;
		view_reread(t->view);
		replay_file_close(&t->file);
		err = open_file(t, d);
	}
	return err;
}

int top_neighbours(struct view *v, const struct neighbours_report *r)
{
	const struct table_options o = { .width = output_width(stdout) - 1 };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int err = out ? 0 : -ENOMEM;

	/* Without any latency an empty table would make no sense. */
	if (out && r->nr)
		err = neighbours_table_write(out, r, &o);
	if (out && fclose(out) && !err)
		err = -ENOMEM;
	free(v->neighbours);
	v->neighbours = err || !size ? NULL : text;
	if (!v->neighbours)
		free(text);
	return err;
}

int top_file(struct options *o, struct view *v)
{
	struct top_file t = { .o = o, .view = v, .signals = -1, .fd = -1 };
	struct diag d = { 0 };
	int err;

	v->source = is_stdin(&t) ? "the standard input" : o->run.file;
	v->at_whole = !is_stdin(&t);
	v->interval_ns = o->run.interval_ns ? o->run.interval_ns : RUN_INTERVAL_NS;
	err = show(&t, &d);
	screen_close(t.screen);
	/* Reports point into the file's header. */
	view_clear(v);
	replay_file_close(&t.file);
	loop_free(&t.loop);
	if (t.signals >= 0)
		close(t.signals);
	if (err)
		output_diag(o->who, &d);
	return err ? EXIT_FAILED : EXIT_OK_;
}
