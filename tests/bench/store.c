// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * store [FOLDER]: CPU time and time of intervals of 1,000 changed jobs with 12 counters and 2 steps
 * each, written to a store in FOLDER (default /var/tmp).
 */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/store.h"
#include "../unit/stored_accounts.h"

#define JOBS	  1000
#define COUNTERS  12
#define STEPS	  2
#define INTERVALS 60

static struct account_job jobs[JOBS];

static void grow(struct account_part *p)
{
	p->end_ns += NS_PER_S;
	p->on_cpu_ns += NS_PER_S;
	for (size_t i = 0; i < p->nr_totals; i++) {
		p->totals[i].value += 123456789;
		p->totals[i].low += 120000000;
		p->totals[i].high += 126000000;
	}
}

static int interval(struct store *s, const struct accounts_node *node, struct diag *d)
{
	const struct host_info host = sample_host();
	int err = store_begin(s, d);

	if (!err)
		err = store_node(s, &host, node, d);
	for (size_t i = 0; !err && i < JOBS; i++) {
		jobs[i].intervals++;
		grow(&jobs[i].whole);
		for (size_t n = 0; n < jobs[i].nr_steps; n++)
			grow(&jobs[i].steps[n]);
		err = store_job(s, &jobs[i], d);
	}
	return err ? err : store_commit(s, d);
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void tell(const char *what, uint64_t *ns)
{
	uint64_t sum = 0;

	for (size_t i = 1; i < INTERVALS; i++)
		sum += ns[i];
	printf("%s: first %.1f ms, then mean %.1f ms", what, ns[0] / 1e6,
	       sum / 1e6 / (INTERVALS - 1));
	qsort(ns + 1, INTERVALS - 1, sizeof(*ns), compare);
	printf(", median %.1f ms, longest %.1f ms\n", ns[INTERVALS / 2] / 1e6,
	       ns[INTERVALS - 1] / 1e6);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int main(int argc, char **argv)
{
	uint64_t cpu[INTERVALS], wall[INTERVALS];
	char folder[256], file[300];
	struct accounts_node node;
	struct diag d = { 0 };
	struct store *s;
	struct stat st;
	int err;

	snprintf(folder, sizeof(folder), "%.200s/t410-store-XXXXXX",
		 argc > 1 ? argv[1] : "/var/tmp");
	if (!mkdtemp(folder)) {
		perror(folder);
		return 1;
	}
	snprintf(file, sizeof(file), "%s/accounts.db", folder);
	sample_node(&node, COUNTERS);
	for (size_t i = 0; i < JOBS; i++)
		sample_job(&jobs[i], i, COUNTERS, STEPS);
	err = store_open(file, true, &d, &s);
	for (size_t i = 0; !err && i < INTERVALS; i++) {
		cpu[i] = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		wall[i] = monotonic_ns();
		err = interval(s, &node, &d);
		cpu[i] = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu[i];
		wall[i] = monotonic_ns() - wall[i];
	}
	if (err) {
		fprintf(stderr, "store: %s\n", d.what);
		return 1;
	}
	store_close(s);
	tell("CPU time of an interval", cpu);
	tell("time of an interval, with the disk", wall);
	if (!stat(file, &st))
		printf("size: %.2f KiB a job\n", st.st_size / 1024.0 / JOBS);
	for (size_t i = 0; i < JOBS; i++)
		account_job_release(&jobs[i]);
	accounts_node_release(&node);
	return nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0;
}
