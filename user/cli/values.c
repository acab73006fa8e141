// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/values.h"

#include <ctype.h>
#include <errno.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/local_time.h"
#include "base/text.h"
#include "base/units.h"
#include "daemon/http.h"
#include "platform/core/weights.h"
#include "platform/pmu/platform_file.h"
#include "platform/sys/cgroup1.h"
#include "platform/sys/unix_group.h"

#define MAX_PID 4194304 /* PID_MAX_LIMIT of 64-bit kernels */

/* Store a number in a field of any size; a _Bool has one byte and the numbers 0 and 1. */
static int store(const struct option_row *o, uint64_t value, void *field)
{
	if (o->size == sizeof(bool))
		*(bool *)field = value;
	else if (o->size == sizeof(uint32_t))
		*(uint32_t *)field = (uint32_t)value;
	else
		*(uint64_t *)field = value;
	return 0;
}

int value_text(const struct option_row *o, const char *text, void *field, struct diag *d)
{
	if (o->size == sizeof(text)) {
		*(const char **)field = text;
		return 0;
	}
	if (strlen(text) >= o->size)
		return diag_fail(d, -EINVAL, "too long");
	/* clear the rest, too: fields are compared by their bytes */
	memset(field, 0, o->size);
	memcpy(field, text, strlen(text));
	return 0;
}

int value_platform(const struct option_row *o, const char *text, void *field, struct diag *d)
{
	/* A setting without a file */
	bool none = o->fallback && !text[0];
	int err = 0;

	/* The daemon reads settings that it may not use. */
	if (!none)
		err = o->setting ? platform_file_try(text, d) : platform_file_use(text, d);

	return err ? err : value_text(o, none ? NULL : text, field, d);
}

int value_path(const struct option_row *o, const char *text, void *field, struct diag *d)
{
	bool optional = o->fallback && !o->fallback[0];

	if (text[0] != '/' && (text[0] || !optional))
		return diag_fail(d, -EINVAL, "must be a path from the root, with a slash");
	return value_text(o, text[0] ? text : NULL, field, d);
}

int value_spool(const struct option_row *o, const char *text, void *field, struct diag *d)
{
	return strcmp(text, "none") ? value_path(o, text, field, d) : value_text(o, "", field, d);
}

int value_addresses(const struct option_row *o, const char *text, void *field, struct diag *d)
{
	int err = http_check_addresses(text, d);

	return err ? err : value_text(o, text, field, d);
}

int value_host(const struct option_row *o, const char *text, void *field, struct diag *d)
{
	if (strlen(text) < sizeof(((struct host_info *)NULL)->name) &&
	    !text[strspn(text,
			 "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._")])
		return value_text(o, text, field, d);
	diag_fail(d, -EINVAL, "not a name of a machine");
	return diag_advise(d, -EINVAL, "letters, digits, - . and _, at most %zu",
			   sizeof(((struct host_info *)NULL)->name) - 1);
}

int value_hosts(const struct option_row *o, const char *text, void *field, struct diag *d)
{
	if (!text[strspn(text,
			 "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._, ")])
		return value_text(o, text, field, d);
	diag_fail(d, -EINVAL, "not names of a machine");
	return diag_advise(d, -EINVAL,
			   "names between commas, without ports, as in "
			   "node1.example.org,t410.internal");
}

int value_number(const struct option_row *o, const char *text, void *field, struct diag *d)
{
	uint64_t value;

	if (parse_u64(text, &value) || (double)value < o->min || (double)value > o->max)
		return diag_fail(d, -EINVAL, "must be a whole number from %.0f to %.0f", o->min,
				 o->max);
	return store(o, value, field);
}

int value_time(const struct option_row *o, const char *text, void *field, struct diag *d)
{
	char min[UNITS_TEXT_LEN], max[UNITS_TEXT_LEN];
	uint64_t ns;

	if (parse_time(text, o->bare, &ns)) {
		diag_fail(d, -EINVAL, "not a time");
		return diag_advise(d, -EINVAL,
				   "times are numbers with a unit, " UNITS_OF_TIMES
				   ", as in 500ms or 1.5h%s%s",
				   o->bare ? "; without one it is " : "", o->bare ? o->bare : "");
	}
	time_text((uint64_t)o->min, min);
	time_text((uint64_t)o->max, max);
	if (ns && (double)ns < o->least) {
		time_text((uint64_t)o->least, min);
		return diag_fail(d, -EINVAL, "must be 0, or a time from %s to %s", min, max);
	}
	if ((double)ns < o->min || (double)ns > o->max)
		return diag_fail(d, -EINVAL, "must be a time from %s to %s", min, max);
	return store(o, ns, field);
}

#define MAX_S 1e10 /* beyond the year 2200: still exact in a double and in 64 bits of ns */

static int seconds_of(double s, uint64_t *ret_ns)
{
	if (!(s >= 0 && s <= MAX_S))
		return -EINVAL;
	/* whole and fractional seconds separately, to keep the former exact */
	*ret_ns = (uint64_t)s * NS_PER_S + (uint64_t)((s - (uint64_t)s) * 1e9);
	return 0;
}

static int parse_ago(const char *text, uint64_t now_ns, uint64_t *ret_ns)
{
	uint64_t ago;

	/* a blank separates date and time */
	if (strchr(text, ' ') || parse_time(text, NULL, &ago) || ago > now_ns)
		return -EINVAL;
	*ret_ns = now_ns - ago;
	return 0;
}

/* The text in one of the forms, complete; @part: fraction of a second; @utc: with a trailing Z. */
static bool matches(const char *text, const char *form, struct tm *tm, double *part, bool *utc)
{
	const char *rest = strptime(text, form, tm);

	*part = 0;
	/* as JSON has it: "2026-11-22T16:30:05.007Z" */
	if (rest && *rest == '.' && strstr(form, "%S") && isdigit((unsigned char)rest[1])) {
		*part = atof(rest);
		rest += 1 + strspn(rest + 1, "0123456789");
	}
	*utc = rest && !strcmp(rest, "Z");
	return rest && (*utc || !*rest);
}

static int parse_calendar(const char *text, uint64_t now_ns, uint64_t *ret_ns)
{
	static const char *const forms[] = {
		"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M",
		"%Y-%m-%d",	     "%H:%M:%S",	  "%H:%M"
	};
	time_t now = now_ns / NS_PER_S;

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		struct tm today, tm = { 0 };
		double part;
		time_t t;
		bool utc;
		int err;

		if (!matches(text, forms[i], &tm, &part, &utc))
			continue;
		if (forms[i][1] == 'H') {
			if (utc)
				gmtime_r(&now, &today);
			else
				localtime_r(&now, &today);
			tm.tm_year = today.tm_year;
			tm.tm_mon = today.tm_mon;
			tm.tm_mday = today.tm_mday;
		}
		t = utc ? timegm(&tm) : local_time(&tm, 0);
		err = seconds_of(t, ret_ns);
		if (!err)
			*ret_ns += (uint64_t)(part * 1e9);
		return err;
	}
	return -EINVAL;
}

/*
 * A point in time: time before @now_ns ("90s", "15m", "2.5h", "7d"), seconds since 1970
 * ("@1763740800"), a time of today ("16:30", "16:30:05"), or a date with or without a time
 * ("2026-11-22", "2026-11-22T16:30", "2026-11-22 16:30:05"); local time, with a trailing Z UTC. Of
 * an ambiguous local time it is the first, so that nothing is left out. -EINVAL for other text and
 * for times before 1970.
 */
static int time_arg_parse(const char *text, uint64_t now_ns, uint64_t *ret_ns)
{
	double seconds;

	if (text[0] == '@')
		return parse_double(text + 1, &seconds) ? -EINVAL : seconds_of(seconds, ret_ns);
	if (!parse_ago(text, now_ns, ret_ns))
		return 0;
	return parse_calendar(text, now_ns, ret_ns);
}

int value_since(const struct option_row *o, const char *text, void *field, struct diag *d)
{
	(void)o;
	if (!time_arg_parse(text, clock_ns(CLOCK_REALTIME), field))
		return 0;
	diag_fail(d, -EINVAL, "not a point in time");
	return diag_advise(d, -EINVAL,
			   "as in 90s, 2h or 7d for so long ago, 2026-11-22, 16:30, @1763740800");
}

int value_size(const struct option_row *o, const char *text, void *field, struct diag *d)
{
	char min[UNITS_TEXT_LEN];
	uint64_t bytes;

	if (parse_size(text, &bytes)) {
		diag_fail(d, -EINVAL, "not a size");
		return diag_advise(
			d, -EINVAL,
			"sizes are numbers of bytes, or of 1024-fold units: K, M, G or T, as "
			"in 64M or 1G");
	}
	if (bytes && (double)bytes < o->least) {
		size_text((uint64_t)o->least, min);
		return diag_fail(d, -EINVAL, "must be 0, or a size from %s on, as in 64M or 1G",
				 min);
	}
	size_text((uint64_t)o->min, min);
	if ((double)bytes < o->min)
		return diag_fail(d, -EINVAL, "must be a size from %s on, as in 64M or 1G", min);
	return store(o, bytes, field);
}

int value_percent(const struct option_row *o, const char *text, void *field, struct diag *d)
{
	double percent;

	if (parse_percent(text, &percent) || percent < o->min || percent > o->max)
		return diag_fail(d, -EINVAL,
				 "must be a percentage from %g to %g, as in 0.5 or 20%%", o->min,
				 o->max);
	*(double *)field = percent / 100;
	return 0;
}

/* "a, b or c" */
static void choices_text(const struct option_row *o, char *ret, size_t size)
{
	const char *name, *next;

	ret[0] = '\0';
	for (unsigned int i = 0; (name = o->choice(i)); i++) {
		next = o->choice(i + 1);
		str_append(ret, size, "%s%s", i ? next ? ", " : " or " : "", name);
	}
}

static int find_choice(const struct option_row *o, const char *text, unsigned int *ret,
		       struct diag *d)
{
	char names[256];
	const char *name;

	for (unsigned int i = 0; (name = o->choice(i)); i++) {
		if (strcmp(text, name) != 0)
			continue;
		*ret = i;
		return 0;
	}
	choices_text(o, names, sizeof(names));
	return diag_fail(d, -EINVAL, "must be %s", names);
}

int value_choice(const struct option_row *o, const char *text, void *field, struct diag *d)
{
	unsigned int value = 0;
	int err = find_choice(o, text, &value, d);

	return err ? err : store(o, value, field);
}

int value_scheduler(const struct option_row *o, const char *text, void *field, struct diag *d)
{
	enum scheduler s = scheduler_find(text);
	char names[SCHEDULER_NAMES_LEN];

	(void)o;
	if (s != NR_SCHEDULERS && s != SCHEDULER_NONE) {
		*(enum scheduler *)field = s;
		return 0;
	}
	scheduler_names(names, "and");
	diag_fail(d, -EINVAL, "there is no scheduler \"%.64s\"", text);
	return diag_advise(d, -EINVAL, "schedulers are %s", names);
}

/* Call @each for every part between commas. */
static int each_part(const char *text, void *arg, struct diag *d,
		     int (*each)(void *arg, const char *part, struct diag *d))
{
	char *list = strdup(text), *rest = list, *part;
	int err = list ? 0 : diag_no_memory(d);

	while (!err && (part = strsep(&rest, ",")))
		err = part[0] ? each(arg, part, d)
			      : diag_fail(d, -EINVAL, "an empty entry in the list");
	free(list);
	return err;
}

static int add_scheduler(void *arg, const char *part, struct diag *d)
{
	uint64_t *set = arg;
	enum scheduler s;
	char name[32];
	int err;

	part += strspn(part, " ");
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(part, " "), part);
	err = value_scheduler(NULL, name, &s, d);
	if (!err)
		*set |= 1ull << s;
	return err;
}

int value_schedulers(const struct option_row *o, const char *text, void *field, struct diag *d)
{
	uint64_t set = 0;
	int err = each_part(text, &set, d, add_scheduler);

	if (err == -EINVAL && !d->help[0])
		diag_help(d, "names of schedulers with commas between them");
	return err ? err : store(o, set, field);
}

/*
 * Does not use the system's name services: a static program has none, and the daemon must not wait
 * for a directory server.
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

int value_group(const struct option_row *o, const char *text, void *field, struct diag *d)
{
	uint64_t number;
	gid_t gid;

	if (!*text)
		return store(o, NO_READERS, field);
	if (!parse_u64(text, &number) && number < UINT32_MAX)
		return store(o, number, field);
	if (!unix_group_find(text, &gid))
		return store(o, gid, field);
	diag_fail(d, -EINVAL, "there is no group \"%.64s\" in /etc/group", text);
	return diag_advise(d, -EINVAL,
			   "give the number of a group that is elsewhere (getent group "
			   "NAME)");
}

static int add_user(void *arg, const char *part, struct diag *d)
{
	struct job_users *users = arg;
	uint64_t number;
	uint32_t uid;
	char name[64];

	part += strspn(part, " ");
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(part, " "), part);
	if (users->nr == JOB_MAX_USERS)
		return diag_fail(d, -EINVAL, "more than %d users: \"yes\" is for all",
				 JOB_MAX_USERS);
	if (!parse_u64(name, &number) && number < JOB_OWNER_UNKNOWN) {
		uid = number;
	} else if (user_named(name, &uid)) {
		if (!strcmp(name, USER_JOBS_DEFAULT))
			return 0;
		diag_fail(d, -EINVAL, "there is no user \"%s\" in /etc/passwd", name);
		return diag_advise(
			d, -EINVAL,
			"give the number of a user who is elsewhere (id -u NAME); or yes, no");
	}
	users->uids[users->nr++] = uid;
	return 0;
}

int value_user_jobs(const struct option_row *o, const char *text, void *field, struct diag *d)
{
	struct job_users *users = field;

	(void)o;
	*users = (struct job_users){ .all = !strcmp(text, "yes") };
	if (users->all || !strcmp(text, "no"))
		return 0;
	return text[0] ? each_part(text, users, d, add_user) : add_user(users, text, d);
}

int value_pid(const struct option_row *o, const char *text, void *field, struct diag *d)
{
	uint64_t pid = 0;

	/* parse_u64() also takes hexadecimal, which no process list uses */
	if (text[strspn(text, "0123456789")] || parse_u64(text, &pid) || !pid || pid > MAX_PID)
		return diag_fail(d, -EINVAL, "not a process id");
	return store(o, pid, field);
}

static int add_pid(void *arg, const char *part, struct diag *d)
{
	const struct option_row number = { .size = sizeof(uint32_t) };
	struct pid_list *list = arg;
	uint32_t pid;
	int err = value_pid(&number, part, &pid, d);

	if (!err && array_reserve(list->items, list->cap, list->nr))
		err = diag_no_memory(d);
	if (!err)
		list->items[list->nr++] = pid;
	return err;
}

int value_pids(const struct option_row *o, const char *text, void *field, struct diag *d)
{
	(void)o;
	return each_part(text, field, d, add_pid);
}

static int add_text(void *arg, const char *part, struct diag *d)
{
	return text_list_add(arg, part) ? diag_no_memory(d) : 0;
}

int value_item(const struct option_row *o, const char *text, void *field, struct diag *d)
{
	(void)o;
	return add_text(field, text, d);
}

int value_list(const struct option_row *o, const char *text, void *field, struct diag *d)
{
	/* for a setting the last one counts, and may be empty */
	if (o->setting) {
		text_list_free(field);
		if (!*text)
			return 0;
	}
	return each_part(text, field, d, add_text);
}

int value_lines(const struct option_row *o, const char *text, void *field, struct diag *d)
{
	char line[4096];
	int err = 0;

	(void)o;
	text_list_free(field);
	for (size_t n; *text && !err; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		if (n >= sizeof(line))
			return diag_fail(d, -EINVAL, "a line of more than %zu bytes",
					 sizeof(line) - 1);
		snprintf(line, sizeof(line), "%.*s", (int)n, text);
		if (n)
			err = add_text(field, line, d);
	}
	return err;
}

static int add_job(void *arg, const char *part, struct diag *d)
{
	struct job_wanted wanted;
	const char *wrong = job_wanted_parse(part, &wanted);
	char names[SCHEDULER_NAMES_LEN];

	if (!wrong)
		return add_text(arg, part, d);
	if (wanted.scheduler != NR_SCHEDULERS)
		return diag_fail(d, -EINVAL, "%s", wrong);
	scheduler_names(names, "and");
	return diag_fail(d, -EINVAL, "%s; schedulers are %s", wrong, names);
}

int value_jobs(const struct option_row *o, const char *text, void *field, struct diag *d)
{
	(void)o;
	return each_part(text, field, d, add_job);
}

/* Names are resolved later, on the machine; here at least one is needed. */
int value_weights(const struct option_row *o, const char *text, void *field, struct diag *d)
{
	char names[LEDGER_MAX_WEIGHTS][WEIGHT_NAME_LEN];
	uint32_t nr;
	int err = weight_spec_parse(text, d, names, &nr);

	return err ? err : value_text(o, text, field, d);
}

int value_cgroup_v1(const struct option_row *o, const char *text, void *field, struct diag *d)
{
	if (cgroup1_is_wanted(text))
		return value_text(o, text, field, d);
	return diag_fail(d, -EINVAL,
			 "must be none, auto or a controller such as freezer or cpuset");
}

int value_by(const struct option_row *o, const char *text, void *field, struct diag *d)
{
	struct run_options *run = field;
	unsigned int kind = 0;
	int err = find_choice(o, text, &kind, d);

	if (err)
		return err;
	run->by = (enum row_kind)kind;
	run->by_given = true;
	return 0;
}

int value_resctrl(const struct option_row *o, const char *text, void *field, struct diag *d)
{
	bool none = !strcmp(text, "none");

	if (!none && text[0] != '/')
		return diag_fail(d, -EINVAL, "must be a path from the root, or none");
	return value_text(o, none ? "" : text, field, d);
}

static int add_peak(void *arg, const char *part, struct diag *d)
{
	struct peaks_wanted *wanted = arg;
	const char *equals = strchr(part, '='), *name;
	unsigned int of = PEAK_CMEM;
	uint64_t rate = 0;
	int err = -EINVAL;

	while (equals && (name = peak_name(of)) &&
	       (strncmp(name, part, equals - part) != 0 || name[equals - part]))
		of++;
	if (of == NR_PEAKS)
		diag_fail(d, -EINVAL, "there is no peak of \"%.*s\"", (int)(equals - part), part);
	else if (parse_rate(equals ? equals + 1 : part, &rate) || !rate || rate > PEAK_MOST)
		diag_fail(d, -EINVAL, "\"%s\" is not a rate", equals ? equals + 1 : part);
	else if (wanted->bytes_per_s[of])
		diag_fail(d, -EINVAL, "the peak of %s is there twice", peak_name(of));
	else
		err = 0;
	if (err)
		return diag_advise(d, err,
				   "as in 546GB/s for the memory of each socket, "
				   "cmem=546GB/s,gmem=450GB/s,cxl=64GB/s,remote=300GB/s,"
				   "pcie=64GB/s, or none");
	wanted->bytes_per_s[of] = rate;
	return 0;
}

int value_peak(const struct option_row *o, const char *text, void *field, struct diag *d)
{
	struct peaks_wanted wanted = { .none = !strcmp(text, "none") };
	bool some = !wanted.none && !(o->setting && !*text);
	int err = some ? each_part(text, &wanted, d, add_peak) : 0;

	if (!err)
		*(struct peaks_wanted *)field = wanted;
	return err;
}
