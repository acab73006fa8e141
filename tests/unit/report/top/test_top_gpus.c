// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The page of GPUs of "top". */
#include "top_world.h"

#define FIRST	   2 /* one job alone */
#define SECOND_GPU 4 /* a job and a cgroup on two instances */

static struct device link_of_first, link_of_second;

static void add_link(struct report *r, struct device *d, uint32_t gpu)
{
	struct report_device *link;

	*d = *r->devices[gpu].device;
	snprintf(d->bdf + strlen(d->bdf), 8, "/c2c");
	d->kind = DEVICE_LINK;
	d->function = gpu + 1;
	r->devices = reallocarray(r->devices, r->nr_devices + 1, sizeof(*r->devices));
	assert_non_null(r->devices);
	link = &r->devices[r->nr_devices++];
	*link = (struct report_device){ .device = d, .enabled_ns = SECOND, .running_ns = SECOND };
}

/* A link with derived bytes, and one of which nothing is known. */
static struct report *with_gpus(uint64_t k)
{
	struct report *r = second(ROW_PROCESS, k);
	struct report_device *link;

	sample_with_users(r);
	add_link(r, &link_of_first, FIRST);
	add_link(r, &link_of_second, SECOND_GPU);
	link = &r->devices[r->nr_devices - 2];
	link->how = HOW_DERIVED;
	link->read = (struct device_bytes){
		.valid = true, .bytes = 41200000000, .low = 38000000000, .high = 44000000000
	};
	link->write =
		(struct device_bytes){ .valid = true, .bytes = 1500000000, .high = 1900000000 };
	link++;
	link->enabled_ns = link->running_ns = 0;
	strcpy(link->why_none, "several GPUs on the socket, and no map tells their bits");
	return r;
}

static void check(struct stage *s, const char *golden)
{
	char *text = text_of(s);

	sample_check_golden(golden, text);
	free(text);
}

static void test_page(void **state)
{
	struct stage s;

	(void)state;
	open_stage(&s, ROW_PROCESS, 0, 24, 80);
	add(&s, with_gpus(0));
	PRESS(&s, '7');
	check(&s, "top-gpus-80x24.txt");
	s.rows = 40;
	s.columns = 120;
	check(&s, "top-gpus-120x40.txt");
	PRESS(&s, 'u');
	has(&s, "READ/s");
	has(&s, " 41.2 GB ");
	s.columns = DRAW_MIN_COLUMNS;
	has(&s, "C2C");
	close_stage(&s);
}

/* The past keeps users, also those of an interval that is not the newest. */
static void test_past(void **state)
{
	struct report *r;
	struct stage s;

	(void)state;
	open_stage(&s, ROW_PROCESS, 0, 40, 120);
	add(&s, with_gpus(0));
	r = with_gpus(1);
	device_users_release(&r->devices[FIRST].by);
	r->devices[FIRST].exclusive[0] = '\0';
	add(&s, r);
	PRESS(&s, '7');
	lacks(&s, "slurm job 12, 25% of it");
	PRESS(&s, KEYS_ARROW_LEFT);
	has(&s, "slurm job 12, 25% of it");
	close_stage(&s);
}

static void test_idle(void **state)
{
	struct report *r = with_gpus(0);
	struct device_user *u = &r->devices[FIRST].by.users[0];
	struct stage s;

	(void)state;
	u->busy_ns = u->copy_ns = 0;
	u->share = u->low = u->high = 0;
	open_stage(&s, ROW_PROCESS, 0, 40, 120);
	add(&s, r);
	PRESS(&s, '7');
	has(&s, "held but idle");
	close_stage(&s);
}

/* With address sanitizer nothing is read or written outside. */
static void test_all_sizes(void **state)
{
	struct stage s;

	(void)state;
	open_stage(&s, ROW_PROCESS, 0, 24, 80);
	add(&s, with_gpus(0));
	PRESS(&s, '7', 'a');
	for (s.rows = DRAW_MIN_ROWS; s.rows <= 30; s.rows += under_valgrind(10, 1))
		for (s.columns = DRAW_MIN_COLUMNS; s.columns <= 130;
		     s.columns += under_valgrind(30, 1))
			has(&s, "GPU");
	close_stage(&s);
}

static void test_none(void **state)
{
	struct stage s;

	(void)state;
	open_stage(&s, ROW_PROCESS, 1, 24, 80);
	PRESS(&s, '7');
	has(&s, "No GPU is followed: -D all");
	close_stage(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_page), cmocka_unit_test(test_past),
		cmocka_unit_test(test_idle), cmocka_unit_test(test_all_sizes),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
