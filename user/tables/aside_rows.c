// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "tables/aside_rows.h"

#include "base/array.h"

const struct aside_row aside_rows[] = {
	{ "uncore_hbm_<n>",
	  "HBM is not in the total. Where all memory is HBM, the total is next to nothing",
	  "Linux 6.12 arch/x86/events/intel/uncore_snbep.c" },
};
const size_t nr_aside_rows = ARRAY_SIZE(aside_rows);
