// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Events of the cores and of the kernel: of a process and its children, or of all CPUs.
 * Every event is read alone: older kernels do not read groups that children inherit.
 */
#include "platform/meter/internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"

static int add_place(struct meter_cores *c, int pid, int cpu)
{
	if (array_room(c->places, c->cap_places, c->nr_places))
		return -ENOMEM;
	c->places[c->nr_places++] = (struct meter_place){ pid, cpu };
	return 0;
}

/* A process that runs already may have threads; those to come are inherited. */
static int find_threads(struct meter *m, struct diag *d)
{
	cleanup_closedir DIR *dir = NULL;
	char path[64];
	const struct dirent *e;
	int err = 0;

	if (m->o.enable_on_exec)
		return add_place(&m->cores, m->o.pid, -1);
	snprintf(path, sizeof(path), "/proc/%d/task", m->o.pid);
	dir = opendir(path);
	if (!dir)
		return diag_fail(d, -errno, "process %d: %s", m->o.pid, strerror(errno));
	while (!err && (e = readdir(dir))) {
		uint64_t tid;

		if (!parse_u64(e->d_name, &tid) && tid <= INT32_MAX)
			err = add_place(&m->cores, tid, -1);
	}
	return err;
}

static int find_cpus(struct meter *m, struct diag *d)
{
	char line[CPULIST_TEXT_LEN];
	struct cpulist cpus;
	int err = sysfs_read(m->fs, line, sizeof(line), "devices/system/cpu/online");

	if (!err)
		err = cpulist_parse(line, &cpus);
	if (err)
		return diag_fail(d, err, "%s/devices/system/cpu/online: %s", m->fs->root,
				 strerror(-err));
	for (int cpu = -1; !err && (cpu = cpulist_next(&cpus, cpu)) >= 0;)
		err = add_place(&m->cores, -1, cpu);
	return err;
}

static bool is_software(const struct meter *m, uint32_t want)
{
	return m->wants->wants[want].type == PERF_TYPE_SOFTWARE;
}

/* Sets stay together, and those that need counters come first: one of them leads. */
static int order_wants(struct meter *m)
{
	struct meter_cores *c = &m->cores;
	const struct want *wants = m->wants->wants;
	cleanup_free bool *done = calloc(m->wants->nr + 1, 1);

	c->wants = calloc(m->wants->nr + 1, sizeof(*c->wants));
	if (!done || !c->wants)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->wants->nr; i++) {
		for (int software = 0; software < 2; software++) {
			for (uint32_t k = i; k < m->wants->nr; k++) {
				bool same =
					k == i || (wants[i].set && wants[k].set == wants[i].set);

				if (wants[k].pmu || wants[i].pmu || done[k] || !same ||
				    is_software(m, k) != software)
					continue;
				c->wants[c->nr++] = k;
				done[k] = true;
			}
		}
	}
	return 0;
}

static int open_one(struct meter *m, const struct meter_place *place, uint32_t want, int leader)
{
	struct perf_event_attr attr;
	int err = meter_attr(&m->wants->wants[want], &attr);

	if (err)
		return err;
	attr.inherit = place->pid > 0;
	attr.disabled = leader < 0;
	attr.enable_on_exec = leader < 0 && place->pid > 0 && m->o.enable_on_exec;
	return m->ops->open(&attr, place->pid, place->cpu, leader);
}

/* A task that has ended, or a CPU that is off: it has nothing to count. */
static bool is_gone(int err)
{
	return err == -ESRCH || err == -ENODEV;
}

/* That a place is gone says nothing about the event: any other reason is the better one. */
static void refuse(struct meter *m, uint32_t want, int err)
{
	if (!m->refused[want] || is_gone(m->refused[want]))
		m->refused[want] = err;
}

/*
 * Open all events at one place. An event that does not fit beside the others of its set
 * starts a group of its own; the kernel then lets the groups take turns.
 */
static int open_place(struct meter *m, size_t at)
{
	struct meter_cores *c = &m->cores;
	int *fds = c->fds + at * c->nr;
	uint32_t set = 0;
	int leader = -1;

	for (size_t i = 0; i < c->nr; i++) {
		uint32_t want = c->wants[i];
		uint32_t its_set = m->wants->wants[want].set;

		if (!its_set || its_set != set)
			leader = -1;
		set = its_set;
		fds[i] = open_one(m, &c->places[at], want, leader);
		if (fds[i] == -EINVAL && leader >= 0) {
			leader = -1;
			fds[i] = open_one(m, &c->places[at], want, leader);
		}
		if (fds[i] == -EMFILE || fds[i] == -ENFILE || fds[i] == -ENOMEM)
			return fds[i];
		if (fds[i] < 0)
			refuse(m, want, fds[i]);
		if (fds[i] >= 0 && leader < 0)
			leader = fds[i];
	}
	return 0;
}

/* An event that is open anywhere counts there, whatever places are gone. */
static void accept_open(struct meter *m)
{
	const struct meter_cores *c = &m->cores;

	for (size_t i = 0; i < c->nr_places * c->nr; i++) {
		uint32_t want = c->wants[i % c->nr];

		if (c->fds[i] >= 0 && is_gone(m->refused[want]))
			m->refused[want] = 0;
	}
}

/* Leaders of groups were opened disabled; siblings follow them. */
static int start(struct meter *m)
{
	struct meter_cores *c = &m->cores;

	c->start_ns = m->ops->now();
	if (m->o.pid && m->o.enable_on_exec)
		return 0;
	for (size_t i = 0; i < c->nr_places * c->nr; i++) {
		int err = c->fds[i] < 0 ? 0 : m->ops->enable(c->fds[i]);

		if (err)
			return err;
	}
	return 0;
}

int cores_find(struct meter *m, struct diag *d)
{
	int err = order_wants(m);

	m->cores.cost.sets = 1;
	if (!err && m->cores.nr)
		err = m->o.pid ? find_threads(m, d) : find_cpus(m, d);
	return err == -ENOMEM ? diag_no_memory(d) : err;
}

int cores_open(struct meter *m)
{
	struct meter_cores *c = &m->cores;
	int err = 0;

	if (!c->nr)
		return 0;
	c->fds = calloc(c->nr_places * c->nr + 1, sizeof(*c->fds));
	c->last = calloc(c->nr, sizeof(*c->last));
	c->now = calloc(c->nr, sizeof(*c->now));
	if (!c->fds || !c->last || !c->now)
		return -ENOMEM;
	for (size_t i = 0; i < c->nr_places * c->nr; i++)
		c->fds[i] = -1;
	for (size_t i = 0; i < c->nr_places && !err; i++)
		err = open_place(m, i);
	if (err)
		return err;
	accept_open(m);
	return start(m);
}

void cores_close(struct meter *m)
{
	struct meter_cores *c = &m->cores;

	if (c->fds)
		perf_events_close(m->ops, c->fds, c->nr_places * c->nr);
	free(c->wants);
	free(c->places);
	free(c->fds);
	free(c->last);
	free(c->now);
	*c = (struct meter_cores){ 0 };
}

/* Add up an event over all places. */
static int read_event(const struct meter *m, size_t event, struct reading *ret)
{
	const struct meter_cores *c = &m->cores;
	struct reading sum = { 0 };

	for (size_t i = 0; i < c->nr_places; i++) {
		int fd = c->fds[i * c->nr + event];
		uint64_t words[3];
		ssize_t got = fd < 0 ? 0 : m->ops->read(fd, words, 3);

		if (fd < 0)
			continue;
		if (got != sizeof(words))
			return got < 0 ? got : -EAGAIN;
		sum.value += words[0];
		sum.enabled_ns += words[1];
		sum.running_ns += words[2];
	}
	*ret = sum;
	return 0;
}

int cores_read(struct meter *m, const struct meter_sink *sink)
{
	struct meter_cores *c = &m->cores;
	struct stat_segment s = {
		.pmu = m->core_number,
		.start_ns = c->start_ns,
		.counters = m->counters,
		.readings = m->readings,
	};
	uint64_t begin = m->ops->now(), end;
	int err = 0;

	if (!c->nr)
		return 0;
	for (size_t i = 0; i < c->nr && !err; i++)
		err = read_event(m, i, &c->now[i]);
	end = m->ops->now();
	c->cost.readings++;
	c->cost.read_ns += end - begin;
	c->cost.failed += err != 0;
	/* Counts go on: the next good reading has what this one did not give. */
	if (err)
		return 0;
	s.end_ns = begin + (end - begin) / 2;
	for (size_t i = 0; i < c->nr; i++) {
		if (m->refused[c->wants[i]])
			continue;
		m->counters[s.nr] = c->wants[i];
		m->readings[s.nr++] =
			(struct reading){ c->now[i].value - c->last[i].value,
					  c->now[i].enabled_ns - c->last[i].enabled_ns,
					  c->now[i].running_ns - c->last[i].running_ns };
		c->last[i] = c->now[i];
	}
	c->start_ns = s.end_ns;
	return s.nr ? sink->segment(sink->arg, &s) : 0;
}
