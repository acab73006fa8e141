/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Families of uncore PMUs: what all PMUs of a kind have in common. Bit positions and
 * names of what can be counted come from sysfs; a row says what sysfs cannot.
 */
#ifndef TABLES_FAMILIES_H
#define TABLES_FAMILIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pmu_kind {
	PMU_UCF,
	PMU_PCIE,
	PMU_PCIE_TGT,
	PMU_CMEM_LATENCY,
	PMU_NVLINK_C2C,
	PMU_NVCLINK,
	PMU_NVDLINK,
	PMU_GRACE_SCF,
	PMU_GRACE_PCIE,
	PMU_GRACE_NVLINK_C2C0,
	PMU_GRACE_NVLINK_C2C1,
	PMU_GRACE_CNVLINK,
	PMU_UNKNOWN,
	NR_PMU_KINDS,
	/* PMUs of the cores: no family, but events and metrics have rows all the same */
	PMU_CORE = NR_PMU_KINDS,
};

enum pmu_platform {
	PMU_PLATFORM_T410,
	PMU_PLATFORM_GRACE,
	PMU_PLATFORM_UNKNOWN,
};

/**
 * struct pmu_family - what all PMUs of one kind have in common
 * @kind: also the index of the row in pmu_families
 * @platform: chip that has it
 * @short_name: name for users and reports, "ucf"
 * @title: what the hardware is
 * @pattern: sysfs name; "<n>" and "<rc>" stand for decimal numbers
 * @identifier: content of the identifier file to expect, NULL when there is none
 *	to expect; firmware may say something else, which is no error
 * @max_events: perf events at the same time where the driver has a fixed number; 0:
 *	as many as there are hardware counters, which only trying tells
 * @one_cycles: "cycles" is a single counter of its own: it takes none of the others,
 *	and two events of it take turns
 * @windows: address windows at the same time, 0 when it has none
 * @read_cost: device reads for one reading of an ordinary event, at most
 * @cycles_cost: the same for "cycles"
 * @source: where the row was taken from
 */
struct pmu_family {
	enum pmu_kind kind;
	enum pmu_platform platform;
	const char *short_name;
	const char *title;
	const char *pattern;
	const char *identifier;
	uint8_t max_events;
	bool one_cycles;
	uint8_t windows;
	uint16_t read_cost;
	uint16_t cycles_cost;
	const char *source;
};

extern const struct pmu_family pmu_families[NR_PMU_KINDS];

/** pmu_family_dear() - does one reading take many device reads? */
static inline bool pmu_family_dear(const struct pmu_family *f)
{
	return f->read_cost > 8;
}

/** pmu_platform_name() - "t410", "grace" or "unknown" */
const char *pmu_platform_name(enum pmu_platform platform);

/**
 * pmu_family_match() - the family that a sysfs name belongs to
 * @name: name of a PMU in sysfs
 * @ret_n: the number that stands for "<n>"
 * @ret_rc: the number that stands for "<rc>", -1 when the pattern has none
 *
 * Return: the family, or NULL when it is none of ours.
 */
const struct pmu_family *pmu_family_match(const char *name, int32_t *ret_n, int32_t *ret_rc);

/**
 * pmu_family_name() - the sysfs name of a PMU, the reverse of pmu_family_match()
 * @f: its family
 * @n: what "<n>" stands for
 * @rc: what "<rc>" stands for; not used where the pattern has none
 * @ret_name: the name, cut to the room
 * @size: room in @ret_name in bytes
 */
void pmu_family_name(const struct pmu_family *f, uint32_t n, uint32_t rc, char *ret_name,
		     size_t size);

/** pmu_family_identified() - the family whose hardware has an identifier, or NULL */
const struct pmu_family *pmu_family_identified(const char *identifier);

#endif
