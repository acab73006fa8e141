// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/plan/part_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "platform/pmu/pmu_scale.h"
#include "tables/own_rows.h"
#include "trace.h"

/* The plan being made, with the capacity of its arrays. */
struct maker {
	struct part_plan *p;
	const struct layout *layout;
	size_t cap_parts;
	size_t cap_part_of;
	size_t cap_scale;
};

static uint32_t socket_of(const struct maker *m, const struct pmu *pmu)
{
	uint32_t i = 0;

	while (i < m->layout->nr_sockets &&
	       (pmu->socket < 0 || m->layout->socket_ids[i] != (uint32_t)pmu->socket))
		i++;
	return i;
}

/* "cha0/reads_remote"; of a PMU by itself "dwc_rootport_100/rx_payload" */
static void name_part(const struct pmu *pmu, const char *event, char *ret, size_t size)
{
	if (pmu->family->each)
		snprintf(ret, size, "%s/%s", pmu->name, event);
	else
		snprintf(ret, size, "%s%d/%s", pmu->family->short_name, pmu->socket, event);
}

/* The part of a row, made with its first PMU; NULL: no memory. */
static struct traffic_part *part_for(struct maker *m, const struct pmu *pmu,
				     const struct counter_row *row, uint32_t socket)
{
	const char *event = row->sum ? row->sum : row->event;
	struct traffic_part part = { .socket = socket,
				     .kind = row->part,
				     .direction = row->direction };
	struct part_plan *p = m->p;

	name_part(pmu, event, part.name, sizeof(part.name));
	for (size_t i = 0; i < p->nr_parts; i++)
		if (!strcmp(p->parts[i].name, part.name))
			return &p->parts[i];
	str_copy(part.event, sizeof(part.event), event);
	str_copy(part.pmu, sizeof(part.pmu), pmu->family->each ? pmu->name : pmu->family->pattern);
	if (p->nr_parts == TRACE_MAX_PARTS || array_reserve(p->parts, m->cap_parts, p->nr_parts))
		return NULL;
	p->parts[p->nr_parts] = part;
	return &p->parts[p->nr_parts++];
}

static int add_want(struct maker *m, const struct want *want, uint32_t part,
		    const struct bytes_ratio *scale)
{
	struct part_plan *p = m->p;
	size_t nr = p->wants.nr;

	if (array_reserve(p->part_of, m->cap_part_of, nr) ||
	    array_reserve(p->scale, m->cap_scale, nr))
		return -ENOMEM;
	p->part_of[nr] = part;
	p->scale[nr] = *scale;
	return want_add(&p->wants, want);
}

/* A PMU that cannot be encoded is noted; a sum without it would be too small, so it is left out. */
static int add_row(struct maker *m, const struct pmu *pmu, const struct counter_row *row)
{
	struct want want = { .pmu = pmu, .type = pmu->type };
	struct bytes_ratio scale = pmu_row_bytes(row, pmu_row_event(pmu, row));
	uint32_t socket = socket_of(m, pmu);
	struct traffic_part *part;
	struct diag why = { 0 };

	if (socket == m->layout->nr_sockets || (row->optional && !pmu_row_event(pmu, row)))
		return 0;
	if (pmu_row_config(pmu, row, &why, &want.config))
		return text_list_print(&m->p->notes, "%s/%s is in no part: %s", pmu->name,
				       row->event, why.what);
	if (!scale.bytes)
		return text_list_print(&m->p->notes,
				       "%s/%s is in no part: sysfs does not say how many bytes a "
				       "count is",
				       pmu->name, row->event);
	str_copy(want.event, sizeof(want.event), row->event);
	snprintf(want.name, sizeof(want.name), "%s/%s/", pmu->name, row->event);
	part = part_for(m, pmu, row, socket);
	return part ? add_want(m, &want, (uint32_t)(part - m->p->parts), &scale) : -ENOMEM;
}

/* How many PMUs each part is the sum of. */
static void count_pmus(struct part_plan *p)
{
	for (size_t i = 0; i < p->wants.nr; i++) {
		bool seen = false;

		for (size_t k = 0; k < i && !seen; k++)
			seen = p->part_of[k] == p->part_of[i] &&
			       p->wants.wants[k].pmu == p->wants.wants[i].pmu;
		p->parts[p->part_of[i]].nr_pmus += !seen;
	}
}

/* Counters that distinguish sources, as the T410's do, need no parts. */
static bool has_parts(const struct pmu_list *pmus)
{
	const struct pmu_platform_row *chip = pmu_platform_row(pmu_list_platform(pmus));

	return own_rows() || (chip && chip->total);
}

/* Has the PMU one counter, already used for a device? Two events would share its time. */
static bool is_taken(const struct layout *layout, const struct pmu *pmu)
{
	for (size_t i = 0; i < layout->nr_counters && pmu->family->max_events == 1; i++)
		if (layout->counters[i].device && !strcmp(layout->counters[i].pmu, pmu->name))
			return true;
	return false;
}

static int add_pmu(struct maker *m, const struct pmu *pmu)
{
	const struct counter_row *row;
	int err = 0;

	for (size_t k = 0; !err && (row = counter_row_at(k)); k++) {
		if (row->kind != pmu->kind || !(row->sets & COUNTERS_PARTS))
			continue;
		if (is_taken(m->layout, pmu))
			return text_list_print(&m->p->notes,
					       "%s is in no part: its counter is used for what -D "
					       "asks for, and shown there",
					       pmu->name);
		err = add_row(m, pmu, row);
	}
	return err;
}

int part_plan_make(const struct pmu_list *pmus, const struct layout *layout, struct diag *d,
		   struct part_plan *ret)
{
	struct part_plan p = { 0 };
	struct maker m = { .p = &p, .layout = layout };
	int err = 0;

	for (size_t i = 0; i < pmus->nr && !err && has_parts(pmus); i++)
		if (pmus->pmus[i].usable)
			err = add_pmu(&m, &pmus->pmus[i]);
	if (err) {
		part_plan_free(&p);
		return diag_no_memory(d);
	}
	count_pmus(&p);
	*ret = p;
	return 0;
}

void part_plan_free(struct part_plan *p)
{
	want_list_free(&p->wants);
	free(p->part_of);
	free(p->scale);
	free(p->parts);
	text_list_free(&p->notes);
	*p = (struct part_plan){ 0 };
}
