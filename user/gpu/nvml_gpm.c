// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Bytes that a GPU counts at its own links (GPM, from Hopper on): rates between two samples. A
 * sample is kept until there is a newer one, so that a failed reading loses no byte.
 */
#include <stdlib.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "gpu/nvml_internal.h"

/* Samples must be this far apart. */
#define APART_NS  100000000u
#define BYTES_MIB 1048576.0
/* NVML 13.3 has 333 metrics and declares an array of as many; newer ones may write all of theirs. */
#define ROOM	  1024
/* No link moves as much: 100 TB/s. */
#define MOST_MIB  1e8
/* A source has no more counters than this. */
#define MOST	  64

static const uint32_t ids[NR_GPU_COUNTERS] = {
	/* data, without what the link's protocol adds */
	[GPU_C2C_OUT] = 102,
	[GPU_C2C_IN] = 103,
	[GPU_PCIE_OUT] = 20,
	[GPU_PCIE_IN] = 21,
};

/* MiB/s of each counter between two samples, negative for none; a result of NVML */
static int rates(struct nvml *n, struct nvml_gpm_sample *from, struct nvml_gpm_sample *to,
		 double *ret)
{
	struct nvml_metrics *m = calloc(1, sizeof(*m) + ROOM * sizeof(m->items[0]));
	int result = -1;

	if (m) {
		m->version = 1;
		m->nr = NR_GPU_COUNTERS;
		m->from = from;
		m->to = to;
		for (size_t i = 0; i < NR_GPU_COUNTERS; i++)
			m->items[i].id = ids[i];
		result = n->api.gpm_metrics(m);
	}
	for (size_t i = 0; i < NR_GPU_COUNTERS; i++) {
		double value = result || m->items[i].result ? -1 : m->items[i].value;

		/* Also without one that is no number */
		ret[i] = value >= 0 && value <= MOST_MIB ? value : -1;
	}
	free(m);
	return result;
}

static bool supported(struct nvml *n, struct nvml_gpu *u)
{
	struct nvml_support s = { .version = 1 };

	return u->handle && !u->mig && n->api.gpm_support && n->api.gpm_alloc && n->api.gpm_free &&
	       n->api.gpm_sample && n->api.gpm_metrics && !n->api.gpm_support(u->handle, &s) &&
	       s.yes;
}

/* The first sample of a GPU; false: there is none. */
static bool begin(struct nvml *n, struct nvml_gpu *u)
{
	int result;

	if (u->from_ns)
		return true;
	if ((!u->from && n->api.gpm_alloc(&u->from)) || (!u->to && n->api.gpm_alloc(&u->to)))
		return false;
	result = n->api.gpm_sample(u->handle, u->from);
	u->refused = result == NVML_NO_PERMISSION;
	if (result == NVML_NO_PERMISSION && !u->g->time_ns)
		say("GPU %s: bytes of its links need CAP_SYS_ADMIN, or the driver's option "
		    "RmProfilingAdminOnly=0",
		    u->g->address);
	if (!result)
		u->from_ns = monotonic_ns();
	return !result;
}

/* All counters of the GPU, or none: the samples of one that failed would be lost with the others'. */
static bool measure(struct nvml *n, struct nvml_gpu *u, double *ret, uint64_t *ret_ns)
{
	struct nvml_gpm_sample *to = u->to;
	uint64_t now_ns;

	if (n->api.gpm_sample(u->handle, to))
		return false;
	now_ns = monotonic_ns();
	if (rates(n, u->from, to, ret))
		return false;
	for (size_t c = 0; c < NR_GPU_COUNTERS; c++)
		if (u->g->counts[c] && ret[c] < 0)
			return false;
	*ret_ns = now_ns - u->from_ns;
	u->from_ns = now_ns;
	u->to = u->from;
	u->from = to;
	return true;
}

void nvml_gpm_open(struct nvml *n)
{
	const struct timespec pause = { .tv_nsec = APART_NS + APART_NS / 10 };
	double rate[NR_GPU_COUNTERS];
	size_t any = 0, nr = 0;
	uint64_t ns;

	for (size_t i = 0; i < n->nr; i++)
		any += supported(n, &n->gpus[i]) && begin(n, &n->gpus[i]);
	if (!any)
		return;
	nanosleep(&pause, NULL);
	for (size_t i = 0; i < n->nr; i++) {
		struct nvml_gpu *u = &n->gpus[i];

		if (!u->from_ns || !measure(n, u, rate, &ns))
			continue;
		for (size_t c = 0; c < NR_GPU_COUNTERS; c++) {
			bool link =
				c == GPU_PCIE_OUT || c == GPU_PCIE_IN || u->g->link == GPU_LINK_C2C;

			u->g->counts[c] = link && rate[c] >= 0 && nr < MOST;
			nr += u->g->counts[c];
		}
	}
}

void nvml_gpm_look(struct nvml *n, struct nvml_gpu *u)
{
	double rate[NR_GPU_COUNTERS];
	bool any = false, first = !u->from_ns;
	uint64_t ns;

	for (size_t c = 0; c < NR_GPU_COUNTERS; c++)
		any |= u->g->counts[c];
	if (!any || !supported(n, u))
		return;
	if (!begin(n, u))
		return;
	/* Totals begin here, or the look before was a moment ago. */
	if (first || monotonic_ns() - u->from_ns < APART_NS)
		ns = 0;
	else if (!measure(n, u, rate, &ns))
		return;
	for (size_t c = 0; c < NR_GPU_COUNTERS; c++) {
		if (ns && u->g->counts[c])
			u->g->totals[c] += rate[c] * BYTES_MIB * ns / NS_PER_S;
		u->g->read[c] = u->g->counts[c];
	}
}

void nvml_gpm_free(struct nvml *n, struct nvml_gpu *u)
{
	if (u->from)
		n->api.gpm_free(u->from);
	if (u->to)
		n->api.gpm_free(u->to);
	u->from = u->to = NULL;
	u->from_ns = 0;
	for (size_t c = 0; c < NR_GPU_COUNTERS; c++)
		u->g->totals[c] = 0;
}
