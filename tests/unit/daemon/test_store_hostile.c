// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A store that somebody else has made: nothing in it is run, and a big one has time to be checked. */
#include "store_world.h"

#include <sqlite3.h>
#include <sys/socket.h>
#include <sys/un.h>

static int make(void **state)
{
	(void)state;
	tree_make(&tree);
	tree_path(&tree, "accounts.db", file);
	return 0;
}

/* Makes changes as somebody who gives us a file would, and what readers and writers say of it. */
static void check_hostile(const char *sql)
{
	struct store *s;
	struct diag d;
	sqlite3 *db;
	char *problem = NULL;

	assert_int_equal(store_open(file, true, &d, &s), 0);
	store_close(s);
	assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &problem))
		fail_msg("%s: %s", sql, problem);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	alarm(120);
	if (store_open(file, false, &d, &s) != -EUCLEAN || !strstr(d.what, "a table in "))
		fail_msg("%s: %s", sql, d.what);
	/* the daemon puts it aside and begins another */
	assert_int_equal(store_open(file, true, &d, &s), 0);
	assert_non_null(strstr(d.help, "the old file is kept"));
	store_close(s);
	alarm(0);
}

#define ENDLESS "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"

static void test_hostile_schema(void **state)
{
	(void)state;
	check_hostile("DROP TABLE jobs; CREATE VIEW jobs AS " ENDLESS);
	check_hostile("DROP TABLE keeper; CREATE VIEW keeper AS " ENDLESS);
	check_hostile("DROP TABLE spans; CREATE VIEW Spans AS " ENDLESS);
	check_hostile("ALTER TABLE counters ADD COLUMN x AS (hex(zeroblob(1000000)))");
	check_hostile("DROP TABLE jobs; CREATE VIRTUAL TABLE jobs USING fts5(key)");
}

/* What the service manager is told while the file is opened; "" for nothing */
static void told(int fd, char *ret, size_t size)
{
	ssize_t nr = recv(fd, ret, size - 1, MSG_DONTWAIT);

	ret[nr > 0 ? nr : 0] = '\0';
}

/* Checking a file that was not closed takes time with its size: more than a manager may wait. */
static void test_start_takes_time(void **state)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char name[PATH_MAX], lock[PATH_MAX + 8], text[128];
	unsigned long long usec = 0;
	struct store *s;
	struct diag d;

	(void)state;
	tree_path(&tree, "notify", name);
	snprintf(a.sun_path, sizeof(a.sun_path), "%.100s", name);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(setenv("NOTIFY_SOCKET", name, 1), 0);
	assert_int_equal(store_open(file, true, &d, &s), 0);
	store_close(s);
	while (told(fd, text, sizeof(text)), text[0])
		;
	/* closed well: there is nothing to check */
	assert_int_equal(store_open(file, true, &d, &s), 0);
	told(fd, text, sizeof(text));
	assert_string_equal(text, "");
	store_close(s);
	/* as a kill leaves it, and of 300 MiB: a hole is enough */
	snprintf(lock, sizeof(lock), "%s.lock", file);
	assert_int_equal(truncate(lock, 0), 0);
	assert_int_equal(truncate(file, 300 << 20), 0);
	if (!store_open(file, true, &d, &s))
		store_close(s);
	told(fd, text, sizeof(text));
	assert_int_equal(sscanf(text, "EXTEND_TIMEOUT_USEC=%llu", &usec), 1);
	assert_true(usec >= 300000000);
	unsetenv("NOTIFY_SOCKET");
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_hostile_schema, make, clear),
		cmocka_unit_test_setup_teardown(test_start_takes_time, make, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
