// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/program/program.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/times.h"
#include "base/utf8.h"

/* Bytes to read at once; a program that prints more waits in its pipe. */
#define READ_MOST	16384
#define MARK_MOST	65536
/* Without a good reading for this long, or for ten times the period in its header, it hangs. */
#define SILENT_NS	(5 * NS_PER_S)
#define SILENT_READINGS 10
/* Pauses before restarts; back to the first one after it ran well for as long as the last. */
#define PAUSE_MIN_NS	NS_PER_S
#define PAUSE_MAX_NS	(64 * NS_PER_S)
/* It costs nothing to knock at a socket. */
#define KNOCK_MAX_NS	(4 * NS_PER_S)
/* Its status if there is no device of its kind; those of a shell that cannot run it */
#define NO_DEVICE	3
#define NOT_RUN		126
/* Bad lines are reported at most this often, */
#define SAY_NS		(60 * NS_PER_S)
/* and this many lines of its errors a second are passed on. */
#define ERRORS		5
/* Without a good reading for this long it is in trouble. */
#define UNWELL_NS	(10 * NS_PER_S)
/* Its errors are read this often while we wait for its header. */
#define LOOK_MS		20

/* --- news */

/* News go to a terminal or a log: a program's output must not control them. */
static void __attribute__((format(printf, 2, 3))) tell(struct program *p, const char *fmt, ...)
{
	char text[PROGRAM_NEWS_LEN] = "", what[PROGRAM_NEWS_LEN];
	va_list ap;

	/* Nobody takes them: the newest one matters most. */
	if (p->nr_news == PROGRAM_NEWS)
		memmove(p->news[0], p->news[1], --p->nr_news * sizeof(p->news[0]));
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	str_append(text, sizeof(text), "source %s: %s", p->name, what);
	utf8_harmless(p->news[p->nr_news++], PROGRAM_NEWS_LEN, text, strlen(text));
}

bool program_news(struct program *p, char *ret_text, size_t size)
{
	if (!p->nr_news)
		return false;
	str_copy(ret_text, size, p->news[0]);
	memmove(p->news[0], p->news[1], --p->nr_news * sizeof(p->news[0]));
	return true;
}

/* Each bad line counts; one of many in a row is reported. */
static void bad_line(struct program *p, const char *what)
{
	p->bad_lines++;
	if (p->tell_bad_ns && p->now_ns < p->tell_bad_ns)
		return;
	tell(p, "%s%s", what, p->bad_lines > p->told_bad + 1 ? ", and other bad lines before" : "");
	p->told_bad = p->bad_lines;
	p->tell_bad_ns = p->now_ns + SAY_NS;
}

/* --- lines */

/* Looks at a device hold, wherever it is in the new header. */
static void replace_header(struct program *p, const struct program_header *h)
{
	struct program_looks looks[PROGRAM_MAX_DEVICES];

	for (size_t i = 0; i < h->nr_devices; i++) {
		looks[i] = (struct program_looks){ .device = PROGRAM_NO_DEVICE };
		for (size_t k = 0; k < p->header.nr_devices; k++)
			if (!strcmp(h->devices[i].address, p->header.devices[k].address))
				looks[i] = p->looks[k];
	}
	memcpy(p->looks, looks, h->nr_devices * sizeof(looks[0]));
	program_header_free(&p->header);
	p->header = *h;
	p->placed = false;
}

static bool counts_links_only(const struct program_header *h)
{
	for (size_t i = 0; i < h->nr; i++)
		if (!h->counters[i].device)
			return false;
	return true;
}

/* Those of a trace that has begun stay, wherever their values are now; one that is gone has none. */
static void keep_counters(struct program *p, struct program_header *h)
{
	size_t left = h->nr;

	for (size_t i = 0; i < p->header.nr; i++) {
		struct program_counter *c = &p->header.counters[i];

		c->place = PROGRAM_NO_PLACE;
		for (size_t k = 0; k < h->nr; k++)
			if (!strcmp(h->counters[k].counter.name, c->counter.name) &&
			    h->counters[k].counter.direction == c->counter.direction)
				c->place = h->counters[k].place;
		left -= c->place != PROGRAM_NO_PLACE;
	}
	if (left)
		tell(p, "%zu counters of links are left out: they were not there at the begin",
		     left);
	free(h->counters);
	h->counters = p->header.counters;
	h->nr = p->header.nr;
	p->header.counters = NULL;
	p->header.nr = 0;
}

/* The fault of a header, NULL: it was taken. Devices may come and go while we live. */
static const char *judge_header(struct program *p, struct program_header *h)
{
	bool first = !p->header.name[0], same;

	if (p->optional && !counts_links_only(h))
		return "counts for sockets, as only --source may";
	same = !first && program_header_same(&p->header, h);
	if (same) {
		program_header_free(h);
		return NULL;
	}
	if (!first && (!p->optional || strcmp(p->header.name, h->name) != 0))
		return "has another header than before";
	if (p->optional && p->windows.begin_ns != UINT64_MAX)
		keep_counters(p, h);
	replace_header(p, h);
	str_copy(p->name, sizeof(p->name), h->name);
	return NULL;
}

static void take_header(struct program *p, const char *text, size_t size)
{
	struct program_header h;
	struct diag d = { 0 };
	const char *why = d.what;

	if (!program_header_parse(text, size, &d, &h)) {
		why = judge_header(p, &h);
		if (why)
			program_header_free(&h);
	}
	p->greeted = !why;
	if (why) {
		str_copy(p->why, sizeof(p->why), why);
		p->bad_lines++;
		program_process_end(&p->process);
	} else if (p->told_why[0]) {
		tell(p, "it can be read now");
		p->told_why[0] = '\0';
	}
}

static const char *verdict_text(enum program_verdict v)
{
	switch (v) {
	case PROGRAM_AGAIN:
		return "a reading has the time of the one before: left out";
	case PROGRAM_BACKWARD:
		return "a reading is older than the one before: left out";
	case PROGRAM_LATE:
		return "a reading came more than 5 s late: left out";
	case PROGRAM_FUTURE:
		return "a reading is of the future: its time is not CLOCK_MONOTONIC";
	default:
		return NULL;
	}
}

static int take_line(struct program *p, enum program_line kind, const struct program_reading *r,
		     enum program_verdict *ret)
{
	uint64_t time_ns = kind == PROGRAM_READING ? r->time_ns : p->users.contexts.end_ns;

	/* It may have been printed while other lines were read. */
	if (time_ns > p->now_ns)
		p->now_ns = monotonic_ns();
	if (kind == PROGRAM_READING)
		return program_windows_take(&p->windows, r, p->now_ns, ret);
	return program_users_take(&p->looks[p->users.contexts.device], &p->users, &p->windows,
				  p->now_ns, ret);
}

static void on_line(void *arg, const char *text, size_t size)
{
	struct program *p = arg;
	struct program_reading r = { 0 };
	enum program_verdict verdict;
	enum program_line kind;
	struct diag d = { 0 };
	int err;

	/* Output of a program that is about to end is ignored. */
	if (p->process.out < 0)
		return;
	if (!p->greeted) {
		take_header(p, text, size);
		return;
	}
	err = program_line_parse(text, size, &p->header, &d, &kind, &r, &p->users);
	if (err) {
		bad_line(p, d.what);
		return;
	}
	err = take_line(p, kind, &r, &verdict);
	if (!p->error)
		p->error = err;
	if (verdict == PROGRAM_GOOD || verdict == PROGRAM_EARLY)
		p->good_ns = p->now_ns;
	else
		bad_line(p, verdict_text(verdict));
}

static void on_error(void *arg, const char *text, size_t size)
{
	struct program *p = arg;

	utf8_harmless(p->said, sizeof(p->said), text, size);
	/* It may fail like this every minute: the reason is told once. */
	if (p->optional && !p->greeted)
		return;
	if (p->now_ns >= p->errors_ns + NS_PER_S) {
		if (p->errors > ERRORS)
			tell(p, "%u more lines of its errors are left out", p->errors - ERRORS);
		p->errors_ns = p->now_ns;
		p->errors = 0;
	}
	if (++p->errors <= ERRORS)
		tell(p, "%s", p->said);
}

/* --- restarts */

static int start(struct program *p, struct diag *d)
{
	program_lines_end(&p->out);
	program_lines_end(&p->err);
	p->running = true;
	p->greeted = false;
	p->started_ns = p->now_ns;
	p->wake_ns = 0;
	p->why[0] = '\0';
	return program_process_start(p->command, d, &p->process);
}

static uint64_t longest_pause_ns(const struct program *p)
{
	return strncmp(p->command, PROGRAM_SOCKET, strlen(PROGRAM_SOCKET)) ? PAUSE_MAX_NS
									   : KNOCK_MAX_NS;
}

/* An optional program may be away for days: each reason is told once. */
static bool is_news(struct program *p)
{
	if (!p->optional)
		return true;
	if (!strcmp(p->told_why, p->why))
		return false;
	str_copy(p->told_why, sizeof(p->told_why), p->why);
	return true;
}

/* It has ended: when will it be started again? Its counts in between are unknown. */
static void rest(struct program *p, const char *how)
{
	if (!p->why[0])
		str_copy(p->why, sizeof(p->why), how);
	if (p->good_ns > p->started_ns + PAUSE_MAX_NS)
		p->pause_ns = PAUSE_MIN_NS;
	if (is_news(p))
		tell(p, "%s%s%s; it is started again in %g s", p->why,
		     p->optional && p->said[0] ? ": " : "", p->optional ? p->said : "",
		     p->pause_ns / 1e9);
	p->running = false;
	p->again_ns = p->now_ns + p->pause_ns;
	p->pause_ns = earlier(2 * p->pause_ns, longest_pause_ns(p));
	if (!p->error)
		p->error = program_windows_flush(&p->windows);
	program_windows_anew(&p->windows);
	program_users_anew(p->looks, p->header.nr_devices);
}

int program_open(struct program *p, const char *command, size_t number, struct diag *d)
{
	int err;

	p->command = command;
	p->process = PROGRAM_PROCESS_NONE;
	p->out.take = on_line;
	p->err.take = on_error;
	p->out.arg = p->err.arg = p;
	p->windows.begin_ns = UINT64_MAX;
	p->pause_ns = PAUSE_MIN_NS;
	p->now_ns = p->good_ns = monotonic_ns();
	if (p->optional)
		str_copy(p->name, sizeof(p->name), "gpu");
	else
		snprintf(p->name, sizeof(p->name), "%zu", number);
	for (size_t i = 0; i < PROGRAM_MAX_DEVICES; i++)
		p->looks[i].device = PROGRAM_NO_DEVICE;
	err = start(p, d);
	if (err && p->optional)
		rest(p, d->what);
	return p->optional ? 0 : err;
}

/* End the program, if it has not ended: @why is the reason unless there is one already. */
static void give_up(struct program *p, const char *why)
{
	if (!p->why[0])
		str_copy(p->why, sizeof(p->why), why);
	program_process_end(&p->process);
}

static void read_errors(struct program *p)
{
	if (p->process.err >= 0)
		program_lines_read(&p->err, p->process.err, READ_MOST);
}

/* Returns whether there was data. */
static bool read_lines(struct program *p, size_t max)
{
	uint64_t too_long = p->out.too_long;
	ssize_t n;

	if (p->process.out < 0)
		return false;
	n = program_lines_read(&p->out, p->process.out, max);
	if (p->out.too_long != too_long)
		bad_line(p, "a line is longer than 65536 bytes: left out");
	if (n == -ENOMEM)
		p->error = n;
	if (n >= 0)
		return n;
	if (program_lines_end(&p->out))
		bad_line(p, "its last line has no end: left out");
	read_errors(p);
	program_process_end(&p->process);
	return true;
}

static uint64_t patience_ns(const struct program *p)
{
	return p->greeted ? later(SILENT_NS, SILENT_READINGS * p->header.every_ns)
			  : PROGRAM_GREET_NS;
}

static void look_after(struct program *p)
{
	struct diag d = { 0 };
	char how[PROGRAM_WHY_LEN];

	if (!p->running) {
		if (p->now_ns < p->again_ns)
			return;
		p->restarts++;
		if (start(p, &d)) {
			rest(p, d.what);
			return;
		}
	}
	if (p->now_ns - later(p->good_ns, p->started_ns) > patience_ns(p)) {
		snprintf(how, sizeof(how), "no good reading for %g s", patience_ns(p) / 1e9);
		give_up(p, p->greeted ? how : "it prints no header");
	}
	if (p->process.out < 0 && program_process_ended(&p->process, false, how, sizeof(how)))
		rest(p, how);
}

int program_step(struct program *p, uint64_t now_ns)
{
	p->now_ns = now_ns;
	read_errors(p);
	/* It is not polled more often than this, however often it prints. */
	if (now_ns >= p->wake_ns && read_lines(p, READ_MOST))
		p->wake_ns = now_ns + p->windows.window_ns / 2;
	look_after(p);
	return p->error;
}

int program_mark(struct program *p, uint64_t now_ns)
{
	p->now_ns = now_ns;
	read_lines(p, MARK_MOST);
	if (!p->error)
		p->error = program_windows_flush(&p->windows);
	return p->error;
}

void program_begin(struct program *p, uint64_t now_ns)
{
	p->windows.begin_ns = now_ns;
}

int program_fd(const struct program *p)
{
	return p->now_ns >= p->wake_ns ? p->process.out : -1;
}

uint64_t program_next_ns(const struct program *p)
{
	if (!p->running)
		return p->again_ns;
	return program_fd(p) < 0 && p->process.out >= 0 ? p->wake_ns : UINT64_MAX;
}

/* --- the first header */

static int no_header(struct program *p, const char *why, struct diag *d)
{
	if (p->optional) {
		/* The caller tells it. */
		str_copy(p->told_why, sizeof(p->told_why), why);
		p->nr_news = 0;
		return diag_fail(d, -ENODATA, "%s%s%s", why, p->said[0] ? ": " : "", p->said);
	}
	diag_fail(d, -ENODATA, "--source '%.200s': %s", p->command, why);
	return diag_advise(d, -ENODATA,
			   p->said[0]
				   ? "its first line must be a header (docs/SOURCES.md); its "
				     "last words were: %s"
				   : "its first line must be a header (docs/SOURCES.md); it said "
				     "nothing on standard error%s",
			   p->said);
}

int program_greet(struct program *p, uint64_t deadline_ns, struct diag *d)
{
	char how[PROGRAM_WHY_LEN];
	struct pollfd out;

	while (!p->greeted) {
		if (!p->running)
			return no_header(p, p->why, d);
		p->now_ns = monotonic_ns();
		read_errors(p);
		read_lines(p, READ_MOST);
		if (p->error)
			return diag_error(d, p->error, "cannot read what a source prints");
		if (p->greeted)
			break;
		if (p->process.out < 0) {
			program_process_ended(&p->process, true, how, sizeof(how));
			if (!p->why[0])
				str_copy(p->why, sizeof(p->why), how);
			return no_header(p, p->why, d);
		}
		if (p->now_ns >= deadline_ns)
			return no_header(p, "it prints no header", d);
		out = (struct pollfd){ .fd = p->process.out, .events = POLLIN };
		poll(&out, 1, LOOK_MS);
	}
	p->good_ns = p->now_ns;
	return 0;
}

bool program_cannot_run(const struct program *p)
{
	return p->process.out < 0 && !p->process.guard &&
	       (p->process.status == NO_DEVICE || p->process.status == NOT_RUN ||
		p->process.status == NOT_RUN + 1);
}

/* --- health */

/* The other counters of the program may be fine meanwhile. */
static bool counter_trouble(const struct program *p, uint64_t now_ns, uint64_t limit,
			    char *ret_text, size_t size)
{
	uint64_t begin_ns = later(p->windows.begin_ns, p->started_ns);

	for (size_t i = 0; i < p->windows.nr; i++) {
		uint64_t good_ns = p->windows.groups[i] == PROGRAM_NO_GROUP
					   ? now_ns
					   : later(p->windows.good_ns[i], begin_ns);

		if (now_ns < good_ns || now_ns - good_ns <= limit)
			continue;
		snprintf(ret_text, size,
			 "no good reading of %s for %.0f s: source %s gives it no value, or less "
			 "than before",
			 p->header.counters[i].counter.name, (now_ns - good_ns) / 1e9, p->name);
		return true;
	}
	return false;
}

bool program_trouble(const struct program *p, uint64_t now_ns, char *ret_text, size_t size)
{
	uint64_t limit = later(UNWELL_NS, patience_ns(p));

	if (now_ns - p->good_ns <= limit)
		return counter_trouble(p, now_ns, limit, ret_text, size);
	snprintf(ret_text, size, "no good reading of source %s for %.0f s: %s", p->name,
		 (now_ns - p->good_ns) / 1e9, p->why[0] ? p->why : "it was started again");
	return true;
}

void program_close(struct program *p)
{
	program_process_end(&p->process);
}

void program_free(struct program *p)
{
	char how[PROGRAM_WHY_LEN];

	program_close(p);
	program_process_ended(&p->process, true, how, sizeof(how));
	program_lines_free(&p->out);
	program_lines_free(&p->err);
	program_header_free(&p->header);
}
