// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/json/json.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/format.h"
#include "report/json/internal.h"
#include "report/latencies.h"
#include "report/peaks.h"
#include "report/put.h"

/* Whole bytes per second: more is not known. */
static void put_rate(json_t *o, const char *key, double rate, int *err)
{
	put(o, key, fabs(rate) < 9e18 ? json_integer(llround(rate)) : json_real(rate), err);
}

static void put_latency(json_t *o, const char *key, double ns, int *err)
{
	/* Nothing was seen: that is not zero. */
	if (ns > 0)
		put(o, key, latencies_tenths(ns), err);
}

static json_t *neighbour_object(const struct neighbour *n, int *err)
{
	json_t *o = json_object();

	if (n->row)
		json_who(o, n->row, err);
	else
		put_text(o, "reason", reason_name(n->reason), err);
	put_rate(o, "calm_bytes_per_s", n->calm, err);
	put_rate(o, "high_bytes_per_s", n->risen, err);
	put_rate(o, "increase_bytes_per_s", n->increase, err);
	put_rate(o, "error_bytes_per_s", n->error, err);
	put(o, "high_share", json_real(round(n->share * 1e4) / 1e4), err);
	put_number(o, "active_high_samples", n->active, err);
	put_latency(o, "calm_latency_ns", n->observed_calm, err);
	put_latency(o, "high_latency_ns", n->observed_risen, err);
	put_text(o, "role", neighbour_role_name(n->role), err);
	return o;
}

/* How near its peak the socket's memory was; nothing where that is not known. */
static void put_peak(json_t *o, const struct report *summary, const struct neighbourhood *h,
		     int *err)
{
	struct peak_use u;
	json_t *p;

	if (!peaks_all_of_socket(summary, h->probe->socket, &u))
		return;
	p = json_object();
	put_number(p, "bytes_per_s", u.peak->bytes_per_s, err);
	put_text(p, "from", peak_from_name(u.peak->from), err);
	put(p, "calm_share", json_real(h->calm / (double)u.peak->bytes_per_s), err);
	put(p, "high_share", json_real(h->risen / (double)u.peak->bytes_per_s), err);
	if (u.upper_bound)
		put_bool(p, "at_most", true, err);
	if (u.cpus_only)
		put_bool(p, "cpus_only", true, err);
	put(o, "peak", p, err);
}

static json_t *probe_object(const struct neighbours_report *r, const struct neighbourhood *h,
			    int *err)
{
	const struct report *summary = r->summary;
	json_t *o = json_object(), *rows = json_array();

	put_name(o, "probe", h->probe->name, sizeof(h->probe->name), err);
	put_name(o, "title", h->probe->title, sizeof(h->probe->title), err);
	put_name(o, "pmu", h->probe->pmu, sizeof(h->probe->pmu), err);
	if (h->probe->socket < summary->nr_sockets)
		put_number(o, "socket", summary->sockets[h->probe->socket].id, err);
	put_number(o, "samples", h->samples, err);
	put_number(o, "unusable_samples", h->unusable, err);
	put_number(o, "few_requests_samples", h->few, err);
	put_number(o, "merged_samples", h->merged, err);
	put_number(o, "calm_samples", h->calm_samples, err);
	put_number(o, "high_samples", h->risen_samples, err);
	put_number(o, "episodes", h->episodes, err);
	put_number(o, "calm_ns", h->calm_ns, err);
	put_number(o, "high_ns", h->risen_ns, err);
	put_latency(o, "baseline_ns", h->baseline_ns, err);
	put_latency(o, "limit_ns", h->limit_ns, err);
	put_latency(o, "calm_latency_ns", h->calm_latency_ns, err);
	put_latency(o, "high_latency_ns", h->risen_latency_ns, err);
	put_bool(o, "enough", h->enough, err);
	if (h->enough) {
		put_rate(o, "calm_bytes_per_s", h->calm, err);
		put_rate(o, "high_bytes_per_s", h->risen, err);
		put_peak(o, summary, h, err);
	}
	for (size_t i = 0; i < h->nr && !*err; i++)
		put_element(rows, neighbour_object(&h->rows[i], err), err);
	put(o, "neighbours", rows, err);
	return o;
}

int neighbours_json_write(FILE *out, const struct neighbours_report *r)
{
	json_t *o = json_object(), *probes = json_array();
	int err = 0;

	put_text(o, "schema", "t410trace.neighbours/1", &err);
	put_host(o, r->summary->host, &err);
	put_text(o, "source", r->summary->replayed ? "recording" : "live", &err);
	put_interval(o, r->summary->start_ns, r->summary->end_ns, r->summary->start_time_ns, &err);
	put_text(o, "by", row_kind_name(r->summary->by), &err);
	put(o, "rise_percent", json_real(round(r->rise * 1e6) / 1e4), &err);
	put_number(o, "min_samples", NEIGHBOURS_MIN_SAMPLES, &err);
	for (size_t i = 0; i < r->nr; i++)
		put_element(probes, probe_object(r, &r->probes[i], &err), &err);
	put(o, "probes", probes, &err);
	put(o, "quality", json_quality(&r->summary->quality, &err), &err);
	put(o, "self", json_self(&r->summary->self, &err), &err);
	return put_line(out, o, 12, err);
}
