// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/pmu/pmu_scale.h"

#include <string.h>

#include "base/text.h"
#include "tables/events.h"
#include "tables/scale.h"

struct bytes_ratio pmu_row_bytes(const struct counter_row *row, const struct pmu_event *event)
{
	return (struct bytes_ratio){
		.bytes = row->scale || !event ? row->scale : event->bytes,
		.counts = row->scale && row->counts ? row->counts : 1,
	};
}

const struct pmu_event *pmu_row_event(const struct pmu *pmu, const struct counter_row *row)
{
	const struct pmu_event *event;
	char name[PMU_NAME_LEN];

	if (row->kind != pmu->kind || event_on_socket(row->event, pmu->socket, name, sizeof(name)))
		return NULL;
	event = pmu_event_find(pmu, name);
	return event && !event->own ? event : NULL;
}

double pmu_row_scale(const struct counter_row *row, const struct pmu_event *event)
{
	return row->unit == UNIT_NANOJOULES ? scale_nanojoules(event->scale, event->unit)
					    : scale_exact(event->scale, event->unit);
}

const char *pmu_row_unit(const struct counter_row *row)
{
	return row->unit == UNIT_NANOJOULES ? "nanojoules" : "bytes";
}

bool pmu_row_differs(const struct pmu *pmu, const struct counter_row *row)
{
	const struct pmu_event *event = pmu_row_event(pmu, row);
	struct bytes_ratio r = pmu_row_bytes(row, event);
	double sysfs = event ? pmu_row_scale(row, event) : 0;

	return sysfs > 0 && row->scale && !scale_same(sysfs, (double)r.bytes / r.counts);
}

const struct pmu_event *pmu_scale_differs(const struct pmu *pmu, const struct counter_row **ret_row)
{
	const struct counter_row *row;

	for (size_t i = 0; (row = counter_row_at(i)); i++) {
		if (pmu_row_differs(pmu, row)) {
			*ret_row = row;
			return pmu_row_event(pmu, row);
		}
	}
	return NULL;
}

/* The settings in @text, "name=value" each, added to @terms. */
static size_t add_terms(const char *text, struct pmu_term terms[PMU_MAX_TERMS], size_t nr)
{
	while (nr < PMU_MAX_TERMS &&
	       !take_setting(&text, terms[nr].name, sizeof(terms[nr].name), &terms[nr].value))
		nr++;
	return nr;
}

int pmu_row_config(const struct pmu *pmu, const struct counter_row *row, struct diag *d,
		   struct pmu_config *ret)
{
	const struct pmu_event *event = pmu_row_event(pmu, row);
	struct pmu_term terms[PMU_MAX_TERMS];
	char name[PMU_NAME_LEN];
	size_t nr = event || !row->terms ? 0 : add_terms(row->terms, terms, 0);
	int err = event_on_socket(row->event, pmu->socket, name, sizeof(name));

	if (err)
		return diag_fail(d, err, "%s: the name of an event is too long", pmu->name);
	nr = add_terms(row->filters, terms, nr);
	return pmu_encode(pmu, event || !row->terms ? name : NULL, terms, nr, d, ret);
}
