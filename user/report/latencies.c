// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/latencies.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/devices.h"
#include "report/notes.h"
#include "report/put.h"
#include "report/rows.h"

/* Longer names of probes are truncated in lines of rows. */
#define NAME_WIDTH  20

/*
 * A row with a smaller part of the machine's bytes has moved next to nothing: SHARE has "<0.1%" for it,
 * the windows of its bytes are mostly guessed, and a mean over these is no latency of the row.
 */
#define LEAST_SHARE 0.001

json_t *latencies_tenths(double value)
{
	return json_real(round(value * 10) / 10);
}

static json_t *probe_object(const struct report *r, const struct report_probe *rp, int *err)
{
	const struct probe *p = rp->probe;
	const struct device *device = devices_of(r, p->device);
	json_t *o = json_object();

	put_name(o, "probe", p->name, sizeof(p->name), err);
	put_name(o, "title", p->title, sizeof(p->title), err);
	put_name(o, "pmu", p->pmu, sizeof(p->pmu), err);
	if (device)
		put_name(o, "bdf", device->bdf, sizeof(device->bdf), err);
	if (p->socket < r->nr_sockets)
		put_number(o, "socket", r->sockets[p->socket].id, err);
	put_text(o, "direction", p->direction == DIRECTION_WRITE ? "write" : "read", err);
	put_text(o, "destination", destination_name(p->destination), err);
	put_bool(o, "by_tasks", p->by_tasks, err);
	put_bool(o, "valid", rp->valid, err);
	/* No request, no latency: missing is not zero. */
	if (rp->valid) {
		put(o, "latency_ns", latencies_tenths(rp->latency_ns), err);
		put(o, "latency_cycles", latencies_tenths(rp->latency_cycles), err);
	}
	put_number(o, "requests", rp->requests, err);
	put_number(o, "outstanding", rp->outstanding, err);
	put_number(o, "cycles", rp->cycles, err);
	put_number(o, "samples", rp->samples, err);
	put_number(o, "covered_ns", rp->covered_ns, err);
	put_text(o, "weighted_by", rp->weighed ? destination_name(rp->destination) : NULL, err);
	return o;
}

json_t *latencies_probes(const struct report *r, int *err)
{
	json_t *a = json_array();

	for (size_t i = 0; i < r->nr_probes; i++)
		put_element(a, probe_object(r, &r->probes[i], err), err);
	return a;
}

json_t *latencies_row(const struct report *r, const struct report_row *row, int *err)
{
	json_t *a = json_array();

	for (size_t i = 0; i < row->nr_latencies; i++) {
		const struct seen_latency *l = &row->latencies[i];
		const struct probe *p = r->probes[l->probe].probe;
		json_t *o = json_object();

		put_name(o, "probe", p->name, sizeof(p->name), err);
		put(o, "latency_ns", latencies_tenths(l->latency_ns), err);
		put_number(o, "bytes", l->bytes, err);
		put_number(o, "of_bytes", l->of_bytes, err);
		put_element(a, o, err);
	}
	return a;
}

bool latencies_main(const struct probe *p)
{
	return p->by_tasks && p->direction == DIRECTION_READ && p->destination == DESTINATION_CMEM;
}

static bool moved_little(const struct report *r, const struct report_row *row)
{
	const struct amounts all = rows_machine(r);
	double moved = 0;

	for (size_t i = 0; i < row->nr_shares; i++)
		if (devices_task_counter(r->counters[row->shares[i].counter].counter))
			moved += (double)row->shares[i].value;
	return moved < LEAST_SHARE * ((double)all.bytes[DIRECTION_READ] +
				      (double)all.bytes[DIRECTION_WRITE]);
}

bool latencies_seen(const struct report *r, const struct report_row *row, double *ret_ns)
{
	double byte_ns = 0, bytes = 0;

	for (size_t i = 0; i < row->nr_latencies; i++) {
		const struct seen_latency *l = &row->latencies[i];

		if (!latencies_main(r->probes[l->probe].probe))
			continue;
		byte_ns += l->latency_ns * l->bytes;
		bytes += l->bytes;
	}
	if (bytes <= 0 || moved_little(r, row))
		return false;
	*ret_ns = byte_ns / bytes;
	return true;
}

/*
 * The mean over the requests of all probes of a socket that measure the same. Probes of devices are
 * shown with the devices.
 */
static bool mean_like(const struct report *r, const struct probe *like, double *ret_ns)
{
	double request_ns = 0, requests = 0;

	for (size_t i = 0; i < r->nr_probes; i++) {
		const struct report_probe *p = &r->probes[i];

		if (!p->valid || p->probe->device || p->probe->socket != like->socket ||
		    strcmp(p->probe->title, like->title) != 0)
			continue;
		request_ns += p->latency_ns * p->requests;
		requests += p->requests;
	}
	if (requests <= 0)
		return false;
	*ret_ns = request_ns / requests;
	return true;
}

bool latencies_of_socket(const struct report *r, uint32_t socket, double *ret_ns)
{
	for (size_t i = 0; i < r->nr_probes; i++)
		if (r->probes[i].probe->socket == socket && latencies_main(r->probes[i].probe))
			return mean_like(r, r->probes[i].probe, ret_ns);
	return false;
}

/* The socket's first probe that measures the same as this one. */
static bool is_first(const struct report *r, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!r->probes[k].probe->device &&
		    r->probes[k].probe->socket == r->probes[i].probe->socket &&
		    !strcmp(r->probes[k].probe->title, r->probes[i].probe->title))
			return false;
	return true;
}

/* Wrapped to the table's width. */
static int put_probe(FILE *out, const struct report_probe *p, size_t width)
{
	const char *name = FORMAT_SAFE(p->probe->name), *title = FORMAT_SAFE(p->probe->title);
	char ns[FORMAT_NUMBER_LEN], cycles[FORMAT_NUMBER_LEN];

	format_ns(p->latency_ns, ns);
	format_ns(p->latency_cycles, cycles);
	fputs("  ", out);
	if (!p->valid)
		return notes_line(out, width - 2, "%s, %s: %s", name, title,
				  p->samples ? "nothing was requested" : "not read");
	return notes_line(out, width - 2,
			  "%s, %s: %s ns, %s cycles, %" PRIu64 " requests, %" PRIu64 " sample%s%s",
			  name, title, ns, cycles, p->requests, p->samples,
			  p->samples == 1 ? "" : "s",
			  p->weighed && p->destination != p->probe->destination
				  ? "; rows' means are weighted by bytes wherever they went"
				  : "");
}

static int put_means(FILE *out, const struct report *r, uint32_t socket, size_t width)
{
	struct sentence s;
	FILE *f = sentence_begin(&s);
	bool any = false;

	if (!f)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_probes; i++) {
		const struct probe *p = r->probes[i].probe;
		char ns[FORMAT_NUMBER_LEN];
		double mean;

		if (p->device || p->socket != socket || !is_first(r, i) || !mean_like(r, p, &mean))
			continue;
		format_ns(mean, ns);
		fprintf(f, "%s%s %s ns", any ? ", " : "latency: ", FORMAT_SAFE(p->title), ns);
		any = true;
	}
	if (any)
		fputs("  ", out);
	return sentence_end(&s, out, width - 2, 0);
}

int latencies_write_socket(FILE *out, const struct report *r, uint32_t socket, size_t width,
			   bool verbose)
{
	int err = 0;

	if (!verbose)
		return put_means(out, r, socket, width);
	for (size_t i = 0; i < r->nr_probes && !err; i++)
		if (r->probes[i].probe->socket == socket)
			err = put_probe(out, &r->probes[i], width);
	return err;
}

int latencies_write_row(FILE *out, const struct report *r, const struct report_row *row, int indent)
{
	int err = 0;

	for (size_t i = 0; i < row->nr_latencies && !err; i++) {
		const struct seen_latency *l = &row->latencies[i];
		const struct probe *p = r->probes[l->probe].probe;
		cleanup_free char *cut = NULL;
		char ns[FORMAT_NUMBER_LEN], part[FORMAT_NUMBER_LEN];

		err = format_cut(FORMAT_SAFE(p->name), NAME_WIDTH, FORMAT_CUT_LEFT, &cut);
		if (err)
			break;
		format_ns(l->latency_ns, ns);
		format_percent(l->bytes, l->of_bytes, part);
		fprintf(out, "%*ssaw %s: %s ns (%s of its bytes)\n", indent, "", cut, ns, part);
	}
	return err;
}
