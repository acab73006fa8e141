// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/check_gpu.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/utf8.h"
#include "live/program/gpu.h"
#include "live/program/lines.h"
#include "live/program/process.h"

/* A driver may need seconds for each GPU that sleeps. */
#define LIMIT_NS  (30 * NS_PER_S)
#define LOOK_MS	  50
#define READ_MOST 16384

/* Rows, and the last error of the command */
struct answer {
	struct check_list *list;
	size_t nr;
	char said[200];
};

static struct check_row *add_row(struct check_list *list, const char *name,
				 enum check_status status)
{
	struct check_row *row;

	if (list->nr == ARRAY_SIZE(list->rows))
		return NULL;
	row = &list->rows[list->nr++];
	*row = (struct check_row){ .name = name, .status = status };
	return row;
}

/* Rows have names that do not go; others are not ours. */
static const char *known_name(const char *text, size_t size)
{
	static const char *const names[] = { "gpu_driver",     "gpu_nvml",     "gpu_links",
					     "gpu_accounting", "gpu_counters", "gpu_pids",
					     "gpu_holders" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (size == strlen(names[i]) && !memcmp(text, names[i], size))
			return names[i];
	return NULL;
}

static void take_row(void *arg, const char *text, size_t size)
{
	struct answer *a = arg;
	const char *parts[4], *end = text + size, *tab;
	size_t sizes[4], nr = 0;
	const char *name;
	struct check_row *row;

	for (const char *at = text; at && nr < 4; at = tab ? tab + 1 : NULL) {
		tab = memchr(at, '\t', end - at);
		parts[nr] = at;
		sizes[nr++] = (tab ? tab : end) - at;
	}
	if (nr < 4)
		return;
	name = known_name(parts[0], sizes[0]);
	row = name && sizes[2]
		      ? add_row(a->list, name,
				sizes[1] == 2 && !memcmp(parts[1], "ok", 2) ? CHECK_OK
									    : CHECK_LIMITED)
		      : NULL;
	if (!row)
		return;
	utf8_harmless(row->found, sizeof(row->found), parts[2], sizes[2]);
	utf8_harmless(row->remedy, sizeof(row->remedy), parts[3], sizes[3]);
	a->nr++;
}

static void take_error(void *arg, const char *text, size_t size)
{
	struct answer *a = arg;

	utf8_harmless(a->said, sizeof(a->said), text, size);
}

/* Returns whether it came to its end. */
static bool read_all(struct program_process *p, struct program_lines *out,
		     struct program_lines *err, uint64_t until_ns)
{
	struct pollfd fd = { .fd = p->out, .events = POLLIN };
	ssize_t n = 0;

	while (n >= 0 && monotonic_ns() < until_ns) {
		n = program_lines_read(out, p->out, READ_MOST);
		program_lines_read(err, p->err, READ_MOST);
		if (!n)
			poll(&fd, 1, LOOK_MS);
	}
	return n < 0;
}

int check_gpu_ask(const char *command, uint64_t limit_ns, struct check_list *list)
{
	struct answer a = { .list = list };
	struct program_lines out = { .take = take_row, .arg = &a };
	struct program_lines err = { .take = take_error, .arg = &a };
	struct program_process p;
	struct check_row *row;
	struct diag d = { 0 };
	char how[96] = "";
	bool ended;
	int problem = program_process_start(command, &d, &p);

	if (problem)
		return problem;
	ended = read_all(&p, &out, &err, monotonic_ns() + limit_ns);
	program_process_end(&p);
	program_process_ended(&p, true, how, sizeof(how));
	program_lines_free(&out);
	program_lines_free(&err);
	if (a.nr && ended && !p.status)
		return 0;
	row = add_row(list, "gpu_helper", CHECK_LIMITED);
	if (!row)
		return 0;
	if (ended)
		snprintf(row->found, sizeof(row->found), "t410trace-gpu %s%s%s", how,
			 a.said[0] ? ": " : "", a.said);
	else
		snprintf(row->found, sizeof(row->found), "t410trace-gpu says nothing for %.0f s",
			 limit_ns / 1e9);
	str_copy(row->remedy, sizeof(row->remedy),
		 ended ? "users of GPUs are not known; see t410trace-gpu(1)"
		       : "a driver of a GPU may hang: see the kernel's log");
	return 0;
}

int check_gpu(const struct sysfs *fs, struct check_list *list)
{
	static const char *const drivers[] = { "nvidia", "amdgpu", "xe", "i915" };
	char command[GPU_COMMAND_LEN];
	struct diag d = { 0 };
	struct check_row *row;
	size_t loaded = 0;

	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		loaded += sysfs_exists(fs, "module/%s", drivers[i]);
	if (!loaded)
		return 0;
	if (!gpu_find("--check", &d, command, sizeof(command)))
		return check_gpu_ask(command, LIMIT_NS, list);
	row = add_row(list, "gpu_helper", CHECK_LIMITED);
	if (row) {
		str_copy(row->found, sizeof(row->found), d.what);
		str_copy(row->remedy, sizeof(row->remedy), d.help);
	}
	return 0;
}
