// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A source for a test, and the example of CONTRIBUTING.md: what the file that $SOURCE_FILE names
 * grows by are bytes, read and handed on like those of a counter of memory traffic. The program
 * that people install does not have it.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "live/sources/source.h"
#include "trace/header.h"

/*
 * @group: its place in the header
 * @size, @read_ns: at the last good reading: what came since then is in the next window
 * @failed: readings that were of no use
 */
struct file {
	const struct source_context *c;
	const char *path;
	uint32_t group;
	uint64_t size;
	uint64_t read_ns;
	uint64_t failed;
};

static bool wanted(const struct run_options *args)
{
	(void)args;
	return getenv("SOURCE_FILE");
}

static int open_file(void *s, struct source_context *c, struct diag *d)
{
	static const struct counter bytes = {
		.name = "file0/bytes",
		.pmu = "file",
		.event = "bytes",
		.source = SOURCE_CPU,
		.direction = DIRECTION_WRITE,
	};
	static const struct group group = { .nr = 1 };
	struct file *f = s;

	f->c = c;
	f->path = getenv("SOURCE_FILE");
	f->group = c->header->layout.nr_groups;
	if (header_add_counters(c->header, &bytes, 1, &group, 1))
		return diag_no_memory(d);
	return 0;
}

static int start(void *s, struct diag *d)
{
	struct file *f = s;
	struct stat st;

	if (stat(f->path, &st))
		return diag_fail(d, -ENOENT, "SOURCE_FILE: there is no file %s", f->path);
	f->size = st.st_size;
	f->read_ns = monotonic_ns();
	return 0;
}

/* A window up to now, or none: then the next one is longer. */
static int read_file(struct file *f)
{
	const struct trace_sink *out = f->c->out;
	uint64_t now = monotonic_ns(), time = now - f->read_ns;
	struct reading reading = { .enabled_ns = time, .running_ns = time };
	const struct trace_window window = { f->group, f->read_ns, now, &reading };
	struct stat st;
	int err;

	if (stat(f->path, &st) || (uint64_t)st.st_size < f->size) {
		f->failed++;
		return 0;
	}
	reading.value = st.st_size - f->size;
	err = trace_send_window(out, &window);
	if (err) {
		f->failed += err == -EINVAL;
		return err == -EINVAL ? 0 : err;
	}
	f->size = st.st_size;
	f->read_ns = now;
	return 0;
}

static uint64_t next_ns(const void *s)
{
	const struct file *f = s;

	return f->read_ns + f->c->args->window_ns;
}

static int step(void *s, struct diag *d)
{
	(void)d;
	return monotonic_ns() >= next_ns(s) ? read_file(s) : 0;
}

static int mark(void *s, enum mark_kind kind, struct diag *d)
{
	(void)kind;
	(void)d;
	return read_file(s);
}

static void quality(const void *s, struct quality *ret)
{
	const struct file *f = s;

	ret->invalid_windows += f->failed;
}

const struct live_source source_file = {
	.order = SOURCE_BEFORE,
	.size = sizeof(struct file),
	.wanted = wanted,
	.open = open_file,
	.start = start,
	.next_ns = next_ns,
	.step = step,
	.mark = mark,
	.quality = quality,
};
