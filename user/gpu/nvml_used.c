// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How long each process was busy on a GPU. The driver samples: about seven times a second it notes
 * how busy the engines were, and which process was on them. Two functions tell of that: averages
 * since a time, in whole percents, or, where root has switched it on, sums (accounting).
 */
#include "base/clock.h"
#include "gpu/nvml_internal.h"

/* Open kernel modules 580: 72 samples are kept, one each 139 ms or so. No function tells it. */
#define PERIOD_NS 139000000u
#define KEPT_NS	  (73ull * PERIOD_NS)
/* Averages are asked for since this long ago at most: older ones would hide what is new. */
#define OLDEST_NS NS_PER_S
/* A clock that is slewed moves less from one look to the next. */
#define SET_NS	  20000000
/* hundredths of percents of all */
#define ALL	  10000

/*
 * Samples from before the clock was set have other stamps. If it was set forward they are not asked
 * for any more; if it was set back they look new until the driver has forgotten them.
 */
void nvml_clock(struct nvml *n, uint64_t now_ns)
{
	int64_t offset_ns = clock_ahead_ns(CLOCK_REALTIME);
	int64_t step_ns = offset_ns - n->offset_ns;

	if (step_ns > SET_NS)
		n->blind_ns = n->blind_ns > now_ns ? n->blind_ns : now_ns + 1;
	else if (step_ns < -SET_NS)
		n->blind_ns = now_ns + KEPT_NS;
	n->offset_ns = offset_ns;
}

static uint64_t share_of(uint64_t ns, uint64_t hundredths)
{
	return ns / ALL * hundredths + ns % ALL * hundredths / ALL;
}

/* A process cannot have been busy for longer than this look goes back. */
static void add_busy(const struct gpu_device *g, struct gpu_process *p, uint64_t busy_ns)
{
	uint64_t most = g->time_ns - g->since_ns;

	p->busy_ns = busy_ns < most ? busy_ns : most;
}

/* --- averages */

enum sample {
	SAMPLE_STALE,
	SAMPLE_NEW,
	SAMPLE_WRONG,
};

/*
 * Stamps of before the last look are stale; those of another clock or unit, and shares above 100 %,
 * say nothing of anybody. Now is when the driver has answered: on a busy machine that is long after
 * the look began. Places without a process are empty.
 */
static enum sample judge(const struct nvml *n, const struct nvml_gpu *u, const struct nvml_used *e,
			 uint64_t now_ns, uint64_t *ret_ns)
{
	int64_t ns;

	if (!e->pid)
		return SAMPLE_STALE;
	if (e->sm > 100 || e->time_us > INT64_MAX / 1000)
		return SAMPLE_WRONG;
	ns = (int64_t)(e->time_us * 1000) - n->offset_ns;
	if (ns < 0 || (uint64_t)ns > now_ns + SET_NS)
		return SAMPLE_WRONG;
	*ret_ns = ns;
	return (uint64_t)ns > u->seen_ns ? SAMPLE_NEW : SAMPLE_STALE;
}

static void averages(struct nvml *n, struct nvml_gpu *u)
{
	struct gpu_device *g = u->g;
	uint64_t newest_ns = 0, now_ns, stamp_ns, since_us;
	uint32_t nr = NVML_MAX_USED;
	bool good = true;
	int result;

	since_us = (u->seen_ns + n->offset_ns) / 1000;
	result = n->api.used(u->handle, n->used, &nr, since_us);
	now_ns = monotonic_ns();
	if (result && result != NVML_NOT_FOUND)
		return;
	for (uint32_t i = 0; !result && i < nr && i < NVML_MAX_USED; i++) {
		const struct nvml_used *e = &n->used[i];
		struct gpu_process *p = gpu_held(g, e->pid);
		enum sample kind = judge(n, u, e, now_ns, &stamp_ns);

		good &= kind != SAMPLE_WRONG;
		if (kind != SAMPLE_NEW)
			continue;
		newest_ns = stamp_ns > newest_ns ? stamp_ns : newest_ns;
		if (p)
			add_busy(g, p, share_of(g->time_ns - u->seen_ns, e->sm * (ALL / 100)));
	}
	g->active = good;
	g->period_ns = PERIOD_NS;
	g->samples = (g->time_ns - g->since_ns) / PERIOD_NS;
	if (newest_ns > g->time_ns)
		newest_ns = g->time_ns;
	u->seen_ns = newest_ns > u->seen_ns ? newest_ns : u->seen_ns;
	if (u->seen_ns + OLDEST_NS < g->time_ns)
		u->seen_ns = g->time_ns - OLDEST_NS;
}

/* --- sums */

static const struct nvml_base *base_of(const struct nvml_gpu *u, const struct gpu_process *p)
{
	for (size_t i = 0; i < u->nr_bases; i++)
		if (u->bases[i].pid == p->pid && u->bases[i].start_ns == p->start_ns)
			return &u->bases[i];
	return NULL;
}

/*
 * Those that have begun since the last look began at 0. Sums of all must have grown since the last
 * look, or nothing is told: the driver has not sampled yet, or does not know one of them.
 */
static void sums(struct nvml *n, struct nvml_gpu *u, bool known)
{
	static struct nvml_base now[GPU_MAX_PROCESSES];
	uint64_t grown[GPU_MAX_PROCESSES] = { 0 };
	struct gpu_device *g = u->g;
	size_t nr = 0;

	for (size_t i = 0; i < g->nr; i++) {
		const struct gpu_process *p = &g->processes[i];
		struct nvml_account a = { .pid = p->pid };
		const struct nvml_base *base = base_of(u, p);
		uint32_t samples;

		if (n->api.account(u->handle, &a) || a.sum == NVML_NO_VALUE) {
			known &= p->gone;
			continue;
		}
		now[nr++] = (struct nvml_base){ p->pid, p->start_ns, a.sum, a.samples };
		if (base ? a.sum < base->sum || a.samples < base->samples
			 : p->since_ns != g->time_ns) {
			known = false;
			continue;
		}
		grown[i] = a.sum - (base ? base->sum : 0);
		samples = a.samples - (base ? base->samples : 0);
		known &= grown[i] <= (uint64_t)samples * ALL;
		g->samples = samples > g->samples ? samples : g->samples;
	}
	for (size_t i = 0; i < nr; i++)
		u->bases[i] = now[i];
	u->nr_bases = nr;
	g->active = known && (g->samples || !g->nr);
	if (!g->active || !g->samples)
		return;
	g->period_ns = (g->time_ns - g->since_ns) / g->samples;
	for (size_t i = 0; i < g->nr; i++)
		add_busy(g, &g->processes[i], share_of(g->period_ns, grown[i]));
}

void nvml_activity(struct nvml *n, struct nvml_gpu *u)
{
	bool known = u->seen_ns && u->g->time_ns >= n->blind_ns;
	bool can = u->accounting || (n->api.used && !u->mig);

	if (!can)
		return;
	if (u->accounting)
		sums(n, u, known);
	else if (known)
		averages(n, u);
	/* The next look has something to compare with. */
	if (!known)
		u->seen_ns = u->g->time_ns;
}
