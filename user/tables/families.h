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

#include "model.h"

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
	PMU_SKX_IMC,
	PMU_ICX_IMC_FREE,
	PMU_ICX_IMC,
	PMU_SPR_IMC,
	PMU_GNR_IMC,
	PMU_CLIENT_IMC,
	PMU_CLIENT_IMC_FREE,
	PMU_AMD_UMC,
	PMU_ZEN2_DF,
	PMU_AMPERE_MCU,
	PMU_ARM_DMC620,
	PMU_HISI_DDRC,
	PMU_HISI_DDRC_SUB,
	PMU_ALI_DRW,
	PMU_ARM_CMN,
	PMU_SKX_IIO,
	PMU_ICX_IIO,
	PMU_SPR_IIO,
	PMU_GNR_IIO,
	PMU_SKX_UPI,
	PMU_ICX_UPI,
	PMU_SPR_UPI,
	PMU_GNR_UPI,
	PMU_SKX_CHA,
	PMU_ICX_CHA,
	PMU_SPR_CHA,
	PMU_GNR_CHA,
	PMU_ZEN4_DF,
	PMU_ZEN5_DF,
	PMU_DWC_PORT,
	PMU_CXL,
	PMU_POWER,
	PMU_UNKNOWN,
	NR_PMU_KINDS,
	/* PMUs of the cores: no family, but events and metrics have rows all the same */
	PMU_CORE = NR_PMU_KINDS,
	/* The first of the user's own families; the others follow */
	PMU_OWN,
};

enum pmu_platform {
	PMU_PLATFORM_T410,
	PMU_PLATFORM_GRACE,
	PMU_PLATFORM_SKX, /* Xeon servers up to Cascade Lake */
	PMU_PLATFORM_ICX,
	PMU_PLATFORM_SPR, /* and Emerald Rapids */
	PMU_PLATFORM_GNR, /* and Sierra Forest, Clearwater Forest */
	PMU_PLATFORM_CLIENT,
	PMU_PLATFORM_ZEN,
	PMU_PLATFORM_ZEN2, /* and Zen 3 */
	PMU_PLATFORM_ZEN5, /* whose data fabric takes other codes */
	PMU_PLATFORM_AMPEREONE,
	PMU_PLATFORM_DMC620,
	PMU_PLATFORM_KUNPENG,
	PMU_PLATFORM_YITIAN,
	PMU_PLATFORM_CMN,
	PMU_PLATFORM_UNKNOWN,
	PMU_PLATFORM_OWN, /* the user's own */
};

/* The names of PMUs that older kernels know by the discovery table alone, uncore_discovery.c */
#define PMU_NAMELESS "uncore_type_<i>_<i>"

/* How it is known on which socket a PMU of a family is. */
enum pmu_socket_by {
	PMU_SOCKET_BY_NAME, /* "<n>" is its number, unless associated_cpus are those of another one */
	PMU_SOCKET_BY_CPUS, /* that of associated_cpus, where there is one, or of the CPU itself. A
			       cpumask with several CPUs: there is one such PMU for each of them */
	PMU_SOCKET_BY_NODE, /* that of the CPU, which is on the PMU's NUMA node if firmware says it:
			       believed where each socket has such a PMU */
	PMU_SOCKET_BY_DEVICE, /* the only one of the machine; of several that of the NUMA node which
				 firmware says of its device: believed where each PMU of the kind
				 has one, and each socket has such a PMU */
	PMU_SOCKET_ONLY,      /* the only one of the machine; of several it is not known which */
	PMU_SOCKET_UNKNOWN,
};

/**
 * struct pmu_family - what all PMUs of one kind have in common
 * @kind: what it is
 * @platform: chip that has it
 * @short_name: name for users and reports, "ucf"
 * @title: what the hardware is
 * @pattern: sysfs name; "<n>" and "<rc>", where they are, stand for decimal numbers, "<i>" for
 *	one without a meaning here and "<x>" for a hexadecimal one
 * @identifier: content of the identifier file to expect, NULL when there is none
 *	to expect; firmware may say something else, which is no error
 * @by_cpu: other chips have PMUs of this name, too: the CPU must be one of @platform's
 * @choice: families with such a number count the same bytes: reports take the lowest one that
 *	the machine has; 0: no other family has these bytes
 * @socket_by: how it is known on which socket one is
 * @no_events: sysfs names no events: rows have their terms
 * @each: parts that its PMUs measure are not added up: each PMU is a place by itself
 * @max_events: perf events at the same time where the driver has a fixed number; 0:
 *	as many as there are hardware counters, which only trying tells
 * @one_cycles: "cycles" is a single counter of its own: it takes none of the others,
 *	and two events of it take turns
 * @ranges: address ranges at the same time, 0 when it has none
 * @ports_are_sockets: its filter of ports names other sockets
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
	bool by_cpu;
	uint8_t choice;
	enum pmu_socket_by socket_by;
	bool no_events;
	bool each;
	uint8_t max_events;
	bool one_cycles;
	uint8_t ranges;
	bool ports_are_sockets;
	uint16_t read_cost;
	uint16_t cycles_cost;
	const char *source;
};

extern const struct pmu_family pmu_families[];
extern const size_t nr_pmu_families;

/**
 * struct pmu_platform_row - what all PMUs of a chip have in common
 * @platform: the chip
 * @name: for reports, "t410"
 * @title: in sentences, "the T410"
 * @since: first Linux that knows its PMUs, NULL: all that we support, or not known
 * @drivers: where its PMUs come from: modules, with the kernel's options
 * @mistaken_for: chip whose PMU names older kernels give to those of this one;
 *	PMU_PLATFORM_UNKNOWN: none
 * @port_rule: rule of thumb for where a root port is, WIRING_UNKNOWN for none
 * @pcie, @pcie_target: families that count what devices and what CPUs start; PMU_UNKNOWN:
 *	there is none
 * @general_cores: metrics that its documents make of architectural core events hold on
 *	other Arm cores too
 * @total: what memory counters count here, in words; NULL: they tell sources apart
 * @hidden: what they cannot tell, in words; NULL with @total
 * @one_node: PMU whose sum is documented for one NUMA node for each socket alone, NULL for none
 */
struct pmu_platform_row {
	enum pmu_platform platform;
	const char *name;
	const char *title;
	const char *since;
	const char *drivers;
	enum pmu_platform mistaken_for;
	enum wiring port_rule;
	enum pmu_kind pcie;
	enum pmu_kind pcie_target;
	bool general_cores;
	const char *total;
	const char *hidden;
	const char *one_node;
};

extern const struct pmu_platform_row pmu_platforms[];
extern const size_t nr_pmu_platforms;

/** pmu_family_at() - all families, the user's own first; NULL behind the last */
const struct pmu_family *pmu_family_at(size_t i);

/** pmu_platform_row() - the row of a chip, NULL for PMU_PLATFORM_UNKNOWN */
const struct pmu_platform_row *pmu_platform_row(enum pmu_platform platform);

/** pmu_platform_fits() - is a row about @row, which may be any chip, about @platform? */
static inline bool pmu_platform_fits(enum pmu_platform row, enum pmu_platform platform)
{
	return row == PMU_PLATFORM_UNKNOWN || row == platform;
}

/** pmu_family_of() - the row of a kind, NULL when there is none */
const struct pmu_family *pmu_family_of(enum pmu_kind kind);

/** pmu_family_has_rc() - is there a PMU for each root complex, instead of one for a socket? */
bool pmu_family_has_rc(const struct pmu_family *f);

/** pmu_family_dear() - does one reading take many device reads? */
static inline bool pmu_family_dear(const struct pmu_family *f)
{
	return f->read_cost > 8;
}

/** pmu_platform_name() - "t410", "xeon-icelake" and so on, or "unknown" */
const char *pmu_platform_name(enum pmu_platform platform);

/**
 * pmu_family_match() - the family that a sysfs name belongs to
 * @name: name of a PMU in sysfs
 * @cpu: chip that the CPU is of, PMU_PLATFORM_UNKNOWN when it tells none
 * @ret_n: the number that stands for "<n>", -1 when the pattern has none
 * @ret_rc: the number that stands for "<rc>", -1 when the pattern has none
 *
 * Return: the family, or NULL when it is none of ours.
 */
const struct pmu_family *pmu_family_match(const char *name, enum pmu_platform cpu, int32_t *ret_n,
					  int32_t *ret_rc);

/** pmu_name_fits() - is it a name that a family's pattern stands for, whatever the CPU is? */
bool pmu_name_fits(const char *pattern, const char *name);

/**
 * pmu_family_name() - the sysfs name of a PMU, the reverse of pmu_family_match()
 * @f: its family
 * @n: what "<n>" stands for, or "<x>"
 * @rc: what "<rc>" stands for; not used where the pattern has none
 * @ret_name: the name, cut to the room
 * @size: room in @ret_name in bytes
 */
void pmu_family_name(const struct pmu_family *f, uint32_t n, uint32_t rc, char *ret_name,
		     size_t size);

/** pmu_family_identified() - the family whose hardware has an identifier, or NULL */
const struct pmu_family *pmu_family_identified(const char *identifier);

#endif
