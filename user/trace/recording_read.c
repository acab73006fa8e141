// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Nothing in the file is believed before its checksum fits, and nothing much after. */
#include <stdio.h>
#include <unistd.h>
#include <zlib.h>

#include "base/cleanup.h"
#include "trace/encode.h"
#include "trace/header.h"
#include "trace/reader.h"

/* A writer makes about eight; more than this many are left unread. */
#define MAX_SEGMENTS 64

struct segment_file {
	char *path;
	struct input in;
	struct recording_preamble preamble;
};

struct recording_reader {
	const struct trace_header *header;
	struct segment_file *segments; /* oldest first */
	size_t nr_segments;
	size_t at; /* segment being read */
	struct decoder *decoder;
	uint64_t sequence; /* of the next block */
	uint64_t events;   /* in blocks so far, as they say */
	bool first_mark;
	bool ended;
	const uint8_t *payload; /* of the block in hand */
	struct recording_block block;
};

static int damaged(const struct segment_file *s, size_t at, const char *what, struct diag *d)
{
	diag_fail(d, -EBADMSG, "%s: damaged at byte %llu: %s", s->path,
		  (unsigned long long)(s->in.offset + at), what);
	diag_help(d, "what is before that place is used; copy the file again, or record again");
	return -EBADMSG;
}

static int unreadable(const struct segment_file *s, int err, struct diag *d)
{
	return diag_fail(d, err, "%s: cannot be read: %s", s->path, strerror(-err));
}

static int read_preamble(struct segment_file *s, struct diag *d)
{
	struct recording_preamble *p = &s->preamble;
	int err = input_fill(&s->in, sizeof(*p));

	if (err)
		return unreadable(s, err, d);
	if (s->in.nr < sizeof(*p))
		return damaged(s, s->in.nr, "the file ends in its preamble", d);
	memcpy(p, input_data(&s->in), sizeof(*p));
	if (memcmp(p->magic, RECORDING_MAGIC, sizeof(p->magic)))
		return damaged(s, 0, "this is not a recording", d);
	if (p->crc != crc32(0, (const void *)p, offsetof(struct recording_preamble, crc)))
		return damaged(s, 0, "the preamble's checksum does not fit", d);
	if (p->version < RECORDING_OLDEST || p->version > RECORDING_VERSION) {
		diag_fail(d, -EBADMSG, "%s: a recording of version %u, and only %u to %u are known",
			  s->path, p->version, RECORDING_OLDEST, RECORDING_VERSION);
		diag_help(d, p->version < RECORDING_OLDEST
				     ? "report it with the t410trace that recorded it, or record "
				       "again: versions before 5 were in no release"
				     : "use the t410trace that recorded it, or a newer one");
		return -EBADMSG;
	}
	if (!p->segment || p->zero)
		return damaged(s, 0, "the preamble makes no sense", d);
	input_skip(&s->in, sizeof(*p));
	return 0;
}

/*
 * Get the next block into the buffer. Return: 1 with a block, 0 at the end (@ret_rest:
 * bytes of a block that was not finished), or a negative errno.
 */
static int next_block(struct recording_reader *r, struct diag *d, size_t *ret_rest)
{
	struct segment_file *s = &r->segments[r->at];
	struct recording_block *b = &r->block;
	int err = input_fill(&s->in, sizeof(*b));

	if (err)
		return unreadable(s, err, d);
	*ret_rest = s->in.nr;
	if (s->in.nr < sizeof(*b))
		return 0;
	memcpy(b, input_data(&s->in), sizeof(*b));
	if (b->magic != RECORDING_BLOCK_MAGIC)
		return damaged(s, 0, "there is no block", d);
	if (b->crc != crc32(0, (const void *)b, offsetof(struct recording_block, crc)))
		return damaged(s, 0, "the checksum of a block's header does not fit", d);
	if (b->length > RECORDING_MAX_PAYLOAD)
		return damaged(s, 0, "a block is too large", d);
	if (b->sequence != r->sequence)
		return damaged(s, 0, "blocks are missing", d);
	err = input_fill(&s->in, sizeof(*b) + b->length);
	if (err)
		return unreadable(s, err, d);
	*ret_rest = s->in.nr;
	if (s->in.nr < sizeof(*b) + b->length)
		return 0;
	r->payload = input_data(&s->in) + sizeof(*b);
	if (b->payload_crc != crc32(0, r->payload, b->length))
		return damaged(s, 0, "the checksum of a block does not fit", d);
	r->sequence++;
	return 1;
}

static int read_header(struct recording_reader *r, struct diag *d, struct trace_header *ret)
{
	struct segment_file *s = &r->segments[0];
	const char *wrong;
	struct bytes_in in;
	size_t rest;
	int err;

	r->sequence = s->preamble.sequence;
	err = next_block(r, d, &rest);
	if (err < 0)
		return err;
	if (!err)
		return damaged(s, rest, "the file ends in its header", d);
	if (r->block.type != RECORDING_HEADER)
		return damaged(s, 0, "there is no header", d);
	in = bytes_from(r->payload, r->block.length);
	err = header_decode(&in, ret, &wrong);
	if (err == -EBADMSG)
		return damaged(s, sizeof(r->block), wrong, d);
	input_skip(&s->in, sizeof(r->block) + r->block.length);
	return err;
}

/* Open the segment before another one; 0, or 1 if there is none. */
static int open_before(const char *path, const struct segment_file *next, struct segment_file *ret)
{
	struct diag ignored;

	if (asprintf(&ret->path, "%s.%u", path, next->preamble.segment - 1) < 0)
		return -ENOMEM;
	if (!input_open(&ret->in, ret->path)) {
		if (!read_preamble(ret, &ignored) && ret->preamble.id == next->preamble.id &&
		    ret->preamble.segment + 1 == next->preamble.segment)
			return 0;
	}
	input_release(&ret->in);
	free(ret->path);
	return 1;
}

/* Older segments, while they are there; they are opened at once: a writer may remove them. */
static int find_segments(struct recording_reader *r, const char *path)
{
	/* a link to a recording has no segments beside it */
	cleanup_free char *real = realpath(path, NULL);
	struct segment_file found[MAX_SEGMENTS] = { { 0 } };
	struct segment_file *sorted;
	size_t nr = 1;
	int err = 0;

	if (!real)
		return 0;
	found[0] = r->segments[0];
	while (!err && nr < MAX_SEGMENTS && found[nr - 1].preamble.segment > 1) {
		err = open_before(real, &found[nr - 1], &found[nr]);
		nr += !err;
	}
	sorted = calloc(nr, sizeof(*sorted));
	if (err < 0 || !sorted) {
		for (size_t i = 1; i < nr; i++) {
			input_release(&found[i].in);
			free(found[i].path);
		}
		free(sorted);
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr; i++)
		sorted[nr - 1 - i] = found[i];
	free(r->segments);
	r->segments = sorted;
	r->nr_segments = nr;
	return 0;
}

int recording_open(const char *path, struct input *in, struct diag *d, struct trace_header *header,
		   struct recording_reader **ret)
{
	struct recording_reader *r = calloc(1, sizeof(*r));
	int err = -ENOMEM;

	if (!r)
		return -ENOMEM;
	r->segments = calloc(1, sizeof(*r->segments));
	if (r->segments)
		r->segments[0].path = strdup(path);
	if (!r->segments || !r->segments[0].path) {
		recording_reader_free(r);
		return -ENOMEM;
	}
	r->nr_segments = 1;
	r->segments[0].in = *in;
	*in = (struct input){ .fd = -1 };
	err = read_preamble(&r->segments[0], d);
	if (!err && r->segments[0].in.fd != STDIN_FILENO)
		err = find_segments(r, path);
	if (!err)
		err = read_header(r, d, header);
	if (!err)
		err = decoder_new(header, &r->decoder);
	if (err) {
		recording_reader_free(r);
		return err;
	}
	r->header = header;
	/* where the books began was removed: they begin again */
	r->first_mark = r->segments[0].preamble.segment > 1;
	*ret = r;
	return 0;
}

void recording_progress(const struct recording_reader *r, uint64_t *ret_done, uint64_t *ret_all)
{
	*ret_done = *ret_all = 0;
	for (size_t i = 0; i < r->nr_segments; i++) {
		*ret_done += r->segments[i].in.offset;
		*ret_all += input_size(&r->segments[i].in);
	}
}

/* Only the last segment may still grow: earlier ones are complete. */
void recording_wait(struct recording_reader *r, const struct input_wait *w)
{
	r->segments[r->nr_segments - 1].in.wait = *w;
}

bool recording_ended(const struct recording_reader *r)
{
	return r->ended;
}

void recording_reader_free(struct recording_reader *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->nr_segments; i++) {
		input_release(&r->segments[i].in);
		free(r->segments[i].path);
	}
	free(r->segments);
	decoder_free(r->decoder);
	free(r);
}

static int hand_out(struct recording_reader *r, const struct trace_sink *sink, struct diag *d,
		    struct trace_end *ret)
{
	struct segment_file *s = &r->segments[r->at];
	struct decoded done;
	int err =
		decoder_block(r->decoder, r->payload, r->block.length, &r->first_mark, sink, &done);

	ret->events += done.events;
	ret->refused += done.refused;
	if (done.bad)
		return damaged(s, sizeof(r->block) + done.offset, "an event makes no sense", d);
	if (!err && done.events != r->block.events)
		return damaged(s, 0, "a block holds more or fewer events than it says", d);
	return err;
}

static int take_end(struct recording_reader *r, struct diag *d)
{
	struct segment_file *s = &r->segments[r->at];
	struct bytes_in in = bytes_from(r->payload, r->block.length);
	uint64_t events = bytes_get(&in);
	int err;

	if (in.err || in.at != in.end)
		return damaged(s, sizeof(r->block), "the end is not as it should be", d);
	if (r->segments[0].preamble.segment == 1 && events != r->events)
		return damaged(s, sizeof(r->block), "events are missing", d);
	r->ended = true;
	err = input_fill(&s->in, sizeof(r->block) + r->block.length + 1);
	if (err)
		return unreadable(s, err, d);
	if (s->in.nr > sizeof(r->block) + r->block.length || r->at + 1 < r->nr_segments)
		return damaged(s, sizeof(r->block) + r->block.length, "something follows the end",
			       d);
	return 0;
}

static int use_block(struct recording_reader *r, bool first, const struct trace_sink *sink,
		     struct diag *d, struct trace_end *ret)
{
	struct segment_file *s = &r->segments[r->at];

	if (r->block.flags || first != (r->block.type == RECORDING_HEADER))
		return damaged(s, 0, "a block where it does not belong", d);
	switch (r->block.type) {
	case RECORDING_HEADER:
		return 0;
	case RECORDING_ANNOUNCE:
		/* segments that we have read said it already */
		return r->at || s->preamble.segment == 1 ? 0 : hand_out(r, sink, d, ret);
	case RECORDING_EVENTS:
		r->events += r->block.events;
		return hand_out(r, sink, d, ret);
	case RECORDING_END:
		return take_end(r, d);
	default:
		return damaged(s, 0, "a block of an unknown kind", d);
	}
}

/* Read a segment; the header of the first one was read when it was opened. */
static int read_segment(struct recording_reader *r, const struct trace_sink *sink, struct diag *d,
			struct trace_end *ret)
{
	struct segment_file *s = &r->segments[r->at];
	bool first = r->at > 0;
	size_t rest = 0;
	int err;

	if (first && s->preamble.sequence != r->sequence)
		return damaged(s, 0, "blocks are missing", d);
	do {
		err = next_block(r, d, &rest);
		if (err <= 0)
			break;
		err = use_block(r, first, sink, d, ret);
		if (err)
			return err;
		input_skip(&s->in, sizeof(r->block) + r->block.length);
		first = false;
	} while (!r->ended);
	if (err < 0)
		return err;
	/* only the last segment can have been cut by the end of its writer */
	if (!r->ended && r->at + 1 < r->nr_segments && rest)
		return damaged(s, 0, "a block is not complete, and more segments follow", d);
	ret->dropped_bytes = r->ended ? 0 : rest;
	return 0;
}

int recording_read(struct recording_reader *r, const struct trace_sink *sink, struct diag *d,
		   struct trace_end *ret)
{
	struct trace_end end = { .rotated = r->segments[0].preamble.sequence };
	int err = 0;

	for (; !err && r->at < r->nr_segments; r->at++) {
		err = read_segment(r, sink, d, &end);
		end.bytes += r->segments[r->at].in.offset;
	}
	end.complete = r->ended;
	*ret = end;
	return err;
}
