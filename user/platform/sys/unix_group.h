/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Groups of users. A file of its own: <grp.h> has a struct group, and so has model.h. */
#ifndef PLATFORM_SYS_UNIX_GROUP_H
#define PLATFORM_SYS_UNIX_GROUP_H

#include <sys/types.h>

/** unix_group_find() - a group in /etc/group by its name; 0 or -ENOENT. The static program asks no others */
int unix_group_find(const char *name, gid_t *ret);

#endif
