// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>

#include "base/array.h"
#include "model.h"
#include "neighbourhood.h"

uint32_t report_socket_at(const struct report *r, uint32_t socket)
{
	return socket < r->nr_sockets ? r->sockets[socket].id : socket;
}

uint32_t report_socket_id(const struct report *r, const struct counter *c)
{
	return report_socket_at(r, c->socket);
}

uint64_t report_duration_ns(const struct report *r)
{
	return r->end_ns > r->start_ns ? r->end_ns - r->start_ns : 0;
}

struct row_job *row_job_share(struct row_job *j)
{
	j->shared++;
	return j;
}

void row_job_release(struct row_job *j)
{
	if (j && !j->shared--)
		free(j);
}

void report_row_release(struct report_row *row)
{
	row_job_release(row->job);
	free(row->cgroup);
	free(row->shares);
	free(row->latencies);
	free(row->devices);
	free(row->tangled);
}

_Static_assert(DEVICE_COMM_LEN == MODEL_COMM_LEN && DEVICE_KEY_LEN == MODEL_KEY_LEN, "one length");

static void users_free(struct device_user *users, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		free(users[i].cgroup);
		row_job_release(users[i].job);
	}
	free(users);
}

void device_users_release(struct device_users *u)
{
	users_free(u->users, u->nr);
	users_free(u->blockers, u->nr_blockers);
	*u = (struct device_users){ 0 };
}

void report_free(struct report *r)
{
	size_t i;

	if (!r)
		return;
	for (i = 0; i < r->nr_rows; i++)
		report_row_release(&r->rows[i]);
	for (i = 0; i < r->nr_devices; i++)
		device_users_release(&r->devices[i].by);
	free(r->rows);
	free(r->counters);
	free(r->probes);
	free(r->parts);
	free(r->devices);
	free(r->sockets);
	free(r->resctrl);
	free(r);
}

NAMES(source_name, enum source, [SOURCE_CPU] = "cpu", [SOURCE_DEVICE] = "device",
      [SOURCE_REMOTE] = "remote", [SOURCE_ANY] = "any")

NAMES(direction_name, enum direction, [DIRECTION_READ] = "read", [DIRECTION_WRITE] = "write",
      [DIRECTION_READWRITE] = "readwrite")

NAMES(reason_name,
      enum reason, [REASON_IDLE] = "idle", [REASON_DEVICE] = "device", [REASON_REMOTE] = "remote",
      [REASON_OTHER] = "other", [REASON_LOST] = "lost", [REASON_BACKGROUND] = "background")

double quality_per_window(const struct quality *q)
{
	return q->spread_ns < q->tasks_ns ? 1 - (double)q->spread_ns / (double)q->tasks_ns : 0;
}

enum reason reason_unsplit(const struct counter *c)
{
	if (c->device)
		return REASON_DEVICE;
	switch (c->source) {
	case SOURCE_DEVICE:
		return REASON_DEVICE;
	case SOURCE_REMOTE:
		return REASON_REMOTE;
	case SOURCE_CPU:
	case SOURCE_ANY:
		break;
	}
	return REASON_IDLE;
}

NAMES(row_kind_name, enum row_kind, [ROW_PROCESS] = "process", [ROW_CGROUP] = "cgroup",
      [ROW_THREAD] = "thread", [ROW_JOB] = "job")

NAMES(destination_name, enum destination, [DESTINATION_ANY] = "any", [DESTINATION_CMEM] = "cmem",
      [DESTINATION_GMEM] = "gmem", [DESTINATION_CXL] = "cxl", [DESTINATION_REMOTE] = "remote",
      [DESTINATION_P2P] = "p2p")

NAMES(part_name,
      enum part_kind, [PART_NONE] = "none", [PART_LOCAL] = "local", [PART_DEVICES] = "devices",
      [PART_REMOTE] = "remote", [PART_PORTS] = "ports", [PART_LINKS] = "links", [PART_CXL] = "cxl")

NAMES(unit_name, enum unit, [UNIT_BYTES] = "bytes", [UNIT_REQUESTS] = "requests",
      [UNIT_NANOJOULES] = "nanojoules", [UNIT_EVENTS] = "events")

NAMES(work_name, enum work, [WORK_INVOCATIONS] = "invocations", [WORK_CYCLES] = "cycles",
      [WORK_MEMORY_CYCLES] = "memory_cycles", [WORK_TLB_CYCLES] = "tlb_cycles")

NAMES(estimate_name, enum estimate, [ESTIMATE_NONE] = "none", [ESTIMATE_UPPER] = "upper",
      [ESTIMATE_LOWER] = "lower")

#define METHOD_ROW(id, name, then, events, learns, says) { name, events, learns, says },

const struct method_row *method_row(enum method m)
{
	static const struct method_row rows[NR_METHODS] = { METHODS(METHOD_ROW) };
	static const struct method_row unknown = { "unknown", true, false, "by unknown method," };

	return (size_t)m < ARRAY_SIZE(rows) ? &rows[m] : &unknown;
}

const char *method_name(enum method m)
{
	return method_row(m)->name;
}

NAMES(device_kind_name, enum device_kind, [DEVICE_OTHER] = "other", [DEVICE_NVME] = "nvme",
      [DEVICE_BLOCK] = "block", [DEVICE_NET] = "net", [DEVICE_RDMA] = "rdma", [DEVICE_GPU] = "gpu",
      [DEVICE_VFIO] = "vfio", [DEVICE_PORT] = "port", [DEVICE_ACCELERATOR] = "accelerator",
      [DEVICE_AGENT] = "agent", [DEVICE_LINK] = "link")

NAMES(term_name, enum term, [TERM_NONE] = "none", [TERM_WHOLE] = "whole", [TERM_LESS] = "less")

NAMES(device_how_name,
      enum device_how, [HOW_NONE] = "none", [HOW_COUNTED] = "counted", [HOW_DERIVED] = "derived")

NAMES(wiring_name, enum wiring, [WIRING_UNKNOWN] = "unknown", [WIRING_FIRMWARE] = "firmware",
      [WIRING_USER] = "user", [WIRING_MEDIUM] = "medium", [WIRING_LOW] = "low")

NAMES(device_filter_name,
      enum device_filter, [DEVICE_NOT_COUNTED] = "none", [DEVICE_BY_PORT] = "port",
      [DEVICE_BY_ID] = "requester id", [DEVICE_BY_TILE] = "tile", [DEVICE_BY_LINK] = "link")

NAMES(device_link_name,
      enum device_link, [LINK_UNKNOWN] = "unknown", [LINK_PCIE] = "pcie", [LINK_C2C] = "c2c")

NAMES(owner_rule_name, enum owner_rule, [OWNER_NONE] = "none", [OWNER_NODES] = "nodes",
      [OWNER_CONTEXTS] = "contexts")

NAMES(ownership_name, enum ownership, [OWNERSHIP_UNKNOWN] = "unknown", [OWNERSHIP_FREE] = "free",
      [OWNERSHIP_ONE] = "one", [OWNERSHIP_SHARED] = "shared")

NAMES(io_noted_name, enum io_noted, [IO_UNTOLD] = "untold", [IO_NONE] = "none", [IO_READ] = "read",
      [IO_WRITE] = "write", [IO_BOTH] = "both")

bool device_notes_io(const struct device *d, enum direction direction)
{
	if (d->io == IO_UNTOLD)
		return d->kind == DEVICE_NVME || d->kind == DEVICE_BLOCK || d->kind == DEVICE_NET;
	return d->io == IO_BOTH || d->io == (direction == DIRECTION_READ ? IO_READ : IO_WRITE);
}

NAMES(neighbour_role_name, enum neighbour_role, [NEIGHBOUR_NONE] = "none",
      [NEIGHBOUR_ROSE] = "rose", [NEIGHBOUR_VICTIM] = "victim")
