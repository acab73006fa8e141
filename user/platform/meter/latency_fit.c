// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/meter/latency_fit.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "tables/events.h"

static bool has_event(const struct pmu *pmu, const char *name)
{
	char event[PMU_NAME_LEN];

	return !event_on_socket(name, pmu->socket, event, sizeof(event)) &&
	       pmu_event_find(pmu, event);
}

/* Is the peer of a link, "nr_gpu=2", of this kind? */
static bool has_peer(const struct pmu *pmu, const char *peer)
{
	size_t length = strlen(peer);

	return !strncmp(pmu->peer, "nr_", 3) && !strncmp(pmu->peer + 3, peer, length) &&
	       pmu->peer[3 + length] == '=';
}

bool latency_row_fits(const struct latency_row *row, const struct pmu *pmu)
{
	return row->kind == pmu->kind && (!row->peer || has_peer(pmu, row->peer)) &&
	       has_event(pmu, LATENCY_CYCLES) && has_event(pmu, row->outstanding) &&
	       has_event(pmu, row->requests);
}

void latency_probe(const struct latency_row *row, const struct pmu *pmu, uint32_t socket,
		   struct probe *ret)
{
	*ret = (struct probe){
		.socket = socket,
		.direction = row->direction,
		.destination = row->destination,
		.by_tasks = row->by_tasks,
	};
	snprintf(ret->name, sizeof(ret->name), "%s%d/%s", row->prefix, pmu->socket, row->suffix);
	str_copy(ret->title, sizeof(ret->title), row->title);
	str_copy(ret->pmu, sizeof(ret->pmu), pmu->name);
}
