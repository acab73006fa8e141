// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What goes into the store comes out of it: accounts, queries, transactions, pruning. */
#include "store_world.h"

#include <sqlite3.h>

static int make(void **state)
{
	(void)state;
	tree_make(&tree);
	tree_path(&tree, "accounts.db", file);
	return 0;
}

static void assert_same_job(const struct account_job *a, const struct account_job *b)
{
	struct bytes x = { 0 }, y = { 0 };

	assert_string_equal(a->key, b->key);
	assert_string_equal(a->job.id, b->job.id);
	assert_string_equal(a->job.name, b->job.name);
	assert_string_equal(a->job.user, b->job.user);
	assert_int_equal(a->job.scheduler, b->job.scheduler);
	assert_int_equal(a->state, b->state);
	assert_int_equal(a->reported, b->reported);
	assert_int_equal(blob_job(&x, a), 0);
	assert_int_equal(blob_job(&y, b), 0);
	assert_int_equal(x.nr, y.nr);
	assert_memory_equal(x.data, y.data, x.nr);
	free(x.data);
	free(y.data);
}

static void assert_same_total(const struct account_node_total *a,
			      const struct account_node_total *b)
{
	assert_int_equal(a->counter, b->counter);
	assert_true(a->value == b->value && a->attributed == b->attributed);
	assert_memory_equal(a->unattributed, b->unattributed, sizeof(a->unattributed));
	assert_int_equal(a->enabled_ns, b->enabled_ns);
	assert_int_equal(a->running_ns, b->running_ns);
	assert_int_equal(a->missing, b->missing);
}

static void assert_same_counter(const struct account_counter *a, const struct account_counter *b)
{
	assert_string_equal(a->name, b->name);
	assert_string_equal(a->bdf, b->bdf);
	assert_int_equal(a->socket, b->socket);
	assert_int_equal(a->source, b->source);
	assert_int_equal(a->direction, b->direction);
	assert_int_equal(a->destination, b->destination);
	assert_int_equal(a->unit, b->unit);
	assert_int_equal(a->whole, b->whole);
}

static int expect_job(void *arg, const struct account_job *j)
{
	const struct account_job *wanted = arg;

	assert_same_job(j, wanted);
	/* some of it without the encoder */
	assert_int_equal(j->whole.nr_totals, wanted->whole.nr_totals);
	for (size_t i = 0; i < j->whole.nr_totals; i++) {
		assert_int_equal(j->whole.totals[i].counter, wanted->whole.totals[i].counter);
		assert_true(j->whole.totals[i].low == wanted->whole.totals[i].low);
		assert_true(j->whole.totals[i].high == wanted->whole.totals[i].high);
	}
	assert_int_equal(j->nr_node, wanted->nr_node);
	for (size_t i = 0; i < j->nr_node; i++)
		assert_same_total(&j->node[i], &wanted->node[i]);
	assert_string_equal(j->steps[1].step, "0");
	assert_string_equal(j->steps[1].io[0].name, "nvme0n1");
	assert_string_equal(j->path, wanted->path);
	assert_string_equal(j->quality.weights, "cpu-time");
	assert_int_equal(j->quality.late_slices, 1);
	assert_int_equal(j->self.switches, 99999);
	return 7;
}

static int count_job(void *arg, const struct account_job *j)
{
	(void)j;
	++*(size_t *)arg;
	return 0;
}

/* The number that a query gives to anybody who reads the file */
static int64_t number_of(const char *sql)
{
	sqlite3 *db;
	sqlite3_stmt *st;
	int64_t number;

	assert_int_equal(sqlite3_open_v2(file, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	assert_int_equal(sqlite3_column_type(st, 0), SQLITE_INTEGER);
	number = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	sqlite3_close(db);
	return number;
}

static void test_round_trip(void **state)
{
	struct store_query q = { .id = "12" };
	struct host_info host = sample_host(), read_host;
	struct accounts_node node, read;
	struct store *s = writer();
	struct account_job j;
	struct diag d;

	(void)state;
	sample_node(&node, SAMPLE_COUNTERS);
	sample_job(&j, 12, SAMPLE_COUNTERS, 2);
	j.gaps[0] = (struct account_gap){ 5, 9 };
	j.nr_gaps = 1;
	j.gap_ns = 4;
	assert_int_equal(store_begin(s, &d), 0);
	host.peaks = (struct peaks){
		.items = { { PEAK_CMEM, PEAK_FIRMWARE, 1, PEAK_MOST },
			   { PEAK_PCIE, PEAK_GIVEN, PEAK_EVERY_SOCKET, 1 } },
		.nr = 2,
		.note = "not kept",
	};
	assert_int_equal(store_node(s, &host, &node, &d), 0);
	assert_int_equal(store_job(s, &j, &d), 0);
	assert_int_equal(store_commit(s, &d), 0);
	assert_int_equal(store_each_job(s, &q, expect_job, &j, &d), 7);
	store_close(s);

	assert_int_equal(store_open(file, false, &d, &s), 0);
	assert_int_equal(store_read_node(s, &read_host, &read, &d), 0);
	assert_string_equal(read_host.name, host.name);
	assert_string_equal(read_host.kernel, host.kernel);
	assert_string_equal(read_host.platform, host.platform);
	assert_int_equal(read_host.sockets, 2);
	assert_int_equal(read_host.peaks.nr, 2);
	assert_memory_equal(read_host.peaks.items, host.peaks.items, 2 * sizeof(struct peak));
	assert_int_equal(read.nr_counters, SAMPLE_COUNTERS);
	for (size_t i = 0; i < SAMPLE_COUNTERS; i++) {
		assert_same_counter(&read.counters[i], &node.counters[i]);
		assert_same_total(&read.totals[i], &node.totals[i]);
	}
	assert_int_equal(read.until_ns, node.until_ns);
	assert_int_equal(read.jobs_ended, 1);
	assert_int_equal(read.jobs_dropped, 4);
	assert_int_equal(read.late_rows, 5);
	assert_int_equal(read.quality.windows, 6000);
	assert_int_equal(store_each_job(s, &q, expect_job, &j, &d), 7);
	q.id = j.key;
	assert_int_equal(store_each_job(s, &q, expect_job, &j, &d), 7);
	store_close(s);
	account_job_release(&j);
	accounts_node_release(&node);
	accounts_node_release(&read);
}

/* A store as the version before wrote it: all is read, and goes on with the next interval. */
static void test_version_7(void **state)
{
	static const struct store_query all = { 0 };
	char command[2 * PATH_MAX];
	struct accounts_node read;
	struct host_info host;
	struct store *s;
	struct diag d;
	struct stat st;
	size_t nr = 0;

	(void)state;
	snprintf(command, sizeof(command),
		 "python3 -c \"import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript("
		 "open(sys.argv[2]).read())\" %s " TESTS_DIR "/fixtures/accounts-7.sql",
		 file);
	assert_int_equal(system(command), 0);
	assert_int_equal(store_open(file, false, &d, &s), -EPROTONOSUPPORT);
	assert_non_null(strstr(d.help, "t410trace serve"));
	s = writer();
	for (int again = 0; again < 2; again++) {
		assert_int_equal(store_read_node(s, &host, &read, &d), 0);
		assert_int_equal(read.nr_counters, 6);
		assert_int_equal(read.totals[5].value, 205000000000);
		assert_int_equal(read.totals[5].attributed, 199000000000);
		assert_int_equal(read.totals[3].unattributed[REASON_LOST], 3000000000);
		/* now with details */
		assert_int_equal(store_begin(s, &d), 0);
		assert_int_equal(store_node(s, &host, &read, &d), 0);
		assert_int_equal(store_commit(s, &d), 0);
		accounts_node_release(&read);
	}
	assert_int_equal(store_each_job(s, &all, count_job, &nr, &d), 0);
	assert_int_equal(nr, 5);
	nr = 0;
	assert_int_equal(store_each_span(s, "slurm-30-885-1", count_job, &nr, &d), 0);
	assert_int_equal(nr, 6);
	assert_int_equal(store_damaged(s)->nr, 0);
	store_close(s);
	/* the file of before is beside, as the t410trace that wrote it wants it */
	snprintf(command, sizeof(command),
		 "python3 -c \"import sqlite3, sys; c = sqlite3.connect(sys.argv[1] + '.v7');"
		 "sys.exit(c.execute('PRAGMA user_version').fetchone() != (7,) or "
		 "c.execute('SELECT count(*) FROM jobs').fetchone() != (5,))\" %s",
		 file);
	assert_int_equal(system(command), 0);
	snprintf(command, sizeof(command), "%s.v7", file);
	assert_int_equal(stat(command, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_int_equal(unlink(command), 0);
}

/* Half a year of memory at full speed, and then some: exact, and in the columns the largest number. */
static void test_large_sums(void **state)
{
	const sum128 large = ((sum128)1 << 100) + 410, top = ~(sum128)0;
	struct store_query q = { .id = "12" };
	struct host_info host = sample_host();
	struct accounts_node node, read;
	struct store *s = writer();
	struct account_job j;
	struct diag d;

	(void)state;
	sample_node(&node, SAMPLE_COUNTERS);
	node.totals[0].value = large + 3;
	node.totals[0].attributed = large;
	memset(node.totals[0].unattributed, 0, sizeof(node.totals[0].unattributed));
	node.totals[0].unattributed[REASON_IDLE] = 3;
	node.totals[1].value = node.totals[1].attributed = top;
	sample_job(&j, 12, SAMPLE_COUNTERS, 2);
	j.whole.totals[0].value = j.whole.totals[0].low = large;
	j.whole.totals[0].high = j.whole.totals[0].inseparable = top;
	j.node[0] = node.totals[0];
	assert_int_equal(store_begin(s, &d), 0);
	assert_int_equal(store_node(s, &host, &node, &d), 0);
	assert_int_equal(store_job(s, &j, &d), 0);
	assert_int_equal(store_commit(s, &d), 0);
	assert_int_equal(store_each_job(s, &q, expect_job, &j, &d), 7);
	assert_int_equal(store_read_node(s, &host, &read, &d), 0);
	for (size_t i = 0; i < SAMPLE_COUNTERS; i++)
		assert_same_total(&read.totals[i], &node.totals[i]);
	assert_int_equal(number_of("SELECT bytes FROM counters WHERE counter = 0"), INT64_MAX);
	assert_int_equal(number_of("SELECT idle FROM counters WHERE counter = 0"), 3);
	assert_int_equal(number_of("SELECT mem_read_bytes FROM jobs"), INT64_MAX);
	store_close(s);
	account_job_release(&j);
	accounts_node_release(&node);
	accounts_node_release(&read);
}

/* Energy: a unit that comes back, and a column that no bytes are in. */
static void test_energy(void **state)
{
	char command[PATH_MAX + 256], line[256];
	struct host_info host;
	struct accounts_node read;
	struct store *s;
	struct diag d;
	FILE *out;

	(void)state;
	sample_unit = UNIT_NANOJOULES;
	s = writer();
	assert_int_equal(put_interval(s, 12, 12, 60, &d), 0);
	assert_int_equal(store_read_node(s, &host, &read, &d), 0);
	for (size_t i = 0; i < read.nr_counters; i++)
		assert_int_equal(read.counters[i].unit, i == 3 ? UNIT_NANOJOULES : UNIT_BYTES);
	accounts_node_release(&read);
	snprintf(command, sizeof(command),
		 "python3 -c \"import sqlite3; print(*sqlite3.connect('file:%s?mode=ro', uri=True)"
		 ".execute('select mem_read_bytes, mem_write_bytes, mem_readwrite_bytes, "
		 "energy_nanojoules from jobs').fetchone())\"",
		 file);
	out = popen(command, "r");
	assert_non_null(out);
	assert_non_null(fgets(line, sizeof(line), out));
	assert_int_equal(pclose(out), 0);
	assert_string_equal(line, "2408560000 1204280000 0 1609080000\n");
	store_close(s);
	sample_unit = UNIT_BYTES;
}

/* Columns are what people query: they say the same as the account. */
static void test_columns(void **state)
{
	char command[PATH_MAX + 256], line[256];
	struct store *s = writer();
	struct diag d;
	FILE *out;

	(void)state;
	assert_int_equal(put_interval(s, 12, 12, 60, &d), 0);
	/* another process reads while the store is open, with SQLite's own means */
	snprintf(command, sizeof(command),
		 "python3 -c \"import sqlite3; print(*sqlite3.connect('file:%s?mode=ro', uri=True)"
		 ".execute('select scheduler, id, user, state, end_ns - start_ns, cpu_ns, "
		 "mem_read_bytes, mem_write_bytes, mem_readwrite_bytes, pcie_read_bytes, steps "
		 "from jobs').fetchone())\"",
		 file);
	out = popen(command, "r");
	assert_non_null(out);
	assert_non_null(fgets(line, sizeof(line), out));
	assert_int_equal(pclose(out), 0);
	/* scale 1012000; counters 0 and 2 read, 1 writes, 3 both, 4, 6, 8, 10 are reads of devices */
	assert_string_equal(line,
			    "slurm 12 bob running 60000000000 101200000 2408560000 1204280000 "
			    "1609080000 9674720000 2\n");
	store_close(s);
}

static void test_later_interval(void **state)
{
	struct store *s = writer();
	struct account_job j;
	struct found f;
	struct diag d;

	(void)state;
	assert_int_equal(put_interval(s, 1, 3, 60, &d), 0);
	assert_int_equal(put_interval(s, 2, 3, 61, &d), 0);
	assert_int_equal(look(file, &(struct store_query){ .id = "1" }, &f, &d), 0);
	assert_int_equal(f.intervals, 60);
	assert_int_equal(look(file, &(struct store_query){ .id = "2" }, &f, &d), 0);
	assert_int_equal(f.intervals, 61);

	/* an id that was a stand-in so far: the same job, the other name */
	assert_int_equal(store_begin(s, &d), 0);
	sample_job(&j, 2, SAMPLE_COUNTERS, 2);
	strcpy(j.job.id, "77");
	assert_int_equal(store_job(s, &j, &d), 0);
	assert_int_equal(store_commit(s, &d), 0);
	account_job_release(&j);
	assert_int_equal(look(file, NULL, &f, &d), 0);
	assert_int_equal(f.nr, 3);
	assert_int_equal(look(file, &(struct store_query){ .id = "2" }, &f, &d), 0);
	assert_int_equal(f.nr, 0);
	assert_int_equal(look(file, &(struct store_query){ .id = "77" }, &f, &d), 0);
	assert_int_equal(f.nr, 1);
	store_close(s);
}

/* Jobs 1 to @nr; every third is over, every sixth of these is stale. */
static void fill(struct store *s, uint32_t nr)
{
	struct account_job j;
	struct diag d;

	assert_int_equal(store_begin(s, &d), 0);
	put_node(s, 1, SAMPLE_COUNTERS);
	for (uint32_t i = 1; i <= nr; i++) {
		sample_job(&j, i, SAMPLE_COUNTERS, 0);
		if (i % 3 == 0)
			sample_end(&j, i % 6 ? ACCOUNT_ENDED : ACCOUNT_STALE);
		if (i == 5)
			j.job.scheduler = SCHEDULER_DOCKER;
		assert_int_equal(store_job(s, &j, &d), 0);
		account_job_release(&j);
	}
	assert_int_equal(store_commit(s, &d), 0);
}

static void assert_finds(const struct store_query *q, const char *numbers)
{
	char told[128] = "", number[16];
	struct found f;
	struct diag d;

	assert_int_equal(look(file, q, &f, &d), 0);
	for (size_t i = 0; i < f.nr; i++) {
		assert_int_equal(sscanf(f.keys[i], "slurm-%15[0-9]-", number), 1);
		strcat(strcat(told, number), " ");
	}
	assert_string_equal(told, numbers);
}

static void test_queries(void **state)
{
	struct store *s = writer();
	struct diag d;

	(void)state;
	fill(s, 7);
	assert_finds(&(struct store_query){ 0 }, "1 2 3 4 5 6 7 ");
	assert_finds(&(struct store_query){ .newest = 2 }, "7 6 ");
	assert_finds(&(struct store_query){ .states = 1u << ACCOUNT_RUNNING }, "1 2 4 5 7 ");
	assert_finds(&(struct store_query){ .states = 1u << ACCOUNT_ENDED | 1u << ACCOUNT_STALE },
		     "3 6 ");
	assert_finds(&(struct store_query){ .states = 1u << ACCOUNT_STALE }, "6 ");
	assert_finds(&(struct store_query){ .scheduler = SCHEDULER_DOCKER }, "5 ");
	assert_finds(&(struct store_query){ .scheduler = SCHEDULER_DOCKER, .id = "4" }, "");
	assert_finds(&(struct store_query){ .user = "alice" }, "1 3 5 7 ");
	assert_finds(&(struct store_query){ .user = "' OR 1 --" }, "");
	assert_finds(&(struct store_query){ .id = "4" }, "4 ");
	assert_finds(&(struct store_query){ .since_ns = SAMPLE_START_NS + 64 * SAMPLE_S },
		     "1 2 4 5 6 7 ");
	assert_finds(&(struct store_query){ .unreported = true }, "3 6 ");
	assert_int_equal(store_reported(s, "slurm-3-1003-1763740803", &d), 0);
	assert_finds(&(struct store_query){ .unreported = true }, "6 ");
	store_close(s);
}

static void test_rollback(void **state)
{
	struct store *s = writer();
	struct account_job j;
	struct found f;
	struct diag d;

	(void)state;
	assert_int_equal(put_interval(s, 1, 2, 60, &d), 0);
	assert_int_equal(store_begin(s, &d), 0);
	put_node(s, 61, SAMPLE_COUNTERS);
	sample_job(&j, 9, SAMPLE_COUNTERS + 1, 2);
	/* a counter that nobody knows */
	assert_int_equal(store_job(s, &j, &d), -EINVAL);
	account_job_release(&j);
	sample_job(&j, 9, SAMPLE_COUNTERS, 2);
	assert_int_equal(store_job(s, &j, &d), 0);
	store_rollback(s);
	/* nothing lasts outside of an interval */
	assert_int_equal(store_job(s, &j, &d), -EINVAL);
	assert_int_equal(store_commit(s, &d), -EINVAL);
	account_job_release(&j);
	assert_int_equal(look(file, NULL, &f, &d), 0);
	assert_int_equal(f.nr, 2);
	assert_int_equal(f.node, 60);
	store_close(s);
}

/* A reader sees one state; the next one sees the next. */
static void test_one_state(void **state)
{
	static const struct store_query all;
	struct store *s = writer(), *reader;
	struct found f = { 0 };
	struct diag d;

	(void)state;
	assert_int_equal(put_interval(s, 1, 2, 60, &d), 0);
	assert_int_equal(store_open(file, false, &d, &reader), 0);
	assert_int_equal(put_interval(s, 1, 3, 61, &d), 0);
	assert_int_equal(store_each_job(reader, &all, note_job, &f, &d), 0);
	assert_int_equal(f.nr, 2);
	assert_int_equal(f.intervals, 60);
	assert_true(store_kept(reader));
	store_close(reader);
	assert_int_equal(look(file, NULL, &f, &d), 0);
	assert_int_equal(f.nr, 3);
	assert_int_equal(f.intervals, 61);
	store_close(s);
	assert_int_equal(store_open(file, false, &d, &reader), 0);
	assert_false(store_kept(reader));
	store_close(reader);
}

/* Without a log there are no locks: who was overtaken says so. */
static void test_overtaken(void **state)
{
	static const struct store_query all;
	struct store *s = writer(), *reader;
	struct found f = { 0 };
	struct diag d;

	(void)state;
	assert_int_equal(put_interval(s, 1, 2, 60, &d), 0);
	store_close(s);
	assert_int_equal(store_open(file, false, &d, &reader), 0);
	s = writer();
	assert_int_equal(put_interval(s, 1, 3, 61, &d), 0);
	assert_int_equal(store_each_job(reader, &all, note_job, &f, &d), -EAGAIN);
	assert_non_null(strstr(d.help, "again"));
	store_close(reader);
	store_close(s);
}

static void mark_all_reported(struct store *s, uint32_t nr)
{
	struct account_job j;
	struct diag d;

	assert_int_equal(store_begin(s, &d), 0);
	put_node(s, 1, SAMPLE_COUNTERS);
	for (uint32_t i = 1; i <= nr; i++) {
		sample_job(&j, i, 0, 0);
		sample_end(&j, ACCOUNT_ENDED);
		j.reported = i != 2;
		assert_int_equal(store_job(s, &j, &d), 0);
		account_job_release(&j);
	}
	/* Running, which no mark of a report changes */
	sample_job(&j, nr + 1, 0, 0);
	j.reported = true;
	assert_int_equal(store_job(s, &j, &d), 0);
	account_job_release(&j);
	assert_int_equal(store_commit(s, &d), 0);
}

/* How many a call forgets, whose report was written and others. */
static void assert_pruned(struct store *s, uint64_t before_ns, uint64_t max_jobs, uint64_t reported,
			  uint64_t unreported)
{
	const struct store_bounds b = { before_ns, before_ns, max_jobs };
	struct store_pruned nr = { 99, 99 };
	struct diag d;

	assert_int_equal(store_prune(s, &b, &d, &nr), 0);
	assert_int_equal(nr.reported, reported);
	assert_int_equal(nr.unreported, unreported);
}

static void test_prune(void **state)
{
	struct store *s = writer();
	struct found f;
	struct diag d;

	(void)state;
	mark_all_reported(s, 1500);
	/* nothing to forget */
	assert_pruned(s, 0, 0, 0, 0);
	/* those that ended before job 6 did: 1 3 4 5, and 2, which has no report */
	assert_pruned(s, SAMPLE_START_NS + 66 * SAMPLE_S, 0, 4, 1);
	/* in pieces */
	assert_pruned(s, 0, 10, STORE_PRUNE_MAX, 0);
	assert_pruned(s, 0, 10, 1495 - STORE_PRUNE_MAX - 10, 0);
	assert_pruned(s, 0, 10, 0, 0);
	/* what is running stays, whatever its age */
	assert_pruned(s, UINT64_MAX / 2, 1, 10, 0);
	assert_int_equal(look(file, NULL, &f, &d), 0);
	assert_int_equal(f.nr, 1);
	assert_string_equal(f.keys[0], "slurm-1501-2501-1763742301");
	store_close(s);
}

/* Jobs @first to @last that are over; of the machine, or of a user. */
static void put_over(struct store *s, uint32_t first, uint32_t last, uint32_t owner, bool reported)
{
	struct account_job j;
	struct diag d;

	assert_int_equal(store_begin(s, &d), 0);
	put_node(s, 1, SAMPLE_COUNTERS);
	for (uint32_t i = first; i <= last; i++) {
		sample_job(&j, i, 0, 0);
		sample_end(&j, ACCOUNT_ENDED);
		j.reported = reported;
		if (owner)
			snprintf(j.key + strlen(j.key), sizeof(j.key) - strlen(j.key), "-u%u",
				 owner);
		assert_int_equal(store_job(s, &j, &d), 0);
		account_job_release(&j);
	}
	assert_int_equal(store_commit(s, &d), 0);
}

static size_t nr_of(uint32_t owner, bool unreported)
{
	const struct store_query q = { .by_owner = true, .owner = owner, .unreported = unreported };
	struct found f;
	struct diag d;

	assert_int_equal(look(file, &q, &f, &d), 0);
	return f.nr;
}

/* Accounts that nobody could report do not fill the disk: the oldest are given up, and counted. */
static void test_prune_unreported(void **state)
{
	struct store *s = writer();

	(void)state;
	put_over(s, 1, 50, 0, true);
	put_over(s, 51, 100, 0, false);
	/* those that have a report first, then the oldest */
	assert_pruned(s, 0, 80, 20, 0);
	assert_pruned(s, 0, 30, 30, 20);
	assert_int_equal(nr_of(0, true), 30);
	put_over(s, 101, 400, 0, false);
	assert_pruned(s, 0, 30, 0, 300);
	assert_int_equal(nr_of(0, false), 30);
	store_close(s);
}

/* Users have half of the room at most; of these the one with most gives. */
static void test_prune_users(void **state)
{
	struct store *s = writer();
	uint32_t owner = 99;
	struct diag d;

	(void)state;
	assert_int_equal(store_waiting(s, -1, &owner, &d), -ENOENT);
	put_over(s, 1, 40, 0, true);
	put_over(s, 41, 50, 1001, false);
	put_over(s, 51, 900, 1000, false);
	assert_int_equal(store_waiting(s, -1, &owner, &d), 0);
	assert_int_equal(owner, 1000);
	assert_int_equal(store_waiting(s, 1000, &owner, &d), 0);
	assert_int_equal(owner, 1001);
	assert_int_equal(store_waiting(s, 1001, &owner, &d), -ENOENT);
	/* nobody else loses anything to the one who makes them by the thousand */
	assert_pruned(s, 0, 100, 0, 800);
	assert_int_equal(nr_of(0, false), 40);
	assert_int_equal(nr_of(1001, false), 10);
	assert_int_equal(nr_of(1000, false), 50);
	/* when the machine's are too many, it is theirs that go */
	put_over(s, 901, 1100, 0, false);
	assert_pruned(s, 0, 100, 40, 160);
	assert_int_equal(nr_of(0, false), 50);
	assert_int_equal(nr_of(1001, false), 10);
	assert_int_equal(nr_of(1000, false), 40);
	assert_int_equal(store_waiting(s, -1, &owner, &d), 0);
	assert_int_equal(owner, 0);
	store_close(s);
}

/* The log does not grow with the number of intervals. */
static void test_log_bounded(void **state)
{
	char log[PATH_MAX + 8];
	struct store *s = writer();
	struct stat st;
	struct diag d;

	(void)state;
	snprintf(log, sizeof(log), "%s-wal", file);
	for (uint64_t i = 1; i < 60; i++)
		assert_int_equal(put_interval(s, 1, 100, i, &d), 0);
	assert_int_equal(stat(log, &st), 0);
	assert_in_range(st.st_size, 1, 16 << 20);
	store_close(s);
	assert_int_equal(stat(log, &st), -1);
	assert_int_equal(errno, ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_round_trip, make, clear),
		cmocka_unit_test_setup_teardown(test_version_7, make, clear),
		cmocka_unit_test_setup_teardown(test_large_sums, make, clear),
		cmocka_unit_test_setup_teardown(test_columns, make, clear),
		cmocka_unit_test_setup_teardown(test_energy, make, clear),
		cmocka_unit_test_setup_teardown(test_later_interval, make, clear),
		cmocka_unit_test_setup_teardown(test_queries, make, clear),
		cmocka_unit_test_setup_teardown(test_rollback, make, clear),
		cmocka_unit_test_setup_teardown(test_one_state, make, clear),
		cmocka_unit_test_setup_teardown(test_overtaken, make, clear),
		cmocka_unit_test_setup_teardown(test_prune_unreported, make, clear),
		cmocka_unit_test_setup_teardown(test_prune_users, make, clear),
		cmocka_unit_test_setup_teardown(test_prune, make, clear),
		cmocka_unit_test_setup_teardown(test_log_bounded, make, clear),
	};

	sample_fourth = DIRECTION_READWRITE;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
