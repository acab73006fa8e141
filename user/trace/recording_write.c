// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The newest segment is always PATH. A new one has a temporary name or none until its
 * header is complete; then the old one gets its number as a second name, and the new
 * one takes its place: there is no moment without a readable PATH.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/cleanup.h"
#include "base/out_file.h"
#include "trace/encode.h"
#include "trace/header.h"
#include "trace/repeat_names.h"
#include "trace/repeat_spans.h"
#include "trace/recording.h"

#define BLOCK_SIZE sizeof(struct recording_block)

/* Only its owner may read it, because it has names of programs, as perf.data. */
#define MODE	   0600

/* A segment is this part of the bound; without a mark it grows to one and a half of it. */
#define SEGMENTS   4

struct segment {
	uint32_t number;
	uint64_t bytes;
};

struct recording_writer {
	char *name;	     /* as it was given */
	struct out_file out; /* its path is NULL for a device or pipe */
	uint64_t max_bytes;
	uint64_t id;
	uint64_t sequence;
	uint64_t events;
	uint64_t total;
	struct segment current;
	struct segment old[2 * SEGMENTS]; /* oldest first */
	size_t nr_old;
	uint32_t version;
	struct bytes header; /* payload with room for preamble and block */
	struct encoder *encoder;
	struct encoder *announcer;
	struct trace_sink in, announce_in;
	struct repeat_names *names;
	struct repeat_spans *spans;
	int err;
	bool reported;
};

static void numbered(const struct recording_writer *w, uint32_t number, char *ret, size_t size)
{
	snprintf(ret, size, "%s.%u", w->out.path, number);
}

static size_t path_size(const struct recording_writer *w)
{
	return strlen(w->out.path) + 16;
}

static int remove_oldest(struct recording_writer *w)
{
	char path[path_size(w)];

	if (!w->nr_old)
		return -ENOSPC;
	numbered(w, w->old[0].number, path, sizeof(path));
	if (unlink(path) < 0 && errno != ENOENT)
		return -errno;
	w->total -= w->old[0].bytes;
	memmove(&w->old[0], &w->old[1], --w->nr_old * sizeof(w->old[0]));
	return 0;
}

/* Write all of it or, as far as that can be had, nothing. */
static int write_all(struct recording_writer *w, int fd, const void *data, size_t size)
{
	size_t done = 0;
	ssize_t n;
	int err = 0;

	while (w->max_bytes && !err && w->total + size > w->max_bytes)
		err = remove_oldest(w);
	if (err)
		return err;
	while (done < size) {
		n = write(fd, (const char *)data + done, size - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			err = -errno;
			/* a reader would take the rest for the work of a kill */
			if (done && w->out.path && ftruncate(fd, w->current.bytes) < 0)
				w->current.bytes += done;
			return err;
		}
		done += n;
	}
	w->current.bytes += size;
	w->total += size;
	return 0;
}

/* Fill in the block in front of a payload; @data begins with room for it. */
static void seal(struct recording_writer *w, uint16_t type, uint8_t *data, size_t length,
		 uint32_t events)
{
	struct recording_block b = {
		.magic = RECORDING_BLOCK_MAGIC,
		.type = type,
		.sequence = w->sequence++,
		.length = length,
		.events = events,
		.payload_crc = crc32(0, data + BLOCK_SIZE, length),
	};

	b.crc = crc32(0, (const void *)&b, offsetof(struct recording_block, crc));
	memcpy(data, &b, sizeof(b));
}

static int write_block(struct recording_writer *w, int fd, uint16_t type, struct encoder *e)
{
	struct bytes *o = encoder_out(e);
	int err;

	seal(w, type, o->data, o->nr - BLOCK_SIZE, encoder_events(e));
	err = write_all(w, fd, o->data, o->nr);
	encoder_reset(e);
	return err;
}

static int write_start(struct recording_writer *w, int fd)
{
	struct recording_preamble p = {
		.version = w->version,
		.segment = w->current.number,
		.id = w->id,
		.sequence = w->sequence,
	};
	size_t length = w->header.nr - sizeof(p) - BLOCK_SIZE;

	memcpy(p.magic, RECORDING_MAGIC, sizeof(p.magic));
	p.crc = crc32(0, (const void *)&p, offsetof(struct recording_preamble, crc));
	memcpy(w->header.data, &p, sizeof(p));
	seal(w, RECORDING_HEADER, w->header.data + sizeof(p), length, 0);
	return write_all(w, fd, w->header.data, w->header.nr);
}

/* Give the finished segment its number, without a moment in which PATH is missing. */
static int keep_current(struct recording_writer *w, uint32_t number)
{
	char path[path_size(w)];

	numbered(w, number, path, sizeof(path));
	unlink(path);
	/* not every file system has links: then there is such a moment */
	if (link(w->out.path, path) < 0 && rename(w->out.path, path) < 0)
		return -errno;
	return 0;
}

static int announced(void *arg)
{
	struct recording_writer *w = arg;

	if (encoder_out(w->announcer)->nr < RECORDING_BLOCK_TARGET)
		return 0;
	return write_block(w, w->out.fd, RECORDING_ANNOUNCE, w->announcer);
}

static int announce(struct recording_writer *w, const struct trace_mark *mark)
{
	int err = repeat_names_announce(w->names, &w->announce_in, announced, w);

	if (!err && mark) {
		struct trace_mark first = *mark;

		first.first = true;
		first.inner = false;
		err = repeat_spans_announce(w->spans, &w->announce_in, announced, w);
		if (!err)
			err = trace_send_mark(&w->announce_in, &first);
	}
	if (!err && encoder_events(w->announcer))
		err = write_block(w, w->out.fd, RECORDING_ANNOUNCE, w->announcer);
	return err;
}

/* @mark: set when nothing came since; the books of a reader can begin with it */
static int next_segment(struct recording_writer *w, const struct trace_mark *mark)
{
	struct segment before = w->current;
	struct out_file next;
	int err;

	if (w->nr_old == sizeof(w->old) / sizeof(w->old[0])) {
		err = remove_oldest(w);
		if (err)
			return err;
	}
	err = out_file_open(w->out.path, MODE, &next);
	if (err)
		return err;
	w->current = (struct segment){ .number = before.number + 1 };
	err = write_start(w, next.fd);
	if (!err)
		err = keep_current(w, before.number);
	if (!err)
		err = out_file_publish(&next);
	if (err) {
		out_file_close(&next);
		w->total -= w->current.bytes;
		w->current = before;
		return err;
	}
	out_file_close(&w->out);
	w->out = next;
	w->old[w->nr_old++] = before;
	return announce(w, mark);
}

static int flush_block(struct recording_writer *w, const struct trace_mark *mark)
{
	uint64_t target = w->max_bytes / SEGMENTS;
	int err = 0;

	w->events += encoder_events(w->encoder);
	if (encoder_events(w->encoder))
		err = write_block(w, w->out.fd, RECORDING_EVENTS, w->encoder);
	if (!err && w->max_bytes && w->current.bytes >= (mark ? target : target + target / 2))
		err = next_segment(w, mark);
	return err;
}

/* After an event: an error of the disk is reported once, then events are dropped. */
static int settle(struct recording_writer *w, int err, const struct trace_mark *mark)
{
	if (err == -EINVAL)
		return err;
	if (!err && (mark || encoder_out(w->encoder)->nr >= RECORDING_BLOCK_TARGET))
		err = flush_block(w, mark);
	if (err && !w->err)
		w->err = err;
	if (!w->err || w->reported)
		return 0;
	w->reported = true;
	return w->err;
}

/* Encode an event and, if it was taken, let the table of the living learn from it. */
static int on_event(void *arg, const struct trace_event *e)
{
	struct recording_writer *w = arg;
	int err = w->err ? 0 : trace_send(&w->in, e);

	if (!err && !w->err && w->names) {
		repeat_spans_learn(w->spans, e);
		err = repeat_names_learn(w->names, e);
	}
	return settle(w, err, e->type == TRACE_MARK ? &e->mark : NULL);
}

struct trace_sink recording_sink(struct recording_writer *w)
{
	return (struct trace_sink){ on_event, w };
}

static void writer_free(struct recording_writer *w)
{
	out_file_close(&w->out);
	free(w->name);
	free(w->header.data);
	encoder_free(w->encoder);
	encoder_free(w->announcer);
	repeat_names_free(w->names);
	repeat_spans_free(w->spans);
	free(w);
}

/* The preamble of a file, if it is one of ours. */
static bool read_preamble(const char *path, struct recording_preamble *ret)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	return fd >= 0 && read(fd, ret, sizeof(*ret)) == sizeof(*ret) &&
	       !memcmp(ret->magic, RECORDING_MAGIC, sizeof(ret->magic)) &&
	       ret->crc == crc32(0, (const void *)ret, offsetof(struct recording_preamble, crc));
}

/* Remove the older segments of the recording that we replace, and nothing else. */
static void remove_leftovers(struct recording_writer *w, const struct recording_preamble *was)
{
	char path[path_size(w)];
	struct recording_preamble p;

	for (uint32_t n = was->segment; n > 0; n--) {
		numbered(w, n, path, sizeof(path));
		if (read_preamble(path, &p) && p.id == was->id && p.segment == n)
			unlink(path);
		else if (n < was->segment)
			return;
	}
}

static int open_first(struct recording_writer *w)
{
	struct recording_preamble was;
	int err = write_start(w, w->out.fd);
	bool replaces = w->out.path && read_preamble(w->out.path, &was);

	if (!err)
		err = out_file_publish(&w->out);
	if (!err && replaces)
		remove_leftovers(w, &was);
	return err;
}

static int encode_header(struct recording_writer *w, const struct trace_header *h, struct diag *d)
{
	const char *wrong = header_check(h);

	if (wrong)
		return diag_fail(d, -EINVAL, "%s: cannot be recorded: %s", w->name, wrong);
	if (bytes_reserve(&w->header, sizeof(struct recording_preamble) + BLOCK_SIZE)) {
		w->header.nr = sizeof(struct recording_preamble) + BLOCK_SIZE;
		header_encode(h, &w->header);
		/* What older readers know, they shall read. */
		w->version = h->contexts || h->c2c || h->holders ? RECORDING_VERSION
			     : header_is_late(h)		 ? RECORDING_NO_CONTEXTS
			     : h->resctrl			 ? RECORDING_NO_ONLINE
			     : h->nr_parts			 ? RECORDING_NO_RESCTRL
								 : RECORDING_NO_PARTS;
	}
	if (w->header.err == -EINVAL || w->header.nr > RECORDING_MAX_PAYLOAD)
		return diag_fail(d, -EINVAL, "%s: the header is too large", w->name);
	if (w->header.err)
		return w->header.err;
	if (w->max_bytes &&
	    (w->max_bytes < RECORDING_MIN_BYTES || w->header.nr > w->max_bytes / SEGMENTS)) {
		diag_fail(d, -EINVAL, "%s: no recording fits into %llu bytes", w->name,
			  (unsigned long long)w->max_bytes);
		diag_help(d, "allow at least %zu bytes",
			  w->header.nr * SEGMENTS > RECORDING_MIN_BYTES
				  ? w->header.nr * SEGMENTS
				  : (size_t)RECORDING_MIN_BYTES);
		return -EINVAL;
	}
	return 0;
}

static int start(struct recording_writer *w, const char *path, const struct trace_header *h,
		 struct diag *d)
{
	int err = out_file_open(path, MODE, &w->out);

	if (!err && !w->out.path && w->max_bytes) {
		diag_fail(d, -EINVAL, "%s: the size can be bounded for regular files only", path);
		diag_help(d, "record into a file, or without a bound");
		return -EINVAL;
	}
	if (!err)
		err = encoder_new(h, BLOCK_SIZE, &w->encoder);
	if (!err)
		w->in = encoder_sink(w->encoder);
	if (!err && w->max_bytes) {
		err = encoder_new(h, BLOCK_SIZE, &w->announcer);
		if (!err)
			w->announce_in = encoder_sink(w->announcer);
		if (!err)
			err = repeat_names_new(&w->names);
		if (!err)
			err = repeat_spans_new(&h->layout, &w->spans);
	}
	if (!err && getrandom(&w->id, sizeof(w->id), 0) != sizeof(w->id))
		err = -EIO;
	if (!err) {
		err = encode_header(w, h, d);
		if (err == -EINVAL)
			return err;
	}
	if (!err)
		err = open_first(w);
	if (!err)
		return 0;
	diag_fail(d, err, "%s: cannot be written: %s", path, strerror(-err));
	diag_help(d, "choose another file, or make room on the disk");
	return err;
}

int recording_create(const char *path, const struct trace_header *header, uint64_t max_bytes,
		     struct diag *d, struct recording_writer **ret)
{
	struct recording_writer *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return diag_no_memory(d);
	w->out = OUT_FILE_NONE;
	w->max_bytes = max_bytes;
	w->current.number = 1;
	w->name = strdup(out_file_is_stdout(path) ? "standard output" : path);
	err = w->name ? start(w, path, header, d) : diag_no_memory(d);
	if (err) {
		writer_free(w);
		return err;
	}
	*ret = w;
	return 0;
}

static int finish_problem(const struct recording_writer *w, int err, struct diag *d)
{
	if (err == -ENOSPC && w->max_bytes &&
	    w->total + RECORDING_BLOCK_TARGET > w->max_bytes / 2) {
		diag_fail(d, err,
			  "%s: the recording ended early: names of all tasks and "
			  "cgroups do not fit into %llu bytes",
			  w->name, (unsigned long long)w->max_bytes);
		diag_help(d, "allow more bytes; what was recorded before can be read");
		return err;
	}
	diag_fail(d, err, "%s: the recording ended early: %s", w->name, strerror(-err));
	diag_help(d, "what was recorded before can be read");
	return err;
}

int recording_finish(struct recording_writer *w, struct diag *d, uint64_t *ret_bytes)
{
	int err, closed;

	if (!w)
		return 0;
	err = w->err ? w->err : flush_block(w, NULL);
	if (!err) {
		bytes_put(encoder_out(w->encoder), w->events);
		err = encoder_out(w->encoder)->err;
	}
	if (!err)
		err = write_block(w, w->out.fd, RECORDING_END, w->encoder);
	closed = out_file_close(&w->out);
	err = err ? err : closed;
	if (err)
		finish_problem(w, err, d);
	else if (ret_bytes)
		*ret_bytes = w->total;
	writer_free(w);
	return err;
}
