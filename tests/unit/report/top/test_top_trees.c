// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Trees of "top": rows that are folded, joined and added up. */
#include "top_world.h"

static void test_folding(void **state)
{
	struct stage s;

	(void)state;
	open_stage(&s, ROW_PROCESS, 30, 24, 80);
	add(&s, second(ROW_PROCESS, 31));
	PRESS(&s, 't', '/', 'g', 'r', 'o', 'w', KEYS_RETURN);
	has(&s, "▾ /");
	has(&s, "▾ batch ");
	has(&s, "77 growing");
	PRESS(&s, KEYS_ARROW_DOWN, '-');
	has(&s, "▸ batch +1");
	lacks(&s, "77 growing");
	/* It stays so in the next interval, in which it holds nothing else. */
	add(&s, second(ROW_PROCESS, 32));
	lacks(&s, "77 growing");
	PRESS(&s, '+');
	has(&s, "77 growing");
	PRESS(&s, '-', KEYS_ARROW_UP, '-');
	has(&s, "▸ / +1");
	PRESS(&s, '*');
	has(&s, "77 growing");
	/* A cgroup that holds another one alone has no line: both are one. */
	lacks(&s, "▾ batch ");
	has(&s, "▾ batch/job_7 ");
	close_stage(&s);
}

/* A chain from the root on is one line, too, with its rows in it. */
static void test_one_cgroup(void **state)
{
	struct report *r = sample_without_rows();
	struct stage s;

	(void)state;
	r->by = ROW_PROCESS;
	sample_add_row(r, 5, "alone", "/a/b", 1000000, 1000000);
	sample_balance(r);
	open_stage(&s, ROW_PROCESS, 0, 24, 80);
	add(&s, r);
	PRESS(&s, 't');
	has(&s, "\n▾ /a/b ");
	has(&s, "\n    5 alone ");
	has(&s, " 1 of 2\n");
	close_stage(&s);
}

static size_t leaf_lines(const struct view *v)
{
	size_t nr = 0;

	for (size_t i = 0; i < v->nr_lines; i++)
		nr += v->items[v->lines[i]].row != NULL;
	return nr;
}

/* Whatever cgroups are joined, a tree has the rows that the list has. */
static void test_trees_have_all_rows(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (int round = 0; round < 50; round++) {
		struct report *r = sample_without_rows();
		struct stage s;
		size_t nr;

		r->by = ROW_PROCESS;
		for (uint32_t pid = 1; pid <= 6; pid++) {
			char path[16] = "/";

			random = random * 6364136223846793005ULL + 1442695040888963407ULL;
			for (uint64_t k = 0; k < (random >> 60) % 6; k++)
				snprintf(path + strlen(path), sizeof(path) - strlen(path), "%s%c",
					 k ? "/" : "", (int)('a' + (random >> (30 + 3 * k)) % 2));
			sample_add_row(r, pid, "p", path, (random >> 20 & 1) * 1000, 1);
		}
		sample_balance(r);
		open_stage(&s, ROW_PROCESS, 0, 24, 80);
		add(&s, r);
		redraw(&s);
		nr = leaf_lines(&s.view);
		PRESS(&s, 't');
		assert_int_equal(leaf_lines(&s.view), nr);
		PRESS(&s, 'a');
		assert_int_equal(leaf_lines(&s.view), 6);
		close_stage(&s);
	}
}

/* A cgroup without a known number has another key in each report: its past is that of its rows. */
static void test_graph_of_a_cgroup_by_path(void **state)
{
	struct stage s;
	char *text, *line;

	(void)state;
	open_stage(&s, ROW_CGROUP, 0, 24, 80);
	for (uint64_t k = 0; k < 2; k++) {
		struct report *r = second(ROW_CGROUP, k);
		char key[MODEL_KEY_LEN];

		r->start_ns = 60 * k * SECOND;
		r->end_ns = 60 * (k + 1) * SECOND;
		for (size_t i = 0; i < r->nr_rows; i++) {
			struct report_row *row = &r->rows[i];

			if (strcmp(row->cgroup, "/slurm") != 0)
				continue;
			memcpy(key, row->key, sizeof(key));
			snprintf(row->key, sizeof(row->key), "cgroup:?:%u", (unsigned int)k);
			for (size_t n = 0; n < r->nr_rows; n++)
				if (!strcmp(r->rows[n].parent, key))
					memcpy(r->rows[n].parent, row->key, sizeof(row->key));
			break;
		}
		add(&s, r);
	}
	text = text_of(&s);
	line = strstr(text, "\n▾ /slurm ");
	assert_non_null(line);
	line[1 + strcspn(line + 1, "\n")] = '\0';
	assert_non_null(strstr(line, " ⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿"));
	free(text);
	PRESS(&s, 'g', '-');
	has(&s, "▸ /slurm +");
	PRESS(&s, KEYS_ARROW_LEFT);
	has(&s, "▸ /slurm +");
	close_stage(&s);
}

/* The top row of a tree is a sum, with all that a row has. */
static void test_sums(void **state)
{
	struct stage s;

	(void)state;
	open_stage(&s, ROW_PROCESS, 3, 40, 100);
	PRESS(&s, 't', 'g', KEYS_RETURN);
	has(&s, "sum of 6 rows");
	has(&s, "socket 0: ");
	has(&s, "socket 1: ");
	has(&s, "ucf1/mem_bytes_wr/src_loc_cpu=1");
	close_stage(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_folding),
		cmocka_unit_test(test_one_cgroup),
		cmocka_unit_test(test_trees_have_all_rows),
		cmocka_unit_test(test_graph_of_a_cgroup_by_path),
		cmocka_unit_test(test_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
