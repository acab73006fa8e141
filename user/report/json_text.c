// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/json_text.h"

#include <string.h>

#include "base/bytes.h"

/* Characters of a real number at most */
#define MOST_OF_REAL 64
/* Digits of a 64-bit number, and its sign */
#define MOST_DIGITS  20

struct text {
	struct bytes bytes;
	size_t digits;
};

static void add(struct text *t, const char *s, size_t nr)
{
	bytes_put_raw(&t->bytes, s, nr);
}

static void add_char(struct text *t, char c)
{
	add(t, &c, 1);
}

/* A character that cannot be in a string as it is. */
static void add_escaped(struct text *t, unsigned char c)
{
	static const char hex[] = "0123456789ABCDEF";
	static const char names[][2] = { { '"', '"' },	{ '\\', '\\' }, { '\b', 'b' },
					 { '\f', 'f' }, { '\n', 'n' },	{ '\r', 'r' },
					 { '\t', 't' } };
	const char by_number[] = { '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15] };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (c == (unsigned char)names[i][0]) {
			add_char(t, '\\');
			add_char(t, names[i][1]);
			return;
		}
	add(t, by_number, sizeof(by_number));
}

static void add_string(struct text *t, const char *s, size_t nr)
{
	size_t from = 0;

	add_char(t, '"');
	for (size_t i = 0; i < nr; i++) {
		unsigned char c = s[i];

		if (c >= ' ' && c != '"' && c != '\\')
			continue;
		add(t, s + from, i - from);
		add_escaped(t, c);
		from = i + 1;
	}
	add(t, s + from, nr - from);
	add_char(t, '"');
}

static void add_integer(struct text *t, json_int_t value)
{
	unsigned long long left =
		value < 0 ? 0 - (unsigned long long)value : (unsigned long long)value;
	char digits[MOST_DIGITS];
	size_t at = sizeof(digits);

	do {
		digits[--at] = '0' + left % 10;
		left /= 10;
	} while (left);
	if (value < 0)
		digits[--at] = '-';
	add(t, digits + at, sizeof(digits) - at);
}

/* The library knows how many digits tell a number from its neighbours. */
static void add_real(struct text *t, const json_t *value)
{
	struct bytes *b = &t->bytes;

	if (bytes_reserve(b, MOST_OF_REAL))
		b->nr += json_dumpb(value, (char *)b->data + b->nr, MOST_OF_REAL,
				    JSON_ENCODE_ANY | JSON_REAL_PRECISION(t->digits));
}

static void add_value(struct text *t, const json_t *value);

static void add_array(struct text *t, const json_t *array)
{
	add_char(t, '[');
	for (size_t i = 0; i < json_array_size(array); i++) {
		if (i)
			add_char(t, ',');
		add_value(t, json_array_get(array, i));
	}
	add_char(t, ']');
}

static void add_object(struct text *t, const json_t *object)
{
	/* It is not changed; older versions of the library want it writable. */
	json_t *o = (json_t *)object;
	void *first = json_object_iter(o);

	add_char(t, '{');
	for (void *i = first; i; i = json_object_iter_next(o, i)) {
		const char *key = json_object_iter_key(i);

		if (i != first)
			add_char(t, ',');
		add_string(t, key, strlen(key));
		add_char(t, ':');
		add_value(t, json_object_iter_value(i));
	}
	add_char(t, '}');
}

static void add_value(struct text *t, const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		add_object(t, value);
		break;
	case JSON_ARRAY:
		add_array(t, value);
		break;
	case JSON_STRING:
		add_string(t, json_string_value(value), json_string_length(value));
		break;
	case JSON_INTEGER:
		add_integer(t, json_integer_value(value));
		break;
	case JSON_REAL:
		add_real(t, value);
		break;
	case JSON_TRUE:
		add(t, "true", 4);
		break;
	case JSON_FALSE:
		add(t, "false", 5);
		break;
	case JSON_NULL:
		add(t, "null", 4);
		break;
	}
}

int json_text(const json_t *value, size_t digits, char **ret, size_t *ret_length)
{
	struct text t = { .digits = digits };

	add_value(&t, value);
	add(&t, "\n", 2);
	if (t.bytes.err) {
		free(t.bytes.data);
		return -ENOMEM;
	}
	*ret = (char *)t.bytes.data;
	*ret_length = t.bytes.nr - 1;
	return 0;
}
