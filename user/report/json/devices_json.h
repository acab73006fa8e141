/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Devices of a report as JSON; @err as in put.h. */
#ifndef REPORT_DEVICES_JSON_H
#define REPORT_DEVICES_JSON_H

#include <jansson.h>

#include "model.h"

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
