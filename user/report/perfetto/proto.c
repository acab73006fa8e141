// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/perfetto/proto.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What goes to the file at once */
#define BLOCK		 (256u << 10)
#define MAX_VARINT	 10

/* How a field's bytes are to be read, the lowest bits of its tag */
#define WIRE_VARINT	 0u
#define WIRE_FIXED64	 1u
#define WIRE_LENGTH	 2u
#define TAG(field, wire) ((uint64_t)(field) << 3 | (wire))

static void *room(struct proto *p, size_t bytes)
{
	size_t capacity = p->capacity ?: 1024;
	uint8_t *larger;

	while (capacity - p->length < bytes)
		capacity *= 2;
	if (capacity != p->capacity && !p->failed) {
		larger = realloc(p->bytes, capacity);
		if (larger) {
			p->bytes = larger;
			p->capacity = capacity;
		}
		p->failed = !larger;
	}
	return p->failed ? NULL : p->bytes + p->length;
}

static size_t varint(uint64_t value, uint8_t *to)
{
	size_t n = 0;

	for (; value > 0x7f; value >>= 7)
		to[n++] = (uint8_t)(value | 0x80);
	to[n++] = (uint8_t)value;
	return n;
}

static void put_varint(struct proto *p, uint64_t value)
{
	uint8_t *to = room(p, MAX_VARINT);

	if (to)
		p->length += varint(value, to);
}

static void put_bytes(struct proto *p, const void *bytes, size_t length)
{
	uint8_t *to = room(p, length);

	if (!to)
		return;
	memcpy(to, bytes, length);
	p->length += length;
}

void proto_number(struct proto *p, uint32_t field, uint64_t value)
{
	put_varint(p, TAG(field, WIRE_VARINT));
	put_varint(p, value);
}

void proto_double(struct proto *p, uint32_t field, double value)
{
	uint8_t bytes[8];
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(bits >> 8 * i);
	put_varint(p, TAG(field, WIRE_FIXED64));
	put_bytes(p, bytes, sizeof(bytes));
}

void proto_text(struct proto *p, uint32_t field, const char *text)
{
	size_t length = strlen(text);

	put_varint(p, TAG(field, WIRE_LENGTH));
	put_varint(p, length);
	put_bytes(p, text, length);
}

size_t proto_open(struct proto *p, uint32_t field)
{
	put_varint(p, TAG(field, WIRE_LENGTH));
	return p->length;
}

/* The length comes before the message, and is known only now. */
void proto_close(struct proto *p, size_t open)
{
	size_t length = p->length - open, n;
	uint8_t prefix[MAX_VARINT];

	n = varint(length, prefix);
	if (!room(p, n))
		return;
	memmove(p->bytes + open + n, p->bytes + open, length);
	memcpy(p->bytes + open, prefix, n);
	p->length += n;
}

int proto_flush(struct proto *p, FILE *out, bool all)
{
	if (p->failed)
		return -ENOMEM;
	if (p->length < BLOCK && !all)
		return 0;
	errno = 0;
	if (fwrite(p->bytes, 1, p->length, out) != p->length || (all && fflush(out)) || ferror(out))
		return errno ? -errno : -EIO;
	p->length = 0;
	return 0;
}

void proto_free(struct proto *p)
{
	free(p->bytes);
	*p = (struct proto){ 0 };
}
