/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes messages as Protocol Buffers have them: fields of varints, doubles, texts and further
 * messages. No more than that, and no description of messages: whoever calls knows the fields.
 */
#ifndef REPORT_PERFETTO_PROTO_H
#define REPORT_PERFETTO_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/**
 * struct proto - what was written and is not in the file yet; zeros are an empty one
 * @failed: memory ran out: nothing more is taken
 */
struct proto {
	uint8_t *bytes;
	size_t length;
	size_t capacity;
	bool failed;
};

/** proto_number() - a field of a whole number or an enum, not negative */
void proto_number(struct proto *p, uint32_t field, uint64_t value);

void proto_double(struct proto *p, uint32_t field, double value);

/** proto_text() - a field of a text, valid UTF-8 */
void proto_text(struct proto *p, uint32_t field, const char *text);

/** proto_open() - begin a message in a field; returns what proto_close() needs */
size_t proto_open(struct proto *p, uint32_t field);
void proto_close(struct proto *p, size_t open);

/**
 * proto_flush() - write what there is to a file; no message may be open
 * @p: empty afterwards
 * @out: the file
 * @all: also what is too little for a write of its own, and flush the file
 *
 * Return: 0, -ENOMEM if anything did not fit before, or a negative errno of the write.
 */
int proto_flush(struct proto *p, FILE *out, bool all);

void proto_free(struct proto *p);

#endif
