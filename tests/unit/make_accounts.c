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
