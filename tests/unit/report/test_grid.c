// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>

#include "report/grid.h"

struct row {
	const char *name;
	uint64_t bytes;
	bool known;
};

GRID_CELL(cell_name, struct row, grid_name(row->name, SIZE_MAX));
GRID_CELL(cell_bytes, struct row, grid_if(row->known, grid_bytes(row->bytes)));
GRID_CELL(cell_path, struct row, grid_text("/a/%s", row->known ? "one" : "nothing"));

static struct grid_cell cell_failed(const struct grid_place *at)
{
	(void)at;
	return grid_take(NULL, -ENOMEM);
}

static const struct grid_column columns[] = {
	{ NULL, "NAME", 4, .least = 2, .most = 8, .look = GRID_NAME, .cell = cell_name },
	{ "95%", "BYTES", .cell = cell_bytes },
	{ "IN\nALL", "B", .rank = 1, .or_none = true, .cell = cell_bytes },
	{ NULL, "PATH", 5, .rank = 2, .look = GRID_PATH, .cell = cell_path },
};

static const struct row rows[] = {
	{ "one", 1000, true },
	{ "much-longer", 0, false },
	{ "\x1b", 7, true },
};

static const char *text_at(size_t width, size_t indent, char text[1024])
{
	FILE *f = fmemopen(text, 1024, "w");
	GRID(g, columns, f, width, NULL);

	g.indent = indent;
	grid_fit(&g);
	grid_heading(&g);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(grid_row(&g, &rows[i]), 0);
	assert_int_equal(grid_line(&g, "a label beyond", 1, &rows[0]), 0);
	assert_int_equal(fclose(f), 0);
	return text;
}

/* Columns come while there is room for them, then those grow that may. No line ends with blanks. */
static void test_widths(void **state)
{
	char text[1024];

	(void)state;
	assert_string_equal(text_at(31, 0, text), "                      IN\n"
						  "             95%     ALL\n"
						  "NAME       BYTES       B PATH\n"
						  "one      1.00 kB 1.00 kB …/one\n"
						  "much-lo…       -       - …hing\n"
						  "\\x1b         7 B     7 B …/one\n"
						  "a label… 1.00 kB 1.00 kB …/one\n");
	/* One that is to come with all before it does not come without them. */
	assert_string_equal(text_at(20, 2, text), "               95%\n"
						  "  NAME       BYTES\n"
						  "  one      1.00 kB\n"
						  "  much-lo…       -\n"
						  "  \\x1b         7 B\n"
						  "  a label… 1.00 kB\n");
	/* One that is always there shrinks; none is narrower than it may be. */
	assert_string_equal(text_at(12, 0, text), "         95%\n"
						  "NAME   BYTES\n"
						  "one  1.00 kB\n"
						  "muc…       -\n"
						  "\\x1b     7 B\n"
						  "a l… 1.00 kB\n");
	assert_string_equal(text_at(5, 0, text), "       95%\n"
						 "NAME   BYTES\n"
						 "o… 1.00 kB\n"
						 "m…       -\n"
						 "\\…     7 B\n"
						 "a… 1.00 kB\n");
}

/* A cell that could not be made is an error. */
static void test_failed(void **state)
{
	const struct grid_column failing[] = { { NULL, "FAILS", .cell = cell_failed } };
	char text[64];
	FILE *f = fmemopen(text, sizeof(text), "w");
	GRID(g, failing, f, 80, NULL);

	(void)state;
	grid_fit(&g);
	assert_int_equal(grid_row(&g, NULL), -ENOMEM);
	assert_int_equal(fclose(f), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
