// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Requests of devices, and who had one alone. */
#include <errno.h>

#include "engine/session/internal.h"

int session_row(void *arg, uint32_t workload, uint32_t *ret)
{
	const struct session *s = arg;
	struct split_sink book = book_sink(s->interval);

	return book.row(book.arg, workload, ret);
}

/* The number of who it was; from now on also a task without a name has an entry. */
int session_somebody(struct session *s, const struct workload_key *who, uint32_t tgid,
		     uint32_t *ret)
{
	if (!identity_cgroup_find(s->id, who->cgroup_id))
		s->unknown_cgroup = true;
	return identity_workload(s->id, who->pid, tgid, who->start_ns, who->cgroup_id, ret);
}

/* Does an io event make sense? */
static bool judge_io(const struct session *s, const struct trace_io *io)
{
	if (io->device >= s->header->nr_devices || io->end_ns < io->start_ns)
		return false;
	if (io->exclusive && (io->read_bytes || io->write_bytes || io->pid == TRACE_PID_LOST))
		return false;
	if (io->pid == TRACE_PID_LOST)
		return true;
	if (io->pid == TRACE_PID_IDLE)
		return io->cgroup_id != 0;
	return io->tgid && io->tgid != TRACE_PID_LOST &&
	       (s->header->by_thread || io->tgid == io->pid);
}

int session_io(struct session *s, const struct trace_io *io)
{
	struct workload_key who = { .cgroup_id = io->cgroup_id };
	uint32_t workload = WORKLOAD_LOST;
	int err;

	if (!judge_io(s, io))
		return -EINVAL;
	if (io->pid != TRACE_PID_LOST) {
		/* Of pid 0 the cgroup says all there is to know. */
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
	return err;
}

int session_enter_io(void *arg, uint32_t device, uint32_t workload, uint64_t read_bytes,
		     uint64_t write_bytes)
{
	struct session *s = arg;

	return book_io(s->interval, device, workload, read_bytes, write_bytes);
}

static void keep_workload(void *arg, uint32_t workload)
{
	const struct session *s = arg;

	identity_keep(s->id, workload);
}

void session_keep_exclusives(struct session *s)
{
	const struct exclusives_rows rows = { session_row, keep_workload, s };

	exclusives_keep(s->exclusives, &rows);
}

/* Which row had a device to itself since the last mark. */
int session_enter_exclusives(struct session *s, const uint64_t *ends_ns)
{
	const struct exclusives_rows rows = { session_row, keep_workload, s };
	const struct trace_header *h = s->header;
	uint32_t row = SPLIT_NO_ROW;
	bool several = false;
	int err = 0;

	/* Without sockets there are no intervals. */
	for (uint32_t i = 0; h->layout.nr_sockets && i < h->nr_devices && !err; i++) {
		/* Where it is may not be known; sockets differ by very little. */
		uint32_t at =
			h->devices[i].socket < h->layout.nr_sockets ? h->devices[i].socket : 0;

		err = exclusives_close(s->exclusives, i, s->ends_ns[at], ends_ns[at], &rows, &row,
				       &several);
		if (!err)
			book_exclusive(s->interval, i, row, several);
	}
	return err;
}
