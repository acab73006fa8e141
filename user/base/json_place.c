// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/json_place.h"

#include <string.h>

#define BLANKS " \t\r\n"

const char *json_place_value(const char *text)
{
	return text + strspn(text, BLANKS);
}

/* Behind a text, from its opening quote on. */
static const char *behind_text(const char *at)
{
	for (at++; *at && *at != '"'; at++)
		at += *at == '\\' && at[1];
	return *at ? at + 1 : at;
}

static const char *behind_value(const char *at)
{
	size_t depth = 0;

	if (*at != '{' && *at != '[' && *at != '"')
		return at + strcspn(at, ",]}" BLANKS);
	do {
		if (*at == '"') {
			at = behind_text(at);
			continue;
		}
		depth += *at == '{' || *at == '[';
		depth -= *at == '}' || *at == ']';
		at++;
	} while (depth && *at);
	return at;
}

/* The next of an object or array: behind the comma, NULL when there is none. */
static const char *next_of(const char *at)
{
	at = json_place_value(at);
	return *at == ',' ? json_place_value(at + 1) : NULL;
}

/* The value that belongs to a key. */
static const char *value_of(const char *key)
{
	key = json_place_value(behind_text(key));
	return *key == ':' ? json_place_value(key + 1) : key;
}

const char *json_place_key(const char *object, const char *key)
{
	const char *at = *object == '{' ? json_place_value(object + 1) : NULL;
	size_t length = strlen(key);

	for (; at && *at == '"'; at = next_of(behind_value(value_of(at))))
		if (!strncmp(at + 1, key, length) && at[1 + length] == '"')
			return at;
	return NULL;
}

const char *json_place_member(const char *object, const char *key)
{
	const char *at = json_place_key(object, key);

	return at ? value_of(at) : NULL;
}

const char *json_place_item(const char *array, size_t i)
{
	const char *at = *array == '[' ? json_place_value(array + 1) : NULL;

	for (; at && *at != ']'; at = next_of(behind_value(at)))
		if (!i--)
			return at;
	return NULL;
}

unsigned int json_place_line(const char *text, const char *place)
{
	unsigned int line = 1;

	for (; text < place; text++)
		line += *text == '\n';
	return line;
}
