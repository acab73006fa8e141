// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/serve_config.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "cli/arg_parts.h"
#include "cli/serve_values.h"
#include "daemon/http.h"
#include "daemon/spool.h"
#include "daemon/store.h"
#include "platform/core/weights.h"

#define MAX_LINE	4096
#define NS_PER_MS	1000000ull
/* Slices of so much time wait, whatever the settings: books are not brought up to date more often. */
#define WAIT_MS		200
/*
 * CPUs times windows in that time: with 10 slots each they need some 90 MiB (tests/bench/memory), and
 * with all 30 they are still below the MemoryMax of the unit.
 */
#define MAX_CPU_WINDOWS 80000

enum {
	KEY_CONFIG = 0x100,
	KEY_CHECK,
	KEY_SETTING, /* and above: one a row */
};

/**
 * struct setting - a row
 * @name: key in the file, and long option
 * @arg, @doc: for --help
 * @group: of the options
 * @restart: a change needs a restart
 * @parse: from text to the field
 * @offset, @size: of the field in struct serve_config
 * @fallback: value when nothing is said, as text
 */
struct setting {
	const char *name;
	const char *arg;
	const char *doc;
	int group;
	bool restart;
	int (*parse)(const char *text, void *field, size_t size, struct diag *d);
	size_t offset;
	size_t size;
	const char *fallback;
};

#define FIELD(f) offsetof(struct serve_config, f), sizeof(((struct serve_config *)NULL)->f)

/* In the order of packaging/serve.conf. */
static const struct setting rows[] = {
	{ "interval", "TIME", "Time between two closings of the books (default 10s)", 1, false,
	  serve_value_interval, FIELD(interval_ns), "10s" },
	{ "window", "TIME", "Time between two readings of the counters (default 10ms)", 1, true,
	  serve_value_window, FIELD(window_ns), "10ms" },
	{ "schedulers", "NAME[,...]",
	  "Whose jobs have accounts (default slurm,flux,kubernetes,docker,podman,libvirt; also "
	  "systemd)",
	  1, true, serve_value_schedulers, FIELD(schedulers),
	  "slurm,flux,kubernetes,docker,podman,libvirt" },
	{ "user-jobs", "USER[,...]",
	  "Users whose own containers, Flux jobs and units are jobs: names and uids, yes for all, "
	  "no "
	  "for none (default flux)",
	  1, true, serve_value_user_jobs, FIELD(user_jobs), USER_JOBS_DEFAULT },
	{ "cgroup-v1", "CONTROLLER",
	  "Where tasks are in a v1 cgroup of this controller, that one is theirs instead of the v2 "
	  "one; none, or auto (default: freezer or cpuset, if mounted as v1)",
	  1, true, serve_value_cgroup_v1, FIELD(cgroup_v1), "auto" },
	{ "counters", "yes|no", "no: only CPU time and requests of devices; works on any machine",
	  1, true, serve_value_bool, FIELD(counters), "yes" },
	{ "devices", "DEVICE[,...]",
	  "Also what these PCIe devices move: as -D; all for all of them", 1, true,
	  serve_value_text, FIELD(devices), "" },
	{ "pci-map", "FILE", "Where root ports are, if firmware does not say", 1, true,
	  serve_value_path_or_none, FIELD(pci_map), "" },
	{ "split", "destination|none", "Also tell where the bytes go that tasks cause", 1, true,
	  serve_value_split, FIELD(by_destination), "none" },
	{ "method", "METHOD", "How windows are split: state-space (default), weights or cpu-time",
	  1, true, serve_value_method, FIELD(method), "state-space" },
	{ "weights", "EVENT[,EVENT]",
	  "Core events that measure what tasks do, auto (default) or cpu-time", 1, true,
	  serve_value_weights, FIELD(weights), "auto" },
	{ "read-budget", "PERCENT",
	  "Part of a CPU's time that readings of latencies may take (default 0.5); 0 leaves them "
	  "out",
	  1, true, serve_value_budget, FIELD(read_budget), "0.5" },
	{ "state", "FILE", "Where accounts are kept (default " STORE_DEFAULT_FILE ")", 2, true,
	  serve_value_path, FIELD(state), STORE_DEFAULT_FILE },
	{ "keep-days", "N",
	  "Forget jobs so many days after their end (default 90; 0 keeps them forever)", 2, false,
	  serve_value_days, FIELD(keep_days), "90" },
	{ "max-jobs", "N", "Keep at most so many jobs that are over (default 200000; 0 = no bound)",
	  2, false, serve_value_number, FIELD(max_jobs), "200000" },
	{ "spool", "FOLDER", "Where closing reports go (default " SPOOL_DEFAULT_FOLDER ")", 2,
	  false, serve_value_path, FIELD(spool), SPOOL_DEFAULT_FOLDER },
	{ "spool-max-files", "N",
	  "With so many files there, the oldest reports make room (default 100000; 0 = no bound)",
	  2, false, serve_value_number, FIELD(spool_max_files), "100000" },
	{ "listen", "ADDRESS:PORT",
	  "Where /metrics and the other pages are (default " HTTP_DEFAULT_ADDRESS
	  "; empty: nowhere)",
	  3, false, serve_value_address, FIELD(listen), HTTP_DEFAULT_ADDRESS },
	{ "top", "N", "Jobs with metrics of their own; the rest is \"other\" (default 50)", 3,
	  false, serve_value_top, FIELD(top), "50" },
};
_Static_assert(ARRAY_SIZE(rows) <= SERVE_MAX_SETTINGS, "a place for each on the command line");

static const struct argp_option headings[] = {
	{ NULL, 0, NULL, 0, "What is measured:", 1 },
	{ NULL, 0, NULL, 0, "Where accounts and reports are kept:", 2 },
	{ NULL, 0, NULL, 0, "What is shown:", 3 },
	{ NULL, 0, NULL, 0, "The daemon itself:", 4 },
	{ "config", KEY_CONFIG, "FILE", 0,
	  "Settings, lines of \"key = value\" (default " SERVE_CONFIG_FILE ")", 4 },
	{ "check-config", KEY_CHECK, NULL, 0, "Only say whether the settings are right", 4 },
	{ "verbose", 'v', NULL, 0, "Also say when jobs end, and what the BPF library has to say",
	  4 },
};

const struct argp_option *serve_options(void)
{
	static struct argp_option made[ARRAY_SIZE(rows) + ARRAY_SIZE(headings) + 1];
	size_t nr = 0, row = 0;

	for (size_t h = 0; h < ARRAY_SIZE(headings); h++) {
		made[nr++] = headings[h];
		for (; headings[h].doc && !headings[h].name && row < ARRAY_SIZE(rows) &&
		       rows[row].group == headings[h].group;
		     row++)
			made[nr++] = (struct argp_option){ rows[row].name, KEY_SETTING + (int)row,
							   rows[row].arg,  0,
							   rows[row].doc,  rows[row].group };
	}
	return made;
}

/* Zeros behind texts, too: fields are compared by their bytes. */
static int set(const struct setting *s, const char *text, struct serve_config *c, struct diag *d)
{
	void *field = (char *)c + s->offset;

	memset(field, 0, s->size);
	return s->parse(text, field, s->size, d);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct serve_args *a = state->input;

	if (key >= KEY_SETTING && key < KEY_SETTING + (int)ARRAY_SIZE(rows)) {
		a->given[key - KEY_SETTING] = arg;
		return 0;
	}
	switch (key) {
	case KEY_CONFIG:
		a->file = arg;
		a->file_given = true;
		return 0;
	case KEY_CHECK:
		a->check = true;
		return 0;
	case 'v':
		a->verbose = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument \"%s\"", arg);
		return EINVAL;
	}
	return ARGP_ERR_UNKNOWN;
}

void serve_args_parse(int argc, char **argv, struct serve_args *ret)
{
	const struct argp argp = {
		.options = serve_options(),
		.parser = parse_option,
		.doc = "Keep accounts of jobs, for months: a closing report of each job into a "
		       "folder, totals that survive restarts, and metrics for Prometheus.\v"
		       "It stays in the foreground, for a service manager. SIGTERM and SIGINT end "
		       "it, SIGHUP reads the settings again.\n"
		       "\n"
		       "Exit status: 0 ended as asked, 1 failed, 2 wrong arguments or settings, 3 "
		       "ended as asked, but the last accounts could not be saved.",
	};
	struct serve_args a = { .file = SERVE_CONFIG_FILE };

	argp_parse(&argp, argc, argv, 0, NULL, &a);
	*ret = a;
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

static const struct setting *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

static int unknown(const char *name, struct diag *d)
{
	int err = diag_fail(d, -EINVAL, "there is no setting \"%.64s\"", name);
	char names[400] = "";

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		str_append(names, sizeof(names), "%s%s", i ? ", " : "", rows[i].name);
	diag_help(d, "settings are %s", names);
	return err;
}

/* One line of the file; @lines has the line of each setting that was there before. */
static int take_line(char *line, unsigned int number, unsigned int *lines, struct serve_config *c,
		     struct diag *d)
{
	char *key = trim(line), *value;
	const struct setting *s;

	if (!*key || *key == '#')
		return 0;
	value = strchr(key, '=');
	if (!value) {
		diag_fail(d, -EINVAL, "\"%.64s\" is not \"key = value\"", key);
		diag_help(d, "comments begin with #");
		return -EINVAL;
	}
	*value++ = '\0';
	key = trim(key);
	s = find(key);
	if (!s)
		return unknown(key, d);
	if (lines[s - rows])
		return diag_fail(d, -EINVAL, "%s is there twice, in line %u, too", key,
				 lines[s - rows]);
	lines[s - rows] = number;
	return set(s, trim(value), c, d);
}

/* Puts the place before the problem. */
static int at_line(const char *file, unsigned int line, int err, struct diag *d)
{
	struct diag inner = *d;

	diag_fail(d, err, "%s:%u: %.400s", file, line, inner.what);
	diag_help(d, "%s", inner.help);
	return err;
}

static int read_file(const struct serve_args *args, struct serve_config *c, struct diag *d)
{
	unsigned int lines[ARRAY_SIZE(rows)] = { 0 }, number = 0;
	cleanup_fclose FILE *f = fopen(args->file, "re");
	char line[MAX_LINE];
	int err = 0, more = 0;

	if (!f && errno == ENOENT && !args->file_given)
		return 0;
	if (!f)
		return diag_fail(d, -errno, "cannot read the settings in %s: %s", args->file,
				 strerror(errno));
	while (!err && (more = next_line(f, line, sizeof(line))) > 0)
		err = take_line(line, ++number, lines, c, d);
	if (more == -EINVAL || more == -E2BIG)
		return at_line(args->file, number + 1,
			       diag_fail(d, -EINVAL, "this line is not text"), d);
	if (more < 0)
		return diag_fail(d, more, "cannot read the settings in %s: %s", args->file,
				 strerror(-more));
	return err ? at_line(args->file, number, err, d) : 0;
}

static int check_together(const struct serve_config *c, struct diag *d)
{
	bool events = strcmp(c->weights, "auto") != 0 && strcmp(c->weights, "cpu-time") != 0;

	if (c->window_ns > c->interval_ns)
		return diag_fail(d, -EINVAL, "window is longer than interval");
	if (events && c->method == METHOD_CPU_TIME)
		return diag_fail(d, -EINVAL, "weights = %.64s: method = cpu-time would not use it",
				 c->weights);
	if (c->pci_map[0] && !c->devices[0])
		return diag_fail(d, -EINVAL,
				 "pci-map is for devices, which the setting devices "
				 "chooses");
	if (!c->counters && c->by_destination)
		return diag_fail(d, -EINVAL,
				 "split = destination: nothing is counted with "
				 "counters = no");
	return 0;
}

int serve_config_judge(const struct serve_config *c, uint32_t nr_cpus, struct diag *d)
{
	uint64_t ms = c->window_ns / NS_PER_MS;
	uint64_t least = ((uint64_t)nr_cpus * WAIT_MS + MAX_CPU_WINDOWS - 1) / MAX_CPU_WINDOWS;

	if (ms >= least)
		return 0;
	diag_fail(d, -EINVAL,
		  "window = %llums: %u CPUs send more in windows as short as these than fits into "
		  "the daemon's memory",
		  (unsigned long long)ms, nr_cpus);
	diag_help(d, "give a window of at least %llums", (unsigned long long)least);
	return -EINVAL;
}

int serve_config_read(const struct serve_args *args, struct diag *d, struct serve_config *ret)
{
	cleanup_free struct serve_config *c = calloc(1, sizeof(*c));
	int err = c ? 0 : diag_fail(d, -ENOMEM, "out of memory");

	for (size_t i = 0; !err && i < ARRAY_SIZE(rows); i++)
		err = set(&rows[i], rows[i].fallback, c, d);
	if (!err)
		err = read_file(args, c, d);
	for (size_t i = 0; !err && i < ARRAY_SIZE(rows); i++) {
		if (!args->given[i])
			continue;
		err = set(&rows[i], args->given[i], c, d);
		if (err) {
			struct diag inner = *d;

			diag_fail(d, err, "--%s: %.400s", rows[i].name, inner.what);
			diag_help(d, "%s", inner.help);
		}
	}
	if (!err)
		err = check_together(c, d);
	if (!err)
		err = serve_config_judge(c, sysconf(_SC_NPROCESSORS_CONF), d);
	if (!err)
		*ret = *c;
	return err;
}

void serve_config_fixed(const struct serve_config *from, const struct serve_config *to,
			char *ret_names, size_t size)
{
	ret_names[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct setting *s = &rows[i];

		if (s->restart &&
		    memcmp((const char *)from + s->offset, (const char *)to + s->offset, s->size))
			str_append(ret_names, size, "%s%s", ret_names[0] ? ", " : "", s->name);
	}
}

void serve_config_take(struct serve_config *c, const struct serve_config *from)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!rows[i].restart)
			memcpy((char *)c + rows[i].offset, (const char *)from + rows[i].offset,
			       rows[i].size);
}

bool serve_config_loopback(const struct serve_config *c)
{
	return !c->listen[0] || !strncmp(c->listen, "127.", 4) || !strncmp(c->listen, "[::1]:", 6);
}

int serve_config_live(struct serve_config *c, struct run_options *ret)
{
	struct run_options a = {
		.all = true,
		.by = ROW_JOB,
		.by_given = true,
		.interval_ns = c->interval_ns,
		.window_ns = c->window_ns,
		.probe_ns = RUN_PROBE_INTERVAL_NS,
		.read_budget = c->read_budget,
		.weights = c->weights,
		.methods = { c->method },
		.nr_methods = 1,
		.by_destination = c->by_destination,
		.pci_map = c->pci_map[0] ? c->pci_map : NULL,
		/* only what somebody chose must be there */
		.cgroup_v1 = strcmp(c->cgroup_v1, "auto") ? c->cgroup_v1 : NULL,
		.no_counters = !c->counters,
		.job_users = &c->user_jobs,
		.idle_units = c->schedulers & (1u << SCHEDULER_SYSTEMD),
		.no_summary = true,
	};

	str_copy(c->device_parts, sizeof(c->device_parts), c->devices);
	for (char *rest = c->device_parts, *part; (part = strsep(&rest, ","));) {
		if (!*part)
			continue;
		if (array_room(a.devices, a.cap_devices, a.nr_devices)) {
			run_options_free(&a);
			return -ENOMEM;
		}
		a.devices[a.nr_devices++] = part;
	}
	*ret = a;
	return 0;
}
