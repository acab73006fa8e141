// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Counters that user programs print (--source): each program is started, and its output becomes
 * windows. CPU time is cut where they end, as BPF does where it reads counters itself. The last one
 * may be that which tells who uses GPUs (--gpu).
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/times.h"
#include "live/lookup/live_readers.h"
#include "live/program/gpu.h"
#include "live/program/program.h"
#include "live/sources/source.h"
#include "trace/header.h"

/* CPU time is cut this many times while a line is under way. */
#define LATE_CUTS      4
/* The longest delay decays by one part of these with each faster line. */
#define LATE_FORGOTTEN 8

/*
 * @items, @nr: in the order of the options
 * @watched: by program, the descriptor that @events has, -1 for none
 * @events: readable when one of them has printed something
 * @late_ns: recent delay of lines after their times
 * @marked_ns: the last cut of CPU time
 * @cut_ns: the next cut at the latest
 * @gpu: the last of @items tells who uses GPUs (--gpu)
 * @gpu_command: its command
 * @gpu_note: why it does not, "" for no reason
 * @domains, @nr_domains: sets of CPUs in the headers; @rest: all other CPUs
 */
struct programs {
	struct source_context *c;
	struct program *items;
	size_t nr;
	int *watched;
	int events;
	uint64_t late_ns;
	uint64_t marked_ns;
	uint64_t cut_ns;
	bool gpu;
	char gpu_command[GPU_COMMAND_LEN];
	char gpu_note[512];
	struct cpu_socket *domains;
	size_t nr_domains;
	struct cpulist rest;
};

static bool wants_gpu(const struct run_options *args)
{
	return args->devices.nr && args->gpu && strcmp(args->gpu, "none") != 0;
}

static bool wanted(const struct run_options *args)
{
	return args->sources.nr || wants_gpu(args);
}

/* --- sets of CPUs */

static struct program_counter *counter_at(const struct programs *s, size_t i)
{
	for (size_t p = 0; p < s->nr; p++) {
		if (i < s->items[p].header.nr)
			return &s->items[p].header.counters[i];
		i -= s->items[p].header.nr;
	}
	return NULL;
}

static int wrong_cpus(const struct program_counter *c, const char *what, struct diag *d)
{
	diag_fail(d, -EINVAL, "counter %s: %s", c->counter.name, what);
	return diag_advise(d, -EINVAL, "a CPU is in one set only, and a set has one socket number");
}

/* A set of CPUs acts as a socket; two counters may share it. */
static int add_domain(struct programs *s, const struct program_counter *c, struct diag *d)
{
	for (size_t i = 0; i < s->nr_domains; i++) {
		const struct cpu_socket *known = &s->domains[i];
		bool same = !memcmp(known->cpus, &c->cpus, sizeof(c->cpus));

		if (same && known->id == c->socket)
			return 0;
		if (same || known->id == c->socket)
			return wrong_cpus(c, "its socket has other CPUs elsewhere", d);
		for (int cpu = -1; (cpu = cpulist_next(&c->cpus, cpu)) >= 0;)
			if (cpulist_contains(known->cpus, cpu))
				return wrong_cpus(c, "some of its CPUs are in another set", d);
	}
	s->domains[s->nr_domains++] = (struct cpu_socket){ c->socket, &c->cpus };
	return 0;
}

/* Online CPUs in no set form a set of their own, without counters. */
static int add_rest(struct programs *s, struct diag *d)
{
	char line[CPULIST_TEXT_LEN];
	struct cpulist online;
	uint32_t id = 0;
	int err = sysfs_read(s->c->sysfs, line, sizeof(line), "devices/system/cpu/online");

	if (!err)
		err = cpulist_parse(line, &online);
	if (err)
		return diag_error(d, err, "cannot read which CPUs are online");
	for (size_t i = 0; i < s->nr_domains; i++) {
		id = s->domains[i].id >= id ? s->domains[i].id + 1 : id;
		for (size_t w = 0; w < ARRAY_SIZE(online.bits); w++)
			online.bits[w] &= ~s->domains[i].cpus->bits[w];
	}
	s->rest = online;
	if (cpulist_count(&s->rest))
		s->domains[s->nr_domains++] = (struct cpu_socket){ id, &s->rest };
	return 0;
}

/* If memory counters define the sockets, sets must match them: see place(). */
static int find_domains(struct programs *s, struct diag *d)
{
	const struct program_counter *counter;
	size_t nr = 0;
	int err = 0;

	for (size_t i = 0; (counter = counter_at(s, i)); i++)
		nr += counter->cpus_given;
	if (!nr || s->c->counters->nr_sockets)
		return 0;
	s->domains = calloc(nr + 1, sizeof(*s->domains));
	if (!s->domains)
		return diag_no_memory(d);
	for (size_t i = 0; (counter = counter_at(s, i)) && !err; i++)
		err = counter->cpus_given ? add_domain(s, counter, d) : 0;
	if (!err)
		err = add_rest(s, d);
	s->c->domains = s->domains;
	s->c->nr_domains = s->nr_domains;
	return err;
}

/* --- start */

static int unique_name(const struct programs *s, size_t i, struct diag *d)
{
	for (size_t k = 0; k < i; k++) {
		if (strcmp(s->items[k].name, s->items[i].name) != 0)
			continue;
		diag_fail(d, -EINVAL, "two sources are called %s", s->items[i].name);
		return diag_advise(d, -EINVAL, "the name in the header of one has to change");
	}
	return 0;
}

/* Without it the run goes on. */
__attribute__((format(printf, 2, 3))) static void no_gpu(struct programs *s, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	str_copy(s->gpu_note, sizeof(s->gpu_note), "users of GPUs are not known: ");
	vsnprintf(s->gpu_note + strlen(s->gpu_note), sizeof(s->gpu_note) - strlen(s->gpu_note), fmt,
		  args);
	va_end(args);
}

/* The command of the program for GPUs; NULL: none. Where no driver is loaded nothing is touched. */
static const char *find_gpu(struct programs *s)
{
	struct diag d = { 0 };

	if (!wants_gpu(s->c->args))
		return NULL;
	if (strcmp(s->c->args->gpu, "auto") != 0)
		return s->c->args->gpu;
	if (!s->c->gpu_driver)
		return NULL;
	if (!gpu_reader(&d, s->gpu_command, sizeof(s->gpu_command)))
		return s->gpu_command;
	no_gpu(s, "%s; %s", d.what, d.help);
	return NULL;
}

/* It may come later, unless it cannot. */
static int greet_gpu(struct programs *s, uint64_t deadline_ns)
{
	struct program *p = &s->items[s->nr - 1];
	struct diag d = { 0 };
	int err = program_greet(p, deadline_ns, &d);

	if (err == -ENOMEM)
		return err;
	if (!err && unique_name(s, s->nr - 1, &d)) {
		no_gpu(s, "%s", d.what);
	} else if (err) {
		no_gpu(s, "%.400s%s", d.what, program_cannot_run(p) ? "" : " (it is tried again)");
		if (!program_cannot_run(p))
			return 0;
	} else {
		return 0;
	}
	program_free(p);
	s->nr--;
	s->gpu = false;
	return 0;
}

/* Start all at once, and then wait for each: most are slow to start. */
static int find(void *data, struct source_context *c, struct diag *d)
{
	const struct text_list *commands = &c->args->sources;
	struct programs *s = data;
	uint64_t deadline_ns;
	const char *gpu;
	int err = 0;

	s->c = c;
	s->events = -1;
	s->cut_ns = UINT64_MAX;
	s->items = calloc(commands->nr + 1, sizeof(*s->items));
	s->watched = calloc(commands->nr + 1, sizeof(*s->watched));
	if (!s->items || !s->watched)
		return diag_no_memory(d);
	s->events = epoll_create1(EPOLL_CLOEXEC);
	if (s->events < 0)
		return diag_fail(d, -errno, "cannot wait for sources: %s", strerror(errno));
	while (s->nr < commands->nr && !err) {
		s->watched[s->nr] = -1;
		err = program_open(&s->items[s->nr], commands->items[s->nr], s->nr + 1, d);
		s->nr++;
	}
	gpu = err ? NULL : find_gpu(s);
	if (gpu) {
		s->gpu = true;
		s->watched[s->nr] = -1;
		s->items[s->nr].optional = true;
		program_open(&s->items[s->nr++], gpu, 0, d);
	}
	deadline_ns = monotonic_ns() + PROGRAM_GREET_NS;
	for (size_t i = 0; i < commands->nr && !err; i++) {
		err = program_greet(&s->items[i], deadline_ns, d);
		if (!err)
			err = unique_name(s, i, d);
	}
	if (!err && s->gpu && greet_gpu(s, deadline_ns))
		err = diag_no_memory(d);
	return err ? err : find_domains(s, d);
}

/* --- place in the trace */

static bool same_cpus(const struct cpu_map *m, uint32_t socket, const struct cpulist *cpus)
{
	for (uint32_t cpu = 0; cpu < m->nr_cpus; cpu++)
		if (cpulist_contains(cpus, cpu) && m->socket[cpu] != socket &&
		    m->socket[cpu] != CPU_NO_SOCKET)
			return false;
	for (uint32_t cpu = 0; cpu < m->nr_cpus; cpu++)
		if (m->socket[cpu] == socket && !cpulist_contains(cpus, cpu))
			return false;
	return cpulist_next(cpus, m->nr_cpus - 1) < 0;
}

static int no_socket(const struct program_counter *c, const struct cpu_map *m, struct diag *d)
{
	char ids[200] = "";

	for (uint32_t i = 0; i < m->nr_sockets; i++)
		str_append(ids, sizeof(ids), "%s%u", i ? ", " : "", m->socket_ids[i]);
	if (c->socket_given)
		diag_fail(d, -EINVAL, "counter %s: there is no socket %u", c->counter.name,
			  c->socket);
	else
		diag_fail(d, -EINVAL, "counter %s: its header does not say of which socket",
			  c->counter.name);
	return diag_advise(d, -EINVAL, "sockets are %s", ids);
}

/* The index of a counter's socket. */
static int place(const struct programs *s, const struct program_counter *c, struct diag *d,
		 uint32_t *ret)
{
	const struct cpu_map *m = s->c->cpus;
	uint32_t i = 0;

	while (c->socket_given && i < m->nr_sockets && m->socket_ids[i] != c->socket)
		i++;
	if (i == m->nr_sockets || (!c->socket_given && m->nr_sockets > 1))
		return no_socket(c, m, d);
	*ret = i;
	if (!c->cpus_given || s->nr_domains || same_cpus(m, i, &c->cpus))
		return 0;
	diag_fail(d, -EINVAL, "counter %s: its CPUs are not those of socket %u", c->counter.name,
		  c->socket);
	return diag_advise(d, -EINVAL,
			   "the PMUs of this machine count for whole sockets: leave \"cpus\" out, "
			   "or leave them out (--no-counters)");
}

/* The device that -D chose with this address; the number from 1, 0 = it chose none. */
static uint32_t chosen(const struct trace_header *h, const char *address)
{
	for (size_t i = 0; i < h->nr_devices; i++)
		if (!strcmp(h->devices[i].bdf, address))
			return i + 1;
	return 0;
}

/* A link as the GPU itself counts it: beside the one that this machine's counters tell. */
static int add_link(struct trace_header *h, uint32_t function, uint32_t *ret)
{
	struct device link = h->devices[function - 1];

	str_append(link.bdf, sizeof(link.bdf), "/gpm");
	*ret = chosen(h, link.bdf);
	if (*ret)
		return 0;
	if (h->nr_devices == TRACE_MAX_DEVICES)
		return -E2BIG;
	link.name[0] = link.uuid[0] = '\0';
	link.link = LINK_UNKNOWN;
	link.kind = DEVICE_LINK;
	link.filter = DEVICE_BY_LINK;
	link.port = 0;
	link.io = IO_NONE;
	link.function = function;
	h->c2c = true;
	*ret = h->nr_devices + 1;
	return header_add_devices(h, &link, 1);
}

/* Where a counter of a device has its place, if the device was chosen. */
static int place_of_device(struct programs *s, const struct program *p, struct program_counter *c,
			   uint32_t *ret_socket)
{
	struct trace_header *h = s->c->header;
	uint32_t function = chosen(h, p->header.devices[c->device - 1].address);
	int err = function ? add_link(h, function, &c->counter.device) : 0;

	/* Where it is may not be known; sockets differ by very little. */
	*ret_socket = function && h->devices[function - 1].socket < h->layout.nr_sockets
			      ? h->devices[function - 1].socket
			      : 0;
	return err;
}

static int add_counter(struct programs *s, struct program *p, size_t i, struct diag *d)
{
	struct layout *l = &s->c->header->layout;
	struct program_counter *c = &p->header.counters[i];
	struct group group = { .nr = 1 };
	int err =
		c->device ? place_of_device(s, p, c, &group.socket) : place(s, c, d, &group.socket);

	p->windows.groups[i] = PROGRAM_NO_GROUP;
	if (err)
		return c->device ? diag_error(d, err, "cannot describe the links of devices") : err;
	if (c->device && !c->counter.device)
		return 0;
	if (l->nr_counters >= TRACE_MAX_COUNTERS)
		return diag_fail(d, -E2BIG, "a trace has room for %d counters", TRACE_MAX_COUNTERS);
	for (size_t k = 0; k < l->nr_counters; k++) {
		const struct counter *other = &l->counters[k];

		if (!strcmp(other->name, c->counter.name))
			return diag_fail(d, -EINVAL, "there is a counter %s already",
					 c->counter.name);
		/* Their sum would be twice what the link moved. */
		if (c->device && other->device == c->counter.device &&
		    strcmp(other->pmu, c->counter.pmu) != 0)
			return diag_fail(d, -EINVAL, "sources %s and %s both count the link of %s",
					 other->pmu, p->name,
					 p->header.devices[c->device - 1].address);
	}
	c->counter.socket = group.socket;
	c->counter.group = 0;
	p->windows.groups[i] = l->nr_groups;
	err = header_add_counters(s->c->header, &c->counter, 1, &group, 1);
	return err ? diag_error(d, err, "cannot describe the counters of sources") : 0;
}

/* No counter of an optional program ends the run. */
static int add_counters(struct programs *s, struct program *p, struct diag *d)
{
	int err = 0;

	for (size_t i = 0; i < p->header.nr && !err; i++) {
		struct diag why = { 0 };

		err = add_counter(s, p, i, p->optional ? &why : d);
		if (p->optional && err != -ENOMEM)
			err = 0;
	}
	return err;
}

/* The program before this one that tells who uses a device. */
static const struct program *teller_of(const struct programs *s, const struct program *p,
				       uint32_t device)
{
	for (const struct program *other = s->items; other < p; other++)
		for (size_t n = 0; n < other->header.nr_devices; n++)
			if (other->looks[n].device == device)
				return other;
	return NULL;
}

/*
 * Users are told of devices that -D chose: the others are none of this run. What the user's own
 * program tells is not asked of the one for GPUs.
 */
static int find_device(const struct programs *s, struct program *p, size_t i, struct diag *d)
{
	const struct program_device *told = &p->header.devices[i];
	struct trace_header *h = s->c->header;
	const struct program *other;
	uint32_t k = 0;

	while (k < h->nr_devices && strcmp(h->devices[k].bdf, told->address) != 0)
		k++;
	if (k == h->nr_devices)
		return 0;
	other = teller_of(s, p, k);
	if (other)
		return p->optional ? 0
				   : diag_fail(d, -EINVAL,
					       "sources %s and %s both tell who uses device %s",
					       other->name, p->name, told->address);
	p->looks[i].device = k;
	/* The header of a trace that has begun stays as it is. */
	if (p->windows.begin_ns != UINT64_MAX)
		return 0;
	h->contexts = true;
	h->devices[k].link = told->link;
	str_copy(h->devices[k].uuid, sizeof(h->devices[k].uuid), told->uuid);
	return 0;
}

static int open_all(void *data, struct source_context *c, struct diag *d)
{
	struct programs *s = data;
	int err = 0;

	for (size_t p = 0; p < s->nr && !err; p++) {
		struct program *one = &s->items[p];

		one->windows.nr = one->header.nr;
		one->windows.out = c->out;
		one->windows.window_ns = c->args->window_ns;
		one->placed = true;
		c->cuts |= one->header.nr > 0 && !one->optional;
		/* A header that comes later has devices, too. */
		c->header->contexts |= one->optional && !one->header.name[0];
		err = add_counters(s, one, d);
		for (size_t i = 0; i < one->header.nr_devices && !err; i++)
			err = find_device(s, one, i, d);
	}
	return err;
}

/* --- while it runs */

/* A descriptor that is not read now must not wake us. */
static void watch(struct programs *s, size_t i)
{
	struct epoll_event event = { .events = EPOLLIN };
	int fd = program_fd(&s->items[i]);

	if (fd == s->watched[i])
		return;
	/* A closed descriptor has left the epoll set already. */
	if (s->watched[i] >= 0)
		epoll_ctl(s->events, EPOLL_CTL_DEL, s->watched[i], NULL);
	s->watched[i] = fd;
	if (fd >= 0 && epoll_ctl(s->events, EPOLL_CTL_ADD, fd, &event) && errno != EEXIST)
		s->watched[i] = -1;
}

/* Cut CPU time on a program's sockets, unless BPF reads counters of the socket. */
static void cut(const struct programs *s, const struct program *p, uint64_t ns)
{
	for (size_t i = 0; i < p->header.nr; i++) {
		uint32_t socket = p->header.counters[i].counter.socket;

		if (!p->header.counters[i].device && !live_readers_on(s->c->counters, socket))
			ledger_mark(s->c->ledger, socket, ns);
	}
}

/* Cuts finer than windows are useless, and a quarter of the delay blurs little. */
static uint64_t cut_every_ns(const struct programs *s)
{
	return later(s->c->args->window_ns, s->late_ns / LATE_CUTS);
}

/*
 * CPU time is cut at the newest reading. A late line would cut only when it arrives: if lines are
 * late, CPU time is cut in between as well, to separate the tasks before and after a reading that
 * arrives later.
 */
static void note_reading(struct programs *s, const struct program *p)
{
	uint64_t now = monotonic_ns(), late = now - earlier(p->windows.last_ns, now);

	s->late_ns = later(late, s->late_ns - s->late_ns / LATE_FORGOTTEN);
	if (p->windows.last_ns > s->marked_ns || s->cut_ns == UINT64_MAX)
		cut(s, p, p->windows.last_ns);
	s->marked_ns = later(s->marked_ns, p->windows.last_ns);
	if (s->late_ns <= s->c->args->window_ns)
		s->cut_ns = UINT64_MAX;
	else if (s->cut_ns == UINT64_MAX)
		s->cut_ns = now + cut_every_ns(s);
}

static void cut_between(struct programs *s, uint64_t now)
{
	if (now < s->cut_ns)
		return;
	for (size_t i = 0; i < s->nr; i++)
		cut(s, &s->items[i], now);
	s->marked_ns = now;
	s->cut_ns = now + cut_every_ns(s);
}

static int start(void *data, struct diag *d)
{
	struct programs *s = data;
	uint64_t now = monotonic_ns();

	(void)d;
	for (size_t i = 0; i < s->nr; i++) {
		program_begin(&s->items[i], now);
		watch(s, i);
	}
	return 0;
}

static uint64_t next_ns(const void *data)
{
	const struct programs *s = data;
	uint64_t next = s->cut_ns;

	for (size_t i = 0; i < s->nr; i++)
		next = earlier(next, program_next_ns(&s->items[i]));
	return next;
}

static int each(struct programs *s, int (*function)(struct program *, uint64_t))
{
	int err = 0;

	for (size_t i = 0; i < s->nr && !err; i++) {
		struct program *p = &s->items[i];
		uint64_t last = p->windows.last_ns;

		err = function(p, monotonic_ns());
		for (size_t n = 0; n < p->header.nr_devices && !p->placed; n++)
			find_device(s, p, n, &(struct diag){ 0 });
		p->placed = true;
		if (p->windows.last_ns != last)
			note_reading(s, p);
		watch(s, i);
	}
	return err;
}

static int step(void *data, struct diag *d)
{
	(void)d;
	cut_between(data, monotonic_ns());
	return each(data, program_step);
}

/* An inner mark uses the windows read so far. */
static int mark(void *data, enum mark_kind kind, struct diag *d)
{
	(void)d;
	return kind == MARK_INNER ? 0 : each(data, program_mark);
}

static int events_fd(const void *data)
{
	const struct programs *s = data;

	return s->events;
}

static void quality(const void *data, struct quality *ret)
{
	const struct programs *s = data;

	for (size_t i = 0; i < s->nr; i++) {
		const struct program *p = &s->items[i];

		ret->invalid_windows += p->windows.failed + p->bad_lines;
		ret->bad_records += p->windows.bad;
		ret->counter_restarts += p->windows.restarts;
		ret->uncounted_ns += p->windows.uncounted_ns;
	}
}

static void describe(const void *data, size_t i, char *ret_text, size_t size)
{
	const struct programs *s = data;

	const struct program_header *h = i < s->nr ? &s->items[i].header : NULL;

	if (!h || !h->name[0])
		return;
	snprintf(ret_text, size, "%zu counter%s of source %s", h->nr, h->nr == 1 ? "" : "s",
		 s->items[i].name);
	if (h->nr_devices)
		str_append(ret_text, size, ", which tells the users of %zu device%s", h->nr_devices,
			   h->nr_devices == 1 ? "" : "s");
}

static const char *note(const void *data, size_t i)
{
	const char *notes[4] = { NULL };
	const struct programs *s = data;
	bool told = false, bytes = false;
	size_t nr = 0;

	for (size_t p = 0; p < s->nr; p++) {
		told |= s->items[p].header.nr_devices;
		bytes |= s->items[p].header.nr < s->items[p].header.nr_values;
	}
	if (told && !s->c->header->contexts)
		notes[nr++] = "sources tell who uses devices of which -D chose none";
	if (bytes)
		notes[nr++] =
			"bytes that sources count at devices are used of links alone (c2c_...)";
	if (s->gpu_note[0])
		notes[nr++] = s->gpu_note;
	return i < nr ? notes[i] : NULL;
}

static bool news(void *data, char *ret_text, size_t size)
{
	struct programs *s = data;

	for (size_t i = 0; i < s->nr; i++)
		if (program_news(&s->items[i], ret_text, size))
			return true;
	return false;
}

static bool trouble(const void *data, char *ret_text, size_t size)
{
	const struct programs *s = data;

	for (size_t i = 0; i < s->nr; i++)
		if (program_trouble(&s->items[i], monotonic_ns(), ret_text, size))
			return true;
	return false;
}

static void free_all(void *data)
{
	struct programs *s = data;

	for (size_t i = 0; i < s->nr; i++)
		program_close(&s->items[i]);
	for (size_t i = 0; i < s->nr; i++)
		program_free(&s->items[i]);
	if (s->c && s->events >= 0)
		close(s->events);
	free(s->items);
	free(s->watched);
	free(s->domains);
}

const struct live_source source_programs = {
	.order = SOURCE_BEFORE,
	.size = sizeof(struct programs),
	.wanted = wanted,
	.find = find,
	.open = open_all,
	.start = start,
	.next_ns = next_ns,
	.fd = events_fd,
	.step = step,
	.mark = mark,
	.quality = quality,
	.describe = describe,
	.note = note,
	.news = news,
	.trouble = trouble,
	.free = free_all,
};
