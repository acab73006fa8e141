// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * make_accounts FILE [STEP...]: a store for tests of commands, a step of its life after the other:
 *
 *   jobs		job 12 (ran, was requeued and runs), 13 (over), 14 (stale)
 *   run=NUMBER		job NUMBER runs, again or still
 *   end=NUMBER		that one is over
 *   long=NUMBER		an old run of job NUMBER, over for 150 s
 *   older=NUMBER	a run of it that is older still, and goes on
 *   many=NUMBER	that many jobs run, again or still: numbers from 1000 on
 *   course=NUMBER	job NUMBER, over, with intervals: 10 s each, one without the first counter, and a
 *			time that nobody looked before the third one
 *   rest=NUMBER	the same of which the first interval was dropped
 *   sleep=MS		time passes
 *   line		wait for a line on standard input
 *   hold		keep the store until standard input ends
 *   ok			say "ok" on standard output
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/store.h"
#include "stored_accounts.h"

#define COUNTERS 6

static struct store *store;
static uint64_t intervals;

static void must(int err, const struct diag *d)
{
	if (!err)
		return;
	fprintf(stderr, "make_accounts: %s (%s)\n", d->what, d->help);
	exit(1);
}

static void put_lasting(uint32_t number, uint32_t cgroup, uint64_t ago_s, uint64_t length_s,
			enum account_state state)
{
	struct account_job j;
	struct diag d = { 0 };
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);

	sample_job(&j, number, COUNTERS, 2);
	j.whole.start_ns = now_ns - ago_s * SAMPLE_S;
	j.whole.end_ns = j.whole.start_ns + length_s * SAMPLE_S;
	j.job.cgroup_id = cgroup;
	/* nothing is missing */
	for (size_t i = 0; i < j.nr_node; i++)
		j.node[i].missing = 0;
	j.quality.late_slices = 0;
	snprintf(j.key, sizeof(j.key), "slurm-%u-%u-1", number, cgroup);
	if (state != ACCOUNT_RUNNING)
		sample_end(&j, state);
	must(store_job(store, &j, &d), &d);
	account_job_release(&j);
}

static void put(uint32_t number, uint32_t cgroup, uint64_t ago_s, enum account_state state)
{
	put_lasting(number, cgroup, ago_s, 5, state);
}

/* Part @i of @nr of a number; all parts are the number. */
static uint64_t part(uint64_t value, uint64_t i, uint64_t nr)
{
	return value * (i + 1) / nr - value * i / nr;
}

#define SPANS	 6
#define WITHOUT	 1 /* this one has nothing of the first counter */
#define GAP_AT	 2
#define SPAN_NS	 (10 * SAMPLE_S)
#define GAP_NS	 (20 * SAMPLE_S)
#define BEGAN_NS (SAMPLE_START_NS + 3600 * SAMPLE_S)

static void piece_of(const struct account_job *j, uint64_t i, struct account_job *ret)
{
	ret->intervals = part(j->intervals, i, SPANS);
	ret->covered_ns = SPAN_NS;
	ret->gap_ns = i == GAP_AT ? GAP_NS : 0;
	ret->whole.on_cpu_ns = part(j->whole.on_cpu_ns, i, SPANS);
	ret->whole.nr_io = 1;
	ret->whole.io[0].read_bytes = part(j->whole.io[0].read_bytes, i, SPANS);
	ret->whole.io[0].write_bytes = part(j->whole.io[0].write_bytes, i, SPANS);
	for (size_t k = 0; k < j->whole.nr_totals; k++) {
		const struct account_total *t = &j->whole.totals[k];
		/* what would be in the interval without the counter is in the first */
		uint64_t nr = k ? SPANS : SPANS - 1, at = k || i < WITHOUT ? i : i - 1;
		bool none = !k && i == WITHOUT;

		ret->whole.totals[k].value = none ? 0 : part(t->value, at, nr);
		ret->whole.totals[k].low = none ? 0 : part(t->low, at, nr);
		ret->whole.totals[k].high = none ? 0 : part(t->high, at, nr);
		ret->whole.totals[k].inseparable = none ? 0 : part(t->inseparable, at, nr);
	}
}

static void put_piece(const struct account_job *j, uint64_t i)
{
	uint64_t start_ns = BEGAN_NS + i * SPAN_NS + (i < GAP_AT ? 0 : GAP_NS);
	struct accounts_node node;
	struct account_job piece;
	const struct store_span span = { i + 1, start_ns, start_ns + SPAN_NS, SPAN_NS, &node };
	const struct store_job_span in = { &span, j->key, &piece, i + 1 == SPANS };
	struct diag d = { 0 };

	sample_node(&node, COUNTERS);
	node.intervals = part(j->intervals, i, SPANS);
	node.covered_ns = SPAN_NS;
	for (size_t k = 0; k < node.nr_totals; k++)
		node.totals[k].missing = 0;
	if (i == WITHOUT)
		node.totals[0] = (struct account_node_total){ .missing = node.intervals,
							      .enabled_ns = SPAN_NS };
	must(store_span(store, &span, &d), &d);
	sample_job(&piece, 1, COUNTERS, 0);
	piece_of(j, i, &piece);
	piece.whole.start_ns = start_ns;
	piece.whole.end_ns = start_ns + SPAN_NS;
	must(store_job_span(store, &in, &d), &d);
	account_job_release(&piece);
	accounts_node_release(&node);
}

static void put_course(uint32_t number, uint64_t first)
{
	struct diag d = { 0 };
	struct account_job j;

	sample_job(&j, number, COUNTERS, 2);
	snprintf(j.key, sizeof(j.key), "slurm-%u-885-1", number);
	j.whole.start_ns = BEGAN_NS;
	j.whole.end_ns = BEGAN_NS + SPANS * SPAN_NS + GAP_NS;
	j.gap_ns = GAP_NS;
	j.nr_gaps = 1;
	j.gaps[0] = (struct account_gap){ BEGAN_NS + GAP_AT * SPAN_NS,
					  BEGAN_NS + GAP_AT * SPAN_NS + GAP_NS };
	sample_end(&j, ACCOUNT_ENDED);
	must(store_job(store, &j, &d), &d);
	for (uint64_t i = first; i < SPANS; i++)
		put_piece(&j, i);
	account_job_release(&j);
}

static void begin(void)
{
	const struct host_info host = sample_host();
	struct accounts_node node;
	struct diag d = { 0 };

	must(store_begin(store, &d), &d);
	sample_node(&node, COUNTERS);
	node.intervals += intervals++;
	node.until_ns = clock_ns(CLOCK_REALTIME);
	must(store_node(store, &host, &node, &d), &d);
	accounts_node_release(&node);
}

static void commit(void)
{
	struct diag d = { 0 };

	must(store_commit(store, &d), &d);
}

static void put_jobs(void)
{
	begin();
	put(12, 881, 300, ACCOUNT_ENDED);
	put(13, 882, 200, ACCOUNT_ENDED);
	put(14, 883, 100, ACCOUNT_STALE);
	put(12, 884, 10, ACCOUNT_RUNNING);
	commit();
}

static void step(const char *name)
{
	if (!strcmp(name, "jobs")) {
		put_jobs();
	} else if (!strncmp(name, "end=", 4)) {
		begin();
		put(atoi(name + 4), 884, 10, ACCOUNT_ENDED);
		commit();
	} else if (!strncmp(name, "run=", 4)) {
		begin();
		put(atoi(name + 4), 884, 10, ACCOUNT_RUNNING);
		commit();
	} else if (!strncmp(name, "long=", 5)) {
		begin();
		put_lasting(atoi(name + 5), 880, 1000, 850, ACCOUNT_ENDED);
		commit();
	} else if (!strncmp(name, "older=", 6)) {
		begin();
		put_lasting(atoi(name + 6), 879, 2000, 1990, ACCOUNT_RUNNING);
		commit();
	} else if (!strncmp(name, "many=", 5)) {
		begin();
		for (int i = 0; i < atoi(name + 5); i++)
			put(1000 + i, 1000 + i, 10, ACCOUNT_RUNNING);
		commit();
	} else if (!strncmp(name, "course=", 7)) {
		begin();
		put_course(atoi(name + 7), 0);
		commit();
	} else if (!strncmp(name, "rest=", 5)) {
		begin();
		put_course(atoi(name + 5), 1);
		commit();
	} else if (!strncmp(name, "sleep=", 6)) {
		usleep(1000 * atoi(name + 6));
	} else if (!strcmp(name, "line")) {
		while (getchar() != '\n')
			;
	} else if (!strcmp(name, "hold")) {
		while (getchar() != EOF)
			;
	} else if (!strcmp(name, "ok")) {
		puts("ok");
		fflush(stdout);
	} else {
		fprintf(stderr, "make_accounts: no step \"%s\"\n", name);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct diag d = { 0 };

	if (argc < 2)
		return 2;
	must(store_open(argv[1], true, &d, &store), &d);
	for (int i = 2; i < argc; i++)
		step(argv[i]);
	store_close(store);
	return 0;
}
