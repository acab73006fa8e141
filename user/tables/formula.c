// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Formulas are read by recursive descent and kept in postfix order, so that computing
 * one is a loop over a small stack without recursion.
 */
#include "tables/formula.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"

#define MAX_TEXT    512
#define MAX_NESTING 32
#define MAX_NUMBER  32
/* Each level waits with at most a sum and a product, the innermost one has one more value. */
#define MAX_STACK   (2 * (MAX_NESTING + 1) + 1)

enum step_kind {
	STEP_NUMBER,
	STEP_NAME,
	STEP_ADD,
	STEP_SUBTRACT,
	STEP_MULTIPLY,
	STEP_DIVIDE,
};

struct step {
	enum step_kind kind;
	double number;
	size_t name;
};

struct formula {
	struct step *steps;
	size_t nr_steps;
	size_t cap_steps;
	char **names;
	size_t nr_names;
	size_t cap_names;
};

struct parser {
	const char *text;
	const char *at;
	struct formula *f;
	struct diag *d;
	unsigned int nesting;
};

void formula_free(struct formula *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->nr_names; i++)
		free(f->names[i]);
	free(f->names);
	free(f->steps);
	free(f);
}

static void skip_blanks(struct parser *p)
{
	while (*p->at == ' ')
		p->at++;
}

/* An unexpected token at the parser's position. */
static int unexpected(struct parser *p, const char *expected)
{
	size_t position = (size_t)(p->at - p->text) + 1;
	unsigned char c = (unsigned char)*p->at;

	if (!c)
		diag_fail(p->d, -EINVAL, "formula \"%.200s\" ends where %s should be", p->text,
			  expected);
	else if (isgraph(c))
		diag_fail(p->d, -EINVAL,
			  "formula \"%.200s\": \"%c\" at position %zu, where %s "
			  "should be",
			  p->text, c, position, expected);
	else
		diag_fail(p->d, -EINVAL, "formula: byte 0x%02x at position %zu, where %s should be",
			  c, position, expected);
	return diag_advise(p->d, -EINVAL, "formulas have names, numbers, + - * / and parentheses");
}

static int add_step(struct parser *p, struct step step)
{
	struct formula *f = p->f;
	int err = array_reserve(f->steps, f->cap_steps, f->nr_steps);

	if (!err)
		f->steps[f->nr_steps++] = step;
	return err;
}

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '<' || c == '>' || c == '.';
}

static int add_name(struct parser *p, const char *at, size_t len)
{
	cleanup_free char *name = strndup(at, len);
	struct formula *f = p->f;
	size_t i;
	int err;

	if (!name)
		return -ENOMEM;
	for (i = 0; i < f->nr_names; i++) {
		if (!strcmp(f->names[i], name))
			break;
	}
	if (i == f->nr_names) {
		err = array_reserve(f->names, f->cap_names, f->nr_names);
		if (err)
			return err;
		f->names[f->nr_names++] = take_ptr(name);
	}
	return add_step(p, (struct step){ .kind = STEP_NAME, .name = i });
}

static int parse_name(struct parser *p)
{
	const char *at = p->at;

	while (in_name(*p->at))
		p->at++;
	return add_name(p, at, p->at - at);
}

static int parse_quoted(struct parser *p)
{
	const char *at = p->at + 1, *end = strchr(at, '\'');

	if (!end || end == at)
		return unexpected(p, end ? "a name in the quotes" : "a name with its second quote");
	p->at = end + 1;
	return add_name(p, at, end - at);
}

/* Length of a possible number; parse_double() decides whether it is one. */
static size_t number_len(const char *text)
{
	size_t len = 0;

	while (isdigit((unsigned char)text[len]) || text[len] == '.' || text[len] == 'e' ||
	       text[len] == 'E' ||
	       ((text[len] == '-' || text[len] == '+') && len &&
		(text[len - 1] == 'e' || text[len - 1] == 'E')))
		len++;
	return len;
}

static int parse_number(struct parser *p)
{
	struct step step = { .kind = STEP_NUMBER };
	size_t len = number_len(p->at);
	char word[MAX_NUMBER];
	int err;

	if (len >= sizeof(word))
		return unexpected(p, "a shorter number");
	memcpy(word, p->at, len);
	word[len] = '\0';
	err = parse_double(word, &step.number);
	if (err == -ENOMEM)
		return err;
	/* "2x" is no product */
	if (err || in_name(p->at[len]))
		return unexpected(p, "a number");
	p->at += len;
	return add_step(p, step);
}

static int parse_sum(struct parser *p);

static int parse_value(struct parser *p)
{
	int err;

	skip_blanks(p);
	if (isalpha((unsigned char)*p->at) || *p->at == '_')
		return parse_name(p);
	if (*p->at == '\'')
		return parse_quoted(p);
	if (isdigit((unsigned char)*p->at))
		return parse_number(p);
	if (*p->at != '(')
		return unexpected(p, "a name, a number or \"(\"");
	if (p->nesting == MAX_NESTING)
		return diag_fail(p->d, -E2BIG, "formula: more than %d parentheses in each other",
				 MAX_NESTING);
	p->nesting++;
	p->at++;
	err = parse_sum(p);
	if (err)
		return err;
	if (*p->at != ')')
		return unexpected(p, "\")\" or an operator");
	p->at++;
	p->nesting--;
	return 0;
}

static int parse_product(struct parser *p)
{
	int err = parse_value(p);

	while (!err) {
		struct step step = { .kind = STEP_MULTIPLY };

		skip_blanks(p);
		if (*p->at != '*' && *p->at != '/')
			return 0;
		if (*p->at++ == '/')
			step.kind = STEP_DIVIDE;
		err = parse_value(p);
		if (!err)
			err = add_step(p, step);
	}
	return err;
}

static int parse_sum(struct parser *p)
{
	int err = parse_product(p);

	while (!err) {
		struct step step = { .kind = STEP_ADD };

		if (*p->at != '+' && *p->at != '-')
			return 0;
		if (*p->at++ == '-')
			step.kind = STEP_SUBTRACT;
		err = parse_product(p);
		if (!err)
			err = add_step(p, step);
	}
	return err;
}

int formula_parse(const char *text, struct diag *d, struct formula **ret)
{
	struct parser p = { .text = text, .at = text, .d = d };
	int err;

	if (strnlen(text, MAX_TEXT + 1) > MAX_TEXT)
		return diag_fail(d, -E2BIG, "formula: more than %d characters", MAX_TEXT);
	p.f = calloc(1, sizeof(*p.f));
	if (!p.f)
		return diag_fail(d, -ENOMEM, "no memory for a formula");
	err = parse_sum(&p);
	if (!err && *p.at)
		err = unexpected(&p, "an operator");
	if (err == -ENOMEM)
		diag_fail(d, err, "no memory for a formula");
	if (err)
		formula_free(p.f);
	else
		*ret = p.f;
	return err;
}

size_t formula_nr_names(const struct formula *f)
{
	return f->nr_names;
}

const char *formula_name(const struct formula *f, size_t i)
{
	return f->names[i];
}

static double compute(enum step_kind kind, double left, double right)
{
	switch (kind) {
	case STEP_ADD:
		return left + right;
	case STEP_SUBTRACT:
		return left - right;
	case STEP_MULTIPLY:
		return left * right;
	default:
		return right == 0 ? NAN : left / right;
	}
}

bool formula_eval(const struct formula *f, const double *values, double *ret)
{
	double stack[MAX_STACK];
	size_t nr = 0;

	for (size_t i = 0; i < f->nr_steps; i++) {
		const struct step *step = &f->steps[i];

		if (step->kind == STEP_NUMBER) {
			stack[nr++] = step->number;
		} else if (step->kind == STEP_NAME) {
			stack[nr++] = values[step->name];
		} else {
			nr--;
			stack[nr - 1] = compute(step->kind, stack[nr - 1], stack[nr]);
		}
		/* Here and not only at the end: dividing by infinity would give zero. */
		if (!isfinite(stack[nr - 1]))
			return false;
	}
	*ret = stack[0];
	return true;
}
