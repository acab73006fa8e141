// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Requests and users of devices. */
#include <errno.h>

#include "engine/session/internal.h"

/* The number of the workload; from now on also a task without a name has an entry. */
int session_somebody(struct session *s, const struct workload_key *who, uint32_t tgid,
		     uint32_t *ret)
{
	if (!identity_cgroup_find(s->id, who->cgroup_id))
		s->unknown_cgroup = true;
	return identity_workload(s->id, who->pid, tgid, who->start_ns, who->cgroup_id, ret);
}

/* The owner of a function owns its links: they have no nodes of their own. */
static int own_links(struct session *s, uint32_t workload, struct trace_io io)
{
	uint32_t function = io.device + 1;
	int err = 0;

	for (io.device = 0; io.device < s->header->nr_devices && !err; io.device++) {
		if (s->header->devices[io.device].function != function)
			continue;
		err = timeline_io(s->timeline, workload, &io);
		if (!err)
			err = exclusives_add(s->exclusives, io.device, workload, io.start_ns,
					     io.end_ns);
	}
	return err;
}

int session_io(struct session *s, const struct trace_io *io)
{
	struct workload_key who = { .cgroup_id = io->cgroup_id };
	uint32_t workload = WORKLOAD_LOST;
	int err;

	if (io->exclusive && s->contexts && contexts_tell(s->contexts, io->device))
		return 0;
	if (io->pid != TRACE_PID_LOST) {
		/* With pid 0 only the cgroup is known. */
		who.pid = io->pid;
		who.start_ns = io->pid == TRACE_PID_IDLE ? 0 : io->task_start_ns;
		err = session_somebody(s, &who, io->pid == TRACE_PID_IDLE ? 0 : io->tgid,
				       &workload);
		if (err)
			return err;
		identity_keep(s->id, workload);
	}
	if (s->o.names_only)
		return 0;
	err = timeline_io(s->timeline, workload, io);
	if (!err && io->exclusive)
		err = exclusives_add(s->exclusives, io->device, workload, io->start_ns, io->end_ns);
	return !err && io->exclusive ? own_links(s, workload, *io) : err;
}

/* Contexts tell the owner from now on, of links, too. */
static void forget_nodes(struct session *s, uint32_t device)
{
	for (uint32_t i = 0; i < s->header->nr_devices; i++) {
		if (i != device && s->header->devices[i].function != device + 1)
			continue;
		timeline_forget_exclusive(s->timeline, i);
		exclusives_forget(s->exclusives, i);
	}
}

int session_users(struct session *s, const struct trace_event *e)
{
	if (e->type == TRACE_ACTIVITY)
		return contexts_activity(s->contexts, &e->activity);
	if (e->type == TRACE_HOLDERS)
		return contexts_holders(s->contexts, &e->contexts);
	if (!contexts_tell(s->contexts, e->contexts.device))
		forget_nodes(s, e->contexts.device);
	return contexts_look(s->contexts, &e->contexts);
}
