// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * GPUs: bytes of their links, and how long jobs held them and were busy on them. Labels join with
 * those of dcgm-exporter: UUID, and pci_bus_id as the driver spells it.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "report/devices.h"
#include "report/openmetrics/internal.h"

/* "0009:01:00.0" as the driver has it: eight digits for the domain, and large letters */
static void bus_id_of(const char *bdf, char ret[GPU_BUS_ID_LEN])
{
	size_t domain = strcspn(bdf, ":");

	ret[0] = '\0';
	for (size_t i = domain; i < 8; i++)
		str_append(ret, GPU_BUS_ID_LEN, "0");
	str_append(ret, GPU_BUS_ID_LEN, "%s", bdf);
	for (; *ret; ret++)
		*ret = (char)toupper((unsigned char)*ret);
}

/* --- intervals */

static struct gpu_series *find(struct openmetrics *m, const char *bdf)
{
	for (size_t i = 0; i < m->nr_gpus; i++)
		if (!strcmp(m->gpus[i].bdf, bdf))
			return &m->gpus[i];
	return NULL;
}

static int add_gpu(struct openmetrics *m, const struct device *d)
{
	struct gpu_series *g = find(m, d->bdf);

	if (!g) {
		if (array_reserve(m->gpus, m->cap_gpus, m->nr_gpus))
			return -ENOMEM;
		g = &m->gpus[m->nr_gpus++];
		*g = (struct gpu_series){ 0 };
		str_copy(g->bdf, sizeof(g->bdf), d->bdf);
		bus_id_of(d->bdf, g->bus_id);
	}
	if (d->uuid[0])
		str_copy(g->uuid, sizeof(g->uuid), d->uuid);
	return 0;
}

static void add_side(struct link_series *to, const struct device_bytes *side)
{
	if (!side->valid)
		return;
	to->known = true;
	to->bytes += side->bytes;
	to->width += side->high - side->low;
	to->owned += side->owned;
}

static void add_link(struct openmetrics *m, const struct report *r,
		     const struct report_device *link)
{
	uint32_t function = link->device->function;
	struct gpu_series *g =
		devices_of(r, function) ? find(m, devices_of(r, function)->bdf) : NULL;

	if (!g)
		return;
	g->has_link = true;
	g->missing += !link->read.valid || !link->write.valid;
	add_side(&g->link[DIRECTION_READ], &link->read);
	add_side(&g->link[DIRECTION_WRITE], &link->write);
}

static struct gpu_use *find_use(struct openmetrics *m, uint64_t cgroup_id, size_t gpu)
{
	for (size_t i = 0; i < m->nr_uses; i++)
		if (m->uses[i].cgroup_id == cgroup_id && m->uses[i].gpu == gpu)
			return &m->uses[i];
	return NULL;
}

/*
 * It begins at 0 in its first interval: a rate needs two samples. A job may be several users, of
 * instances of a GPU: it holds the GPU as long as one of them.
 */
static int add_use(struct openmetrics *m, size_t gpu, uint64_t cgroup_id, const struct gpu_use *now)
{
	struct gpu_use *u = find_use(m, cgroup_id, gpu);

	if (!u) {
		if (array_reserve(m->uses, m->cap_uses, m->nr_uses))
			return -ENOMEM;
		m->uses[m->nr_uses++] =
			(struct gpu_use){ .cgroup_id = cgroup_id, .gpu = gpu, .told = now->told };
		return 0;
	}
	u->held_ns += now->held_ns;
	u->known_ns += now->known_ns;
	u->busy_ns += now->busy_ns;
	u->idle_ns += now->busy_ns ? 0 : now->known_ns;
	u->told |= now->told;
	return 0;
}

static const struct row_job *job_at(const struct device_user *u)
{
	return u->job && u->job->cgroup_id ? u->job : NULL;
}

static int add_user(struct openmetrics *m, const struct device_users *by, size_t gpu, size_t n)
{
	const struct row_job *job = job_at(&by->users[n]), *other;
	struct gpu_use now = { .told = by->told_ns, .known_ns = by->told_ns };

	if (!job || !series_find(m, job->cgroup_id))
		return 0;
	for (size_t i = 0; i < by->nr; i++) {
		const struct device_user *u = &by->users[i];

		other = job_at(u);
		if (!other || other->cgroup_id != job->cgroup_id)
			continue;
		if (i < n)
			return 0;
		now.held_ns = u->held_ns > now.held_ns ? u->held_ns : now.held_ns;
		now.busy_ns += by->told_ns ? u->busy_ns : 0;
	}
	return add_use(m, gpu, job->cgroup_id, &now);
}

/* Found by its open nodes: the row that alone had them. */
static int add_owner(struct openmetrics *m, const struct report *r, const struct report_device *d,
		     size_t gpu)
{
	const struct gpu_use now = { .held_ns = report_duration_ns(r) };

	for (size_t i = 0; d->exclusive[0] && !d->by.nr && i < r->nr_rows; i++) {
		const struct report_row *row = &r->rows[i];

		if (!strcmp(row->key, d->exclusive) && row->job &&
		    series_find(m, row->job->cgroup_id))
			return add_use(m, gpu, row->job->cgroup_id, &now);
	}
	return 0;
}

static int add_device(struct openmetrics *m, const struct report *r, const struct report_device *d)
{
	int err = add_gpu(m, d->device);
	size_t gpu;

	if (err)
		return err;
	gpu = (size_t)(find(m, d->device->bdf) - m->gpus);
	err = add_owner(m, r, d, gpu);
	for (size_t n = 0; n < d->by.nr && !err; n++)
		err = add_user(m, &d->by, gpu, n);
	return err;
}

/*
 * A job's bytes of links: values are those of leaf rows, and widths of the row of all of them. A
 * link's bytes are those of the interval that opened the series, too: no other series has them.
 */
static void add_row(struct openmetrics *m, const struct report *r, const struct report_row *row)
{
	for (size_t i = 0; row->job && i < row->nr_devices; i++) {
		const struct row_device *d = &row->devices[i];
		const struct device *of = r->devices[d->device].device;
		const struct device *function = devices_of(r, of->function);
		struct gpu_series *g = function && d->counted ? find(m, function->bdf) : NULL;
		struct gpu_use *u =
			g ? find_use(m, row->job->cgroup_id, (size_t)(g - m->gpus)) : NULL;

		if (!u)
			continue;
		u->link[DIRECTION_READ].known = u->link[DIRECTION_WRITE].known = true;
		if (row->leaf) {
			u->link[DIRECTION_READ].bytes += d->read_bytes;
			u->link[DIRECTION_WRITE].bytes += d->write_bytes;
		}
		if (row->parent[0])
			continue;
		u->link[DIRECTION_READ].width += d->read_high - d->read_low;
		u->link[DIRECTION_WRITE].width += d->write_high - d->write_low;
	}
}

int gpus_interval(struct openmetrics *m, const struct report *r)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < m->nr_uses; i++)
		if (series_find(m, m->uses[i].cgroup_id))
			m->uses[kept++] = m->uses[i];
	m->nr_uses = kept;
	for (size_t i = 0; i < r->nr_devices && !err; i++)
		if (r->devices[i].device->kind == DEVICE_GPU)
			err = add_device(m, r, &r->devices[i]);
	for (size_t i = 0; i < r->nr_devices && !err; i++)
		if (r->devices[i].device->kind == DEVICE_LINK)
			add_link(m, r, &r->devices[i]);
	for (size_t i = 0; i < r->nr_rows && m->nr_gpus && !err; i++)
		add_row(m, r, &r->rows[i]);
	return err;
}

/* --- families */

#define GPU_LABELS(g)                                  \
	{ "device", (g)->bdf }, { "UUID", (g)->uuid }, \
	{                                              \
		"pci_bus_id", (g)->bus_id              \
	}

enum link_part { LINK_BYTES, LINK_WIDTH, LINK_OWNED };

static void expose_links(struct exposer *x, const struct openmetrics *m, enum link_part part)
{
	for (size_t i = 0; i < m->nr_gpus; i++) {
		const struct gpu_series *g = &m->gpus[i];

		for (int d = 0; d < NR_WAYS; d++) {
			const struct link_series *l = &g->link[d];
			const sum128 values[] = { l->bytes, l->width / 2, l->owned };

			if (l->known)
				expose_number(
					x,
					LABELS(GPU_LABELS(g), { "direction", direction_name(d) }),
					values[part]);
		}
	}
}

static void expose_machine_gpus(struct exposer *x, const struct openmetrics *m)
{
	bool links = false;

	expose_family(x, "t410trace_gpu", METRIC_INFO, NULL,
		      "GPUs of the run, with the labels that dcgm-exporter has.");
	for (size_t i = 0; i < m->nr_gpus; i++) {
		expose_number(x, LABELS(GPU_LABELS(&m->gpus[i])), 1);
		links |= m->gpus[i].has_link;
	}
	if (!links)
		return;
	expose_family(x, "t410trace_gpu_link_bytes", METRIC_COUNTER, "bytes",
		      "Bytes that a GPU moved over its C2C link, in its view: beside PCIe and the "
		      "memory of sockets, not to be added to them.");
	expose_links(x, m, LINK_BYTES);
	expose_family(x, "t410trace_gpu_link_uncertainty_bytes", METRIC_COUNTER, "bytes",
		      "Half of the distance between the bounds of these bytes, added up.");
	expose_links(x, m, LINK_WIDTH);
	expose_family(x, "t410trace_gpu_link_attributed_bytes", METRIC_COUNTER, "bytes",
		      "Of these bytes, those of workloads.");
	expose_links(x, m, LINK_OWNED);
	expose_family(x, "t410trace_gpu_link_missing_intervals", METRIC_COUNTER, NULL,
		      "Intervals in which there were no bytes of the link.");
	for (size_t i = 0; i < m->nr_gpus; i++)
		if (m->gpus[i].has_link)
			expose_number(x, LABELS(GPU_LABELS(&m->gpus[i])), m->gpus[i].missing);
}

static void expose_uses(struct exposer *x, const struct openmetrics *m, size_t at, bool told)
{
	for (size_t i = 0; i < m->nr_uses; i++) {
		const struct gpu_use *u = &m->uses[i];
		const struct gpu_series *g = &m->gpus[u->gpu];
		const struct series *s = series_find(m, u->cgroup_id);

		if (s && (!told || u->told))
			expose_seconds(x, LABELS({ "workload", s->workload }, GPU_LABELS(g)),
				       *(const uint64_t *)((const char *)u + at));
	}
}

static void expose_use_links(struct exposer *x, const struct openmetrics *m, bool widths)
{
	for (size_t i = 0; i < m->nr_uses; i++) {
		const struct gpu_use *u = &m->uses[i];
		const struct gpu_series *g = &m->gpus[u->gpu];
		const struct series *s = series_find(m, u->cgroup_id);

		for (int d = 0; s && d < NR_WAYS; d++)
			if (u->link[d].known)
				expose_number(x,
					      LABELS({ "workload", s->workload }, GPU_LABELS(g),
						     { "direction", direction_name(d) }),
					      widths ? u->link[d].width / 2 : u->link[d].bytes);
	}
}

void gpus_expose(struct exposer *x, const struct openmetrics *m)
{
	static const struct {
		const char *name, *help;
		size_t at;
		bool told;
	} families[] = {
		{ "t410trace_workload_gpu_held_seconds",
		  "Time in which a workload had a context on a GPU, or had it alone.",
		  offsetof(struct gpu_use, held_ns), false },
		{ "t410trace_workload_gpu_known_seconds",
		  "Of this, time in which it was told how busy the GPU was for it.",
		  offsetof(struct gpu_use, known_ns), true },
		{ "t410trace_workload_gpu_busy_seconds",
		  "Time that a GPU worked for a workload, of all engines together.",
		  offsetof(struct gpu_use, busy_ns), true },
		{ "t410trace_workload_gpu_idle_seconds",
		  "Of the known time, that of intervals in which the GPU did nothing for it.",
		  offsetof(struct gpu_use, idle_ns), true },
	};

	if (m->nr_gpus)
		expose_machine_gpus(x, m);
	for (size_t i = 0; m->nr_uses && i < ARRAY_SIZE(families); i++) {
		expose_family(x, families[i].name, METRIC_COUNTER, "seconds", families[i].help);
		expose_uses(x, m, families[i].at, families[i].told);
	}
	if (!m->nr_uses)
		return;
	expose_family(x, "t410trace_workload_gpu_link_bytes", METRIC_COUNTER, "bytes",
		      "Bytes over the C2C link of a GPU that a workload had to itself.");
	expose_use_links(x, m, false);
	expose_family(x, "t410trace_workload_gpu_link_uncertainty_bytes", METRIC_COUNTER, "bytes",
		      "Half of the distance between the bounds of these bytes, added up.");
	expose_use_links(x, m, true);
}
