// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What all parts of the topology need of it: functions by their address. */
#include "platform/pci/topology_parts.h"

uint32_t topology_index(const struct topology *t, const struct bdf *a)
{
	size_t low = 0, high = t->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct pci_function *f = &t->functions[middle];
		struct bdf at = { .domain = f->domain, .bus = f->bus, .devfn = f->devfn };
		int order = bdf_compare(&at, a);

		if (!order)
			return (uint32_t)middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return TOPOLOGY_NONE;
}

uint32_t topology_find(const struct topology *t, const char *bdf)
{
	struct bdf a;

	return bdf_parse(bdf, &a) ? TOPOLOGY_NONE : topology_index(t, &a);
}
