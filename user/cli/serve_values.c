// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/serve_values.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/arg_parts.h"
#include "cli/trace_args.h"
#include "job.h"
#include "platform/sys/cgroup1.h"
#include "platform/core/weights.h"

#define NS_PER_MS	1000000ull
/* Shorter ones would close the books more often than the end of jobs may. */
#define MIN_INTERVAL_NS (200 * NS_PER_MS)
#define MAX_DAYS	36500

static int in_range(const char *text, uint64_t min, uint64_t max, void *field, struct diag *d)
{
	uint64_t value;

	if (parse_u64(text, &value) || value < min || value > max)
		return diag_fail(d, -EINVAL, "\"%.64s\": must be a whole number from %llu to %llu",
				 text, (unsigned long long)min, (unsigned long long)max);
	*(uint64_t *)field = value;
	return 0;
}

/* "10s", "500ms", "2min", "1h": a number without a unit has been misread by somebody before. */
static bool parse_time(const char *text, uint64_t *ret_ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "ms", NS_PER_MS },
		{ "s", NS_PER_S },
		{ "min", 60 * NS_PER_S },
		{ "h", 3600 * NS_PER_S },
	};
	size_t digits = strspn(text, "0123456789");
	const char *unit = text + digits;
	char number[12];
	uint64_t value;

	if (!digits || digits >= sizeof(number))
		return false;
	memcpy(number, text, digits);
	number[digits] = '\0';
	unit += strspn(unit, " ");
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(unit, units[i].name) != 0 || parse_u64(number, &value) ||
		    value > UINT64_MAX / units[i].ns)
			continue;
		*ret_ns = value * units[i].ns;
		return true;
	}
	return false;
}

static int time_in(const char *text, uint64_t min, uint64_t max, const char *range, void *field,
		   struct diag *d)
{
	uint64_t ns;

	if (!parse_time(text, &ns)) {
		diag_fail(d, -EINVAL, "\"%.64s\" is not a time", text);
		diag_help(d, "times are whole numbers with a unit: 500ms, 10s, 2min, 1h");
		return -EINVAL;
	}
	if (ns < min || ns > max)
		return diag_fail(d, -EINVAL, "\"%.64s\": must be a time from %s", text, range);
	*(uint64_t *)field = ns;
	return 0;
}

int serve_value_interval(const char *text, void *field, size_t size, struct diag *d)
{
	(void)size;
	return time_in(text, MIN_INTERVAL_NS, 3600 * NS_PER_S, "200ms to 1h", field, d);
}

int serve_value_window(const char *text, void *field, size_t size, struct diag *d)
{
	(void)size;
	return time_in(text, WINDOW_MIN_MS * NS_PER_MS, WINDOW_MAX_MS * NS_PER_MS, "1ms to 1s",
		       field, d);
}

int serve_value_number(const char *text, void *field, size_t size, struct diag *d)
{
	(void)size;
	return in_range(text, 0, 1000000000, field, d);
}

int serve_value_days(const char *text, void *field, size_t size, struct diag *d)
{
	(void)size;
	return in_range(text, 0, MAX_DAYS, field, d);
}

int serve_value_top(const char *text, void *field, size_t size, struct diag *d)
{
	(void)size;
	return in_range(text, 0, 10000, field, d);
}

int serve_value_bool(const char *text, void *field, size_t size, struct diag *d)
{
	(void)size;
	if (strcmp(text, "yes") && strcmp(text, "no"))
		return diag_fail(d, -EINVAL, "\"%.64s\": must be yes or no", text);
	*(bool *)field = !strcmp(text, "yes");
	return 0;
}

int serve_value_split(const char *text, void *field, size_t size, struct diag *d)
{
	(void)size;
	if (strcmp(text, "destination") && strcmp(text, "none"))
		return diag_fail(d, -EINVAL, "\"%.64s\": must be destination or none", text);
	*(bool *)field = !strcmp(text, "destination");
	return 0;
}

int serve_value_method(const char *text, void *field, size_t size, struct diag *d)
{
	enum method m = method_find(text);

	(void)size;
	if (m == NR_METHODS)
		return diag_fail(d, -EINVAL,
				 "\"%.64s\": methods are state-space, weights and cpu-time", text);
	*(enum method *)field = m;
	return 0;
}

int serve_value_weights(const char *text, void *field, size_t size, struct diag *d)
{
	char names[LEDGER_MAX_WEIGHTS][WEIGHT_NAME_LEN];
	uint32_t nr;
	int err = weight_spec_parse(text, d, names, &nr);

	return err ? err : serve_value_text(text, field, size, d);
}

int serve_value_budget(const char *text, void *field, size_t size, struct diag *d)
{
	(void)size;
	if (parse_budget(text, 0, field))
		return diag_fail(d, -EINVAL, "\"%.64s\": must be a percentage from 0 to 100", text);
	return 0;
}

static int scheduler_named(const char *name, uint64_t *set, struct diag *d)
{
	enum scheduler s = scheduler_find(name);
	char names[200] = "";

	if (s != NR_SCHEDULERS && s != SCHEDULER_NONE) {
		*set |= 1ull << s;
		return 0;
	}
	for (int i = SCHEDULER_NONE + 1; i < NR_SCHEDULERS; i++)
		str_append(names, sizeof(names), "%s%s", i > 1 ? ", " : "", scheduler_name(i));
	diag_fail(d, -EINVAL, "there is no scheduler \"%.64s\"", name);
	diag_help(d, "schedulers are %s", names);
	return -EINVAL;
}

int serve_value_schedulers(const char *text, void *field, size_t size, struct diag *d)
{
	char list[256], *rest = list, *part;
	uint64_t set = 0;
	int err = str_copy(list, sizeof(list), text)
			  ? diag_fail(d, -EINVAL, "\"%.64s...\" is too long", text)
			  : 0;

	(void)size;
	while (!err && (part = strsep(&rest, ","))) {
		part += strspn(part, " ");
		part[strcspn(part, " ")] = '\0';
		err = scheduler_named(part, &set, d);
	}
	if (!err)
		*(uint64_t *)field = set;
	return err;
}

/*
 * Without asking the system's name services: a static program has none, and the daemon must not wait for a
 * directory server.
 */
static int user_named(const char *name, uint32_t *ret)
{
	cleanup_fclose FILE *f = fopen("/etc/passwd", "re");
	const struct passwd *entry;

	while (f && (entry = fgetpwent(f))) {
		if (strcmp(entry->pw_name, name))
			continue;
		*ret = entry->pw_uid;
		return 0;
	}
	return -ENOENT;
}

static int add_user(const char *name, struct job_users *users, struct diag *d)
{
	uint64_t number;
	uint32_t uid;

	if (users->nr == JOB_MAX_USERS)
		return diag_fail(d, -EINVAL, "more than %d users: \"yes\" is for all",
				 JOB_MAX_USERS);
	if (!parse_u64(name, &number) && number < JOB_OWNER_UNKNOWN) {
		uid = number;
	} else if (user_named(name, &uid)) {
		if (!strcmp(name, USER_JOBS_DEFAULT))
			return 0;
		diag_fail(d, -EINVAL, "there is no user \"%.64s\" in /etc/passwd", name);
		diag_help(d, "give the number of a user who is elsewhere (id -u NAME); or yes, no");
		return -EINVAL;
	}
	users->uids[users->nr++] = uid;
	return 0;
}

int serve_value_user_jobs(const char *text, void *field, size_t size, struct diag *d)
{
	struct job_users *users = field;
	char list[256], *rest = list, *part;
	int err = str_copy(list, sizeof(list), text)
			  ? diag_fail(d, -EINVAL, "\"%.64s...\" is too long", text)
			  : 0;

	(void)size;
	users->all = !strcmp(text, "yes");
	if (users->all || !strcmp(text, "no"))
		rest = NULL;
	while (!err && (part = strsep(&rest, ","))) {
		part += strspn(part, " ");
		part[strcspn(part, " ")] = '\0';
		err = add_user(part, users, d);
	}
	return err;
}

int serve_value_cgroup_v1(const char *text, void *field, size_t size, struct diag *d)
{
	if (cgroup1_is_wanted(text))
		return serve_value_text(text, field, size, d);
	return diag_fail(d, -EINVAL,
			 "\"%.64s\": must be none, auto or a controller such as freezer or cpuset",
			 text);
}

/* Without looking anything up: addresses are numbers here. */
static bool is_address(const char *text)
{
	const char *colon = strrchr(text, ':');
	struct in6_addr v6;
	struct in_addr v4;
	char host[64];
	size_t length;
	uint64_t port;

	if (!colon || parse_u64(colon + 1, &port) || port > 65535 ||
	    (size_t)(colon - text) >= sizeof(host))
		return false;
	length = colon - text;
	memcpy(host, text, length);
	host[length] = '\0';
	if (host[0] != '[')
		return inet_pton(AF_INET, host, &v4) == 1;
	if (host[length - 1] != ']')
		return false;
	host[length - 1] = '\0';
	return inet_pton(AF_INET6, host + 1, &v6) == 1;
}

int serve_value_address(const char *text, void *field, size_t size, struct diag *d)
{
	if (!*text || is_address(text))
		return serve_value_text(text, field, size, d);
	diag_fail(d, -EINVAL, "\"%.64s\" is not an address and a port", text);
	diag_help(d, "as in 127.0.0.1:9410, 0.0.0.0:9410 or [::1]:9410; empty for no pages");
	return -EINVAL;
}

int serve_value_text(const char *text, void *field, size_t size, struct diag *d)
{
	if (strlen(text) >= size)
		return diag_fail(d, -EINVAL, "\"%.64s...\" is too long", text);
	memcpy(field, text, strlen(text));
	return 0;
}

int serve_value_path(const char *text, void *field, size_t size, struct diag *d)
{
	if (text[0] != '/')
		return diag_fail(d, -EINVAL,
				 "\"%.64s\": must be a path from the root, with a slash", text);
	return serve_value_text(text, field, size, d);
}

int serve_value_path_or_none(const char *text, void *field, size_t size, struct diag *d)
{
	return *text ? serve_value_path(text, field, size, d) : 0;
}
