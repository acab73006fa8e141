// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/parts.h"

#include <inttypes.h>
#include <math.h>

#include "base/array.h"
#include "base/sums.h"
#include "base/text.h"
#include "report/facts.h"
#include "report/format.h"
#include "report/notes.h"
#include "report/put.h"

/* Number of notes about one socket. */
#define LINE_LEN 1024

static void add_total(const struct report *r, uint32_t socket, enum direction direction,
		      struct parts_side *ret)
{
	bool missing = false;

	for (size_t i = 0; i < r->nr_counters; i++) {
		const struct report_counter *rc = &r->counters[i];
		const struct counter *c = rc->counter;

		if (c->device || c->socket != socket || c->direction != direction ||
		    c->unit != UNIT_BYTES)
			continue;
		missing |= !rc->valid;
		ret->total_known = true;
		ret->total = sum_capped(ret->total, rc->value);
	}
	ret->total_known &= !missing;
}

static double ratio_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* The part's time in relation to the report's; more, where it waited for an event's turn. */
static double time_of(const struct report *r, const struct report_part *rp)
{
	return ratio_of(rp->covered_ns, report_duration_ns(r));
}

static bool is_same_time(const struct report *r, uint32_t socket, enum direction direction)
{
	for (size_t i = 0; i < r->nr_parts; i++) {
		const struct report_part *rp = &r->parts[i];
		enum part_kind kind = rp->part->kind;

		if (rp->part->socket == socket && rp->part->direction == direction && rp->valid &&
		    (kind == PART_LOCAL || kind == PART_REMOTE || kind == PART_DEVICES) &&
		    fabs(time_of(r, rp) - 1) > REPORT_NEARLY)
			return false;
	}
	return true;
}

bool parts_side(const struct report *r, uint32_t socket, enum direction direction,
		struct parts_side *ret)
{
	static const enum part_kind inside[] = { PART_DEVICES, PART_REMOTE };
	bool missing[NR_PARTS] = { false }, any = false;
	struct parts_side s = { 0 };

	for (size_t i = 0; i < r->nr_parts; i++) {
		const struct report_part *rp = &r->parts[i];
		enum part_kind kind = rp->part->kind;

		if (rp->part->socket != socket || rp->part->direction != direction)
			continue;
		any = true;
		missing[kind] |= !rp->valid;
		s.known[kind] = true;
		s.bytes[kind] = sum_capped(s.bytes[kind], rp->bytes);
	}
	for (int k = 0; k < NR_PARTS; k++)
		s.known[k] &= !missing[k];
	add_total(r, socket, direction, &s);
	s.same_time = is_same_time(r, socket, direction);
	s.whole = s.known[PART_LOCAL] && s.known[PART_REMOTE];
	s.sum_known = s.whole;
	if (s.whole)
		s.sum = sum_capped(s.bytes[PART_LOCAL], s.bytes[PART_REMOTE]);
	for (size_t i = 0; i < ARRAY_SIZE(inside) && !s.whole; i++) {
		s.sum_known |= s.known[inside[i]];
		if (s.known[inside[i]])
			s.sum = sum_capped(s.sum, s.bytes[inside[i]]);
	}
	*ret = s;
	return any;
}

/* --- JSON */

static json_t *part_object(const struct report *r, const struct report_part *rp, int *err)
{
	const struct traffic_part *p = rp->part;
	json_t *o = json_object();

	put_name(o, "name", p->name, sizeof(p->name), err);
	put_text(o, "part", part_name(p->kind), err);
	put_number(o, "socket", report_socket_at(r, p->socket), err);
	put_text(o, "direction", direction_name(p->direction), err);
	put_name(o, "pmu", p->pmu, sizeof(p->pmu), err);
	put_number(o, "pmus", p->nr_pmus, err);
	put_name(o, "event", p->event, sizeof(p->event), err);
	put_bool(o, "valid", rp->valid, err);
	if (rp->valid) {
		put_number(o, "bytes", rp->bytes, err);
		put_number(o, "low", rp->low, err);
		put_number(o, "high", rp->high, err);
		put(o, "running_ratio", json_real(ratio_of(rp->running_ns, rp->enabled_ns)), err);
	} else {
		put_text(o, "reason", facts_why_absent(rp->enabled_ns, rp->running_ns), err);
	}
	put_number(o, "enabled_ns", rp->enabled_ns, err);
	put_number(o, "running_ns", rp->running_ns, err);
	put_number(o, "covered_ns", rp->covered_ns, err);
	return o;
}

json_t *parts_json(const struct report *r, int *err)
{
	json_t *a = json_array();

	for (size_t i = 0; i < r->nr_parts; i++)
		put_element(a, part_object(r, &r->parts[i], err), err);
	return a;
}

static json_t *check_object(const struct report *r, uint32_t socket, enum direction direction,
			    const struct parts_side *s, int *err)
{
	json_t *o = json_object(), *parts = json_object();

	put_number(o, "socket", report_socket_at(r, socket), err);
	put_text(o, "direction", direction_name(direction), err);
	for (int k = PART_NONE + 1; k < NR_PARTS; k++)
		if (s->known[k])
			put_number(parts, part_name(k), s->bytes[k], err);
	put(o, "bytes", parts, err);
	if (s->total_known)
		put_number(o, "total", s->total, err);
	if (s->sum_known) {
		put_number(o, "sum", s->sum, err);
		put_bool(o, "whole", s->whole, err);
	}
	if (s->sum_known && s->total_known && s->total && s->same_time)
		put(o, "ratio", json_real(ratio_of(s->sum, s->total)), err);
	return o;
}

json_t *parts_json_checks(const struct report *r, int *err)
{
	json_t *a = json_array();
	struct parts_side s;

	for (uint32_t k = 0; k < r->nr_sockets; k++)
		for (int d = 0; d < NR_WAYS; d++)
			if (parts_side(r, k, d, &s))
				put_element(a, check_object(r, k, d, &s, err), err);
	return a;
}

/* --- lines */

static const char *const words[NR_PARTS] = {
	[PART_LOCAL] = "own socket", [PART_DEVICES] = "devices", [PART_REMOTE] = "other sockets",
	[PART_PORTS] = "PCIe ports", [PART_LINKS] = "links",	 [PART_CXL] = "CXL memory",
};

/* Coverage of the parts of a kind: the worst of them. */
static void put_quality(const struct report *r, uint32_t socket, enum direction direction,
			enum part_kind kind, char *ret, size_t size)
{
	double ran = 1, covered = 1, time;
	uint64_t bytes = 0, low = 0, high = 0;
	char range[FORMAT_NUMBER_LEN];

	for (size_t i = 0; i < r->nr_parts; i++) {
		const struct report_part *rp = &r->parts[i];

		if (rp->part->socket != socket || rp->part->direction != direction ||
		    rp->part->kind != kind)
			continue;
		bytes = sum_capped(bytes, rp->bytes);
		low = sum_capped(low, rp->low);
		high = sum_capped(high, rp->high);
		ran = fmin(ran, ratio_of(rp->running_ns, rp->enabled_ns));
		time = time_of(r, rp);
		covered = fabs(time - 1) > fabs(covered - 1) ? time : covered;
	}
	if (ran < 1) {
		format_range(bytes, low, high, range);
		str_append(ret, size, " (counted %.0f%% of the time, scaled, %s)", ran * 100,
			   range);
	}
	if (fabs(covered - 1) > REPORT_NEARLY)
		str_append(ret, size, " (of %.0f%% of the interval)", covered * 100);
}

static void put_kinds(const struct report *r, uint32_t socket, enum direction direction,
		      const struct parts_side *s, const enum part_kind *kinds, size_t nr, char *ret,
		      size_t size)
{
	char bytes[FORMAT_NUMBER_LEN];
	const char *between = "";

	for (size_t i = 0; i < nr; i++) {
		if (!s->known[kinds[i]])
			continue;
		format_bytes(s->bytes[kinds[i]], bytes);
		str_append(ret, size, "%s%s %s", between, words[kinds[i]], bytes);
		put_quality(r, socket, direction, kinds[i], ret, size);
		between = ", ";
	}
}

/* Also far more than the total. */
static void put_ratio(double ratio, char *ret, size_t size)
{
	if (ratio < 10)
		str_append(ret, size, "%.1f%%", ratio * 100);
	else
		str_append(ret, size, "%.0f times as much", ratio);
}

static void put_agreement(const struct parts_side *s, char *ret, size_t size)
{
	char total[FORMAT_NUMBER_LEN];

	if (!s->total_known) {
		str_append(ret, size, "; the total was not counted");
		return;
	}
	format_bytes(s->total, total);
	str_append(ret, size, "; total %s", total);
	if (!s->sum_known || !s->total)
		return;
	if (!s->same_time) {
		str_append(ret, size, ", of another time than the parts");
	} else if (s->sum > s->total) {
		str_append(ret, size, ", which %s exceed by ",
			   s->whole ? "own and other sockets" : "these parts");
		put_ratio(ratio_of(s->sum - s->total, s->total), ret, size);
	} else {
		str_append(ret, size, ", of which %s are ",
			   s->whole ? "own and other sockets together" : "these parts");
		put_ratio(ratio_of(s->sum, s->total), ret, size);
	}
}

/* Parts that are measured here but were not counted: no number is better than a wrong one. */
static void put_missing(const struct report *r, uint32_t socket, enum direction direction,
			char *ret, size_t size)
{
	for (size_t i = 0; i < r->nr_parts; i++)
		if (!r->parts[i].valid && r->parts[i].part->socket == socket &&
		    r->parts[i].part->direction == direction)
			str_append(ret, size, "; %s was not counted", r->parts[i].part->name);
}

static int put_side(FILE *out, const struct report *r, uint32_t socket, enum direction direction,
		    size_t width)
{
	static const enum part_kind inside[] = { PART_LOCAL, PART_REMOTE, PART_DEVICES };
	static const enum part_kind beside[] = { PART_PORTS, PART_LINKS, PART_CXL };
	char text[LINE_LEN] = "", more[LINE_LEN] = "";
	struct parts_side s;

	if (!parts_side(r, socket, direction, &s))
		return 0;
	put_kinds(r, socket, direction, &s, inside, ARRAY_SIZE(inside), text, sizeof(text));
	put_kinds(r, socket, direction, &s, beside, ARRAY_SIZE(beside), more, sizeof(more));
	if (s.sum_known || s.known[PART_LOCAL])
		put_agreement(&s, text, sizeof(text));
	if (more[0])
		str_append(text, sizeof(text), "%sbeside it: %s", text[0] ? "; " : "", more);
	put_missing(r, socket, direction, text, sizeof(text));
	return notes_line(out, width, "parts of socket %" PRIu32 ", %s, not added: %s",
			  report_socket_at(r, socket), direction_name(direction),
			  text[0] == ';' ? text + 2 : text);
}

static int put_method(FILE *out, const struct report_part *rp, size_t width)
{
	const struct traffic_part *p = rp->part;

	return notes_line(out, width, "  %s: %s of %s, %" PRIu32 " PMU%s", p->name, p->event,
			  p->pmu, p->nr_pmus, p->nr_pmus == 1 ? "" : "s");
}

int parts_write(FILE *out, const struct report *r, size_t width, bool verbose)
{
	int err = 0;

	for (uint32_t k = 0; k < r->nr_sockets; k++)
		for (int d = 0; d < NR_WAYS && !err; d++)
			err = put_side(out, r, k, d, width);
	for (size_t i = 0; i < r->nr_parts && verbose && !err; i++)
		err = put_method(out, &r->parts[i], width);
	return err;
}
