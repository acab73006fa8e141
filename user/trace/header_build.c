// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Headers from their parts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/header.h"

/*
 * @all with @more behind its @nr elements, perhaps moved; NULL: no memory, and @all is unchanged.
 * There is room for one more than needed, so that none of zero is not NULL.
 */
static void *appended(void *all, size_t nr, const void *more, size_t nr_more, size_t size)
{
	char *room = reallocarray(all, nr + nr_more + 1, size);

	if (room && nr_more)
		memcpy(room + nr * size, more, nr_more * size);
	return room;
}

int header_add_sockets(struct trace_header *h, const uint32_t *cpu_socket, uint32_t nr_cpus,
		       const uint32_t *socket_ids, uint32_t nr_sockets)
{
	struct layout *l = &h->layout;
	uint32_t *cpus = appended(l->cpu_socket, 0, cpu_socket, nr_cpus, sizeof(*cpus));
	uint32_t *ids = appended(l->socket_ids, 0, socket_ids, nr_sockets, sizeof(*ids));

	l->cpu_socket = cpus ? cpus : l->cpu_socket;
	l->socket_ids = ids ? ids : l->socket_ids;
	if (!cpus || !ids)
		return -ENOMEM;
	l->nr_cpus = nr_cpus;
	l->nr_sockets = nr_sockets;
	return 0;
}

int header_add_counters(struct trace_header *h, const struct counter *counters, size_t nr,
			const struct group *groups, size_t nr_groups)
{
	struct layout *l = &h->layout;
	struct counter *c = appended(l->counters, l->nr_counters, counters, nr, sizeof(*c));
	struct group *g = appended(l->groups, l->nr_groups, groups, nr_groups, sizeof(*g));

	l->counters = c ? c : l->counters;
	l->groups = g ? g : l->groups;
	if (!c || !g)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		c[l->nr_counters + i].group += l->nr_groups;
	for (size_t i = 0; i < nr_groups; i++)
		g[l->nr_groups + i].first += l->nr_counters;
	l->nr_counters += nr;
	l->nr_groups += nr_groups;
	return 0;
}

/* @list: address of the list */
static int append(void *list, size_t *nr, const void *more, size_t nr_more, size_t size)
{
	void **all = list, *bigger = appended(*all, *nr, more, nr_more, size);

	if (!bigger)
		return -ENOMEM;
	*all = bigger;
	*nr += nr_more;
	return 0;
}

int header_add_latencies(struct trace_header *h, const struct probe *probes, size_t nr)
{
	return append(&h->probes, &h->nr_probes, probes, nr, sizeof(*probes));
}

int header_add_devices(struct trace_header *h, const struct device *devices, size_t nr)
{
	return append(&h->devices, &h->nr_devices, devices, nr, sizeof(*devices));
}

int header_add_parts(struct trace_header *h, const struct traffic_part *parts, size_t nr)
{
	return append(&h->parts, &h->nr_parts, parts, nr, sizeof(*parts));
}

static int add_texts(char *const *texts, size_t more, char ***all, size_t *nr)
{
	char **room = reallocarray(*all, *nr + more + 1, sizeof(*room));

	if (!room)
		return -ENOMEM;
	*all = room;
	for (size_t i = 0; i < more; i++) {
		room[*nr] = strdup(texts[i]);
		if (!room[*nr])
			return -ENOMEM;
		(*nr)++;
	}
	return 0;
}

int header_add_selection(struct trace_header *h, char *const *cgroups, size_t nr_cgroups,
			 char *const *jobs, size_t nr_jobs)
{
	int err = add_texts(cgroups, nr_cgroups, &h->cgroups, &h->nr_cgroups);

	return err ? err : add_texts(jobs, nr_jobs, &h->jobs, &h->nr_jobs);
}
