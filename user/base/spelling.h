/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Suggestions for a name that is not known. */
#ifndef BASE_SPELLING_H
#define BASE_SPELLING_H

#include <stddef.h>

#include "base/diag.h"

#define SPELLING_NAME_LEN 64

/**
 * struct spelling - an unknown word and the known ones
 * @word: as it was written
 * @names, @nr: the known ones, those that look like @word first, the others in the order
 *	in which they came
 */
struct spelling {
	const char *word;
	struct spelling_name {
		char name[SPELLING_NAME_LEN];
		unsigned int distance;
	} * names;
	size_t nr;
	size_t cap;
};

/**
 * spelling_add() - add a known name
 * @s: start with everything but the word zero
 * @name: one that is there already, or is too long, is left out
 *
 * Without memory for it the name is left out as well: it is only about help.
 */
void spelling_add(struct spelling *s, const char *name);

/**
 * spelling_help() - "did you mean ...?" when something looks alike, and what there is
 * @s: the names
 * @there: what comes before them, "nvidia_ucf_pmu_0 has"
 * @ret: the text; ends with dots when there are more than fit
 * @size: size of @ret
 */
void spelling_help(const struct spelling *s, const char *there, char *ret, size_t size);

/**
 * spelling_advise() - spelling_help() as the remedy of a problem, and release the names
 * @s, @there: as above
 * @d: has the problem; NULL drops the text
 * @err: returned
 */
int spelling_advise(struct spelling *s, const char *there, struct diag *d, int err);

/** spelling_free() - NULL is fine */
void spelling_free(struct spelling *s);

#endif
