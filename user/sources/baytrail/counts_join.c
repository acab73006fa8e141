// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sources/baytrail/counts_join.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/cpulist.h"
#include "base/text.h"
#include "base/times.h"
#include "sources/baytrail/counts_clock.h"
#include "sources/baytrail/baytrail_rows.h"
#include "trace/header.h"

#define ONE_CHANNEL 32 /* bytes of a count */
/* A larger count is an error, and its bytes may not fit. */
#define MAX_COUNT   (1ull << 52)
/* One for each module, and one for CPUs in none */
#define MAX_SOCKETS (BAYTRAIL_MODULES + 1)
#define ALL_MODULES "0-1:2-3"
#define FIRST_AGENT "agent"

/* A line of counts, by counter of the group */
struct counted {
	uint64_t start_ns;
	uint64_t end_ns;
	bool known[BAYTRAIL_MAX_EVENTS];
	uint64_t counts[BAYTRAIL_MAX_EVENTS];
};

/*
 * @traffic: by event of the group; no agent: it counts no data, or the file lacks it
 * @counter: by event, its counter in the trace
 * @lines, @nr, @cap: the counts, in order; those before @at have been handed out
 * @recorded_ns: up to here the recording is complete
 * @first_ns: the recording begins here
 * @outside_ns: time of lines outside of the recording
 * @early: lines start before the recording
 */
struct counts_join {
	const struct counts_joining *o;
	struct counts counts;
	struct counts_clock clock;
	struct trace_header header;
	struct baytrail_traffic traffic[BAYTRAIL_MAX_EVENTS];
	uint32_t counter[BAYTRAIL_MAX_EVENTS];
	struct cpulist modules[BAYTRAIL_MODULES];
	struct counted *lines;
	size_t nr;
	size_t cap;
	size_t at;
	struct trace_sink out;
	bool begun;
	bool ended;
	bool early;
	uint64_t recorded_ns;
	uint64_t first_ns;
	uint64_t outside_ns;
	double offset_ns;
	struct diag *d;
};

/* --- the counts */

static int take_line(void *arg, const struct stat_segment *s)
{
	struct counts_join *j = arg;
	double from = (double)s->start_ns + j->offset_ns;
	/* Whole nanoseconds unless an offset is added. */
	int64_t offset = (int64_t)llround(j->offset_ns);
	struct counted *line;

	if (from < 0)
		return diag_fail(j->d, -ERANGE, "--counts-offset %s: counts are from before 0 then",
				 j->o->offset_s);
	if (array_reserve(j->lines, j->cap, j->nr))
		return -ENOMEM;
	line = &j->lines[j->nr++];
	*line = (struct counted){ .start_ns = s->start_ns + offset, .end_ns = s->end_ns + offset };
	for (uint32_t i = 0; i < s->nr; i++) {
		uint32_t event = s->counters[i];

		if (s->readings[i].value > MAX_COUNT)
			return diag_fail(j->d, -EBADMSG, "%s: %llu is too large for a count",
					 j->o->file, (unsigned long long)s->readings[i].value);
		line->known[event] = true;
		line->counts[event] = s->readings[i].value;
		baytrail_traffic(j->counts.layout.counters[event].event, &j->traffic[event]);
	}
	return 0;
}

static int read_offset(struct counts_join *j, struct diag *d)
{
	double seconds = 0;

	if (j->o->offset_s && (parse_double(j->o->offset_s, &seconds) || fabs(seconds) > 4e9))
		return diag_fail(d, -EINVAL, "--counts-offset %.40s: not a number of seconds",
				 j->o->offset_s);
	j->offset_ns = seconds * NS_PER_S;
	return 0;
}

static int read_counts(struct counts_join *j, struct diag *d)
{
	bool piped = !strcmp(j->o->file, "-");
	FILE *in = piped ? stdin : fopen(j->o->file, "re");
	int err;

	if (!in)
		return diag_fail(d, -errno, "cannot read %s: %s", j->o->file, strerror(errno));
	err = counts_read(&j->counts, in, piped ? "standard input" : j->o->file, take_line, j, d);
	if (!piped)
		fclose(in);
	if (!err && !j->nr)
		err = diag_fail(d, -ENODATA, "%s: no two lines of counts", j->o->file);
	return err;
}

/* Convert all times to the recording's clock. */
static int match_clocks(struct counts_join *j, struct diag *d)
{
	int err;

	if (j->counts.relative && !j->o->offset_s) {
		diag_fail(d, -ERANGE, "%s: it does not say when counts were, only for how long",
			  j->o->file);
		return diag_advise(d, -ERANGE,
				   "have times in it (time_ns, time_s), or say with "
				   "--counts-offset SECONDS when it begins");
	}
	err = counts_clock_read(j->o->recording, d, &j->clock);
	if (!err)
		err = counts_clock_choose(&j->clock, j->lines[0].start_ns,
					  j->lines[j->nr - 1].end_ns, d);
	for (size_t i = 0; i < j->nr && !err; i++) {
		struct counted *line = &j->lines[i];

		line->start_ns = counts_clock_ns(&j->clock, line->start_ns);
		line->end_ns = later(counts_clock_ns(&j->clock, line->end_ns), line->start_ns + 1);
		if (i)
			line->start_ns = later(line->start_ns, line[-1].end_ns);
	}
	return err;
}

/* --- the header */

/* "0-1:2-3" */
static bool take_modules(const char *text, struct cpulist modules[BAYTRAIL_MODULES])
{
	char part[256];
	bool both = false;

	for (int m = 0; m < BAYTRAIL_MODULES; m++) {
		size_t len;

		if (m && *text++ != ':')
			return false;
		len = strcspn(text, ":");
		if (len >= sizeof(part))
			return false;
		snprintf(part, sizeof(part), "%.*s", (int)len, text);
		text += len;
		if (cpulist_parse(part, &modules[m]) || !cpulist_count(&modules[m]))
			return false;
	}
	for (size_t w = 0; w < ARRAY_SIZE(modules[0].bits); w++)
		both |= modules[0].bits[w] & modules[1].bits[w];
	return !*text && !both;
}

static int read_modules(struct counts_join *j, struct diag *d)
{
	const char *text = j->o->modules ? j->o->modules : ALL_MODULES;

	if (take_modules(text, j->modules))
		return 0;
	diag_fail(d, -EINVAL, "--modules %.64s: not the CPUs of two modules", text);
	return diag_advise(d, -EINVAL, "as in %s: those of module 0, a colon, those of module 1",
			   ALL_MODULES);
}

static bool is_of_module(const struct baytrail_traffic *t)
{
	return t->agent &&
	       (t->agent->owner == BAYTRAIL_MODULE0 || t->agent->owner == BAYTRAIL_MODULE1);
}

/* Counts by module are split among the tasks of its CPUs alone: a module acts as a socket. */
static bool by_module(const struct counts_join *j)
{
	for (int i = 0; i < BAYTRAIL_MAX_EVENTS; i++)
		if (is_of_module(&j->traffic[i]))
			return true;
	return false;
}

static uint32_t socket_of(const struct counts_join *j, uint32_t cpu)
{
	uint32_t m = 0;

	while (m < BAYTRAIL_MODULES && !cpulist_contains(&j->modules[m], cpu))
		m++;
	return m;
}

static int add_sockets(struct counts_join *j, const struct layout *from, struct diag *d)
{
	static const uint32_t ids[MAX_SOCKETS] = { 0, 1, 2 };
	bool modules = by_module(j);
	uint32_t *sockets = calloc(from->nr_cpus + 1, sizeof(*sockets));
	uint32_t nr[MAX_SOCKETS] = { 0 };
	int err;

	if (!sockets)
		return diag_no_memory(d);
	for (uint32_t cpu = 0; cpu < from->nr_cpus; cpu++) {
		sockets[cpu] = LAYOUT_NO_SOCKET;
		if (from->cpu_socket[cpu] == LAYOUT_NO_SOCKET)
			continue;
		sockets[cpu] = modules ? socket_of(j, cpu) : 0;
		nr[sockets[cpu]]++;
	}
	err = header_add_sockets(&j->header, sockets, from->nr_cpus, ids,
				 modules ? MAX_SOCKETS : 1);
	free(sockets);
	for (int i = 0; i < BAYTRAIL_MAX_EVENTS && !err; i++) {
		const struct baytrail_traffic *t = &j->traffic[i];
		uint32_t m = is_of_module(t) && t->agent->owner == BAYTRAIL_MODULE1;

		if (!is_of_module(t) || nr[m])
			continue;
		diag_fail(d, -EINVAL, "module %u has no CPU in %s", m, j->o->recording);
		return diag_advise(d, -EINVAL,
				   "--modules LIST:LIST says which CPUs are in which module "
				   "(default " ALL_MODULES ")");
	}
	return err ? diag_no_memory(d) : 0;
}

/* Bytes of devices in one direction go to the device; counts of both directions cannot be split. */
static bool has_device(const struct baytrail_traffic *t)
{
	return t->agent->owner == BAYTRAIL_DEVICE && t->direction != DIRECTION_READWRITE;
}

/* There is one device in a group, at most. */
static int add_device(struct counts_join *j, const struct baytrail_agent *agent, uint32_t *ret)
{
	struct device device = { .kind = DEVICE_AGENT, .filter = DEVICE_BY_TILE };
	int err = 0;

	if (!*ret) {
		str_copy(device.bdf, sizeof(device.bdf), FIRST_AGENT "0");
		str_copy(device.name, sizeof(device.name), agent->who);
		err = header_add_devices(&j->header, &device, 1);
		*ret = (uint32_t)j->header.nr_devices;
	}
	return err;
}

static int add_counter(struct counts_join *j, uint32_t event, uint32_t *device)
{
	const struct stat_counter *from = &j->counts.layout.counters[event];
	struct baytrail_traffic *t = &j->traffic[event];
	struct layout *l = &j->header.layout;
	struct counter c = { .source = SOURCE_ANY,
			     .direction = t->direction,
			     .estimate = t->estimate };
	struct group group = { .nr = 1 };
	int err = 0;

	if (t->agent->owner == BAYTRAIL_ANYBODY && j->o->counts.one_channel)
		t->bytes = ONE_CHANNEL;
	if (is_of_module(t)) {
		c.source = SOURCE_CPU;
		c.socket = t->agent->owner == BAYTRAIL_MODULE1;
	} else if (t->agent->owner == BAYTRAIL_DEVICE) {
		c.source = SOURCE_DEVICE;
		c.socket = l->nr_sockets - 1;
	}
	if (has_device(t))
		err = add_device(j, t->agent, device);
	c.device = has_device(t) ? *device : 0;
	group.socket = c.socket;
	str_copy(c.name, sizeof(c.name), from->name);
	str_copy(c.pmu, sizeof(c.pmu), j->counts.layout.pmus[0].name);
	str_copy(c.event, sizeof(c.event), from->event);
	j->counter[event] = (uint32_t)l->nr_counters;
	if (!err && l->nr_counters) {
		struct group *last = &l->groups[l->nr_groups - 1];
		const struct counter *before = &l->counters[l->nr_counters - 1];

		/* All of a socket or a device are read together. */
		if (before->socket == c.socket && before->device == c.device) {
			c.group = (uint32_t)-1;
			last->nr++;
			return header_add_counters(&j->header, &c, 1, NULL, 0);
		}
	}
	return err ? err : header_add_counters(&j->header, &c, 1, &group, 1);
}

/* Notes about the windows, for each report */
static void describe_windows(struct counts_join *j)
{
	struct host_info *host = &j->header.host;
	uint64_t ns = 0;

	for (size_t i = 0; i < j->nr; i++)
		ns += j->lines[i].end_ns - j->lines[i].start_ns;
	j->header.window_ns = ns / j->nr;
	str_copy(host->platform, sizeof(host->platform), "baytrail");
	str_copy(host->tick, sizeof(host->tick), "off");
	snprintf(host->tick_note, sizeof(host->tick_note),
		 "windows are the lines of %.200s, whose times are taken for %s; CPU time is cut "
		 "where intervals of the recording end",
		 j->o->file, j->clock.wall ? "the time of day" : "CLOCK_MONOTONIC");
}

static int make_header(struct counts_join *j, const struct trace_header *from, struct diag *d)
{
	struct trace_header *h = &j->header;
	uint32_t device = 0;
	int err;

	h->host = from->host;
	h->interval_ns = from->interval_ns;
	h->online = from->online;
	h->by_thread = from->by_thread;
	h->marked = true;
	h->all = from->all;
	h->nr_weights = from->nr_weights;
	memcpy(h->weights, from->weights, sizeof(h->weights));
	err = add_sockets(j, &from->layout, d);
	if (err)
		return err;
	err = header_add_selection(h, from->cgroups, from->nr_cgroups, from->jobs, from->nr_jobs);
	for (uint32_t i = 0; i < BAYTRAIL_MAX_EVENTS && !err; i++)
		if (j->traffic[i].agent)
			err = add_counter(j, i, &device);
	if (err)
		return diag_no_memory(d);
	describe_windows(j);
	return 0;
}

static int check_traffic(const struct counts_join *j, struct diag *d)
{
	for (int i = 0; i < BAYTRAIL_MAX_EVENTS; i++)
		if (j->traffic[i].agent)
			return 0;
	diag_fail(d, -ENODATA, "%s: %s has no counts of data that was moved", j->o->file,
		  j->counts.layout.pmus[0].name);
	return diag_advise(d, -ENODATA, "\"t410trace stat --counts\" shows what it has");
}

/* A recording with counters has its own sockets. */
static int check_recording(const struct trace_header *h, const char *path, struct diag *d)
{
	if (!h->layout.nr_groups && !h->nr_probes && !h->nr_parts && !h->nr_devices)
		return 0;
	diag_fail(d, -EINVAL, "%s has counters or devices of its own", path);
	return diag_advise(d, -EINVAL,
			   "for --counts record with \"t410trace record "
			   "--no-counters\", without -D and --source");
}

int counts_join_new(const struct counts_joining *o, const struct trace_header *header,
		    struct diag *d, struct counts_join **ret)
{
	struct counts_join *j = calloc(1, sizeof(*j));
	int err;

	if (!j)
		return diag_no_memory(d);
	j->o = o;
	j->d = d;
	err = check_recording(header, o->recording, d);
	if (!err)
		err = read_modules(j, d);
	if (!err)
		err = read_offset(j, d);
	if (!err)
		err = counts_new(&o->counts, d, &j->counts);
	if (!err)
		err = read_counts(j, d);
	if (!err)
		err = check_traffic(j, d);
	if (!err)
		err = match_clocks(j, d);
	if (!err)
		err = make_header(j, header, d);
	if (err) {
		counts_join_free(j);
		return err;
	}
	j->early = j->lines[0].start_ns < j->clock.marks[0].monotonic_ns;
	*ret = j;
	return 0;
}

void counts_join_free(struct counts_join *j)
{
	if (!j)
		return;
	counts_free(&j->counts);
	counts_clock_free(&j->clock);
	header_release(&j->header);
	free(j->lines);
	free(j);
}

const struct trace_header *counts_join_header(const struct counts_join *j)
{
	return &j->header;
}

/* --- events */

static int send_line(struct counts_join *j, const struct counted *line)
{
	const struct layout *l = &j->header.layout;
	struct reading readings[BAYTRAIL_MAX_EVENTS] = { { 0 } };
	uint64_t time = line->end_ns - line->start_ns;
	int err = 0;

	for (uint32_t i = 0; i < BAYTRAIL_MAX_EVENTS; i++)
		if (j->traffic[i].agent)
			readings[j->counter[i]] = (struct reading){
				line->known[i] ? line->counts[i] * j->traffic[i].bytes : 0, time,
				line->known[i] ? time : 0
			};
	for (uint32_t g = 0; g < l->nr_groups && !err; g++)
		err = trace_send_window(&j->out,
					&(struct trace_window){ g, line->start_ns, line->end_ns,
								&readings[l->groups[g].first] });
	return err;
}

/* All lines that start before @until_ns. A window that ends later waits in the timeline. */
static int send_lines(struct counts_join *j, uint64_t until_ns)
{
	int err = 0;

	while (!err && j->at < j->nr && j->lines[j->at].start_ns < until_ns)
		err = send_line(j, &j->lines[j->at++]);
	return err;
}

static uint64_t last_end(const struct counts_join *j)
{
	return j->at ? j->lines[j->at - 1].end_ns : 0;
}

/* Tasks are unknown here: all counts of this time are unattributed. */
static int send_lost(struct counts_join *j, uint64_t start_ns, uint64_t end_ns)
{
	const struct layout *l = &j->header.layout;
	int err = 0;

	j->outside_ns += end_ns - start_ns;
	for (uint32_t cpu = 0; cpu < l->nr_cpus && !err; cpu++)
		if (l->cpu_socket[cpu] != LAYOUT_NO_SOCKET)
			err = trace_send_slice(
				&j->out, &(struct trace_slice){ .pid = TRACE_PID_LOST,
								.cpu = cpu,
								.start_ns = start_ns,
								.end_ns = end_ns,
								.on_cpu_ns = end_ns - start_ns });
	return err;
}

/* A mark like one of the recording, perhaps at another time */
static int send_mark(struct counts_join *j, const struct trace_mark *like, uint64_t ns, bool first,
		     bool last)
{
	uint64_t ends_ns[MAX_SOCKETS];
	struct trace_mark m = *like;

	for (int i = 0; i < MAX_SOCKETS; i++)
		ends_ns[i] = ns;
	m.first = first;
	m.last = last;
	m.realtime_ns += ns - m.time_ns;
	m.time_ns = ns;
	m.ends_ns = ends_ns;
	return trace_send_mark(&j->out, &m);
}

static int begin(struct counts_join *j, const struct trace_mark *m, uint64_t ns)
{
	uint64_t first_ns = j->early ? j->lines[0].start_ns : ns;
	int err = send_mark(j, m, first_ns, true, false);

	j->begun = true;
	if (!err && j->early)
		err = send_lost(j, first_ns, ns);
	if (!err)
		err = send_lines(j, ns);
	/* Earlier counts form an interval of their own, unless they are part of a longer line. */
	if (!err && j->at && j->lines[0].end_ns <= ns)
		err = send_mark(j, m, ns, false, false);
	return err;
}

/* The recording ends here; lines may go on. */
static int end(struct counts_join *j, const struct trace_mark *m, uint64_t ns)
{
	uint64_t end_ns;
	int err = 0;

	j->ended = true;
	if (j->at < j->nr)
		err = send_mark(j, m, ns, false, false);
	if (!err)
		err = send_lines(j, UINT64_MAX);
	end_ns = later(last_end(j), ns);
	if (!err && end_ns > ns)
		err = send_lost(j, ns, end_ns);
	return err ? err : send_mark(j, m, end_ns, false, true);
}

static int on_mark(struct counts_join *j, const struct trace_mark *m)
{
	uint64_t ns = m->time_ns;
	int err;

	if (!m->ends_ns)
		return -EINVAL;
	/* Without counters all sockets end with the mark. */
	j->recorded_ns = ns;
	if (!j->begun)
		return begin(j, m, ns);
	err = send_lines(j, ns);
	if (err || !m->last)
		return err ? err : send_mark(j, m, ns, m->first, false);
	return end(j, m, ns);
}

/* It is on the socket that stands for its module here. */
static int on_cpu(struct counts_join *j, const struct trace_cpu *e)
{
	struct trace_cpu c = *e;

	if (c.socket != LAYOUT_NO_SOCKET)
		c.socket = by_module(j) ? socket_of(j, c.cpu) : 0;
	return trace_send_cpu(&j->out, &c);
}

static int on_event(void *arg, const struct trace_event *e)
{
	struct counts_join *j = arg;

	if (e->type == TRACE_MARK)
		return on_mark(j, &e->mark);
	if (e->type == TRACE_CPU)
		return on_cpu(j, &e->cpu);
	/* Slices from before the recording are in no interval of it. */
	if (e->type == TRACE_SLICE && !j->begun && j->early)
		return 0;
	return trace_send(&j->out, e);
}

struct trace_sink counts_join_sink(struct counts_join *j, const struct trace_sink *out)
{
	j->out = *out;
	return (struct trace_sink){ on_event, j };
}

bool counts_join_describe(const struct counts_join *j, const char *who)
{
	uint64_t left_ns = 0;

	for (size_t i = j->at; i < j->nr; i++)
		left_ns += j->lines[i].end_ns - j->lines[i].start_ns;
	if (j->outside_ns)
		fprintf(stderr,
			"%s: counts of %.3f s are from outside of the recorded time: they cannot "
			"be attributed\n",
			who, (double)j->outside_ns / NS_PER_S);
	if (left_ns)
		fprintf(stderr,
			"%s: counts of %.3f s behind the last complete interval are not shown\n",
			who, (double)left_ns / NS_PER_S);
	if (j->counts.fallen)
		fprintf(stderr, "%s: %llu count%s less than before: what they counted is missing\n",
			who, (unsigned long long)j->counts.fallen,
			j->counts.fallen == 1 ? " was" : "s were");
	if (j->counts.disordered)
		fprintf(stderr,
			"%s: %llu line%s of counts not later than the one before, and left out\n",
			who, (unsigned long long)j->counts.disordered,
			j->counts.disordered == 1 ? " was" : "s were");
	return j->outside_ns || left_ns || j->counts.fallen || j->counts.disordered;
}
