// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Choice of the jobs with series, and of their cells: keeps the number of both bounded. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "report/devices.h"
#include "report/format.h"
#include "report/openmetrics/internal.h"

#define SMOOTHING 8 /* number of intervals that a score covers */

/* --- counters */

static bool same_dim(const struct dim *a, const struct dim *b)
{
	if (a->kind == DIM_ENERGY || b->kind == DIM_ENERGY)
		return a->kind == b->kind && a->socket == b->socket && !strcmp(a->name, b->name);
	return a->kind == b->kind && a->direction == b->direction && !strcmp(a->bdf, b->bdf) &&
	       (a->kind != DIM_MEMORY || (a->socket == b->socket && a->source == b->source &&
					  a->destination == b->destination));
}

static int dim_find(struct openmetrics *m, const struct dim *d, size_t *ret)
{
	size_t i;

	for (i = 0; i < m->nr_dims && !same_dim(&m->dims[i], d); i++)
		;
	if (i == m->nr_dims) {
		if (array_reserve(m->dims, m->cap_dims, m->nr_dims))
			return -ENOMEM;
		m->dims[m->nr_dims++] = *d;
	}
	*ret = i;
	return 0;
}

/*
 * Without a count there is no series: missing is not 0. No workload owns bytes of a root port as a
 * whole, whether as a check or shared: they are the machine's (t410trace_port_bytes).
 */
static int map_device(struct openmetrics *m, const struct report_device *rd, size_t ret[4])
{
	const struct device *device = rd->device;
	const bool valid[4] = { rd->read.valid, rd->write.valid, rd->read.io_valid,
				rd->write.io_valid };
	struct dim d = { .socket = device->socket, .device = device->kind };

	for (size_t i = 0; i < 4; i++)
		ret[i] = NO_DIM;
	if (devices_is_port(rd) || devices_is_link(rd))
		return 0;
	str_copy(d.bdf, sizeof(d.bdf), device->bdf);
	str_copy(d.name, sizeof(d.name), device->name);
	for (size_t i = 0; i < 4; i++) {
		d.kind = i < 2 ? DIM_DEVICE : DIM_REQUESTS;
		d.direction = i % 2 ? DIRECTION_WRITE : DIRECTION_READ;
		if (valid[i] && dim_find(m, &d, &ret[i]))
			return -ENOMEM;
	}
	return 0;
}

static int map_counter(struct openmetrics *m, const struct report *r, size_t i)
{
	const struct counter *c = r->counters[i].counter;
	struct dim d = { .kind = c->unit == UNIT_BYTES ? DIM_MEMORY : DIM_ENERGY,
			 .socket = report_socket_id(r, c),
			 .source = c->source,
			 .direction = c->direction,
			 .destination = c->destination };

	m->counter_dims[i] = NO_DIM;
	if (c->device || !unit_is_split(c->unit) || !r->counters[i].valid)
		return 0;
	if (d.kind == DIM_ENERGY)
		str_copy(d.name, sizeof(d.name), c->name);
	return dim_find(m, &d, &m->counter_dims[i]);
}

static int series_cells(struct series *s, size_t nr)
{
	struct cell *cells;

	if (s->nr_cells >= nr)
		return 0;
	cells = reallocarray(s->cells, nr, sizeof(*cells));
	if (!cells)
		return -ENOMEM;
	memset(cells + s->nr_cells, 0, (nr - s->nr_cells) * sizeof(*cells));
	s->cells = cells;
	s->nr_cells = nr;
	return 0;
}

int dims_map(struct openmetrics *m, const struct report *r)
{
	size_t *counters = reallocarray(m->counter_dims, r->nr_counters + 1, sizeof(*counters));
	size_t *devices;
	size_t i;

	if (!counters)
		return -ENOMEM;
	m->counter_dims = counters;
	devices = reallocarray(m->device_dims, r->nr_devices * 4 + 1, sizeof(*devices));
	if (!devices)
		return -ENOMEM;
	m->device_dims = devices;
	for (i = 0; i < r->nr_counters; i++)
		if (map_counter(m, r, i))
			return -ENOMEM;
	for (i = 0; i < r->nr_devices; i++)
		if (map_device(m, &r->devices[i], &m->device_dims[i * 4]))
			return -ENOMEM;
	for (i = 0; i < m->nr_series; i++)
		if (series_cells(&m->series[i], m->nr_dims))
			return -ENOMEM;
	m->only_energy = true;
	for (i = 0; i < m->nr_dims; i++)
		m->only_energy &= m->dims[i].kind == DIM_ENERGY;
	return 0;
}

size_t dim_of(const struct openmetrics *m, const struct report *r, const struct fact *f)
{
	if (f->record == FACT_SHARE)
		return m->counter_dims[f->counter - r->counters];
	return m->device_dims[(f->device - r->devices) * 4 + (f->record == FACT_IO ? 2 : 0) +
			      f->direction];
}

uint64_t dims_size(const struct openmetrics *m, size_t dim, uint64_t value)
{
	return m->only_energy || m->dims[dim].kind != DIM_ENERGY ? value : 0;
}

/* --- jobs with series */

struct series *series_find(const struct openmetrics *m, uint64_t cgroup_id)
{
	for (size_t i = NR_FIXED_SERIES; i < m->nr_series; i++)
		if (m->series[i].job.cgroup_id == cgroup_id)
			return &m->series[i];
	return NULL;
}

static void series_drop(struct openmetrics *m, size_t i)
{
	free(m->series[i].cells);
	m->nr_series--;
	memmove(&m->series[i], &m->series[i + 1], (m->nr_series - i) * sizeof(*m->series));
}

static size_t nr_live(const struct openmetrics *m)
{
	size_t nr = 0;

	for (size_t i = NR_FIXED_SERIES; i < m->nr_series; i++)
		nr += !m->series[i].over;
	return nr;
}

static struct series *smallest(struct openmetrics *m)
{
	struct series *least = NULL;

	for (size_t i = NR_FIXED_SERIES; i < m->nr_series; i++) {
		struct series *s = &m->series[i];

		if (!s->over && (!least || s->score < least->score))
			least = s;
	}
	return least;
}

static void series_end(const struct openmetrics *m, struct series *s, bool evicted)
{
	if (!s->over)
		s->left = m->o.keep;
	s->over = true;
	s->evicted = evicted;
}

static void expire(struct openmetrics *m)
{
	for (size_t i = NR_FIXED_SERIES; i < m->nr_series; i++) {
		struct series *s = &m->series[i];

		s->score += ((double)s->gain - s->score) / SMOOTHING;
		s->gone = s->over && !s->left;
		if (s->over && s->left)
			s->left--;
		s->gain = 0;
	}
}

/*
 * Drop those that ended long ago and, at the bound, those that ended first. Only after all new ones
 * have their labels: a scraper must not take a removed series and a new one for the same.
 */
static void trim(struct openmetrics *m)
{
	size_t i, first;

	for (i = m->nr_series; i-- > NR_FIXED_SERIES;)
		if (m->series[i].gone)
			series_drop(m, i);
	while (m->nr_series > NR_FIXED_SERIES + 2 * m->o.top) {
		first = 0;
		for (i = NR_FIXED_SERIES; i < m->nr_series; i++)
			if (m->series[i].over &&
			    (!first || m->series[i].left < m->series[first].left))
				first = i;
		series_drop(m, first);
	}
}

int series_limit(struct openmetrics *m, const struct openmetrics_options *o)
{
	size_t top = o->top < OPENMETRICS_MAX_TOP ? o->top : OPENMETRICS_MAX_TOP;
	struct series *bigger;

	/* within an interval, each may get a new label and then lose its place to another job */
	if (top > m->o.top || !m->series) {
		bigger = reallocarray(m->series, NR_FIXED_SERIES + 4 * top, sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		m->series = bigger;
	}
	m->o = (struct openmetrics_options){ top, o->keep };
	while (nr_live(m) > top)
		series_end(m, smallest(m), true);
	trim(m);
	return 0;
}

/* "slurm:12"; with the cgroup behind it while another series still has that name */
static int name_series(const struct openmetrics *m, struct series *s)
{
	cleanup_free char *id = NULL;
	int err = format_utf8(s->job.id, sizeof(s->job.id), &id);

	if (err)
		return err;
	s->workload[0] = '\0';
	str_append(s->workload, sizeof(s->workload), "%s:%s", scheduler_name(s->job.scheduler), id);
	for (size_t i = 0; i < m->nr_series; i++)
		if (!strcmp(m->series[i].workload, s->workload))
			return str_append(s->workload, sizeof(s->workload), "@%llu",
					  (unsigned long long)s->job.cgroup_id);
	return 0;
}

static void series_begin(struct openmetrics *m, const struct row_job *job, double score,
			 uint64_t now_ns)
{
	struct series s = { .job = *job, .since_ns = now_ns, .score = score };

	/* Without memory it is part of "other", like small ones. */
	if (name_series(m, &s) || series_cells(&s, m->nr_dims)) {
		free(s.cells);
		return;
	}
	m->series[m->nr_series++] = s;
}

/* Take over news about jobs; a number other than that in the label needs a new label. */
static void update(struct openmetrics *m, const struct report_row *row, uint64_t now_ns)
{
	struct series *s = series_find(m, row->job->cgroup_id);
	struct row_job job = *row->job;
	double score;

	if (!s)
		return;
	job.step[0] = '\0';
	if (s->over || !strcmp(s->job.id, job.id)) {
		s->job = job;
	} else {
		score = s->score;
		series_end(m, s, false);
		s->job.cgroup_id = 0;
		series_begin(m, &job, score, now_ns);
		s = series_find(m, job.cgroup_id);
	}
	if (s && row->exited)
		series_end(m, s, false);
}

static bool is_job(const struct report_row *row)
{
	return !row->parent[0] && row->job && row->job->cgroup_id;
}

struct sizing {
	const struct openmetrics *m;
	const struct report *r;
	uint64_t size;
};

static int add_size(void *arg, const struct fact *f)
{
	struct sizing *s = arg;
	size_t dim = dim_of(s->m, s->r, f);

	if (f->record != FACT_SHARE)
		s->size += f->value;
	else if (dim != NO_DIM)
		s->size += dims_size(s->m, dim, f->value);
	return 0;
}

/* Does the job have a context on a GPU? */
static bool holds_gpu(const struct report *r, uint64_t cgroup_id)
{
	for (size_t i = 0; i < r->nr_devices; i++) {
		const struct device_users *by = &r->devices[i].by;
		bool gpu = r->devices[i].device->kind == DEVICE_GPU;

		for (size_t n = 0; gpu && n < by->nr; n++)
			if (by->users[n].job && by->users[n].job->cgroup_id == cgroup_id)
				return true;
	}
	return false;
}

static uint64_t size_of(const struct openmetrics *m, const struct report *r,
			const struct report_row *row)
{
	struct sizing s = { .m = m, .r = r };

	facts_row(r, row, ~(FACTS(FACT_CPU) | FACTS(FACT_LATENCY)), add_size, &s);
	/* Without counters, CPU time decides the size of jobs. A GPU that is held but idle is to be seen. */
	return m->nr_dims ? s.size + holds_gpu(r, row->job->cgroup_id) : row->on_cpu_ns;
}

struct series_candidate {
	const struct report_row *row;
	uint64_t size;
};

static int by_size(const void *a, const void *b)
{
	const struct series_candidate *x = a, *y = b;

	return ORDER(y->size, x->size) ?: ORDER(x->row, y->row);
}

/* Give a place to a job; false when there is none for it, and so for no smaller one. */
static bool place(struct openmetrics *m, const struct series_candidate *c, uint64_t now_ns)
{
	struct series *s, *least;

	if (nr_live(m) >= m->o.top) {
		least = smallest(m);
		/* much larger, so that two similar ones do not alternate */
		if (!least || least->score * 2 >= (double)c->size)
			return false;
		series_end(m, least, true);
	}
	s = series_find(m, c->row->job->cgroup_id);
	if (s) {
		s->over = s->evicted = s->gone = false;
		s->score = c->size;
	} else {
		series_begin(m, c->row->job, c->size, now_ns);
	}
	return true;
}

int series_choose(struct openmetrics *m, const struct report *r)
{
	cleanup_free struct series_candidate *all =
		reallocarray(NULL, r->nr_rows + 1, sizeof(*all));
	uint64_t now_ns = r->start_time_ns + (r->end_ns - r->start_ns);
	size_t i, nr = 0;

	if (!all)
		return -ENOMEM;
	expire(m);
	for (i = 0; i < r->nr_rows; i++) {
		const struct report_row *row = &r->rows[i];
		const struct series *s;

		if (!is_job(row))
			continue;
		update(m, row, now_ns);
		s = series_find(m, row->job->cgroup_id);
		all[nr] = (struct series_candidate){ row, size_of(m, r, row) };
		nr += all[nr].size && !row->exited && (!s || s->evicted);
	}
	qsort(all, nr, sizeof(*all), by_size);
	for (i = 0; i < nr && place(m, &all[i], now_ns); i++)
		;
	trim(m);
	return 0;
}
