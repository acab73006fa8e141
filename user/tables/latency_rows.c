// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "tables/latency_rows.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

#define T410_GUIDE  "Linux 7.2 admin-guide/perf/nvidia-tegra410-pmu.rst"
#define GRACE_GUIDE "Linux 7.2 admin-guide/perf/nvidia-tegra241-pmu.rst"

/*
 * Reads of CPU memory are counted where they leave the fabric, whoever made them: the
 * latency that tasks see is a mean over those of devices too. What comes in over a link
 * was asked for by its peer: no task here waits for it.
 */
const struct latency_row latency_rows[] = {
	{
		.kind = PMU_CMEM_LATENCY,
		.prefix = "cmem",
		.suffix = "rd",
		.title = "reads of CPU memory",
		.outstanding = "rd_cum_outs",
		.requests = "rd_req",
		.direction = DIRECTION_READ,
		.destination = DESTINATION_CMEM,
		.by_tasks = true,
		.source = T410_GUIDE,
	},
	{
		.kind = PMU_NVLINK_C2C,
		.peer = "gpu",
		.prefix = "nvlink_c2c",
		.suffix = "out_rd",
		.title = "reads of GPU memory",
		.outstanding = "out_rd_cum_outs",
		.requests = "out_rd_req",
		.direction = DIRECTION_READ,
		.destination = DESTINATION_GMEM,
		.by_tasks = true,
		.source = T410_GUIDE,
	},
	{
		.kind = PMU_NVLINK_C2C,
		.peer = "gpu",
		.prefix = "nvlink_c2c",
		.suffix = "out_wr",
		.title = "writes to GPU memory",
		.outstanding = "out_wr_cum_outs",
		.requests = "out_wr_req",
		.direction = DIRECTION_WRITE,
		.destination = DESTINATION_GMEM,
		.by_tasks = true,
		.source = T410_GUIDE,
	},
	{
		.kind = PMU_NVLINK_C2C,
		.peer = "gpu",
		.prefix = "nvlink_c2c",
		.suffix = "in_rd",
		.title = "reads by GPUs",
		.outstanding = "in_rd_cum_outs",
		.requests = "in_rd_req",
		.direction = DIRECTION_READ,
		.destination = DESTINATION_ANY,
		.source = T410_GUIDE,
	},
	{
		.kind = PMU_NVLINK_C2C,
		.peer = "gpu",
		.prefix = "nvlink_c2c",
		.suffix = "in_wr",
		.title = "writes by GPUs",
		.outstanding = "in_wr_cum_outs",
		.requests = "in_wr_req",
		.direction = DIRECTION_WRITE,
		.destination = DESTINATION_ANY,
		.source = T410_GUIDE,
	},
	{
		.kind = PMU_NVLINK_C2C,
		.peer = "cpu",
		.prefix = "nvlink_c2c",
		.suffix = "out_rd",
		.title = "reads of another socket's memory",
		.outstanding = "out_rd_cum_outs",
		.requests = "out_rd_req",
		.direction = DIRECTION_READ,
		.destination = DESTINATION_REMOTE,
		.by_tasks = true,
		.source = T410_GUIDE,
	},
	{
		.kind = PMU_NVLINK_C2C,
		.peer = "cpu",
		.prefix = "nvlink_c2c",
		.suffix = "in_rd",
		.title = "reads by another socket",
		.outstanding = "in_rd_cum_outs",
		.requests = "in_rd_req",
		.direction = DIRECTION_READ,
		.destination = DESTINATION_ANY,
		.source = T410_GUIDE,
	},
	{
		.kind = PMU_NVCLINK,
		.prefix = "nvclink",
		.suffix = "out_rd",
		.title = "reads of another socket's memory",
		.outstanding = "out_rd_cum_outs",
		.requests = "out_rd_req",
		.direction = DIRECTION_READ,
		.destination = DESTINATION_REMOTE,
		.by_tasks = true,
		.source = T410_GUIDE,
	},
	{
		.kind = PMU_NVCLINK,
		.prefix = "nvclink",
		.suffix = "in_rd",
		.title = "reads by another socket",
		.outstanding = "in_rd_cum_outs",
		.requests = "in_rd_req",
		.direction = DIRECTION_READ,
		.destination = DESTINATION_ANY,
		.source = T410_GUIDE,
	},
	{
		/* "in" is the link's view: the guide says that these are reads of CXL memory */
		.kind = PMU_NVDLINK,
		.prefix = "nvdlink",
		.suffix = "in_rd",
		.title = "reads of CXL memory",
		.outstanding = "in_rd_cum_outs",
		.requests = "in_rd_req",
		.direction = DIRECTION_READ,
		.destination = DESTINATION_CXL,
		.by_tasks = true,
		.source = T410_GUIDE,
	},
	{
		.kind = PMU_GRACE_SCF,
		.prefix = "scf",
		.suffix = "local_rd",
		.title = "reads of CPU memory",
		.outstanding = "socket_<s>_rd_outstanding",
		.requests = "socket_<s>_rd_access",
		.direction = DIRECTION_READ,
		.destination = DESTINATION_CMEM,
		.by_tasks = true,
		.source = GRACE_GUIDE,
	},
	{
		.kind = PMU_GRACE_SCF,
		.prefix = "scf",
		.suffix = "remote_rd",
		.title = "reads of another socket's memory",
		.outstanding = "remote_socket_rd_outstanding",
		.requests = "remote_socket_rd_access",
		.direction = DIRECTION_READ,
		.destination = DESTINATION_REMOTE,
		.by_tasks = true,
		.source = GRACE_GUIDE,
	},
	{
		.kind = PMU_GRACE_SCF,
		.prefix = "scf",
		.suffix = "gmem_rd",
		.title = "reads of GPU memory",
		.outstanding = "gmem_rd_outstanding",
		.requests = "gmem_rd_access",
		.direction = DIRECTION_READ,
		.destination = DESTINATION_GMEM,
		.by_tasks = true,
		.source = GRACE_GUIDE,
	},
};
const size_t nr_latency_rows = ARRAY_SIZE(latency_rows);

int latency_event(const char *name, int32_t socket, char *ret, size_t size)
{
	const char *at = strstr(name, "<s>");
	int n = at ? snprintf(ret, size, "%.*s%d%s", (int)(at - name), name, socket,
			      at + strlen("<s>"))
		   : snprintf(ret, size, "%s", name);

	return n >= 0 && (size_t)n < size ? 0 : -ENAMETOOLONG;
}

static bool has_event(const struct pmu *pmu, const char *name)
{
	char event[PMU_NAME_LEN];

	return !latency_event(name, pmu->socket, event, sizeof(event)) &&
	       pmu_event_find(pmu, event);
}

/* Is the peer of a link, "nr_gpu=2", of this kind? */
static bool has_peer(const struct pmu *pmu, const char *peer)
{
	size_t length = strlen(peer);

	return !strncmp(pmu->peer, "nr_", 3) && !strncmp(pmu->peer + 3, peer, length) &&
	       pmu->peer[3 + length] == '=';
}

bool latency_row_fits(const struct latency_row *row, const struct pmu *pmu)
{
	return row->kind == pmu->kind && (!row->peer || has_peer(pmu, row->peer)) &&
	       has_event(pmu, LATENCY_CYCLES) && has_event(pmu, row->outstanding) &&
	       has_event(pmu, row->requests);
}

void latency_probe(const struct latency_row *row, const struct pmu *pmu, uint32_t socket,
		   struct probe *ret)
{
	*ret = (struct probe){
		.socket = socket,
		.direction = row->direction,
		.destination = row->destination,
		.by_tasks = row->by_tasks,
	};
	snprintf(ret->name, sizeof(ret->name), "%s%d/%s", row->prefix, pmu->socket, row->suffix);
	str_copy(ret->title, sizeof(ret->title), row->title);
	str_copy(ret->pmu, sizeof(ret->pmu), pmu->name);
}
