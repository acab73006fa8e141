// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/check/checks.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "platform/sys/cgroup2.h"
#include "platform/sys/cgroups.h"
#include "platform/check/checks_devices.h"
#include "platform/check/checks_machine.h"
#include "platform/check/checks_resctrl.h"
#include "platform/check/checks_weights.h"
#include "platform/pmu/fit.h"
#include "platform/pmu/platform_file.h"
#include "platform/pmu/pmu_scale.h"
#include "platform/pmu/pmu_socket.h"
#include "platform/sys/smbios.h"
#include "tables/counter_rows.h"

#ifndef CAP_BPF
#define CAP_BPF 39
#endif

NAMES(check_status_name, enum check_status, [CHECK_OK] = "ok", [CHECK_LIMITED] = "limited",
      [CHECK_MISSING] = "missing")

enum check_status check_worst(const struct check_list *list)
{
	enum check_status worst = CHECK_OK;

	for (size_t i = 0; i < list->nr; i++)
		if (list->rows[i].status > worst)
			worst = list->rows[i].status;
	return worst;
}

bool check_all_ok(const struct check_list *list)
{
	return check_worst(list) != CHECK_MISSING;
}

static void set_remedy(struct check_row *row, const char *remedy)
{
	str_copy(row->remedy, sizeof(row->remedy), remedy);
}

/* Start a row with its finding; @remedy may be "". */
static void __attribute__((format(printf, 5, 6)))
set_row(struct check_row *row, const char *name, enum check_status status, const char *remedy,
	const char *fmt, ...)
{
	va_list ap;

	*row = (struct check_row){ .name = name, .status = status };
	set_remedy(row, remedy);
	va_start(ap, fmt);
	vsnprintf(row->found, sizeof(row->found), fmt, ap);
	va_end(ap);
}

void check_judge_kernel(const char *release, bool others, struct check_row *ret_row)
{
	unsigned int major = 0, minor = 0;
	unsigned int version;

	if (sscanf(release, "%3u.%3u", &major, &minor) != 2) {
		set_row(ret_row, "kernel", CHECK_LIMITED, "the other rows tell what works",
			"%s, a version that cannot be read", release);
		return;
	}
	version = major * 1000 + minor;
	set_row(ret_row, "kernel", CHECK_LIMITED, "", "%s", release);
	/* Links to perf events are the newest feature that the tracer requires. */
	if (version == 5014 && strstr(release, ".el9")) {
		set_remedy(ret_row, "what is needed of Linux 5.15 the vendor may have added; try "
				    "t410trace -a --no-counters");
	} else if (version < 5015) {
		ret_row->status = CHECK_MISSING;
		set_remedy(ret_row, "Linux 5.15 or newer is needed, 7.1 for the PMUs of the T410");
	} else if (version < 7001 && !others) {
		set_remedy(ret_row, "the drivers of the T410 PMUs are part of Linux 7.1; older "
				    "kernels have them only when the vendor added them");
	} else {
		ret_row->status = CHECK_OK;
	}
}

/* Without a capability it is @without, with @remedy. */
static void judge_cap(struct check_row *row, const char *name, bool has, bool admin,
		      enum check_status without, const char *remedy)
{
	bool fine = has || admin;

	set_row(row, name, fine ? CHECK_OK : without, fine ? "" : remedy, "%s",
		has	? "effective"
		: admin ? "not effective, CAP_SYS_ADMIN stands in for it"
			: "not effective");
}

void check_judge_caps(const struct check_caps *caps, struct check_row ret_rows[4])
{
	static const char run_as_root[] = "run as root, or give the program the capability: "
					  "setcap cap_bpf,cap_perfmon+ep t410trace";

	judge_cap(&ret_rows[0], "cap_bpf", caps->bpf, caps->sys_admin, CHECK_MISSING, run_as_root);
	judge_cap(&ret_rows[1], "cap_perfmon", caps->perfmon, caps->sys_admin, CHECK_MISSING,
		  run_as_root);
	/* Alone it is never missing: whether it is needed depends on perf_event_paranoid. */
	judge_cap(&ret_rows[2], "cap_sys_admin", caps->sys_admin, false, CHECK_LIMITED,
		  "needed where perf_event_paranoid is 3, and for the PCI configuration space "
		  "beyond 64 bytes");
	judge_cap(&ret_rows[3], "cap_dac_read_search", caps->dac_read_search, false, CHECK_LIMITED,
		  "cgroup names are looked up by id with it; without it names of short-lived "
		  "cgroups may stay unknown");
}

void check_judge_paranoid(const char *text, const struct check_caps *caps,
			  struct check_row *ret_row)
{
	const char *name = "perf_event_paranoid";
	bool negative = text && text[0] == '-';
	uint64_t level = 0;

	if (!text) {
		set_row(ret_row, name, CHECK_MISSING, "a kernel with CONFIG_PERF_EVENTS is needed",
			"not there: a kernel without perf events");
		return;
	}
	if (parse_u64(text + negative, &level)) {
		set_row(ret_row, name, CHECK_LIMITED, "the row perf_event_open tells what works",
			"%.32s, which is not a number", text);
		return;
	}
	set_row(ret_row, name, CHECK_OK, "", "%.32s", text);
	/* Levels below 0 only lift limits that do not matter here. */
	if (caps->sys_admin || negative || level == 0)
		return;
	if (level >= 3) {
		/* An addition of Debian, other kernels treat 3 like 2: perf_event_open tells. */
		ret_row->status = caps->perfmon ? CHECK_LIMITED : CHECK_MISSING;
		set_remedy(ret_row, "on Debian kernels level 3 wants CAP_SYS_ADMIN, CAP_PERFMON is "
				    "not enough: run as root, or lower the level with sysctl "
				    "kernel.perf_event_paranoid=2 (0 without CAP_PERFMON)");
	} else if (!caps->perfmon) {
		ret_row->status = CHECK_MISSING;
		set_remedy(ret_row, "uncore events need CAP_PERFMON above level 0: run as root, or "
				    "set it to 0 with sysctl kernel.perf_event_paranoid=0");
	}
}

/* The kernel's default. It lowers it itself when samples of others take long. */
#define USUAL_SAMPLE_RATE 100000

void check_judge_sample_rate(const char *text, struct check_row *ret_row)
{
	uint64_t rate = 0;

	set_row(ret_row, "perf_event_max_sample_rate", CHECK_OK, "", "%.32s",
		text ? text : "not there");
	if (!text || parse_u64(text, &rate) || rate >= USUAL_SAMPLE_RATE)
		return;
	ret_row->status = CHECK_LIMITED;
	set_remedy(ret_row, "the lower it is the earlier windows of a sleeping CPU are late, and "
			    "the kernel stops its counters for a moment each time: sysctl "
			    "kernel.perf_event_max_sample_rate=100000, or more");
}

void check_judge_unprivileged_bpf(const char *text, struct check_row *ret_row)
{
	/* For the record only: t410trace wants CAP_BPF in any case. */
	set_row(ret_row, "unprivileged_bpf_disabled", CHECK_OK, "", "%.32s",
		text ? text : "not there");
}

void check_judge_bpf_jit(const char *text, struct check_row *ret_row)
{
	/* Invisible in a container, and readable by root only: loading will tell. */
	set_row(ret_row, "bpf_jit_enable", CHECK_OK, "", "%.32s", text ? text : "not there");
	if (!text || strcmp(text, "0") != 0)
		return;
	ret_row->status = CHECK_MISSING;
	set_remedy(ret_row, "our programs call functions back, which is refused without the "
			    "compiler for BPF: sysctl net.core.bpf_jit_enable=1 (Debian's kernel "
			    "for riscv64 starts with 0)");
}

void check_judge_lockdown(const char *text, struct check_row *ret_row)
{
	/* "none [integrity] confidentiality" */
	const char *mode = strchr(text, '[');

	set_row(ret_row, "lockdown", CHECK_OK, "", "%.*s",
		(int)strcspn(mode ? mode + 1 : text, "]"), mode ? mode + 1 : text);
	if (!strstr(text, "[confidentiality]"))
		return;
	ret_row->status = CHECK_MISSING;
	set_remedy(ret_row, "no BPF program may read the kernel's memory, whoever loads it: boot "
			    "with lockdown=integrity");
}

void check_judge_clock(int err, const struct clock_reading *c, struct check_row *ret_row)
{
	int64_t lead = err ? 0 : kernel_clock_lead(c);
	struct diag d = { 0 };

	if (err) {
		set_row(ret_row, "clock", CHECK_LIMITED,
			"the rows of BPF tell why; a report says if CPU time does not add up",
			"the kernel's cannot be asked: %s", strerror(-err));
	} else if (lead) {
		kernel_clock_problem(lead, &d);
		set_row(ret_row, "clock", CHECK_MISSING, d.help, "%s", d.what);
	} else {
		set_row(ret_row, "clock", CHECK_OK, "", "CLOCK_MONOTONIC is the kernel's");
	}
}

/* "2 ucf, 12 pcie" for the PMUs of the list. */
static void count_families(const struct pmu_list *list, char *text, size_t size)
{
	const struct pmu_family *family;
	size_t nr;

	text[0] = '\0';
	for (size_t f = 0; (family = pmu_family_at(f)); f++) {
		nr = 0;
		for (size_t i = 0; i < list->nr; i++)
			nr += list->pmus[i].family == family;
		if (nr)
			str_append(text, size, "%s%zu %s", text[0] ? ", " : "", nr,
				   family->short_name);
	}
}

/* The first clause of each note; returns their number. */
static size_t put_notes(int (*make)(const struct sysfs *fs, const struct pmu_list *list,
				    struct text_list *ret_notes),
			const struct sysfs *fs, const struct pmu_list *list, char *ret, size_t size)
{
	cleanup_texts struct text_list notes = { 0 };

	/* Without memory, "list" still shows the notes. */
	if (make(fs, list, &notes))
		return 0;
	for (size_t i = 0; i < notes.nr; i++)
		str_append(ret, size, "; %.*s", (int)strcspn(notes.items[i], "."), notes.items[i]);
	return notes.nr;
}

/* The doubt about a PMU, with its remedy; NULL for none. */
static const char *oddity(const struct pmu *pmu, const char **ret_remedy)
{
	const struct counter_row *row;

	*ret_remedy = "t410trace list shows what is wrong with each PMU";
	if (pmu->problem[0])
		return pmu->problem;
	*ret_remedy = "t410trace list shows both numbers, and which one is used";
	if (pmu_scale_differs(pmu, &row))
		return "sysfs and documents differ about bytes per count";
	*ret_remedy = "t410trace list shows both; what sysfs says is used";
	for (size_t i = 0; (row = counter_row_at(i)); i++)
		if (row->kind == pmu->kind && pmu_terms_differ(pmu, row))
			return "sysfs and documents differ about an event's code";
	*ret_remedy = "t410trace list shows the socket that is taken, which is that of the CPUs";
	return pmu_name_misleads(pmu) ? "name and associated_cpus disagree about the socket" : NULL;
}

static void no_known_pmu(const struct sysfs *fs, bool have_energy, struct check_row *ret_row)
{
	struct diag d = { 0 };

	no_pmu_diag(fs, &d);
	set_row(ret_row, "pmus", have_energy ? CHECK_LIMITED : CHECK_MISSING, d.help, "%s%s",
		have_energy ? "only energy is counted; " : "", d.what);
}

void check_judge_pmus(const struct sysfs *fs, const struct pmu_list *list,
		      struct check_row *ret_row)
{
	const char *odd = NULL, *remedy = NULL, *whose = NULL;
	bool have_memory = false, have_known = false, have_energy = pmu_fit_energy(list);
	struct diag d = { 0 };
	bool doubt;

	for (size_t i = 0; i < list->nr; i++) {
		const struct pmu *pmu = &list->pmus[i];

		have_memory |= pmu->usable && counter_rows_have(pmu->kind, COUNTERS_SUMS);
		/* Energy counts even without an uncore driver: it must not hide a missing one. */
		have_known |= pmu->kind != PMU_UNKNOWN && !pmu->family->energy_only;
		if (!odd && (odd = oddity(pmu, &remedy)))
			whose = pmu->name;
	}
	if (!have_known) {
		no_known_pmu(fs, have_energy, ret_row);
		return;
	}
	set_row(ret_row, "pmus", have_memory && !odd ? CHECK_OK : CHECK_LIMITED, "", "%s", "");
	count_families(list, ret_row->found, sizeof(ret_row->found));
	put_notes(pmu_fit_left_out, fs, list, ret_row->found, sizeof(ret_row->found));
	doubt = put_notes(pmu_fit_doubts, fs, list, ret_row->found, sizeof(ret_row->found));
	if (doubt)
		ret_row->status = CHECK_LIMITED;
	if (!have_memory)
		str_append(ret_row->found, sizeof(ret_row->found), "; %s",
			   have_energy ? "only energy is counted"
				       : "no usable PMU counts memory traffic");
	if (odd) {
		str_append(ret_row->found, sizeof(ret_row->found), "; %s: %s", whose, odd);
		set_remedy(ret_row, remedy);
	} else if (!have_memory) {
		no_pmu_diag(fs, &d);
		set_remedy(ret_row, d.help);
	} else if (doubt) {
		set_remedy(ret_row, "t410trace list says what that means for the total");
	}
}

static int no_print(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	return 0;
}

/* Why a BPF object could not be created, and the remedy. */
static void bpf_failed(struct check_row *row, const char *name, int err)
{
	set_row(row, name, CHECK_MISSING,
		err == -EPERM || err == -EACCES
			? "needs CAP_BPF and CAP_PERFMON, or root"
			: "the kernel does not support it: it needs CONFIG_BPF_SYSCALL, "
			  "CONFIG_BPF_EVENTS and CONFIG_DEBUG_INFO_BTF",
		"cannot be loaded: %s", strerror(-err));
}

/* Load a program that does nothing but return 0. */
static void check_program(const char *name, enum bpf_prog_type type, const char *tp_btf,
			  struct check_row *ret_row)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts);
	int fd, id;

	if (tp_btf) {
		id = libbpf_find_vmlinux_btf_id(tp_btf, BPF_TRACE_RAW_TP);
		if (id < 0) {
			bpf_failed(ret_row, name, id);
			return;
		}
		opts.expected_attach_type = BPF_TRACE_RAW_TP;
		opts.attach_btf_id = id;
	}
	fd = bpf_prog_load(type, "t410_check", "Dual BSD/GPL", insns, ARRAY_SIZE(insns), &opts);
	if (fd < 0) {
		bpf_failed(ret_row, name, fd);
		return;
	}
	close(fd);
	set_row(ret_row, name, CHECK_OK, "", "can be loaded");
}

static void check_map(const char *name, enum bpf_map_type type, unsigned int value_size,
		      unsigned int entries, struct check_row *ret_row)
{
	int fd = bpf_map_create(type, "t410_check", value_size, value_size, entries, NULL);

	if (fd < 0) {
		bpf_failed(ret_row, name, fd);
		return;
	}
	close(fd);
	set_row(ret_row, name, CHECK_OK, "", "can be made");
}

static void check_btf(const struct sysfs *fs, struct check_row *ret_row)
{
	bool exists = sysfs_exists(fs, "kernel/btf/vmlinux");

	set_row(ret_row, "btf", exists ? CHECK_OK : CHECK_MISSING,
		exists ? "" : "a kernel with CONFIG_DEBUG_INFO_BTF is needed",
		"%s%s/kernel/btf/vmlinux", exists ? "" : "no ", fs->root);
}

static bool has_cap(cap_t caps, cap_value_t cap)
{
	cap_flag_value_t value = CAP_CLEAR;

	return !cap_get_flag(caps, cap, CAP_EFFECTIVE, &value) && value == CAP_SET;
}

static int read_caps(struct check_caps *ret_caps)
{
	cap_t caps = cap_get_proc();

	if (!caps)
		return -errno;
	*ret_caps = (struct check_caps){
		.bpf = has_cap(caps, CAP_BPF),
		.perfmon = has_cap(caps, CHECK_CAP_PERFMON),
		.sys_admin = has_cap(caps, CAP_SYS_ADMIN),
		.dac_read_search = has_cap(caps, CAP_DAC_READ_SEARCH),
	};
	cap_free(caps);
	return 0;
}

static void check_event(struct check_row *ret_row)
{
	int err = check_open_event();

	if (!err) {
		set_row(ret_row, "perf_event_open", CHECK_OK, "",
			"an event on a CPU can be opened");
		return;
	}
	set_row(ret_row, "perf_event_open", CHECK_MISSING,
		err == -EACCES || err == -EPERM
			? "needs CAP_PERFMON (CAP_SYS_ADMIN where perf_event_paranoid is "
			  "3), or root; a container or security module may forbid it too"
			: "the kernel or the container does not offer perf events",
		"no event on a CPU: %s", strerror(-err));
}

static void check_cgroup2(int proc, struct check_row *ret_row)
{
	cleanup_fclose FILE *file = file_at(proc, "self/mountinfo");
	char path[256];
	int err = file ? cgroup2_mount_find(file, path, sizeof(path)) : -errno;

	if (!err && cgroup_mount_is_whole(path))
		set_row(ret_row, "cgroup2", CHECK_OK, "", "%s", path);
	else if (!err)
		set_row(ret_row, "cgroup2", CHECK_LIMITED, cgroups_whole_help,
			"%s has only a branch of the tree: cgroups outside it have no names", path);
	else
		set_row(ret_row, "cgroup2", CHECK_LIMITED,
			"cgroups cannot be named or followed without it: mount -t cgroup2 none "
			"/sys/fs/cgroup",
			"%s", err == -ENOENT ? "no mount of the type cgroup2" : strerror(-err));
}

/* @list: the result of pmu_list_read(); @err: its return value, with the problem in @d */
static int check_pmus(const struct sysfs *fs, const struct pmu_list *list, int err, struct diag *d,
		      struct check_row *ret_row)
{
	if (!err)
		err = platform_file_check(fs, list, d);
	if (err && err != -ENOMEM)
		set_row(ret_row, "pmus", CHECK_MISSING, d->help, "%s", d->what);
	else if (!err)
		check_judge_pmus(fs, list, ret_row);
	return err == -ENOMEM ? err : 0;
}

/* Without a peak, reports only lack percentages of it. */
static int check_peak(const struct sysfs *fs, struct check_row *ret_row)
{
	struct diag d = { 0 };
	char text[512];
	int err = smbios_sentence(fs, &d, text, sizeof(text));

	set_row(ret_row, "peak", err ? CHECK_LIMITED : CHECK_OK, "", "%s", err ? d.what : text);
	if (err)
		set_remedy(ret_row, d.help[0] ? d.help : "give the peak with --peak");
	return err == -ENOMEM ? err : 0;
}

static struct check_row *next(struct check_list *list)
{
	return &list->rows[list->nr++];
}

/* The programs and maps that the tracer uses. */
static void add_bpf_rows(struct check_list *list)
{
	/* The rows already tell what libbpf would print on standard error. */
	libbpf_print_fn_t before = libbpf_set_print(no_print);
	struct clock_reading clock;

	check_program("bpf_tracing", BPF_PROG_TYPE_TRACING, "sched_switch", next(list));
	check_program("bpf_perf_event", BPF_PROG_TYPE_PERF_EVENT, NULL, next(list));
	check_program("bpf_raw_tracepoint", BPF_PROG_TYPE_RAW_TRACEPOINT, NULL, next(list));
	check_map("bpf_ringbuf", BPF_MAP_TYPE_RINGBUF, 0, (unsigned int)getpagesize(), next(list));
	check_map("bpf_perf_event_array", BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 1, next(list));
	check_judge_clock(kernel_clock_read(&clock), &clock, next(list));
	libbpf_set_print(before);
}

/* A file of one line below proc; NULL when it cannot be read */
static const char *line_of(int proc, const char *path, char text[64])
{
	return read_line_at(proc, path, text, 64) ? NULL : text;
}

static int add_permission_rows(int proc, struct check_list *list)
{
	struct check_caps caps;
	char text[64];
	int err = read_caps(&caps);

	if (err)
		return err;
	check_judge_caps(&caps, &list->rows[list->nr]);
	list->nr += 4;
	check_judge_paranoid(line_of(proc, "sys/kernel/perf_event_paranoid", text), &caps,
			     next(list));
	check_judge_sample_rate(line_of(proc, "sys/kernel/perf_event_max_sample_rate", text),
				next(list));
	check_event(next(list));
	err = check_serve(line_of(proc, "sys/kernel/perf_event_paranoid", text), next(list));
	if (err)
		return err;
	check_judge_unprivileged_bpf(line_of(proc, "sys/kernel/unprivileged_bpf_disabled", text),
				     next(list));
	check_judge_bpf_jit(line_of(proc, "sys/net/core/bpf_jit_enable", text), next(list));
	return 0;
}

/* Are there PMUs of another vendor's chip? */
static bool has_others(const struct pmu_list *list)
{
	const struct pmu_platform_row *chip = pmu_platform_row(pmu_list_platform(list));

	return chip && (chip->total || chip->platform == PMU_PLATFORM_OWN);
}

/* Without monitoring there is no row about it. */
static int add_resctrl_row(const struct sysfs *fs, const char *resctrl, const struct pmu_list *pmus,
			   struct check_list *list)
{
	int err = check_resctrl(&perf_kernel, fs, resctrl, pmus, &list->rows[list->nr]);

	list->nr += !err;
	return err == -ENOENT ? 0 : err;
}

/* No row where the kernel has no lockdown, or its state is not visible. */
static void add_lockdown_row(const struct sysfs *fs, struct check_list *list)
{
	char line[64];

	if (!sysfs_read(fs, line, sizeof(line), "kernel/security/lockdown"))
		check_judge_lockdown(line, next(list));
}

/* Without a GPU there is no row about them. */
static int check_pci(const struct sysfs *fs, struct check_list *list)
{
	struct check_row *row = next(list), gpus;
	int err = check_devices(fs, row, &gpus);

	if (!err && gpus.name)
		*next(list) = gpus;
	return err;
}

static int add_rows(const struct sysfs *fs, int proc, const char *resctrl, struct check_list *list)
{
	struct pmu_list pmus = { 0 };
	struct diag d = { 0 };
	struct utsname uts;
	int err, read;

	if (uname(&uts))
		return -errno;
	read = pmu_list_read(fs, &d, &pmus);
	err = check_sockets(fs, &pmus, next(list));
	check_judge_kernel(uts.release, has_others(&pmus), next(list));
	check_btf(fs, next(list));
	add_lockdown_row(fs, list);
	add_bpf_rows(list);
	if (!err)
		err = add_permission_rows(proc, list);
	check_cgroup2(proc, next(list));
	if (!err)
		err = check_pmus(fs, &pmus, read, &d, next(list));
	if (!err)
		err = add_resctrl_row(fs, resctrl, &pmus, list);
	pmu_list_free(&pmus);
	if (!err)
		err = check_weights(&perf_kernel, fs, next(list));
	if (!err)
		err = check_pci(fs, list);
	return err ? err : check_peak(fs, next(list));
}

int check_machine(const struct sysfs *fs, const char *proc, const char *resctrl,
		  struct check_list *ret_list)
{
	struct check_list list = { 0 };
	cleanup_close int fd = -1;
	int err;

	fd = open(proc, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = add_rows(fs, fd, resctrl, &list);
	if (!err)
		*ret_list = list;
	return err;
}
