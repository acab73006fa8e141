// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The two text formats: writing of families and samples, and negotiation with a client. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/digits.h"
#include "report/openmetrics/internal.h"

static const char *suffix(enum metric_type t)
{
	return t == METRIC_COUNTER ? "_total" : t == METRIC_INFO ? "_info" : "";
}

void expose_family(struct exposer *x, const char *name, enum metric_type type, const char *unit,
		   const char *help)
{
	static const char *const types[] = { "counter", "gauge", "info" };

	x->family = name;
	x->type = type;
	if (x->format == EXPOSITION_OPENMETRICS) {
		fprintf(x->out, "# TYPE %s %s\n", name, types[type]);
		if (unit)
			fprintf(x->out, "# UNIT %s %s\n", name, unit);
		fprintf(x->out, "# HELP %s %s\n", name, help);
		return;
	}
	/* the older format has the suffix in the name, and no type "info" */
	fprintf(x->out, "# HELP %s%s %s\n", name, suffix(type), help);
	fprintf(x->out, "# TYPE %s%s %s\n", name, suffix(type),
		types[type == METRIC_INFO ? METRIC_GAUGE : type]);
}

static void expose_labels(FILE *out, const struct label *l)
{
	char between = '{';

	for (; l->name; l++) {
		if (!l->value || !l->value[0])
			continue;
		fprintf(out, "%c%s=\"", between, l->name);
		between = ',';
		for (const char *c = l->value; *c; c++) {
			if (*c == '\\' || *c == '"')
				fputc('\\', out);
			if (*c == '\n')
				fputs("\\n", out);
			else
				fputc(*c, out);
		}
		fputc('"', out);
	}
	if (between == ',')
		fputc('}', out);
}

void expose_number(struct exposer *x, const struct label *labels, sum128 value)
{
	char digits[DIGITS_MAX_128 + 1];

	put_digits_128(digits, value);
	fprintf(x->out, "%s%s", x->family, suffix(x->type));
	expose_labels(x->out, labels);
	fprintf(x->out, " %s\n", digits);
}

static void expose_time(struct exposer *x, const char *end, const struct label *labels, sum128 ns)
{
	char digits[DIGITS_MAX_128 + 1];

	put_digits_128(digits, ns / NS_PER_S);
	fprintf(x->out, "%s%s", x->family, end);
	expose_labels(x->out, labels);
	fprintf(x->out, " %s.%09u\n", digits, (unsigned int)(ns % NS_PER_S));
}

void expose_seconds(struct exposer *x, const struct label *labels, uint64_t ns)
{
	expose_time(x, suffix(x->type), labels, ns);
}

void expose_fact(struct exposer *x, const struct label *labels, enum fact_unit unit, sum128 value)
{
	if (unit == FACT_NS || unit == FACT_NANOJOULES)
		expose_time(x, suffix(x->type), labels, value);
	else
		expose_number(x, labels, value);
}

void expose_ratio(struct exposer *x, const struct label *labels, double value)
{
	/* larger values are errors, but still numbers */
	expose_time(x, suffix(x->type), labels,
		    value < 1e9 ? (uint64_t)(value * NS_PER_S) : 1000000000ull * NS_PER_S);
}

void expose_created(struct exposer *x, const struct label *labels, uint64_t ns)
{
	if (x->format == EXPOSITION_OPENMETRICS)
		expose_time(x, "_created", labels, ns);
}

const char *openmetrics_type(enum exposition e)
{
	return e == EXPOSITION_OPENMETRICS
		       ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
		       : "text/plain; version=0.0.4; charset=utf-8";
}

/* A weight "q=0.5" among the parameters of an entry, in thousandths. */
static int weight(const char *p, size_t length)
{
	int thousandths = 0, unit = 1000;

	for (; length > 2; p++, length--)
		if (p[0] == ';' || p[0] == ' ')
			if (tolower((unsigned char)p[1]) == 'q' && p[2] == '=')
				break;
	if (length <= 2)
		return 1000;
	for (p += 3, length -= 3; length && unit; p++, length--) {
		if (*p == '.')
			continue;
		if (!isdigit((unsigned char)*p))
			break;
		thousandths += (*p - '0') * unit;
		unit /= 10;
	}
	return thousandths > 1000 ? 1000 : thousandths;
}

static bool names(const char *entry, size_t length, const char *type)
{
	size_t n = strlen(type);

	return length >= n && !strncasecmp(entry, type, n) &&
	       (length == n || entry[n] == ';' || entry[n] == ' ');
}

/* Version 1.0.0, or none given. */
static bool right_version(const char *entry, size_t length)
{
	static const char key[] = "version=";

	for (size_t n = sizeof(key) - 1; length >= n; entry++, length--)
		if (!strncasecmp(entry, key, n))
			return length >= n + 5 && !strncmp(entry + n, "1.0.0", 5);
	return true;
}

enum exposition openmetrics_negotiate(const char *accept)
{
	int open = 0, text = 0, q;
	size_t length;

	for (; *accept; accept += length) {
		accept += strspn(accept, ", \t");
		length = strcspn(accept, ",");
		q = weight(accept, length);
		if (names(accept, length, "application/openmetrics-text")) {
			if (right_version(accept, length) && q > open)
				open = q;
		} else if (names(accept, length, "text/plain") && q > text) {
			text = q;
		}
	}
	return open && open >= text ? EXPOSITION_OPENMETRICS : EXPOSITION_TEXT;
}
