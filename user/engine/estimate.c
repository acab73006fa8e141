// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "engine/estimate.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "engine/apportion.h"

int estimate_window(uint64_t bytes, const struct claim *claims, size_t nr, struct estimate *ret)
{
	cleanup_free uint64_t *weights = NULL;
	uint64_t *parts;
	int err;

	if (nr == 1) {
		*ret = (struct estimate){ .value = bytes, .low = bytes, .high = bytes };
		return 0;
	}
	weights = calloc(nr, 2 * sizeof(*weights));
	if (!weights)
		return -ENOMEM;
	parts = weights + nr;
	for (size_t i = 0; i < nr; i++)
		weights[i] = claims[i].on_cpu_ns;
	err = apportion(bytes, weights, nr, parts);
	if (err)
		return err;
	for (size_t i = 0; i < nr; i++)
		ret[i] = (struct estimate){ .value = parts[i], .low = 0, .high = bytes };
	return 0;
}
