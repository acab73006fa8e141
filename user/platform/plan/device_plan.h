/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The plan for devices: which events of which PMU count them, and how a trace presents these. Pure:
 * the hardware is an argument.
 */
#ifndef PLATFORM_PLAN_DEVICE_PLAN_H
#define PLATFORM_PLAN_DEVICE_PLAN_H

#include "base/text_list.h"
#include "platform/devices/devices.h"
#include "platform/plan/plan.h"
#include "platform/spec/want.h"

/**
 * struct device_plan_options - the input of the plan
 * @devices: the devices
 * @pmus: all PMUs; must outlive the plan. NULL: nothing is counted
 * @capacities: by PMU of @pmus, its events at the same time; NULL: unlimited
 * @socket_ids, @nr_sockets: numbers of the sockets of the layout
 * @by_destination: bytes by destination
 * @latencies: of reads, too
 * @no_fabric: why the fabric has no counters left for links; NULL: it has
 */
struct device_plan_options {
	const struct device_list *devices;
	const struct pmu_list *pmus;
	const struct plan_capacity *capacities;
	const uint32_t *socket_ids;
	uint32_t nr_sockets;
	bool by_destination;
	bool latencies;
	const char *no_fabric;
};

/**
 * struct device_link_place - the link of a GPU to the CPUs beside PCIe
 * @pmu: of the link, in the list of PMUs
 * @mask: bits of the GPU in its filter
 * @gpus: number of GPUs at the link
 * @known: which of them it is: @mask is right
 * @mapped: because the user's map tells it; otherwise there is one GPU on the socket
 * @derived: its bytes are derived, not counted
 * @why: why there are none, "" if there are
 */
struct device_link_place {
	const struct pmu *pmu;
	uint32_t mask;
	uint32_t gpus;
	bool known;
	bool mapped;
	bool derived;
	char why[MODEL_WHY_LEN];
};

/**
 * device_link_find() - the link of a device, if it is a GPU with one
 * @o: devices and PMUs
 * @item: index into its devices
 * @ret: the link
 *
 * Return: false: it has none, as far as can be known.
 */
bool device_link_find(const struct device_plan_options *o, size_t item,
		      struct device_link_place *ret);

/**
 * struct device_group - counters of a device that count at the same time
 * @first, @nr: its counters
 */
struct device_group {
	uint32_t first;
	uint32_t nr;
};

/**
 * struct device_latency - the counts of a probe, as indexes of wants
 * @outstanding, @requests: sums of these, @nr each
 */
struct device_latency {
	uint32_t outstanding[2];
	uint32_t requests[2];
	uint32_t nr;
	uint32_t cycles;
};

/**
 * struct device_plan - the plan
 * @devices, @nr_devices: those of the list in its order, then root ports as a whole, then links
 * @wants: the events to count
 * @counters, @nr_counters: group and device are set, groups count from 0
 * @counter_wants: by counter, its want
 * @groups, @nr_groups: of counters
 * @probes, @nr_probes: latencies
 * @latencies: by probe
 * @missed: devices that are not counted, and why
 * @lost: PMUs with too few counters, and the parts of their devices that are dropped
 * @notes: for people: @missed and @lost in sentences, and more
 */
struct device_plan {
	struct device *devices;
	size_t nr_devices, cap_devices;
	struct want_list wants;
	struct counter *counters;
	uint32_t *counter_wants;
	size_t nr_counters, cap_counters, cap_counter_wants;
	struct device_group *groups;
	size_t nr_groups, cap_groups;
	struct probe *probes;
	struct device_latency *latencies;
	size_t nr_probes, cap_probes, cap_latencies;
	struct device_reasons {
		struct text_list names;
		struct text_list why;
	} missed, lost;
	struct text_list notes;
};

/**
 * device_plan_make() - decide
 * @o: the input
 * @d: gets the problem
 * @ret: release with device_plan_free()
 *
 * - A device alone below its root port is counted by a mask of ports, any other by its requester
 *   id; all its events are one set, or one for reads and one for writes by destination.
 * - Where a root complex has only port masks, nothing takes turns if that is possible: requests and
 * latencies take turns, or are dropped, before bytes do.
 * - A set that is larger than the PMU loses requests of writes first, then latency, then requests
 *   of reads; bytes are split last of all.
 * - Ports with devices that are counted by id are counted as a whole now and then.
 * - A device of unknown place, without a PMU, or, on Grace, not alone below its port, is not
 * counted. That is no error: a note says so.
 * - Where root ports have PMUs of their own (DesignWare), a device alone below its port gets the
 * port's counts. Otherwise the port is counted as a whole, named by its devices' addresses, and a
 * note says so. The port has one counter: both directions take turns.
 * - A GPU with an NVLink-C2C has the link as a device of its own. On T410 all ports of its socket's
 *   root complexes are counted for it: one setting among the turns of each.
 *
 * Return: 0, -E2BIG for more than a trace can hold, -ENOMEM.
 */
int device_plan_make(const struct device_plan_options *o, struct diag *d, struct device_plan *ret);
void device_plan_free(struct device_plan *p);

/**
 * device_plan_checks() - does a root port (device from 0) only check the sum of devices below it?
 *
 * Return: whether such a device is counted. If none is, only the port's bytes are known.
 */
bool device_plan_checks(const struct device_plan *p, size_t device);

#endif
