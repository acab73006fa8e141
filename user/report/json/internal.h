/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parts that several JSON documents have in common; @err as in put.h. */
#ifndef REPORT_JSON_INTERNAL_H
#define REPORT_JSON_INTERNAL_H

#include <jansson.h>

#include "model.h"

/** json_quality() - how far it can be trusted */
json_t *json_quality(const struct quality *q, int *err);

/** json_lost() - what is known to be missing, by kind */
json_t *json_lost(const struct quality *q, int *err);

/** json_self() - what the tracer cost */
json_t *json_self(const struct self_cost *s, int *err);

/** json_who() - what tells a row from others: key, kind, names */
void json_who(json_t *object, const struct report_row *row, int *err);

/** json_job() - a job, as rows and users of devices have it */
json_t *json_job(const struct row_job *job, int *err);

/** json_users() - add the users of a device and the rule for its owner, if they were looked for */
void json_users(json_t *o, const struct device_users *u, int *err);

/** devices_json() - all devices and ports of a report */
json_t *devices_json(const struct report *r, int *err);

/** devices_json_row() - a row's part in devices */
json_t *devices_json_row(const struct report *r, const struct report_row *row, int *err);

/**
 * devices_json_metrics() - add what devices moved for a row
 * @metrics: gets pcie_ of the devices that were counted, device_mem_ of what sockets saw of
 *	devices; only those with a reading behind them
 */
void devices_json_metrics(const struct report *r, const struct report_row *row, json_t *metrics,
			  int *err);

#endif
