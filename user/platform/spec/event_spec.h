/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events as perf users write them: "PMU/event,term=value/modifiers", names alone, lists with commas
 * and groups in braces. A caret points at the problem.
 */
#ifndef PLATFORM_SPEC_EVENT_SPEC_H
#define PLATFORM_SPEC_EVENT_SPEC_H

#include "platform/spec/want.h"

/**
 * event_spec_add() - add the events of an option -e
 * @fs: sysfs, where events of the cores are looked up
 * @pmus: all NVIDIA PMUs
 * @socket: only PMUs of this socket, -1 for all
 * @text: for example "nvidia_ucf_pmu_0/mem_bytes_rd,src_loc_cpu=1/,{ucf/cycles/,ucf/0x111/}"
 * @d: the problem: the option's text with a caret below the place in @d->what, what would fit there
 *	in @d->help
 * @list: wants are added, one for each PMU that a specification means; events in braces
 *	get a common set for each PMU. Unchanged on failure
 *
 * PMU: a name in sysfs; a family's short name ("ucf", all its PMUs) or one with numbers
 * ("ucf0", "pcie0.rc1"); the sysfs name without its numbers ("nvidia_ucf_pmu"); or a
 * pattern with * and ?. Without a PMU, a name is an event of every PMU that has it, or one of the
 * cores ("INST_RETIRED", "cpu_cycles", "r11", "instructions", "page-faults").
 *
 * Terms: "NAME" is an event or a filter set to 1, "NAME=VALUE" a filter or "event=0x111",
 * VALUE decimal or hexadecimal; "config", "config1", "config2", "config3" as in perf.
 *
 * Return: 0, -EINVAL, -ENOENT, -ERANGE, -ENOMEM.
 */
int event_spec_add(const struct sysfs *fs, const struct pmu_list *pmus, int32_t socket,
		   const char *text, struct diag *d, struct want_list *list);

/**
 * range_spec_terms() - the address range of a BAR
 * @fs: sysfs: bus/pci/devices/BDF/resource
 * @text: "0002:81:00.0:BAR0", also without the domain when it is 0000; "bar0", "BAR 0" and "0" work
 *	as well
 * @d: the problem: no such device, an empty or I/O BAR, a size that is no power of two, zeros
 *	because of missing rights
 * @ret_terms: dst_addr_en, dst_addr_base and dst_addr_mask = ~(size - 1)
 * @ret_label: "0002:81:00.0 BAR0"
 * @label_size: size of @ret_label
 *
 * Return: 0, -EINVAL, -ENOENT, -ENODATA, -EACCES or an error of reading the file.
 */
int range_spec_terms(const struct sysfs *fs, const char *text, struct diag *d,
		     struct pmu_term ret_terms[3], char *ret_label, size_t label_size);

#endif
