// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/array.h"
#include "live/sources/source.h"

/* Tests link a program with one more source; see tests/tests.mk. */
#ifdef EXTRA_SOURCE
extern const struct live_source EXTRA_SOURCE;
#endif

const struct live_source *const live_sources[] = {
	&source_memory,			    /* first: its counters are the first of the header */
	&source_latencies, &source_devices, /* before parts, which skip PMUs that count for -D */
	&source_parts,	   &source_programs, &source_esp, &source_resctrl,
#ifdef EXTRA_SOURCE
	&EXTRA_SOURCE,
#endif
};
const size_t nr_live_sources = ARRAY_SIZE(live_sources);
