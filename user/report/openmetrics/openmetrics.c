// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Adding an interval, and writing everything. */
#include "report/openmetrics/openmetrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "report/format.h"
#include "report/openmetrics/internal.h"
#include "report/peaks.h"

int openmetrics_new(const struct openmetrics_options *o, struct openmetrics **ret)
{
	struct openmetrics *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	if (series_limit(m, o)) {
		free(m);
		return -ENOMEM;
	}
	m->series[SERIES_OTHER] = (struct series){ .workload = "other" };
	m->series[SERIES_NONE] = (struct series){ .workload = "none" };
	m->nr_series = NR_FIXED_SERIES;
	*ret = m;
	return 0;
}

void openmetrics_free(struct openmetrics *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->nr_series; i++)
		free(m->series[i].cells);
	free(m->series);
	free(m->dims);
	free(m->counter_dims);
	free(m->device_dims);
	free(m->groups);
	free(m->gpus);
	free(m->uses);
	free(m);
}

void openmetrics_limits(struct openmetrics *m, const struct openmetrics_options *o)
{
	struct openmetrics_options less = *o;

	if (!series_limit(m, o))
		return;
	/* no memory for more: as many as there is room for */
	less.top = m->o.top;
	series_limit(m, &less);
}

static void add_socket(struct openmetrics *m, const struct fact *f)
{
	size_t k;

	for (k = 0; k < m->nr_sockets && m->sockets[k].id != f->socket; k++)
		;
	if (k == ARRAY_SIZE(m->sockets))
		return;
	if (k == m->nr_sockets)
		m->sockets[m->nr_sockets++].id = f->socket;
	m->sockets[k].numbers[f->of - facts_of_sockets] += f->value;
}

static void note_peaks(struct openmetrics *m, const struct report *r)
{
	struct peak_use u;

	m->nr_peaks = 0;
	for (size_t at = 0; m->nr_peaks < ARRAY_SIZE(m->peaks) && peaks_use(r, &at, &u);)
		if (u.valid && !u.device)
			m->peaks[m->nr_peaks++] = (struct peak_part){ *u.peak, u.socket, u.share };
}

static void add_part(struct openmetrics *m, const struct report *r, const struct report_part *rp)
{
	const struct traffic_part *p = rp->part;
	uint32_t socket = report_socket_at(r, p->socket);
	struct part_series *s = m->parts;

	while (s < m->parts + m->nr_parts &&
	       (s->socket != socket || s->kind != p->kind || s->direction != p->direction))
		s++;
	if (s == m->parts + MAX_PART_SERIES)
		return;
	if (s == m->parts + m->nr_parts) {
		m->nr_parts++;
		*s = (struct part_series){ .socket = socket,
					   .kind = p->kind,
					   .direction = p->direction };
	}
	s->bytes += rp->bytes;
	s->enabled_ns += rp->enabled_ns;
	s->running_ns += rp->running_ns;
}

static bool is_fixed(const struct openmetrics *m, const struct series *s)
{
	return s < m->series + NR_FIXED_SERIES;
}

/* Does it begin with this interval, whose bytes then go to "other"? */
static bool begins(const struct openmetrics *m, const struct series *s, uint64_t since)
{
	return !is_fixed(m, s) && (!since || since == m->interval);
}

static struct series *series_of(struct openmetrics *m, const struct report_row *row)
{
	struct series *s;

	if (!row->job || !row->job->cgroup_id)
		return &m->series[SERIES_NONE];
	s = series_find(m, row->job->cgroup_id);
	return s ? s : &m->series[SERIES_OTHER];
}

struct adding {
	struct openmetrics *m;
	const struct report *r;
	struct series *s;
};

/* Where a number of a row goes; NULL: nowhere */
static struct cell *cell_of(const struct adding *a, struct series *s, const struct fact *f)
{
	size_t dim = f->of ? 0 : dim_of(a->m, a->r, f);

	return f->of ? &s->numbers[f->of - facts_of_rows] : dim == NO_DIM ? NULL : &s->cells[dim];
}

/* Only for a job as a whole: the error of a sum does not follow from its parts. */
static int add_width(void *arg, const struct fact *f)
{
	const struct adding *a = arg;
	struct cell *c = cell_of(a, a->s, f);

	if (c && begins(a->m, a->s, c->since))
		c = cell_of(a, &a->m->series[SERIES_OTHER], f);
	if (c && f->known == FACT_BAR)
		c->width += f->high - f->low;
	return 0;
}

static int add_value(void *arg, const struct fact *f)
{
	const struct adding *a = arg;
	struct cell *c = cell_of(a, a->s, f);

	if (!c || !f->value)
		return 0;
	if (!f->of)
		a->s->gain += dims_size(a->m, dim_of(a->m, a->r, f), f->value);
	if (begins(a->m, a->s, c->since)) {
		c->since = a->m->interval;
		c = cell_of(a, &a->m->series[SERIES_OTHER], f);
	}
	c->value += f->value;
	return 0;
}

static void add_row(struct openmetrics *m, const struct report *r, const struct report_row *row,
		    fact_fn add)
{
	struct adding a = { m, r, series_of(m, row) };

	facts_row(r, row, ~FACTS(FACT_LATENCY), add, &a);
}

static int add_machine(void *arg, const struct fact *f)
{
	const struct adding *a = arg;

	if (f->part)
		add_part(a->m, a->r, f->part);
	else
		add_socket(a->m, f);
	return 0;
}

int openmetrics_interval(struct openmetrics *m, const struct report *r)
{
	int err;

	m->interval++;
	facts_machine(r, FACTS(FACT_CPU) | FACTS(FACT_PART), add_machine,
		      &(struct adding){ .m = m, .r = r });
	note_peaks(m, r);
	err = dims_map(m, r);
	if (!err)
		err = series_choose(m, r);
	if (err)
		return err;
	for (size_t i = 0; i < NR_FIXED_SERIES; i++) {
		for (size_t k = 0; k < NR_FACTS_OF_ROWS; k++)
			m->series[i].numbers[k].since = m->interval;
		for (size_t k = 0; k < m->nr_dims; k++)
			m->series[i].cells[k].since = m->interval;
	}
	for (size_t i = 0; i < r->nr_rows; i++)
		if (!r->rows[i].parent[0])
			add_row(m, r, &r->rows[i], add_width);
	for (size_t i = 0; i < r->nr_rows; i++)
		if (r->rows[i].leaf)
			add_row(m, r, &r->rows[i], add_value);
	return groups_interval(m, r) ?: gpus_interval(m, r);
}

/* --- counts of jobs */

static void expose_cell(struct exposer *x, const struct series *s, const struct dim *d,
			sum128 value)
{
	char socket[16];

	snprintf(socket, sizeof(socket), "%u", d->socket);
	if (d->kind == DIM_ENERGY)
		expose_fact(x,
			    LABELS({ "workload", s->workload }, { "socket", socket },
				   { "counter", d->name }),
			    FACT_NANOJOULES, value);
	else if (d->kind == DIM_MEMORY)
		expose_number(x,
			      LABELS({ "workload", s->workload }, { "socket", socket },
				     { "source", source_name(d->source) },
				     { "direction", direction_name(d->direction) },
				     { "destination", destination_name(d->destination) }),
			      value);
	else
		expose_number(x,
			      LABELS({ "workload", s->workload }, { "device", d->bdf },
				     { "direction", direction_name(d->direction) }),
			      value);
}

static void expose_cells(struct exposer *x, const struct openmetrics *m, enum dim_kind kind,
			 bool widths)
{
	for (size_t i = 0; i < m->nr_series; i++) {
		const struct series *s = &m->series[i];

		for (size_t k = 0; k < s->nr_cells; k++) {
			const struct cell *c = &s->cells[k];

			if (m->dims[k].kind == kind && c->since)
				expose_cell(x, s, &m->dims[k], widths ? c->width / 2 : c->value);
		}
	}
}

static int expose_info(struct exposer *x, const struct openmetrics *m, bool names)
{
	expose_family(x, "t410trace_workload", METRIC_INFO, NULL,
		      "Who the workloads are that have series of their own.");
	for (size_t i = NR_FIXED_SERIES; i < m->nr_series; i++) {
		const struct series *s = &m->series[i];
		cleanup_free char *id = NULL, *name = NULL, *user = NULL;

		if (format_utf8(s->job.id, sizeof(s->job.id), &id) ||
		    format_utf8(s->job.name, sizeof(s->job.name), &name) ||
		    format_utf8(s->job.user, sizeof(s->job.user), &user))
			return -ENOMEM;
		expose_number(x,
			      LABELS({ "workload", s->workload },
				     { "scheduler", scheduler_name(s->job.scheduler) },
				     { "id", id }, { "name", names ? name : NULL },
				     { "user", names ? user : NULL }),
			      1);
	}
	return 0;
}

/* Nothing if it is not counted: a family without series would suggest possible ones. */
static void expose_workload_energy(struct exposer *x, const struct openmetrics *m)
{
	bool counted = false;

	for (size_t i = 0; i < m->nr_dims; i++)
		counted |= m->dims[i].kind == DIM_ENERGY;
	if (!counted)
		return;
	expose_family(x, "t410trace_workload_energy_joules", METRIC_COUNTER, "joules",
		      "Energy that went on a workload's account, estimated.");
	expose_cells(x, m, DIM_ENERGY, false);
	expose_family(x, "t410trace_workload_energy_uncertainty_joules", METRIC_COUNTER, "joules",
		      "Half of the 95% interval of this energy, added up over the intervals.");
	expose_cells(x, m, DIM_ENERGY, true);
}

static void expose_of_rows(struct exposer *x, const struct openmetrics *m, size_t k)
{
	static const char *const units[] = {
		[FACT_NS] = "seconds",
		[FACT_BYTES] = "bytes",
		[FACT_NANOJOULES] = "joules",
		[FACT_COUNT] = NULL,
	};
	const struct fact_of *of = &facts_of_rows[k];

	expose_family(x, of->metric, METRIC_COUNTER, units[of->unit], of->help);
	for (size_t i = 0; i < m->nr_series; i++) {
		const struct series *s = &m->series[i];

		if (!s->numbers[k].since)
			continue;
		expose_fact(x, LABELS({ "workload", s->workload }), of->unit, s->numbers[k].value);
		if (!is_fixed(m, s))
			expose_created(x, LABELS({ "workload", s->workload }), s->since_ns);
	}
}

static int expose_workloads(struct exposer *x, const struct openmetrics *m, bool names)
{
	int err = expose_info(x, m, names);

	if (err)
		return err;
	for (size_t k = 0; k < NR_FACTS_OF_ROWS; k++)
		expose_of_rows(x, m, k);
	expose_family(x, "t410trace_workload_memory_bytes", METRIC_COUNTER, "bytes",
		      "Bytes that a workload moved, estimated, as memory sees it.");
	expose_cells(x, m, DIM_MEMORY, false);
	expose_family(
		x, "t410trace_workload_memory_uncertainty_bytes", METRIC_COUNTER, "bytes",
		"Half of the 95% interval of a workload's bytes, added up over the intervals.");
	expose_cells(x, m, DIM_MEMORY, true);
	expose_family(
		x, "t410trace_workload_device_bytes", METRIC_COUNTER, "bytes",
		"Bytes that a device read from or wrote to memory for a workload, estimated.");
	expose_cells(x, m, DIM_DEVICE, false);
	expose_family(x, "t410trace_workload_device_uncertainty_bytes", METRIC_COUNTER, "bytes",
		      "Half of the 95% interval of these bytes, added up over the intervals.");
	expose_cells(x, m, DIM_DEVICE, true);
	expose_family(x, "t410trace_workload_request_bytes", METRIC_COUNTER, "bytes",
		      "Bytes of a workload's requests to a device, as the kernel saw them; the "
		      "device's view.");
	expose_cells(x, m, DIM_REQUESTS, false);
	expose_workload_energy(x, m);
	gpus_expose(x, m);
	return groups_expose(x, m);
}

int openmetrics_write(FILE *out, const struct openmetrics *m, const struct openmetrics_state *s,
		      enum exposition e)
{
	struct exposer x = { .out = out, .format = e };
	int err;

	expose_health(&x, s);
	expose_machine(&x, m, s);
	err = expose_workloads(&x, m, s->names);
	if (err)
		return err;
	if (e == EXPOSITION_OPENMETRICS)
		fputs("# EOF\n", out);
	if (fflush(out) || ferror(out))
		return -errno ? -errno : -EIO;
	return 0;
}
