// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/spec/spec_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define EXCERPT	   72
#define DOTS	   "..."
#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
#define BLANKS	   " \t\n"

/* Only plain characters go to the terminal, one for each byte so that columns fit. */
static void plain(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

/* Copy the visible part of @text around @at to @line; return the column of @at in it. */
static size_t excerpt(const char *text, size_t at, char line[EXCERPT + 1])
{
	size_t length = strlen(text), start = 0, shown = length;

	if (length > EXCERPT) {
		start = at > EXCERPT / 2 ? at - EXCERPT / 2 : 0;
		if (start > length - EXCERPT)
			start = length - EXCERPT;
		shown = EXCERPT;
	}
	memcpy(line, text + start, shown);
	line[shown] = '\0';
	plain(line);
	if (start)
		memcpy(line, DOTS, strlen(DOTS));
	if (start + shown < length)
		memcpy(line + shown - strlen(DOTS), DOTS, strlen(DOTS));
	return at - start;
}

int spec_fail(const char *text, size_t at, struct diag *d, int err, const char *fmt, ...)
{
	char line[EXCERPT + 1], message[sizeof(d->what) - 2 * EXCERPT - 16];
	size_t column;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	plain(message);
	column = excerpt(text, at, line);
	return diag_fail(d, err, "%s\n  %s\n  %*s^", message, line, (int)column, "");
}

bool spec_copy(const char *text, struct spec_piece piece, char *ret, size_t size)
{
	bool fits = piece.length < size;
	size_t length = fits ? piece.length : 0;

	memcpy(ret, text + piece.at, length);
	ret[length] = '\0';
	return fits;
}

static int fail(struct spec_reader *r, const char *message)
{
	return spec_fail(r->text, r->at, r->d, -EINVAL, "%s", message);
}

static char here(const struct spec_reader *r)
{
	return r->text[r->at];
}

static void skip_blanks(struct spec_reader *r)
{
	r->at += strspn(r->text + r->at, BLANKS);
}

static struct spec_piece take(struct spec_reader *r, const char *accepted)
{
	struct spec_piece piece = { r->at, strspn(r->text + r->at, accepted) };

	r->at += piece.length;
	return piece;
}

/* Is this the end of an event? Blanks are skipped. */
static bool at_end(struct spec_reader *r)
{
	skip_blanks(r);
	return !here(r) || here(r) == ',' || here(r) == '}';
}

static int take_term(struct spec_reader *r, struct spec_event *event)
{
	struct spec_term term = { 0 };

	skip_blanks(r);
	term.name = take(r, NAME_CHARS);
	if (!term.name.length && !here(r))
		return fail(r, "the second / is missing");
	if (!term.name.length)
		return fail(r, here(r) == ',' || here(r) == '/' || here(r) == '='
				       ? "the name of an event or filter is missing"
				       : "this cannot be in the name of an event or filter");
	skip_blanks(r);
	if (here(r) == '=') {
		r->at++;
		skip_blanks(r);
		term.has_value = true;
		term.value = take(r, NAME_CHARS);
		if (!term.value.length)
			return fail(r, "a number is expected here");
		skip_blanks(r);
	}
	if (!here(r))
		return fail(r, "the second / is missing");
	if (here(r) != ',' && here(r) != '/')
		return fail(r, "a comma or / is expected here");
	if (event->nr_terms == SPEC_MAX_TERMS) {
		r->at = term.name.at;
		return fail(r, "too many terms in one event");
	}
	event->terms[event->nr_terms++] = term;
	return 0;
}

/* Terms from behind the first slash to behind the second one. */
static int take_terms(struct spec_reader *r, struct spec_event *event)
{
	int err = 0;

	event->slashes = true;
	event->terms_at = ++r->at;
	skip_blanks(r);
	if (here(r) == '/') {
		r->at++;
		return 0;
	}
	do {
		err = take_term(r, event);
	} while (!err && r->text[r->at++] == ',');
	return err;
}

/* Letters behind ":", or directly behind the slash where that is unambiguous. */
static int take_modifiers(struct spec_reader *r, bool colon, struct spec_piece *ret)
{
	if (here(r) == ':') {
		r->at++;
		colon = false;
	} else if (colon || at_end(r)) {
		return 0;
	}
	*ret = take(r, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
	return ret->length ? 0 : fail(r, "a modifier, which is a letter, is expected here");
}

static int take_event(struct spec_reader *r, struct spec_event *ret)
{
	struct spec_event event = { 0 };
	int err = 0;

	skip_blanks(r);
	event.name = take(r, NAME_CHARS "*?");
	if (!event.name.length) {
		if (here(r) == '{')
			return fail(r, "a group cannot be inside another one");
		if (here(r) == '/')
			return fail(r, "the name of a PMU is missing");
		if (here(r) == '}')
			return fail(r, "an event is expected here, not }");
		return fail(r, at_end(r) ? "an event is expected here"
					 : "this cannot be in the name of an event or PMU");
	}
	if (here(r) == '/')
		err = take_terms(r, &event);
	if (!err)
		err = take_modifiers(r, !event.slashes, &event.modifiers);
	if (err)
		return err;
	if (!at_end(r))
		return fail(r, here(r) == '=' ? "a filter is written between slashes, behind its "
						"PMU and event"
					      : "a comma is expected here");
	*ret = event;
	return 0;
}

static int add_event(struct spec_reader *r, struct spec_bundle *b)
{
	int err = array_reserve(b->events, b->cap, b->nr);

	if (err)
		return diag_error(r->d, err, "cannot take the event");
	err = take_event(r, &b->events[b->nr]);
	if (!err)
		b->nr++;
	return err;
}

static int take_group(struct spec_reader *r, struct spec_bundle *b)
{
	int err;

	b->group = true;
	do {
		r->at++;
		err = add_event(r, b);
		if (err)
			return err;
	} while (here(r) == ',');
	if (here(r) != '}')
		return fail(r, "the closing } of the group is missing");
	r->at++;
	err = take_modifiers(r, true, &b->modifiers);
	if (!err && (!at_end(r) || here(r) == '}'))
		err = fail(r, here(r) == '}' ? "there is no { for this }"
					     : "a comma is expected here");
	return err;
}

int spec_next(struct spec_reader *r, struct spec_bundle *ret)
{
	struct spec_bundle b = { 0 };
	int err;

	if (!r->more)
		return 0;
	skip_blanks(r);
	b.at = r->at;
	if (here(r) == '{') {
		err = take_group(r, &b);
	} else {
		err = add_event(r, &b);
		if (!err && here(r) == '}')
			err = fail(r, "there is no { for this }");
	}
	if (err) {
		spec_bundle_free(&b);
		return err;
	}
	r->more = here(r) == ',';
	r->at += r->more;
	*ret = b;
	return 1;
}

void spec_bundle_free(struct spec_bundle *b)
{
	if (!b)
		return;
	free(b->events);
	*b = (struct spec_bundle){ 0 };
}
