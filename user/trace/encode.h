/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events to and from the payload of one block of a recording. */
#ifndef TRACE_ENCODE_H
#define TRACE_ENCODE_H

#include "base/bytes.h"
#include "recording_format.h"
#include "trace.h"

struct encoder;

/**
 * encoder_new() - an encoder
 * @h: must outlive it
 * @prefix: bytes left free at the start of each payload
 * @ret: free with encoder_free()
 *
 * Return: 0 or -ENOMEM.
 */
int encoder_new(const struct trace_header *h, size_t prefix, struct encoder **ret);
void encoder_free(struct encoder *e);

/** encoder_reset() - begin the payload of another block */
void encoder_reset(struct encoder *e);

/** encoder_out() - prefix and payload so far */
struct bytes *encoder_out(struct encoder *e);

/** encoder_events() - events in the payload */
uint32_t encoder_events(const struct encoder *e);

/**
 * encoder_sink() - append events
 *
 * Returns 0, -ENOMEM, or -EINVAL for an event that the format cannot
 * hold; the payload is unchanged then.
 */
struct trace_sink encoder_sink(struct encoder *e);

struct decoder;

/** decoder_new() - a decoder; @h must outlive it; 0 or -ENOMEM */
int decoder_new(const struct trace_header *h, struct decoder **ret);
void decoder_free(struct decoder *d);

/**
 * struct decoded - the result of reading a block
 * @offset: in the payload, of the event that was being decoded last
 * @events: events handed out
 * @refused: of these, events that the sink refused with -EINVAL
 * @bad: the payload is not as it must be: the error is not the sink's
 */
struct decoded {
	size_t offset;
	uint64_t events;
	uint64_t refused;
	bool bad;
};

/**
 * decoder_block() - hand out all events of a block
 * @d: decoder
 * @payload, @length: the block, without a prefix
 * @first_mark: if set, the first mark is handed out with its first flag set, and
 *	this is cleared
 * @sink: gets the events
 * @ret: set in any case
 *
 * Return: 0, -EBADMSG, -ENOMEM or the sink's error.
 */
int decoder_block(struct decoder *d, const uint8_t *payload, size_t length, bool *first_mark,
		  const struct trace_sink *sink, struct decoded *ret);

#endif
