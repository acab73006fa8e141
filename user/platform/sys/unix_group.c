// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/sys/unix_group.h"

#include <errno.h>
#include <grp.h>
#include <string.h>

#include "base/cleanup.h"

int unix_group_find(const char *name, gid_t *ret)
{
	cleanup_fclose FILE *f = fopen("/etc/group", "re");
	const struct group *entry;

	while (f && (entry = fgetgrent(f))) {
		if (strcmp(entry->gr_name, name) != 0)
			continue;
		*ret = entry->gr_gid;
		return 0;
	}
	return -ENOENT;
}
