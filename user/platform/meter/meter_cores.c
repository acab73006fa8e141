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
#include "platform/pmu/gain.h"

/* In a shorter window than this, how long it takes to switch events on is a part of it. */
#define STANDS_NS (NS_PER_S / 100)

static int add_place(struct meter *m, int pid, int cpu)
{
	struct meter_cores *c = &m->cores;
	struct meter_place p = { .pid = pid, .cpu = cpu, .since_ns = c->looked_ns };

	if (array_reserve(c->places, c->cap_places, c->nr_places))
		return -ENOMEM;
	p.fds = calloc(c->nr, sizeof(*p.fds));
	p.last = calloc(3 * c->nr, sizeof(*p.last));
	if (!p.fds || !p.last) {
		free(p.fds);
		free(p.last);
		return -ENOMEM;
	}
	p.now = p.last + c->nr;
	p.gained = p.now + c->nr;
	for (size_t i = 0; i < c->nr; i++)
		p.fds[i] = -ENODEV;
	c->places[c->nr_places++] = p;
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
		return add_place(m, m->o.pid, -1);
	snprintf(path, sizeof(path), "/proc/%d/task", m->o.pid);
	dir = opendir(path);
	if (!dir)
		return diag_fail(d, -errno, "process %d: %s", m->o.pid, strerror(errno));
	while (!err && (e = readdir(dir))) {
		uint64_t tid;

		if (!parse_u64(e->d_name, &tid) && tid <= INT32_MAX)
			err = add_place(m, tid, -1);
	}
	return err;
}

static int read_online(const struct meter *m, struct cpulist *ret)
{
	char line[CPULIST_TEXT_LEN];
	int err = sysfs_read(m->fs, line, sizeof(line), "devices/system/cpu/online");

	return err ? err : cpulist_parse(line, ret);
}

static int find_cpus(struct meter *m, struct diag *d)
{
	struct cpulist cpus;
	int err = read_online(m, &cpus);

	if (err)
		return diag_fail(d, err, "%s/devices/system/cpu/online: %s", m->fs->root,
				 strerror(-err));
	for (int cpu = -1; !err && (cpu = cpulist_next(&cpus, cpu)) >= 0;)
		err = add_place(m, -1, cpu);
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

/* A place that is gone says nothing about the event: any other reason is better. */
static void refuse(struct meter *m, uint32_t want, int err)
{
	if (!m->refused[want] || is_gone(m->refused[want]))
		m->refused[want] = err;
}

/*
 * Open all events at one place. An event that does not fit beside the others of its set
 * starts a group of its own; the kernel then lets the groups take turns.
 */
static int open_place(struct meter *m, const struct meter_place *place)
{
	struct meter_cores *c = &m->cores;
	int *fds = place->fds, leader = -1;
	uint32_t set = 0;

	for (size_t i = 0; i < c->nr; i++) {
		uint32_t want = c->wants[i];
		uint32_t its_set = m->wants->wants[want].set;

		if (!its_set || its_set != set)
			leader = -1;
		set = its_set;
		fds[i] = open_one(m, place, want, leader);
		if (fds[i] == -EINVAL && leader >= 0) {
			leader = -1;
			fds[i] = open_one(m, place, want, leader);
		}
		if (fds[i] == -EMFILE || fds[i] == -ENFILE || fds[i] == -ENOMEM)
			return fds[i];
		if (fds[i] >= 0 && leader < 0)
			leader = fds[i];
	}
	return 0;
}

/* An event that is open anywhere counts there, whatever places are gone. */
static void find_refused(struct meter *m)
{
	const struct meter_cores *c = &m->cores;

	for (size_t i = 0; i < c->nr; i++) {
		bool open = false;

		for (size_t k = 0; k < c->nr_places; k++) {
			int fd = c->places[k].fds[i];

			open |= fd >= 0;
			if (fd < 0)
				refuse(m, c->wants[i], fd);
		}
		if (open && is_gone(m->refused[c->wants[i]]))
			m->refused[c->wants[i]] = 0;
	}
}

/* Leaders of groups were opened disabled; siblings follow them. */
static int start(struct meter *m, struct meter_place *place)
{
	int err = 0;

	place->since_ns = m->ops->now();
	if (m->o.pid && m->o.enable_on_exec)
		return 0;
	for (size_t i = 0; i < m->cores.nr && !err; i++)
		err = place->fds[i] < 0 ? 0 : m->ops->enable(place->fds[i]);
	return err;
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

	c->look_ns = UINT64_MAX;
	if (!c->nr)
		return 0;
	c->gained = calloc(c->nr, sizeof(*c->gained));
	if (!c->gained)
		return -ENOMEM;
	for (size_t i = 0; i < c->nr_places && !err; i++)
		err = open_place(m, &c->places[i]);
	if (err)
		return err;
	find_refused(m);
	c->start_ns = c->looked_ns = m->ops->now();
	if (!m->o.pid)
		c->look_ns = c->looked_ns + CARE_SOON_NS;
	for (size_t i = 0; i < c->nr_places && !err; i++) {
		c->places[i].online = true;
		err = start(m, &c->places[i]);
	}
	return err;
}

void cores_close(struct meter *m)
{
	struct meter_cores *c = &m->cores;

	for (size_t i = 0; i < c->nr_places; i++) {
		perf_events_close(m->ops, c->places[i].fds, c->nr);
		free(c->places[i].fds);
		free(c->places[i].last);
	}
	free(c->wants);
	free(c->places);
	free(c->gained);
	*c = (struct meter_cores){ 0 };
}

/* --- reading */

static int read_event(const struct meter *m, const struct meter_place *p, size_t event,
		      uint64_t begin_ns)
{
	uint64_t words[3], window_ns = UINT64_MAX;
	ssize_t got = m->ops->read(p->fds[event], words, 3);
	int err;

	if (got != sizeof(words))
		return got < 0 ? got : -EAGAIN;
	/* Events of a task include the times of its children. */
	if (!m->o.pid)
		window_ns = m->ops->now() - p->since_ns;
	p->now[event] = (struct reading){ words[0], words[1], words[2] };
	err = gain_between(&p->last[event], &p->now[event], window_ns, &p->gained[event]);
	/*
	 * An event that stays open continues from its current count; counts until then are missing.
	 */
	if (err && m->cores.failures) {
		p->gained[event] = (struct reading){ .enabled_ns = begin_ns - p->since_ns };
		err = 0;
	}
	return err;
}

/*
 * The gain of a place, in @gained. A CPU that went off and came back unseen has events that
 * stand: no time has passed for them. That time is missing, as where a CPU has no event yet.
 */
static int read_place(struct meter *m, struct meter_place *p, uint64_t begin_ns)
{
	uint64_t window_ns = begin_ns - p->since_ns;
	bool of_cpu = !m->o.pid && p->online;
	int err = 0;

	p->stands = false;
	memset(p->gained, 0, m->cores.nr * sizeof(*p->gained));
	for (size_t i = 0; i < m->cores.nr && !err; i++) {
		bool stands = of_cpu && is_gone(p->fds[i]);

		if (p->fds[i] >= 0) {
			err = read_event(m, p, i, begin_ns);
			stands = of_cpu && !err && window_ns > STANDS_NS &&
				 p->gained[i].enabled_ns < window_ns / 2;
		}
		if (stands)
			p->gained[i].enabled_ns = window_ns;
		p->stands |= stands;
	}
	/* A CPU that is off need not be readable. */
	return p->online ? err : 0;
}

static void use_place(struct meter *m, struct meter_place *p, uint64_t begin_ns)
{
	for (size_t i = 0; i < m->cores.nr; i++) {
		m->cores.gained[i].value += p->gained[i].value;
		m->cores.gained[i].enabled_ns += p->gained[i].enabled_ns;
		m->cores.gained[i].running_ns += p->gained[i].running_ns;
	}
	memcpy(p->last, p->now, m->cores.nr * sizeof(*p->last));
	p->since_ns = begin_ns;
}

/* For a CPU that has come online: it was not counted since @since_ns at most. */
static void open_again(struct meter *m, struct meter_place *p, uint64_t since_ns)
{
	uint64_t now = m->ops->now();

	for (size_t i = 0; i < m->cores.nr; i++)
		m->cores.gained[i].enabled_ns += now - since_ns;
	perf_events_close(m->ops, p->fds, m->cores.nr);
	memset(p->last, 0, 3 * m->cores.nr * sizeof(*p->last));
	for (size_t i = 0; i < m->cores.nr; i++)
		p->fds[i] = -ENODEV;
	/* A failure leaves a gap, and is tried again. */
	open_place(m, p);
	start(m, p);
}

static bool has_place(const struct meter_cores *c, int cpu)
{
	for (size_t i = 0; i < c->nr_places; i++)
		if (c->places[i].cpu == cpu)
			return true;
	return false;
}

int cores_look(struct meter *m)
{
	struct meter_cores *c = &m->cores;
	uint64_t now = m->ops->now();
	struct cpulist cpus;
	int err = 0;

	c->look_ns = now + CARE_SOON_NS;
	/* If the list of online CPUs cannot be read, places stay as they are. */
	if (read_online(m, &cpus))
		return 0;
	for (int cpu = -1; !err && (cpu = cpulist_next(&cpus, cpu)) >= 0;)
		if (!has_place(c, cpu))
			err = add_place(m, -1, cpu);
	for (size_t i = 0; i < c->nr_places && !err; i++) {
		struct meter_place *p = &c->places[i];
		bool was = p->online, is = cpulist_contains(&cpus, p->cpu);

		if (is == was && !(is && p->stands))
			continue;
		/* Its count before it went off. */
		p->online = was && is;
		if (!read_place(m, p, now))
			use_place(m, p, now);
		if (is)
			open_again(m, p, was ? p->since_ns : c->looked_ns);
		p->online = is;
	}
	c->looked_ns = now;
	return err;
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
	uint64_t begin, end;
	int err = 0;

	if (!c->nr)
		return 0;
	if (!m->o.pid)
		err = cores_look(m);
	if (err)
		return err;
	begin = m->ops->now();
	for (size_t i = 0; i < c->nr_places && !err; i++)
		err = read_place(m, &c->places[i], begin);
	end = m->ops->now();
	c->cost.readings++;
	c->cost.read_ns += end - begin;
	c->cost.failed += err != 0;
	/* Counts go on: the next good reading has what this one did not give. */
	c->failures = err ? c->failures + 1 : 0;
	if (err)
		return 0;
	s.end_ns = begin + (end - begin) / 2;
	for (size_t i = 0; i < c->nr_places; i++)
		use_place(m, &c->places[i], begin);
	for (size_t i = 0; i < c->nr; i++) {
		if (m->refused[c->wants[i]])
			continue;
		m->counters[s.nr] = c->wants[i];
		m->readings[s.nr++] = c->gained[i];
	}
	memset(c->gained, 0, c->nr * sizeof(*c->gained));
	c->start_ns = s.end_ns;
	return s.nr ? sink->segment(sink->arg, &s) : 0;
}
