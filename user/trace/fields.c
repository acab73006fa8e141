// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "trace/fields.h"

#include <string.h>

#include "base/array.h"
#include "recording_format.h"

#define AT(event, member)	  offsetof(struct trace_event, event.member)
#define FIELD(event, member, ...) ROW(#member, struct trace_event, event.member, __VA_ARGS__)
/* What has a type of its own. */
#define SPECIAL(name, type, event, member, ...) \
	ROW_OWN(name, type, struct trace_event, event.member, __VA_ARGS__)
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

static const struct field task[] = {
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

static const struct field exit_[] = {
	FIELD(exit, pid, REQUIRED),
	FIELD(exit, start_ns, REQUIRED),
};

static const struct field resync[] = {
	FLAGS,
	FIELD(resync, begin, .flag = RECORDING_RESYNC_BEGIN),
};

static const struct field cgroup[] = {
	FIELD(cgroup, id, REQUIRED),
	FIELD(cgroup, path, .size = RECORDING_MAX_TEXT + 1),
};

static const struct field job[] = {
	FIELD(job, cgroup_id, REQUIRED),
	FIELD(job, id, .size = JOB_ID_LEN),
	FIELD(job, name, .size = JOB_NAME_LEN),
	FIELD(job, user, .size = JOB_NAME_LEN),
};

static const struct field follow[] = {
	FIELD(follow, pid, REQUIRED),
};

static const struct field slice[] = {
	SPECIAL("workload", FIELD_WHO, slice, pid),
	SPECIAL("cpu", FIELD_CPU, slice, cpu),
	TIMES(slice),
	FIELD(slice, on_cpu_ns, LENGTH(slice), .not_above = true, .terse = true),
	SPECIAL("weights", FIELD_WEIGHTS, slice, weights),
};

static const struct field window[] = {
	SPECIAL("socket", FIELD_GROUP, window, group),
	TIMES(window),
	SPECIAL("values", FIELD_READINGS, window, readings),
};

static const struct field sample[] = {
	SPECIAL("probe", FIELD_PROBE, sample, probe),
	TIMES(sample),
	FIELD(sample, outstanding, REQUIRED),
	FIELD(sample, requests, REQUIRED),
	FIELD(sample, cycles, REQUIRED),
	FIELD(sample, enabled_ns, LENGTH(sample)),
	FIELD(sample, running_ns, FROM(sample, enabled_ns)),
};

static const struct field io[] = {
	SPECIAL("workload", FIELD_WHO, io, pid, .place = 1),
	SPECIAL("bdf", FIELD_DEVICE, io, device, .place = 2),
	{ .type = FIELD_FLAGS, .place = 3 },
	FIELD(io, exclusive, .flag = RECORDING_IO_EXCLUSIVE, .terse = true),
	FIELD(io, read_bytes, REQUIRED, .unless = AT(io, exclusive), .place = 6),
	FIELD(io, write_bytes, REQUIRED, .unless = AT(io, exclusive), .place = 7),
	FIELD(io, start_ns, REQUIRED, .base = BASE_TIME, .place = 4),
	FIELD(io, end_ns, REQUIRED, FROM(io, start_ns), .not_below = true, .place = 5),
};

static const struct field part[] = {
	SPECIAL("part", FIELD_PART, part, part),
	TIMES(part),
	FIELD(part, bytes, REQUIRED),
	FIELD(part, enabled_ns, LENGTH(part)),
	FIELD(part, running_ns, FROM(part, enabled_ns), .not_above = true),
};

static const struct field resctrl[] = {
	FIELD(resctrl, group, REQUIRED, .size = RESCTRL_GROUP_LEN),
	FIELD(resctrl, state, REQUIRED, .size = 16),
	TIMES(resctrl),
	FIELD(resctrl, bytes, REQUIRED),
	FIELD(resctrl, domains, REQUIRED),
	FIELD(resctrl, missing, REQUIRED),
	FIELD(resctrl, tasks, REQUIRED),
	FIELD(resctrl, cgroup, .size = RESCTRL_PATH_LEN),
	FIELD(resctrl, of_tasks),
	FIELD(resctrl, above),
};

static const struct field lost[] = {
	FIELD(lost, what, REQUIRED, .size = RECORDING_MAX_TEXT + 1),
	SPECIAL("socket", FIELD_SOCKET, lost, socket),
	TIMES(lost),
	FIELD(lost, count, REQUIRED),
};

static const struct field cpu[] = {
	FLAGS,
	FIELD(cpu, online, .flag = RECORDING_CPU_ONLINE),
	SPECIAL("cpu", FIELD_CPU, cpu, cpu),
	SPECIAL("socket", FIELD_PLACE, cpu, socket),
};

/* JSON takes the fields of each process as they are; bytes, too, since looks are few. */
static const struct field context[] = {
	ROW("pid", struct trace_context, pid, REQUIRED),
	ROW("start_ns", struct trace_context, start_ns, REQUIRED),
	ROW_OWN("instance", FIELD_INSTANCE, struct trace_context, instance),
	ROW("since_ns", struct trace_context, since_ns, REQUIRED),
};
static const struct fields context_fields =
	FIELDS(context, struct trace_context, .many = "too many contexts");

static const struct field contexts[] = {
	SPECIAL("bdf", FIELD_DEVICE, contexts, device),
	TIMES(contexts),
	ROW_LIST("processes", struct trace_event, contexts.processes, contexts.nr, &context_fields,
		 REQUIRED, .max = TRACE_MAX_CONTEXTS),
};

static const struct field busy[] = {
	ROW("pid", struct trace_busy, pid, REQUIRED),
	ROW("start_ns", struct trace_busy, start_ns, REQUIRED),
	ROW("busy_ns", struct trace_busy, busy_ns, REQUIRED),
	ROW("copy_ns", struct trace_busy, copy_ns, .terse = true),
};
static const struct fields busy_fields =
	FIELDS(busy, struct trace_busy, .many = "too many processes");

static const struct field activity[] = {
	FLAGS,
	SPECIAL("bdf", FIELD_DEVICE, activity, device),
	TIMES(activity),
	FIELD(activity, copies, .flag = RECORDING_COPIES, .terse = true),
	FIELD(activity, samples, .terse = true),
	FIELD(activity, period_ns, .terse = true),
	ROW_LIST("processes", struct trace_event, activity.processes, activity.nr, &busy_fields,
		 REQUIRED, .max = TRACE_MAX_CONTEXTS),
};

#define LOSS(name, ...) ROW(#name, struct quality, name, ),
#define COST(name)	ROW(#name, struct self_cost, name, )

static const struct field losses[] = { QUALITY_NUMBERS(LOSS) };
const struct fields trace_losses = FIELDS(losses, struct quality);

static const struct field costs[] = {
	COST(cpu_ns), COST(switches), COST(switch_ns),	    COST(timed),
	COST(probes), COST(probe_ns), COST(probe_deferred), COST(probe_failed),
};
const struct fields trace_costs = FIELDS(costs, struct self_cost);

/* A new total must be added to the tables, or recordings would lose it. */
_Static_assert(sizeof(struct self_cost) == ARRAY_SIZE(costs) * sizeof(uint64_t), "costs");

static const struct field mark[] = {
	FLAGS,
	FIELD(mark, first, .flag = RECORDING_MARK_FIRST, .terse = true),
	FIELD(mark, last, .flag = RECORDING_MARK_LAST, .terse = true),
	FIELD(mark, inner, .flag = RECORDING_MARK_INNER, .terse = true),
	FIELD(mark, time_ns, REQUIRED, .base = BASE_TIME),
	FIELD(mark, realtime_ns),
	SPECIAL("ends_ns", FIELD_ENDS, mark, ends_ns, .flag = RECORDING_MARK_ENDS),
	SPECIAL("losses", FIELD_TOTALS, mark, losses, .each = &trace_losses),
	SPECIAL("cost", FIELD_TOTALS, mark, cost, .each = &trace_costs),
};

#define EVENT(rows, ...) .fields = FIELDS(rows, struct trace_event, __VA_ARGS__)

const struct trace_row trace_rows[NR_TRACE_EVENTS] = {
	[TRACE_TASK] = { "task", RECORDING_TASK, true, EVENT(task) },
	[TRACE_EXIT] = { "exit", RECORDING_EXIT, true, EVENT(exit_) },
	[TRACE_RESYNC] = { "resync", RECORDING_RESYNC, true, EVENT(resync) },
	[TRACE_CGROUP] = { "cgroup", RECORDING_CGROUP, true, EVENT(cgroup) },
	[TRACE_JOB] = { "job", RECORDING_JOB, true, EVENT(job) },
	[TRACE_FOLLOW] = { "follow", RECORDING_FOLLOW, true, EVENT(follow) },
	[TRACE_SLICE] = { "slice", 0, false, EVENT(slice) },
	[TRACE_WINDOW] = { "window", RECORDING_WINDOW, false, EVENT(window) },
	[TRACE_SAMPLE] = { "sample", RECORDING_SAMPLE, false, EVENT(sample) },
	[TRACE_IO] = { "io", RECORDING_IO, false, EVENT(io, .placed = true) },
	[TRACE_PART] = { "part", RECORDING_PART, true, EVENT(part), .since = 8 },
	[TRACE_RESCTRL] = { "resctrl", RECORDING_RESCTRL_GROUP, true, EVENT(resctrl), .since = 9 },
	[TRACE_LOST] = { "lost", RECORDING_LOST, false, EVENT(lost) },
	[TRACE_MARK] = { "mark", RECORDING_MARK, true, EVENT(mark) },
	[TRACE_CPU] = { "cpu", RECORDING_CPU, true, EVENT(cpu), .since = 10 },
	[TRACE_CONTEXTS] = { "contexts", RECORDING_CONTEXTS, true, EVENT(contexts), .since = 11 },
	[TRACE_ACTIVITY] = { "activity", RECORDING_ACTIVITY, true, EVENT(activity), .since = 11 },
	[TRACE_HOLDERS] = { "holders", RECORDING_HOLDERS, true, EVENT(contexts), .since = 11 },
};

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

bool trace_has_list(enum trace_event_type type)
{
	return type == TRACE_CONTEXTS || type == TRACE_ACTIVITY || type == TRACE_HOLDERS;
}

bool trace_unannounced(const struct trace_header *h, enum trace_event_type type)
{
	return ((type == TRACE_CONTEXTS || type == TRACE_ACTIVITY) && !h->contexts) ||
	       (type == TRACE_HOLDERS && !h->holders);
}

uint64_t trace_bound(const struct trace_header *h, const struct field *f)
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
		       const struct field *f)
{
	const struct trace_mark *m = &e->mark;
	const char *text;

	switch (f->type) {
	case FIELD_U64:
		if (field_absent(f, e))
			return !field_get(f, e);
		return (!f->not_below || field_get(f, e) >= field_base(f, e)) &&
		       (!f->not_above || field_get(f, e) <= field_base(f, e));
	case FIELD_TEXT:
		text = field_text(f, e);
		return text ? strlen(text) < f->size : !f->required;
	case FIELD_CPU:
	case FIELD_SOCKET:
	case FIELD_GROUP:
	case FIELD_PROBE:
	case FIELD_DEVICE:
	case FIELD_PART:
		return field_get(f, e) < trace_bound(h, f);
	case FIELD_PLACE:
		return e->cpu.socket == LAYOUT_NO_SOCKET ||
		       (e->cpu.online && e->cpu.socket < h->layout.nr_sockets);
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
	const struct fields *fields;

	if (e->type >= NR_TRACE_EVENTS || (e->type == TRACE_RESCTRL && !h->resctrl) ||
	    (e->type == TRACE_CPU && !h->online))
		return false;
	if (trace_has_list(e->type))
		return trace_valid(h, e);
	fields = &trace_rows[e->type].fields;
	for (size_t i = 0; i < fields->nr; i++)
		if (!field_fits(h, e, &fields->rows[i]))
			return false;
	return true;
}
