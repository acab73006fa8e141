/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The uncore PMUs of this machine, as sysfs describes them: their events, formats, filters and
 * encoding. Bit positions come from sysfs alone; the table of families knows names and meaning
 * only.
 */
#ifndef PLATFORM_PMU_PMU_H
#define PLATFORM_PMU_PMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpulist.h"
#include "base/diag.h"
#include "platform/sys/sysfs.h"
#include "tables/cpu_models.h"
#include "tables/families.h"

#define PMU_DEVICES	"bus/event_source/devices"
#define PMU_NAME_LEN	64
#define PMU_TEXT_LEN	128
#define PMU_PROBLEM_LEN 256
#define PMU_SCALE_LEN	32
#define PMU_MAX_TERMS	8
#define PMU_MAX_RANGES	8
#define PMU_NR_WORDS	4

/**
 * struct pmu_term - "name=value" with the name of a format
 * @name: as in the format directory
 * @value: in units of the field, not yet shifted
 */
struct pmu_term {
	char name[PMU_NAME_LEN];
	uint64_t value;
};

/**
 * struct pmu_event - an event that sysfs names
 * @name: its name
 * @text: content of its file
 * @terms: @text taken apart
 * @nr_terms: used part of @terms
 * @scale, @unit: content of its files NAME.scale and NAME.unit, "" where there is none
 * @bytes: bytes per count that the two mean; 0 when that is no whole number
 * @own: sysfs has no such event: @text is of the row that counts it
 */
struct pmu_event {
	char name[PMU_NAME_LEN];
	char text[PMU_TEXT_LEN];
	struct pmu_term terms[PMU_MAX_TERMS];
	size_t nr_terms;
	char scale[PMU_SCALE_LEN];
	char unit[PMU_SCALE_LEN];
	uint32_t bytes;
	bool own;
};

/**
 * struct pmu_format - a field of the event's configuration
 * @name: its name
 * @text: content of its file, "config1:8-23"
 * @word: 0 for config, 1 for config1 and so on
 * @ranges: bits of the word, lowest first; the low bits of a value go there first
 * @nr_ranges: used part of @ranges
 * @width: number of bits in all ranges
 */
struct pmu_format {
	char name[PMU_NAME_LEN];
	char text[PMU_TEXT_LEN];
	unsigned int word;
	struct {
		uint8_t low;
		uint8_t high;
	} ranges[PMU_MAX_RANGES];
	size_t nr_ranges;
	unsigned int width;
};

/**
 * struct pmu - one PMU on one CPU of one socket
 *
 * Where sysfs shows one PMU for several sockets, with a CPU of each in its cpumask, each CPU has
 * one of these: an event opened on a CPU counts the hardware of its socket.
 *
 * @name: its name in sysfs
 * @family: what it is
 * @kind, @platform: of the family
 * @instance: the number in its name; where that means nothing, its place among those of its kind;
 *	-1 when there is one for the machine
 * @socket: as pmu_family.socket_by says, -1 when unknown. In NVIDIA's names, the
 *	kernel means the NUMA node of the first associated CPU or the ACPI _UID; on T410
 *	and Grace that is the number of the socket
 * @place: how many CPUs of @socket come before @active_cpu in cpumask
 * @several: there are more of this name, for the other CPUs in cpumask
 * @borrowed: another PMU of the same name owns @events and @formats
 * @rc: root complex, -1 for PMUs of anything else
 * @usable: @type and @active_cpu are known: events can be opened
 * @type_known: @type was read
 * @type: number for perf_event_attr.type
 * @active_cpu: the one CPU that events are opened and read on, -1 when unknown
 * @cpus: associated CPUs; none where the driver does not list them
 * @identifier: "" when there is none
 * @peer: what a link leads to, "nr_gpu=2"; "" when there is none
 * @mux_interval_ms: period of rotation when events do not fit, 0 when unknown
 * @events, @formats: sorted by name
 * @problem: files that made no sense, "" for none; the rest is valid
 */
struct pmu {
	char name[PMU_NAME_LEN];
	const struct pmu_family *family;
	enum pmu_kind kind;
	enum pmu_platform platform;
	int32_t instance;
	int32_t socket;
	uint32_t place;
	bool several;
	bool borrowed;
	int32_t rc;
	bool usable;
	bool type_known;
	uint32_t type;
	int active_cpu;
	struct cpulist cpus;
	char identifier[PMU_NAME_LEN];
	char peer[PMU_NAME_LEN];
	uint32_t mux_interval_ms;
	struct pmu_event *events;
	size_t nr_events;
	size_t cap_events;
	struct pmu_format *formats;
	size_t nr_formats;
	size_t cap_formats;
	char problem[PMU_PROBLEM_LEN];
};

/**
 * struct pmu_list - all PMUs, sorted by kind, instance, root complex and CPU
 * @pmus: owned
 * @nr: number of PMUs
 */
struct pmu_list {
	struct pmu *pmus;
	size_t nr;
	size_t cap;
};

/**
 * struct pmu_config - an event ready for perf_event_open(2)
 * @config, @config1, @config2, @config3: as in struct perf_event_attr
 */
struct pmu_config {
	uint64_t config;
	uint64_t config1;
	uint64_t config2;
	uint64_t config3;
};

/**
 * pmu_list_read() - find all uncore PMUs of the known families
 * @fs: the sysfs tree
 * @d: filled on failure
 * @ret_list: the PMUs, none when the tree has none; release with pmu_list_free()
 *
 * A PMU with missing or damaged files is in the list too, with a problem text.
 *
 * Return: 0, -ENOMEM, or the error of listing the directory of all PMUs.
 */
int pmu_list_read(const struct sysfs *fs, struct diag *d, struct pmu_list *ret_list);

/** pmu_cpu_id() - the machine's CPU; false when it is no x86 one or unknown */
bool pmu_cpu_id(const struct sysfs *fs, struct cpu_id *ret);

/** pmu_cpu_virtual() - does an x86 CPU say that a hypervisor runs it? */
bool pmu_cpu_virtual(const struct sysfs *fs);

/** pmu_cpu_midr() - MIDR_EL1 of the machine's CPUs; false when they are no Arm ones */
bool pmu_cpu_midr(const struct sysfs *fs, uint64_t *ret);

/**
 * pmu_cpu_text() - the CPU as in perf's list, by its modalias (x86) or its MIDR_EL1 (Arm)
 * @fs: sysfs
 * @ret, @size: gets the text, cut to @size; NULL and 0 when it is not wanted
 * @ret_platform: gets the chip, PMU_PLATFORM_UNKNOWN when no row knows it
 *
 * Return: false when sysfs tells neither.
 */
bool pmu_cpu_text(const struct sysfs *fs, char *ret, size_t size, enum pmu_platform *ret_platform);

/** pmu_list_free() - release a list and all in it; NULL is fine */
void pmu_list_free(struct pmu_list *list);

/**
 * pmu_cpu_now() - the CPU on which a PMU's events are opened now
 * @fs: sysfs
 * @pmu: the PMU; when its CPU goes offline, the driver moves the events to another one
 *
 * Return: the CPU, -1 when sysfs does not say it.
 */
int pmu_cpu_now(const struct sysfs *fs, const struct pmu *pmu);

/**
 * pmu_label() - a name that no other PMU of the list has
 * @pmu: the PMU
 * @ret: its name, "uncore_imc_0.cpu28" for one of several on different CPUs
 * @size: size of @ret; what is longer is cut
 */
void pmu_label(const struct pmu *pmu, char *ret, size_t size);

/** pmu_list_platform() - the chip that the PMUs belong to, PMU_PLATFORM_UNKNOWN when none tells */
enum pmu_platform pmu_list_platform(const struct pmu_list *list);

/**
 * pmu_find() - a PMU by kind and place
 * @list: all PMUs
 * @kind: its kind
 * @socket: its socket
 * @rc: its root complex, -1 for kinds without
 *
 * Return: the PMU, owned by @list, or NULL when there is none or more than one.
 */
const struct pmu *pmu_find(const struct pmu_list *list, enum pmu_kind kind, int32_t socket,
			   int32_t rc);

/** pmu_event_find() - an event by name, NULL when the PMU has none of that name */
const struct pmu_event *pmu_event_find(const struct pmu *pmu, const char *name);

/** pmu_format_find() - a format by name, NULL when the PMU has none of that name */
const struct pmu_format *pmu_format_find(const struct pmu *pmu, const char *name);

/**
 * pmu_encode() - encode an event and its filters
 * @pmu: PMU that gives names and bits
 * @event: name of an event, or NULL when @terms choose it by number ("event")
 * @terms: filters; each may be given once, and not when @event sets it already
 * @nr: number of @terms
 * @d: on failure: the wrong term and what would fit
 * @ret_config: the encoded event
 *
 * As for perf, "config", "config1" and so on are whole words: some drivers write their events so.
 *
 * Return: 0, -ENOENT for an event or format that the PMU does not have, -ERANGE
 * for a value with more bits than its field, -EINVAL when two terms set the same
 * bits or when there is neither event nor term.
 */
int pmu_encode(const struct pmu *pmu, const char *event, const struct pmu_term *terms, size_t nr,
	       struct diag *d, struct pmu_config *ret_config);

/**
 * pmu_event_parse() - take the text of an event file apart
 * @text: "event=0x1d"; several terms have commas between, no "=value" means 1
 * @ret_event: gets @text and the terms, its name stays
 *
 * Return: 0, -EINVAL when @text is damaged, -E2BIG when it is too long or has too
 * many terms, -ERANGE when a value needs more than 64 bits.
 */
int pmu_event_parse(const char *text, struct pmu_event *ret_event);

/**
 * pmu_format_parse() - take the text of a format file apart
 * @text: "config1:8-23" or "config:0-7,32-35"
 * @ret_format: all but the name is set
 *
 * Return: 0, -EINVAL when @text is damaged, names a word or bit that does not
 * exist or a bit twice, -E2BIG when it is too long or has too many ranges.
 */
int pmu_format_parse(const char *text, struct pmu_format *ret_format);

/**
 * no_pmu_diag() - explain that there is no usable PMU
 * @fs: tree that was searched; searched once more for PMUs that the kernel found and has no driver
 *	table for
 * @d: says what was looked for, where, and what helps
 *
 * Return: -ENODEV.
 */
int no_pmu_diag(const struct sysfs *fs, struct diag *d);

/**
 * pmu_advise_names() - the remedy for a missing PMU: names that sysfs has
 * @fs: tree that was searched; without a PMU in it there is no remedy
 * @name: what was looked for
 * @err: returned unchanged
 * @d: has the problem already
 *
 * Return: @err.
 */
int pmu_advise_names(const struct sysfs *fs, const char *name, int err, struct diag *d);

#endif
