// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/sums.h"
#include "base/text.h"
#include "report/latencies.h"
#include "report/table/cells.h"

/* CPU time that deserves a line even without bytes. */
#define NOTABLE_NS 1000000ULL

/* CPU time that goes with unattributed bytes. */
static uint64_t reason_cpu(const struct table *t, enum reason reason)
{
	uint64_t busy = 0, lost = 0, rows = t->tree->root.amounts.cpu_ns;
	size_t i;

	for (i = 0; i < t->r->nr_sockets; i++) {
		busy = sum_capped(busy, t->r->sockets[i].busy_ns);
		lost = sum_capped(lost, t->r->sockets[i].lost_ns);
	}
	if (reason == REASON_OTHER)
		return busy > rows ? busy - rows : 0;
	return reason == REASON_LOST ? lost : 0;
}

/* Bytes of a reason: those counted by sockets, and those of devices beside them. */
static void add_reason(const struct table *t, enum reason reason, struct amounts *sum,
		       unsigned int *sources)
{
	for (size_t i = 0; i < t->r->nr_counters; i++) {
		const struct report_counter *rc = &t->r->counters[i];
		const struct counter *c = rc->counter;
		uint64_t *device = &sum->device[c->direction == DIRECTION_WRITE];

		if (!rc->valid || !rc->unattributed[reason])
			continue;
		if (devices_pcie_counter(t->r, c))
			*device = sum_capped(*device, rc->unattributed[reason]);
		if (c->device)
			continue;
		amounts_add_bytes(sum, c, rc->unattributed[reason]);
		*sources |= SOURCE_BIT(c->source);
	}
}

int totals_machine(const struct table *t)
{
	const char *labels[] = { "all", NULL };
	struct amounts sum = rows_machine(t->r);
	struct cells c = cells_of(t, &sum, ALL_SOCKETS, ALL_SOURCES);

	if (!t->traffic)
		return 0;
	for (size_t i = 0; i < t->tree->nr_sockets; i++)
		if (t->tree->sockets[i].incomplete)
			labels[0] = "all, incomplete";
	c.range = sum.low < sum.high;
	c.no_cpu = !t->r->nr_sockets;
	if (t->devices == DEVICES_COUNTED)
		cells_devices(t, &c);
	return cells_line(t, labels, &c);
}

/* Returns whether the reason deserves a line. */
static bool sum_reason(const struct table *t, enum reason reason, struct amounts *ret,
		       unsigned int *ret_sources)
{
	*ret_sources = reason == REASON_DEVICE	 ? SOURCE_BIT(SOURCE_DEVICE)
		       : reason == REASON_REMOTE ? SOURCE_BIT(SOURCE_REMOTE)
						 : TASK_SOURCES;
	*ret = (struct amounts){ .cpu_ns = reason_cpu(t, reason) };
	add_reason(t, reason, ret, ret_sources);
	return amounts_bytes(ret) || ret->device[0] || ret->device[1] || ret->energy ||
	       ret->cpu_ns >= NOTABLE_NS;
}

int totals_reasons(const struct table *t)
{
	char names[96] = "unattributed";
	const char *const labels[] = { names, "unattributed", NULL };
	struct amounts all = { 0 }, sum;
	unsigned int sources = 0, some;
	size_t nr = 0;
	struct cells c;

	for (int reason = 0; reason < NR_REASONS; reason++) {
		if (!sum_reason(t, reason, &sum, &some))
			continue;
		amounts_add(&all, &sum);
		sources |= some;
		str_append(names, sizeof(names), "%s%s", nr++ ? ", " : ": ", reason_name(reason));
	}
	if (!nr)
		return 0;
	c = cells_of(t, &all, ALL_SOCKETS, sources);
	if (t->devices == DEVICES_COUNTED && (all.device[0] || all.device[1]))
		cells_devices(t, &c);
	c.no_cpu = !all.cpu_ns;
	return cells_line(t, labels, &c);
}

int totals_reason(struct table *t, enum reason reason)
{
	static const char *const labels[NR_REASONS][4] = {
		[REASON_IDLE] = { "unattributed idle: no task was running",
				  "unattributed idle: nobody ran", "unattributed idle" },
		[REASON_DEVICE] = { "unattributed device: moved by devices",
				    "unattributed device: by devices", "unattributed device" },
		[REASON_REMOTE] = { "unattributed remote: from other sockets",
				    "unattributed remote: other socket", "unattributed remote" },
		[REASON_OTHER] = { "unattributed other: tasks not followed",
				   "unattributed other: not followed", "unattributed other" },
		[REASON_LOST] = { "unattributed lost: CPU time not recorded",
				  "unattributed lost: not recorded", "unattributed lost" },
		[REASON_BACKGROUND] = { "unattributed background: goes on anyway",
					"unattributed background: always", "unattributed backgr." },
	};
	/* Parts of it in the rows. */
	static const char *const not_owned[] = { "unattributed device: for none of the rows",
						 "unattributed device: for no row",
						 "unattributed device", NULL };
	unsigned int sources = 0;
	struct amounts sum = { 0 };
	struct cells c;

	if (!sum_reason(t, reason, &sum, &sources))
		return 0;
	c = cells_of(t, &sum, ALL_SOCKETS, sources);
	if (t->devices == DEVICES_COUNTED &&
	    (reason == REASON_DEVICE || sum.device[0] || sum.device[1]))
		cells_devices(t, &c);
	c.no_cpu = reason != REASON_OTHER && reason != REASON_LOST;
	t->always = t->always || reason == REASON_BACKGROUND;
	if (reason == REASON_DEVICE && t->devices == DEVICES_COUNTED)
		return cells_line(t, not_owned, &c);
	return cells_line(t, labels[reason], &c);
}

int totals_owned(const struct table *t)
{
	static const char *const labels[] = { "moved by devices for the rows above",
					      "by devices for the rows above",
					      "by devices, for rows", NULL };
	struct amounts sum = { 0 };
	struct cells c;

	for (size_t i = 0; i < t->r->nr_counters; i++) {
		const struct report_counter *rc = &t->r->counters[i];

		if (!rc->valid || !rc->attributed || rc->counter->device ||
		    devices_task_counter(rc->counter))
			continue;
		amounts_add_bytes(&sum, rc->counter, rc->attributed);
	}
	if (!amounts_bytes(&sum))
		return 0;
	c = cells_of(t, &sum, ALL_SOCKETS, SOURCE_BIT(SOURCE_DEVICE));
	c.no_cpu = true;
	return cells_line(t, labels, &c);
}

/* Totals of some sources of a socket, and the share of its time they counted. */
static struct amounts source_total(const struct table *t, size_t socket, unsigned int sources,
				   double *ret_ratio)
{
	struct amounts sum = { 0 };
	uint32_t id = t->tree->sockets[socket].id;
	double ratio = 1;
	size_t i;

	sum.device[DIRECTION_READ] = devices_on_socket(t->r, id, DIRECTION_READ);
	sum.device[DIRECTION_WRITE] = devices_on_socket(t->r, id, DIRECTION_WRITE);
	for (i = 0; i < t->r->nr_counters; i++) {
		const struct report_counter *rc = &t->r->counters[i];

		if (!rc->valid || !cells_counter_is(t, rc->counter, 1ULL << socket, sources))
			continue;
		amounts_add_bytes(&sum, rc->counter, rc->value);
		if (rc->counter->unit != UNIT_NANOJOULES) {
			sum.low = sum_capped(sum.low, rc->low);
			sum.high = sum_capped(sum.high, rc->high);
		}
		if (rc->running_ns < rc->enabled_ns &&
		    (double)rc->running_ns / (double)rc->enabled_ns < ratio)
			ratio = (double)rc->running_ns / (double)rc->enabled_ns;
	}
	*ret_ratio = ratio;
	return sum;
}

static int put_source(const struct table *t, size_t socket, enum source source)
{
	char with_words[96], with_number[64], plain[32], percent[16];
	const char *labels[4] = { with_words, with_number, plain, NULL };
	struct cells c;
	double ratio;
	struct amounts sum = source_total(t, socket, SOURCE_BIT(source), &ratio);

	c = cells_of(t, &sum, 1ULL << socket, SOURCE_BIT(source));
	c.no_cpu = true;
	/* A counter that counted all the time is exact */
	c.range = ratio < 1;
	if (t->devices == DEVICES_COUNTED && source == SOURCE_DEVICE)
		cells_devices(t, &c);
	if (!cells_has_data(&c) && !cells_no_data(&c))
		return 0;
	if ((t->o->quiet || t->brief) && ratio == 1 && !cells_no_data(&c))
		return 0;
	snprintf(plain, sizeof(plain), "  %s", source_name(source));
	if (ratio == 1)
		return cells_line(t, labels + 2, &c);
	if (ratio < 0.01)
		strcpy(percent, "<1%");
	else if (ratio > 0.99)
		strcpy(percent, ">99%");
	else
		snprintf(percent, sizeof(percent), "%.0f%%", ratio * 100);
	snprintf(with_words, sizeof(with_words), "%s: counted %s of the time, scaled", plain,
		 percent);
	snprintf(with_number, sizeof(with_number), "%s, scaled %s", plain, percent);
	return cells_line(t, labels, &c);
}

int totals_socket(const struct table *t, size_t socket)
{
	const struct socket_total *s = &t->tree->sockets[socket];
	const struct report_socket *cpus = s->cpus;
	char full[96], brief[64], plain[32], percent[FORMAT_NUMBER_LEN] = "-";
	const char *labels[4] = { full, brief, plain, NULL };
	const char *mark = s->incomplete ? ", incomplete" : "";
	uint64_t all = 0;
	double ratio;
	struct amounts sum = source_total(t, socket, ALL_SOURCES, &ratio);
	struct cells c;
	int source, err;

	if (cpus) {
		sum.cpu_ns = rows_socket_cpu(cpus, t->duration_ns, &all);
		format_percent(sum.cpu_ns, all, percent);
	}
	snprintf(plain, sizeof(plain), "socket %" PRIu32 "%s", s->id, mark);
	snprintf(brief, sizeof(brief), "socket %" PRIu32 ": %s busy%s", s->id, percent, mark);
	snprintf(full, sizeof(full), "socket %" PRIu32 ": %" PRIu32 " CPU%s, %s busy%s", s->id,
		 cpus ? cpus->nr_cpus : 0, cpus && cpus->nr_cpus == 1 ? "" : "s", percent, mark);
	c = cells_of(t, &sum, 1ULL << socket, ALL_SOURCES);
	if (t->devices == DEVICES_COUNTED)
		cells_devices(t, &c);
	c.range = ratio < 1;
	c.no_cpu = !cpus;
	if (latencies_of_socket(t->r, socket, &c.lat_ns))
		c.lat = CELL_DATA;
	err = cells_line(t, cpus && all ? labels : labels + 2, &c);
	for (source = SOURCE_CPU; !err && source <= SOURCE_ANY; source++)
		err = put_source(t, socket, source);
	if (!err && !t->o->quiet)
		err = latencies_write_socket(t->out, t->r, socket, t->width, t->o->verbose);
	return err;
}
