// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The numbers of the estimate as variables, for "make sensitivity". The environment says which one
 * is scaled: T410_SCALED=NAME:FACTOR, or "list" to have all of them printed. A count is rounded,
 * to 1 at least. No program that is installed has this file.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/filter/constants.h"

#define CONSTANT_OF(name, value, meaning) double name = value;
#define COUNT_OF(name, value, meaning)	  int name = value;
ESTIMATE_CONSTANTS(CONSTANT_OF)
ESTIMATE_COUNTS(COUNT_OF)

/* One of @number and @count; @text: the value as it is written. */
struct constant {
	const char *name;
	const char *text;
	const char *meaning;
	double *number;
	int *count;
};

#define CONSTANT_ROW(name, value, meaning) { #name, #value, meaning, &name, NULL },
#define COUNT_ROW(name, value, meaning)	   { #name, #value, meaning, NULL, &name },
static const struct constant constants[] = { ESTIMATE_CONSTANTS(CONSTANT_ROW)
						     ESTIMATE_COUNTS(COUNT_ROW) };

static void list(void)
{
	for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++)
		printf("%s\t%s\t%s\n", constants[i].name, constants[i].text, constants[i].meaning);
	exit(0);
}

static bool scale_one(const char *name, size_t length, double factor)
{
	for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++) {
		const struct constant *c = &constants[i];

		if (strlen(c->name) != length || strncmp(c->name, name, length) != 0)
			continue;
		if (c->number)
			*c->number *= factor;
		else
			*c->count = *c->count * factor < 1 ? 1 : (int)(*c->count * factor + 0.5);
		return true;
	}
	return false;
}

/* Before main(): the program itself knows nothing of this. */
__attribute__((constructor)) static void scale(void)
{
	const char *text = getenv("T410_SCALED"), *colon;
	double factor;
	char *end;

	if (!text)
		return;
	if (!strcmp(text, "list"))
		list();
	colon = strchr(text, ':');
	factor = colon ? strtod(colon + 1, &end) : 0;
	if (colon && factor > 0 && !*end && scale_one(text, colon - text, factor))
		return;
	fprintf(stderr, "T410_SCALED=%s: it must be NAME:FACTOR; \"list\" prints the names\n",
		text);
	exit(2);
}
