// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Owners of devices by open nodes beside contexts, and random looks, replayed. */
#include "user_world.h"

#include <jansson.h>
#include <stdlib.h>

#include "report/json/json.h"
#include "temp_file.h"
#include "trace_files.h"

static void alone(struct world *w, uint32_t pid, uint64_t in, uint64_t from, uint64_t to)
{
	const struct trace_io io = { .pid = pid,
				     .tgid = pid,
				     .task_start_ns = start_of(pid),
				     .cgroup_id = in,
				     .exclusive = true,
				     .start_ns = (1000000 + from) * MS,
				     .end_ns = (1000000 + to) * MS };

	assert_int_equal(trace_send_io(&w->out, &io), 0);
}

/* A monitor alone has the node open, a job has the context. */
static void nodes_and_contexts(void **state)
{
	struct world w = make(ROW_PROCESS);
	struct report *r;

	(void)state;
	alone(&w, 5, SERVICE, 0, 1000);
	r = close_at(&w, 1000);
	assert_int_equal(r->devices[0].by.rule, OWNER_NODES);
	assert_int_equal(r->devices[0].by.found, OWNERSHIP_ONE);
	assert_string_equal(r->devices[0].exclusive, "pid:5:5000000000");
	assert_int_equal(r->devices[0].read.owned, 1001);
	assert_int_equal(r->devices[1].read.owned, 1001);
	report_free(r);
	alone(&w, 5, SERVICE, 1000, 2000);
	LOOK(&w, 1500, 1);
	LOOK(&w, 2000, 1);
	alone(&w, 5, SERVICE, 1000, 2000);
	r = close_at(&w, 2000);
	assert_int_equal(bytes_of(r, "pid:1:1000000000", 1), 1001);
	assert_string_equal(r->devices[0].exclusive, "pid:1:1000000000");
	owned(r);
	report_free(r);
	/* looks end, and the node's rule is not taken again */
	alone(&w, 5, SERVICE, 2000, 9000);
	r = close_at(&w, 9000);
	unowned(r, OWNERSHIP_UNKNOWN);
	done(&w, r);
}

static void hold(struct world *w, uint64_t from, uint64_t to, const uint32_t *pids, uint32_t nr)
{
	struct trace_context list[8];
	const struct trace_contexts c = { .start_ns = (1000000 + from) * MS,
					  .end_ns = (1000000 + to) * MS,
					  .processes = list,
					  .nr = nr };

	for (uint32_t i = 0; i < nr; i++)
		list[i] = context(pids[i]);
	assert_int_equal(trace_send_holders(&w->out, &c), 0);
}

/* Open nodes of several cgroups: who has them is told. */
static void holders(void **state)
{
	static const uint32_t pids[] = { 5, 1, 2 };
	struct world w = make(ROW_PROCESS);
	const struct device_users *u;
	struct report *r;

	(void)state;
	hold(&w, 0, 1000, pids, 3);
	r = close_at(&w, 1000);
	u = &r->devices[0].by;
	assert_int_equal(u->rule, OWNER_NODES);
	assert_int_equal(u->found, OWNERSHIP_SHARED);
	/* one cgroup, not one job, would be an owner */
	assert_int_equal(u->nr_blockers, 3);
	assert_int_equal(r->devices[0].read.owned, 0);
	assert_string_equal(r->devices[1].by.blockers[0].comm, u->blockers[0].comm);
	report_free(r);
	/* one of them is left */
	alone(&w, 5, SERVICE, 1000, 2000);
	r = close_at(&w, 2000);
	u = &r->devices[0].by;
	assert_int_equal(u->rule, OWNER_NODES);
	assert_int_equal(u->found, OWNERSHIP_ONE);
	assert_int_equal(u->nr_blockers, 0);
	assert_int_equal(r->devices[0].read.owned, 1001);
	report_free(r);
	r = close_at(&w, 3000);
	assert_int_equal(r->devices[0].by.found, OWNERSHIP_UNKNOWN);
	report_free(r);
	assert_int_equal(session_summary(w.s, &r), 0);
	assert_int_equal(r->devices[0].by.found, OWNERSHIP_SHARED);
	assert_int_equal(r->devices[0].by.nr_blockers, 3);
	report_free(r);
	/* contexts win */
	LOOK(&w, 3500, 1);
	hold(&w, 3000, 4000, pids, 3);
	r = close_at(&w, 4000);
	owned(r);
	done(&w, r);
}

/* Half a second of anything. */
static void random_events(struct world *w, uint64_t ms)
{
	struct trace_context list[6];
	struct trace_busy work[6];
	uint32_t nr = random_below(4);

	for (uint32_t i = 0; i < nr; i++) {
		list[i] = context(1 + random_below(random_below(4) ? 3 : 7));
		list[i].instance = TRACE_NO_INSTANCE;
		if (!random_below(3))
			list[i].instance = random_below(2);
		work[i] = (struct trace_busy){ list[i].pid, list[i].start_ns,
					       random_below(3) * 50 * MS, 0 };
	}
	if (random_below(6))
		look_list(w, ms, random_below(20), list, nr);
	if (random_below(3))
		busy(w, ms - 500, ms, random_below(2) * 4, work, nr);
	if (!random_below(4))
		alone(w, 5, SERVICE, ms - 500, ms);
	if (!random_below(4))
		hold(w, ms - 500, ms, (const uint32_t[]){ 5, 1 }, 2);
}

/* All reports of a run, and its summary, as text. */
struct text {
	char *text;
	size_t size;
	FILE *to;
};

static void put_report(struct text *t, struct report *r)
{
	json_t *o;
	char *line;

	assert_int_equal(json_report(r, &o), 0);
	line = json_dumps(o, JSON_SORT_KEYS);
	assert_non_null(line);
	fprintf(t->to, "%s\n", line);
	free(line);
	json_decref(o);
	report_free(r);
}

static void put_summary(struct text *t, struct session *s)
{
	struct report *r;

	assert_int_equal(session_summary(s, &r), 0);
	put_report(t, r);
	fclose(t->to);
}

static void random_run(enum row_kind by, struct text *told)
{
	struct world w = make(by);
	uint64_t sums[2] = { 0 };
	struct report *r;

	for (uint64_t ms = 500; ms < 15000; ms += 500) {
		const uint64_t bytes[2] = { random_below(5) ? random_below(1 << 20) : 0,
					    random_below(1 << 20) };
		uint64_t end = (1000000 + ms) * MS;
		const struct trace_mark m = { .inner = true, .time_ns = end, .ends_ns = &end };

		random_events(&w, ms);
		if (!random_below(3)) {
			assert_int_equal(trace_send_mark(&w.out, &m), 0);
			continue;
		}
		for (int k = 0; k < 2; k++)
			sums[k] += bytes[k];
		put_report(told, close_with(&w, ms, bytes));
	}
	assert_int_equal(session_summary(w.s, &r), 0);
	for (int k = 0; k < 2; k++) {
		const struct report_counter *c = &r->counters[1 + k];
		uint64_t all = c->attributed;

		for (int i = 0; i < NR_REASONS; i++)
			all += c->unattributed[i];
		assert_int_equal(all, sums[k]);
	}
	report_free(r);
	put_summary(told, w.s);
	session_free(w.s);
}

struct again {
	struct session *s;
	struct text said;
};

static int replay(void *arg, const struct trace_event *e)
{
	struct again *a = arg;
	struct trace_sink to = session_sink(a->s);
	struct report *r;

	if (e->type != TRACE_MARK || e->mark.first || e->mark.inner || e->mark.last)
		return trace_send(&to, e);
	assert_int_equal(session_report(a->s, &e->mark, &r), 0);
	put_report(&a->said, r);
	return 0;
}

/* Whatever looks say, no byte is lost or made, and a recording gives the same reports. */
static void random_looks(void **state)
{
	static const enum row_kind kinds[] = { ROW_PROCESS, ROW_CGROUP, ROW_JOB };

	(void)state;
	for (int run = 0; run < 60; run++) {
		struct session_options o = { .by = kinds[run % 3], .all = true };
		struct text told = { 0 };
		struct again a = { 0 };
		struct trace_sink sink = { replay, &a };
		struct recording_writer *w;
		struct trace_end end = { 0 };
		struct trace_file *f;
		struct diag d = { 0 };

		told.to = open_memstream(&told.text, &told.size);
		a.said.to = open_memstream(&a.said.text, &a.said.size);
		assert_int_equal(recording_create(temp_path, &header, 0, &d, &w), 0);
		beside = recording_sink(w);
		random_run(kinds[run % 3], &told);
		beside.event = NULL;
		assert_int_equal(recording_finish(w, &d, NULL), 0);
		assert_int_equal(trace_file_open(temp_path, &d, &f), 0);
		assert_int_equal(session_new(trace_file_header(f), &o, &a.s), 0);
		assert_int_equal(trace_file_read(f, &sink, &d, &end), 0);
		put_summary(&a.said, a.s);
		assert_string_equal(a.said.text, told.text);
		session_free(a.s);
		trace_file_close(f);
		free(told.text);
		free(a.said.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_and_contexts),
		cmocka_unit_test(holders),
		cmocka_unit_test(random_looks),
	};

	return cmocka_run_group_tests(tests, temp_make, temp_drop);
}
