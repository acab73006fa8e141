/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Does this machine have what t410trace needs? Every answer is a row: the check, its status, the
 * finding and the remedy. Where possible, a check tries the feature itself instead of comparing
 * versions, because vendors backport.
 */
#ifndef PLATFORM_CHECK_CHECKS_H
#define PLATFORM_CHECK_CHECKS_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/bpf/kernel_clock.h"
#include "platform/pmu/pmu.h"
#include "platform/sys/sysfs.h"

#define CHECK_CAP_PERFMON 38 /* CAP_PERFMON, which older headers lack */

enum check_status {
	CHECK_OK,      /* as it should be */
	CHECK_LIMITED, /* t410trace works, but not in every way */
	CHECK_MISSING, /* t410trace cannot work */
};

/**
 * struct check_row - one answer
 * @name: the check, the same in every run
 * @status: the verdict
 * @found: the finding
 * @remedy: the remedy, "" for none
 */
struct check_row {
	const char *name;
	enum check_status status;
	char found[512];
	char remedy[512];
};

#define CHECK_MAX_ROWS 40

/**
 * struct check_list - all answers
 * @rows, @nr: the rows
 */
struct check_list {
	struct check_row rows[CHECK_MAX_ROWS];
	size_t nr;
};

/**
 * struct check_caps - effective capabilities that matter
 * @bpf: CAP_BPF
 * @perfmon: CAP_PERFMON
 * @sys_admin: CAP_SYS_ADMIN, which includes the two above
 * @dac_read_search: CAP_DAC_READ_SEARCH
 */
struct check_caps {
	bool bpf;
	bool perfmon;
	bool sys_admin;
	bool dac_read_search;
};

/**
 * check_machine() - look at everything
 * @fs: sysfs
 * @proc: where proc is mounted, "/proc"
 * @resctrl: where resctrl is mounted; no row where it is not
 * @ret_list: the answers
 *
 * Loads tiny BPF programs, makes small maps and opens perf events, and closes
 * them all at once; nothing is attached and nothing stays behind.
 *
 * Return: 0, or -ENOMEM or another error of the system. A missing feature is an answer and no
 * error.
 */
int check_machine(const struct sysfs *fs, const char *proc, const char *resctrl,
		  struct check_list *ret_list);

/** check_all_ok() - is nothing missing? Limits do not count. */
bool check_all_ok(const struct check_list *list);

/** check_worst() - the worst status of all rows */
enum check_status check_worst(const struct check_list *list);

/** check_status_name() - "ok", "limited" or "missing" */
const char *check_status_name(enum check_status status);

/*
 * The rules behind the rows, apart from the system so that they can be tested.
 * Each one sets all of @ret_row.
 */

/**
 * check_judge_kernel() - is the kernel new enough?
 * @release: as uname(2) gives it
 * @others: the machine has PMUs of another vendor, which older kernels support
 * @ret_row: the answer
 */
void check_judge_kernel(const char *release, bool others, struct check_row *ret_row);

/**
 * check_judge_paranoid() - may this process open events on CPUs?
 * @text: content of /proc/sys/kernel/perf_event_paranoid, NULL when unreadable
 * @caps: effective capabilities
 * @ret_row: the answer
 */
void check_judge_paranoid(const char *text, const struct check_caps *caps,
			  struct check_row *ret_row);

/**
 * check_judge_clock() - is CLOCK_MONOTONIC of this process the kernel's?
 * @err: result of kernel_clock_read()
 * @c: its reading
 * @ret_row: the answer
 */
void check_judge_clock(int err, const struct clock_reading *c, struct check_row *ret_row);

/**
 * check_judge_bpf_jit() - are BPF programs compiled?
 * @text: content of /proc/sys/net/core/bpf_jit_enable, NULL when unreadable
 * @ret_row: the answer
 */
void check_judge_bpf_jit(const char *text, struct check_row *ret_row);

/** check_judge_lockdown() - may BPF programs read the kernel's memory? @text of sysfs' lockdown */
void check_judge_lockdown(const char *text, struct check_row *ret_row);

/**
 * check_judge_sample_rate() - can the clock of windows tick?
 * @text: of kernel.perf_event_max_sample_rate, or NULL
 * @ret_row: the finding
 */
void check_judge_sample_rate(const char *text, struct check_row *ret_row);

/** check_judge_unprivileged_bpf() - @text of kernel.unprivileged_bpf_disabled, or NULL */
void check_judge_unprivileged_bpf(const char *text, struct check_row *ret_row);

/** check_judge_pmus() - can the PMUs in @list be used? @fs is their tree */
void check_judge_pmus(const struct sysfs *fs, const struct pmu_list *list,
		      struct check_row *ret_row);

/**
 * check_judge_caps() - rows for the capabilities
 * @caps: effective capabilities
 * @ret_rows: CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN and CAP_DAC_READ_SEARCH, in this order
 */
void check_judge_caps(const struct check_caps *caps, struct check_row ret_rows[4]);

#endif
