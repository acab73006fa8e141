// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/spelling.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

#define FAR UINT_MAX

static int folded(char c)
{
	return c == '-' ? '_' : tolower((unsigned char)c);
}

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Letters to insert, drop, change or exchange with the next one; case makes no difference. */
static unsigned int edits(const char *word, const char *name)
{
	unsigned int rows[3][SPELLING_NAME_LEN];
	size_t length = strlen(name), i, k;

	for (k = 0; k <= length; k++)
		rows[0][k] = (unsigned int)k;
	for (i = 1; word[i - 1]; i++) {
		const unsigned int *above = rows[(i - 1) % 3];
		unsigned int *row = rows[i % 3];
		int c = folded(word[i - 1]);

		row[0] = (unsigned int)i;
		for (k = 1; k <= length; k++) {
			row[k] = least(above[k - 1] + (c != folded(name[k - 1])),
				       least(above[k], row[k - 1]) + 1);
			if (i > 1 && k > 1 && c == folded(name[k - 2]) &&
			    folded(word[i - 2]) == folded(name[k - 1]))
				row[k] = least(row[k], rows[(i - 2) % 3][k - 2] + 1);
		}
	}
	return rows[(i - 1) % 3][length];
}

/* FAR when nobody would mistake one for the other. */
static unsigned int distance(const char *word, const char *name)
{
	size_t length = strlen(word);
	unsigned int near;

	if (length >= SPELLING_NAME_LEN || length < 2)
		return FAR;
	near = edits(word, name);
	if (near <= 1 + length / 4)
		return near;
	/* part of a name, as in "bytes_rd" */
	if (length > 2 && strcasestr(name, word))
		return near;
	return FAR;
}

void spelling_add(struct spelling *s, const char *name)
{
	struct spelling_name new = { .distance = FAR };
	size_t at;

	for (size_t i = 0; i < s->nr; i++)
		if (!strcmp(s->names[i].name, name))
			return;
	if (str_copy(new.name, sizeof(new.name), name) || array_reserve(s->names, s->cap, s->nr))
		return;
	new.distance = distance(s->word, name);
	for (at = s->nr++; at > 0 && s->names[at - 1].distance > new.distance; at--)
		s->names[at] = s->names[at - 1];
	s->names[at] = new;
}

void spelling_help(const struct spelling *s, const char *there, char *ret, size_t size)
{
	static const char more[] = ", ...";
	size_t room = size - sizeof(more);
	char text[2 * SPELLING_NAME_LEN];

	ret[0] = '\0';
	if (s->nr && s->names[0].distance != FAR)
		str_append(ret, room, "did you mean \"%s\"? ", s->names[0].name);
	str_append(ret, room, "%s ", there);
	if (!s->nr)
		str_append(ret, size, "nothing");
	for (size_t i = 0; i < s->nr; i++) {
		text[0] = '\0';
		str_append(text, sizeof(text), "%s%s", i ? ", " : "", s->names[i].name);
		if (strlen(ret) + strlen(text) >= room) {
			str_append(ret, size, "%s", more);
			break;
		}
		str_append(ret, size, "%s", text);
	}
}

int spelling_advise(struct spelling *s, const char *there, struct diag *d, int err)
{
	if (d)
		spelling_help(s, there, d->help, sizeof(d->help));
	spelling_free(s);
	return err;
}

void spelling_free(struct spelling *s)
{
	if (!s)
		return;
	free(s->names);
	s->names = NULL;
	s->nr = s->cap = 0;
}
