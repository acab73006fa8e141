/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parts of a look through NVML: the library and its GPUs (nvml.c), contexts, activity, counters. */
#ifndef GPU_NVML_INTERNAL_H
#define GPU_NVML_INTERNAL_H

#include "gpu/nvml.h"
#include "gpu/nvml_api.h"

/* Entries that libraries return, also where they have fewer processes. */
#define NVML_MAX_USED	 4096
/* Processes that may end between the driver's answer and a look at them */
#define NVML_MAX_MISSING 32

/* A process in the driver's accounting, as it was at the last look */
struct nvml_base {
	uint32_t pid;
	uint64_t start_ns;
	uint64_t sum;
	uint32_t samples;
};

/* A process in the driver's lists that is not there, since a look */
struct nvml_missing {
	uint32_t pid;
	uint64_t since_ns;
};

/**
 * struct nvml_gpu - a GPU
 * @g: it, in the list
 * @handle: NULL: it cannot be used now
 * @again_ns: then it is tried again
 * @said: error that was said last, not again each second
 * @mig: it is split into instances: then its activity is not told
 * @refused: its counters need rights
 * @accounting: the driver adds up what processes do
 * @seen_ns: activity up to here is known; 0: none yet
 * @bases, @nr_bases: with @accounting
 * @before, @nr_before: processes of the last look
 * @missing, @missed: at this look and the last
 * @from, @to: samples of counters; the older one is @from, of @from_ns (0: none)
 */
struct nvml_gpu {
	struct gpu_device *g;
	struct nvml_handle *handle;
	uint64_t again_ns;
	int said;
	bool mig;
	bool refused;
	bool accounting;
	uint64_t seen_ns;
	struct nvml_base bases[GPU_MAX_PROCESSES];
	size_t nr_bases;
	struct gpu_process before[GPU_MAX_PROCESSES];
	size_t nr_before;
	struct nvml_missing missing[NVML_MAX_MISSING], missed[NVML_MAX_MISSING];
	size_t nr_missing, nr_missed;
	struct nvml_gpm_sample *from, *to;
	uint64_t from_ns;
};

/**
 * struct nvml - the library and its GPUs
 * @library: NULL: it was let go until @away_ns
 * @said: error of taking it that was said last
 * @offset_ns: CLOCK_REALTIME less CLOCK_MONOTONIC
 * @blind_ns: until then stamps of the driver are of before and after the clock was set
 * @used: buffer
 */
struct nvml {
	const struct processes *processes;
	struct gpu_list *list;
	void *library;
	struct nvml_api api;
	uint64_t away_ns;
	int said;
	int64_t offset_ns;
	uint64_t blind_ns;
	struct nvml_gpu *gpus;
	size_t nr;
	struct nvml_used used[NVML_MAX_USED];
	uint32_t words[GPU_MAX_PROCESSES * 8];
};

/** nvml_lists() - processes with contexts; a result of NVML, or -1 where that has been said */
int nvml_lists(struct nvml *n, struct nvml_gpu *u);

/** nvml_activity() - how long each was busy since the last look, where that can be known */
void nvml_activity(struct nvml *n, struct nvml_gpu *u);

/** nvml_clock() - has the wall clock been set? To be called at the begin of each look */
void nvml_clock(struct nvml *n, uint64_t now_ns);

/** nvml_gpm_open() - which GPUs have counters? Takes a tenth of a second where one has */
void nvml_gpm_open(struct nvml *n);

/** nvml_gpm_look() - read the counters of a GPU */
void nvml_gpm_look(struct nvml *n, struct nvml_gpu *u);

/** nvml_gpm_free() - release its samples; its totals begin again at 0, as bytes are missed now */
void nvml_gpm_free(struct nvml *n, struct nvml_gpu *u);

#endif
