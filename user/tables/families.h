/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Families of uncore PMUs: common properties of all PMUs of a kind. Bit positions and names of
 * events come from sysfs; a row has what sysfs does not tell.
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
	/* PMUs of the cores: no family, but events and metrics have rows */
	PMU_CORE = NR_PMU_KINDS,
	/* The first of the user's own families; more follow */
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
	PMU_PLATFORM_ZEN5, /* whose data fabric uses different codes */
	PMU_PLATFORM_AMPEREONE,
	PMU_PLATFORM_DMC620,
	PMU_PLATFORM_KUNPENG,
	PMU_PLATFORM_YITIAN,
	PMU_PLATFORM_CMN,
	PMU_PLATFORM_UNKNOWN,
	PMU_PLATFORM_OWN, /* the user's own */
};

/* Names of PMUs that older kernels find by the discovery table alone, uncore_discovery.c */
#define PMU_NAMELESS "uncore_type_<i>_<i>"

/* How the socket of a family's PMU is found. */
enum pmu_socket_by {
	PMU_SOCKET_BY_NAME, /* "<n>" is its number, unless associated_cpus are on another socket */
	PMU_SOCKET_BY_CPUS, /* by associated_cpus, where they exist, or the CPU itself. A cpumask
			       with several CPUs: one such PMU for each of them */
	PMU_SOCKET_BY_NODE, /* by the CPU, which is on the PMU's NUMA node if firmware gives one:
			       believed where each socket has such a PMU */
	PMU_SOCKET_BY_DEVICE, /* the only one of the machine; with several, by the NUMA node of the
				 device in firmware: believed where each PMU of the kind has one,
				 and each socket has such a PMU */
	PMU_SOCKET_ONLY,      /* the only one of the machine; with several the socket is unknown */
	PMU_SOCKET_UNKNOWN,
};

/**
 * struct pmu_family - common properties of all PMUs of one kind
 * @kind: its kind
 * @platform: chip that has it
 * @short_name: name for users and reports, "ucf"
 * @title: name of the hardware
 * @pattern: sysfs name; "<n>" and "<rc>" stand for decimal numbers, "<i>" for one without a meaning
 *	here and "<x>" for a hexadecimal one
 * @identifier: expected content of the identifier file, NULL for none; another content is no error
 * @by_cpu: other chips have PMUs of this name, too: the CPU must be one of @platform's
 * @choice: families with this number count the same bytes: reports use the lowest one that the
 *	machine has; 0: no other family has these bytes
 * @socket_by: how a PMU's socket is found
 * @no_events: sysfs names no events: rows have the terms
 * @each: parts of its PMUs are not added up: each PMU is a separate place
 * @one_port: each PMU counts one root port and all devices below it, without a filter; "<x>" in its
 *	name is the port's address
 * @energy_only: it counts no traffic; virtual machines have it, with nothing to count
 * @max_events: perf events at the same time where the driver has a fixed number; 0: as many as
 *	hardware counters exist, which only trying tells
 * @one_cycles: "cycles" is a separate counter: it takes none of the others, and two events of it
 *	take turns
 * @ranges: address ranges at the same time, 0 when it has none
 * @ports_are_sockets: its filter of ports names other sockets
 * @read_cost: device reads for one reading of an ordinary event, at most
 * @cycles_cost: the same for "cycles"
 * @source: source of the row
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
	bool one_port;
	bool energy_only;
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
 * struct pmu_platform_row - common properties of all PMUs of a chip
 * @platform: the chip
 * @name: for reports, "t410"
 * @title: in sentences, "the T410"
 * @since: first Linux with drivers for its PMUs, NULL: all that we support, or unknown
 * @drivers: drivers of its PMUs: modules, with the kernel's options
 * @any_cpu: a CPU does not tell that it is in this chip
 * @mistaken_for: chip whose PMU names older kernels give to this chip's PMUs; PMU_PLATFORM_UNKNOWN:
 *	none
 * @port_rule: rule of thumb for places of root ports, WIRING_UNKNOWN for none
 * @pcie, @pcie_target: families that count requests of devices, and of CPUs to devices;
 *	PMU_UNKNOWN: none
 * @general_cores: its documents' metrics of architectural core events hold on other Arm cores too
 * @total: meaning of memory counters here, in words; NULL: they distinguish sources
 * @hidden: facts that they cannot tell, in words; NULL with @total
 * @one_node: PMU whose sum is documented only for one NUMA node per socket, NULL for none
 */
struct pmu_platform_row {
	enum pmu_platform platform;
	const char *name;
	const char *title;
	const char *since;
	const char *drivers;
	bool any_cpu;
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

/** pmu_platform_fits() - does a row about @row, possibly any chip, cover @platform? */
static inline bool pmu_platform_fits(enum pmu_platform row, enum pmu_platform platform)
{
	return row == PMU_PLATFORM_UNKNOWN || row == platform;
}

/** pmu_family_of() - the row of a kind, NULL when there is none */
const struct pmu_family *pmu_family_of(enum pmu_kind kind);

/** pmu_family_one_port() - the family whose PMUs count one root port each, or NULL */
const struct pmu_family *pmu_family_one_port(void);

/** pmu_family_has_rc() - is there a PMU for each root complex, instead of one for a socket? */
bool pmu_family_has_rc(const struct pmu_family *f);

/** pmu_family_dear() - does one reading cost many device reads? */
static inline bool pmu_family_dear(const struct pmu_family *f)
{
	return f->read_cost > 8;
}

/** pmu_platform_name() - "t410", "xeon-icelake" and so on, or "unknown" */
const char *pmu_platform_name(enum pmu_platform platform);

/**
 * pmu_family_match() - the family that a sysfs name belongs to
 * @name: name of a PMU in sysfs
 * @cpu: the CPU's chip, PMU_PLATFORM_UNKNOWN when it tells none
 * @ret_n: the number at "<n>", -1 when the pattern has none
 * @ret_rc: the number at "<rc>", -1 when the pattern has none
 *
 * Return: the family, or NULL when it is none of ours.
 */
const struct pmu_family *pmu_family_match(const char *name, enum pmu_platform cpu, int32_t *ret_n,
					  int32_t *ret_rc);

/** pmu_name_fits() - does the name fit a family's pattern, on any CPU? */
bool pmu_name_fits(const char *pattern, const char *name);

/**
 * pmu_family_name() - the sysfs name of a PMU, the reverse of pmu_family_match()
 * @f: its family
 * @n: value of "<n>", or "<x>"
 * @rc: value of "<rc>"; not used where the pattern has none
 * @ret_name: the name, cut to fit
 * @size: size of @ret_name in bytes
 */
void pmu_family_name(const struct pmu_family *f, uint32_t n, uint32_t rc, char *ret_name,
		     size_t size);

/** pmu_family_identified() - the family whose hardware has an identifier, or NULL */
const struct pmu_family *pmu_family_identified(const char *identifier);

#endif
