// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "trace/header.h"

#include "base/bdf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "run_options.h"

static const char *groups_check(const struct layout *l)
{
	size_t next = 0;

	for (size_t g = 0; g < l->nr_groups; g++) {
		const struct group *group = &l->groups[g];

		if (group->first != next || !group->nr || group->nr > l->nr_counters - next)
			return "groups do not cover the counters one after the other";
		if (group->socket >= l->nr_sockets)
			return "a group on an unknown socket";
		for (; next < group->first + group->nr; next++) {
			if (l->counters[next].group != g ||
			    l->counters[next].socket != group->socket)
				return "a counter that does not fit its group";
			if (l->counters[next].device != l->counters[group->first].device)
				return "a group of counters with different devices";
		}
	}
	return next == l->nr_counters ? NULL : "counters without a group";
}

/* Settings one after the other, or none; numbers as JSON can have them. */
static bool are_filters(const char *text)
{
	char name[sizeof(((struct counter *)NULL)->filters)];
	uint64_t value;

	while (*text)
		if (take_setting(&text, name, sizeof(name), &value) || value > INT64_MAX)
			return false;
	return true;
}

static const char *counters_check(const struct trace_header *h)
{
	const struct layout *l = &h->layout;

	for (size_t i = 0; i < l->nr_counters; i++) {
		const struct counter *c = &l->counters[i];

		if (c->source > SOURCE_ANY || c->direction >= NR_DIRECTIONS ||
		    c->destination >= NR_DESTINATIONS || c->unit >= NR_UNITS)
			return "a counter of an unknown kind";
		if (c->device > h->nr_devices)
			return "a counter of an unknown device";
		if (c->device && c->source != SOURCE_DEVICE)
			return "a counter of a device that counts others too";
		if (c->device && c->unit == UNIT_NANOJOULES)
			return "a counter of a device's energy";
		if (c->unit == UNIT_EVENTS && !c->device)
			return "a counter of what no accelerator did";
		if (c->device && c->direction >= NR_WAYS)
			return "a counter of a device in both directions at once";
		if (!are_filters(c->filters))
			return "filters of a counter that are none";
	}
	return NULL;
}

static const char *probes_check(const struct trace_header *h)
{
	if (h->nr_probes > TRACE_MAX_PROBES ||
	    h->nr_probes * h->layout.nr_counters > TRACE_MAX_LINKS)
		return "too many probes";
	for (size_t i = 0; i < h->nr_probes; i++) {
		const struct probe *p = &h->probes[i];

		if (p->socket >= h->layout.nr_sockets)
			return "a probe on an unknown socket";
		if (p->direction >= NR_WAYS || p->destination >= NR_DESTINATIONS)
			return "a probe of an unknown kind";
		if (p->device > h->nr_devices)
			return "a probe of an unknown device";
		if (p->device && p->by_tasks)
			return "a probe of a device and of tasks";
	}
	return NULL;
}

/* A port stands for itself; no other device is one. */
static bool port_fits(const struct trace_header *h, const struct device *d)
{
	if (!d->port)
		return true;
	return d->kind != DEVICE_PORT && d->port <= h->nr_devices &&
	       h->devices[d->port - 1].kind == DEVICE_PORT;
}

static const char *devices_check(const struct trace_header *h)
{
	char bdf[MODEL_BDF_LEN];

	if (h->nr_devices > TRACE_MAX_DEVICES)
		return "too many devices";
	for (size_t i = 0; i < h->nr_devices; i++) {
		const struct device *d = &h->devices[i];

		if (device_address(d->bdf, bdf, sizeof(bdf)) || strcmp(d->bdf, bdf))
			return "a device without an address";
		for (size_t j = 0; j < i; j++)
			if (!strcmp(h->devices[j].bdf, bdf))
				return "two devices with one address";
		if (d->kind >= NR_DEVICE_KINDS || d->wiring >= NR_WIRINGS ||
		    d->filter >= NR_DEVICE_FILTERS)
			return "a device of an unknown kind";
		if (d->wiring != WIRING_UNKNOWN && d->socket >= h->layout.nr_sockets)
			return "a device on an unknown socket";
		if (!port_fits(h, d))
			return "a device below a port that is none";
	}
	return NULL;
}

static const char *parts_check(const struct trace_header *h)
{
	if (h->nr_parts > TRACE_MAX_PARTS)
		return "too many parts";
	for (size_t i = 0; i < h->nr_parts; i++) {
		const struct traffic_part *p = &h->parts[i];

		if (p->socket >= h->layout.nr_sockets)
			return "a part on an unknown socket";
		if (p->kind == PART_NONE || p->kind >= NR_PARTS || p->direction >= NR_WAYS)
			return "a part of an unknown kind";
	}
	return NULL;
}

static bool tick_is_known(const char *name)
{
	const char *known;

	for (unsigned int mode = 0; (known = tick_mode_name(mode)); mode++)
		if (!strcmp(name, known))
			return true;
	return false;
}

const char *header_check(const struct trace_header *h)
{
	const struct layout *l = &h->layout;
	enum scheduler scheduler;
	const char *wrong, *id;

	if (l->nr_cpus > TRACE_MAX_CPUS)
		return "too many CPUs";
	if (l->nr_sockets > TRACE_MAX_SOCKETS)
		return "too many sockets";
	if (l->nr_counters > TRACE_MAX_COUNTERS || l->nr_groups > l->nr_counters)
		return "too many counters";
	if (h->nr_weights > TRACE_MAX_WEIGHTS)
		return "too many weights";
	if (h->nr_cgroups > TRACE_MAX_SELECTED)
		return "too many cgroups";
	if (h->nr_jobs > TRACE_MAX_SELECTED)
		return "too many jobs";
	for (size_t i = 0; i < h->nr_jobs; i++)
		if (!job_text_parse(h->jobs[i], &scheduler, &id))
			return "a job of an unknown scheduler";
	for (uint32_t i = 0; i < l->nr_cpus; i++)
		if (l->cpu_socket[i] != LAYOUT_NO_SOCKET && l->cpu_socket[i] >= l->nr_sockets)
			return "a CPU of an unknown socket";
	for (uint32_t i = 0; i < l->nr_sockets; i++)
		for (uint32_t j = 0; j < i; j++)
			if (l->socket_ids[i] == l->socket_ids[j])
				return "two sockets with one number";
	if (h->nr_weights == 2 && !strcmp(h->weights[0], h->weights[1]))
		return "two weights with one name";
	wrong = peaks_wrong(&h->host.peaks);
	if (wrong)
		return wrong;
	if (h->host.tick[0] && !tick_is_known(h->host.tick))
		return "an unknown way to close windows at ticks";
	wrong = devices_check(h);
	if (!wrong)
		wrong = counters_check(h);
	if (!wrong)
		wrong = probes_check(h);
	if (!wrong)
		wrong = parts_check(h);
	return wrong ? wrong : groups_check(l);
}

/* CPUs as runs of the same socket: (length, index + 1 or 0). */
static void put_cpus(const struct layout *l, struct bytes *o)
{
	uint32_t end;

	bytes_put(o, l->nr_cpus);
	for (uint32_t i = 0; i < l->nr_cpus; i = end) {
		for (end = i + 1; end < l->nr_cpus && l->cpu_socket[end] == l->cpu_socket[i];)
			end++;
		bytes_put(o, end - i);
		bytes_put(o, (uint32_t)(l->cpu_socket[i] + 1));
	}
}

static void put_probes(const struct trace_header *h, struct bytes *o)
{
	bytes_put(o, h->nr_probes);
	for (size_t i = 0; i < h->nr_probes; i++) {
		const struct probe *p = &h->probes[i];

		bytes_put_text(o, p->name);
		bytes_put_text(o, p->title);
		bytes_put_text(o, p->pmu);
		bytes_put(o, p->socket);
		bytes_put(o, p->direction);
		bytes_put(o, p->destination);
		bytes_put(o, p->by_tasks ? RECORDING_PROBE_BY_TASKS : 0);
		bytes_put(o, p->device);
	}
}

static void put_devices(const struct trace_header *h, struct bytes *o)
{
	bytes_put(o, h->nr_devices);
	for (size_t i = 0; i < h->nr_devices; i++) {
		const struct device *d = &h->devices[i];

		bytes_put_text(o, d->bdf);
		bytes_put_text(o, d->name);
		bytes_put(o, d->kind);
		bytes_put(o, d->socket);
		bytes_put(o, d->rc);
		bytes_put(o, d->rp);
		bytes_put(o, d->wiring);
		bytes_put(o, d->filter);
		bytes_put(o, d->port);
	}
}

/* Nothing where there are none and nothing follows: such a header is as before there were any. */
static void put_peaks(const struct trace_header *h, struct bytes *o)
{
	const struct peaks *p = &h->host.peaks;

	if (!p->nr && !h->nr_parts)
		return;
	bytes_put(o, p->nr);
	for (uint32_t i = 0; i < p->nr; i++) {
		bytes_put(o, p->items[i].of);
		bytes_put(o, p->items[i].from);
		bytes_put(o, (uint32_t)(p->items[i].socket + 1));
		bytes_put(o, p->items[i].bytes_per_s);
	}
	bytes_put_text(o, p->note);
}

static void put_parts(const struct trace_header *h, struct bytes *o)
{
	bytes_put(o, h->nr_parts);
	for (size_t i = 0; i < h->nr_parts; i++) {
		const struct traffic_part *p = &h->parts[i];

		bytes_put_text(o, p->name);
		bytes_put_text(o, p->pmu);
		bytes_put_text(o, p->event);
		bytes_put(o, p->socket);
		bytes_put(o, p->kind);
		bytes_put(o, p->direction);
		bytes_put(o, p->nr_pmus);
	}
}

static void put_selected(struct bytes *o, const char *text)
{
	if (!o->err && strlen(text) > RECORDING_MAX_TEXT)
		o->err = -EINVAL;
	bytes_put_text(o, text);
}

void header_encode(const struct trace_header *h, struct bytes *o)
{
	const struct layout *l = &h->layout;

	bytes_put(o, (h->by_thread ? RECORDING_BY_THREAD : 0) | (h->marked ? RECORDING_MARKED : 0) |
			     (h->all ? RECORDING_ALL : 0) | (h->resctrl ? RECORDING_RESCTRL : 0));
	bytes_put_text(o, h->host.name);
	bytes_put_text(o, h->host.kernel);
	bytes_put_text(o, h->host.platform);
	bytes_put(o, h->host.sockets);
	bytes_put(o, h->window_ns);
	bytes_put(o, h->interval_ns);
	bytes_put(o, l->nr_sockets);
	for (uint32_t i = 0; i < l->nr_sockets; i++)
		bytes_put(o, l->socket_ids[i]);
	put_cpus(l, o);
	bytes_put(o, l->nr_groups);
	for (size_t g = 0; g < l->nr_groups; g++) {
		bytes_put(o, l->groups[g].socket);
		bytes_put(o, l->groups[g].nr);
	}
	bytes_put(o, l->nr_counters);
	for (size_t i = 0; i < l->nr_counters; i++) {
		const struct counter *c = &l->counters[i];

		bytes_put_text(o, c->name);
		bytes_put_text(o, c->pmu);
		bytes_put_text(o, c->event);
		bytes_put_text(o, c->filters);
		bytes_put(o, c->source);
		bytes_put(o, c->direction);
		bytes_put(o, c->destination);
		bytes_put(o, c->unit);
		bytes_put(o, c->device);
	}
	bytes_put(o, h->nr_weights);
	for (uint32_t i = 0; i < h->nr_weights; i++)
		bytes_put_text(o, h->weights[i]);
	bytes_put(o, h->nr_cgroups);
	for (size_t i = 0; i < h->nr_cgroups; i++)
		put_selected(o, h->cgroups[i]);
	put_probes(h, o);
	put_devices(h, o);
	bytes_put(o, h->nr_jobs);
	for (size_t i = 0; i < h->nr_jobs; i++)
		put_selected(o, h->jobs[i]);
	bytes_put_text(o, h->host.io_note);
	bytes_put_text(o, h->host.tick);
	bytes_put_text(o, h->host.tick_note);
	put_peaks(h, o);
	/* A header of version 7 ends here. */
	if (h->nr_parts)
		put_parts(h, o);
}

/* Room for @nr elements; none of zero, so that NULL always means no memory. */
static void *room(size_t nr, size_t size)
{
	return calloc(nr + 1, size);
}

static int get_sockets(struct bytes_in *in, struct layout *l)
{
	uint32_t *ids, *cpus, at = 0;

	l->nr_sockets = bytes_get_max(in, TRACE_MAX_SOCKETS);
	l->socket_ids = ids = room(l->nr_sockets, sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->nr_sockets; i++)
		ids[i] = bytes_get_max(in, UINT32_MAX);
	l->nr_cpus = bytes_get_max(in, TRACE_MAX_CPUS);
	l->cpu_socket = cpus = room(l->nr_cpus, sizeof(*cpus));
	if (!cpus)
		return -ENOMEM;
	while (at < l->nr_cpus && !in->err) {
		uint32_t n = bytes_get_max(in, l->nr_cpus - at);
		uint32_t socket = (uint32_t)bytes_get_max(in, l->nr_sockets) - 1;

		bytes_bad(in, !n);
		while (n--)
			cpus[at++] = socket;
	}
	return 0;
}

static int get_groups(struct bytes_in *in, struct layout *l)
{
	struct group *groups;
	uint32_t first = 0;

	l->nr_groups = bytes_get_max(in, TRACE_MAX_COUNTERS);
	l->groups = groups = room(l->nr_groups, sizeof(*groups));
	if (!groups)
		return -ENOMEM;
	for (size_t g = 0; g < l->nr_groups; g++) {
		groups[g].socket = bytes_get_max(in, UINT32_MAX);
		groups[g].first = first;
		groups[g].nr = bytes_get_max(in, TRACE_MAX_COUNTERS);
		first += groups[g].nr;
	}
	return 0;
}

static int get_counters(struct bytes_in *in, struct layout *l)
{
	struct counter *c;
	size_t g = 0;

	l->nr_counters = bytes_get_max(in, TRACE_MAX_COUNTERS);
	l->counters = c = room(l->nr_counters, sizeof(*c));
	if (!c)
		return -ENOMEM;
	for (size_t i = 0; i < l->nr_counters && !in->err; i++, c++) {
		while (g < l->nr_groups && i >= (size_t)l->groups[g].first + l->groups[g].nr)
			g++;
		bytes_bad(in, g == l->nr_groups);
		c->group = g;
		c->socket = in->err ? 0 : l->groups[g].socket;
		bytes_get_text(in, c->name, sizeof(c->name));
		bytes_get_text(in, c->pmu, sizeof(c->pmu));
		bytes_get_text(in, c->event, sizeof(c->event));
		bytes_get_text(in, c->filters, sizeof(c->filters));
		c->source = bytes_get_max(in, SOURCE_ANY);
		c->direction = bytes_get_max(in, NR_DIRECTIONS - 1);
		c->destination = bytes_get_max(in, NR_DESTINATIONS - 1);
		c->unit = bytes_get_max(in, NR_UNITS - 1);
		c->device = bytes_get_max(in, TRACE_MAX_DEVICES);
	}
	return 0;
}

static int get_texts(struct bytes_in *in, char ***ret, size_t *ret_nr)
{
	cleanup_free char *text = malloc(RECORDING_MAX_TEXT + 1);
	size_t nr = bytes_get_max(in, TRACE_MAX_SELECTED);
	char **texts = room(nr, sizeof(*texts));

	*ret = texts;
	if (!texts || !text)
		return -ENOMEM;
	for (size_t i = 0; i < nr && !in->err; i++) {
		bytes_bad(in, !bytes_get_text(in, text, RECORDING_MAX_TEXT + 1));
		texts[i] = strdup(text);
		if (!texts[i])
			return -ENOMEM;
		*ret_nr = i + 1;
	}
	return 0;
}

static int get_probes(struct bytes_in *in, struct trace_header *h)
{
	struct probe *p;

	h->nr_probes = bytes_get_max(in, TRACE_MAX_PROBES);
	h->probes = p = room(h->nr_probes, sizeof(*p));
	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < h->nr_probes && !in->err; i++, p++) {
		bytes_get_text(in, p->name, sizeof(p->name));
		bytes_get_text(in, p->title, sizeof(p->title));
		bytes_get_text(in, p->pmu, sizeof(p->pmu));
		p->socket = bytes_get_max(in, UINT32_MAX);
		p->direction = bytes_get_max(in, NR_WAYS - 1);
		p->destination = bytes_get_max(in, NR_DESTINATIONS - 1);
		p->by_tasks = bytes_get_max(in, RECORDING_PROBE_BY_TASKS);
		p->device = bytes_get_max(in, TRACE_MAX_DEVICES);
	}
	return 0;
}

static int get_devices(struct bytes_in *in, struct trace_header *h)
{
	struct device *d;

	h->nr_devices = bytes_get_max(in, TRACE_MAX_DEVICES);
	h->devices = d = room(h->nr_devices, sizeof(*d));
	if (!d)
		return -ENOMEM;
	for (size_t i = 0; i < h->nr_devices && !in->err; i++, d++) {
		bytes_get_text(in, d->bdf, sizeof(d->bdf));
		bytes_get_text(in, d->name, sizeof(d->name));
		d->kind = bytes_get_max(in, NR_DEVICE_KINDS - 1);
		d->socket = bytes_get_max(in, UINT32_MAX);
		d->rc = bytes_get_max(in, UINT32_MAX);
		d->rp = bytes_get_max(in, UINT32_MAX);
		d->wiring = bytes_get_max(in, NR_WIRINGS - 1);
		d->filter = bytes_get_max(in, NR_DEVICE_FILTERS - 1);
		d->port = bytes_get_max(in, TRACE_MAX_DEVICES);
	}
	return 0;
}

static void get_peaks(struct bytes_in *in, struct peaks *p)
{
	p->nr = bytes_get_max(in, PEAK_MAX);
	for (uint32_t i = 0; i < p->nr; i++) {
		p->items[i].of = bytes_get_max(in, NR_PEAKS - 1);
		p->items[i].from = bytes_get_max(in, NR_PEAK_FROM - 1);
		p->items[i].socket = (uint32_t)bytes_get_max(in, UINT32_MAX) - 1;
		p->items[i].bytes_per_s = bytes_get_max(in, PEAK_MOST);
	}
	bytes_get_text(in, p->note, sizeof(p->note));
}

static int get_parts(struct bytes_in *in, struct trace_header *h)
{
	struct traffic_part *p;

	h->nr_parts = bytes_get_max(in, TRACE_MAX_PARTS);
	bytes_bad(in, !h->nr_parts); /* without parts nobody writes their number */
	h->parts = p = room(h->nr_parts, sizeof(*p));
	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < h->nr_parts && !in->err; i++, p++) {
		bytes_get_text(in, p->name, sizeof(p->name));
		bytes_get_text(in, p->pmu, sizeof(p->pmu));
		bytes_get_text(in, p->event, sizeof(p->event));
		p->socket = bytes_get_max(in, UINT32_MAX);
		p->kind = bytes_get_max(in, NR_PARTS - 1);
		p->direction = bytes_get_max(in, NR_WAYS - 1);
		p->nr_pmus = bytes_get_max(in, UINT32_MAX);
	}
	return 0;
}

static int get_all(struct bytes_in *in, struct trace_header *h)
{
	uint64_t flags = bytes_get_max(in, RECORDING_HEADER_FLAGS);
	int err;

	h->by_thread = flags & RECORDING_BY_THREAD;
	h->marked = flags & RECORDING_MARKED;
	h->all = flags & RECORDING_ALL;
	h->resctrl = flags & RECORDING_RESCTRL;
	bytes_get_text(in, h->host.name, sizeof(h->host.name));
	bytes_get_text(in, h->host.kernel, sizeof(h->host.kernel));
	bytes_get_text(in, h->host.platform, sizeof(h->host.platform));
	h->host.sockets = bytes_get_max(in, UINT32_MAX);
	h->window_ns = bytes_get(in);
	h->interval_ns = bytes_get(in);
	err = get_sockets(in, &h->layout);
	if (!err)
		err = get_groups(in, &h->layout);
	if (!err)
		err = get_counters(in, &h->layout);
	if (err)
		return err;
	h->nr_weights = bytes_get_max(in, TRACE_MAX_WEIGHTS);
	for (uint32_t i = 0; i < h->nr_weights; i++)
		bytes_get_text(in, h->weights[i], sizeof(h->weights[i]));
	err = get_texts(in, &h->cgroups, &h->nr_cgroups);
	if (!err)
		err = get_probes(in, h);
	if (!err)
		err = get_devices(in, h);
	if (!err)
		err = get_texts(in, &h->jobs, &h->nr_jobs);
	bytes_get_text(in, h->host.io_note, sizeof(h->host.io_note));
	/* A header of version 5 or 6 ends here. */
	if (!err && in->at != in->end) {
		bytes_get_text(in, h->host.tick, sizeof(h->host.tick));
		bytes_get_text(in, h->host.tick_note, sizeof(h->host.tick_note));
	}
	if (!err && in->at != in->end)
		get_peaks(in, &h->host.peaks);
	if (!err && in->at != in->end)
		err = get_parts(in, h);
	return err;
}

int header_decode(struct bytes_in *in, struct trace_header *ret, const char **ret_wrong)
{
	struct trace_header h = { 0 };
	const char *wrong = NULL;
	int err = get_all(in, &h);

	if (!err && (in->err || in->at != in->end))
		wrong = "the header is not as it should be";
	else if (!err)
		wrong = header_check(&h);
	if (!err && !wrong) {
		*ret = h;
		return 0;
	}
	header_release(&h);
	if (err)
		return err;
	*ret_wrong = wrong;
	return -EBADMSG;
}
