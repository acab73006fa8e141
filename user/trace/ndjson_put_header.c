// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/cpulist.h"
#include "base/text.h"
#include "trace/json_text.h"
#include "trace/ndjson_header.h"

static void put_sockets(FILE *f, const struct layout *l)
{
	char text[CPULIST_TEXT_LEN];

	fputs(",\"sockets\":[", f);
	for (uint32_t s = 0; s < l->nr_sockets; s++) {
		struct cpulist cpus = { 0 };

		for (uint32_t cpu = 0; cpu < l->nr_cpus; cpu++)
			if (l->cpu_socket[cpu] == s)
				cpus.bits[cpu / 64] |= 1ull << cpu % 64;
		cpulist_format(&cpus, text, sizeof(text));
		fprintf(f, "%s{\"id\":%u,\"cpus\":\"%s\"}", s ? "," : "", l->socket_ids[s], text);
	}
	putc(']', f);
}

static void put_filters(FILE *f, const char *text)
{
	char name[sizeof(((struct counter *)NULL)->filters)];
	bool first = true;
	uint64_t value;

	fputs(",\"filters\":{", f);
	for (; !take_setting(&text, name, sizeof(name), &value); first = false) {
		fputs(first ? "" : ",", f);
		json_quoted(f, name);
		putc(':', f);
		json_value(f, value);
	}
	putc('}', f);
}

static void put_counters(FILE *f, const struct trace_header *h)
{
	const struct layout *l = &h->layout;

	fputs(",\"counters\":[", f);
	for (size_t i = 0; i < l->nr_counters; i++) {
		const struct counter *c = &l->counters[i];

		fprintf(f, "%s{\"id\":%zu", i ? "," : "", i);
		json_name(f, "name", c->name);
		json_name(f, "pmu", c->pmu);
		json_name(f, "event", c->event);
		put_filters(f, c->filters);
		json_number(f, "socket", l->socket_ids[c->socket]);
		json_name(f, "unit", unit_name(c->unit));
		json_name(f, "source", source_name(c->source));
		json_number(f, "group", c->group);
		json_name(f, "direction", direction_name(c->direction));
		json_name(f, "destination", destination_name(c->destination));
		if (c->device)
			json_name(f, "bdf", h->devices[c->device - 1].bdf);
		putc('}', f);
	}
	putc(']', f);
}

static void put_probes(FILE *f, const struct trace_header *h)
{
	fputs(",\"probes\":[", f);
	for (size_t i = 0; i < h->nr_probes; i++) {
		const struct probe *p = &h->probes[i];

		fprintf(f, "%s{\"id\":%zu", i ? "," : "", i);
		json_name(f, "name", p->name);
		json_name(f, "title", p->title);
		json_name(f, "pmu", p->pmu);
		json_number(f, "socket", h->layout.socket_ids[p->socket]);
		json_name(f, "direction", direction_name(p->direction));
		json_name(f, "destination", destination_name(p->destination));
		json_bool(f, "by_tasks", p->by_tasks);
		if (p->device)
			json_name(f, "bdf", h->devices[p->device - 1].bdf);
		putc('}', f);
	}
	putc(']', f);
}

static void put_devices(FILE *f, const struct trace_header *h)
{
	fputs(",\"devices\":[", f);
	for (size_t i = 0; i < h->nr_devices; i++) {
		const struct device *d = &h->devices[i];

		fprintf(f, "%s{\"bdf\":\"%s\"", i ? "," : "", d->bdf);
		json_name(f, "name", d->name);
		json_name(f, "kind", device_kind_name(d->kind));
		if (d->wiring != WIRING_UNKNOWN) {
			json_number(f, "socket", h->layout.socket_ids[d->socket]);
			json_number(f, "rc", d->rc);
			json_number(f, "rp", d->rp);
		}
		json_name(f, "wiring", wiring_name(d->wiring));
		json_name(f, "filter", device_filter_name(d->filter));
		if (d->port)
			json_name(f, "port", h->devices[d->port - 1].bdf);
		putc('}', f);
	}
	putc(']', f);
}

static void put_texts(FILE *f, const char *key, char *const *texts, size_t nr)
{
	fprintf(f, ",\"%s\":[", key);
	for (size_t i = 0; i < nr; i++) {
		fputs(i ? "," : "", f);
		json_element(f, texts[i]);
	}
	putc(']', f);
}

static void put_peaks(FILE *f, const struct peaks *p)
{
	if (!p->nr)
		return;
	fputs(",\"peaks\":[", f);
	for (uint32_t i = 0; i < p->nr; i++) {
		const struct peak *one = &p->items[i];

		fprintf(f, "%s{\"of\":\"%s\"", i ? "," : "", peak_name(one->of));
		if (one->socket != PEAK_EVERY_SOCKET)
			json_number(f, "socket", one->socket);
		json_number(f, "bytes_per_s", one->bytes_per_s);
		json_name(f, "from", peak_from_name(one->from));
		putc('}', f);
	}
	putc(']', f);
	if (p->note[0])
		json_name(f, "peak_note", p->note);
}

void ndjson_put_header(FILE *f, const struct trace_header *h)
{
	fputs("{\"type\":\"header\",\"schema\":\"" NDJSON_SCHEMA "\"", f);
	json_name(f, "platform", h->host.platform);
	json_name(f, "host", h->host.name);
	json_name(f, "kernel", h->host.kernel);
	json_number(f, "host_sockets", h->host.sockets);
	if (h->host.io_note[0])
		json_name(f, "io_note", h->host.io_note);
	if (h->host.tick[0])
		json_name(f, "tick", h->host.tick);
	if (h->host.tick_note[0])
		json_name(f, "tick_note", h->host.tick_note);
	put_peaks(f, &h->host.peaks);
	put_sockets(f, &h->layout);
	json_number(f, "nr_cpus", h->layout.nr_cpus);
	put_devices(f, h);
	put_counters(f, h);
	put_probes(f, h);
	ndjson_put_parts(f, h);
	fputs(",\"weights\":[", f);
	for (uint32_t i = 0; i < h->nr_weights; i++) {
		fputs(i ? "," : "", f);
		json_element(f, h->weights[i]);
	}
	putc(']', f);
	put_texts(f, "cgroups", h->cgroups, h->nr_cgroups);
	if (h->nr_jobs)
		put_texts(f, "jobs", h->jobs, h->nr_jobs);
	json_number(f, "window_ns", h->window_ns);
	json_number(f, "interval_ns", h->interval_ns);
	json_bool(f, "by_thread", h->by_thread);
	json_bool(f, "marked", h->marked);
	json_bool(f, "all", h->all);
	if (h->resctrl)
		json_bool(f, "resctrl", true);
	fputs("}\n", f);
}
