// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Hundreds of intervals in which jobs begin, end, sleep and change their steps, counters come and
 * go, the store fails, and the keeper is killed and begins anew; beside a model that adds up the
 * plain way: per job, interval and counter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <cmocka.h>

#include "engine/accounts/accounts.h"
#include "account_world.h"
#include "random.h"

#define MAX_JOBS  400
#define MAX_STEPS 5
#define INTERVALS 400

struct model_part {
	uint64_t on_cpu_ns;
	struct account_total totals[WORLD_COUNTERS];
	uint64_t io[2][2];
};

struct model_node {
	struct account_node_total totals[WORLD_COUNTERS];
	bool listed[WORLD_COUNTERS];
	uint64_t valid[WORLD_COUNTERS];
	uint64_t intervals;
	uint64_t late_slices;
	uint64_t switches;
};

/* A job as the model has it: what is in its account. */
struct model_job {
	uint64_t cgroup;
	bool in_keeper;
	enum account_state state;
	bool late_start;
	uint64_t start, end;
	uint64_t gap_ns;
	size_t gaps;
	struct model_part whole;
	struct model_part steps[MAX_STEPS];
	bool step_seen[MAX_STEPS];
	bool step_ended[MAX_STEPS];
	struct model_node node;
};

struct world {
	struct draw d;
	struct accounts *a;
	struct model_job jobs[MAX_JOBS];
	struct model_job stored[MAX_JOBS];
	bool is_stored[MAX_JOBS];
	size_t nr_jobs;
	bool alive[MAX_JOBS];
	struct model_node node, node_stored;
	uint64_t node_gap, node_gap_stored;
	uint64_t until, until_stored;
	uint64_t number;
	bool first;
	/* What the store has of the keeper: running accounts, by job */
	struct account_job saved[MAX_JOBS];
	bool is_saved[MAX_JOBS];
	struct accounts_node saved_node;
	/* Places of the counters in this run */
	uint32_t layout[WORLD_COUNTERS];
	size_t nr_layout;
	uint64_t stale, ended, started;
};

static void shuffle(struct world *w)
{
	for (uint32_t i = 0; i < WORLD_COUNTERS; i++)
		w->layout[i] = i;
	for (size_t i = WORLD_COUNTERS - 1; i > 0; i--) {
		size_t k = draw_below(&w->d, i + 1);
		uint32_t kept = w->layout[i];

		w->layout[i] = w->layout[k];
		w->layout[k] = kept;
	}
	w->nr_layout = 6 + draw_below(&w->d, WORLD_COUNTERS - 5);
}

/* A counter of the world by its place in the report. */
static uint32_t counter_at(const struct world *w, uint32_t place)
{
	return w->layout[place];
}

static void model_share(struct account_total *t, const struct share *s, bool value, bool bounds)
{
	if (value)
		t->value += s->value;
	if (!bounds)
		return;
	t->low += s->low;
	t->high += s->high;
	t->inseparable += s->separable ? 0 : s->value;
}

/* A leaf row with bytes of some counters and requests, which the model books at once. */
static struct report_row *busy_row(struct world *w, struct report *r, size_t job, const char *step,
				   struct model_part *part, bool bounds)
{
	struct model_job *m = &w->jobs[job];
	char id[16];
	struct report_row *row;

	snprintf(id, sizeof(id), "%zu", job + 1);
	row = world_row(r, SCHEDULER_SLURM, id, m->cgroup, step, true);
	row->on_cpu_ns = draw_below(&w->d, 1000);
	m->whole.on_cpu_ns += row->on_cpu_ns;
	if (part)
		part->on_cpu_ns += row->on_cpu_ns;
	for (uint32_t i = 0; i < w->nr_layout; i++) {
		uint32_t c = counter_at(w, i);
		struct share *s;

		if (!r->counters[i].valid || draw_below(&w->d, 3))
			continue;
		world_share(r, row, i, draw_u64(&w->d) >> (20 + draw_below(&w->d, 40)));
		s = &row->shares[row->nr_shares - 1];
		s->separable = draw_below(&w->d, 4) != 0;
		model_share(&m->whole.totals[c], s, true, bounds);
		if (part)
			model_share(&part->totals[c], s, true, true);
	}
	if (!draw_below(&w->d, 3)) {
		uint32_t device = (uint32_t)draw_below(&w->d, 2);
		uint64_t bytes = draw_below(&w->d, 1000);

		world_io(row, device, bytes, bytes * 2);
		m->whole.io[device][0] += bytes;
		m->whole.io[device][1] += bytes * 2;
		if (part) {
			part->io[device][0] += bytes;
			part->io[device][1] += bytes * 2;
		}
	}
	return row;
}

/* The job as a whole, somewhat better known than its parts. */
static struct report_row *whole_row(struct world *w, struct report *r, size_t job)
{
	struct model_job *m = &w->jobs[job];
	struct report_row *row, *other;
	uint64_t sums[WORLD_COUNTERS] = { 0 };
	char id[16];

	snprintf(id, sizeof(id), "%zu", job + 1);
	row = world_row(r, SCHEDULER_SLURM, id, m->cgroup, "", false);
	for (size_t i = 0; i < r->nr_rows - 1; i++) {
		other = &r->rows[i];
		for (size_t k = 0; k < other->nr_shares && other->cgroup_id == m->cgroup; k++)
			sums[other->shares[k].counter] += other->shares[k].value;
	}
	for (uint32_t i = 0; i < w->nr_layout; i++) {
		if (!r->counters[i].valid)
			continue;
		world_share(r, row, i, sums[i]);
		model_share(&m->whole.totals[counter_at(w, i)], &row->shares[row->nr_shares - 1],
			    false, true);
	}
	return row;
}

static void job_rows(struct world *w, struct report *r, size_t job, bool ends)
{
	struct model_job *m = &w->jobs[job];
	size_t nr = job % (MAX_STEPS + 1);

	if (!nr) {
		if (draw_below(&w->d, 8) || w->first || ends)
			busy_row(w, r, job, "", NULL, true)->exited = ends;
		return;
	}
	for (size_t i = 0; i < nr; i++) {
		char step[8];
		bool over;

		if (!draw_below(&w->d, 3))
			continue;
		snprintf(step, sizeof(step), "s%zu", i);
		over = ends || !draw_below(&w->d, 10);
		busy_row(w, r, job, step, &m->steps[i], false)->exited = over;
		m->step_seen[i] = true;
		m->step_ended[i] |= over;
	}
	if (draw_below(&w->d, 2))
		busy_row(w, r, job, "own", NULL, false);
	whole_row(w, r, job)->exited = ends;
}

static void model_interval(struct model_node *n, const struct world *w, const struct report *r)
{
	n->intervals++;
	n->late_slices += r->quality.late_slices;
	n->switches += r->self.switches;
	for (size_t i = 0; i < w->nr_layout; i++) {
		const struct report_counter *c = &r->counters[i];
		struct account_node_total *t = &n->totals[w->layout[i]];

		n->listed[w->layout[i]] = true;
		t->enabled_ns += c->enabled_ns;
		t->running_ns += c->running_ns;
		if (!c->valid)
			continue;
		n->valid[w->layout[i]]++;
		t->value += c->value;
		t->attributed += c->attributed;
		for (int k = 0; k < NR_REASONS; k++)
			t->unattributed[k] += c->unattributed[k];
	}
}

static struct report *make_report(struct world *w)
{
	struct report *r = world_report(w->number);

	for (size_t i = 0; i < w->nr_layout; i++) {
		r->counters[i].counter = &world_counters[w->layout[i]];
		r->counters[i].valid = draw_below(&w->d, 10) != 0;
		r->counters[i].running_ns -= draw_below(&w->d, 1000);
	}
	r->nr_counters = w->nr_layout;
	for (uint32_t i = 0; i < w->nr_layout; i++)
		if (r->counters[i].valid)
			world_rest(r, i, (enum reason)draw_below(&w->d, NR_REASONS),
				   draw_below(&w->d, 1000000));
	r->quality.late_slices = draw_below(&w->d, 3);
	return r;
}

/* Begin and end jobs, and make the rows of all that live; who ends is over in the model then. */
static void step_jobs(struct world *w, struct report *r)
{
	bool ends[MAX_JOBS] = { false };

	if (w->nr_jobs < MAX_JOBS && !draw_below(&w->d, 2)) {
		w->jobs[w->nr_jobs].cgroup = 1000 + w->nr_jobs;
		w->alive[w->nr_jobs++] = true;
	}
	for (size_t i = 0; i < w->nr_jobs; i++) {
		struct model_job *m = &w->jobs[i];

		if (!w->alive[i])
			continue;
		ends[i] = !draw_below(&w->d, 25);
		if (!m->in_keeper) {
			uint64_t cgroup = m->cgroup;

			memset(m, 0, sizeof(*m));
			m->cgroup = cgroup;
			m->in_keeper = true;
			m->start = r->start_time_ns;
			m->late_start = w->first;
			w->started++;
			/* It begins with a row. */
			busy_row(w, r, i, "", NULL, i % (MAX_STEPS + 1) == 0)->exited = ends[i];
			if (i % (MAX_STEPS + 1))
				whole_row(w, r, i);
		} else {
			job_rows(w, r, i, ends[i]);
		}
		w->alive[i] = !ends[i];
	}
	if (!draw_below(&w->d, 2)) {
		struct report_row *row = world_row(r, SCHEDULER_NONE, NULL, 0, "", true);

		if (r->counters[0].valid)
			world_share(r, row, 0, 77);
	}
	for (size_t i = 0; i < w->nr_jobs; i++) {
		struct model_job *m = &w->jobs[i];

		if (!m->in_keeper || m->state != ACCOUNT_RUNNING)
			continue;
		m->end = r->start_time_ns + WORLD_SECOND;
		model_interval(&m->node, w, r);
		if (ends[i]) {
			m->state = ACCOUNT_ENDED;
			w->ended++;
		}
	}
}

/* The first interval after a restart: who lives goes on with a gap, the others are stale. */
static void step_restarted(struct world *w, const struct report *r)
{
	for (size_t i = 0; i < w->nr_jobs && w->first; i++) {
		struct model_job *m = &w->jobs[i];

		if (!m->in_keeper || m->state != ACCOUNT_RUNNING)
			continue;
		if (!w->alive[i]) {
			m->state = ACCOUNT_STALE;
			w->stale++;
			continue;
		}
		m->gaps++;
		m->gap_ns += r->start_time_ns - m->end;
	}
	if (w->first && w->node.intervals)
		w->node_gap += r->start_time_ns - w->until;
}

/* --- comparing */

static void check_part(const struct world *w, const struct account_part *p,
		       const struct model_part *m)
{
	const struct accounts_node *n = accounts_node(w->a);
	struct account_total totals[WORLD_COUNTERS] = { 0 };
	uint64_t io[2][2] = { 0 };

	assert_int_equal(p->on_cpu_ns, m->on_cpu_ns);
	for (size_t i = 0; i < p->nr_totals; i++) {
		const char *name = n->counters[p->totals[i].counter].name;
		size_t c = 0;

		assert_true(!i || p->totals[i - 1].counter < p->totals[i].counter);
		assert_true(p->totals[i].value || p->totals[i].high);
		while (strcmp(world_counters[c].name, name) != 0)
			c++;
		totals[c] = p->totals[i];
		totals[c].counter = 0;
	}
	assert_memory_equal(totals, m->totals, sizeof(totals));
	for (size_t i = 0; i < p->nr_io; i++) {
		size_t device = strcmp(p->io[i].bdf, world_devices[0].bdf) != 0;

		io[device][0] += p->io[i].read_bytes;
		io[device][1] += p->io[i].write_bytes;
	}
	assert_memory_equal(io, m->io, sizeof(io));
}

static void check_node(const struct world *w, const struct account_node_total *totals, size_t nr,
		       const struct model_node *m)
{
	const struct accounts_node *n = accounts_node(w->a);
	size_t listed = 0, found = 0;

	for (size_t c = 0; c < WORLD_COUNTERS; c++)
		listed += m->listed[c];
	for (size_t i = 0; i < nr; i++) {
		struct account_node_total t = totals[i];
		size_t c = 0;
		uint64_t rest = t.value - t.attributed;

		while (strcmp(world_counters[c].name, n->counters[t.counter].name) != 0)
			c++;
		for (int k = 0; k < NR_REASONS; k++)
			rest -= t.unattributed[k];
		assert_int_equal(rest, 0);
		assert_int_equal(t.missing, m->intervals - m->valid[c]);
		t.counter = 0;
		t.missing = 0;
		assert_memory_equal(&t, &m->totals[c], sizeof(t));
		found += m->listed[c];
	}
	assert_int_equal(found, listed);
}

struct seen {
	struct world *w;
	bool seen[MAX_JOBS];
};

static int check_job(void *arg, const struct account_job *j)
{
	struct seen *seen = arg;
	struct world *w = seen->w;
	size_t i = j->job.cgroup_id - 1000;
	const struct model_job *m = &w->jobs[i];

	assert_true(i < w->nr_jobs && m->in_keeper);
	assert_false(seen->seen[i]);
	seen->seen[i] = true;
	assert_int_equal(j->state, m->state);
	assert_int_equal(j->late_start, m->late_start);
	assert_int_equal(j->whole.start_ns, m->start);
	assert_int_equal(j->whole.end_ns, m->end);
	assert_int_equal(j->whole.ended, m->state == ACCOUNT_ENDED);
	assert_int_equal(j->gap_ns, m->gap_ns);
	assert_int_equal(j->nr_gaps, m->gaps < ACCOUNT_MAX_GAPS ? m->gaps : ACCOUNT_MAX_GAPS);
	assert_int_equal(j->intervals, m->node.intervals);
	assert_int_equal(j->covered_ns, m->node.intervals * WORLD_SECOND);
	assert_int_equal(j->quality.late_slices, m->node.late_slices);
	assert_int_equal(j->self.switches, m->node.switches);
	check_part(w, &j->whole, &m->whole);
	check_node(w, j->node, j->nr_node, &m->node);
	for (size_t k = 0; k < j->nr_steps; k++) {
		size_t step = (size_t)(j->steps[k].step[1] - '0');

		assert_true(m->step_seen[step]);
		assert_int_equal(j->steps[k].ended, m->step_ended[step]);
		check_part(w, &j->steps[k], &m->steps[step]);
	}
	return 0;
}

static void check(struct world *w)
{
	const struct accounts_node *n = accounts_node(w->a);
	struct seen seen = { .w = w };

	assert_int_equal(accounts_each(w->a, check_job, &seen), 0);
	for (size_t i = 0; i < w->nr_jobs; i++)
		assert_int_equal(seen.seen[i], w->jobs[i].in_keeper);
	check_node(w, n->totals, n->nr_totals, &w->node);
	assert_int_equal(n->intervals, w->node.intervals);
	assert_int_equal(n->gap_ns, w->node_gap);
	assert_int_equal(n->late_rows, 0);
	assert_int_equal(n->jobs_dropped, 0);
	assert_int_equal(n->jobs_started, w->started);
	assert_int_equal(n->jobs_ended, w->ended);
	assert_int_equal(n->jobs_stale, w->stale);
}

/* --- the store */

static int save_job(void *arg, const struct account_job *j)
{
	struct world *w = arg;
	size_t i = j->job.cgroup_id - 1000;

	if (w->is_saved[i])
		account_job_release(&w->saved[i]);
	w->is_saved[i] = j->state == ACCOUNT_RUNNING;
	if (w->is_saved[i])
		w->saved[i] = world_copy_job(j);
	w->stored[i] = w->jobs[i];
	w->is_stored[i] = w->is_saved[i];
	if (j->state != ACCOUNT_RUNNING)
		w->jobs[i].in_keeper = false;
	return 0;
}

static void save(struct world *w)
{
	assert_int_equal(accounts_each_changed(w->a, save_job, w), 0);
	accounts_saved(w->a);
	accounts_node_release(&w->saved_node);
	w->saved_node = world_copy_node(accounts_node(w->a));
	w->node_stored = w->node;
	w->node_gap_stored = w->node_gap;
	w->until_stored = w->until;
}

/* The keeper is killed: what was saved last is what there is. */
static void kill_and_restart(struct world *w)
{
	struct accounts_options o = { .boot = WORLD_BOOT, .schedulers = 1U << SCHEDULER_SLURM };
	struct account_job jobs[MAX_JOBS];
	size_t nr = 0;

	accounts_free(w->a);
	assert_int_equal(accounts_new(&o, &w->a), 0);
	for (size_t i = 0; i < w->nr_jobs; i++) {
		w->jobs[i].in_keeper = w->is_stored[i];
		if (!w->is_stored[i])
			continue;
		jobs[nr++] = w->saved[i];
		w->jobs[i] = w->stored[i];
	}
	w->node = w->node_stored;
	w->node_gap = w->node_gap_stored;
	w->until = w->until_stored;
	w->started = w->saved_node.jobs_started;
	w->ended = w->saved_node.jobs_ended;
	w->stale = w->saved_node.jobs_stale;
	assert_int_equal(accounts_restore(w->a, &w->saved_node, jobs, nr, UINT64_MAX), 0);
	/* Meanwhile some end, and nobody sees it. */
	for (size_t i = 0; i < w->nr_jobs; i++)
		w->alive[i] = w->alive[i] && draw_below(&w->d, 4);
	w->number += draw_below(&w->d, 5);
	w->first = true;
	shuffle(w);
}

static void run(uint64_t seed)
{
	struct accounts_options o = { .boot = WORLD_BOOT, .schedulers = 1U << SCHEDULER_SLURM };
	struct world *w = world_must(calloc(1, sizeof(*w)));
	size_t intervals = draw_times(INTERVALS, 60);

	w->d.state = seed;
	w->first = true;
	shuffle(w);
	assert_int_equal(accounts_new(&o, &w->a), 0);
	save(w);
	for (size_t i = 0; i < intervals; i++) {
		struct report *r = make_report(w);

		step_restarted(w, r);
		step_jobs(w, r);
		model_interval(&w->node, w, r);
		assert_int_equal(accounts_interval(w->a, r), 0);
		w->until = r->start_time_ns + WORLD_SECOND;
		w->first = false;
		w->number++;
		report_free(r);
		check(w);
		/* The store fails now and then. */
		if (draw_below(&w->d, 4))
			save(w);
		if (!draw_below(&w->d, 40))
			kill_and_restart(w);
		else if (!draw_below(&w->d, 20))
			shuffle(w);
	}
	for (size_t i = 0; i < w->nr_jobs; i++)
		if (w->is_saved[i])
			account_job_release(&w->saved[i]);
	accounts_node_release(&w->saved_node);
	accounts_free(w->a);
	free(w);
}

static void test_random(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= draw_times(20, 1); seed++)
		run(seed * 7919);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
