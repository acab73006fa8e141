/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Weights: core events that tell what a task did, beyond its CPU time. They are opened on every CPU
 * and read by the ledger at each switch.
 */
#ifndef PLATFORM_CORE_WEIGHTS_H
#define PLATFORM_CORE_WEIGHTS_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "platform/pmu/perf_events.h"
#include "platform/sys/sysfs.h"
#include "tables/weight_rows.h"
#include "records.h"

#define WEIGHT_NAME_LEN 64

/**
 * struct weight_event - an event that can be opened on every CPU
 * @name: its name
 * @software: counted by the kernel and not by the CPU
 * @type: as in struct perf_event_attr, as are the configs
 */
struct weight_event {
	char name[WEIGHT_NAME_LEN];
	bool software;
	uint32_t type;
	uint64_t config;
	uint64_t config1;
	uint64_t config2;
};

/**
 * struct weight_cores - the cores of this machine and their PMU
 * @nr_pmus: kinds of cores that can count; only one kind can be used
 * @pmu: name of the first one in sysfs
 * @type: its type
 * @core: the core's row, NULL when it has none, or shows none of its events
 * @midr: MIDR_EL1 of an Arm core; 0 when unknown
 * @is_x86: the CPU is an x86 one, see @x86
 * @x86: its family, model and stepping
 */
struct weight_cores {
	uint32_t nr_pmus;
	char pmu[WEIGHT_NAME_LEN];
	uint32_t type;
	const struct weight_core_row *core;
	uint64_t midr;
	bool is_x86;
	struct cpu_id x86;
};

/**
 * struct weights - the events of a run
 * @ops: the kernel
 * @soft_files: the limit of open files to restore, 0 = it was not changed
 * @names: of the events; the first one stands for reads, the second for writes, and
 *	one alone for both
 * @events: the events, as they are opened
 * @nr: number of events; 0 means CPU time only
 * @fds: by event and CPU; -1 where it could not be opened
 * @nr_cpus: CPUs in each of @fds
 * @note: for people: why the best events of "auto" are not used; "" when they are
 */
struct weights {
	const struct perf_ops *ops;
	uint64_t soft_files;
	char names[LEDGER_MAX_WEIGHTS][WEIGHT_NAME_LEN];
	struct weight_event events[LEDGER_MAX_WEIGHTS];
	uint32_t nr;
	int *fds[LEDGER_MAX_WEIGHTS];
	uint32_t nr_cpus;
	char note[160];
};

/**
 * weights_open() - open the events that a specification names, counting
 * @ops: the kernel, &perf_kernel outside of tests
 * @fs: sysfs
 * @spec: "cpu-time" for none; "auto" for the best ones for this core; or one or two names with a
 *	comma between, see weight_event_find()
 * @nr_cpus: number of possible CPUs
 * @d: gets the problem
 * @ret: release with weights_close()
 *
 * Two descriptors a CPU are many: the soft limit of open files is raised until weights_close().
 *
 * Every event has been seen counting: a hypervisor may offer events that never do. "auto" never
 * fails because of the machine; it falls back to CPU time with a note.
 *
 * Return: 0; -EINVAL for a specification that makes no sense, -ENOENT for an unknown event, -ENODEV
 * when the cores cannot count, -EACCES with the missing capability or setting, -ENODATA when the
 * event does not count, -ENOMEM, or another negative errno.
 */
int weights_open(const struct perf_ops *ops, const struct sysfs *fs, const char *spec,
		 uint32_t nr_cpus, struct diag *d, struct weights *ret);

/**
 * weights_check() - is this a specification that weights_open() would take on this machine?
 *
 * Nothing is opened: a mistake is found before anything else is looked for.
 *
 * Return: 0, or as weights_open() for a specification that it refuses by its words.
 */
int weights_check(const struct sysfs *fs, const char *spec, struct diag *d);

/**
 * weights_let_go() - close the descriptors after they were handed to a ledger
 *
 * The events themselves stay known for weights_open_on().
 */
void weights_let_go(struct weights *w);

/**
 * weights_open_on() - open an event once more on a CPU that was offline
 * @w: the events
 * @event: below @w->nr
 * @cpu: where
 *
 * Return: a descriptor, counting, or a negative errno: -ENODEV when the CPU is offline.
 */
int weights_open_on(const struct weights *w, uint32_t event, int cpu);

/** weights_close() - close all events; NULL is fine. Those handed to a ledger keep counting. */
void weights_close(struct weights *w);

/**
 * weight_cores_read() - what can the cores of this machine count?
 * @fs: sysfs
 * @ret: the answer, which may be nothing
 *
 * Return: 0, -ENOMEM, or the error of listing the PMUs.
 */
int weight_cores_read(const struct sysfs *fs, struct weight_cores *ret);

/**
 * weight_cores_describe() - describe the events that "auto" tries on these cores
 * @cores: of this machine
 * @ret: gets sentences for people; "" when no event is known, or the cores cannot count
 * @size: of @ret
 */
void weight_cores_describe(const struct weight_cores *cores, char *ret, size_t size);

/**
 * weight_event_find() - an event by name
 * @fs: sysfs
 * @cores: of the same tree
 * @name: a software event ("page-faults"), an event that the core's PMU has in sysfs, one
 *	of weight_rows for this core, a generic one ("instructions"), or "r" and the number in
 *	hexadecimal. Upper and lower case, "-" and "_" are the same
 * @d: on failure: what would fit
 * @ret: the event
 *
 * Return: 0, -ENOENT for an unknown name, -ENODEV for an event of cores that cannot count,
 * or the error of a damaged file of sysfs.
 */
int weight_event_find(const struct sysfs *fs, const struct weight_cores *cores, const char *name,
		      struct diag *d, struct weight_event *ret);

/** weight_event_known() - names of software and generic events, NULL behind the last one */
const char *weight_event_known(size_t i);

/**
 * weight_event_auto() - the events that "auto" tries for a role, best first
 * @cores: of this machine
 * @role: WEIGHT_READ or WEIGHT_WRITE
 * @rank: 1 for the best
 * @ret: the event
 *
 * Return: 0, or -ENOENT when there is none of this rank.
 */
int weight_event_auto(const struct weight_cores *cores, enum weight_role role, uint8_t rank,
		      struct weight_event *ret);

/**
 * weight_spec_parse() - take a specification apart into names
 * @spec: one or two names with a comma between
 * @d: gets the problem
 * @ret_names: the names
 * @ret_nr: how many
 *
 * Return: 0, -EINVAL for an empty or repeated name or too many of them, -ENAMETOOLONG.
 */
int weight_spec_parse(const char *spec, struct diag *d,
		      char ret_names[LEDGER_MAX_WEIGHTS][WEIGHT_NAME_LEN], uint32_t *ret_nr);

#endif
