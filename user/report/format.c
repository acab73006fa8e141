// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "report/format.h"

#define NSEC_PER_SEC 1000000000ULL

/* format_cut() replaces the lost part by this; one column. */
#define ELLIPSIS     "\xe2\x80\xa6"
#define AT_MOST	     "\xe2\x89\xa4"

struct range {
	uint32_t first;
	uint32_t last;
};

/* Characters two columns wide: East Asian scripts and emoji. */
static const struct range wide[] = {
	{ 0x1100, 0x115f },   { 0x231a, 0x231b },   { 0x2329, 0x232a },	  { 0x23e9, 0x23ec },
	{ 0x23f0, 0x23f0 },   { 0x23f3, 0x23f3 },   { 0x25fd, 0x25fe },	  { 0x2614, 0x2615 },
	{ 0x2630, 0x2637 },   { 0x2648, 0x2653 },   { 0x267f, 0x267f },	  { 0x268a, 0x268f },
	{ 0x2693, 0x2693 },   { 0x26a1, 0x26a1 },   { 0x26aa, 0x26ab },	  { 0x26bd, 0x26be },
	{ 0x26c4, 0x26c5 },   { 0x26ce, 0x26ce },   { 0x26d4, 0x26d4 },	  { 0x26ea, 0x26ea },
	{ 0x26f2, 0x26f5 },   { 0x26fa, 0x26fd },   { 0x2705, 0x2705 },	  { 0x270a, 0x270b },
	{ 0x2728, 0x2728 },   { 0x274c, 0x274e },   { 0x2753, 0x2757 },	  { 0x2795, 0x2797 },
	{ 0x27b0, 0x27b0 },   { 0x27bf, 0x27bf },   { 0x2b1b, 0x2b1c },	  { 0x2b50, 0x2b55 },
	{ 0x2e80, 0x303e },   { 0x3041, 0xa4cf },   { 0xa960, 0xa97c },	  { 0xac00, 0xd7a3 },
	{ 0xf900, 0xfaff },   { 0xfe10, 0xfe1f },   { 0xfe30, 0xfe6f },	  { 0xff01, 0xff60 },
	{ 0xffe0, 0xffe6 },   { 0x16fe0, 0x18dff }, { 0x1aff0, 0x1b2ff }, { 0x1d300, 0x1d376 },
	{ 0x1f004, 0x1f004 }, { 0x1f0cf, 0x1f0cf }, { 0x1f18e, 0x1f19a }, { 0x1f200, 0x1f6ff },
	{ 0x1f7e0, 0x1f7f0 }, { 0x1f900, 0x1f9ff }, { 0x1fa70, 0x1faff }, { 0x20000, 0x3fffd },
};

/*
 * Characters drawn over the one before. For scripts with combining marks the width is rather too
 * large than too small: a line may come out short, but never breaks.
 */
static const struct range combining[] = {
	{ 0x0300, 0x036f }, { 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff },
	{ 0x20d0, 0x20ff }, { 0xfe20, 0xfe2f },
};

static bool in_ranges(uint32_t c, const struct range *ranges, size_t nr)
{
	size_t low = 0, high = nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (c > ranges[mid].last)
			low = mid + 1;
		else if (c < ranges[mid].first)
			high = mid;
		else
			return true;
	}
	return false;
}

size_t format_char_width(uint32_t c)
{
	if (in_ranges(c, combining, ARRAY_SIZE(combining)))
		return 0;
	return in_ranges(c, wide, ARRAY_SIZE(wide)) ? 2 : 1;
}

void format_decimals(double v, int decimals, char ret_text[FORMAT_NUMBER_LEN])
{
	double least = pow(10, -decimals);

	if (v > 0 && v < least) {
		snprintf(ret_text, FORMAT_NUMBER_LEN, "<%.*f", decimals, least);
		return;
	}
	for (; decimals >= 0; decimals--) {
		int n = snprintf(ret_text, FORMAT_NUMBER_LEN, "%.*f", decimals, v);

		if (n <= FORMAT_NUMBER_WIDTH)
			return;
	}
	snprintf(ret_text, FORMAT_NUMBER_LEN, "%.1e", v);
}

static void fit_number(double v, char ret_text[FORMAT_NUMBER_LEN])
{
	format_decimals(v, 3, ret_text);
}

/* Each is a thousand of the one before. */
#define NR_UNITS_OF 9
static const char *const byte_units[NR_UNITS_OF] = { "B",  "kB", "MB", "GB", "TB",
						     "PB", "EB", "ZB", "YB" };
static const char *const joule_units[NR_UNITS_OF] = { "nJ", "uJ", "mJ", "J", "kJ",
						      "MJ", "GJ", "TJ", "PJ" };

static void put_unit(sum128 value, const char *const *units, char ret_text[FORMAT_NUMBER_LEN])
{
	double v = (double)value / 1000;
	size_t i = 1;

	if (value < 1000) {
		snprintf(ret_text, FORMAT_NUMBER_LEN, "%u %s", (unsigned int)value, units[0]);
		return;
	}
	while (v >= 999.5 && i + 1 < NR_UNITS_OF) {
		v /= 1000;
		i++;
	}
	if (v >= 999.5) {
		snprintf(ret_text, FORMAT_NUMBER_LEN, ">999 %s", units[i]);
		return;
	}
	snprintf(ret_text, FORMAT_NUMBER_LEN, "%.*f %s",
		 v < 9.995   ? 2
		 : v < 99.95 ? 1
			     : 0,
		 v, units[i]);
}

void format_bytes(sum128 bytes, char ret_text[FORMAT_NUMBER_LEN])
{
	put_unit(bytes, byte_units, ret_text);
}

void format_joules(sum128 nanojoules, char ret_text[FORMAT_NUMBER_LEN])
{
	put_unit(nanojoules, joule_units, ret_text);
}

void format_ratio(sum128 part, sum128 whole, char ret_text[FORMAT_NUMBER_LEN])
{
	if (!whole)
		strcpy(ret_text, "-");
	else
		fit_number((double)part / (double)whole, ret_text);
}

void format_rate(sum128 bytes, sum128 ns, char ret_text[FORMAT_NUMBER_LEN])
{
	/* Bytes per nanosecond are 10^9 bytes per second. */
	format_ratio(bytes, ns, ret_text);
}

void format_seconds(uint64_t ns, char ret_text[FORMAT_NUMBER_LEN])
{
	format_ratio(ns, NSEC_PER_SEC, ret_text);
}

void format_duration(sum128 ns, char ret_text[FORMAT_NUMBER_LEN])
{
	uint64_t s = sum128_cut(ns / NSEC_PER_SEC, UINT64_MAX), hours = s / 3600;
	int len = 0;

	if (s < 60) {
		format_seconds((uint64_t)ns, ret_text);
		strcat(ret_text, " s");
		return;
	}
	if (hours >= 24)
		len = snprintf(ret_text, FORMAT_NUMBER_LEN, "%" PRIu64 "-", hours / 24);
	snprintf(ret_text + len, FORMAT_NUMBER_LEN - (size_t)len,
		 "%02" PRIu64 ":%02" PRIu64 ":%02" PRIu64, hours % 24, s / 60 % 60, s % 60);
}

void format_percent(sum128 part, sum128 whole, char ret_text[FORMAT_NUMBER_LEN])
{
	double p;

	if (!whole) {
		strcpy(ret_text, "-");
		return;
	}
	p = 100.0 * ((double)part / (double)whole);
	if (part == whole)
		strcpy(ret_text, "100%");
	else if (part && p < 0.1)
		strcpy(ret_text, "<0.1%");
	else if (part < whole && p >= 99.95)
		strcpy(ret_text, ">99.9%");
	else if (p < 9999.5)
		snprintf(ret_text, FORMAT_NUMBER_LEN, "%.1f%%", p);
	else
		snprintf(ret_text, FORMAT_NUMBER_LEN, "%.0e%%", p);
}

/*
 * An end of a range as a number of units, with at most @digits digits and fewer of them behind the
 * point. It is rounded outwards: nothing that is possible lies beyond it.
 */
static void put_end(sum128 value, sum128 unit, int digits, bool up, char text[FORMAT_NUMBER_LEN])
{
	unsigned int most = 9, scale = 1;
	int decimals = 0;
	sum128 n;

	while (--digits) {
		most = most * 10 + 9;
		/* There is nothing smaller than one byte. */
		if (unit > 1) {
			scale *= 10;
			decimals++;
		}
	}
	for (;; decimals--, scale /= 10) {
		n = value / unit * scale + (value % unit * scale + (up ? unit - 1 : 0)) / unit;
		if (n <= most || !decimals)
			break;
	}
	if (n > most)
		snprintf(text, FORMAT_NUMBER_LEN, ">%u", most);
	else if (!n)
		strcpy(text, "0");
	else
		snprintf(text, FORMAT_NUMBER_LEN, "%.*f", decimals, (double)n / scale);
}

/* Both ends in the same unit, with its name behind them. */
static void put_range(sum128 value, sum128 low, sum128 high, sum128 unit, int digits,
		      const char *name, char ret_text[FORMAT_NUMBER_LEN])
{
	char from[FORMAT_NUMBER_LEN], to[FORMAT_NUMBER_LEN];

	low = low < value ? low : value;
	high = high > value ? high : value;
	put_end(low, unit, digits, false, from);
	put_end(high, unit, digits, true, to);
	if (low == high)
		strcpy(ret_text, "exact");
	else if (!value)
		snprintf(ret_text, FORMAT_NUMBER_LEN, AT_MOST "%.8s%s", to, name);
	else
		snprintf(ret_text, FORMAT_NUMBER_LEN, "%.8s-%.8s%s", from, to, name);
}

/* In the unit that suits the upper end. */
static void put_unit_range(sum128 value, sum128 low, sum128 high, const char *const *units,
			   char ret_text[FORMAT_NUMBER_LEN])
{
	sum128 most = high > value ? high : value, unit = 1;
	char name[8];
	size_t i = 0;

	while (most / unit + (most % unit > 0) > 999 && i + 1 < NR_UNITS_OF) {
		unit *= 1000;
		i++;
	}
	snprintf(name, sizeof(name), " %s", units[i]);
	put_range(value, low, high, unit, 3, name, ret_text);
}

void format_range(sum128 value, sum128 low, sum128 high, char ret_text[FORMAT_NUMBER_LEN])
{
	put_unit_range(value, low, high, byte_units, ret_text);
}

void format_joules_range(sum128 value, sum128 low, sum128 high, char ret_text[FORMAT_NUMBER_LEN])
{
	put_unit_range(value, low, high, joule_units, ret_text);
}

void format_rate_range(sum128 value, sum128 low, sum128 high, sum128 ns,
		       char ret_text[FORMAT_NUMBER_LEN])
{
	if (ns)
		put_range(value, low, high, ns, 4, "", ret_text);
	else
		strcpy(ret_text, "-");
}

void format_time(uint64_t realtime_ns, char ret_text[FORMAT_TIME_LEN])
{
	time_t seconds = (time_t)(realtime_ns / NSEC_PER_SEC);
	unsigned int ms = (unsigned int)(realtime_ns % NSEC_PER_SEC / 1000000);
	struct tm tm;
	size_t n;

	gmtime_r(&seconds, &tm);
	n = strftime(ret_text, FORMAT_TIME_LEN, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(ret_text + n, FORMAT_TIME_LEN - n, ".%03uZ", ms);
}

void format_when(uint64_t realtime_ns, uint64_t start_ns, char ret_text[FORMAT_WHEN_LEN])
{
	if (realtime_ns)
		format_time(realtime_ns, ret_text);
	else
		snprintf(ret_text, FORMAT_WHEN_LEN, "at %.3f s of the trace",
			 (double)start_ns / NSEC_PER_SEC);
}

/* The longest replacement of one byte is "\xNN"; of a character, "\UNNNNNNNN". */
char *format_safe(char *to, const char *name, size_t max)
{
	size_t len = strnlen(name, max), i = 0;
	char *text = to;

	while (i < len) {
		uint32_t c;
		size_t n = utf8_decode(name + i, len - i, &c);

		if (!n) {
			to += sprintf(to, "\\x%02x", (unsigned char)name[i++]);
			continue;
		}
		if (!utf8_unsafe(c))
			to = mempcpy(to, name + i, n);
		else if (n == 1)
			to += sprintf(to, "\\x%02x", c);
		else
			to += sprintf(to, c > 0xffff ? "\\U%08x" : "\\u%04x", c);
		i += n;
	}
	*to = '\0';
	return text;
}

int format_terminal(const char *name, size_t max, char **ret_text)
{
	char *text = malloc(4 * strnlen(name, max) + 1);

	if (!text)
		return -ENOMEM;
	*ret_text = format_safe(text, name, max);
	return 0;
}

int format_utf8(const char *name, size_t max, char **ret_text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	size_t len = strnlen(name, max), i = 0;
	char *text = malloc(len * 3 + 1), *to = text;

	if (!text)
		return -ENOMEM;
	while (i < len) {
		uint32_t c;
		size_t n = utf8_decode(name + i, len - i, &c);

		if (n) {
			to = mempcpy(to, name + i, n);
			i += n;
		} else {
			to = mempcpy(to, replacement, sizeof(replacement) - 1);
			i++;
		}
	}
	*to = '\0';
	*ret_text = text;
	return 0;
}

/* Width of the first character of a text and, in @ret_len, its bytes. */
static size_t first_width(const char *text, size_t *ret_len)
{
	uint32_t c;
	size_t n;

	/* Fast path for nearly all characters */
	if ((unsigned char)*text < 0x80) {
		*ret_len = 1;
		return 1;
	}
	n = utf8_decode(text, strnlen(text, 4), &c);
	*ret_len = n ? n : 1;
	return n ? format_char_width(c) : 1;
}

size_t format_width(const char *text)
{
	size_t width = 0, n;

	while (*text) {
		width += first_width(text, &n);
		text += n;
	}
	return width;
}

/* A path reads better if it starts at a "/", if that costs no more than @cost columns. */
static const char *whole_component(const char *text, size_t cost)
{
	const char *slash = strchr(text, '/');
	size_t columns = 0, n;
	const char *c;

	for (c = text; slash && c < slash; c += n)
		columns += first_width(c, &n);
	return slash && slash[1] && columns <= cost ? slash : text;
}

int format_cut(const char *text, size_t width, enum format_cut_side side, char **ret_text)
{
	size_t total = format_width(text), kept = 0, n, w;
	const char *end = text;
	char *cut;

	if (total <= width) {
		cut = strdup(text);
	} else if (!width) {
		cut = strdup("");
	} else if (side == FORMAT_CUT_LEFT) {
		/* Combining marks go with their character. */
		while (*text && (total > width - 1 || !first_width(text, &n))) {
			total -= first_width(text, &n);
			text += n;
		}
		text = whole_component(text, width / 4);
		if (asprintf(&cut, ELLIPSIS "%s", text) < 0)
			cut = NULL;
	} else {
		while (*end) {
			w = first_width(end, &n);
			if (kept + w > width - 1)
				break;
			kept += w;
			end += n;
		}
		if (asprintf(&cut, "%.*s" ELLIPSIS, (int)(end - text), text) < 0)
			cut = NULL;
	}
	if (!cut)
		return -ENOMEM;
	*ret_text = cut;
	return 0;
}

void format_ns(double ns, char ret_text[FORMAT_NUMBER_LEN])
{
	int decimals = ns >= 99.95 ? 0 : ns >= 9.995 ? 1 : 2;

	snprintf(ret_text, FORMAT_NUMBER_LEN, ns < 9999999.5 ? "%.*f" : "%.*e",
		 ns < 9999999.5 ? decimals : 1, ns);
}

int format_text(int (*put)(FILE *out, void *arg), void *arg, char **ret_text, size_t *ret_len)
{
	cleanup_free char *text = NULL;
	FILE *f = open_memstream(&text, ret_len);
	int err;

	*ret_text = NULL;
	if (!f)
		return -ENOMEM;
	err = put(f, arg);
	/* The text is complete only once the stream is closed. */
	if (fclose(f) && !err)
		err = -ENOMEM;
	if (!err)
		*ret_text = take_ptr(text);
	return err;
}

long format_lines(int (*put)(FILE *out, void *arg), void *arg)
{
	cleanup_free char *text = NULL;
	size_t len;
	long lines = 0;
	int err = format_text(put, arg, &text, &len);

	for (const char *c = text; !err && *c; c++)
		lines += *c == '\n';
	return err ? err : lines;
}

int format_whole(FILE *out, int (*put)(FILE *out, void *arg), void *arg)
{
	cleanup_free char *text = NULL;
	size_t len;
	int err = format_text(put, arg, &text, &len);

	return err ? err : format_emit(out, text, len);
}

int format_emit(FILE *out, const char *text, size_t len)
{
	errno = 0;
	if (fwrite(text, 1, len, out) == len && !fflush(out) && !ferror(out))
		return 0;
	return errno ? -errno : -EIO;
}
