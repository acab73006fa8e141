// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/chains.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"

int chains_join(size_t *parents, size_t nr, const bool *apart, bool *ret_joined)
{
	cleanup_free size_t *children = calloc(nr + 1, sizeof(*children));

	if (!children)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		ret_joined[i] = false;
		if (parents[i] != CHAINS_NO_PARENT)
			children[parents[i]]++;
	}
	for (size_t i = 0; i < nr; i++)
		if (parents[i] != CHAINS_NO_PARENT && children[parents[i]] == 1 && !apart[i])
			ret_joined[parents[i]] = true;
	for (size_t i = 0; i < nr; i++)
		while (parents[i] != CHAINS_NO_PARENT && ret_joined[parents[i]])
			parents[i] = parents[parents[i]];
	return 0;
}
