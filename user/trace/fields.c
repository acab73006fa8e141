// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "trace/fields.h"

#include <string.h>

#include "base/array.h"
#include "recording_format.h"

#define AT(event, member) offsetof(struct trace_event, event.member)
#define TYPE_OF(event, member) \
	_Generic(((struct trace_event *)NULL)->event.member, \
		uint64_t: FIELD_U64,                         \
		uint32_t: FIELD_U32,                         \
		bool: FIELD_BOOL,                            \
		const char *: FIELD_TEXT)

/* A number, bool or text; what it is follows from its type in C. */
#define FIELD(event, member, ...)                                                             \
	{                                                                                     \
		.name = #member, .type = TYPE_OF(event, member), .offset = AT(event, member), \
		__VA_ARGS__                                                                   \
	}
/* What has a type of its own. */
#define SPECIAL(name_, type_, event, member, ...)                                      \
	{                                                                              \
		.name = name_, .type = type_, .offset = AT(event, member), __VA_ARGS__ \
	}
#define FLAGS                       \
	{                           \
		.type = FIELD_FLAGS \
	}
#define REQUIRED	    .required = true
#define FROM(event, member) .base = BASE_FIELD, .of = AT(event, member)
#define LENGTH(event)	    .base = BASE_LENGTH, .of = AT(event, start_ns)
#define TIMES(event)                                         \
	FIELD(event, start_ns, REQUIRED, .base = BASE_TIME), \
		FIELD(event, end_ns, REQUIRED, FROM(event, start_ns), .not_below = true)

static const struct trace_field task[] = {
	FLAGS,
	FIELD(task, pid, REQUIRED),
	FIELD(task, tgid, REQUIRED),
	FIELD(task, start_ns, REQUIRED),
	FIELD(task, parent),
	FIELD(task, parent_start_ns),
	FIELD(task, cgroup_id),
	FIELD(task, kernel, .flag = RECORDING_TASK_KERNEL),
	FIELD(task, comm, .size = RECORDING_MAX_TEXT + 1),
};

static const struct trace_field exit_[] = {
	FIELD(exit, pid, REQUIRED),
	FIELD(exit, start_ns, REQUIRED),
};

static const struct trace_field resync[] = {
	FLAGS,
	FIELD(resync, begin, .flag = RECORDING_RESYNC_BEGIN),
};

static const struct trace_field cgroup[] = {
	FIELD(cgroup, id, REQUIRED),
	FIELD(cgroup, path, .size = RECORDING_MAX_TEXT + 1),
};

static const struct trace_field job[] = {
	FIELD(job, cgroup_id, REQUIRED),
	FIELD(job, id, .size = JOB_ID_LEN),
	FIELD(job, name, .size = JOB_NAME_LEN),
	FIELD(job, user, .size = JOB_NAME_LEN),
};

static const struct trace_field follow[] = {
	FIELD(follow, pid, REQUIRED),
};

static const struct trace_field slice[] = {
	SPECIAL("workload", FIELD_WHO, slice, pid),
	SPECIAL("cpu", FIELD_CPU, slice, cpu),
	TIMES(slice),
	FIELD(slice, on_cpu_ns, LENGTH(slice), .not_above = true, .terse = true),
	SPECIAL("weights", FIELD_WEIGHTS, slice, weights),
};

static const struct trace_field window[] = {
	SPECIAL("socket", FIELD_GROUP, window, group),
	TIMES(window),
	SPECIAL("values", FIELD_READINGS, window, readings),
};

static const struct trace_field sample[] = {
	SPECIAL("probe", FIELD_PROBE, sample, probe),
	TIMES(sample),
	FIELD(sample, outstanding, REQUIRED),
	FIELD(sample, requests, REQUIRED),
	FIELD(sample, cycles, REQUIRED),
	FIELD(sample, enabled_ns, LENGTH(sample)),
	FIELD(sample, running_ns, FROM(sample, enabled_ns)),
};

static const struct trace_field io[] = {
	SPECIAL("workload", FIELD_WHO, io, pid),
	SPECIAL("bdf", FIELD_DEVICE, io, device),
	FLAGS,
	FIELD(io, exclusive, .flag = RECORDING_IO_EXCLUSIVE, .terse = true),
	FIELD(io, read_bytes, REQUIRED, .unless = AT(io, exclusive)),
	FIELD(io, write_bytes, REQUIRED, .unless = AT(io, exclusive)),
	TIMES(io),
};

static const struct trace_field part[] = {
	SPECIAL("part", FIELD_PART, part, part),
	TIMES(part),
	FIELD(part, bytes, REQUIRED),
	FIELD(part, enabled_ns, LENGTH(part)),
	FIELD(part, running_ns, FROM(part, enabled_ns), .not_above = true),
};

static const struct trace_field referee[] = {
	FIELD(referee, group, REQUIRED, .size = REFEREE_GROUP_LEN),
	FIELD(referee, state, REQUIRED, .size = 16),
	TIMES(referee),
	FIELD(referee, bytes, REQUIRED),
	FIELD(referee, domains, REQUIRED),
	FIELD(referee, missing, REQUIRED),
	FIELD(referee, tasks, REQUIRED),
	FIELD(referee, cgroup, .size = REFEREE_PATH_LEN),
	FIELD(referee, of_tasks),
	FIELD(referee, above),
};

static const struct trace_field lost[] = {
	FIELD(lost, what, REQUIRED, .size = RECORDING_MAX_TEXT + 1),
	SPECIAL("socket", FIELD_SOCKET, lost, socket),
	TIMES(lost),
	FIELD(lost, count, REQUIRED),
};

static const struct trace_field mark[] = {
	FLAGS,
	FIELD(mark, first, .flag = RECORDING_MARK_FIRST, .terse = true),
	FIELD(mark, last, .flag = RECORDING_MARK_LAST, .terse = true),
	FIELD(mark, inner, .flag = RECORDING_MARK_INNER, .terse = true),
	FIELD(mark, time_ns, REQUIRED, .base = BASE_TIME),
	FIELD(mark, realtime_ns),
	SPECIAL("ends_ns", FIELD_ENDS, mark, ends_ns, .flag = RECORDING_MARK_ENDS),
	SPECIAL("losses", FIELD_LOSSES, mark, losses),
	SPECIAL("cost", FIELD_COSTS, mark, cost),
};

#define ROW(fields_) .fields = fields_, .nr = ARRAY_SIZE(fields_)

const struct trace_row trace_rows[NR_TRACE_EVENTS] = {
	[TRACE_TASK] = { "task", RECORDING_TASK, true, ROW(task) },
	[TRACE_EXIT] = { "exit", RECORDING_EXIT, true, ROW(exit_) },
	[TRACE_RESYNC] = { "resync", RECORDING_RESYNC, true, ROW(resync) },
	[TRACE_CGROUP] = { "cgroup", RECORDING_CGROUP, true, ROW(cgroup) },
	[TRACE_JOB] = { "job", RECORDING_JOB, true, ROW(job) },
	[TRACE_FOLLOW] = { "follow", RECORDING_FOLLOW, true, ROW(follow) },
	[TRACE_SLICE] = { "slice", 0, false, ROW(slice) },
	[TRACE_WINDOW] = { "window", RECORDING_WINDOW, false, ROW(window) },
	[TRACE_SAMPLE] = { "sample", RECORDING_SAMPLE, false, ROW(sample) },
	[TRACE_IO] = { "io", RECORDING_IO, false, ROW(io) },
	[TRACE_PART] = { "part", RECORDING_PART, true, ROW(part) },
	[TRACE_REFEREE] = { "resctrl", RECORDING_REFEREE, true, ROW(referee) },
	[TRACE_LOST] = { "lost", RECORDING_LOST, false, ROW(lost) },
	[TRACE_MARK] = { "mark", RECORDING_MARK, true, ROW(mark) },
};

#define LOSS(name, from) { #name, offsetof(struct quality, name) },
#define COST(name)                                      \
	{                                               \
#name, offsetof(struct self_cost, name) \
	}

const struct trace_total trace_losses[TRACE_NR_LOSSES] = { QUALITY_NUMBERS(LOSS) };

const struct trace_total trace_costs[TRACE_NR_COSTS] = {
	COST(cpu_ns), COST(switches), COST(switch_ns),	    COST(timed),
	COST(probes), COST(probe_ns), COST(probe_deferred), COST(probe_failed),
};

/* A new total must be added to the tables, or recordings would lose it. */
_Static_assert(sizeof(struct self_cost) == TRACE_NR_COSTS * sizeof(uint64_t), "costs");

#define IS_FIRST(event, member, name)                                                          \
	_Static_assert(AT(event, member) - AT(event, pid) == offsetof(struct trace_who, name), \
		       "struct trace_who is how " #event " begins")

IS_FIRST(slice, tgid, tgid);
IS_FIRST(slice, task_start_ns, task_start_ns);
IS_FIRST(slice, cgroup_id, cgroup_id);
IS_FIRST(io, tgid, tgid);
IS_FIRST(io, task_start_ns, task_start_ns);
IS_FIRST(io, cgroup_id, cgroup_id);
_Static_assert(AT(io, pid) == AT(slice, pid), "both at the begin");

struct trace_who trace_who(const struct trace_event *e)
{
	struct trace_who who;

	memcpy(&who, &e->slice, sizeof(who));
	if (who.pid != TRACE_PID_IDLE && who.pid != TRACE_PID_LOST)
		return who;
	/* of a device, pid 0 with a cgroup is anybody of that cgroup */
	return (struct trace_who){
		.pid = who.pid,
		.cgroup_id = e->type == TRACE_IO && who.pid == TRACE_PID_IDLE ? who.cgroup_id : 0,
	};
}

uint64_t trace_base(const struct trace_event *e, const struct trace_field *f)
{
	const uint64_t *at = trace_at(e, f->of);

	if (f->base == BASE_FIELD)
		return at[0];
	return f->base == BASE_LENGTH ? at[1] - at[0] : 0;
}

uint64_t trace_bound(const struct trace_header *h, const struct trace_field *f)
{
	switch (f->type) {
	case FIELD_CPU:
		return h->layout.nr_cpus;
	case FIELD_SOCKET:
		return h->layout.nr_sockets;
	case FIELD_GROUP:
		return h->layout.nr_groups;
	case FIELD_PROBE:
		return h->nr_probes;
	case FIELD_DEVICE:
		return h->nr_devices;
	case FIELD_PART:
		return h->nr_parts;
	default:
		return 0;
	}
}

static bool field_fits(const struct trace_header *h, const struct trace_event *e,
		       const struct trace_field *f)
{
	const struct trace_mark *m = &e->mark;
	const char *text;

	switch (f->type) {
	case FIELD_U64:
		if (trace_absent(e, f))
			return !trace_get(e, f);
		return (!f->not_below || trace_get(e, f) >= trace_base(e, f)) &&
		       (!f->not_above || trace_get(e, f) <= trace_base(e, f));
	case FIELD_TEXT:
		text = trace_text(e, f);
		return text ? strlen(text) < f->size : !f->required;
	case FIELD_CPU:
	case FIELD_SOCKET:
	case FIELD_GROUP:
	case FIELD_PROBE:
	case FIELD_DEVICE:
	case FIELD_PART:
		return trace_get(e, f) < trace_bound(h, f);
	case FIELD_WEIGHTS:
		return e->slice.weights_ns <= e->slice.on_cpu_ns;
	case FIELD_ENDS:
		/* only at the end of a trace without marks is there a mark without ends */
		return m->ends_ns || m->last;
	default:
		return true;
	}
}

bool trace_fits(const struct trace_header *h, const struct trace_event *e)
{
	const struct trace_row *row;

	if (e->type >= NR_TRACE_EVENTS || (e->type == TRACE_REFEREE && !h->resctrl))
		return false;
	row = &trace_rows[e->type];
	for (size_t i = 0; i < row->nr; i++)
		if (!field_fits(h, e, &row->fields[i]))
			return false;
	return true;
}
