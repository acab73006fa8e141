/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parse the text of an option -e without resolving its names. */
#ifndef PLATFORM_SPEC_SPEC_TEXT_H
#define PLATFORM_SPEC_SPEC_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

#define SPEC_MAX_TERMS 16

/** struct spec_piece - a part of the text; it was not given when its length is 0 */
struct spec_piece {
	size_t at;
	size_t length;
};

/** struct spec_term - "name" or "name=value" between slashes */
struct spec_term {
	struct spec_piece name;
	struct spec_piece value;
	bool has_value;
};

/**
 * struct spec_event - one event
 * @name: the PMU, or without slashes the event itself
 * @slashes: there are terms, or at least room for them
 * @terms, @nr_terms: between the slashes
 * @terms_at: behind the first slash
 * @modifiers: letters at its end
 */
struct spec_event {
	struct spec_piece name;
	bool slashes;
	struct spec_term terms[SPEC_MAX_TERMS];
	size_t nr_terms;
	size_t terms_at;
	struct spec_piece modifiers;
};

/**
 * struct spec_bundle - the text between two commas: one event, or a group of them
 * @events, @nr: at least one; owned
 * @group: they are in braces
 * @at: where it starts
 * @modifiers: of the group
 */
struct spec_bundle {
	struct spec_event *events;
	size_t nr;
	size_t cap;
	bool group;
	size_t at;
	struct spec_piece modifiers;
};

/** struct spec_reader - the text and the position in it */
struct spec_reader {
	const char *text;
	size_t at;
	bool more; /* a comma was read: something has to follow */
	struct diag *d;
};

/**
 * spec_next() - the next event or group
 * @r: start with at = 0, more = true
 * @ret: release with spec_bundle_free()
 *
 * Return: 1, 0 at the end, -EINVAL for text that is no specification (a caret in @r->d shows
 * where), -ENOMEM.
 */
int spec_next(struct spec_reader *r, struct spec_bundle *ret);

/** spec_bundle_free() - NULL is fine */
void spec_bundle_free(struct spec_bundle *b);

/**
 * spec_fail() - record a problem with a text and show where it is
 * @text: the user's text
 * @at: position of the error, at most its length
 * @d: gets three lines: the message, the text (a part of it when it is long, with dots where
 *	it was cut), and a caret below the place; NULL is fine
 * @err: negative errno, returned
 * @fmt: the message; cut to fit
 */
int spec_fail(const char *text, size_t at, struct diag *d, int err, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/**
 * spec_copy() - a piece as a string
 * @text: the whole text
 * @piece: which part
 * @ret: the part; "" when it does not fit, as all known names do
 * @size: size of @ret
 *
 * Return: false when it does not fit.
 */
bool spec_copy(const char *text, struct spec_piece piece, char *ret, size_t size);

#endif
