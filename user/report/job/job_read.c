// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/job/job_read.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "report/job/job_sums.h"

#define SCHEMA	     "t410trace.job/"
#define MAX_COUNTERS 4096
/* The sums of a million reports fit. */
#define MAX_SUM	     ((sum128)1 << 104)

/* The first problem stays: what is read after it is 0. */
struct reader {
	struct job_reading to;
	struct diag *d;
	int err;
};

static void damaged(struct reader *r, const char *key, const char *what)
{
	if (!r->err)
		r->err = diag_fail(r->d, -EBADMSG, "its \"%s\" %s", key, what);
}

static void *room_for(struct reader *r, size_t nr, size_t size)
{
	void *items = r->err ? NULL : calloc(nr + 1, size);

	if (!items && !r->err)
		r->err = diag_no_memory(r->d);
	return items;
}

/* --- values */

static json_t *take(struct reader *r, json_t *o, const char *key, json_type type)
{
	json_t *value = json_object_get(o, key);

	if (value && json_typeof(value) == type)
		return value;
	damaged(r, key, value ? "is of another type" : "is missing");
	return NULL;
}

/* A number, or a text of digits where JSON libraries differ. */
static bool is_sum(const json_t *value, sum128 *ret)
{
	const char *text = json_string_value(value);
	size_t length = text ? strlen(text) : 0;

	*ret = 0;
	if (json_is_integer(value)) {
		*ret = (sum128)json_integer_value(value);
		return json_integer_value(value) >= 0;
	}
	for (size_t i = 0; i < length && *ret <= MAX_SUM; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		*ret = *ret * 10 + (sum128)(text[i] - '0');
	}
	return length && *ret <= MAX_SUM;
}

static sum128 take_sum(struct reader *r, json_t *o, const char *key)
{
	json_t *value = json_object_get(o, key);
	sum128 sum = 0;

	if (!value || !is_sum(value, &sum))
		damaged(r, key, value ? "is no number that can be" : "is missing");
	return r->err ? 0 : sum;
}

static uint64_t take_u64(struct reader *r, json_t *o, const char *key)
{
	return sum128_cut(take_sum(r, o, key), UINT64_MAX);
}

/* 0 without it */
static uint64_t take_optional(struct reader *r, json_t *o, const char *key)
{
	return json_object_get(o, key) ? take_u64(r, o, key) : 0;
}

/* A time of the clock: those of the far future would not fit together with others. */
static uint64_t take_time(struct reader *r, json_t *o, const char *key)
{
	uint64_t ns = take_u64(r, o, key);

	if (ns > INT64_MAX)
		damaged(r, key, "is no time");
	return ns;
}

/* null, or none at all, is "" where it may be so. */
static void take_text(struct reader *r, json_t *o, const char *key, bool needed, char *ret,
		      size_t size)
{
	const char *text = json_string_value(json_object_get(o, key));

	if (needed && (!text || !*text))
		damaged(r, key, "is missing");
	else if (text && str_copy(ret, size, text))
		damaged(r, key, "is too long");
}

#define TAKE_TEXT(r, o, key, needed, array) take_text(r, o, key, needed, array, sizeof(array))

static bool take_bool(struct reader *r, json_t *o, const char *key)
{
	const json_t *value = json_object_get(o, key);

	if (!json_is_boolean(value))
		damaged(r, key, "is missing");
	return json_is_true(value);
}

/* The number of a word; 0 for a wrong one. */
#define TAKE_WORD(r, o, key, name, nr)                                          \
	({                                                                      \
		const char *word_ = json_string_value(json_object_get(o, key)); \
		unsigned int at_ = 0;                                           \
                                                                                \
		while (at_ < (nr) && (!word_ || strcmp(word_, name(at_)) != 0)) \
			at_++;                                                  \
		if (at_ == (nr))                                                \
			damaged(r, key, "is missing, or of a later t410trace"); \
		at_ % (nr);                                                     \
	})

/* --- parts */

static void read_host(struct reader *r, json_t *o)
{
	struct host_info *h = &r->to.host;

	TAKE_TEXT(r, o, "name", true, h->name);
	TAKE_TEXT(r, o, "kernel", false, h->kernel);
	TAKE_TEXT(r, o, "platform", false, h->platform);
	h->sockets = (uint32_t)sum128_cut(take_sum(r, o, "sockets"), UINT32_MAX);
}

static void read_identity(struct reader *r, json_t *o)
{
	struct account_job *j = &r->to.job;
	json_t *cgroup = take(r, o, "cgroup", JSON_OBJECT);
	const char *path = json_string_value(json_object_get(cgroup, "path"));

	j->job.scheduler = TAKE_WORD(r, o, "scheduler", scheduler_name, NR_SCHEDULERS);
	TAKE_TEXT(r, o, "id", true, j->job.id);
	TAKE_TEXT(r, o, "name", false, j->job.name);
	TAKE_TEXT(r, o, "user", false, j->job.user);
	TAKE_TEXT(r, o, "boot", true, j->boot);
	TAKE_TEXT(r, o, "key", true, j->key);
	j->job.provisional = json_is_true(json_object_get(o, "provisional"));
	j->job.cgroup_id = take_u64(r, cgroup, "id");
	j->job.owner = account_key_owner(j->key);
	j->path = path && !r->err ? strdup(path) : NULL;
	if (path && !j->path && !r->err)
		r->err = diag_no_memory(r->d);
}

static void read_gaps(struct reader *r, json_t *gaps)
{
	struct account_job *j = &r->to.job;

	if (json_array_size(gaps) > ACCOUNT_MAX_GAPS)
		damaged(r, "gaps", "has too many");
	for (size_t i = 0; i < json_array_size(gaps) && !r->err; i++) {
		json_t *o = json_array_get(gaps, i);

		j->gaps[j->nr_gaps++] = (struct account_gap){ take_time(r, o, "start_ns"),
							      take_time(r, o, "end_ns") };
	}
}

static void read_io(struct reader *r, json_t *devices, struct account_part *ret)
{
	size_t nr = json_array_size(devices);

	ret->io = room_for(r, nr, sizeof(*ret->io));
	for (size_t i = 0; i < nr && !r->err; i++) {
		struct account_io *io = &ret->io[ret->nr_io++];
		json_t *o = json_array_get(devices, i);

		TAKE_TEXT(r, o, "bdf", true, io->bdf);
		TAKE_TEXT(r, o, "name", false, io->name);
		io->read_bytes = take_optional(r, o, "read_bytes");
		io->write_bytes = take_optional(r, o, "write_bytes");
	}
}

static struct account_total read_total(struct reader *r, json_t *o, uint32_t counter)
{
	struct account_total t = {
		.counter = counter,
		.value = take_sum(r, o, "value"),
		.low = take_sum(r, o, "low"),
		.high = take_sum(r, o, "high"),
		.inseparable = take_sum(r, o, "inseparable"),
	};

	if (t.low > t.value || t.value > t.high || t.inseparable > t.value)
		damaged(r, "value", "is not within its bounds");
	return t;
}

/* --- counters */

static void read_counter(struct reader *r, json_t *o, struct account_counter *ret)
{
	const json_t *whole = json_object_get(o, "whole");

	TAKE_TEXT(r, o, "name", true, ret->name);
	TAKE_TEXT(r, o, "bdf", false, ret->bdf);
	ret->socket = (uint32_t)sum128_cut(take_sum(r, o, "socket"), UINT32_MAX);
	ret->source = TAKE_WORD(r, o, "source", source_name, SOURCE_ANY + 1);
	ret->direction = TAKE_WORD(r, o, "direction", direction_name, NR_DIRECTIONS);
	ret->destination = TAKE_WORD(r, o, "destination", destination_name, NR_DESTINATIONS);
	if (json_object_get(o, "unit"))
		ret->unit = TAKE_WORD(r, o, "unit", unit_name, UNIT_NANOJOULES + 1);
	ret->whole = ret->unit == UNIT_BYTES && !json_is_false(whole);
}

static void read_machine(struct reader *r, json_t *o, bool counted, struct account_node_total *ret)
{
	json_t *reasons;
	double ratio;
	sum128 sum;

	ret->missing = take_u64(r, o, "missing");
	ret->enabled_ns = r->to.job.covered_ns;
	if (counted != (ret->missing < r->to.job.intervals))
		damaged(r, "missing", "does not fit to the counter's value");
	if (!counted)
		return;
	ratio = json_is_number(json_object_get(o, "running_ratio"))
			? json_number_value(json_object_get(o, "running_ratio"))
			: -1;
	if (!(ratio >= 0 && ratio <= 1))
		damaged(r, "running_ratio", "is not from 0 to 1");
	ret->running_ns = ratio < 1 ? (uint64_t)(ratio * (double)ret->enabled_ns) : ret->enabled_ns;
	ret->value = take_sum(r, o, "value");
	ret->attributed = sum = take_sum(r, o, "attributed");
	reasons = take(r, o, "unattributed", JSON_OBJECT);
	for (int i = 0; i < NR_REASONS; i++)
		if (json_object_get(reasons, reason_name(i)))
			sum += ret->unattributed[i] = take_sum(r, reasons, reason_name(i));
	if (sum != ret->value)
		damaged(r, "machine", "is not the sum of its parts");
}

static void read_counters(struct reader *r, json_t *counters)
{
	struct accounts_node *n = &r->to.node;
	struct account_job *j = &r->to.job;
	size_t nr = json_array_size(counters);

	if (nr > MAX_COUNTERS)
		damaged(r, "counters", "has too many");
	n->counters = room_for(r, nr, sizeof(*n->counters));
	j->node = room_for(r, nr, sizeof(*j->node));
	j->whole.totals = room_for(r, nr, sizeof(*j->whole.totals));
	for (size_t i = 0; i < nr && !r->err; i++) {
		json_t *o = json_array_get(counters, i);
		bool counted = json_object_get(o, "value");
		struct account_node_total *of = &j->node[j->nr_node++];

		of->counter = (uint32_t)n->nr_counters++;
		read_counter(r, o, &n->counters[i]);
		read_machine(r, take(r, o, "machine", JSON_OBJECT), counted, of);
		if (!counted)
			continue;
		j->whole.totals[j->whole.nr_totals] = read_total(r, o, of->counter);
		if (j->whole.totals[j->whole.nr_totals++].value > of->attributed)
			damaged(r, "value", "is more than was attributed");
	}
}

static bool is_counter(const struct reader *r, size_t i, const char *name, uint64_t socket)
{
	const struct account_counter *c = &r->to.node.counters[i];

	return !strcmp(c->name, name) && c->socket == socket;
}

/* Older reports have no index: the next one of that name, for those of steps are in the same order. */
static size_t find_counter(struct reader *r, json_t *o, size_t from)
{
	const char *name = json_string_value(take(r, o, "counter", JSON_STRING));
	uint64_t socket = take_u64(r, o, "socket"), index = take_optional(r, o, "index");
	size_t nr = r->to.node.nr_counters, i = from;

	if (name && json_object_get(o, "index"))
		i = index >= from && index < nr && is_counter(r, index, name, socket) ? index : nr;
	else
		while (name && i < nr && !is_counter(r, i, name, socket))
			i++;
	if (i == nr)
		damaged(r, "steps", "have a counter that the job has not");
	return i;
}

static void read_step(struct reader *r, json_t *o, struct account_part *ret)
{
	json_t *counters = take(r, o, "counters", JSON_ARRAY);
	size_t nr = json_array_size(counters), at = 0;

	TAKE_TEXT(r, o, "step", true, ret->step);
	ret->ended = take_bool(r, o, "ended");
	ret->start_ns = take_time(r, o, "start_ns");
	ret->end_ns = take_time(r, o, "end_ns");
	ret->on_cpu_ns = take_sum(r, o, "on_cpu_ns");
	read_io(r, take(r, o, "devices", JSON_ARRAY), ret);
	ret->totals = room_for(r, nr, sizeof(*ret->totals));
	for (size_t i = 0; i < nr && !r->err; i++, at++) {
		at = find_counter(r, json_array_get(counters, i), at);
		ret->totals[ret->nr_totals++] =
			read_total(r, json_array_get(counters, i), (uint32_t)at);
	}
}

static void read_steps(struct reader *r, json_t *steps)
{
	struct account_job *j = &r->to.job;
	size_t nr = json_array_size(steps);

	if (nr > ACCOUNT_MAX_STEPS)
		damaged(r, "steps", "has too many");
	j->steps = room_for(r, nr, sizeof(*j->steps));
	for (size_t i = 0; i < nr && !r->err; i++)
		read_step(r, json_array_get(steps, i), &j->steps[j->nr_steps++]);
}

/* --- GPUs, which older reports do not have */

static void read_link(struct reader *r, json_t *o, struct account_gpu *g)
{
	static const char *const keys[NR_WAYS] = { "read_bytes", "write_bytes" };

	g->link_ns = take_u64(r, o, "duration_ns");
	for (int d = 0; d < NR_WAYS; d++) {
		json_t *moved = take(r, o, keys[d], JSON_OBJECT);

		g->link[d] = (struct account_link){ take_sum(r, moved, "value"),
						    take_sum(r, moved, "low"),
						    take_sum(r, moved, "high") };
	}
}

static void read_gpus(struct reader *r, json_t *gpus)
{
	struct account_job *j = &r->to.job;
	size_t nr = json_array_size(gpus);

	if (nr > ACCOUNT_MAX_GPUS)
		damaged(r, "gpus", "has too many");
	j->gpus = room_for(r, nr, sizeof(*j->gpus));
	for (size_t i = 0; i < nr && !r->err; i++) {
		json_t *o = json_array_get(gpus, i), *link = json_object_get(o, "c2c");
		struct account_gpu *g = &j->gpus[j->nr_gpus++];

		TAKE_TEXT(r, o, "bdf", true, g->bdf);
		TAKE_TEXT(r, o, "uuid", false, g->uuid);
		g->held_ns = take_u64(r, o, "held_ns");
		g->alone_ns = take_u64(r, o, "alone_ns");
		g->known_ns = take_u64(r, o, "known_ns");
		g->idle_ns = take_optional(r, o, "idle_ns");
		g->busy_ns = take_optional(r, o, "busy_ns");
		g->busy_low_ns = take_optional(r, o, "busy_low_ns");
		g->busy_high_ns = take_optional(r, o, "busy_high_ns");
		if (link)
			read_link(r, link, g);
	}
}

/* --- quality */

static void read_losses(struct reader *r, json_t *o, struct quality *q)
{
	uint64_t slices = take_u64(r, o, "slices");

	q->late_slices = take_u64(r, o, "late_slices");
	q->lost_slices = slices > q->late_slices ? slices - q->late_slices : 0;
	q->lost_slices_ns = take_u64(r, o, "slices_ns");
	q->lost_windows = take_u64(r, o, "windows");
	q->lost_tasks = take_u64(r, o, "tasks");
	q->lost_cgroups = take_u64(r, o, "cgroups");
	q->lost_io = take_u64(r, o, "io");
	q->bad_records = take_u64(r, o, "bad_records");
}

static void read_quality(struct reader *r, json_t *o)
{
	struct account_job *j = &r->to.job;
	struct quality *q = &j->quality;

	j->intervals = take_u64(r, o, "intervals");
	j->covered_ns = take_u64(r, o, "covered_ns");
	j->others_unknown_ns = take_optional(r, o, "others_unknown_ns");
	q->method = TAKE_WORD(r, o, "method", method_name, NR_METHODS);
	TAKE_TEXT(r, o, "weights", false, q->weights);
#define TAKE_LOSS(name, ...) q->name = take_optional(r, o, #name);
	QUALITY_NUMBERS(TAKE_LOSS)
#undef TAKE_LOSS
	read_losses(r, take(r, o, "lost", JSON_OBJECT), q);
}

static void read_self(struct reader *r, json_t *o)
{
	struct self_cost *s = &r->to.job.self;

	s->cpu_ns = take_optional(r, o, "cpu_ns");
	s->switches = take_optional(r, o, "switches");
	s->switch_ns = take_optional(r, o, "switch_ns");
	s->timed = take_optional(r, o, "timed");
	s->probes = take_optional(r, o, "probes");
	s->probe_ns = take_optional(r, o, "probe_ns");
	s->probe_deferred = take_optional(r, o, "probe_deferred");
	s->probe_failed = take_optional(r, o, "probe_failed");
}

/* --- the whole */

/* Is a sum of the report what its counters add up to? Absent: there is none. */
static void check_metric(struct reader *r, json_t *metrics, const char *name,
			 const struct job_sum_value *v)
{
	json_t *o = json_object_get(metrics, name);

	if (!v->counted != !o)
		damaged(r, name, "does not fit to its counters");
	if (!o || r->err)
		return;
	if (take_sum(r, o, "value") != v->value || take_sum(r, o, "low") != v->low ||
	    take_sum(r, o, "high") != v->high)
		damaged(r, name, "is not the sum of its counters");
}

static void check_metrics(struct reader *r, json_t *metrics, const struct account_part *p)
{
	for (size_t i = 0; i < NR_JOB_METRICS && !r->err; i++) {
		struct job_sum_value v = job_metric(&r->to.node, &r->to.job, p, i);
		char name[JOB_METRIC_LEN];

		job_metric_name(i, name);
		check_metric(r, metrics, name, &v);
	}
}

static void read_report(struct reader *r, json_t *o)
{
	struct account_job *j = &r->to.job;
	json_t *steps = take(r, o, "steps", JSON_ARRAY);

	read_host(r, take(r, o, "host", JSON_OBJECT));
	read_identity(r, take(r, o, "job", JSON_OBJECT));
	j->state = TAKE_WORD(r, o, "state", account_state_name, NR_ACCOUNT_STATES);
	j->late_start = take_bool(r, o, "late_start");
	j->whole.start_ns = take_time(r, o, "start_ns");
	j->whole.end_ns = take_time(r, o, "end_ns");
	j->whole.ended = j->state == ACCOUNT_ENDED;
	j->whole.on_cpu_ns = take_sum(r, o, "on_cpu_ns");
	j->gap_ns = take_u64(r, o, "gap_ns");
	j->clock_back_ns = take_optional(r, o, "clock_back_ns");
	read_gaps(r, take(r, o, "gaps", JSON_ARRAY));
	read_quality(r, take(r, o, "quality", JSON_OBJECT));
	read_self(r, take(r, o, "self", JSON_OBJECT));
	read_counters(r, take(r, o, "counters", JSON_ARRAY));
	read_io(r, take(r, o, "devices", JSON_ARRAY), &j->whole);
	read_steps(r, steps);
	read_gpus(r, json_object_get(o, "gpus"));
	check_metrics(r, take(r, o, "metrics", JSON_OBJECT), &j->whole);
	for (size_t i = 0; i < j->nr_steps && !r->err; i++)
		check_metrics(r, take(r, json_array_get(steps, i), "metrics", JSON_OBJECT),
			      &j->steps[i]);
}

static int check_schema(json_t *o, struct diag *d)
{
	const char *schema = json_string_value(json_object_get(o, "schema"));

	if (!schema || strncmp(schema, SCHEMA, strlen(SCHEMA)) != 0)
		return diag_fail(d, -EBADMSG, "it is no closing report (" SCHEMA "1)");
	if (strcmp(schema + strlen(SCHEMA), "1") != 0)
		return diag_fail(d, -EPROTONOSUPPORT,
				 "it is of another version, \"%.64s\": the t410trace that wrote it "
				 "can merge it",
				 schema);
	if (json_object_get(o, "nodes"))
		return diag_fail(d, -EALREADY, "it is a merged account already");
	return 0;
}

int job_read(const char *text, size_t size, struct job_reading *ret, struct diag *d)
{
	struct reader r = { .d = d };
	json_error_t error;
	json_t *o = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);

	if (!o)
		return json_error_code(&error) == json_error_out_of_memory
			       ? diag_no_memory(d)
			       : diag_fail(d, -EBADMSG, "it is damaged: %s", error.text);
	r.err = check_schema(o, d);
	if (!r.err)
		read_report(&r, o);
	json_decref(o);
	if (r.err)
		job_reading_release(&r.to);
	else
		*ret = r.to;
	return r.err;
}

void job_reading_release(struct job_reading *r)
{
	accounts_node_release(&r->node);
	account_job_release(&r->job);
}
