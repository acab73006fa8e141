/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A look at GPUs: which processes have contexts there and how long each used them. It is filled
 * by one of two libraries of the kernel's side, NVML (nvml.h) or DRM's fdinfo (fdinfo.h), and
 * printed by lines.c. Times are CLOCK_MONOTONIC.
 */
#ifndef GPU_LOOK_H
#define GPU_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define GPU_MAX_DEVICES	  64
/* More contexts on one GPU than this make a line that no reader takes (65536 bytes). */
#define GPU_MAX_PROCESSES 400
#define GPU_NO_INSTANCE	  UINT32_MAX

enum gpu_link {
	GPU_LINK_UNKNOWN,
	GPU_LINK_PCIE,
	GPU_LINK_C2C,
};

/* Counters of a GPU's links, in the order of their names in lines.c */
enum gpu_counter {
	GPU_C2C_OUT,
	GPU_C2C_IN,
	GPU_PCIE_OUT,
	GPU_PCIE_IN,
	NR_GPU_COUNTERS,
};

/**
 * struct gpu_process - a process with a context; a process has one for each instance
 * @pid, @start_ns: the process, as /proc has them
 * @instance: GPU instance (MIG), GPU_NO_INSTANCE for none
 * @since_ns: the look that saw it first
 * @busy_ns: time on the GPU's engines since the last look, all engines added
 * @copy_ns: part of it on copy engines
 * @gone: it had a context at the last look and has none now: only its time is told
 */
struct gpu_process {
	uint32_t pid;
	uint64_t start_ns;
	uint32_t instance;
	uint64_t since_ns;
	uint64_t busy_ns;
	uint64_t copy_ns;
	bool gone;
};

/**
 * struct gpu_device - a GPU and the last look at it
 * @address: of its PCI function, "0009:01:00.0"
 * @uuid: "" for none
 * @counts: which counters it has
 * @looked: there is something to print about it
 * @known: @processes are all that have a context. Otherwise nothing is known
 * @active: @busy_ns of @processes is known
 * @copies: @copy_ns is known, too
 * @since_ns, @time_ns: the last but one look, and the last
 * @samples, @period_ns: @busy_ns is of so many samples, this far apart; 0: it is exact
 * @read: which counters could be read at this look
 * @totals: bytes, running totals
 * @processes, @nr: ordered by pid and instance, those that are gone behind all others
 */
struct gpu_device {
	char address[24];
	char uuid[80];
	enum gpu_link link;
	bool counts[NR_GPU_COUNTERS];
	bool looked;
	bool known;
	bool active;
	bool copies;
	uint64_t since_ns;
	uint64_t time_ns;
	uint32_t samples;
	uint64_t period_ns;
	bool read[NR_GPU_COUNTERS];
	uint64_t totals[NR_GPU_COUNTERS];
	struct gpu_process processes[GPU_MAX_PROCESSES];
	size_t nr;
};

/* struct gpu_list - GPUs of the machine; @items is owned */
struct gpu_list {
	struct gpu_device *items;
	size_t nr;
};

/** gpu_add() - add a GPU with this address; NULL: no memory, or too many */
struct gpu_device *gpu_add(struct gpu_list *l, const char *address);

/** gpu_begin() - begin a look: nothing is known */
void gpu_begin(struct gpu_device *g, uint64_t now_ns);

/** gpu_hold() - a process has a context; false when there are too many. Doubles count once */
bool gpu_hold(struct gpu_device *g, uint32_t pid, uint64_t start_ns, uint32_t instance);

/** gpu_held() - a process by its number, whatever its instance; NULL for none */
struct gpu_process *gpu_held(struct gpu_device *g, uint32_t pid);

/**
 * gpu_end() - all processes with a context are known
 * @g: the GPU
 * @before, @nr_before: @processes of the last look. Those that are still there keep the time since
 *	when they have been seen, the others are added as gone
 */
void gpu_end(struct gpu_device *g, const struct gpu_process *before, size_t nr_before);

/** say() - a line to standard error, the only place for problems */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** gpu_row() - a row of --check on standard output, see check.h */
void gpu_row(const char *name, bool fine, const char *remedy, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/** lines_header() - the first line */
void lines_header(FILE *out, const struct gpu_list *l, uint64_t every_ns);

/** lines_look() - lines of all GPUs that were looked at */
void lines_look(FILE *out, const struct gpu_list *l, uint64_t now_ns);

#endif
