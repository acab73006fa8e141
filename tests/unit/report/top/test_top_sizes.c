// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* "top" on terminals of all sizes; with address sanitizer nothing is drawn outside. */
#include "top_world.h"

/* What is outside of the canvas is neither written nor read. */
static void test_canvas_edges(void **state)
{
	static const size_t far[] = { 0, 2, 3, 4, 1000, SIZE_MAX / 2, SIZE_MAX };
	const size_t nr = sizeof(far) / sizeof(far[0]);
	struct canvas c = { 0 };
	enum canvas_look look;
	char *text;

	(void)state;
	assert_int_equal(canvas_resize(&c, 3, 4), 0);
	for (size_t i = 0; i < nr * nr * nr; i++) {
		size_t row = far[i % nr], column = far[i / nr % nr], width = far[i / nr / nr];

		canvas_put(&c, row, column, width, LOOK_BAD, "漢字kana");
		canvas_right(&c, row, column, width, LOOK_BAD, "漢字kana");
		canvas_look(&c, row, column, width, LOOK_BAD);
		if (row > 2 || column > 3)
			assert_int_equal(canvas_shown(&c, row, column, &look), ' ');
		canvas_fill(&c, row, column, width, LOOK_BAD, 'x');
	}
	text = canvas_text(&c);
	assert_string_equal(text, "xxxx\n\nxxxx\n");
	free(text);
	canvas_free(&c);
}

/* A name that has little room leaves the numbers alone: in a deep folder, with rows folded. */
static void test_names_leave_numbers(void **state)
{
	static const char numbers[] = " 2.400";
	struct report *r;
	struct stage s;

	(void)state;
	open_stage(&s, ROW_PROCESS, 0, 24, 80);
	r = second(ROW_PROCESS, 0);
	for (uint32_t i = 0; i < 12; i++)
		sample_add_row(r, 100 + i, "deep", "/a/b/c/d/e/cgroup-of-a-long-name", 100000000,
			       1000000);
	add(&s, r);
	PRESS(&s, 't', '/', 'd', 'e', 'e', 'p', KEYS_RETURN, 'G', '-');
	for (s.columns = DRAW_MIN_COLUMNS; s.columns <= 80; s.columns++) {
		char *text = text_of(&s), *line = strstr(text, " +12 ");

		if (!line || !strstr(line, numbers) || strchr(line, '\n') < strstr(line, numbers))
			fail_msg("at %zu columns:\n%s", s.columns, text);
		free(text);
	}
	close_stage(&s);
}

/* One row on a low terminal: its numbers, and a graph only where there is room for both. */
static void test_one_row_on_low_terminals(void **state)
{
	struct stage s;

	(void)state;
	open_stage(&s, ROW_PROCESS, 4, 24, 120);
	PRESS(&s, KEYS_RETURN);
	for (s.rows = DRAW_MIN_ROWS; s.rows <= 30; s.rows++) {
		has(&s, "cgroup: /");
		if (s.rows < 13)
			lacks(&s, "2 minutes before");
		if (s.rows >= 16)
			has(&s, "2 minutes before");
	}
	close_stage(&s);
}

/* The value of a counter is whole, with its unit. */
static void test_counters_on_narrow_terminals(void **state)
{
	struct stage s;

	(void)state;
	open_stage(&s, ROW_PROCESS, 1, 24, DRAW_MIN_COLUMNS);
	PRESS(&s, '4');
	has(&s, " GB/s\n");
	close_stage(&s);
}

/* Devices without any value moved no number, and not 0. */
static void test_devices_without_value(void **state)
{
	(void)state;
	for (int valid = 0; valid <= 1; valid++) {
		struct report *r = second(ROW_PROCESS, 0);
		struct stage s;

		sample_with_devices(r);
		for (size_t i = 0; i < r->nr_devices; i++) {
			r->devices[i].read.valid &= valid;
			r->devices[i].write.valid &= valid;
		}
		open_stage(&s, ROW_PROCESS, 0, 24, 120);
		add(&s, r);
		redraw(&s);
		has(&s, "PCIE-RD PCIE-WR");
		if (valid)
			lacks(&s, "no data");
		else
			has(&s, "no data no data");
		close_stage(&s);
	}
}

/* Ways to all that can be shown */
static const uint32_t views[][8] = {
	{ 'a' },
	{ 't', 'a', 'G', '-' },
	{ 't', 'g', KEYS_RETURN },
	{ 'y', 't', 'w' },
	{ 'g', KEYS_RETURN },
	{ KEYS_RETURN, 'G', KEYS_ARROW_LEFT },
	{ '2', KEYS_FIRST },
	{ '3' },
	{ '4', 'G' },
	{ '5', KEYS_PAGE_DOWN },
	{ '6' },
	{ '?', 'G', 'k' },
	{ '/', 'g', 'r', 'o' },
	{ '/', 'n', 'o', 'n', 'e' },
	{ 'p', 'x' },
};

static const char *last_line(const char *text)
{
	const char *end = memrchr(text, '\n', strlen(text) - 1);

	return end ? end + 1 : text;
}

/* @wide: the last line where there is room for all of it. Nothing of a page may be on that line. */
static void draw_at(struct stage *s, size_t rows, size_t columns, const char *wide)
{
	bool small = rows < DRAW_MIN_ROWS || columns < DRAW_MIN_COLUMNS;
	char *text;
	bool good;

	s->rows = rows;
	s->columns = columns;
	text = text_of(s);
	if (small)
		good = !strncmp(text, "too small", strcspn(text, "\n"));
	else
		good = !strncmp(text, "t410trace ", 10) &&
		       !strncmp(last_line(text), wide, strlen(last_line(text)) - 1);
	if (!good)
		fail_msg("%zu rows, %zu columns:\n%s", rows, columns, text);
	free(text);
}

/* All low ones at some widths, and all narrow ones at some heights */
static void draw_at_all_sizes(struct stage *s)
{
	static const size_t widths[] = { 1, 39, 40, 41, 61, 99, 120, 131, 300 };
	static const size_t heights[] = { 1, 9, 10, 11, 13, 25 };
	size_t step = under_valgrind(29, 1);
	char *text, *wide;

	s->columns = 300;
	text = text_of(s);
	wide = strdup(last_line(text));
	assert_non_null(wide);
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
		for (size_t rows = 1; rows <= 30; rows += step)
			draw_at(s, rows, widths[i], wide);
	for (size_t i = 0; i < sizeof(heights) / sizeof(heights[0]); i++)
		for (size_t columns = 1; columns <= 130; columns += step)
			draw_at(s, heights[i], columns, wide);
	draw_at(s, 60, 200, wide);
	free(wide);
	free(text);
}

static void open_full_stage(struct stage *s, enum row_kind kind)
{
	open_stage(s, kind, 4, 24, 80);
	for (uint64_t k = 4; k < 6; k++) {
		struct report *r = second(kind, k);

		if (kind == ROW_PROCESS || kind == ROW_CGROUP)
			sample_with_devices(r);
		add(s, r);
	}
}

static void test_all_views_at_all_sizes(void **state)
{
	static const enum row_kind kinds[] = { ROW_PROCESS, ROW_CGROUP, ROW_JOB };
	struct measured m;

	(void)state;
	lay_out_metrics(&m);
	for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++)
		for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
			struct stage s;

			/* Pages that are the same whatever rows are */
			if (kind && i > 5)
				break;
			open_full_stage(&s, kinds[kind]);
			assert_int_equal(view_add_metrics(&s.view, measure(&m, 123.5)), 0);
			press(&s, views[i]);
			draw_at_all_sizes(&s);
			close_stage(&s);
		}
}

/* Every key at every size does no harm, with an interval, without one, and with no row at all. */
static void test_any_key_at_any_size(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (size_t i = 0; i < 7; i++) {
		struct stage s;

		open_stage(&s, i % 2 ? ROW_PROCESS : ROW_CGROUP, i ? 4 : 0, 24, 80);
		if (i == 3)
			add(&s, sample_without_counters());
		if (i == 5)
			add(&s, sample_without_rows());
		for (size_t k = 0; k < under_valgrind(20, 600); k++) {
			random = random * 6364136223846793005ULL + 1442695040888963407ULL;
			s.rows = 1 + (random >> 24) % 40;
			s.columns = 1 + (random >> 34) % 160;
			if (random >> 33 & 1)
				PRESS(&s, (uint32_t)(' ' + (random >> 40) % 95));
			else if (random >> 32 & 1)
				PRESS(&s, (uint32_t)(KEYS_ARROW_UP + (random >> 40) % 20));
			else
				PRESS(&s, KEYS_RETURN);
		}
		close_stage(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_canvas_edges),
		cmocka_unit_test(test_names_leave_numbers),
		cmocka_unit_test(test_one_row_on_low_terminals),
		cmocka_unit_test(test_counters_on_narrow_terminals),
		cmocka_unit_test(test_devices_without_value),
		cmocka_unit_test(test_all_views_at_all_sizes),
		cmocka_unit_test(test_any_key_at_any_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
