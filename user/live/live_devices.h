/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Devices of a live run (-D): which they are, what counts them, and what the kernel side is
 * told about their disks and interfaces. NULL stands for a run without devices.
 */
#ifndef CLI_LIVE_DEVICES_H
#define CLI_LIVE_DEVICES_H

#include "live/live_cgroups.h"
#include "run_options.h"
#include "platform/bpf/ledger.h"
#include "platform/pmu/pmu.h"
#include "trace.h"

struct live_devices;

/**
 * live_devices_open() - find the devices and start counting them
 * @args: what the user asked for; must outlive @ret
 * @fs, @pmus: must outlive @ret
 * @header: layout and probes are there; those of devices are appended
 * @log: gets a line now and then, NULL for nobody
 * @d: gets the problem
 * @ret: free with live_devices_free(); NULL when none are asked for
 *
 * A device that cannot be counted is no error: what its requests tell is there all the same. So
 * is a run without any PMU.
 *
 * Return: 0, an error of devices_select() or topology_read(), -ENOMEM.
 */
int live_devices_open(const struct run_options *args, const struct sysfs *fs,
		      const struct pmu_list *pmus, struct trace_header *header,
		      void (*log)(const char *), struct diag *d, struct live_devices **ret);
void live_devices_free(struct live_devices *l);

/**
 * live_devices_attach() - tell the ledger which disks and interfaces there are
 * @l: the devices
 * @ledger: made with the option @io; must outlive @l
 * @cgroups: where workloads are
 * @out: where windows, samples and owners go; copied
 *
 * Return: 0 or -ENOMEM. What cannot be noted is told by live_devices_note().
 */
int live_devices_attach(struct live_devices *l, struct ledger *ledger,
			const struct live_cgroups *cgroups, const struct trace_sink *out,
			struct diag *d);

/** live_devices_start() - the books begin now; 0 or a negative errno */
int live_devices_start(struct live_devices *l, struct diag *d);

/** live_devices_next_ns() - when live_devices_step() has something to do */
uint64_t live_devices_next_ns(const struct live_devices *l);

/**
 * live_devices_step() - change turns that are due; look at hotplug and owners now and then
 *
 * Return: 0, an error of the sink, or another negative errno with @d.
 */
int live_devices_step(struct live_devices *l, struct diag *d);

/**
 * live_devices_mark() - an interval ends: hand on what there is up to now
 * @last: the run ends
 *
 * To be called before the windows of the interval are closed: those of devices end before.
 * Return: as live_devices_step().
 */
int live_devices_mark(struct live_devices *l, bool last, struct diag *d);

/** live_devices_quality() - set what is about devices */
void live_devices_quality(const struct live_devices *l, struct quality *ret);

/** live_devices_note() - what a user must know, line by line: NULL behind the last one */
const char *live_devices_note(const struct live_devices *l, size_t i);

/** live_devices_describe() - one line for people; "" for NULL */
void live_devices_describe(const struct live_devices *l, char *ret_text, size_t size);

#endif
