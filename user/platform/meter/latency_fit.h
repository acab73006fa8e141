/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which rows of latencies a PMU can measure. */
#ifndef PLATFORM_METER_LATENCY_FIT_H
#define PLATFORM_METER_LATENCY_FIT_H

#include "platform/pmu/pmu.h"
#include "tables/latency_rows.h"

/** latency_row_fits() - is the row for this PMU, and does sysfs list all its events? */
bool latency_row_fits(const struct latency_row *row, const struct pmu *pmu);

/** latency_probe() - the probe that a row makes of a PMU on the socket with index @socket */
void latency_probe(const struct latency_row *row, const struct pmu *pmu, uint32_t socket,
		   struct probe *ret);

#endif
