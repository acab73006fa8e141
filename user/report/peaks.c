// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/peaks.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/sums.h"
#include "report/devices.h"
#include "report/format.h"
#include "report/notes.h"
#include "report/put.h"

/* Does a counter of a socket count bytes of the peak's memory or link? */
static bool is_about(const struct counter *c, enum peak_of of)
{
	static const enum destination to[NR_PEAKS] = {
		[PEAK_CMEM] = DESTINATION_CMEM, [PEAK_GMEM] = DESTINATION_GMEM,
		[PEAK_CXL] = DESTINATION_CXL,	[PEAK_REMOTE] = DESTINATION_REMOTE,
		[PEAK_PCIE] = NR_DESTINATIONS, /* of no socket */
	};

	return c->destination == to[of] || (of == PEAK_CMEM && c->destination == DESTINATION_ANY);
}

void peaks_share(struct peak_use *u, uint64_t duration_ns)
{
	double most = (double)u->peak->bytes_per_s * (double)duration_ns / (double)NS_PER_S;

	u->valid = u->valid && most > 0;
	if (!u->valid)
		return;
	for (int i = 0; i < NR_DIRECTIONS; i++)
		u->shares[i] = (double)u->bytes[i] / most;
	u->share = u->shares[0] > u->shares[1] ? u->shares[0] : u->shares[1];
	if (u->peak->of == PEAK_CMEM)
		u->share = u->shares[0] + u->shares[1];
	u->share += u->shares[DIRECTION_READWRITE];
}

/* A socket's use of a peak; false without a peak or counters for it. */
static bool use_of_socket(const struct report *r, size_t socket, enum peak_of of,
			  struct peak_use *ret)
{
	uint32_t id = r->sockets[socket].id;
	struct peak_use u = {
		.peak = peaks_find(&r->host->peaks, of, id),
		.socket = id,
		.valid = true,
		.cpus_only = true,
	};
	bool any = false;

	for (size_t i = 0; u.peak && i < r->nr_counters; i++) {
		const struct report_counter *rc = &r->counters[i];
		const struct counter *c = rc->counter;
		uint64_t *sum = &u.bytes[c->direction];

		if (c->device || c->unit != UNIT_BYTES || c->socket != socket || !is_about(c, of))
			continue;
		any = true;
		u.valid &= rc->valid;
		u.cpus_only &= c->source == SOURCE_CPU;
		u.together |= c->direction == DIRECTION_READWRITE;
		u.apart |= c->direction != DIRECTION_READWRITE;
		u.upper_bound |= c->destination == DESTINATION_ANY ||
				 (of != PEAK_CMEM && c->direction == DIRECTION_READWRITE);
		*sum = sum_capped(*sum, rc->value);
	}
	*ret = u;
	if (any)
		peaks_share(ret, report_duration_ns(r));
	return any;
}

/* A counted device; its port as a whole is not considered. */
static bool use_of_device(const struct report *r, size_t device, struct peak_use *ret)
{
	const struct report_device *d = &r->devices[device];
	struct peak_use u = {
		.peak = peaks_find(&r->host->peaks, PEAK_PCIE, PEAK_EVERY_SOCKET),
		.device = d->device,
		.valid = d->read.valid && d->write.valid,
		.bytes = { d->read.bytes, d->write.bytes },
	};

	*ret = u;
	if (!u.peak || devices_is_port(d) || devices_is_link(d) ||
	    (!d->read.valid && !d->write.valid))
		return false;
	peaks_share(ret, report_duration_ns(r));
	return true;
}

bool peaks_use(const struct report *r, size_t *at, struct peak_use *ret)
{
	size_t of_sockets = r->nr_sockets * NR_PEAKS;
	size_t nr = r->host->peaks.nr ? of_sockets + r->nr_devices : 0;

	while (*at < nr) {
		size_t i = (*at)++;

		if (i < of_sockets ? use_of_socket(r, i / NR_PEAKS, i % NR_PEAKS, ret)
				   : use_of_device(r, i - of_sockets, ret))
			return true;
	}
	return false;
}

uint64_t peaks_memory(const struct report *r, int socket)
{
	double most = 0;

	for (size_t s = 0; s < r->nr_sockets; s++) {
		struct peak_use u;

		if (socket >= 0 && (size_t)socket != s)
			continue;
		if (!use_of_socket(r, s, PEAK_CMEM, &u) || !u.valid)
			return 0;
		most += (double)u.peak->bytes_per_s * (double)report_duration_ns(r) /
			(double)NS_PER_S;
	}
	return most < 1e19 ? (uint64_t)most : 0;
}

bool peaks_all_of_socket(const struct report *r, uint32_t socket, struct peak_use *ret)
{
	if (socket >= r->nr_sockets || !use_of_socket(r, socket, PEAK_CMEM, ret) || !ret->valid)
		return false;
	for (size_t i = 0; i < r->nr_counters; i++) {
		const struct counter *c = r->counters[i].counter;

		if (c->device || c->unit != UNIT_BYTES || c->socket != socket)
			continue;
		ret->upper_bound |= c->destination != DESTINATION_CMEM;
		ret->cpus_only &= c->source == SOURCE_CPU;
	}
	return true;
}

/* --- JSON */

void peaks_put(json_t *o, const struct peak_use *u, int *err)
{
	put_number(o, "bytes_per_s", u->peak->bytes_per_s, err);
	put_text(o, "from", peak_from_name(u->peak->from), err);
	put_bool(o, "valid", u->valid, err);
	if (!u->valid)
		return;
	if (u->apart || !u->together) {
		put(o, "read_share", json_real(u->shares[0]), err);
		put(o, "write_share", json_real(u->shares[1]), err);
	}
	if (u->together)
		put(o, "readwrite_share", json_real(u->shares[DIRECTION_READWRITE]), err);
	put(o, "share", json_real(u->share), err);
	if (u->upper_bound)
		put_bool(o, "at_most", true, err);
	if (u->cpus_only)
		put_bool(o, "cpus_only", true, err);
}

json_t *peaks_array(const struct report *r, int *err)
{
	json_t *a = json_array();
	struct peak_use u;

	for (size_t at = 0; !*err && peaks_use(r, &at, &u);) {
		json_t *o = json_object();

		put_text(o, "of", peak_name(u.peak->of), err);
		if (u.device)
			put_name(o, "bdf", u.device->bdf, sizeof(u.device->bdf), err);
		else
			put_number(o, "socket", u.socket, err);
		peaks_put(o, &u, err);
		put_element(a, o, err);
	}
	return a;
}

/* --- text */

static void percent(double share, char ret[FORMAT_NUMBER_LEN])
{
	/* in millionths of a percent: what rounds to nothing or to all is told from it */
	format_percent(whole_capped(share * 1e8), 100000000, ret);
}

void peaks_percent(const struct peak_use *u, double bytes_per_s, char ret[FORMAT_NUMBER_LEN])
{
	percent(bytes_per_s / (double)u->peak->bytes_per_s, ret);
}

/* "reads 20%, writes 5%", "reads and writes together", or both with the part of each */
static void put_ways(const struct peak_use *u, char *ret, size_t size)
{
	char read[FORMAT_NUMBER_LEN], written[FORMAT_NUMBER_LEN], both[FORMAT_NUMBER_LEN];

	percent(u->shares[0], read);
	percent(u->shares[1], written);
	percent(u->shares[DIRECTION_READWRITE], both);
	if (!u->together)
		snprintf(ret, size, "reads %s, writes %s", read, written);
	else if (u->apart)
		snprintf(ret, size, "reads %s, writes %s, together %s", read, written, both);
	else
		snprintf(ret, size, "reads and writes together");
}

int peaks_line(FILE *out, const struct peak_use *u, const char *counted_by, size_t width)
{
	char all[FORMAT_NUMBER_LEN], ways[160], rate[FORMAT_NUMBER_LEN], socket[32];
	const struct device *d = u->device;
	const char *name = !d ? NULL : d->name[0] ? FORMAT_SAFE(d->name) : FORMAT_SAFE(d->bdf);
	const char *where = name ? name : u->place ? u->place : socket;
	const char *upper_bound = u->upper_bound ? "at most " : "";
	const char *only = u->cpus_only ? ", by CPUs alone" : "";

	snprintf(socket, sizeof(socket), "socket %" PRIu32, u->socket);
	format_rate(u->peak->bytes_per_s, NS_PER_S, rate);
	percent(u->share, all);
	put_ways(u, ways, sizeof(ways));
	if (!u->valid)
		return notes_line(out, width, "peak: %s of %s: not known, counters have no value",
				  peak_name(u->peak->of), where);
	if (u->peak->of == PEAK_CMEM)
		return notes_line(out, width, "peak: %s%s of %s: %s%s of %s GB/s (%s%s)",
				  counted_by, peak_name(u->peak->of), where, upper_bound, all, rate,
				  ways, only);
	if (u->together)
		return notes_line(out, width, "peak: %s%s of %s: at most %s of %s GB/s (%s%s)",
				  counted_by, peak_name(u->peak->of), where, all, rate, ways, only);
	return notes_line(out, width, "peak: %s%s of %s: %s of %s GB/s%s", counted_by,
			  peak_name(u->peak->of), where, ways, rate, only);
}

/* "546.000 GB/s", or the value of each socket where they differ */
static void put_rates(FILE *f, const struct peaks *p)
{
	const struct peak *first = NULL;
	char rate[FORMAT_NUMBER_LEN];
	bool same = true;

	for (uint32_t i = 0; i < p->nr; i++) {
		if (p->items[i].of != PEAK_CMEM)
			continue;
		first = first ? first : &p->items[i];
		same &= p->items[i].bytes_per_s == first->bytes_per_s;
	}
	for (uint32_t i = 0; i < p->nr; i++) {
		const struct peak *one = &p->items[i];

		if (one->of != PEAK_CMEM || (same && one != first))
			continue;
		format_rate(one->bytes_per_s, NS_PER_S, rate);
		if (same)
			fprintf(f, "%s GB/s a socket", rate);
		else
			fprintf(f, "%ssocket %" PRIu32 " %s GB/s", one == first ? "" : ", ",
				one->socket, rate);
	}
}

int peaks_source_line(FILE *out, const struct peaks *p, size_t width)
{
	const struct peak *one = NULL;
	struct sentence s;
	FILE *f;

	for (uint32_t i = 0; i < p->nr && !one; i++)
		one = p->items[i].of == PEAK_CMEM ? &p->items[i] : NULL;
	if (!one)
		return 0;
	f = sentence_begin(&s);
	if (!f)
		return -ENOMEM;
	fputs("peak of memory: ", f);
	put_rates(f, p);
	if (one->from == PEAK_GIVEN)
		fputs(", given by --peak", f);
	else
		fprintf(f, ", from the firmware's memory table (%s)", FORMAT_SAFE(p->note));
	return sentence_end(&s, out, width, 0);
}

int peaks_explain(FILE *out, const struct peak_use *all, bool over, size_t width)
{
	int err = 0;

	if (all->cpus_only)
		err = notes_line(out, width,
				 "PEAK has what CPUs moved alone: nothing else is counted");
	if (!err && all->upper_bound)
		err = notes_line(
			out, width,
			"PEAK is at most so much: where all bytes went is not counted, and "
			"some may have gone to other memory");
	if (!err && over)
		err = notes_line(out, width,
				 "more than 100%% of a peak: the peak is too low, or what was "
				 "counted did not all go there");
	return err;
}

int peaks_write(FILE *out, const struct report *r, bool column, size_t width, bool quiet)
{
	bool over = false, any = false;
	struct peak_use u, all = { 0 };
	int err = 0;

	for (size_t at = 0; !err && peaks_use(r, &at, &u);) {
		bool in_column = column && u.peak->of == PEAK_CMEM;

		any |= u.peak->of == PEAK_CMEM;
		all.upper_bound |= u.upper_bound && in_column && !quiet;
		all.cpus_only |= u.cpus_only && in_column && !quiet;
		over |= u.valid && u.share > 1;
		if (!in_column && !quiet && (!u.device || u.bytes[0] || u.bytes[1]))
			err = peaks_line(out, &u, "", width);
	}
	if (!err && any && !quiet)
		err = peaks_source_line(out, &r->host->peaks, width);
	if (!err && column && !quiet && r->nr_sockets > 1)
		err = notes_line(
			out, width,
			"PEAK: of all sockets together; in the lines of a socket, of its own");
	return err ? err : peaks_explain(out, &all, over, width);
}
