// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Pictures of "top" after keys, as text: tests/golden/top-*.txt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "report/format.h"
#include "sample_report.h"
#include "report/top/draw.h"
#include "report/top/keys.h"
#include "valgrind.h"

#define SECOND 1000000000ULL

/* A view of a past of made-up intervals */
struct stage {
	struct past *past;
	struct view view;
	struct canvas canvas;
	size_t rows;
	size_t columns;
};

static void add(struct stage *s, struct report *r)
{
	assert_int_equal(view_add(&s->view, r), 0);
	report_free(r);
}

/* The k-th second: process 77 does more and more, and one is there in odd seconds only. */
static struct report *second(enum row_kind kind, uint64_t k)
{
	struct report *r = sample_report(kind);

	r->start_ns = k * SECOND;
	r->end_ns = (k + 1) * SECOND;
	r->start_time_ns += k * SECOND;
	if (kind == ROW_PROCESS) {
		sample_add_row(r, 77, "growing", "/batch/job_7", 20000000 * k, 500000000);
		if (k % 2)
			sample_add_row(r, 78, "\x1b[31mwide 漢字", "/batch/\x1b]0;x\a", 40000000,
				       100000000);
		sample_add_row(r, 79, "quiet", "/batch/job_7", 0, 1000);
	}
	return r;
}

static void open_stage(struct stage *s, enum row_kind kind, uint64_t seconds, size_t rows,
		       size_t columns)
{
	*s = (struct stage){ .past = past_new(PAST_MAX_BYTES), .rows = rows, .columns = columns };
	assert_non_null(s->past);
	view_init(&s->view, s->past, kind);
	s->view.interval_ns = SECOND;
	for (uint64_t k = 0; k < seconds; k++)
		add(s, second(kind, k));
}

static void close_stage(struct stage *s)
{
	view_free(&s->view);
	past_free(s->past);
	canvas_free(&s->canvas);
}

static void redraw(struct stage *s)
{
	assert_int_equal(canvas_resize(&s->canvas, s->rows, s->columns), 0);
	assert_int_equal(draw_view(&s->view, &s->canvas), 0);
}

static enum keys_wish press(struct stage *s, const uint32_t *keys)
{
	enum keys_wish wish = KEYS_NOTHING;

	/* As on a screen, there is a picture between two keys. */
	for (redraw(s); *keys; keys++) {
		wish = keys_press(&s->view, *keys);
		redraw(s);
	}
	return wish;
}
#define PRESS(s, ...) press(s, (const uint32_t[]){ __VA_ARGS__, 0 })

static char *text_of(struct stage *s)
{
	char *text;

	redraw(s);
	text = canvas_text(&s->canvas);
	assert_non_null(text);
	return text;
}

static void check(struct stage *s, const char *golden)
{
	char *text = text_of(s);

	sample_check_golden(golden, text);
	free(text);
}

static void has(struct stage *s, const char *what)
{
	char *text = text_of(s);

	if (!strstr(text, what))
		fail_msg("\"%s\" is not in:\n%s", what, text);
	free(text);
}

static void lacks(struct stage *s, const char *what)
{
	char *text = text_of(s);

	if (strstr(text, what))
		fail_msg("\"%s\" is in:\n%s", what, text);
	free(text);
}

static void test_pictures(void **state)
{
	struct stage s;

	(void)state;
	open_stage(&s, ROW_PROCESS, 30, 24, 80);
	check(&s, "top-80x24.txt");
	s.rows = 60;
	s.columns = 200;
	check(&s, "top-200x60.txt");
	s.rows = 24;
	s.columns = 80;
	PRESS(&s, 't');
	check(&s, "top-tree.txt");
	PRESS(&s, 't', KEYS_RETURN);
	check(&s, "top-one-row.txt");
	PRESS(&s, KEYS_ESCAPE, '?');
	check(&s, "top-help.txt");
	close_stage(&s);
	open_stage(&s, ROW_CGROUP, 3, 24, 80);
	check(&s, "top-cgroups.txt");
	close_stage(&s);
	open_stage(&s, ROW_JOB, 3, 24, 100);
	check(&s, "top-jobs.txt");
	close_stage(&s);
}

static void test_pages(void **state)
{
	struct report *r = second(ROW_PROCESS, 0);
	struct stage s;

	(void)state;
	sample_with_devices(r);
	open_stage(&s, ROW_PROCESS, 0, 24, 120);
	has(&s, "measuring: the first interval ends after 1s");
	add(&s, r);
	PRESS(&s, '2');
	check(&s, "top-devices.txt");
	PRESS(&s, KEYS_TABULATOR, KEYS_TABULATOR);
	check(&s, "top-counters.txt");
	PRESS(&s, KEYS_TABULATOR);
	has(&s, "tracer: ");
	PRESS(&s, KEYS_TABULATOR);
	has(&s, "PROCESS");
	close_stage(&s);
}

/* Where there is no UTF-8, nothing but ASCII is drawn, and every line is as wide as before. */
static void test_ascii(void **state)
{
	struct stage s;
	char *text;

	(void)state;
	open_stage(&s, ROW_PROCESS, 30, 24, 80);
	s.canvas.ascii = true;
	check(&s, "top-ascii.txt");
	text = text_of(&s);
	for (const char *c = text; *c; c++)
		assert_true(*c == '\n' || (*c >= ' ' && *c < 0x7f));
	free(text);
	close_stage(&s);
}

/* Names cannot steer the terminal, and those of wide characters move nothing. */
static void test_names(void **state)
{
	struct stage s;
	char *text, *line, *rest;

	(void)state;
	open_stage(&s, ROW_PROCESS, 30, 24, 80);
	lacks(&s, "\x1b");
	has(&s, "漢字");
	text = text_of(&s);
	rest = text;
	while ((line = strsep(&rest, "\n")))
		assert_true(format_width(line) <= 80);
	free(text);
	close_stage(&s);
}

static void test_time(void **state)
{
	struct stage s;

	(void)state;
	open_stage(&s, ROW_PROCESS, 30, 24, 80);
	has(&s, "LIVE");
	has(&s, "wide");
	PRESS(&s, KEYS_ARROW_LEFT);
	has(&s, "29/30, 1.0 s before now");
	lacks(&s, "wide");
	/* What comes does not move who looks back, and going on ends it. */
	add(&s, second(ROW_PROCESS, 30));
	has(&s, "29/31, 2.0 s before now");
	PRESS(&s, KEYS_ARROW_RIGHT, KEYS_ARROW_RIGHT);
	has(&s, "LIVE");
	PRESS(&s, KEYS_FIRST);
	has(&s, "1/31");
	PRESS(&s, KEYS_ARROW_LEFT, ']');
	has(&s, "11/31");
	PRESS(&s, KEYS_LAST, 'p');
	has(&s, "PAUSED 31/31");
	add(&s, second(ROW_PROCESS, 31));
	has(&s, "PAUSED 31/32");
	PRESS(&s, KEYS_ARROW_RIGHT);
	has(&s, "PAUSED 32/32");
	PRESS(&s, 'p');
	has(&s, "LIVE");
	close_stage(&s);
}

/* The first row: behind the bars of two sockets, what they mean, and the heading */
static const char *first_row(struct stage *s, char ret[256])
{
	char *text = text_of(s), *at = text;

	for (int i = 0; i < 6; i++)
		at = strchr(at, '\n') + 1;
	snprintf(ret, 256, "%.*s", (int)strcspn(at, "\n"), at);
	free(text);
	return ret;
}

static void test_sorting_and_filter(void **state)
{
	char row[256];
	struct stage s;

	(void)state;
	open_stage(&s, ROW_PROCESS, 30, 24, 80);
	PRESS(&s, 'R');
	assert_null(strstr(first_row(&s, row), "growing"));
	PRESS(&s, 'R', '/', 'g', 'r', 'O', 'w');
	assert_non_null(strstr(first_row(&s, row), "77 growing"));
	has(&s, "1 of 1");
	/* Keys are text while a filter is typed. */
	PRESS(&s, 'q', 'x');
	has(&s, "no row has this in its names");
	PRESS(&s, KEYS_ERASE, KEYS_ERASE, KEYS_RETURN);
	has(&s, "1 of 1");
	PRESS(&s, KEYS_ESCAPE);
	lacks(&s, "1 of 1");
	lacks(&s, "79 quiet");
	PRESS(&s, 'a', '/', '7', '9', KEYS_RETURN);
	assert_non_null(strstr(first_row(&s, row), "79 quiet"));
	close_stage(&s);
}

static void test_folding(void **state)
{
	struct stage s;

	(void)state;
	open_stage(&s, ROW_PROCESS, 30, 24, 80);
	PRESS(&s, 't', '/', 'g', 'r', 'o', 'w', KEYS_RETURN);
	has(&s, "▾ /");
	has(&s, "▾ batch");
	has(&s, "77 growing");
	PRESS(&s, KEYS_ARROW_DOWN, ' ');
	has(&s, "▸ batch +1");
	lacks(&s, "77 growing");
	/* It stays so in the next interval. */
	add(&s, second(ROW_PROCESS, 30));
	lacks(&s, "77 growing");
	PRESS(&s, '+');
	has(&s, "77 growing");
	PRESS(&s, '-', KEYS_ARROW_UP, '-');
	has(&s, "▸ / +1");
	PRESS(&s, '*');
	has(&s, "77 growing");
	close_stage(&s);
}

/* What the user has chosen stays chosen, wherever it moves. */
static void test_selection(void **state)
{
	struct stage s;

	(void)state;
	open_stage(&s, ROW_PROCESS, 3, 24, 80);
	PRESS(&s, 'G');
	for (uint64_t k = 3; k < under_valgrind(10, 300); k++)
		add(&s, second(ROW_PROCESS, k * 10));
	PRESS(&s, 'g');
	has(&s, "  1 of ");
	PRESS(&s, 'j', 'j', 'k');
	has(&s, "  2 of ");
	PRESS(&s, KEYS_PAGE_DOWN, KEYS_PAGE_UP);
	has(&s, "  1 of ");
	close_stage(&s);
}

static void test_units(void **state)
{
	struct stage s;

	(void)state;
	open_stage(&s, ROW_PROCESS, 3, 24, 80);
	has(&s, "GB/s");
	PRESS(&s, 'u');
	has(&s, "GB /s");
	PRESS(&s, 'u');
	lacks(&s, "GB/s");
	lacks(&s, "GB /s");
	close_stage(&s);
}

static void test_wishes(void **state)
{
	struct stage s;

	(void)state;
	open_stage(&s, ROW_PROCESS, 3, 24, 80);
	assert_int_equal(PRESS(&s, 'q'), KEYS_END);
	assert_int_equal(PRESS(&s, KEYS_CTRL_C), KEYS_END);
	assert_int_equal(PRESS(&s, 'i'), KEYS_LONGER);
	assert_int_equal(PRESS(&s, 'I'), KEYS_SHORTER);
	assert_int_equal(PRESS(&s, 'x'), KEYS_NOTHING);
	has(&s, "this key has no meaning");
	assert_int_equal(keys_interval(SECOND, true), 2 * SECOND);
	assert_int_equal(keys_interval(SECOND, false), SECOND / 2);
	assert_int_equal(keys_interval(SECOND / 10, false), SECOND / 10);
	assert_int_equal(keys_interval(3600 * SECOND, true), 3600 * SECOND);
	close_stage(&s);
}

/* Ten thousand processes in a thousand cgroups: all are there, wherever one goes. */
static void test_many_rows(void **state)
{
	const uint32_t rows = (uint32_t)under_valgrind(300, 10000);
	struct stage s;
	char last[32];

	(void)state;
	open_stage(&s, ROW_PROCESS, 0, 24, 80);
	for (uint64_t k = 0; k < 2; k++) {
		struct report *r = sample_report(ROW_PROCESS);

		for (uint32_t i = 0; i < rows; i++) {
			char path[32];

			/* In each interval other cgroups. */
			snprintf(path, sizeof(path), "/c%u", (unsigned int)(k * 1000 + i % 1000));
			sample_add_row(r, 10000 + i, "crowd", path, 1000 + i, 1000000);
		}
		r->start_ns = k * SECOND;
		r->end_ns = (k + 1) * SECOND;
		add(&s, r);
		snprintf(last, sizeof(last), " of %u", rows + 5);
		PRESS(&s, 'a', 'G');
		has(&s, last);
		PRESS(&s, KEYS_PAGE_UP, 't', 'g', ' ', ' ', 't', 'a', 'g');
	}
	close_stage(&s);
}

/* Every key at every size does no harm, with an interval, without one, and with no row at all. */
static void test_any_key_at_any_size(void **state)
{
	static const size_t sizes[][2] = { { 1, 1 },   { 10, 40 },  { 11, 41 }, { 12, 200 },
					   { 24, 80 }, { 100, 60 }, { 30, 120 } };
	uint64_t random = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct stage s;

		open_stage(&s, i % 2 ? ROW_PROCESS : ROW_CGROUP, i ? 4 : 0, sizes[i][0],
			   sizes[i][1]);
		if (i == 3)
			add(&s, sample_without_counters());
		if (i == 5)
			add(&s, sample_without_rows());
		for (size_t k = 0; k < under_valgrind(20, 400); k++) {
			random = random * 6364136223846793005ULL + 1442695040888963407ULL;
			if (random >> 33 & 1)
				PRESS(&s, (uint32_t)(' ' + (random >> 40) % 95));
			else
				PRESS(&s, (uint32_t)(KEYS_ARROW_UP + (random >> 40) % 20));
		}
		close_stage(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pictures),
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_ascii),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_sorting_and_filter),
		cmocka_unit_test(test_folding),
		cmocka_unit_test(test_selection),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_wishes),
		cmocka_unit_test(test_any_key_at_any_size),
		cmocka_unit_test(test_many_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
