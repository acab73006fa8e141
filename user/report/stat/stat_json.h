/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* System-wide counts as t410trace.stat/1, for programs. */
#ifndef REPORT_STAT_JSON_H
#define REPORT_STAT_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "stat.h"

/**
 * stat_json() - build the JSON object of a report
 * @r: the report
 * @ret: receives a new reference; the caller drops it with json_decref()
 *
 * All counters and metrics are there, also those without a value: with the reason.
 *
 * Return: 0, -ENOMEM, or -ERANGE when a number is larger than INT64_MAX.
 */
int stat_json(const struct stat_report *r, json_t **ret);

/** stat_json_write() - write it as one line; 0, an error of stat_json(), or of writing */
int stat_json_write(FILE *out, const struct stat_report *r);

#endif
