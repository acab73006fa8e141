/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reports as JSON, for programs: t410trace.report/1 and t410trace.neighbours/1. */
#ifndef REPORT_JSON_JSON_H
#define REPORT_JSON_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "model.h"
#include "neighbourhood.h"

/**
 * json_report() - build the JSON object of a report
 * @r: the report
 * @ret: receives a new reference; the caller drops it with json_decref()
 *
 * Integers are exact, see exact_integer(). Names are made valid UTF-8.
 *
 * Return: 0 or -ENOMEM.
 */
int json_report(const struct report *r, json_t **ret);

/**
 * json_write() - write a report as one line of JSON
 * @out: where to; flushed
 * @r: the report
 *
 * Return: 0, an error of json_report() with nothing written, or the negative
 * errno of a failed write.
 */
int json_write(FILE *out, const struct report *r);

/**
 * neighbours_json_write() - write neighbours as one line of JSON
 * @out: where to; flushed
 * @r: the neighbours
 *
 * Return: 0, -ENOMEM with nothing written, or the negative errno of a failed
 * write.
 */
int neighbours_json_write(FILE *out, const struct neighbours_report *r);

#endif
