// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Bytes of devices for a row, and the quality of their numbers, in sentences. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/notes.h"
#include "report/table/cells.h"

/* Minimum and maximum width of a device's name in lines of rows. */
#define LABEL_MIN  11
#define LABEL_MAX  24
/* Width of the text behind it. */
#define PART_WIDTH 39

/* Number of devices that a sentence names unless all are requested. */
#define MAX_NAMES  4

void devices_put_moved(const struct table *t, const uint64_t bytes[2], int indent)
{
	char read[FORMAT_NUMBER_LEN], written[FORMAT_NUMBER_LEN];

	if (!bytes[DIRECTION_READ] && !bytes[DIRECTION_WRITE])
		return;
	format_rate(bytes[DIRECTION_READ], t->duration_ns, read);
	format_rate(bytes[DIRECTION_WRITE], t->duration_ns, written);
	fprintf(t->out, "%*s%s: RD %s, WR %s GB/s\n", indent, "",
		t->devices == DEVICES_IO ? "IO" : "PCIE", read, written);
}

/* A row's part in one direction: counted bytes, and requested bytes as seen by the kernel. */
static int put_part(const struct table *t, const struct row_device *part, const char *label,
		    int indent, enum direction direction)
{
	bool write = direction == DIRECTION_WRITE;
	uint64_t bytes = write ? part->write_bytes : part->read_bytes;
	uint64_t low = write ? part->write_low : part->read_low;
	uint64_t high = write ? part->write_high : part->read_high;
	uint64_t io = write ? part->io_write_bytes : part->io_read_bytes;
	char text[FORMAT_NUMBER_LEN], range[FORMAT_NUMBER_LEN];
	struct sentence s;
	FILE *f;

	if (!io && (!part->counted || !high))
		return 0;
	f = sentence_begin(&s);
	if (!f)
		return -ENOMEM;
	fprintf(f, "%s %s", label, write ? "WR" : "RD");
	if (part->counted) {
		format_bytes(bytes, text);
		format_range(bytes, low, high, range);
		fprintf(f, " %s (%s)%s", text, range, io ? "," : "");
	}
	if (io) {
		format_bytes(io, text);
		fprintf(f, " requests %s", text);
	}
	fprintf(t->out, "%*s", indent, "");
	return sentence_end(&s, t->out, t->width - (size_t)indent, 0);
}

int devices_put_row(const struct table *t, const struct report_row *row, int indent)
{
	size_t room = t->width - PART_WIDTH;
	int err = 0;

	room = room < (size_t)indent + LABEL_MIN   ? LABEL_MIN
	       : room > (size_t)indent + LABEL_MAX ? LABEL_MAX
						   : room - indent;
	for (size_t i = 0; i < row->nr_devices && !err; i++) {
		const struct device *d = devices_part(t->r, &row->devices[i]);
		cleanup_free char *cut = NULL;

		if (!d)
			continue;
		if (format_cut(d->name[0] ? FORMAT_SAFE(d->name) : FORMAT_SAFE(d->bdf), room,
			       FORMAT_CUT_RIGHT, &cut))
			return -ENOMEM;
		err = put_part(t, &row->devices[i], cut, indent, DIRECTION_READ);
		if (!err)
			err = put_part(t, &row->devices[i], cut, indent, DIRECTION_WRITE);
	}
	return err;
}

static bool took_turns(const struct report_device *d)
{
	return d->running_ns && d->running_ns < d->enabled_ns;
}

static bool unread(const struct report_device *d)
{
	return d->device->filter != DEVICE_NOT_COUNTED && !d->read.valid && !d->write.valid;
}

/* The device's port is counted as a whole, the device is not. */
static bool not_apart(const struct report_device *d)
{
	return d->device->filter == DEVICE_NOT_COUNTED && d->device->port;
}

static bool place_unknown(const struct report_device *d)
{
	return d->device->filter == DEVICE_NOT_COUNTED && !d->device->port &&
	       d->device->wiring == WIRING_UNKNOWN;
}

static bool guessed(const struct report_device *d)
{
	bool moved = (d->read.valid && d->read.bytes) || (d->write.valid && d->write.bytes);

	return moved && devices_is_guess(d->device);
}

static bool not_countable(const struct report_device *d)
{
	return d->device->filter == DEVICE_NOT_COUNTED && !d->device->port &&
	       d->device->wiring != WIRING_UNKNOWN;
}

/* "text: A, B and 3 more: reason" for the devices with a property; first those that have a name. */
static int put_list(const struct table *t, bool (*is_so)(const struct report_device *d),
		    const char *what, const char *why)
{
	const struct report *r = t->r;
	size_t nr = 0, more = 0;
	struct sentence s;
	FILE *f = sentence_begin(&s);

	if (!f)
		return -ENOMEM;
	fprintf(f, "%s: ", what);
	for (size_t i = 0; i < 2 * r->nr_devices; i++) {
		const struct report_device *rd = &r->devices[i % r->nr_devices];
		const struct device *d = rd->device;
		bool first = i < r->nr_devices;

		if (devices_is_port(rd) || devices_is_link(rd) || first != (d->name[0] != '\0') ||
		    !is_so(rd))
			continue;
		/* "nvme0n1 (0002:81:00.0)" */
		if (nr >= MAX_NAMES && !t->o->verbose)
			more++;
		else if (d->name[0])
			fprintf(f, "%s%s (%s)", nr++ ? ", " : "", FORMAT_SAFE(d->name),
				FORMAT_SAFE(d->bdf));
		else
			fprintf(f, "%s%s", nr++ ? ", " : "", FORMAT_SAFE(d->bdf));
	}
	if (more)
		fprintf(f, " and %zu more", more);
	fprintf(f, ": %s", why);
	return sentence_end(&s, nr ? t->out : NULL, t->width, 0);
}

/* Length of the turns of devices that took turns. */
static int put_turns(const struct table *t)
{
	char least[FORMAT_NUMBER_LEN], most[FORMAT_NUMBER_LEN];
	const struct report_device *low = NULL, *high = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < t->r->nr_devices; i++) {
		const struct report_device *d = &t->r->devices[i];
		double part = (double)d->running_ns / (double)(d->enabled_ns ? d->enabled_ns : 1);

		if (devices_is_port(d) || devices_is_link(d) || !took_turns(d))
			continue;
		nr++;
		if (!low || part < (double)low->running_ns / (double)low->enabled_ns)
			low = d;
		if (!high || part > (double)high->running_ns / (double)high->enabled_ns)
			high = d;
	}
	if (!nr)
		return 0;
	format_percent(low->running_ns, low->enabled_ns, least);
	format_percent(high->running_ns, high->enabled_ns, most);
	if (!strcmp(least, most))
		return notes_line(t->out, t->width,
				  "took turns: %zu device%s, counted %s of the time (COVER); what "
				  "%s moved is scaled",
				  nr, nr == 1 ? "" : "s", least, nr == 1 ? "it" : "they");
	return notes_line(
		t->out, t->width,
		"took turns: %zu devices, counted %s to %s of the time (COVER); what they "
		"moved is scaled",
		nr, least, most);
}

static const char *legend(const struct table *t)
{
	if (t->devices == DEVICES_IO)
		return "IO-RD, IO-WR: requests to devices as the kernel saw them, not counted on "
		       "PCIe; RD: memory that devices read (a disk is written, a packet is sent); "
		       "WR: memory that they write";
	if (t->device_columns)
		return "PCIE-RD and READ of devices: memory that they read (a disk is written, a "
		       "packet is sent); PCIE-WR and WRITE: memory that they write";
	return "RD and READ of devices: memory that they read (a disk is written, a packet is "
	       "sent); WR and WRITE: memory that they write";
}

static bool has_no_bytes(const struct report_device *d)
{
	return devices_is_link(d) && d->how == HOW_NONE;
}

/* Links that lack their bytes for the same reason as the one at @first, which is the first of them. */
static int put_absent(const struct table *t, size_t first)
{
	const struct report_device *d = &t->r->devices[first];
	size_t more = 0;

	for (size_t i = 0; i < t->r->nr_devices; i++) {
		const struct report_device *other = &t->r->devices[i];

		if (i == first || !has_no_bytes(other) || strcmp(other->why_none, d->why_none) != 0)
			continue;
		if (i < first)
			return 0;
		more++;
	}
	if (!more)
		return notes_line(
			t->out, t->width, "no bytes of link %s: %s", FORMAT_SAFE(d->device->bdf),
			d->why_none[0] ? FORMAT_SAFE(d->why_none) : "not read in this time");
	return notes_line(t->out, t->width, "no bytes of link %s and %zu more: %s",
			  FORMAT_SAFE(d->device->bdf), more,
			  d->why_none[0] ? FORMAT_SAFE(d->why_none) : "not read in this time");
}

/* Links, which are beside their functions, and those without a value, with the reason. */
static int put_links(const struct table *t)
{
	bool any = false;
	int err = 0;

	for (size_t i = 0; i < t->r->nr_devices && !err; i++) {
		const struct report_device *d = &t->r->devices[i];

		any |= devices_is_link(d) && (d->read.valid || d->write.valid);
		if (has_no_bytes(d))
			err = put_absent(t, i);
	}
	if (err || !any || t->o->quiet)
		return err;
	return notes_line(
		t->out, t->width,
		"/c2c, /gpm: a GPU's link to the CPUs, in no sum and no column of rows; if it "
		"is derived, it is within its range");
}

int devices_notes(const struct table *t)
{
	int err = 0;

	if (t->devices == DEVICES_NONE)
		return 0;
	if (!t->o->quiet)
		err = notes_wrapped(t->out, legend(t), t->width);
	if (!err)
		err = put_turns(t);
	if (!err)
		err = put_list(
			t, unread, "unread",
			t->r->quality.device_held_ns
				? "not read in this time, because others held counters; sums "
				  "are without it"
				: "not read in this time, because its turn did not come; sums "
				  "are without it");
	if (!err)
		err = put_list(
			t, guessed, "?",
			"where it is was guessed from numbers, for firmware does not tell; if "
			"that is wrong, the bytes are those of another");
	if (!err)
		err = put_list(t, not_apart, "never counted one by one",
			       "others are below the same root port, and its counter has them "
			       "together (line \"port\")");
	if (!err)
		err = put_links(t);
	/* If nothing is counted at all, the legend tells so. */
	if (err || !t->traffic)
		return err;
	if (!err)
		err = put_list(t, place_unknown, "never counted",
			       "nothing tells which root complex it is; a map can (see "
			       "--pci-map)");
	if (!err)
		err = put_list(t, not_countable, "never counted",
			       "no counter of their root complex could be had");
	return err;
}
