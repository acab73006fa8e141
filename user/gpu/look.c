// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "gpu/look.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

void say(const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fprintf(stderr, "t410trace-gpu: %s\n", text);
}

void gpu_row(const char *name, bool fine, const char *remedy, const char *fmt, ...)
{
	va_list ap;

	printf("%s\t%s\t", name, fine ? "ok" : "limited");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\t%s\n", remedy);
}

struct gpu_device *gpu_add(struct gpu_list *l, const char *address)
{
	struct gpu_device *g = NULL;

	if (!l->items)
		l->items = calloc(GPU_MAX_DEVICES, sizeof(*l->items));
	if (l->items && l->nr < GPU_MAX_DEVICES)
		g = &l->items[l->nr++];
	if (g)
		str_copy(g->address, sizeof(g->address), address);
	return g;
}

void gpu_begin(struct gpu_device *g, uint64_t now_ns)
{
	g->looked = true;
	g->known = g->active = g->copies = false;
	g->since_ns = g->time_ns;
	g->time_ns = now_ns;
	g->samples = 0;
	g->period_ns = 0;
	g->nr = 0;
	memset(g->read, 0, sizeof(g->read));
}

bool gpu_hold(struct gpu_device *g, uint32_t pid, uint64_t start_ns, uint32_t instance)
{
	for (size_t i = 0; i < g->nr; i++)
		if (g->processes[i].pid == pid && g->processes[i].instance == instance)
			return true;
	if (g->nr == GPU_MAX_PROCESSES)
		return false;
	g->processes[g->nr++] = (struct gpu_process){
		.pid = pid, .start_ns = start_ns, .instance = instance, .since_ns = g->time_ns
	};
	return true;
}

struct gpu_process *gpu_held(struct gpu_device *g, uint32_t pid)
{
	for (size_t i = 0; i < g->nr; i++)
		if (g->processes[i].pid == pid)
			return &g->processes[i];
	return NULL;
}

static int by_pid(const void *a, const void *b)
{
	const struct gpu_process *x = a, *y = b;

	return ORDER(x->pid, y->pid) ?: ORDER(x->instance, y->instance);
}

static const struct gpu_process *find(const struct gpu_process *list, size_t nr,
				      const struct gpu_process *p)
{
	for (size_t i = 0; i < nr; i++)
		if (!by_pid(&list[i], p) && list[i].start_ns == p->start_ns)
			return &list[i];
	return NULL;
}

void gpu_end(struct gpu_device *g, const struct gpu_process *before, size_t nr_before)
{
	const struct gpu_process *old;
	size_t nr = g->nr;

	g->known = true;
	qsort(g->processes, nr, sizeof(*g->processes), by_pid);
	for (size_t i = 0; i < nr; i++) {
		old = find(before, nr_before, &g->processes[i]);
		if (old)
			g->processes[i].since_ns = old->since_ns;
	}
	for (size_t i = 0; i < nr_before && g->nr < GPU_MAX_PROCESSES; i++) {
		if (before[i].gone || find(g->processes, nr, &before[i]))
			continue;
		g->processes[g->nr] = before[i];
		g->processes[g->nr].busy_ns = g->processes[g->nr].copy_ns = 0;
		g->processes[g->nr++].gone = true;
	}
}
