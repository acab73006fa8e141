// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/spelling.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/run_check.h"

#define MAX_LINE	4096
/* With any settings, slices of this much time wait: books are not updated more often. */
#define WAIT_MS		200
/*
 * CPUs times windows in that time: with 10 slots each they need some 90 MiB (tests/bench/memory), and
 * with all 30 they are still below the MemoryMax of the unit.
 */
#define MAX_CPU_WINDOWS 80000

const char *settings_file(const struct options *given)
{
	return given->config ? given->config : SERVE_CONFIG_FILE;
}

/* Put the subject in front of the problem. */
static int about(int err, struct diag *d, const char *fmt, const char *name, const char *text)
{
	struct diag inner = *d;
	char what[200];

	snprintf(what, sizeof(what), fmt, name, text);
	diag_fail(d, err, "%s: %.300s", what, inner.what);
	return diag_advise(d, err, "%s", inner.help);
}

/* Values point into the text, so it is kept as long as they are. */
static int set(struct settings *s, size_t i, const char *text, struct diag *d)
{
	char *copy = strdup(text);

	if (!copy)
		return diag_no_memory(d);
	free(s->texts[i]);
	s->texts[i] = copy;
	return option_set(option_at(s->values.command, i), copy, &s->values, d);
}

/* Append to a setting that may be repeated */
static int set_more(struct settings *s, size_t i, const char *text, struct diag *d)
{
	struct text_list both = { 0 };
	int err = text_list_print(&both, "%s\n%s", s->texts[i], text) ? diag_no_memory(d) : 0;

	if (!err)
		err = set(s, i, both.items[0], d);
	text_list_free(&both);
	return err;
}

static int unknown(const struct settings *s, const char *name, struct diag *d)
{
	struct spelling known = { .word = name };
	const struct option_row *o;

	diag_fail(d, -EINVAL, "there is no setting \"%.64s\"", name);
	for (size_t i = 0; (o = option_at(s->values.command, i)); i++)
		if (o->setting)
			spelling_add(&known, o->name);
	return spelling_advise(&known, "settings are", d, -EINVAL);
}

static char *trim(char *text)
{
	size_t length;

	text += strspn(text, " \t");
	length = strlen(text);
	while (length && strchr(" \t\r\n", text[length - 1]))
		length--;
	text[length] = '\0';
	return text;
}

/* One line of the file; @lines has the line of each setting seen before. */
static int take_line(char *line, unsigned int number, unsigned int *lines, struct settings *s,
		     struct diag *d)
{
	char *key = trim(line), *value;
	const struct option_row *o;
	size_t i = 0;
	int err;

	if (!*key || *key == '#')
		return 0;
	value = strchr(key, '=');
	if (!value) {
		diag_fail(d, -EINVAL, "\"%.64s\" is not \"key = value\"", key);
		return diag_advise(d, -EINVAL, "comments begin with #");
	}
	*value++ = '\0';
	key = trim(key);
	value = trim(value);
	while ((o = option_at(s->values.command, i)) && !(o->setting && !strcmp(o->name, key)))
		i++;
	if (!o)
		return unknown(s, key, d);
	if (lines[i] && o->many)
		return set_more(s, i, value, d);
	if (lines[i])
		return diag_fail(d, -EINVAL, "%s is there twice, in line %u, too", key, lines[i]);
	lines[i] = number;
	err = set(s, i, value, d);
	return err ? about(err, d, "%s = %.64s", key, value) : 0;
}

static int at_line(const char *file, unsigned int line, int err, struct diag *d)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", line);
	return about(err, d, "%.150s:%s", file, number);
}

/* A setting that does not fit to others: the problem begins with its name. */
static int at_setting(const struct options *given, const unsigned int *lines, int err,
		      struct diag *d)
{
	size_t length = strcspn(d->what, " =:");
	const struct option_row *o;

	for (size_t i = 0; (o = option_at(given->command, i)); i++)
		if (o->setting && lines[i] && !given->settings[i] && strlen(o->name) == length &&
		    !strncmp(d->what, o->name, length))
			return at_line(settings_file(given), lines[i], err, d);
	return err;
}

/* @lines: gets the line of each setting, 0: it has none */
static int read_file(const struct options *given, struct settings *s, unsigned int *lines,
		     struct diag *d)
{
	unsigned int number = 0;
	const char *file = settings_file(given);
	cleanup_fclose FILE *f = fopen(file, "re");
	char line[MAX_LINE];
	int err = 0, more = 0;

	if (!f && errno == ENOENT && !given->config)
		return 0;
	if (!f)
		return diag_fail(d, -errno, "cannot read the settings in %s: %s", file,
				 strerror(errno));
	while (!err && (more = next_line(f, line, sizeof(line))) > 0)
		err = take_line(line, ++number, lines, s, d);
	if (more == -EINVAL || more == -E2BIG)
		return at_line(file, number + 1, diag_fail(d, -EINVAL, "this line is not text"), d);
	if (more < 0)
		return diag_fail(d, more, "cannot read the settings in %s: %s", file,
				 strerror(-more));
	return err ? at_line(file, number, err, d) : 0;
}

/* Intervals of the history are sums of intervals of the books. */
static int check_history(const struct serve_config *c, struct diag *d)
{
	char step[UNITS_TEXT_LEN], interval[UNITS_TEXT_LEN];

	if (!c->history.nr || c->history.steps[0].step_ns >= c->interval_ns)
		return 0;
	time_text(c->history.steps[0].step_ns, step);
	time_text(c->interval_ns, interval);
	diag_fail(d, -EINVAL, "history = %s for ...: intervals are %s long", step, interval);
	return diag_advise(d, -EINVAL,
			   "begin the history with %s or more, or make the interval shorter",
			   interval);
}

/* Derive values for the live run from the settings, and check that they can work. */
static int complete(struct options *o, struct diag *d)
{
	struct run_options *r = &o->run;

	r->all = true;
	r->by = ROW_JOB;
	r->by_given = true;
	r->no_summary = true;
	r->interval_ns = o->serve.interval_ns;
	r->job_users = &o->serve.user_jobs;
	r->idle_units = o->serve.schedulers & (1u << SCHEDULER_SYSTEMD);
	/* only a file that the user chose must exist */
	if (!strcmp(r->cgroup_v1, "auto"))
		r->cgroup_v1 = NULL;
	return run_check_measuring(r, r->interval_ns, true, d) ?: check_history(&o->serve, d);
}

int settings_judge(const struct options *o, uint32_t nr_cpus, struct diag *d)
{
	uint64_t ms = o->run.window_ns / NS_PER_MS;
	uint64_t least = ((uint64_t)nr_cpus * WAIT_MS + MAX_CPU_WINDOWS - 1) / MAX_CPU_WINDOWS;

	if (ms >= least)
		return 0;
	diag_fail(d, -EINVAL,
		  "window = %llums: %u CPUs send more in windows as short as these than fits into "
		  "the daemon's memory",
		  (unsigned long long)ms, nr_cpus);
	return diag_advise(d, -EINVAL, "give a window of at least %llums",
			   (unsigned long long)least);
}

int settings_read(const struct options *given, struct diag *d, struct settings *ret)
{
	unsigned int lines[MAX_SETTINGS] = { 0 };
	const struct option_row *o;
	int err = 0;

	*ret = (struct settings){
		.values = { .command = given->command, .run = run_options_default() },
	};
	ret->values.serve.schedulers = SCHEDULERS_OF_JOBS;
	for (size_t i = 0; !err && (o = option_at(given->command, i)); i++)
		if (o->fallback)
			err = set(ret, i, o->fallback, d);
	if (!err)
		err = read_file(given, ret, lines, d);
	for (size_t i = 0; !err && (o = option_at(given->command, i)); i++) {
		if (!given->settings[i])
			continue;
		err = set(ret, i, given->settings[i], d);
		if (err)
			about(err, d, "--%s %.64s", o->name, given->settings[i]);
	}
	if (err)
		return err;
	err = complete(&ret->values, d);
	if (!err)
		err = settings_judge(&ret->values, sysconf(_SC_NPROCESSORS_CONF), d);
	return err ? at_setting(given, lines, err, d) : 0;
}

void settings_free(struct settings *s)
{
	options_free(&s->values);
	for (size_t i = 0; i < MAX_SETTINGS; i++)
		free(s->texts[i]);
	*s = (struct settings){ 0 };
}

/* Does a different text mean a different value? "10s" and "10000ms" do not. */
static bool changed(const struct settings *from, const struct settings *to, size_t i)
{
	const struct option_row *o = option_at(from->values.command, i);
	const char *a = from->texts[i] ? from->texts[i] : "", *b = to->texts[i] ? to->texts[i] : "";

	return strcmp(a, b) != 0 && memcmp((const char *)&from->values + o->offset,
					   (const char *)&to->values + o->offset, o->size);
}

void settings_fixed(const struct settings *from, const struct settings *to, char *ret_names,
		    size_t size)
{
	const struct option_row *o;

	ret_names[0] = '\0';
	for (size_t i = 0; (o = option_at(from->values.command, i)); i++)
		if (o->restart && changed(from, to, i))
			str_append(ret_names, size, "%s%s", ret_names[0] ? ", " : "", o->name);
}

void settings_take(struct settings *s, const struct settings *from)
{
	const struct option_row *o;

	/* their values are numbers and copies: nothing points into texts of @from */
	for (size_t i = 0; (o = option_at(s->values.command, i)); i++)
		if (o->setting && !o->restart)
			memcpy((char *)&s->values + o->offset,
			       (const char *)&from->values + o->offset, o->size);
}
