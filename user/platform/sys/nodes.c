// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/sys/nodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

#define NODES "devices/system/node"

static bool is_node(const char *name, int32_t *ret)
{
	if (strncmp(name, "node", 4) != 0)
		return false;
	name += 4;
	return take_number(&name, ret) && !*name;
}

int numa_nodes_read(const struct sysfs *fs, struct numa_nodes *ret)
{
	cleanup_texts struct text_list names = { 0 };
	struct numa_nodes nodes = { 0 };
	int err = sysfs_list(fs, &names, NODES);
	char line[CPULIST_TEXT_LEN];

	for (size_t i = 0; !err && i < names.nr; i++) {
		struct numa_node one = { 0 };

		if (!is_node(names.items[i], &one.number) ||
		    sysfs_read(fs, line, sizeof(line), NODES "/%s/cpulist", names.items[i]) ||
		    cpulist_parse(line, &one.cpus) || !cpulist_count(&one.cpus))
			continue;
		err = array_reserve(nodes.items, nodes.cap, nodes.nr);
		if (!err)
			nodes.items[nodes.nr++] = one;
	}
	if (err == -ENOMEM) {
		numa_nodes_free(&nodes);
		return err;
	}
	*ret = nodes;
	return 0;
}

void numa_nodes_free(struct numa_nodes *nodes)
{
	free(nodes->items);
	*nodes = (struct numa_nodes){ 0 };
}
