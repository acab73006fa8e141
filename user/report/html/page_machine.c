// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The tables of all but workloads: sockets, counters, devices, latencies and neighbours. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/sums.h"
#include "report/devices.h"
#include "report/gpus.h"
#include "report/format.h"
#include "report/html/markup.h"
#include "report/html/page.h"
#include "report/names.h"

/* Number of neighbours shown for a latency */
#define MAX_NEIGHBOURS 40

static uint64_t ns_of(const struct page *p)
{
	return p->summary->end_ns - p->summary->start_ns;
}

void page_sockets(FILE *out, const struct page *p)
{
	const struct report *r = p->summary;

	markup_table(out, "sockets", "CPU time of sockets, and what their memory moved",
		     "#Socket|#CPUs|#Busy|#Busy s|#Idle s|#Not booked s|#Memory GB/s|#Memory");
	for (size_t s = 0; s < p->tree->nr_sockets; s++) {
		const struct socket_total *t = &p->tree->sockets[s];
		bool known;

		fputs("<tr>", out);
		markup_count(out, t->id);
		if (t->cpus) {
			uint64_t all, used = rows_socket_cpu(t->cpus, ns_of(p), &all);

			markup_count(out, t->cpus->nr_cpus);
			markup_value(out, grid_percent(used, all));
			markup_value(out, grid_seconds(t->cpus->busy_ns));
			markup_value(out, grid_seconds(t->cpus->idle_ns));
			markup_value(out, grid_seconds(t->cpus->lost_ns));
		} else {
			markup_nones(out, 5);
		}
		known = r->nr_counters && !t->incomplete;
		markup_value(out, grid_if(known, grid_rate(t->bytes, ns_of(p))));
		markup_value(out, grid_if(known, grid_bytes(t->bytes)));
		fputs("</tr>\n", out);
	}
	markup_table_end(out);
}

/* --- counters */

/* Bytes and energy with three digits, anything else as it is. */
static void put_amount(FILE *out, const struct counter *c, uint64_t value)
{
	char text[64];

	if (c->unit == UNIT_BYTES) {
		markup_value(out, grid_bytes(value));
	} else if (c->unit == UNIT_NANOJOULES) {
		markup_value(out, grid_joules(value));
	} else {
		snprintf(text, sizeof(text), "%" PRIu64 " %s", value, unit_name(c->unit));
		markup_number(out, text, value);
	}
}

/* Only units that are split have reasons. */
static void put_reasons(FILE *out, const struct report_counter *rc)
{
	const char *between = "", *unit = unit_name(rc->counter->unit);
	char text[FORMAT_NUMBER_LEN];

	fputs("<td>", out);
	for (int i = 0; i < NR_REASONS; i++) {
		if (!rc->unattributed[i])
			continue;
		if (rc->counter->unit == UNIT_NANOJOULES)
			format_joules(rc->unattributed[i], text);
		else
			format_bytes(rc->unattributed[i], text);
		fprintf(out, "%s<span title=\"%" PRIu64 " %s\">%s %s</span>", between,
			rc->unattributed[i], unit, reason_name(i), text);
		between = ", ";
	}
	fputs("</td>", out);
}

static void put_counter(FILE *out, const struct report *r, const struct report_counter *rc)
{
	const struct counter *c = rc->counter;
	bool split = unit_is_split(c->unit);
	uint64_t unattributed = 0;

	for (int i = 0; i < NR_REASONS; i++)
		unattributed = sum_capped(unattributed, rc->unattributed[i]);
	fputs("<tr>", out);
	markup_cell(out, FORMAT_SAFE(c->name));
	markup_count(out, report_socket_id(r, c));
	markup_cell(out, source_name(c->source));
	markup_cell(out, direction_name(c->direction));
	markup_cell(out, destination_name(c->destination));
	if (rc->valid) {
		put_amount(out, c, rc->value);
		put_amount(out, c, rc->low);
		put_amount(out, c, rc->high);
	} else {
		markup_cell(out, rc->enabled_ns && !rc->running_ns ? "not running" : "not read");
		markup_nones(out, 2);
	}
	if (rc->valid && split) {
		put_amount(out, c, rc->attributed);
		put_amount(out, c, unattributed);
		put_reasons(out, rc);
	} else {
		markup_nones(out, 3);
	}
	markup_value(out, grid_percent(rc->running_ns, rc->enabled_ns));
	markup_value(out, grid_seconds(rc->covered_ns));
	fputs("</tr>\n", out);
}

void page_counters(FILE *out, const struct page *p)
{
	const struct report *r = p->summary;

	if (!r->nr_counters)
		return;
	markup_table(out, "counters",
		     "Counters: attributed and unattributed together are the value",
		     "Counter|#Socket|Source|Direction|Destination|#Value|#Low|#High|#Attributed|"
		     "#Unattributed|Reasons|#Counting|#Covered s");
	for (size_t i = 0; i < r->nr_counters; i++)
		put_counter(out, r, &r->counters[i]);
	markup_table_end(out);
}

/* --- devices */

/* Ports have no owner of their bytes, and some devices no requests: empty, not 0. */
static void put_side(FILE *out, const struct page *p, const struct device_bytes *side, bool port)
{
	markup_value(out, grid_if(side->valid, grid_rate(side->bytes, ns_of(p))));
	markup_value(out,
		     grid_if(side->valid, grid_range(side->bytes, side->low, side->high, false)));
	markup_value(out, grid_if(side->valid && !port, grid_percent(side->owned, side->bytes)));
	markup_value(out, grid_if(side->io_valid, grid_bytes(side->io_bytes)));
}

static void put_device(FILE *out, const struct page *p, const struct report_device *rd)
{
	const struct report *r = p->summary;
	const struct device *d = rd->device;
	char where[64] = "not known";
	uint64_t part, whole;

	if (d->wiring != WIRING_UNKNOWN)
		snprintf(where, sizeof(where), "s%" PRIu32 " rc%" PRIu32 " rp%" PRIu32 "%s",
			 report_socket_at(r, d->socket), d->rc, d->rp,
			 devices_is_guess(d) ? " (guessed)" : "");
	fputs("<tr>", out);
	markup_cell(out, FORMAT_SAFE(d->bdf));
	markup_cell(out, FORMAT_SAFE(d->name));
	markup_cell(out, rd->how == HOW_DERIVED ? "link, derived" : device_kind_name(d->kind));
	markup_cell(out, where);
	put_side(out, p, &rd->read, devices_is_port(rd));
	put_side(out, p, &rd->write, devices_is_port(rd));
	devices_cover(r, rd, &part, &whole);
	markup_value(out, grid_percent(part, whole));
	markup_value(out, grid_if(rd->latency_valid, grid_ns(rd->latency_ns)));
	fputs("</tr>\n", out);
}

/* --- users of devices */

static void put_user(FILE *out, const struct report_device *d, const struct device_user *u)
{
	char text[GPUS_TEXT_LEN];
	uint64_t told = d->by.told_ns;
	bool sampled = told && d->by.samples;

	gpus_user(u, text);
	fputs("<tr>", out);
	markup_cell(out, FORMAT_SAFE(d->device->bdf));
	markup_cell(out, text);
	markup_count(out, u->processes);
	markup_value(out, grid_seconds(u->held_ns));
	markup_value(out, grid_if(told, grid_percent(u->busy_ns, told)));
	markup_value(out,
		     grid_if(sampled, grid_percent(whole_capped(u->low * (double)told), told)));
	markup_value(out,
		     grid_if(sampled, grid_percent(whole_capped(u->high * (double)told), told)));
	markup_value(out, grid_if(told && d->by.copies, grid_seconds(u->copy_ns)));
	fputs("</tr>\n", out);
}

/* One line a device: whose its bytes are, or why they are nobody's. Its links have the same owner. */
static void put_owner(FILE *out, const struct report *r, const struct report_device *d)
{
	char text[GPUS_TEXT_LEN];

	fputs("<p>", out);
	markup_text(out, FORMAT_SAFE(d->device->bdf));
	if (d->how == HOW_NONE && d->why_none[0]) {
		fputs(": no bytes: ", out);
		markup_text(out, FORMAT_SAFE(d->why_none));
	}
	if (d->by.rule != OWNER_NONE && !d->device->function) {
		gpus_owner(r, d, text);
		fprintf(out, ": owner by %s: ", owner_rule_name(d->by.rule));
		markup_text(out, text);
	}
	if (gpus_idle(&d->by) && !d->device->function)
		fputs(": <b>held but idle</b>", out);
	fputs("</p>\n", out);
}

static void put_users(FILE *out, const struct report *r)
{
	bool any = false;

	for (size_t i = 0; i < r->nr_devices; i++) {
		const struct report_device *d = &r->devices[i];
		bool own = !d->device->function;

		any |= d->by.nr > 0 && own;
		if ((d->by.rule != OWNER_NONE && own) || d->why_none[0])
			put_owner(out, r, d);
	}
	if (!any)
		return;
	markup_table(out, "users", "Who used devices, and how long these worked for them",
		     "Device|User|#Processes|#Held s|#Busy|#Busy low|#Busy high|#Copies s");
	for (size_t i = 0; i < r->nr_devices; i++)
		for (size_t k = 0; k < r->devices[i].by.nr && !r->devices[i].device->function; k++)
			put_user(out, &r->devices[i], &r->devices[i].by.users[k]);
	markup_table_end(out);
}

void page_devices(FILE *out, const struct page *p)
{
	if (!p->summary->nr_devices)
		return;
	fputs("<section id=\"device\"><h2>Devices</h2>\n<p>As devices see it: they read memory "
	      "(a disk is written), they write memory. I/O is what the kernel saw requests ask "
	      "for.</p>\n<div id=\"plot-devices\" class=\"plot\"></div>\n",
	      out);
	markup_table(out, "devices", "What devices moved",
		     "Address|Name|Kind|Where|#Read GB/s|#Read 95%|#Read owned|#Read I/O|"
		     "#Write GB/s|#Write 95%|#Write owned|#Write I/O|#Counted|#Read latency ns");
	for (size_t i = 0; i < p->summary->nr_devices; i++)
		put_device(out, p, &p->summary->devices[i]);
	markup_table_end(out);
	put_users(out, p->summary);
	fputs("</section>\n", out);
}

/* --- latencies */

static void put_probe(FILE *out, const struct report *r, const struct report_probe *rp)
{
	const struct probe *probe = rp->probe;

	fputs("<tr>", out);
	markup_cell(out, FORMAT_SAFE(probe->name));
	markup_cell(out, FORMAT_SAFE(probe->title));
	markup_count(out, report_socket_at(r, probe->socket));
	if (rp->valid)
		markup_value(out, grid_ns(rp->latency_ns));
	else
		markup_cell(out, rp->samples ? "nothing requested" : "not read");
	markup_count(out, rp->requests);
	markup_count(out, rp->samples);
	markup_value(out, grid_percent(rp->covered_ns, r->end_ns - r->start_ns));
	fputs("</tr>\n", out);
}

void page_latencies(FILE *out, const struct page *p)
{
	const struct report *r = p->summary;

	fputs("<div id=\"plot-latencies\" class=\"plot\"></div>\n", out);
	markup_table(out, "latencies", "Means over all requests of a socket or link",
		     "Latency|What waits|#Socket|#Mean ns|#Requests|#Samples|#Covered");
	for (size_t i = 0; i < r->nr_probes; i++)
		put_probe(out, r, &r->probes[i]);
	markup_table_end(out);
}

/* --- neighbours */

static void cell_change(FILE *out, double rate)
{
	fprintf(out, "<td class=\"n\" data-v=\"%.0f\">%.3f</td>", rate, rate / 1e9);
}

static void cell_ns(FILE *out, double ns)
{
	if (ns > 0)
		fprintf(out, "<td class=\"n\">%.1f</td>", ns);
	else
		markup_none(out);
}

static int put_neighbour(FILE *out, const struct neighbour *n)
{
	cleanup_free char *name = NULL;
	int err = n->row ? page_name(n->row, &name) : 0;

	if (err)
		return err;
	fputs("<tr>", out);
	if (name)
		markup_cell(out, name);
	else
		fprintf(out, "<td>(%s)</td>", reason_name(n->reason));
	cell_change(out, n->calm);
	cell_change(out, n->risen);
	cell_change(out, n->increase);
	cell_change(out, n->error);
	fprintf(out, "<td class=\"n\" data-v=\"%.0f\">%.1f%%</td>", n->share * 1e9, n->share * 100);
	cell_ns(out, n->observed_calm);
	cell_ns(out, n->observed_risen);
	markup_cell(out, n->role == NEIGHBOUR_NONE ? "" : neighbour_role_name(n->role));
	fputs("</tr>\n", out);
	return 0;
}

/* Informative ones first, then by bytes. */
static int by_weight(const void *a, const void *b)
{
	const struct neighbour *x = *(const struct neighbour *const *)a;
	const struct neighbour *y = *(const struct neighbour *const *)b;

	return ORDER(x->role == NEIGHBOUR_NONE, y->role == NEIGHBOUR_NONE)
		       ?: ORDER(x->role, y->role)
		       ?: ORDER(y->calm + y->risen, x->calm + x->risen) ?: ORDER(x, y);
}

static int put_neighbourhood(FILE *out, const struct neighbourhood *h, size_t i)
{
	cleanup_free const struct neighbour **order = calloc(h->nr + 1, sizeof(*order));
	char id[32];
	int err = 0;

	if (!order)
		return -ENOMEM;
	fputs("<h3>", out);
	markup_text(out, FORMAT_SAFE(h->probe->title));
	fputs(", ", out);
	markup_text(out, FORMAT_SAFE(h->probe->name));
	fprintf(out,
		"</h3>\n<p>High from %.1f ns on (lower quartile %.1f ns): %zu of %zu samples in "
		"%zu "
		"episode%s. Mean %.1f ns when calm, %.1f ns when high.</p>\n",
		h->limit_ns, h->baseline_ns, h->risen_samples, h->samples, h->episodes,
		h->episodes == 1 ? "" : "s", h->calm_latency_ns, h->risen_latency_ns);
	for (size_t k = 0; k < h->nr; k++)
		order[k] = &h->rows[k];
	qsort(order, h->nr, sizeof(*order), by_weight);
	snprintf(id, sizeof(id), "neighbours-%zu", i);
	markup_table(out, id, "Who moved how much while the latency was calm, and high",
		     "Neighbour|#Calm GB/s|#High GB/s|#Change|#By chance up to|#Share when high|"
		     "#Calm latency ns|#High latency ns|Role");
	for (size_t k = 0; k < h->nr && k < MAX_NEIGHBOURS && !err; k++)
		err = put_neighbour(out, order[k]);
	markup_table_end(out);
	return err;
}

int page_neighbours(FILE *out, const struct page *p)
{
	const struct neighbours_report *n = p->neighbours;
	size_t said = 0;
	int err = 0;

	if (!n || !n->nr)
		return 0;
	fprintf(out,
		"<h2 id=\"neighbours\">Neighbours</h2>\n<p>Who moved more while a latency was "
		"%.0f%% above its "
		"lower quartile. What rose together with a latency may be its cause; that is not "
		"proof.</p>\n",
		n->rise * 100);
	for (size_t i = 0; i < n->nr && !err; i++)
		if (n->probes[i].enough) {
			err = put_neighbourhood(out, &n->probes[i], i);
			said++;
		}
	if (said < n->nr)
		fprintf(out,
			"<p>Of %zu %slatenc%s nothing can be said: fewer than %d samples were "
			"high, or were not.</p>\n",
			n->nr - said, said ? "more " : "", n->nr - said == 1 ? "y" : "ies",
			NEIGHBOURS_MIN_SAMPLES);
	return err;
}
