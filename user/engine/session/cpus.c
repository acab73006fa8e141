// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "engine/session/cpus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NOW	    0x01u
#define IN_INTERVAL 0x02u
#define IN_RUN	    0x04u

int session_cpus_new(const struct layout *layout, struct session_cpus *ret)
{
	struct session_cpus c = {
		.socket = malloc((layout->nr_cpus + 1) * sizeof(*c.socket)),
		.was = calloc(layout->nr_cpus + 1, sizeof(*c.was)),
		.nr = layout->nr_cpus,
	};

	if (!c.socket || !c.was) {
		session_cpus_free(&c);
		return -ENOMEM;
	}
	if (c.nr)
		memcpy(c.socket, layout->cpu_socket, c.nr * sizeof(*c.socket));
	for (uint32_t i = 0; i < c.nr; i++)
		if (c.socket[i] != LAYOUT_NO_SOCKET)
			c.was[i] = NOW | IN_INTERVAL | IN_RUN;
	*ret = c;
	return 0;
}

void session_cpus_free(struct session_cpus *c)
{
	free(c->socket);
	free(c->was);
	*c = (struct session_cpus){ 0 };
}

void session_cpu(struct session_cpus *c, const struct trace_cpu *e)
{
	if (!e->online) {
		c->was[e->cpu] &= ~NOW;
		return;
	}
	c->socket[e->cpu] = e->socket;
	c->was[e->cpu] = NOW | IN_INTERVAL | IN_RUN;
}

static void keep(struct session_cpus *c, uint8_t was)
{
	for (uint32_t i = 0; i < c->nr; i++)
		if (!(c->was[i] & NOW))
			c->was[i] &= ~was;
}

void session_cpus_begin(struct session_cpus *c)
{
	keep(c, IN_INTERVAL | IN_RUN);
}

void session_cpus_begin_interval(struct session_cpus *c)
{
	keep(c, IN_INTERVAL);
}

void session_cpus_count(const struct session_cpus *c, bool summary, struct report *r)
{
	for (uint32_t i = 0; i < c->nr; i++)
		if (c->was[i] & (summary ? IN_RUN : IN_INTERVAL) &&
		    c->socket[i] != LAYOUT_NO_SOCKET)
			r->sockets[c->socket[i]].nr_cpus++;
}
