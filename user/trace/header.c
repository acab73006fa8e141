// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "trace/header.h"

#include "base/bdf.h"
#include "base/cpulist.h"
#include "base/text.h"
#include "run_options.h"

_Static_assert(FIELD_MAX_TEXT == RECORDING_MAX_TEXT, "texts of a recording");

#define ID                                      \
	{                                       \
		.name = "id", .type = HEADER_ID \
	}
#define HEADER	struct trace_header
#define NEEDED	.required = true
#define TERSE	.terse = true
#define AT(n)	.place = (n)
#define MOST(n) .max = (n)

static const struct field peak_rows[] = {
	ROW_WORD("of", struct peak, of, peak_name, NR_PEAKS, NEEDED, AT(1)),
	ROW_OWN("socket", HEADER_PEAK_SOCKET, struct peak, socket, AT(3)),
	ROW("bytes_per_s", struct peak, bytes_per_s, NEEDED, AT(4), MOST(PEAK_MOST)),
	ROW_WORD("from", struct peak, from, peak_from_name, NR_PEAK_FROM, NEEDED, AT(2)),
};
static const struct fields peak_fields =
	FIELDS(peak_rows, struct peak, .placed = true, .unknown = "a peak of an unknown kind",
	       .many = "too many peaks");

static const struct field device_rows[] = {
	ROW_CHARS("bdf", struct device, bdf, NEEDED, AT(1)),
	ROW_CHARS("name", struct device, name, AT(2)),
	ROW_WORD("kind", struct device, kind, device_kind_name, NR_DEVICE_KINDS, AT(3)),
	ROW_OWN("socket", HEADER_SOCKET, struct device, socket, AT(4),
		.when = offsetof(struct device, wiring)),
	ROW("rc", struct device, rc, AT(5), .when = offsetof(struct device, wiring)),
	ROW("rp", struct device, rp, AT(6), .when = offsetof(struct device, wiring)),
	ROW_WORD("wiring", struct device, wiring, wiring_name, NR_WIRINGS, AT(7)),
	ROW_WORD("filter", struct device, filter, device_filter_name, NR_DEVICE_FILTERS, AT(8)),
	ROW_OWN("port", HEADER_DEVICE, struct device, port, AT(9)),
	/* Their bytes are those of HEADER_IO, HEADER_LINKS and HEADER_C2C. */
	ROW_WORD("io", struct device, io, io_noted_name, NR_IO_NOTED, TERSE),
	ROW_WORD("link", struct device, link, device_link_name, NR_DEVICE_LINKS, TERSE),
	ROW_CHARS("uuid", struct device, uuid, TERSE),
	ROW_OWN("function", HEADER_DEVICE, struct device, function),
	ROW_CHARS("why", struct device, why, TERSE),
};
static const struct fields device_fields =
	FIELDS(device_rows, struct device, .placed = true, .unknown = "a device of an unknown kind",
	       .many = "too many devices");

static const struct field counter_rows[] = {
	ID,
	ROW_CHARS("name", struct counter, name, NEEDED, AT(1)),
	ROW_CHARS("pmu", struct counter, pmu, AT(2)),
	ROW_CHARS("event", struct counter, event, AT(3)),
	ROW_OWN("filters", HEADER_FILTERS, struct counter, filters, AT(4)),
	ROW_OWN("socket", HEADER_SOCKET, struct counter, socket, NEEDED),
	ROW_WORD("unit", struct counter, unit, unit_name, NR_UNITS, AT(8)),
	ROW_WORD("source", struct counter, source, source_name, SOURCE_ANY + 1, NEEDED, AT(5)),
	ROW_OWN("group", HEADER_GROUP, struct counter, group),
	ROW_WORD("direction", struct counter, direction, direction_name, NR_DIRECTIONS, AT(6)),
	ROW_WORD("destination", struct counter, destination, destination_name, NR_DESTINATIONS,
		 AT(7)),
	ROW_OWN("bdf", HEADER_DEVICE, struct counter, device, AT(9)),
	/* Its byte is one of HEADER_C2C. */
	ROW_WORD("term", struct counter, term, term_name, NR_TERMS, TERSE),
};
static const struct fields counter_fields =
	FIELDS(counter_rows, struct counter, .placed = true,
	       .unknown = "a counter of an unknown kind", .many = "too many counters");

static const struct field probe_rows[] = {
	ID,
	ROW_CHARS("name", struct probe, name, NEEDED),
	ROW_CHARS("title", struct probe, title),
	ROW_CHARS("pmu", struct probe, pmu),
	ROW_OWN("socket", HEADER_SOCKET, struct probe, socket, NEEDED),
	ROW_WORD("direction", struct probe, direction, direction_name, NR_WAYS),
	ROW_WORD("destination", struct probe, destination, destination_name, NR_DESTINATIONS),
	ROW("by_tasks", struct probe, by_tasks),
	ROW_OWN("bdf", HEADER_DEVICE, struct probe, device),
};
static const struct fields probe_fields =
	FIELDS(probe_rows, struct probe, .unknown = "a probe of an unknown kind",
	       .many = "too many probes");

static const struct field part_rows[] = {
	ID,
	ROW_CHARS("name", struct traffic_part, name, NEEDED, AT(1)),
	ROW_WORD("part", struct traffic_part, kind, part_name, NR_PARTS, NEEDED, AT(5)),
	ROW_CHARS("pmu", struct traffic_part, pmu, AT(2)),
	ROW_CHARS("event", struct traffic_part, event, AT(3)),
	ROW("pmus", struct traffic_part, nr_pmus, AT(7)),
	ROW_OWN("socket", HEADER_SOCKET, struct traffic_part, socket, NEEDED, AT(4)),
	ROW_WORD("direction", struct traffic_part, direction, direction_name, NR_WAYS, NEEDED,
		 AT(6)),
};
static const struct fields part_fields =
	FIELDS(part_rows, struct traffic_part, .placed = true,
	       .unknown = "a part of an unknown kind", .many = "too many parts");

/* Their first counters follow, see place_counters(). */
static const struct field group_rows[] = {
	ROW(NULL, struct group, socket),
	ROW(NULL, struct group, nr, MOST(TRACE_MAX_COUNTERS)),
};
static const struct fields group_fields =
	FIELDS(group_rows, struct group, .many = "too many counters");

static const struct field socket_rows[] = {
	{ .name = "id", .type = FIELD_U32, NEEDED, AT(1) },
	{ .name = "cpus", .type = HEADER_CPUS },
};
static const struct fields socket_fields =
	FIELDS(socket_rows, uint32_t, .placed = true, .many = "too many sockets");
static const struct field weight_rows[] = {
	{ .type = FIELD_CHARS, .size = TRACE_WEIGHT_NAME_LEN },
};
static const struct fields weight_fields =
	FIELDS(weight_rows, ((HEADER *)NULL)->weights[0], .many = "too many weights");
static const struct field text_rows[] = { { .type = FIELD_STRING } };
static const struct fields cgroup_fields = FIELDS(text_rows, char *, .many = "too many cgroups");
static const struct fields job_fields = FIELDS(text_rows, char *, .many = "too many jobs");

#define LAST_TICKS 19 /* places behind which a header without peaks ends */
#define LAST_PEAKS 21
#define LAST_PARTS 22
#define LAST_IO	   23

static const struct field header_rows[] = {
	{ .type = FIELD_FLAGS, AT(1) },
	ROW_CHARS("platform", HEADER, host.platform, AT(4)),
	ROW_CHARS("host", HEADER, host.name, AT(2)),
	ROW_CHARS("kernel", HEADER, host.kernel, AT(3)),
	ROW("host_sockets", HEADER, host.sockets, AT(5)),
	ROW_CHARS("io_note", HEADER, host.io_note, TERSE, AT(17)),
	/* A header of version 5 or 6 ends here. */
	ROW_CHARS("tick", HEADER, host.tick, TERSE, AT(18), .ends = true),
	ROW_CHARS("tick_note", HEADER, host.tick_note, TERSE, AT(LAST_TICKS)),
	ROW_LIST("peaks", HEADER, host.peaks.items, host.peaks.nr, &peak_fields, TERSE, AT(20),
		 MOST(PEAK_MAX), .inside = true, .ends = true),
	ROW_CHARS("peak_note", HEADER, host.peaks.note, TERSE, AT(LAST_PEAKS),
		  .when = offsetof(HEADER, host.peaks.nr)),
	ROW_LIST("sockets", HEADER, layout.socket_ids, layout.nr_sockets, &socket_fields, NEEDED,
		 AT(8), MOST(TRACE_MAX_SOCKETS)),
	ROW_OWN(NULL, HEADER_CPUS, HEADER, layout.cpu_socket, AT(9)),
	ROW("nr_cpus", HEADER, layout.nr_cpus, MOST(CPULIST_MAX_CPUS)),
	ROW_LIST(NULL, HEADER, layout.groups, layout.nr_groups, &group_fields, AT(10),
		 MOST(TRACE_MAX_COUNTERS)),
	ROW_LIST("devices", HEADER, devices, nr_devices, &device_fields, AT(15),
		 MOST(TRACE_MAX_DEVICES)),
	ROW_OWN(NULL, HEADER_IO, HEADER, devices, AT(LAST_IO), .ends = true),
	ROW_OWN(NULL, HEADER_LINKS, HEADER, devices, AT(24)),
	ROW_OWN(NULL, HEADER_C2C, HEADER, devices, AT(25)),
	ROW_LIST("counters", HEADER, layout.counters, layout.nr_counters, &counter_fields, NEEDED,
		 AT(11), MOST(TRACE_MAX_COUNTERS)),
	ROW_LIST("probes", HEADER, probes, nr_probes, &probe_fields, AT(14),
		 MOST(TRACE_MAX_PROBES)),
	ROW_LIST("parts", HEADER, parts, nr_parts, &part_fields, TERSE, AT(LAST_PARTS),
		 MOST(TRACE_MAX_PARTS), .ends = true),
	ROW_LIST("weights", HEADER, weights, nr_weights, &weight_fields, AT(12),
		 MOST(TRACE_MAX_WEIGHTS), .inside = true),
	ROW_LIST("cgroups", HEADER, cgroups, nr_cgroups, &cgroup_fields, AT(13),
		 MOST(TRACE_MAX_SELECTED)),
	ROW_LIST("jobs", HEADER, jobs, nr_jobs, &job_fields, TERSE, AT(16),
		 MOST(TRACE_MAX_SELECTED)),
	ROW("window_ns", HEADER, window_ns, AT(6)),
	ROW("interval_ns", HEADER, interval_ns, AT(7)),
	ROW("by_thread", HEADER, by_thread, .flag = RECORDING_BY_THREAD),
	ROW("marked", HEADER, marked, .flag = RECORDING_MARKED),
	ROW("all", HEADER, all, .flag = RECORDING_ALL),
	ROW("resctrl", HEADER, resctrl, TERSE, .flag = RECORDING_RESCTRL),
	ROW("online", HEADER, online, TERSE, .flag = RECORDING_ONLINE),
	ROW("contexts", HEADER, contexts, TERSE, .flag = RECORDING_LINKS),
	ROW("c2c", HEADER, c2c, TERSE, .flag = RECORDING_C2C),
	ROW("holders", HEADER, holders, TERSE, .flag = RECORDING_HELD),
};
const struct fields header_fields = FIELDS(header_rows, HEADER, .placed = true);

/* --- do the parts fit together? */

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
		if (c->term && (!c->device || c->unit == UNIT_EVENTS ||
				h->devices[c->device - 1].kind != DEVICE_LINK))
			return "a term of no link";
		if (!are_filters(c->filters))
			return "filters of a counter that are none";
	}
	return NULL;
}

static const char *probes_check(const struct trace_header *h)
{
	if (h->nr_probes * h->layout.nr_counters > TRACE_MAX_LINKS)
		return probe_fields.many;
	for (size_t i = 0; i < h->nr_probes; i++) {
		const struct probe *p = &h->probes[i];

		if (p->socket >= h->layout.nr_sockets)
			return "a probe on an unknown socket";
		if (p->device > h->nr_devices)
			return "a probe of an unknown device";
		if (p->device && p->by_tasks)
			return "a probe of a device and of tasks";
	}
	return NULL;
}

/* Counters are of a link or of its function, never of both. */
static bool link_fits(const struct trace_header *h, const struct device *d)
{
	bool is_link = d->kind == DEVICE_LINK;

	if (!is_link)
		return !d->function && !d->why[0] && !strchr(d->bdf, '/');
	return h->c2c && strchr(d->bdf, '/') && !d->port && d->function <= h->nr_devices &&
	       (!d->function || h->devices[d->function - 1].kind != DEVICE_LINK);
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

	for (size_t i = 0; i < h->nr_devices; i++) {
		const struct device *d = &h->devices[i];

		if (device_address(d->bdf, bdf, sizeof(bdf)) || strcmp(d->bdf, bdf))
			return "a device without an address";
		for (size_t j = 0; j < i; j++)
			if (!strcmp(h->devices[j].bdf, bdf))
				return "two devices with one address";
		if (d->wiring != WIRING_UNKNOWN && d->socket >= h->layout.nr_sockets)
			return "a device on an unknown socket";
		if (!h->contexts && (d->link != LINK_UNKNOWN || d->uuid[0]))
			return "a device's link in a trace without contexts";
		if (!link_fits(h, d))
			return "a link that fits no function";
		if (!port_fits(h, d))
			return "a device below a port that is none";
	}
	return NULL;
}

static const char *parts_check(const struct trace_header *h)
{
	for (size_t i = 0; i < h->nr_parts; i++) {
		const struct traffic_part *p = &h->parts[i];

		if (p->socket >= h->layout.nr_sockets)
			return "a part on an unknown socket";
		if (p->kind == PART_NONE)
			return part_fields.unknown;
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
	wrong = fields_check(&header_fields, h);
	if (wrong)
		return wrong;
	if (l->nr_groups > l->nr_counters)
		return counter_fields.many;
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

/* --- as in recordings */

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

bool header_is_late(const struct trace_header *h)
{
	bool late = h->online || h->contexts || h->c2c || h->holders;

	for (size_t i = 0; i < h->nr_devices && !late; i++)
		late = h->devices[i].io != IO_UNTOLD;
	return late;
}

static void put_links(const struct trace_header *h, struct bytes *o)
{
	for (size_t i = 0; h->contexts && i < h->nr_devices; i++) {
		bytes_put(o, h->devices[i].link);
		bytes_put_text(o, h->devices[i].uuid);
	}
}

static void put_c2c(const struct trace_header *h, struct bytes *o)
{
	for (size_t i = 0; h->c2c && i < h->nr_devices; i++) {
		bytes_put(o, h->devices[i].function);
		bytes_put_text(o, h->devices[i].why);
	}
	for (size_t i = 0; h->c2c && i < h->layout.nr_counters; i++)
		bytes_put(o, h->layout.counters[i].term);
}

static void put_own(struct fields_out *o, const struct field *f, const void *of)
{
	const struct trace_header *h = of;

	if (f->type == HEADER_CPUS)
		put_cpus(&h->layout, &o->bytes);
	else if (f->type == HEADER_IO)
		for (size_t i = 0; i < h->nr_devices; i++)
			bytes_put(&o->bytes, h->devices[i].io);
	else if (f->type == HEADER_LINKS)
		put_links(h, &o->bytes);
	else if (f->type == HEADER_C2C)
		put_c2c(h, &o->bytes);
	else if (f->type == HEADER_FILTERS)
		bytes_put_text(&o->bytes, field_at(f, of));
	else if (f->type != HEADER_ID)
		bytes_put(&o->bytes,
			  (uint32_t)(field_get(f, of) + (f->type == HEADER_PEAK_SOCKET)));
}

void header_encode(const struct trace_header *h, struct bytes *o)
{
	struct fields_out out = { .bytes = *o, .own = put_own };

	fields_put_until(&out, &header_fields, h,
			 h->contexts || h->c2c || h->holders ? SIZE_MAX
			 : header_is_late(h)		     ? LAST_IO
			 : h->nr_parts			     ? LAST_PARTS
			 : h->host.peaks.nr		     ? LAST_PEAKS
							     : LAST_TICKS);
	*o = out.bytes;
}

static void get_cpus(struct bytes_in *in, struct layout *l)
{
	uint32_t *cpus, at = 0;

	l->nr_cpus = bytes_get_max(in, TRACE_MAX_CPUS);
	l->cpu_socket = cpus = calloc(l->nr_cpus + 1, sizeof(*cpus));
	if (!cpus)
		in->err = -ENOMEM;
	while (at < l->nr_cpus && !in->err) {
		uint32_t n = bytes_get_max(in, l->nr_cpus - at);
		uint32_t socket = (uint32_t)bytes_get_max(in, l->nr_sockets) - 1;

		bytes_bad(in, !n);
		while (n--)
			cpus[at++] = socket;
	}
}

static void get_links(struct bytes_in *in, struct trace_header *h)
{
	for (size_t i = 0; h->contexts && i < h->nr_devices; i++) {
		h->devices[i].link = bytes_get_max(in, NR_DEVICE_LINKS - 1);
		bytes_get_text(in, h->devices[i].uuid, sizeof(h->devices[i].uuid));
	}
}

static void get_c2c(struct bytes_in *in, struct trace_header *h)
{
	for (size_t i = 0; h->c2c && i < h->nr_devices; i++) {
		h->devices[i].function = (uint32_t)bytes_get_max(in, TRACE_MAX_DEVICES);
		bytes_get_text(in, h->devices[i].why, sizeof(h->devices[i].why));
	}
	for (size_t i = 0; h->c2c && i < h->layout.nr_counters; i++)
		h->layout.counters[i].term = bytes_get_max(in, NR_TERMS - 1);
}

static void get_own(struct fields_in *in, const struct field *f, void *of)
{
	struct trace_header *h = of;

	if (f->type == HEADER_CPUS)
		get_cpus(&in->bytes, &h->layout);
	else if (f->type == HEADER_IO)
		for (size_t i = 0; i < h->nr_devices; i++)
			h->devices[i].io = bytes_get_max(&in->bytes, NR_IO_NOTED - 1);
	else if (f->type == HEADER_LINKS)
		get_links(&in->bytes, h);
	else if (f->type == HEADER_C2C)
		get_c2c(&in->bytes, h);
	else if (f->type == HEADER_FILTERS)
		bytes_get_text(&in->bytes, (char *)of + f->offset,
			       sizeof(((struct counter *)NULL)->filters));
	else if (f->type != HEADER_ID)
		field_set(f, of,
			  (uint32_t)bytes_get_max(&in->bytes, UINT32_MAX) -
				  (f->type == HEADER_PEAK_SOCKET));
}

/* Resolves references between groups and counters; false if there are more counters than that. */
static bool place_counters(struct layout *l)
{
	uint32_t first = 0;
	size_t i = 0;

	for (size_t g = 0; g < l->nr_groups; g++) {
		l->groups[g].first = first;
		first += l->groups[g].nr;
		for (; i < l->nr_counters && i < first; i++) {
			l->counters[i].group = g;
			l->counters[i].socket = l->groups[g].socket;
		}
	}
	return i == l->nr_counters;
}

void header_release(struct trace_header *h)
{
	fields_release(&header_fields, h);
	free(h->layout.cpu_socket);
	*h = (struct trace_header){ 0 };
}

int header_decode(struct bytes_in *in, struct trace_header *ret, const char **ret_wrong)
{
	struct fields_in from = { .bytes = *in, .own = get_own };
	struct trace_header h = { 0 };
	const char *wrong = "the header is not as it should be";
	int err;

	fields_take(&from, &header_fields, &h);
	/* a header without parts does not have their number, unless more follows */
	bytes_bad(&from.bytes, from.bytes.at != from.bytes.end || !place_counters(&h.layout) ||
				       (h.parts && !h.nr_parts && !header_is_late(&h)) ||
				       (from.ended && (h.contexts || h.c2c)));
	*in = from.bytes;
	err = in->err;
	if (!err)
		wrong = header_check(&h);
	if (!err && !wrong) {
		*ret = h;
		return 0;
	}
	header_release(&h);
	*ret_wrong = wrong;
	return err ? err : -EBADMSG;
}
