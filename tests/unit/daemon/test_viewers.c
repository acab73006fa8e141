// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Pages for clients of whom the kernel tells the user, and for those of whom it does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/serve_pages.h"
#include "keeper_world.h"
#include "skip.h"

static int get(struct serve_pages *p, const char *path, int fd, char **ret)
{
	const struct http_request q = { path, "", fd };
	struct http_page got = { 0 };

	assert_int_equal(serve_pages_get(p, &q, &got), 0);
	*ret = strndup(got.body, got.size);
	assert_non_null(*ret);
	free(got.body);
	return got.status;
}

static int get_tcp(struct serve_pages *p, const char *path, char **ret)
{
	return get(p, path, -1, ret);
}

/* A page for a client at a unix socket whose user the kernel knows as @uid; its status */
static int page_for(struct bench *b, uid_t uid, const char *path, char **ret)
{
	struct serve_pages pages = { .keeper = &b->keeper, .config = &b->config };
	int fds[2], status;

	assert_int_equal(seteuid(uid), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(seteuid(0), 0);
	status = get(&pages, path, fds[0], ret);
	close(fds[0]);
	close(fds[1]);
	serve_pages_release(&pages);
	return status;
}

static void expect_page(struct bench *b, uid_t uid, const char *path, int status, bool ann,
			bool bob)
{
	char *text;

	assert_int_equal(page_for(b, uid, path, &text), status);
	assert_int_equal(!!strstr(text, "user-ann"), ann);
	assert_int_equal(!!strstr(text, "user-bob"), bob);
	free(text);
}

static void add_job(struct report *r, const char *id, const char *user, uint32_t uid)
{
	struct report_row *row = world_row(r, SLURM, id, uid, "", true);

	world_share(r, row, 0, uid);
	snprintf(row->job->user, sizeof(row->job->user), "%s", user);
	row->job->uid = uid;
}

/* Names are there only if they are wanted there. */
static void check_tcp(struct bench *b)
{
	struct serve_pages pages = { .keeper = &b->keeper, .config = &b->config };
	char *text;

	assert_int_equal(get_tcp(&pages, "/jobs", &text), 403);
	assert_non_null(strstr(text, "names = yes"));
	assert_null(strstr(text, "/report"));
	free(text);
	assert_int_equal(get_tcp(&pages, "/metrics", &text), 200);
	assert_non_null(strstr(text, "slurm:1"));
	assert_null(strstr(text, "user-ann"));
	free(text);
	b->config.names = true;
	assert_int_equal(get_tcp(&pages, "/metrics", &text), 200);
	assert_non_null(strstr(text, "user-ann"));
	free(text);
	assert_int_equal(get_tcp(&pages, "/jobs", &text), 200);
	assert_non_null(strstr(text, "user-bob"));
	free(text);
	serve_pages_release(&pages);
}

/* Users see their own jobs by the uid of the kernel: one whose environment claims to be ann is not. */
static void test_viewers(void **state)
{
	struct report *r = world_report(0);
	struct bench b;
	(void)state;
	if (geteuid()) {
		skip_because("not root");
		return;
	}
	setup(&b);
	b.config.names = false;
	add_job(r, "1", "user-ann", 4711);
	add_job(r, "2", "user-bob", 4712);
	interval(&b, r);
	expect_page(&b, 4711, "/jobs", 200, true, false);
	expect_page(&b, 4712, "/jobs", 200, false, true);
	expect_page(&b, 4713, "/jobs", 200, false, false);
	expect_page(&b, 0, "/jobs", 200, true, true);
	expect_page(&b, 4711, "/report", 403, false, false);
	expect_page(&b, 0, "/report", 200, true, true);
	expect_page(&b, 4711, "/metrics", 200, false, false);
	expect_page(&b, 0, "/metrics", 200, true, true);
	/* the group, which is that of the test's process */
	b.config.readers = getegid();
	expect_page(&b, 4713, "/jobs", 200, true, true);
	b.config.readers = NO_READERS;
	check_tcp(&b);
	teardown(&b);
}

/* Everybody learns that a part is in trouble; the reason may have names in it. */
static void test_reasons(void **state)
{
	static const char why[] = "cannot write the closing report of user-ann";
	struct serve_pages pages;
	struct bench b;
	char *text;

	(void)state;
	setup(&b);
	pages = (struct serve_pages){ .keeper = &b.keeper, .config = &b.config };
	interval(&b, world_report(0));
	serve_keeper_counters(&b.keeper, why);
	b.config.names = false;
	assert_int_equal(get_tcp(&pages, "/healthz", &text), 503);
	assert_non_null(strstr(text, "{\"part\":\"counters\",\"text\":\"the log says why"));
	assert_null(strstr(text, "user-ann"));
	free(text);
	b.config.names = true;
	assert_int_equal(get_tcp(&pages, "/healthz", &text), 503);
	assert_non_null(strstr(text, why));
	free(text);
	serve_pages_release(&pages);
	teardown(&b);
}

/* Trouble is in the metrics at once: they are not those of the last interval. */
static void test_healthy(void **state)
{
	struct serve_pages pages;
	struct bench b;
	char *text;

	(void)state;
	setup(&b);
	pages = (struct serve_pages){ .keeper = &b.keeper, .config = &b.config };
	interval(&b, world_report(0));
	get_tcp(&pages, "/metrics", &text);
	assert_non_null(strstr(text, "t410trace_healthy{part=\"counters\"} 1\n"));
	assert_non_null(strstr(text, "t410trace_healthy{part=\"intervals\"} 1\n"));
	assert_non_null(strstr(text, "t410trace_reload_successful 1\n"));
	assert_non_null(strstr(text, "t410trace_restart_needed 0\n"));
	free(text);
	serve_keeper_counters(&b.keeper, "they are gone");
	get_tcp(&pages, "/metrics", &text);
	assert_non_null(strstr(text, "t410trace_healthy{part=\"counters\"} 0\n"));
	free(text);
	serve_keeper_counters(&b.keeper, NULL);
	/* later than three intervals and five seconds */
	b.keeper.closed_ns -= 9 * WORLD_SECOND;
	serve_pages_reloaded(&pages, false, true);
	serve_pages_reloaded(&pages, true, false);
	get_tcp(&pages, "/metrics", &text);
	assert_non_null(strstr(text, "t410trace_healthy{part=\"counters\"} 1\n"));
	assert_non_null(strstr(text, "t410trace_healthy{part=\"intervals\"} 0\n"));
	assert_non_null(strstr(text, "t410trace_reload_successful 0\n"));
	assert_non_null(strstr(text, "t410trace_restart_needed 1\n"));
	free(text);
	serve_pages_release(&pages);
	teardown(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_viewers),
		cmocka_unit_test(test_healthy),
		cmocka_unit_test(test_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
