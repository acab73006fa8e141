// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Filter settings for which metrics are made: ports, GPUs, address ranges. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "platform/spec/event_spec.h"
#include "platform/metrics/internal.h"
#include "tables/events.h"

bool metric_asks_variants(const struct metric_options *o)
{
	return o->per_port || o->per_gpu || o->nr_ranges;
}

static struct metric_variant *variant_add(struct metric_variants *list)
{
	struct metric_variant *v;

	if (array_reserve(list->v, list->cap, list->nr))
		return NULL;
	v = &list->v[list->nr++];
	*v = (struct metric_variant){ 0 };
	return v;
}

bool metric_has_socket(const struct pmu_list *pmus, enum pmu_kind kind, int32_t socket)
{
	for (size_t i = 0; i < pmus->nr; i++)
		if (pmus->pmus[i].kind == kind && pmus->pmus[i].socket == socket)
			return true;
	return false;
}

/* Bits of a mask that a PMU really has. */
static uint64_t mask_of(const struct pmu *pmu, const struct filter_row *filter)
{
	const struct pmu_format *format = pmu_format_find(pmu, filter->name);

	if (!format)
		return 0;
	return format->width < 64 ? filter->all & ((1ull << format->width) - 1) : filter->all;
}

static int variant_mask(struct metric_variants *list, const struct filter_row *filter,
			uint64_t mask, const char *label, const char *places)
{
	struct metric_variant *v = variant_add(list);

	if (!v)
		return -ENOMEM;
	str_copy(v->terms[0].name, sizeof(v->terms[0].name), filter->name);
	v->terms[0].value = mask;
	v->nr_terms = 1;
	v->ports = __builtin_popcountll(mask);
	str_copy(v->label, sizeof(v->label), label);
	v->places = places;
	return 0;
}

/* One variant for each bit of a mask. */
static int variants_of_bits(const struct metric_job *job, const struct pmu *pmu,
			    const struct filter_row *filter, uint64_t mask, const char *what,
			    const char *places, struct metric_variants *list)
{
	bool sockets = pmu->family->ports_are_sockets;
	char label[32];
	int err = 0;

	for (unsigned int bit = 0; !err && bit < 64; bit++) {
		if (!(mask >> bit & 1))
			continue;
		/* Bits of the other sockets that exist, never of the own one. */
		if (sockets &&
		    ((int32_t)bit == pmu->socket || !metric_has_socket(job->pmus, pmu->kind, bit)))
			continue;
		snprintf(label, sizeof(label), "%s %u", sockets ? "socket" : what, bit);
		err = variant_mask(list, filter, 1ull << bit, label,
				   sockets ? "pairs of sockets" : places);
	}
	return err;
}

static int variants_of_gpus(struct metric_job *job, const struct pmu *pmu,
			    struct metric_variants *list)
{
	const struct filter_row *filter = filter_row_use(pmu->kind, FILTER_GPUS);
	const struct pmu_format *format = filter ? pmu_format_find(pmu, filter->name) : NULL;
	uint64_t gpus = 0;

	if (!format)
		return 0;
	if (strncmp(pmu->peer, "nr_gpu=", 7) || parse_u64(pmu->peer + 7, &gpus) || !gpus)
		return metric_note(job, "%s: no GPUs to tell apart, its peer is %s", pmu->name,
				   pmu->peer[0] ? pmu->peer : "unknown");
	if (gpus > format->width)
		gpus = format->width;
	return variants_of_bits(job, pmu, filter, gpus < 64 ? (1ull << gpus) - 1 : UINT64_MAX,
				"GPU", "GPUs", list);
}

/* If the root complex above the device is unknown, each one is asked. */
static int place_range(struct metric_job *job, struct metric_range *w)
{
	struct diag d = { 0 };
	char bdf[PCI_NAME_LEN];

	snprintf(bdf, sizeof(bdf), "%.*s", (int)strcspn(w->setting.label, " "), w->setting.label);
	w->placed = !root_port_of(job->fs, bdf, &d, &w->port);
	return w->placed ? 0
			 : metric_note(job,
				       "which root complex %s is below is not known (%s): each one "
				       "is asked, and the one with traffic is it",
				       bdf, d.what);
}

int metric_ranges_read(struct metric_job *job)
{
	size_t nr = job->o->nr_ranges;
	int err = 0;

	job->ranges = calloc(nr + 1, sizeof(*job->ranges));
	if (!job->ranges)
		return -ENOMEM;
	for (size_t i = 0; !err && i < nr; i++) {
		struct metric_variant *v = &job->ranges[i].setting;

		v->places = "windows";
		v->nr_terms = ARRAY_SIZE(v->terms);
		err = range_spec_terms(job->fs, job->o->ranges[i], job->d, v->terms, v->label,
				       sizeof(v->label));
		if (!err)
			err = place_range(job, &job->ranges[i]);
	}
	return err;
}

static int variants_of_ranges(struct metric_job *job, const struct pmu *pmu,
			      struct metric_variants *list)
{
	for (size_t i = 0; pmu->family->ranges && i < job->o->nr_ranges; i++) {
		const struct metric_range *w = &job->ranges[i];
		struct metric_variant *added;

		if (w->placed && (w->port.socket != pmu->socket || w->port.rc != pmu->rc))
			continue;
		added = variant_add(list);
		if (!added)
			return -ENOMEM;
		*added = w->setting;
	}
	return 0;
}

/* Of the ports that a filter can name, those of the root complex, if they are known. */
static uint64_t known_ports(const struct metric_job *job, const struct pmu *pmu, uint64_t mask)
{
	uint64_t known = 0;

	if (pmu->rc < 0)
		return mask;
	for (size_t i = 0; i < job->nr_ports; i++)
		if (job->ports[i].socket == pmu->socket && job->ports[i].rc == pmu->rc)
			known |= 1ull << job->ports[i].rp;
	return job->nr_ports ? mask & known : mask;
}

int metric_variants_make(struct metric_job *job, const struct pmu *pmu,
			 struct metric_variants *list)
{
	const struct filter_row *ports = filter_row_use(pmu->kind, FILTER_PORTS);
	uint64_t mask = ports ? mask_of(pmu, ports) : 0;
	int err = 0;

	if (job->o->per_port && mask)
		err = variants_of_bits(job, pmu, ports, known_ports(job, pmu, mask), "port",
				       "ports", list);
	if (!err && job->o->per_gpu)
		err = variants_of_gpus(job, pmu, list);
	if (!err)
		err = variants_of_ranges(job, pmu, list);
	if (err || list->nr || (metric_asks_variants(job->o) && !job->o->nr_metrics))
		return err;
	/*
	 * The mask is set explicitly, because without it some kernels count all ports and others
	 * none: a division by the number of ports must know it.
	 */
	if (mask && constraint_find(pmu->kind, CONSTRAINT_EMPTY_PORTS))
		return variant_mask(list, ports, mask, "", NULL);
	return variant_add(list) ? 0 : -ENOMEM;
}
