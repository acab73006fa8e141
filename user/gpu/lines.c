// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lines of t410trace.source/1; docs/SOURCES.md and share/t410trace.source-1.schema.json have all. */
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/json_out.h"
#include "gpu/look.h"

/* Names and directions from the view of the CPUs' memory: what a GPU sends is written there. */
static const struct {
	const char *name;
	const char *direction;
} counters[NR_GPU_COUNTERS] = {
	[GPU_C2C_OUT] = { "c2c_out", "write" },
	[GPU_C2C_IN] = { "c2c_in", "read" },
	[GPU_PCIE_OUT] = { "pcie_out", "write" },
	[GPU_PCIE_IN] = { "pcie_in", "read" },
};

static void header_counter(FILE *out, const struct gpu_device *g, size_t c, const char *comma)
{
	char name[sizeof(g->address)];

	strcpy(name, g->address);
	for (char *at = name; *at; at++)
		*at = *at == ':' ? '.' : *at;
	fprintf(out,
		"%s{\"name\":\"%s.%s\",\"direction\":\"%s\",\"source\":\"device\","
		"\"device\":\"%s\"}",
		comma, counters[c].name, name, counters[c].direction, g->address);
}

static void header_device(FILE *out, const struct gpu_device *g)
{
	static const char *const links[] = { [GPU_LINK_PCIE] = "pcie", [GPU_LINK_C2C] = "c2c" };

	fprintf(out, "{\"address\":\"%s\"", g->address);
	if (g->link != GPU_LINK_UNKNOWN)
		fprintf(out, ",\"link\":\"%s\"", links[g->link]);
	if (g->uuid[0]) {
		fputs(",\"uuid\":", out);
		json_quoted(out, g->uuid);
	}
	putc('}', out);
}

void lines_header(FILE *out, const struct gpu_list *l, uint64_t every_ns)
{
	uint64_t every_ms = every_ns / NS_PER_MS;
	const char *comma = "";

	fprintf(out,
		"{\"schema\":\"t410trace.source/1\",\"name\":\"gpu\",\"every_ms\":%" PRIu64
		",\"devices\":[",
		every_ms);
	for (size_t i = 0; i < l->nr; i++) {
		fputs(i ? "," : "", out);
		header_device(out, &l->items[i]);
	}
	fputs("],\"counters\":[", out);
	for (size_t i = 0; i < l->nr; i++)
		for (size_t c = 0; c < NR_GPU_COUNTERS; c++)
			if (l->items[i].counts[c]) {
				header_counter(out, &l->items[i], c, comma);
				comma = ",";
			}
	fputs("]}\n", out);
}

static void contexts(FILE *out, const struct gpu_device *g)
{
	fprintf(out, "{\"time_ns\":%" PRIu64 ",\"device\":\"%s\",\"contexts\":", g->time_ns,
		g->address);
	if (!g->known) {
		fputs("null}\n", out);
		return;
	}
	putc('[', out);
	for (size_t i = 0; i < g->nr && !g->processes[i].gone; i++) {
		const struct gpu_process *p = &g->processes[i];

		fprintf(out, "%s{\"pid\":%" PRIu32 ",\"start_ns\":%" PRIu64, i ? "," : "", p->pid,
			p->start_ns);
		if (p->instance != GPU_NO_INSTANCE)
			fprintf(out, ",\"instance\":%" PRIu32, p->instance);
		fprintf(out, ",\"since_ns\":%" PRIu64 "}", p->since_ns);
	}
	fputs("]}\n", out);
}

/* Processes that did nothing are left out: a line is all that did something. */
static void activity(FILE *out, const struct gpu_device *g)
{
	const char *comma = "";

	fprintf(out,
		"{\"time_ns\":%" PRIu64 ",\"since_ns\":%" PRIu64
		",\"device\":\"%s\",\"activity\":[",
		g->time_ns, g->since_ns, g->address);
	for (size_t i = 0; i < g->nr; i++) {
		const struct gpu_process *p = &g->processes[i];

		if (!p->busy_ns)
			continue;
		fprintf(out, "%s{\"pid\":%" PRIu32 ",\"start_ns\":%" PRIu64 ",\"busy_ns\":%" PRIu64,
			comma, p->pid, p->start_ns, p->busy_ns);
		if (g->copies)
			fprintf(out, ",\"copy_ns\":%" PRIu64, p->copy_ns);
		putc('}', out);
		comma = ",";
	}
	putc(']', out);
	if (g->samples)
		fprintf(out, ",\"samples\":%" PRIu32 ",\"period_ns\":%" PRIu64, g->samples,
			g->period_ns);
	fputs("}\n", out);
}

static void values(FILE *out, const struct gpu_list *l, uint64_t now_ns)
{
	size_t nr = 0;

	for (size_t i = 0; i < l->nr; i++) {
		const struct gpu_device *g = &l->items[i];

		for (size_t c = 0; c < NR_GPU_COUNTERS; c++) {
			if (!g->counts[c])
				continue;
			if (nr++)
				putc(',', out);
			else
				fprintf(out, "{\"time_ns\":%" PRIu64 ",\"values\":[", now_ns);
			if (g->read[c])
				fprintf(out, "%" PRIu64, g->totals[c]);
			else
				fputs("null", out);
		}
	}
	if (nr)
		fputs("]}\n", out);
}

void lines_look(FILE *out, const struct gpu_list *l, uint64_t now_ns)
{
	values(out, l, now_ns);
	for (size_t i = 0; i < l->nr; i++) {
		struct gpu_device *g = &l->items[i];

		if (!g->looked)
			continue;
		g->looked = false;
		contexts(out, g);
		if (g->known && g->active)
			activity(out, g);
	}
}
