// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/lookup/live_tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "live/lookup/process.h"
#include "platform/sys/pid_namespace.h"

void live_tasks_open(const char *proc, struct live_tasks *ret)
{
	*ret = (struct live_tasks){ .machine = pid_namespace_is_machine(proc) };
}

void live_tasks_free(struct live_tasks *t)
{
	free(t->named);
	t->named = NULL;
	t->nr_named = 0;
}

int live_tasks_remember(struct live_tasks *t, pid_t pid)
{
	pid_t *more = realloc(t->named, (t->nr_named + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	t->named = more;
	more[t->nr_named++] = pid;
	return 0;
}

bool live_tasks_some_ended(struct live_tasks *t)
{
	size_t nr = t->nr_named;

	t->nr_named = 0;
	for (size_t i = 0; i < nr; i++)
		if (process_lives(t->named[i]))
			t->named[t->nr_named++] = t->named[i];
	return t->nr_named < nr;
}

const char *live_tasks_note(const struct live_tasks *t, const struct ledger *l)
{
	if (t->machine)
		return "";
	if (ledger_finds_tasks(l))
		return "in a pid namespace of its own: rows have the machine's numbers of "
		       "processes, "
		       "-p takes those of the namespace";
	return "in a pid namespace of its own: rows have the machine's numbers of processes, -p "
	       "takes "
	       "those of the namespace, and processes outside of it have no names if they ran "
	       "before; run in that of the host (docker, podman: --pid=host)";
}

/* A search for a process of our namespace. */
struct search {
	uint32_t wanted;
	uint32_t found;
};

static void on_task(void *arg, const struct ledger_task *r)
{
	struct search *s = arg;

	if (r->ns_pid == s->wanted && r->pid == r->tgid)
		s->found = r->tgid;
}

int live_tasks_number(const struct live_tasks *t, struct ledger *l, pid_t pid, uint32_t *ret)
{
	struct search s = { .wanted = (uint32_t)pid, .found = t->machine ? (uint32_t)pid : 0 };
	const struct ledger_sink sink = { .task = on_task, .arg = &s };
	int err = t->machine ? 0 : ledger_tasks(l, &sink);

	*ret = s.found;
	return err;
}

int live_tasks_name(const struct live_tasks *t, struct ledger *l, const struct ledger_sink *sink,
		    const struct trace_sink *out, uint32_t pid, uint32_t tgid, uint64_t start_ns)
{
	struct trace_task task = { .pid = pid, .tgid = tgid, .start_ns = start_ns };
	char path[32], line[MODEL_COMM_LEN];

	if (!t->machine)
		return ledger_finds_tasks(l) ? ledger_task(l, pid, sink) : 0;
	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	if (read_line_at(AT_FDCWD, path, line, sizeof(line)))
		return 0;
	task.comm = line;
	return trace_send_task(out, &task);
}

int live_tasks_list(const struct live_tasks *t, struct ledger *l, const struct ledger_sink *sink,
		    const struct trace_sink *out)
{
	int err = t->machine ? trace_send_resync(out, true) : 0;

	if (!err)
		err = ledger_tasks(l, sink);
	if (!err && t->machine)
		err = trace_send_resync(out, false);
	return err;
}
