// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Pictures of "top" after keys, as text: tests/golden/top-*.txt. */
#include "top_world.h"

static void check(struct stage *s, const char *golden)
{
	char *text = text_of(s);

	sample_check_golden(golden, text);
	free(text);
}

/* On a narrow terminal numbers give way to names, of rows and of sockets. */
static void test_narrow(void **state)
{
	struct stage s;
	size_t i;

	(void)state;
	open_stage(&s, ROW_PROCESS, 30, 20, DRAW_MIN_COLUMNS);
	check(&s, "top-40x20.txt");
	for (i = DRAW_MIN_COLUMNS; i <= 80; i++) {
		s.columns = i;
		has(&s, "\n4242 lbm ");
		has(&s, "socket 0 ");
		has(&s, " WR GB/s");
		has(&s, "CPU");
	}
	close_stage(&s);
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
	PRESS(&s, KEYS_ESCAPE, 't', 'g', KEYS_RETURN);
	check(&s, "top-sum.txt");
	PRESS(&s, KEYS_ESCAPE, 't', '?');
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
	lacks(&s, "\ncard0 ");
	PRESS(&s, 'a');
	has(&s, "\ncard0 ");
	has(&s, "\nnvme3n1           nvme    unread ");
	PRESS(&s, 'a');
	PRESS(&s, KEYS_TABULATOR, KEYS_TABULATOR);
	check(&s, "top-counters.txt");
	PRESS(&s, 'u');
	has(&s, " 410 k req/s ");
	PRESS(&s, 'u');
	has(&s, " 410 k req ");
	PRESS(&s, 'u');
	PRESS(&s, KEYS_TABULATOR);
	has(&s, "tracer: ");
	PRESS(&s, KEYS_TABULATOR);
	has(&s, "METRICS OF THE MACHINE");
	PRESS(&s, KEYS_TABULATOR);
	has(&s, "\n000c:01:00.0   PCIe ");
	PRESS(&s, KEYS_TABULATOR);
	has(&s, "PROCESS");
	close_stage(&s);
}

/* All that 64 bits hold, beside a peak of a byte a second, and in a nanosecond. */
static void test_absurd(void **state)
{
	struct report *r = second(ROW_PROCESS, 0);
	static struct host_info host;
	struct stage s;

	(void)state;
	host = *r->host;
	host.peaks = (struct peaks){ .items = { { .socket = PEAK_EVERY_SOCKET, .bytes_per_s = 1 } },
				     .nr = 1 };
	r->host = &host;
	for (size_t i = 0; i < r->nr_counters; i++)
		r->counters[i].value = r->counters[i].attributed = UINT64_MAX;
	open_stage(&s, ROW_PROCESS, 0, 24, 80);
	add(&s, r);
	has(&s, "\nsocket 0 ██████████████████████████████████ 1.8e+10 GB/s ≤2e+15% peak ");
	r = second(ROW_PROCESS, 1);
	r->end_ns = r->start_ns + 1;
	r->counters[0].value = UINT64_MAX;
	add(&s, r);
	s.view.units = VIEW_PER_S;
	has(&s, "  18.4 EB /s ");
	close_stage(&s);
}

static void test_metrics(void **state)
{
	struct measured m;
	struct stage s;

	(void)state;
	lay_out_metrics(&m);
	open_stage(&s, ROW_PROCESS, 2, 24, 80);
	PRESS(&s, '6');
	has(&s, "Not measured in this interval");
	snprintf(s.view.metrics_problem, sizeof(s.view.metrics_problem), "no PMU is here");
	has(&s, "no PMU is here");
	s.view.metrics_problem[0] = '\0';
	s.view.measuring = true;
	has(&s, "Measuring: ");
	add(&s, second(ROW_PROCESS, 2));
	assert_int_equal(view_add_metrics(&s.view, measure(&m, 123.5)), 0);
	check(&s, "top-metrics.txt");
	/* In lines that fit, and with a smaller screen the rest is below. */
	s.rows = 12;
	lacks(&s, "own CPU time");
	has(&s, "more ↓");
	PRESS(&s, 'G');
	has(&s, "own CPU time");
	s.rows = 24;
	/* Each interval has its own, or none. */
	PRESS(&s, KEYS_ARROW_LEFT);
	has(&s, "Not measured in this interval");
	lacks(&s, "123.500");
	PRESS(&s, KEYS_LAST);
	has(&s, "123.500");
	add(&s, second(ROW_PROCESS, 3));
	assert_int_equal(view_add_metrics(&s.view, measure(&m, 77.25)), 0);
	has(&s, "77.250");
	PRESS(&s, KEYS_ARROW_LEFT);
	has(&s, "123.500");
	/* A recording has none, and what measures them is said. */
	PRESS(&s, KEYS_LAST);
	view_clear(&s.view);
	s.view.source = "night.rec";
	add(&s, second(ROW_PROCESS, 0));
	has(&s, "Recordings hold no metrics");
	has(&s, "t410trace stat");
	close_stage(&s);
}

/* What is kept of metrics is bounded; the newest are there. */
static void test_metrics_are_bounded(void **state)
{
	struct metrics_past p = { 0 };
	struct measured m;
	uint64_t nr = 20000;

	(void)state;
	lay_out_metrics(&m);
	for (uint64_t i = 0; i < nr; i++) {
		assert_int_equal(metrics_past_add(&p, i, measure(&m, 1)), 0);
		assert_true(p.bytes <= METRICS_PAST_MAX_BYTES);
	}
	assert_non_null(metrics_past_find(&p, nr - 1));
	assert_null(metrics_past_find(&p, 0));
	metrics_past_forget(&p);
	assert_int_equal(p.bytes, 0);
}

/* The line of the legend, and the one of the pages */
static const char *line_of(struct stage *s, size_t number, char ret[1024])
{
	char *text = text_of(s), *at = text;

	while (number--)
		at = strchr(at, '\n') + 1;
	snprintf(ret, 1024, "%.*s", (int)strcspn(at, "\n"), at);
	free(text);
	return ret;
}

/* Legends end with a whole word of theirs, however wide the screen is, in all units. */
static void test_legends_are_whole(void **state)
{
	static const char *const ends[] = { "(--peak)", "the largest",	"GB/s", "B /s",
					    "B",	"unattributed", "rest" };
	char line[1024];
	struct stage s;

	(void)state;
	open_stage(&s, ROW_PROCESS, 2, 24, 80);
	for (s.columns = 40; s.columns <= 200; s.columns++)
		for (int units = 0; units < NR_VIEW_UNITS; units++) {
			bool whole = false;

			s.view.units = (enum view_units)units;
			line_of(&s, 4, line);
			for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
				whole |= strlen(line) > strlen(ends[i]) &&
					 !strcmp(line + strlen(line) - strlen(ends[i]), ends[i]);
			if (!whole)
				fail_msg("at %zu columns: %s", s.columns, line);
			line_of(&s, 1, line);
			assert_non_null(strstr(line, "fair"));
			assert_non_null(strstr(line, "1Rows"));
			assert_true(!strstr(line, "5Q") || strstr(line, "6Metrics"));
		}
	close_stage(&s);
}

static void test_kinds_of_rows(void **state)
{
	struct stage s;

	(void)state;
	assert_int_equal(keys_rows(ROW_PROCESS, false), ROW_CGROUP);
	assert_int_equal(keys_rows(ROW_CGROUP, false), ROW_JOB);
	assert_int_equal(keys_rows(ROW_JOB, false), ROW_PROCESS);
	assert_int_equal(keys_rows(ROW_JOB, true), ROW_THREAD);
	assert_int_equal(keys_rows(ROW_THREAD, true), ROW_CGROUP);
	open_stage(&s, ROW_PROCESS, 3, 24, 80);
	assert_int_equal(PRESS(&s, 'b'), KEYS_ROWS);
	add(&s, second(ROW_CGROUP, 3));
	has(&s, "CGROUP");
	/* What is behind has the rows that it had. */
	PRESS(&s, KEYS_ARROW_LEFT);
	has(&s, "PROCESS");
	close_stage(&s);
}

/* Who has gone back stays at that time while a file is read again. */
static void test_reading_again(void **state)
{
	struct stage s;

	(void)state;
	open_stage(&s, ROW_PROCESS, 30, 24, 80);
	PRESS(&s, KEYS_FIRST, ']', KEYS_ARROW_RIGHT);
	has(&s, "12/30");
	view_reread(&s.view);
	for (uint64_t k = 0; k < 20; k++)
		add(&s, second(ROW_CGROUP, k));
	has(&s, "12/20");
	PRESS(&s, KEYS_LAST);
	view_reread(&s.view);
	add(&s, second(ROW_PROCESS, 0));
	add(&s, second(ROW_PROCESS, 1));
	has(&s, "LIVE");
	close_stage(&s);
}

/* Where there is no UTF-8, nothing but ASCII is drawn, and every line is as wide as before. */
static void test_ascii(void **state)
{
	static const char at_most[] = "<   <=4.10 GB       0 B (<=4.10 GB)              <=";
	enum canvas_look look;
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
	/* "<=" takes two columns: one is that of a blank in front of it. */
	canvas_fill(&s.canvas, 0, 0, 80, LOOK_PLAIN, ' ');
	canvas_right(&s.canvas, 0, 0, 13, LOOK_PLAIN, "≤4.10 GB");
	canvas_put(&s.canvas, 0, 20, 80, LOOK_PLAIN, "0 B (≤4.10 GB)");
	canvas_put(&s.canvas, 0, 50, 1, LOOK_PLAIN, "≤");
	canvas_put(&s.canvas, 0, 0, 1, LOOK_PLAIN, "≤1");
	for (size_t i = 0; i < strlen(at_most); i++)
		assert_int_equal(canvas_shown(&s.canvas, 0, i, &look), at_most[i]);
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

/* The first row: behind the bars of two sockets, what they mean, the heading, and the machine */
static const char *first_row(struct stage *s, char ret[256])
{
	char *text = text_of(s), *at = text;

	for (int i = 0; i < 7; i++)
		at = strchr(at, '\n') + 1;
	snprintf(ret, 256, "%.*s", (int)strcspn(at, "\n"), at);
	free(text);
	return ret;
}

static void test_sorting_and_filter(void **state)
{
	char row[256], *text;
	struct stage s;

	(void)state;
	open_stage(&s, ROW_PROCESS, 30, 24, 80);
	/* The upper end of an interval may be far above the bytes. */
	PRESS(&s, 's', 's', 's', 's');
	has(&s, "▼95%");
	text = text_of(&s);
	assert_true(strstr(text, "990 postgres") < strstr(text, "77 growing"));
	free(text);
	PRESS(&s, 'S', 'S', 'S', 'S');
	text = text_of(&s);
	assert_true(strstr(text, "990 postgres") > strstr(text, "77 growing"));
	free(text);
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
	has(&s, " RD GB/s WR GB/s ");
	s.columns = 100;
	has(&s, " READ GB/s WRITE GB/s ");
	PRESS(&s, 'u');
	has(&s, " READ/s WRITE/s ");
	has(&s, "GB /s");
	PRESS(&s, 'u');
	has(&s, "  READ   WRITE ");
	lacks(&s, "GB /s");
	close_stage(&s);
}

/* On a wide terminal rows of the same name differ by cgroup; in a tree that is above them. */
static void test_columns(void **state)
{
	struct report *r;
	struct stage s;

	(void)state;
	open_stage(&s, ROW_PROCESS, 3, 24, 99);
	lacks(&s, "CGROUP");
	lacks(&s, "SOCKET");
	s.columns = 100;
	has(&s, " CGROUP");
	has(&s, " …/job_12/step_0\n");
	has(&s, " SOCKET");
	lacks(&s, " BYTES");
	s.columns = 140;
	has(&s, " BYTES");
	s.columns = 200;
	has(&s, "█ READ ▓ WRITE ░ AT MOST");
	has(&s, " ████████████████▓▓▓▓▓▓▓→ ");
	has(&s, "    0,1 ");
	PRESS(&s, 't');
	lacks(&s, "CGROUP");
	close_stage(&s);
	/* Requests are not what devices moved. */
	open_stage(&s, ROW_PROCESS, 0, 24, 140);
	r = second(ROW_PROCESS, 0);
	sample_with_devices(r);
	add(&s, r);
	has(&s, " PCIE-RD PCIE-WR ");
	r = second(ROW_PROCESS, 1);
	sample_with_requests(r);
	add(&s, r);
	has(&s, "   IO-RD   IO-WR ");
	close_stage(&s);
}

/* A thread that moves little does not look like one that moves all. */
static void test_scales_of_graphs(void **state)
{
	static const char least[] = " ⣀⣀⣀\n", most[] = " ⣿⣿⣿\n";
	struct stage s;
	char *text, *line;

	(void)state;
	open_stage(&s, ROW_PROCESS, 30, 24, 80);
	has(&s, " TO 46.7 GB/s\n");
	text = text_of(&s);
	line = strstr(text, "\n2 [kworker");
	assert_non_null(line);
	assert_non_null(strstr(line, least));
	line = strstr(text, "\n4242 lbm");
	assert_non_null(line);
	assert_int_equal(strcspn(strstr(line, most) + 1, "\n") + 1, sizeof(most) - 2);
	free(text);
	PRESS(&s, 'y');
	has(&s, " OWN SCALE\n");
	lacks(&s, least);
	/* Sums are cut off: their parts would be flat beside them. */
	PRESS(&s, 'y', 't');
	has(&s, " TO 46.7 GB/s\n");
	close_stage(&s);
}

/* A file begins with its whole run, which is in front of its first interval. */
static void test_whole_run(void **state)
{
	struct report *r;
	struct stage s;

	(void)state;
	open_stage(&s, ROW_PROCESS, 4, 24, 80);
	PRESS(&s, 'w');
	has(&s, "the whole run is that of a recording");
	has(&s, "LIVE");
	s.view.source = "night.rec";
	s.view.state = VIEW_AT_END;
	PRESS(&s, 'w');
	has(&s, "once all of it has been read");
	has(&s, "END OF FILE");
	r = second(ROW_PROCESS, 0);
	r->summary = true;
	r->end_ns = 4 * SECOND;
	assert_int_equal(view_add_whole(&s.view, r), 0);
	report_free(r);
	has(&s, "WHOLE RUN, 4 intervals");
	has(&s, " 4.000 s ");
	PRESS(&s, KEYS_ARROW_LEFT);
	has(&s, "WHOLE RUN, 4 intervals");
	PRESS(&s, KEYS_ARROW_RIGHT);
	has(&s, " 1/4, 3.0 s before the end");
	PRESS(&s, KEYS_ARROW_RIGHT, KEYS_FIRST);
	has(&s, " 1/4");
	PRESS(&s, KEYS_FIRST);
	has(&s, " 1/4");
	PRESS(&s, KEYS_ARROW_LEFT);
	has(&s, "WHOLE RUN");
	PRESS(&s, KEYS_FIRST);
	has(&s, " 1/4");
	PRESS(&s, KEYS_LAST);
	has(&s, "END OF FILE");
	PRESS(&s, 'w');
	has(&s, "WHOLE RUN");
	/* It is that of the other rows or intervals while the file is read again. */
	view_reread(&s.view);
	add(&s, second(ROW_PROCESS, 0));
	has(&s, "END OF FILE");
	r = second(ROW_PROCESS, 0);
	assert_int_equal(view_add_whole(&s.view, r), 0);
	report_free(r);
	has(&s, "WHOLE RUN, 1 interval\n");
	close_stage(&s);
}

static void test_playing(void **state)
{
	struct report *r = second(ROW_PROCESS, 0);
	struct stage s;

	(void)state;
	open_stage(&s, ROW_PROCESS, 3, 24, 80);
	/* Nothing follows the newest interval of the machine. */
	PRESS(&s, ' ');
	has(&s, "PAUSED 3/3");
	PRESS(&s, ' ');
	has(&s, "LIVE");
	s.view.source = "night.rec";
	s.view.state = VIEW_AT_END;
	assert_int_equal(view_add_whole(&s.view, r), 0);
	report_free(r);
	PRESS(&s, 'w', ' ');
	assert_true(s.view.playing);
	for (int i = 1; i < 3; i++) {
		char place[32];

		view_play_on(&s.view);
		snprintf(place, sizeof(place), "PLAYS %d/3", i);
		has(&s, place);
	}
	view_play_on(&s.view);
	assert_false(s.view.playing);
	has(&s, "END OF FILE");
	/* Once more from the first one, and a key stops it there. */
	PRESS(&s, ' ');
	has(&s, "PLAYS 1/3");
	PRESS(&s, ' ');
	has(&s, " 1/3");
	lacks(&s, "PLAYS");
	close_stage(&s);
}

/* The machine's bytes are 100%, whatever is shown of its rows. */
static void test_line_of_the_machine(void **state)
{
	struct stage s;

	(void)state;
	open_stage(&s, ROW_PROCESS, 3, 24, 80);
	has(&s, "\nall                    44.178  23.076   100%               7000.0%\n");
	PRESS(&s, '/', 'l', 'b', 'm', KEYS_RETURN);
	has(&s, "\nall                    44.178  23.076   100% ");
	has(&s, "\n4242 lbm               31.235  15.235 ");
	s.rows = DRAW_MIN_ROWS;
	lacks(&s, "\nall ");
	has(&s, "\n4242 lbm ");
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
		PRESS(&s, KEYS_PAGE_UP, 't', 'g', '-', '+', 't', 'a', 'g');
	}
	close_stage(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_pictures),
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_absurd),
		cmocka_unit_test(test_metrics),
		cmocka_unit_test(test_metrics_are_bounded),
		cmocka_unit_test(test_legends_are_whole),
		cmocka_unit_test(test_kinds_of_rows),
		cmocka_unit_test(test_reading_again),
		cmocka_unit_test(test_ascii),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_sorting_and_filter),
		cmocka_unit_test(test_selection),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_scales_of_graphs),
		cmocka_unit_test(test_whole_run),
		cmocka_unit_test(test_playing),
		cmocka_unit_test(test_line_of_the_machine),
		cmocka_unit_test(test_wishes),
		cmocka_unit_test(test_many_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
