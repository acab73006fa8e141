/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Running totals of a live run, for its marks: what was lost, and what we cost. */
#ifndef LIVE_LIVE_TOTALS_H
#define LIVE_LIVE_TOTALS_H

#include "live/feed.h"
#include "model.h"
#include "platform/bpf/ledger.h"

/** live_totals_quality() - what the kernel's side and the feed lost; other fields are 0 */
void live_totals_quality(const struct ledger *l, const struct feed *f, struct quality *ret);

/** live_totals_cost() - CPU time of this process, and of the hooks; other fields are 0 */
void live_totals_cost(const struct ledger *l, struct self_cost *ret);

#endif
