// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Names and groups that several parts of a report need. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/format.h"
#include "report/perfetto/internal.h"

char *drawing_safe(const struct drawing *d, const char *name, size_t max)
{
	char *safe = NULL;
	int err = format_terminal(name, max, &safe);

	if (err && !d->e->err)
		d->e->err = err;
	return safe;
}

char *drawing_text(const struct drawing *d, const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0) {
		text = NULL;
		d->e->err = -ENOMEM;
	}
	va_end(args);
	return text;
}

struct place drawing_top(const struct drawing *d, enum top_group of)
{
	static const char *const names[] = {
		[TOP_INTERVALS] = "intervals", [TOP_LOSSES] = "losses",	  [TOP_CPUS] = "CPUs",
		[TOP_CPU_TIME] = "CPU time",   [TOP_DEVICES] = "devices",
	};

	return events_place(d->e, names[of], of);
}

struct place drawing_socket(const struct drawing *d, uint32_t id)
{
	char name[32];

	snprintf(name, sizeof(name), "socket %" PRIu32, id);
	return events_place(d->e, name, (uint64_t)TOP_SOCKETS + id);
}

struct place drawing_device(const struct drawing *d, const struct device *of)
{
	cleanup_free char *bdf = drawing_safe(d, of->bdf, sizeof(of->bdf));
	cleanup_free char *name = drawing_safe(d, of->name, sizeof(of->name));
	char both[sizeof(of->bdf) * 4 + sizeof(of->name) * 4 + 2];

	snprintf(both, sizeof(both), "%s%s%s", name ? name : "", name && name[0] ? " " : "",
		 bdf ? bdf : "");
	return events_below(d->e, drawing_top(d, TOP_DEVICES), bdf ? bdf : "", both);
}
