// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>

#include "base/array.h"
#include "stat.h"

void stat_report_free(struct stat_report *r)
{
	if (!r)
		return;
	free(r->counts);
	free(r->values);
	free(r->costs);
	free(r);
}

NAMES(stat_absence_name, enum stat_absence, [STAT_PRESENT] = "", [STAT_NOT_READ] = "not_read",
      [STAT_NOT_RUNNING] = "not_running", [STAT_REFUSED] = "refused", [STAT_ZERO] = "undefined",
      [STAT_APART] = "apart", [STAT_FEW] = "few")
