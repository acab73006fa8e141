/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of event names; units with the same events share the rows of one kind. */
#ifndef TRAFFIC_EVENTS_H
#define TRAFFIC_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "shm.h"

struct event_name {
	enum kind kind;
	const char *name;
	uint32_t id;
};
extern const struct event_name event_names[];
extern const size_t nr_event_names;

#endif
