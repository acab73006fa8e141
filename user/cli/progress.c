// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/progress.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/formats.h"
#include "report/format.h"

/* A shorter wait needs no line. */
#define PATIENCE_NS   2000000000ull
#define REFRESH_NS    250000000ull
/* Events between two checks of the clock */
#define EVENTS	      4096
#define ACCOUNTS      256

#define LINE_WIDTH    79
#define NS_PER_SECOND 1e9

/* The cursor stays in front of the line, so that later output covers it. */
void progress_line(struct progress *p, const char *text)
{
	int width = (int)strlen(text);

	fprintf(stderr, "%-*s\r", width > p->width ? width : p->width, text);
	fflush(stderr);
	p->width = width;
	p->shown_ns = monotonic_ns();
}

bool progress_is_due(const struct progress *p)
{
	return isatty(STDERR_FILENO) && monotonic_ns() - p->shown_ns >= REFRESH_NS;
}

static void show(struct progress *p, uint64_t now_ns)
{
	double passed = (double)(now_ns - p->begin_ns) / NS_PER_SECOND;
	char text[LINE_WIDTH + 1], bytes[FORMAT_NUMBER_LEN];
	uint64_t done, all;

	replay_file_progress(p->file, &done, &all);
	if (all && done) {
		snprintf(text, sizeof(text), "%s: %.0f%% read, about %.0f s to go", p->file->who,
			 100.0 * (double)done / (double)all,
			 passed * (done < all ? (double)(all - done) : 0) / (double)done);
	} else {
		format_bytes(done, bytes);
		snprintf(text, sizeof(text), "%s: %s read in %.0f s", p->file->who, bytes, passed);
	}
	progress_line(p, text);
}

/* Count an item; the clock is checked every @many items. Returns the time if a line is due, or 0 */
static uint64_t is_due(struct progress *p, unsigned int many)
{
	uint64_t now_ns;

	if (p->events++ % many)
		return 0;
	now_ns = monotonic_ns();
	if (!p->begin_ns)
		p->begin_ns = now_ns;
	return now_ns - p->begin_ns >= PATIENCE_NS && now_ns - p->shown_ns >= REFRESH_NS ? now_ns
											 : 0;
}

static int on_event(void *arg, const struct trace_event *e)
{
	struct progress *p = arg;
	uint64_t now_ns = is_due(p, EVENTS);

	(void)e;
	if (now_ns)
		show(p, now_ns);
	return 0;
}

void progress_count(struct progress *p, const char *who, const char *what)
{
	uint64_t now_ns = is_due(p, ACCOUNTS);
	char text[LINE_WIDTH + 1];

	if (!now_ns || !isatty(STDERR_FILENO))
		return;
	snprintf(text, sizeof(text), "%s: %" PRIu64 " %s read in %.0f s", who, p->events - 1, what,
		 (double)(now_ns - p->begin_ns) / NS_PER_SECOND);
	progress_line(p, text);
}

/* Output appears only at the end. */
static bool is_silent(const struct output_options *o, FILE *out)
{
	struct stat st;

	return !out || formats_hidden(o) ||
	       (isatty(fileno(out)) ? o->summary : !fstat(fileno(out), &st) && S_ISREG(st.st_mode));
}

struct trace_sink progress_sink(struct progress *p, const struct replay_file *file, FILE *out)
{
	const struct output_options *o = &file->args->output;

	p->file = file;
	if (o->quiet || !isatty(STDERR_FILENO) || !is_silent(o, out))
		return (struct trace_sink){ 0 };
	return (struct trace_sink){ on_event, p };
}

void progress_end(struct progress *p)
{
	if (p->width)
		progress_line(p, "");
	p->width = 0;
}
