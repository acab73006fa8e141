// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/core/weights.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "base/cpulist.h"
#include "base/open_files.h"
#include "base/text.h"
#include "platform/pmu/gain.h"

#define ONLINE	   "devices/system/cpu/online"

/* Memory to walk through so that events of memory traffic count; more than an L2 holds. */
#define LOAD_BYTES (8u << 20)
#define LOADS	   4
#define LINE_BYTES 64

/* An event's counts on all CPUs between two readings. */
struct movement {
	uint64_t count;
	uint32_t cpus;	   /* CPUs that have the event */
	uint32_t counting; /* of these, the event was in the hardware all the time */
};

static void close_all(const struct weights *w, int *fds)
{
	if (fds)
		perf_events_close(w->ops, fds, w->nr_cpus);
	free(fds);
}

void weights_let_go(struct weights *w)
{
	for (uint32_t e = 0; e < w->nr; e++) {
		close_all(w, w->fds[e]);
		w->fds[e] = NULL;
	}
	open_files_restore(w->soft_files);
	w->soft_files = 0;
}

void weights_close(struct weights *w)
{
	if (!w)
		return;
	weights_let_go(w);
	*w = (struct weights){ 0 };
}

static int open_one(const struct perf_ops *ops, const struct weight_event *e, int cpu, bool pinned)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = e->type,
		.config = e->config,
		.config1 = e->config1,
		.config2 = e->config2,
		.pinned = pinned,
		.read_format = PERF_TIMES,
	};

	return ops->open(&attr, -1, cpu, -1);
}

static bool read_one(const struct perf_ops *ops, int fd, struct reading *ret)
{
	uint64_t words[3];

	if (ops->read(fd, words, ARRAY_SIZE(words)) != sizeof(words))
		return false;
	*ret = (struct reading){ words[0], words[1], words[2] };
	return true;
}

/*
 * Pinned, so that no turn is missed; if other users hold the counters already, it takes turns with
 * them, and the ledger notices when it did not count.
 */
static int open_on(const struct perf_ops *ops, const struct weight_event *e, int cpu)
{
	struct reading value;
	int fd = open_one(ops, e, cpu, !e->software);

	if (fd < 0 || read_one(ops, fd, &value))
		return fd;
	ops->close(fd);
	return open_one(ops, e, cpu, false);
}

int weights_open_on(const struct weights *w, uint32_t event, int cpu)
{
	return open_on(w->ops, &w->events[event], cpu);
}

/* The event on every CPU of @online; -1 for the rest. */
static int open_all(const struct weights *w, const struct weight_event *e,
		    const struct cpulist *online, int **ret)
{
	int *fds = malloc(w->nr_cpus * sizeof(*fds));
	int err = -ENODEV, fd;

	if (!fds)
		return -ENOMEM;
	memset(fds, -1, w->nr_cpus * sizeof(*fds));
	for (uint32_t cpu = 0; cpu < w->nr_cpus; cpu++) {
		if (!cpulist_contains(online, cpu))
			continue;
		fd = open_on(w->ops, e, cpu);
		/* It went offline meanwhile: it will have no CPU time to weigh either. */
		if (fd == -ENODEV)
			continue;
		err = fd < 0 ? fd : 0;
		if (err)
			break;
		fds[cpu] = fd;
	}
	if (err)
		close_all(w, fds);
	else
		*ret = fds;
	return err;
}

/* A reading that failed is more than any that comes after it. */
static int read_all(const struct weights *w, const int *fds, struct reading **ret)
{
	struct reading *values = calloc(w->nr_cpus, sizeof(*values));

	if (!values)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < w->nr_cpus; cpu++)
		if (fds[cpu] >= 0 && !read_one(w->ops, fds[cpu], &values[cpu]))
			values[cpu] = (struct reading){ .value = UINT64_MAX };
	*ret = values;
	return 0;
}

/* Reads and writes of fresh memory: no cache has it all. */
static void make_traffic(void)
{
	unsigned char *p =
		mmap(NULL, LOAD_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return;
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < LOAD_BYTES; i += LINE_BYTES)
			((volatile unsigned char *)p)[i]++;
	munmap(p, LOAD_BYTES);
}

/* Make some traffic, and read its effect on the event. */
static int watch(const struct weights *w, const int *fds, struct movement *ret)
{
	struct reading *before, *after;
	struct movement m = { 0 };
	int err = read_all(w, fds, &before);

	if (err)
		return err;
	make_traffic();
	err = read_all(w, fds, &after);
	for (uint32_t cpu = 0; !err && cpu < w->nr_cpus; cpu++) {
		struct reading gain;

		m.cpus += fds[cpu] >= 0;
		if (gain_between(&before[cpu], &after[cpu], UINT64_MAX, &gain))
			continue;
		m.counting += gain.enabled_ns && gain.running_ns * 100 > gain.enabled_ns * 99;
		m.count += gain.value;
	}
	free(before);
	if (err)
		return err;
	free(after);
	*ret = m;
	return 0;
}

/*
 * Does it count? Cores open events that they do not have, and hypervisors offer some that stand
 * still. A software event that does not happen just now is fine.
 */
static int try_event(const struct weights *w, const struct weight_event *e,
		     const struct cpulist *online, int **ret_fds, struct movement *ret_movement)
{
	struct movement m = { 0 };
	int *fds;
	int err = open_all(w, e, online, &fds);

	if (err)
		return err;
	for (int i = 0; !err && i < LOADS && (!m.counting || (!m.count && !e->software)); i++)
		err = watch(w, fds, &m);
	if (!err && !m.counting)
		err = -EBUSY;
	if (!err && !m.count && !e->software)
		err = -ENODATA;
	if (err) {
		close_all(w, fds);
		return err;
	}
	*ret_fds = fds;
	*ret_movement = m;
	return 0;
}

static void add_event(struct weights *w, const struct weight_event *e, int *fds,
		      const struct movement *m)
{
	str_copy(w->names[w->nr], sizeof(w->names[0]), e->name);
	w->events[w->nr] = *e;
	w->fds[w->nr++] = fds;
	if (m->counting == m->cpus)
		return;
	w->note[0] = '\0';
	str_append(w->note, sizeof(w->note), "%s: another user holds the counters of %u of %u CPUs",
		   e->name, m->cpus - m->counting, m->cpus);
}

static int open_problem(const char *name, int err, struct diag *d)
{
	switch (err) {
	case -EACCES:
	case -EPERM:
		diag_fail(d, err, "may not open event \"%s\" on every CPU", name);
		counters_rights_help(d);
		return err;
	case -EBUSY:
		diag_fail(d, err, "event \"%s\" never counts: all counters are taken", name);
		return diag_advise(d, err, "another profiler holds them, for example perf; end it");
	case -ENODATA:
		diag_fail(d, err,
			  "event \"%s\" stands still: this core does not have it, or the "
			  "hypervisor does not count it",
			  name);
		return diag_advise(d, err, "choose another one, or cpu-time");
	case -EMFILE:
		diag_fail(d, err, "too many files for event \"%s\" on every CPU", name);
		return diag_advise(d, err, "raise the limit (ulimit -n)");
	case -ENOENT:
	case -EOPNOTSUPP:
	case -EINVAL:
		diag_fail(d, err, "the cores of this machine do not have event \"%s\"", name);
		return diag_advise(d, err, "choose another one, or cpu-time");
	}
	return diag_fail(d, err, "cannot open event \"%s\" on every CPU: %s", name, strerror(-err));
}

static int find_named(const struct sysfs *fs, const struct weight_cores *cores, const char *spec,
		      struct diag *d, struct weight_event events[LEDGER_MAX_WEIGHTS],
		      uint32_t *ret_nr)
{
	char names[LEDGER_MAX_WEIGHTS][WEIGHT_NAME_LEN];
	int err = weight_spec_parse(spec, d, names, ret_nr);

	for (uint32_t i = 0; !err && i < *ret_nr; i++)
		err = weight_event_find(fs, cores, names[i], d, &events[i]);
	/* Two names of the same configuration are one event, too. */
	if (!err && *ret_nr == 2 && !strcmp(events[0].name, events[1].name))
		err = diag_fail(d, -EINVAL, "weights \"%s\": the same event twice", spec);
	return err;
}

int weights_check(const struct sysfs *fs, const char *spec, struct diag *d)
{
	struct weight_event events[LEDGER_MAX_WEIGHTS];
	struct weight_cores cores;
	uint32_t nr;

	/* weights_open() tells why the cores cannot be read. */
	if (!strcmp(spec, "cpu-time") || !strcmp(spec, "auto") || weight_cores_read(fs, &cores))
		return 0;
	return find_named(fs, &cores, spec, d, events, &nr);
}

static int open_named(const struct sysfs *fs, const struct weight_cores *cores, const char *spec,
		      const struct cpulist *online, struct diag *d, struct weights *w)
{
	struct weight_event events[LEDGER_MAX_WEIGHTS];
	uint32_t nr;
	int err = find_named(fs, cores, spec, d, events, &nr);

	for (uint32_t i = 0; !err && i < nr; i++) {
		struct movement m;
		int *fds;

		err = try_event(w, &events[i], online, &fds, &m);
		if (err)
			open_problem(events[i].name, err, d);
		else
			add_event(w, &events[i], fds, &m);
	}
	return err;
}

/* The best counting event of a role; the reason is about the last one tried. */
static int open_best(const struct weight_cores *cores, enum weight_role role,
		     const struct cpulist *online, struct weights *w, struct diag *reason)
{
	struct weight_event event;
	struct movement m;
	int *fds, err = -ENOENT;

	for (uint8_t rank = 1; !weight_event_auto(cores, role, rank, &event); rank++) {
		err = try_event(w, &event, online, &fds, &m);
		if (!err) {
			add_event(w, &event, fds, &m);
			return 0;
		}
		open_problem(event.name, err, reason);
		/* An error that concerns one concerns all. */
		if (err == -EACCES || err == -EPERM || err == -ENOMEM || err == -EMFILE)
			break;
	}
	return err;
}

static void no_row_for(const struct cpu_id *cpu, char *ret, size_t size)
{
	char name[32];

	cpu_id_text(cpu, name, sizeof(name));
	snprintf(ret, size, "no event for memory traffic is known for this core (%s)", name);
}

/* The read event counts. Is there a write event? */
static int open_writes(const struct weight_cores *cores, const struct cpulist *online,
		       struct weights *w, struct diag *reason)
{
	struct weight_event event;

	if (!weight_event_auto(cores, WEIGHT_WRITE, 1, &event))
		return open_best(cores, WEIGHT_WRITE, online, w, reason);
	return diag_fail(reason, -ENOENT, "no event is known for them");
}

static int open_auto(const struct weight_cores *cores, const struct cpulist *online, struct diag *d,
		     struct weights *w)
{
	struct diag reason = { 0 };
	int err;

	if (!cores->nr_pmus)
		str_append(w->note, sizeof(w->note),
			   "the cores have no PMU, or the hypervisor hides it");
	else if (cores->nr_pmus > 1)
		str_append(w->note, sizeof(w->note), "several kinds of cores");
	else if (!cores->core && cores->is_x86)
		no_row_for(&cores->x86, w->note, sizeof(w->note));
	else if (!cores->core && cores->midr)
		str_append(w->note, sizeof(w->note),
			   "no event for memory traffic is known for this core (MIDR %#llx)",
			   (unsigned long long)cores->midr);
	else if (!cores->core)
		str_append(w->note, sizeof(w->note),
			   "no event for memory traffic is known for this kind of core");
	if (w->note[0])
		return 0;
	err = open_best(cores, WEIGHT_READ, online, w, &reason);
	if (!err)
		err = open_writes(cores, online, w, &reason);
	if (err == -ENOMEM)
		return diag_no_memory(d);
	if (err && !w->note[0])
		snprintf(w->note, sizeof(w->note), "%s%.120s",
			 w->nr ? "writes are weighed like reads: " : "", reason.what);
	return 0;
}

int weights_open(const struct perf_ops *ops, const struct sysfs *fs, const char *spec,
		 uint32_t nr_cpus, struct diag *d, struct weights *ret)
{
	struct weights w = { .ops = ops, .nr_cpus = nr_cpus };
	char line[CPULIST_TEXT_LEN];
	struct weight_cores cores;
	struct cpulist online;
	int err;

	if (!strcmp(spec, "cpu-time")) {
		*ret = w;
		return 0;
	}
	err = sysfs_read(fs, line, sizeof(line), ONLINE);
	if (!err)
		err = cpulist_parse(line, &online);
	if (err)
		return diag_fail(d, err, "cannot use %s/%s: %s", fs->root, ONLINE, strerror(-err));
	err = weight_cores_read(fs, &cores);
	if (err)
		return diag_fail(d, err, "cannot list the PMUs in %s: %s", fs->root,
				 strerror(-err));
	w.soft_files = open_files_allow((size_t)LEDGER_MAX_WEIGHTS * nr_cpus);
	err = strcmp(spec, "auto") ? open_named(fs, &cores, spec, &online, d, &w)
				   : open_auto(&cores, &online, d, &w);
	if (err)
		weights_close(&w);
	else
		*ret = w;
	return err;
}
