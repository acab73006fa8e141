// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Names and tracks that several parts of a report need. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "report/devices.h"
#include "report/format.h"
#include "report/perfetto/internal.h"

char *drawing_safe(const struct drawing *d, const char *name, size_t max)
{
	char *safe = NULL;
	int err = format_terminal(name, max, &safe);

	if (err && !d->p->err)
		d->p->err = err;
	return safe;
}

char *drawing_text(const struct drawing *d, const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0) {
		text = NULL;
		d->p->err = -ENOMEM;
	}
	va_end(args);
	return text;
}

uint64_t drawing_socket(const struct drawing *d, uint32_t id)
{
	char name[32];

	snprintf(name, sizeof(name), "socket %" PRIu32, id);
	return packets_group(d->p, &(struct track){ .key = name, .name = name });
}

uint64_t drawing_cpu_time(const struct drawing *d)
{
	return packets_group(d->p, &(struct track){ .key = "CPU time", .name = "CPU time" });
}

uint64_t drawing_device(const struct drawing *d, uint32_t device)
{
	const struct device *of = d->r->devices[device].device;
	uint64_t all = packets_group(d->p, &(struct track){ .key = "devices", .name = "devices" });
	cleanup_free char *bdf = drawing_safe(d, of->bdf, sizeof(of->bdf));
	cleanup_free char *name = drawing_safe(d, of->name, sizeof(of->name));
	char both[sizeof(of->bdf) * 4 + sizeof(of->name) * 4 + 2];

	if (!bdf || !name)
		return all;
	snprintf(both, sizeof(both), "%s%s%s", name, name[0] ? " " : "", bdf);
	return packets_group(d->p, &(struct track){ .parent = all, .key = bdf, .name = both });
}

enum track_unit drawing_unit(const struct counter *c)
{
	return c->unit == UNIT_BYTES	    ? TRACK_BYTES
	       : c->unit == UNIT_NANOJOULES ? TRACK_NANOJOULES
					    : TRACK_COUNT;
}

uint64_t drawing_counter(const struct drawing *d, const struct counter *c)
{
	return devices_of(d->r, c->device) ? drawing_device(d, c->device - 1)
					   : drawing_socket(d, report_socket_id(d->r, c));
}

void drawing_bar(const struct drawing *d, const struct series *s, const uint64_t bar[3])
{
	static const char *const ends[] = { "", " low", " high" };
	struct series one = *s;

	one.axis = s->track.key;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		cleanup_free char *key = drawing_text(d, "%s%s", s->track.key, ends[i]);

		if (!key)
			return;
		one.track.key = one.track.name = key;
		one.track.rank = 3 * s->track.rank + (uint32_t)i;
		packets_value(d->p, &one, d->r->start_ns, bar[i]);
	}
}

void drawing_requests(const struct drawing *d, uint64_t parent, const uint64_t bytes[NR_WAYS])
{
	static const char *const names[NR_WAYS] = { "requests read", "requests write" };

	for (uint32_t i = 0; i < NR_WAYS; i++) {
		const struct series s = {
			.track = { parent, names[i], names[i], TRACE_MAX_COUNTERS + i },
			.unit = TRACK_BYTES,
			.counter = TRACK_ZERO,
		};

		if (bytes[i])
			packets_value(d->p, &s, d->r->start_ns, bytes[i]);
	}
}
