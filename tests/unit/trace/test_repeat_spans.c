// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "trace/repeat_spans.h"

#include "events.h"

#define MOST 300

struct heard {
	struct trace_slice slices[MOST];
	size_t nr;
	struct trace_window windows[MOST];
	struct reading readings[MOST]; /* the last one of each window */
	size_t nr_windows;
	struct trace_io first_io, last_io;
	size_t nr_io;
	size_t after;
	int err;
};

static int on_event(void *arg, const struct trace_event *e)
{
	struct heard *h = arg;

	if (e->type == TRACE_WINDOW) {
		assert_true(h->nr_windows < MOST);
		h->windows[h->nr_windows] = e->window;
		h->readings[h->nr_windows++] = e->window.readings[e->window.group];
		return h->err;
	}
	if (e->type == TRACE_IO) {
		if (!h->nr_io++)
			h->first_io = e->io;
		h->last_io = e->io;
		return h->err;
	}
	assert_int_equal(e->type, TRACE_SLICE);
	assert_true(h->nr < MOST);
	h->slices[h->nr++] = e->slice;
	return h->err;
}

static int after(void *arg)
{
	((struct heard *)arg)->after++;
	return 0;
}

static void slice(struct repeat_spans *o, uint32_t pid, uint32_t cpu, uint64_t start, uint64_t end)
{
	const struct trace_event e = {
		.type = TRACE_SLICE,
		.slice = { .pid = pid,
			   .cpu = cpu,
			   .start_ns = start,
			   .end_ns = end,
			   .on_cpu_ns = end - start },
	};

	repeat_spans_learn(o, &e);
}

/* Group 1 has two counters: what is looked at is the last reading. */
static void window(struct repeat_spans *o, uint32_t group, uint64_t start, uint64_t end)
{
	const struct reading readings[] = { { .value = end }, { .value = end + 1 } };
	const struct trace_event e = {
		.type = TRACE_WINDOW,
		.window = { .group = group,
			    .start_ns = start,
			    .end_ns = end,
			    .readings = readings },
	};

	repeat_spans_learn(o, &e);
}

static void mark(struct repeat_spans *o, const uint64_t *ends)
{
	const struct trace_event e = { .type = TRACE_MARK, .mark = { .ends_ns = ends } };

	repeat_spans_learn(o, &e);
}

static struct heard announce(const struct repeat_spans *o)
{
	struct heard h = { 0 };
	struct trace_sink sink = { on_event, &h };

	assert_int_equal(repeat_spans_announce(o, &sink, after, &h), 0);
	assert_int_equal(h.after, h.nr + h.nr_windows + h.nr_io);
	return h;
}

/* CPUs 0 and 1 are on sockets 0 and 1, CPU 2 on none; so are groups 0 and 1. */
static struct repeat_spans *make(void)
{
	uint32_t sockets[] = { 0, 1, LAYOUT_NO_SOCKET }, ids[] = { 0, 1 };
	struct group groups[] = { { 0, 0, 1 }, { 1, 1, 2 } };
	struct layout layout = {
		.cpu_socket = sockets,
		.nr_cpus = 3,
		.socket_ids = ids,
		.nr_sockets = 2,
		.groups = groups,
		.nr_groups = 2,
	};
	struct repeat_spans *o;

	assert_int_equal(repeat_spans_new(&layout, &o), 0);
	return o;
}

/* Each socket has an end of its own; what ends there is not beyond it. */
static void only_what_is_beyond(void **state)
{
	struct repeat_spans *o = make();
	struct heard h;

	(void)state;
	slice(o, 1, 0, 50, 100);
	slice(o, 2, 0, 90, 101);
	slice(o, 3, 1, 100, 200);
	slice(o, 4, 1, 200, 230);
	slice(o, 5, 2, 0, 1000);
	slice(o, 6, 3, 0, 1000);
	slice(o, 7, 0, 101, 120);
	mark(o, (uint64_t[]){ 100, 200 });
	h = announce(o);
	assert_int_equal(h.nr, 3);
	assert_int_equal(h.slices[0].pid, 2);
	assert_int_equal(h.slices[0].start_ns, 90);
	assert_int_equal(h.slices[0].on_cpu_ns, 11);
	assert_int_equal(h.slices[1].pid, 7);
	assert_int_equal(h.slices[2].pid, 4);

	/* it may reach beyond the next one, too */
	mark(o, (uint64_t[]){ 110, 300 });
	h = announce(o);
	assert_int_equal(h.nr, 1);
	assert_int_equal(h.slices[0].pid, 7);
	mark(o, (uint64_t[]){ 120, 300 });
	assert_int_equal(announce(o).nr, 0);
	/* the end of a trace without marks has no ends */
	slice(o, 8, 0, 120, 130);
	mark(o, NULL);
	assert_int_equal(announce(o).nr, 1);
	repeat_spans_free(o);
}

static void the_last_ones_of_many(void **state)
{
	struct repeat_spans *o = make();
	struct trace_sink sink;
	struct heard h;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		slice(o, i, 1, 10 * i, 10 * i + 10);
	mark(o, (uint64_t[]){ 0, 9500 });
	h = announce(o);
	assert_int_equal(h.nr, 50);
	assert_int_equal(h.slices[0].pid, 950);
	assert_int_equal(h.slices[49].pid, 999);
	for (uint32_t i = 1000; i < 1300; i++)
		slice(o, i, 1, 10 * i, 10 * i + 10);
	mark(o, (uint64_t[]){ 0, 0 });
	h = announce(o);
	assert_int_equal(h.nr, 256);
	assert_int_equal(h.slices[0].pid, 1044);
	assert_int_equal(h.slices[255].pid, 1299);

	h = (struct heard){ .err = -EINVAL };
	sink = (struct trace_sink){ on_event, &h };
	assert_int_equal(repeat_spans_announce(o, &sink, after, &h), -EINVAL);
	assert_int_equal(h.nr, 1);
	assert_int_equal(h.after, 0);
	repeat_spans_free(o);
}

/* As slices: of each group the last four, with their readings. */
static void windows_that_end_beyond(void **state)
{
	struct repeat_spans *o = make();
	struct trace_sink sink;
	struct heard h;

	(void)state;
	for (uint64_t i = 0; i < 10; i++)
		window(o, 0, 10 * i, 10 * i + 10);
	window(o, 1, 0, 200);
	window(o, 1, 200, 230);
	window(o, 2, 0, 1000); /* there is no such group */
	mark(o, (uint64_t[]){ 90, 200 });
	h = announce(o);
	assert_int_equal(h.nr_windows, 2);
	assert_int_equal(h.windows[0].group, 0);
	assert_int_equal(h.windows[0].start_ns, 90);
	assert_int_equal(h.windows[0].end_ns, 100);
	assert_int_equal(h.readings[0].value, 100);
	assert_int_equal(h.windows[1].group, 1);
	assert_int_equal(h.windows[1].end_ns, 230);
	assert_int_equal(h.readings[1].value, 231);

	mark(o, (uint64_t[]){ 0, 230 });
	h = announce(o);
	assert_int_equal(h.nr_windows, 4);
	for (uint64_t i = 0; i < 4; i++)
		assert_int_equal(h.windows[i].start_ns, 60 + 10 * i);
	h = (struct heard){ .err = -ENOMEM };
	sink = (struct trace_sink){ on_event, &h };
	assert_int_equal(repeat_spans_announce(o, &sink, after, &h), -ENOMEM);
	assert_int_equal(h.nr_windows, 1);
	assert_int_equal(h.after, 0);
	mark(o, (uint64_t[]){ 100, 230 });
	assert_int_equal(announce(o).nr_windows, 0);
	repeat_spans_free(o);
}

static void request(struct repeat_spans *o, uint64_t bytes, uint64_t start, uint64_t end)
{
	const struct trace_event e = {
		.type = TRACE_IO,
		.io = { .read_bytes = bytes, .start_ns = start, .end_ns = end },
	};

	repeat_spans_learn(o, &e);
}

/* Beyond the end of any socket; what is moved at once at an end is behind it. */
static void requests_that_end_beyond(void **state)
{
	struct repeat_spans *o = make();
	struct trace_sink sink;
	struct heard h;

	(void)state;
	request(o, 1, 10, 99);
	request(o, 2, 90, 101);
	request(o, 3, 100, 100);
	request(o, 4, 250, 260);
	mark(o, (uint64_t[]){ 200, 100 });
	h = announce(o);
	assert_int_equal(h.nr_io, 3);
	assert_int_equal(h.first_io.read_bytes, 2);
	assert_int_equal(h.first_io.start_ns, 90);
	assert_int_equal(h.last_io.read_bytes, 4);
	mark(o, (uint64_t[]){ 300, 300 });
	assert_int_equal(announce(o).nr_io, 0);

	for (uint64_t i = 0; i < 3000; i++)
		request(o, i, 290, 310);
	mark(o, (uint64_t[]){ 300, 300 });
	h = announce(o);
	assert_int_equal(h.nr_io, 1024);
	assert_int_equal(h.first_io.read_bytes, 3000 - 1024);
	assert_int_equal(h.last_io.read_bytes, 2999);
	h = (struct heard){ .err = -ENOMEM };
	sink = (struct trace_sink){ on_event, &h };
	assert_int_equal(repeat_spans_announce(o, &sink, after, &h), -ENOMEM);
	assert_int_equal(h.nr_io, 1);
	repeat_spans_free(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_is_beyond),
		cmocka_unit_test(the_last_ones_of_many),
		cmocka_unit_test(windows_that_end_beyond),
		cmocka_unit_test(requests_that_end_beyond),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
