/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parts of a socket's traffic that are measured elsewhere than its total, and how far the two
 * agree. All writers use the same numbers.
 */
#ifndef REPORT_PARTS_H
#define REPORT_PARTS_H

#include <jansson.h>

#include "model.h"

/**
 * struct parts_side - one socket in one direction
 * @known: by part: it is measured here, and was counted completely
 * @bytes: by part, if it is known
 * @total_known, @total: of the socket's own counters
 * @sum_known: there are parts of @total
 * @sum: own socket plus other sockets, if both are known. Otherwise devices plus other sockets, as
 *	far as known
 * @whole: @sum should be @total; otherwise it is a part of it
 * @same_time: @sum covers the time of the report, as @total does: the two can be compared
 */
struct parts_side {
	bool known[NR_PARTS];
	uint64_t bytes[NR_PARTS];
	bool total_known;
	uint64_t total;
	bool sum_known;
	uint64_t sum;
	bool whole;
	bool same_time;
};

/**
 * parts_side() - the parts of a socket in one direction
 * @r: the report
 * @socket: index
 * @direction: as memory sees it
 * @ret: the parts
 *
 * Return: whether it has parts, counted or not.
 */
bool parts_side(const struct report *r, uint32_t socket, enum direction direction,
		struct parts_side *ret);

/** parts_json() - the array "parts", each with its quality */
json_t *parts_json(const struct report *r, int *err);

/** parts_json_checks() - the array "parts_check": parts and totals, side by side */
json_t *parts_json_checks(const struct report *r, int *err);

/**
 * parts_write() - a line for each socket and direction that has parts
 * @out: where to
 * @r: the report
 * @width: columns of a line
 * @verbose: also tell how each part was counted
 *
 * Return: 0 or -ENOMEM.
 */
int parts_write(FILE *out, const struct report *r, size_t width, bool verbose);

#endif
