/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Structures described by rows, one for each field, and what walks over the rows: a structure
 * becomes bytes or JSON, and is read again from both. What is read may be hostile.
 */
#ifndef BASE_FIELDS_H
#define BASE_FIELDS_H

#include <stdio.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/json_line.h"

/* Bytes of the longest text; writers refuse longer ones with -EINVAL. */
#define FIELD_MAX_TEXT 16384u

/**
 * enum field_type - what a field is
 *
 * The first five are what their type in C says.
 */
enum field_type {
	FIELD_U64,
	FIELD_U32,
	FIELD_BOOL,
	FIELD_TEXT,   /* of somebody else, perhaps NULL: its reader is the owner of the rows */
	FIELD_STRING, /* a text that the structure owns */
	FIELD_CHARS,  /* a text in an array of the structure */
	FIELD_WORD,   /* an enum; JSON has the word for it */
	FIELD_FLAGS,  /* bytes: all bools that have a flag, in one number; not in JSON */
	FIELD_U64S,   /* bytes: an array of @size numbers; not in JSON */
	FIELD_SUM,    /* plain bytes: a sum128, close to others of these; not in JSON */
	FIELD_SUMS,   /* bytes: an array of @size of them; not in JSON */
	FIELD_STRUCT, /* bytes: a structure in the structure; not in JSON */
	FIELD_LIST,   /* structures of another kind, or values if its only row has no name */
	FIELD_OWN,    /* this and all above: what the owner of the rows makes of it */
};

/**
 * enum field_base - what a number is close to
 *
 * Bytes have the difference from it. In JSON it is what an optional number is without its key.
 */
enum field_base {
	BASE_NONE,
	BASE_TIME,   /* the last field with this base, whatever its structure was */
	BASE_ORIGIN, /* the same, and it stays as it is */
	BASE_BEFORE, /* the same field of the structure before in the list */
	BASE_SUM,    /* that of @size numbers from @of on */
	BASE_FIELD,  /* the field at @of */
	BASE_LENGTH, /* end - start; @of is the start, and the end follows it */
};

struct fields;

/**
 * struct field - a field of a structure
 * @name: in JSON; NULL: not in JSON, or an element of a list
 * @type: enum field_type, or a type of the owner
 * @base, @of: see enum field_base; @of also is where the number of elements of a list is
 * @offset: in the structure
 * @place: its place among the bytes from 1 on, if the rows have places; 0: not among them
 * @size: texts: room, with NUL; FIELD_U64S, FIELD_SUMS and BASE_SUM: how many numbers
 * @since: bytes have it from this version on
 * @flag: bools: their bit in FIELD_FLAGS
 * @required: a reader of JSON refuses a structure without it
 * @terse: JSON leaves it out when it is what a reader takes it for without the key
 * @not_below, @not_above: how it must compare with its base
 * @unless: a bool, as offset: with it, this is 0 and left out. 0: there is none
 * @when: a number of 32 bits, as offset: JSON has the field only if that is not 0. 0: always
 * @below: it is below its base, and bytes have how far, if they are plain
 * @ends: bytes of older versions end in front of it
 * @inside: the elements of a list are in the structure, which otherwise points to them
 * @wide: the number of elements is a size_t, not 32 bits
 * @max: the largest number, word, or number of elements; 0 for what the type can hold, or for as many
 *	elements as there are bytes for
 * @word: words by number
 * @each: elements of a list, or the rows of a structure
 */
struct field {
	const char *name;
	uint8_t type;
	uint8_t base;
	uint16_t offset;
	uint16_t of;
	uint16_t size;
	uint16_t unless;
	uint16_t when;
	uint8_t place;
	uint8_t flag;
	uint8_t since;
	bool required;
	bool terse;
	bool not_below;
	bool not_above;
	bool below;
	bool ends;
	bool inside;
	bool wide;
	uint64_t max;
	const char *(*word)(unsigned int);
	const struct fields *each;
};

/**
 * struct fields - the rows of a structure
 * @rows, @nr: in the order of JSON
 * @size: of the structure
 * @placed: bytes have the order of field.place, otherwise that of the rows
 * @unknown: said of a word beyond the last one
 * @many: said of too many of them
 */
struct fields {
	const struct field *rows;
	size_t nr;
	size_t size;
	bool placed;
	const char *unknown;
	const char *many;
};

#define FIELD_TYPE(structure, member) \
	_Generic(((structure *)NULL)->member,    \
		uint64_t: FIELD_U64,             \
		uint32_t: FIELD_U32,             \
		bool: FIELD_BOOL,                \
		const char *: FIELD_TEXT,        \
		char *: FIELD_STRING)

/*
 * Rows: the key of JSON or NULL, the structure, its member, and what else there is to say. The
 * type of ROW() is what the member's says.
 */
#define ROW(key, structure, member, ...)                            \
	{                                                           \
		.name = key, .type = FIELD_TYPE(structure, member), \
		.offset = offsetof(structure, member), __VA_ARGS__  \
	}
#define ROW_CHARS(key, structure, member, ...)                                           \
	{                                                                                \
		.name = key, .type = FIELD_CHARS, .offset = offsetof(structure, member), \
		.size = sizeof(((structure *)NULL)->member), __VA_ARGS__                 \
	}
#define ROW_WORD(key, structure, member, words, nr_words, ...)                          \
	{                                                                               \
		.name = key, .type = FIELD_WORD, .offset = offsetof(structure, member), \
		.word = words, .max = (nr_words)-1, __VA_ARGS__                         \
	}
#define ROW_LIST(key, structure, member, number, rows, ...)                                  \
	{                                                                                    \
		.name = key, .type = FIELD_LIST, .offset = offsetof(structure, member),      \
		.of = offsetof(structure, number), .each = rows,                             \
		.wide = sizeof(((structure *)NULL)->number) == sizeof(uint64_t), __VA_ARGS__ \
	}
#define ROW_U64S(structure, member, nr_numbers, ...)                                           \
	{                                                                                      \
		.type = FIELD_U64S, .offset = offsetof(structure, member), .size = nr_numbers, \
		__VA_ARGS__                                                                    \
	}
#define ROW_SUM(structure, member, ...)                                               \
	{                                                                             \
		.type = FIELD_SUM, .offset = offsetof(structure, member), __VA_ARGS__ \
	}
#define ROW_SUMS(structure, member, nr_sums, ...)                                           \
	{                                                                                   \
		.type = FIELD_SUMS, .offset = offsetof(structure, member), .size = nr_sums, \
		__VA_ARGS__                                                                 \
	}
#define ROW_STRUCT(structure, member, rows)                                               \
	{                                                                                 \
		.type = FIELD_STRUCT, .offset = offsetof(structure, member), .each = rows \
	}
#define ROW_OWN(key, type_, structure, member, ...)                                            \
	{                                                                                      \
		.name = key, .type = type_, .offset = offsetof(structure, member), __VA_ARGS__ \
	}

/* All rows of a structure, and what else there is to say. */
#define FIELDS(rows_, structure, ...)                                                          \
	{                                                                                      \
		.rows = rows_, .nr = ARRAY_SIZE(rows_), .size = sizeof(structure), __VA_ARGS__ \
	}

static inline const void *field_at(const struct field *f, const void *of)
{
	return (const char *)of + f->offset;
}

/** field_get() - the value of a number, bool or word, and of what is a uint32_t of the owner */
static inline uint64_t field_get(const struct field *f, const void *of)
{
	if (f->type == FIELD_U64)
		return *(const uint64_t *)field_at(f, of);
	if (f->type == FIELD_BOOL)
		return *(const bool *)field_at(f, of);
	return *(const uint32_t *)field_at(f, of);
}

/** field_set() - the counterpart; the value must fit */
static inline void field_set(const struct field *f, void *of, uint64_t value)
{
	void *to = (char *)of + f->offset;

	if (f->type == FIELD_U64)
		*(uint64_t *)to = value;
	else if (f->type == FIELD_BOOL)
		*(bool *)to = value;
	else
		*(uint32_t *)to = value;
}

/** field_text() - a text, NULL for none */
static inline const char *field_text(const struct field *f, const void *of)
{
	return f->type == FIELD_CHARS ? field_at(f, of) : *(const char *const *)field_at(f, of);
}

/** field_absent() - is it left out of this structure? see field.unless */
static inline bool field_absent(const struct field *f, const void *of)
{
	return f->unless && *(const bool *)((const char *)of + f->unless);
}

/** field_base() - what the number is close to, as far as its structure says */
static inline uint64_t field_base(const struct field *f, const void *of)
{
	const uint64_t *at = (const void *)((const char *)of + f->of);
	uint64_t sum = 0;

	if (f->base == BASE_FIELD)
		return at[0];
	if (f->base == BASE_LENGTH)
		return at[1] - at[0];
	for (size_t i = 0; f->base == BASE_SUM && i < f->size; i++)
		sum += at[i];
	return sum;
}

/** fields_release() - free what lists and strings of a structure have, not the structure */
void fields_release(const struct fields *rows, void *of);

/**
 * fields_check() - are there more elements than may be, or words that are none?
 *
 * Return: NULL, or what the rows of the elements say to that.
 */
const char *fields_check(const struct fields *rows, const void *of);

/* --- bytes */

/**
 * struct fields_out - where structures are written as bytes
 * @bytes: errors are in it
 * @plain: texts are their length and their bytes, differences have no sign
 * @time: see BASE_TIME
 * @before: see BASE_BEFORE
 * @own: writes fields of FIELD_OWN and above
 * @arg: its own
 */
struct fields_out {
	struct bytes bytes;
	bool plain;
	uint64_t time;
	const void *before;
	void (*own)(struct fields_out *o, const struct field *f, const void *of);
	void *arg;
};

/** fields_put() - write a structure */
void fields_put(struct fields_out *o, const struct fields *rows, const void *of);

/** fields_put_until() - write it without the places behind @last */
void fields_put_until(struct fields_out *o, const struct fields *rows, const void *of, size_t last);

/**
 * struct fields_in - where structures are read from
 * @bytes: errors are in it: -EBADMSG, -ENOMEM
 * @plain, @time, @before: as above
 * @version: see field.since
 * @flags: the last FIELD_FLAGS
 * @ended: there were no bytes from a row with @ends on
 * @own: reads fields of FIELD_OWN and above, and texts of somebody else
 * @arg: its own
 */
struct fields_in {
	struct bytes_in bytes;
	bool plain;
	uint64_t time;
	const void *before;
	uint64_t version;
	uint64_t flags;
	bool ended;
	void (*own)(struct fields_in *in, const struct field *f, void *of);
	void *arg;
};

/** fields_take() - read a structure, which is all 0 before; release it whatever happens */
void fields_take(struct fields_in *in, const struct fields *rows, void *of);

/* --- JSON */

/**
 * struct fields_json - where structures are written as JSON
 * @f: errors stay in it
 * @before: character in front of the next key
 * @index: of the structure in its list
 * @own: writes fields of FIELD_OWN and above
 * @arg: its own
 */
struct fields_json {
	FILE *f;
	char before;
	size_t index;
	void (*own)(struct fields_json *j, const struct field *f, const void *of);
	const void *arg;
};

/** fields_key() - begin a member of an object */
void fields_key(struct fields_json *j, const char *key);

/** fields_write() - write the members of an object */
void fields_write(struct fields_json *j, const struct fields *rows, const void *of);

/**
 * struct fields_line - where structures are read from JSON
 * @line: for messages
 * @index: of the structure in its list
 * @own: reads fields of FIELD_OWN and above, and texts of somebody else
 * @done: an element of a list has been read; NULL: that is all
 * @arg: theirs
 *
 * Both return 0, -EBADMSG with the problem told, or another errno.
 */
struct fields_line {
	const struct ndjson_line *line;
	size_t index;
	int (*own)(struct fields_line *l, const json_t *object, const struct field *f, void *of);
	int (*done)(struct fields_line *l, const json_t *object, const struct field *list,
		    void *of);
	void *arg;
};

/** field_read() - read a field; without its optional key it stays as it is, or is its base */
int field_read(struct fields_line *l, const json_t *object, const struct field *f, void *of);

/** fields_read() - read the members of an object; release the structure whatever happens */
int fields_read(struct fields_line *l, const json_t *object, const struct fields *rows, void *of);

#endif
