// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Families of the machine: counts, their quality, and the cost. */
#include <string.h>

#include "base/array.h"
#include "report/openmetrics/internal.h"
#include "version.h"

/* The total of a counter that a family shows. */
typedef sum128 (*part_fn)(const struct account_node_total *t, unsigned int which);

static sum128 part_value(const struct account_node_total *t, unsigned int which)
{
	(void)which;
	return t->value;
}

static sum128 part_attributed(const struct account_node_total *t, unsigned int which)
{
	(void)which;
	return t->attributed;
}

static sum128 part_reason(const struct account_node_total *t, unsigned int which)
{
	return t->unattributed[which];
}

static bool is_memory(const struct account_counter *c)
{
	return !c->bdf[0] && c->whole;
}

/* Their bytes are in families of GPUs: derived ones have no counter. */
static bool is_link(const struct account_counter *c)
{
	return strchr(c->bdf, '/');
}

static bool is_device(const struct account_counter *c)
{
	return c->bdf[0] && c->whole;
}

static bool is_port(const struct account_counter *c)
{
	return c->bdf[0] && !c->whole && !is_link(c) && c->destination == DESTINATION_ANY;
}

static bool is_device_destination(const struct account_counter *c)
{
	return c->bdf[0] && !is_link(c) && c->destination != DESTINATION_ANY;
}

/**
 * struct view - a family of counters
 * @takes: counters that it includes
 * @by_destination: it has destinations
 */
struct view {
	bool (*takes)(const struct account_counter *c);
	bool by_destination;
};

static const struct view view_memory = { is_memory, true };
static const struct view view_device = { is_device, false };
static const struct view view_port = { is_port, false };
static const struct view view_device_destination = { is_device_destination, true };

static bool same_labels(const struct view *v, const struct account_counter *a,
			const struct account_counter *b)
{
	if (a->direction != b->direction || strcmp(a->bdf, b->bdf) != 0)
		return false;
	if (v->by_destination && a->destination != b->destination)
		return false;
	return a->bdf[0] || (a->socket == b->socket && a->source == b->source);
}

static void expose_total(struct exposer *x, const struct view *v, const struct account_counter *c,
			 const char *reason, sum128 value)
{
	const char *direction = direction_name(c->direction);
	const char *destination = v->by_destination ? destination_name(c->destination) : NULL;
	const char *device = v->takes == is_port ? "port" : "device";
	char socket[16];

	snprintf(socket, sizeof(socket), "%u", c->socket);
	expose_number(x,
		      LABELS({ "socket", socket },
			     { "source", c->bdf[0] ? NULL : source_name(c->source) },
			     { device, c->bdf }, { "direction", direction },
			     { "destination", destination }, { "reason", reason }),
		      value);
}

/* A counter that never had a value has no series; it is not 0. */
static bool was_counted(const struct accounts_node *n, const struct account_node_total *t)
{
	return t->missing < n->intervals;
}

/* Counters with the same labels are one series. */
static void expose_view(struct exposer *x, const struct accounts_node *n, const struct view *v,
			part_fn part, unsigned int which, const char *reason)
{
	for (size_t i = 0; i < n->nr_totals; i++) {
		const struct account_counter *c = &n->counters[n->totals[i].counter];
		sum128 sum = 0;
		bool first = true;

		if (!v->takes(c) || !was_counted(n, &n->totals[i]))
			continue;
		for (size_t k = 0; k < n->nr_totals; k++) {
			const struct account_counter *other = &n->counters[n->totals[k].counter];

			if (!v->takes(other) || !same_labels(v, c, other) ||
			    !was_counted(n, &n->totals[k]))
				continue;
			first = first && k >= i;
			sum += part(&n->totals[k], which);
		}
		if (first)
			expose_total(x, v, c, reason, sum);
	}
}

static void expose_bytes(struct exposer *x, const struct accounts_node *n)
{
	expose_family(x, "t410trace_memory_bytes", METRIC_COUNTER, "bytes",
		      "Bytes that CPUs, devices and other sockets read and wrote, as counted.");
	expose_view(x, n, &view_memory, part_value, 0, NULL);
	expose_family(x, "t410trace_memory_attributed_bytes", METRIC_COUNTER, "bytes",
		      "Of these, bytes that were attributed to workloads.");
	expose_view(x, n, &view_memory, part_attributed, 0, NULL);
	expose_family(x, "t410trace_memory_unattributed_bytes", METRIC_COUNTER, "bytes",
		      "The rest of these bytes, by the reason why they belong to no workload.");
	for (unsigned int i = 0; i < NR_REASONS; i++)
		expose_view(x, n, &view_memory, part_reason, i, reason_name(i));
	expose_family(x, "t410trace_device_bytes", METRIC_COUNTER, "bytes",
		      "Bytes that a device read from and wrote to memory, as counted.");
	expose_view(x, n, &view_device, part_value, 0, NULL);
	expose_family(x, "t410trace_device_attributed_bytes", METRIC_COUNTER, "bytes",
		      "Of these, bytes that were attributed to workloads.");
	expose_view(x, n, &view_device, part_attributed, 0, NULL);
	expose_family(x, "t410trace_device_destination_bytes", METRIC_COUNTER, "bytes",
		      "Bytes of a device by where they went, where counters tell it.");
	expose_view(x, n, &view_device_destination, part_value, 0, NULL);
	expose_family(x, "t410trace_port_bytes", METRIC_COUNTER, "bytes",
		      "Bytes of all devices below a root port, counted as a whole.");
	expose_view(x, n, &view_port, part_value, 0, NULL);
}

/* A family whose series share their labels with other families. */
struct family {
	const char *name;
	const char *unit;
	const char *help;
};

static bool counts_energy(const struct accounts_node *n)
{
	for (size_t i = 0; i < n->nr_totals; i++)
		if (n->counters[n->totals[i].counter].unit == UNIT_NANOJOULES &&
		    was_counted(n, &n->totals[i]))
			return true;
	return false;
}

static void expose_energy_part(struct exposer *x, const struct accounts_node *n, part_fn part,
			       unsigned int which, const char *reason)
{
	for (size_t i = 0; i < n->nr_totals; i++) {
		const struct account_counter *c = &n->counters[n->totals[i].counter];
		char socket[16];

		if (c->unit != UNIT_NANOJOULES || !was_counted(n, &n->totals[i]))
			continue;
		snprintf(socket, sizeof(socket), "%u", c->socket);
		expose_fact(x,
			    LABELS({ "socket", socket }, { "source", source_name(c->source) },
				   { "counter", c->name }, { "reason", reason }),
			    FACT_NANOJOULES, part(&n->totals[i], which));
	}
}

/* Nothing without such counters, as with parts. */
static void expose_energy(struct exposer *x, const struct accounts_node *n)
{
	if (!counts_energy(n))
		return;
	expose_family(x, "t410trace_energy_joules", METRIC_COUNTER, "joules",
		      "Energy as counted, by counter. A counter may be a part of another one.");
	expose_energy_part(x, n, part_value, 0, NULL);
	expose_family(x, "t410trace_energy_attributed_joules", METRIC_COUNTER, "joules",
		      "Of this, energy that went on workloads' accounts.");
	expose_energy_part(x, n, part_attributed, 0, NULL);
	expose_family(x, "t410trace_energy_unattributed_joules", METRIC_COUNTER, "joules",
		      "The rest of this energy, by the reason why it belongs to no workload.");
	for (unsigned int i = 0; i < NR_REASONS; i++)
		expose_energy_part(x, n, part_reason, i, reason_name(i));
}

static void expose_counters(struct exposer *x, const struct accounts_node *n)
{
	static const struct family families[] = {
		{ "t410trace_event_enabled_seconds", "seconds",
		  "Time that a counter should have counted." },
		{ "t410trace_event_running_seconds", "seconds",
		  "Time that a counter did count; less where counters take turns." },
		{ "t410trace_event_missing_intervals", NULL,
		  "Intervals in which a counter had no value." },
	};

	for (size_t f = 0; f < ARRAY_SIZE(families); f++) {
		expose_family(x, families[f].name, METRIC_COUNTER, families[f].unit,
			      families[f].help);
		for (size_t i = 0; i < n->nr_totals; i++) {
			const struct account_node_total *t = &n->totals[i];
			const struct account_counter *c = &n->counters[t->counter];
			char socket[16];
			const struct label labels[] = { { "counter", c->name },
							{ "socket", socket },
							{ NULL, NULL } };

			snprintf(socket, sizeof(socket), "%u", c->socket);
			if (families[f].unit)
				expose_seconds(x, labels, f ? t->running_ns : t->enabled_ns);
			else
				expose_number(x, labels, t->missing);
		}
	}
}

static void expose_sockets(struct exposer *x, const struct openmetrics *m)
{
	expose_family(
		x, "t410trace_cpu_seconds", METRIC_COUNTER, "seconds",
		"CPU time of a socket: busy with tasks, idle, or of tasks that were not noted "
		"(lost).");
	for (size_t i = 0; i < m->nr_sockets; i++) {
		const struct socket_time *t = &m->sockets[i];
		char id[16];

		snprintf(id, sizeof(id), "%u", t->id);
		for (size_t k = 0; k < NR_FACTS_OF_SOCKETS; k++)
			expose_seconds(
				x, LABELS({ "socket", id }, { "mode", facts_of_sockets[k].title }),
				t->numbers[k]);
	}
}

static void expose_devices(struct exposer *x, const struct openmetrics *m)
{
	expose_family(x, "t410trace_device", METRIC_INFO, NULL,
		      "What the devices are called and what they are.");
	/* a device has one series of requests read */
	for (size_t i = 0; i < m->nr_dims; i++)
		if (m->dims[i].kind == DIM_REQUESTS && m->dims[i].direction == DIRECTION_READ)
			expose_number(x,
				      LABELS({ "device", m->dims[i].bdf },
					     { "name", m->dims[i].name },
					     { "kind", device_kind_name(m->dims[i].device) }),
				      1);
}

/* No family without a peak: an unknown peak is not a rate of 0. */
static void expose_peaks(struct exposer *x, const struct openmetrics *m, const struct peaks *p)
{
	char socket[16];

	if (!p->nr)
		return;
	expose_family(
		x, "t410trace_peak_bytes_per_second", METRIC_GAUGE, NULL,
		"The most that memory of a socket (cmem: reads and writes together), a link "
		"in one direction or a PCIe device in one direction can move, and who says so.");
	for (uint32_t i = 0; i < p->nr; i++) {
		const struct peak *one = &p->items[i];

		snprintf(socket, sizeof(socket), "%u", one->socket);
		expose_number(x,
			      LABELS({ "of", peak_name(one->of) },
				     { "socket", one->socket == PEAK_EVERY_SOCKET ? NULL : socket },
				     { "from", peak_from_name(one->from) }),
			      one->bytes_per_s);
	}
	expose_family(x, "t410trace_peak_ratio", METRIC_GAUGE, "ratio",
		      "What part of it was used in the last interval; of links in the busier "
		      "direction.");
	for (size_t i = 0; i < m->nr_peaks; i++) {
		snprintf(socket, sizeof(socket), "%u", m->peaks[i].socket);
		expose_ratio(x,
			     LABELS({ "of", peak_name(m->peaks[i].peak.of) }, { "socket", socket },
				    { "from", peak_from_name(m->peaks[i].peak.from) }),
			     m->peaks[i].share);
	}
}

/* Nothing without parts: a family without series would suggest possible ones. */
static void expose_parts(struct exposer *x, const struct openmetrics *m)
{
	static const struct family families[] = {
		{ "t410trace_part_bytes", "bytes",
		  "Bytes measured elsewhere than the memory controllers: parts of "
		  "t410trace_memory_bytes once more, or beside it. Not to be added to it." },
		{ "t410trace_part_enabled_seconds", "seconds",
		  "Time that the events of a part should have counted, of all its PMUs." },
		{ "t410trace_part_running_seconds", "seconds",
		  "Time that they counted: less where they take turns." },
	};

	for (size_t f = 0; m->nr_parts && f < ARRAY_SIZE(families); f++) {
		expose_family(x, families[f].name, METRIC_COUNTER, families[f].unit,
			      families[f].help);
		for (size_t i = 0; i < m->nr_parts; i++) {
			const struct part_series *s = &m->parts[i];
			char socket[16];
			const struct label labels[] = { { "socket", socket },
							{ "part", part_name(s->kind) },
							{ "direction",
							  direction_name(s->direction) },
							{ NULL, NULL } };

			/* as with counters: without a value there are no bytes */
			if (!f && !s->running_ns && !s->bytes)
				continue;
			snprintf(socket, sizeof(socket), "%u", s->socket);
			if (f)
				expose_seconds(x, labels, f > 1 ? s->running_ns : s->enabled_ns);
			else
				expose_number(x, labels, s->bytes);
		}
	}
}

void expose_machine(struct exposer *x, const struct openmetrics *m,
		    const struct openmetrics_state *s)
{
	expose_bytes(x, s->node);
	expose_energy(x, s->node);
	expose_counters(x, s->node);
	expose_sockets(x, m);
	expose_parts(x, m);
	expose_devices(x, m);
	expose_peaks(x, m, &s->host->peaks);
}

/* --- health */

/* A family of one series. */
struct scalar {
	const char *name;
	enum metric_type type;
	const char *unit;
	const char *help;
	uint64_t value;
	bool ns;
};

static void expose_scalars(struct exposer *x, const struct scalar *s, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		expose_family(x, s[i].name, s[i].type, s[i].unit, s[i].help);
		if (s[i].ns)
			expose_seconds(x, NO_LABELS, s[i].value);
		else
			expose_number(x, NO_LABELS, s[i].value);
	}
}

static void expose_infos(struct exposer *x, const struct openmetrics_state *s)
{
	char sockets[16];

	snprintf(sockets, sizeof(sockets), "%u", s->host->sockets);
	expose_family(x, "t410trace_build", METRIC_INFO, NULL, "The program.");
	expose_number(x, LABELS({ "version", T410TRACE_VERSION }), 1);
	expose_family(x, "t410trace_host", METRIC_INFO, NULL,
		      "The machine; platform \"none\" has no counters.");
	expose_number(x,
		      LABELS({ "name", s->host->name }, { "kernel", s->host->kernel },
			     { "platform", s->host->platform }, { "sockets", sockets }),
		      1);
	expose_family(x, "t410trace_estimate", METRIC_INFO, NULL,
		      "How bytes are attributed, what activity is measured with, and on which CPUs "
		      "the tick closes windows.");
	expose_number(x,
		      LABELS({ "method", method_name(s->node->quality.method) },
			     { "weights", s->node->quality.weights }, { "tick", s->host->tick }),
		      1);
}

static void expose_losses(struct exposer *x, const struct accounts_node *n)
{
	static const struct fact_of losses[] = {
		OF_QUALITY(invalid_windows),  OF_QUALITY(unscheduled_windows),
		OF_QUALITY(lost_windows),     OF_QUALITY(merged_windows),
		OF_QUALITY(fallback_windows), OF_QUALITY(kept_flushes),
		OF_QUALITY(lost_tasks),	      OF_QUALITY(lost_cgroups),
		OF_QUALITY(late_slices),      OF_QUALITY(lost_slices),
		OF_QUALITY(bad_records),      OF_QUALITY(unseen_switches),
		OF_QUALITY(unknown_tasks),    OF_QUALITY(reader_moves),
		OF_QUALITY(rows_pooled),      OF_QUALITY(pooled_workloads),
		OF_QUALITY(lost_io),	      OF_QUALITY(device_changes),
		OF_QUALITY(counter_restarts), OF_QUALITY(weights_reopened)
	};

	expose_family(
		x, "t410trace_losses", METRIC_COUNTER, NULL,
		"What was lost, late or made coarser, by kind; bytes of the machine are missing "
		"after counter_restarts only.");
	for (size_t i = 0; i < ARRAY_SIZE(losses); i++)
		expose_number(x, LABELS({ "kind", losses[i].name }),
			      fact_of(&losses[i], &n->quality));
	expose_number(x, LABELS({ "kind", "late_rows" }), n->late_rows);
}

static void expose_self(struct exposer *x, const struct self_cost *c)
{
	expose_family(
		x, "t410trace_self_seconds", METRIC_COUNTER, "seconds",
		"CPU time that t410trace costs: its process, its part of context switches, its "
		"reading of latencies.");
	expose_seconds(x, LABELS({ "part", "process" }), c->cpu_ns);
	expose_seconds(x, LABELS({ "part", "switches" }), c->switch_ns);
	expose_seconds(x, LABELS({ "part", "probes" }), c->probe_ns);
	expose_family(
		x, "t410trace_self_probes", METRIC_COUNTER, NULL,
		"Readings of latency counters: made, put off to keep within the budget, failed.");
	expose_number(x, LABELS({ "state", "read" }), c->probes);
	expose_number(x, LABELS({ "state", "deferred" }), c->probe_deferred);
	expose_number(x, LABELS({ "state", "failed" }), c->probe_failed);
}

static void expose_jobs(struct exposer *x, const struct openmetrics_state *s)
{
	expose_family(x, "t410trace_jobs", METRIC_COUNTER, NULL,
		      "Jobs that began, ended, ended while nobody looked (stale), or had to be "
		      "forgotten before they were stored (dropped).");
	expose_number(x, LABELS({ "event", "started" }), s->node->jobs_started);
	expose_number(x, LABELS({ "event", "ended" }), s->node->jobs_ended);
	expose_number(x, LABELS({ "event", "stale" }), s->node->jobs_stale);
	expose_number(x, LABELS({ "event", "dropped" }), s->node->jobs_dropped);
	expose_family(x, "t410trace_reports", METRIC_COUNTER, NULL,
		      "Closing reports that were written, were removed from a full spool before "
		      "anybody picked them up, or never written as their job had to be forgotten.");
	expose_number(x, LABELS({ "event", "written" }), s->reports_written);
	expose_number(x, LABELS({ "event", "removed" }), s->reports_removed);
	expose_number(x, LABELS({ "event", "unwritten" }), s->reports_unwritten);
}

const char *health_part_name(enum health_part p)
{
	static const char *const names[] = { "intervals", "store", "spool", "counters", "clock" };

	return names[p];
}

static void expose_healthy(struct exposer *x, const struct openmetrics_state *s)
{
	expose_family(
		x, "t410trace_healthy", METRIC_GAUGE, NULL,
		"1 while a part of the daemon works, 0 while it does not; /healthz says why.");
	for (enum health_part p = 0; p < NR_HEALTH_PARTS; p++)
		expose_number(x, LABELS({ "part", health_part_name(p) }), !(s->unhealthy >> p & 1));
}

void expose_health(struct exposer *x, const struct openmetrics_state *s)
{
	const struct accounts_node *n = s->node;
	const struct quality *q = &n->quality;
	const struct scalar scalars[] = {
		{ "t410trace_start_time_seconds", METRIC_GAUGE, "seconds",
		  "When the daemon was started, since 1970.", s->start_ns, true },
		{ "t410trace_reload_successful", METRIC_GAUGE, NULL,
		  "0 when settings were wrong as they were read again last, else 1.",
		  !s->reload_failed, false },
		{ "t410trace_restart_needed", METRIC_GAUGE, NULL,
		  "1 while changed settings wait for a restart.", s->restart_needed, false },
		{ "t410trace_jobs_running", METRIC_GAUGE, NULL, "Jobs that are running.",
		  s->jobs_running, false },
		{ "t410trace_unreported_jobs", METRIC_GAUGE, NULL,
		  "Jobs that ended and whose closing report could not be written yet.",
		  s->unreported, false },
		{ "t410trace_store_errors", METRIC_COUNTER, NULL,
		  "Failures to write accounts to the store.", s->store_errors, false },
		{ "t410trace_spool_errors", METRIC_COUNTER, NULL,
		  "Failures to write closing reports to the spool.", s->spool_errors, false },
		{ "t410trace_clock_wrong", METRIC_GAUGE, NULL,
		  "1 while no account is forgotten for its age, as the clock cannot be believed.",
		  s->clock_wrong, false },
		{ "t410trace_interval_seconds", METRIC_GAUGE, "seconds",
		  "Length of the last interval.", s->interval_ns, true },
		{ "t410trace_interval_setting_seconds", METRIC_GAUGE, "seconds",
		  "The longest that an interval is, as set.", s->setting_ns, true },
		{ "t410trace_interval_cost_seconds", METRIC_GAUGE, "seconds",
		  "What closing the last interval took.", s->cost_ns, true },
		{ "t410trace_intervals", METRIC_COUNTER, NULL, "Intervals that are in the totals.",
		  n->intervals, false },
		{ "t410trace_covered_seconds", METRIC_COUNTER, "seconds",
		  "Time that is in the totals.", n->covered_ns, true },
		{ "t410trace_gaps", METRIC_COUNTER, NULL,
		  "Times that nobody looked, between two runs.", n->gaps, false },
		{ "t410trace_gap_seconds", METRIC_COUNTER, "seconds", "How long these were.",
		  n->gap_ns, true },
		{ "t410trace_windows", METRIC_COUNTER, NULL, "Readings of counters that were used.",
		  q->windows, false },
		{ "t410trace_weighted_windows", METRIC_COUNTER, NULL,
		  "Of these, those in which core events told what workloads did.",
		  q->weight_windows, false },
		{ "t410trace_lost_cpu_seconds", METRIC_COUNTER, "seconds",
		  "CPU time whose task could not be noted.", q->lost_slices_ns, true },
		{ "t410trace_uncounted_seconds", METRIC_COUNTER, "seconds",
		  "Time that counters missed, which went backward or were opened again, by "
		  "counter.",
		  q->uncounted_ns, true },
		{ "t410trace_unweighed_cpu_seconds", METRIC_COUNTER, "seconds",
		  "CPU time in which no core event counted though there are some.", q->unweighed_ns,
		  true },
		{ "t410trace_task_cpu_seconds", METRIC_COUNTER, "seconds",
		  "CPU time of tasks while counters were read window by window.", q->tasks_ns,
		  true },
		{ "t410trace_spread_cpu_seconds", METRIC_COUNTER, "seconds",
		  "Of this, what is known for several windows together only.", q->spread_ns, true },
		{ "t410trace_unowned_request_bytes", METRIC_COUNTER, "bytes",
		  "Bytes of requests to devices that nobody is known to have caused.",
		  q->unowned_io_bytes, false },
		{ "t410trace_device_held_seconds", METRIC_COUNTER, "seconds",
		  "Time that others kept counters of devices from counting.", q->device_held_ns,
		  true },
		{ "t410trace_self_switches", METRIC_COUNTER, NULL,
		  "Context switches that t410trace ran at.", n->self.switches, false },
	};

	expose_infos(x, s);
	expose_healthy(x, s);
	expose_jobs(x, s);
	expose_scalars(x, scalars, ARRAY_SIZE(scalars));
	expose_losses(x, n);
	expose_self(x, &n->self);
}
