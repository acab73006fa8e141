// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/pmu/pmu_scale.h"

#include <string.h>

#include "tables/events.h"

uint32_t pmu_row_bytes(const struct counter_row *row, const struct pmu_event *event)
{
	return row->scale || !event ? row->scale : event->bytes;
}

const struct pmu_event *pmu_scale_differs(const struct pmu *pmu, const struct counter_row **ret_row)
{
	char name[PMU_NAME_LEN];

	for (size_t i = 0; i < nr_counter_rows; i++) {
		const struct counter_row *row = &counter_rows[i];
		const struct pmu_event *event = NULL;

		if (row->kind == pmu->kind &&
		    !event_on_socket(row->event, pmu->socket, name, sizeof(name)))
			event = pmu_event_find(pmu, name);
		if (event && event->bytes && row->scale && event->bytes != row->scale) {
			*ret_row = row;
			return event;
		}
	}
	return NULL;
}
