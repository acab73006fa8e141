// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/hostlist.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define DIGITS	 "0123456789"
#define NAME	 "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._-" DIGITS
#define NAME_LEN 256
/* Digits of a number in brackets, which has 64 bits. */
#define WIDEST	 18

/* A list while it is expanded; @name: what is in front of @at so far */
struct expansion {
	const char *text;
	char name[NAME_LEN];
	struct text_list *ret;
	struct diag *d;
};

static int expand(struct expansion *e, const char *at, size_t length);

static int wrong(const struct expansion *e, const char *at)
{
	if (!e->text[0])
		return diag_fail(e->d, -EINVAL, "\"\" is no list of hosts: it is empty");
	return diag_fail(e->d, -EINVAL, "\"%.200s\" is no list of hosts: it has \"%.20s\" %s",
			 e->text, *at ? at : at - 1,
			 *at ? "where a name or a range must be" : "at its end");
}

static int add(struct expansion *e)
{
	if (e->ret->nr >= HOSTLIST_MOST)
		return diag_fail(e->d, -E2BIG, "\"%.200s\" has more than %d hosts", e->text,
				 HOSTLIST_MOST);
	return text_list_add(e->ret, e->name) ? diag_no_memory(e->d) : 0;
}

/* A number without a sign in front of @at, which moves behind it; its digits, 0 for none. */
static size_t take_digits(const char **at, uint64_t *ret)
{
	size_t width = strspn(*at, DIGITS);

	if (!width || width > WIDEST)
		return 0;
	*ret = strtoull(*at, NULL, 10);
	*at += width;
	return width;
}

/* A range, or a single number, of a bracket that ends in front of @behind. */
static int expand_range(struct expansion *e, const char **at, const char *behind, size_t length)
{
	uint64_t first, last;
	size_t width = take_digits(at, &first);
	int err = 0;

	last = first;
	if (!width || (**at == '-' && (++*at, !take_digits(at, &last))) || last < first)
		return wrong(e, *at);
	if (last - first >= HOSTLIST_MOST)
		return diag_fail(e->d, -E2BIG, "\"%.200s\" has more than %d hosts", e->text,
				 HOSTLIST_MOST);
	for (uint64_t i = first; i <= last && !err; i++) {
		int digits =
			snprintf(e->name + length, NAME_LEN - length, "%0*" PRIu64, (int)width, i);

		err = expand(e, behind, length + (size_t)digits);
	}
	return err;
}

static int expand_bracket(struct expansion *e, const char *at, size_t length)
{
	const char *end = strchr(at, ']');
	int err;

	if (!end)
		return wrong(e, at + strlen(at));
	do {
		at++;
		err = expand_range(e, &at, end + 1, length);
	} while (!err && *at == ',');
	return err ? err : at != end ? wrong(e, at) : 0;
}

/* The rest of a name, from @at on; @length of it are there. */
static int expand(struct expansion *e, const char *at, size_t length)
{
	size_t part = strspn(at, NAME);

	if (length + part >= NAME_LEN)
		return wrong(e, at);
	memcpy(e->name + length, at, part);
	length += part;
	e->name[length] = '\0';
	at += part;
	if (*at == '[')
		return expand_bracket(e, at, length);
	if (*at && *at != ',')
		return wrong(e, at);
	return length ? add(e) : wrong(e, at);
}

/* Behind a name and its brackets. */
static const char *name_end(const char *at)
{
	while (*at && *at != ',') {
		const char *end = *at == '[' ? strchr(at, ']') : NULL;

		at = end ? end + 1 : at + 1;
	}
	return at;
}

int hostlist_expand(const char *text, struct text_list *ret, struct diag *d)
{
	struct expansion e = { .text = text, .ret = ret, .d = d };
	const char *at = text;
	int err = expand(&e, at, 0);

	for (at = name_end(at); !err && *at; at = name_end(at))
		err = expand(&e, ++at, 0);
	return err;
}

int hostlist_compare(const char *a, const char *b)
{
	return strverscmp(a, b);
}

/* --- folding */

/* A name, divided at its last number. @width: 0 for none */
struct divided {
	size_t front;
	size_t width;
	uint64_t number;
};

static struct divided divide(const char *name)
{
	struct divided v = { .front = strlen(name) };
	const char *at;

	while (v.front && !strchr(DIGITS, name[v.front - 1]))
		v.front--;
	while (v.front && strchr(DIGITS, name[v.front - 1]) && v.width < WIDEST) {
		v.front--;
		v.width++;
	}
	at = name + v.front;
	if (v.width)
		take_digits(&at, &v.number);
	return v;
}

/* Are both the same but for their number? */
static bool alike(const char *a, const struct divided *x, const char *b, const struct divided *y)
{
	bool zeros = (x->width > 1 && a[x->front] == '0') || (y->width > 1 && b[y->front] == '0');

	return x->width && y->width && x->front == y->front && !memcmp(a, b, x->front) &&
	       !strcmp(a + x->front + x->width, b + y->front + y->width) &&
	       (x->width == y->width || !zeros);
}

/* The names from @i on that differ in their number only: "n[1-3,5]"; how many these are. */
static size_t fold_some(const char *const *names, size_t nr, size_t i, char *ret, size_t size)
{
	const struct divided first = divide(names[i]);
	struct divided run = first, last = first;
	size_t k = i + 1;

	if (!first.width || k == nr ||
	    (run = divide(names[k]), !alike(names[i], &first, names[k], &run))) {
		snprintf(ret, size, "%s", names[i]);
		return 1;
	}
	snprintf(ret, size, "%.*s[%.*s", (int)first.front, names[i], (int)first.width,
		 names[i] + first.front);
	for (run = first; k < nr; k++) {
		struct divided next = divide(names[k]);

		/* Room for two numbers and the end: the rest is a list of its own. */
		if (!alike(names[i], &first, names[k], &next) || next.number <= last.number ||
		    strlen(ret) + 2 * (WIDEST + 1) + NAME_LEN > size)
			break;
		if (next.number != last.number + 1) {
			if (last.number > run.number)
				str_append(ret, size, "-%0*" PRIu64, (int)first.width, last.number);
			str_append(ret, size, ",%0*" PRIu64, (int)first.width, next.number);
			run = next;
		}
		last = next;
	}
	if (last.number > run.number)
		str_append(ret, size, "-%0*" PRIu64, (int)first.width, last.number);
	str_append(ret, size, "]%s", names[i] + first.front + first.width);
	return k - i;
}

char *hostlist_fold(const char *const *names, size_t nr, size_t size)
{
	static const size_t more = sizeof(" and 65536 more");
	char part[4 * NAME_LEN], *ret = malloc(size);
	size_t done = 0;

	if (!ret)
		return NULL;
	ret[0] = '\0';
	while (done < nr) {
		size_t taken = fold_some(names, nr, done, part, sizeof(part));
		size_t rest = done + taken < nr ? more : 1;

		if (strlen(ret) + strlen(part) + 1 + rest > size)
			break;
		str_append(ret, size, "%s%s", done ? "," : "", part);
		done += taken;
	}
	if (done < nr)
		str_append(ret, size, "%s%zu%s", done ? " and " : "", nr - done,
			   done ? " more" : " hosts");
	return ret;
}
