// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * store [FOLDER]: CPU time and time of intervals of 1,000 changed jobs with 12 counters and 2 steps
 * each, written to a store in FOLDER (default /var/tmp). Then 70 minutes of their history, "10s for
 * 1h, 5m for 30d": time of an interval of it and of joining thirty, and how large it is.
 */
#include <errno.h>
#include <ftw.h>
#include <sqlite3.h>
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
#define SPANS	  (70 * 6)

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

static void differ(struct account_part *p, uint64_t *seed)
{
	for (size_t i = 0; i < p->nr_totals; i++) {
		*seed = *seed * 6364136223846793005u + 1442695040888963407u;
		p->totals[i].value = *seed >> 28;
		p->totals[i].low = p->totals[i].value - (*seed >> 30);
		p->totals[i].high = p->totals[i].value + (*seed >> 30);
	}
}

static int put_span(struct store *s, uint64_t number, struct accounts_node *node, uint64_t *seed,
		    struct diag *d)
{
	const struct host_info host = sample_host();
	const struct store_span span = { number, SAMPLE_START_NS + number * 10 * NS_PER_S,
					 SAMPLE_START_NS + (number + 1) * 10 * NS_PER_S,
					 10 * NS_PER_S, node };
	int err = store_begin(s, d) ?: store_node(s, &host, node, d) ?: store_span(s, &span, d);

	for (size_t i = 0; !err && i < JOBS; i++) {
		struct account_job piece = { .intervals = 1, .covered_ns = 10 * NS_PER_S };
		const struct store_job_span part = { &span, jobs[i].key, &piece, false };

		differ(&jobs[i].whole, seed);
		piece.whole = jobs[i].whole;
		piece.whole.start_ns = span.start_ns;
		piece.whole.end_ns = span.end_ns;
		err = store_job_span(s, &part, d);
	}
	return err ? err : store_commit(s, d);
}

static int64_t number(const char *file, const char *sql)
{
	sqlite3_stmt *st = NULL;
	int64_t value = -1;
	sqlite3 *db;

	if (!sqlite3_open(file, &db) && !sqlite3_prepare_v2(db, sql, -1, &st, NULL) &&
	    sqlite3_step(st) == SQLITE_ROW)
		value = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	sqlite3_close(db);
	return value;
}

static int history(struct store *s, const char *file, struct accounts_node *node, struct diag *d)
{
	const struct history_config c = {
		2, { { 10 * NS_PER_S, 3600 * NS_PER_S }, { 300 * NS_PER_S, 2592000 * NS_PER_S } }
	};
	uint64_t puts = 0, joins = 0, nr_joins = 0, longest = 0, seed = 1, begin;
	int64_t fine, coarse, fine_nr, coarse_nr;
	int err = 0;

	node->intervals = 1;
	node->covered_ns = 10 * NS_PER_S;
	for (uint64_t i = 1; i <= SPANS && !err; i++) {
		bool more = true;

		begin = monotonic_ns();
		err = put_span(s, i, node, &seed, d);
		puts += monotonic_ns() - begin;
		while (!err && more) {
			begin = monotonic_ns();
			err = store_thin(s, &c, SAMPLE_START_NS + (i + 1) * 10 * NS_PER_S, d,
					 &more);
			begin = monotonic_ns() - begin;
			joins += more ? begin : 0;
			nr_joins += more;
			longest = more && begin > longest ? begin : longest;
		}
	}
	if (err || !nr_joins)
		return err ? err : -ENODATA;
	printf("history: an interval of all jobs %.1f ms; joining thirty of them mean %.1f ms, "
	       "longest %.1f ms\n",
	       puts / 1e6 / SPANS, joins / 1e6 / nr_joins, longest / 1e6);
#define OF(sum, which)                                                                        \
	number(file, "SELECT " sum " FROM job_spans p JOIN spans s ON s.number=p.span WHERE " \
		     "length_ns" which "10000000000")
	fine = OF("sum(length(p.details))", "=");
	coarse = OF("sum(length(p.details))", ">");
	fine_nr = OF("count(*)", "=");
	coarse_nr = OF("count(*)", ">");
	printf("history: %.0f bytes for a job and interval of 10 s, %.0f for one of 5 minutes: "
	       "%.0f KiB for the last hour, then %.0f KiB a day\n",
	       (double)fine / fine_nr, (double)coarse / coarse_nr, fine / 1024. / JOBS,
	       288. * coarse / coarse_nr / 1024);
	return 0;
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
	if (!err)
		stat(file, &st);
	if (!err)
		err = history(s, file, &node, &d);
	if (err) {
		fprintf(stderr, "store: %s\n", d.what);
		return 1;
	}
	store_close(s);
	tell("CPU time of an interval", cpu);
	tell("time of an interval, with the disk", wall);
	if (!err)
		printf("size: %.2f KiB a job\n", st.st_size / 1024.0 / JOBS);
	for (size_t i = 0; i < JOBS; i++)
		account_job_release(&jobs[i]);
	accounts_node_release(&node);
	return nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0;
}
