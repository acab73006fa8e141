// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/format.h"
#include "report/names.h"

bool names_is_own(const struct report_row *row)
{
	size_t len = strnlen(row->key, sizeof(row->key));

	return len > 4 && !memcmp(row->key + len - 4, ":own", 4);
}

int names_cgroup(const struct report_row *row, const char *above, char **ret_text)
{
	const char *path = row->cgroup;
	size_t len = above ? strlen(above) : 0;
	char *text;

	if (!path) {
		/* No cgroup has the id 0: then not even that is known. */
		if (!row->cgroup_id)
			return format_terminal("(unknown)", SIZE_MAX, ret_text);
		if (asprintf(&text, "(unknown, id %" PRIu64 ")", row->cgroup_id) < 0)
			return -ENOMEM;
		*ret_text = text;
		return 0;
	}
	if (len && above[len - 1] == '/')
		len--;
	if (above && !strncmp(path, above, len) && path[len] == '/' && path[len + 1])
		path += len + 1;
	return format_terminal(path, SIZE_MAX, ret_text);
}

int names_row(const struct report_row *row, char **ret_text)
{
	cleanup_free char *name = NULL;
	char *text;
	int err, len;

	if (row->kind == ROW_CGROUP)
		err = names_cgroup(row, NULL, &name);
	else
		err = format_terminal(row->comm_known ? row->comm : "(unknown)", sizeof(row->comm),
				      &name);
	if (err)
		return err;
	if (row->kind == ROW_CGROUP)
		len = asprintf(&text, "%s%s", name, names_is_own(row) ? " (own tasks)" : "");
	else
		len = asprintf(&text, row->kernel ? "%" PRIu32 " [%s]" : "%" PRIu32 " %s",
			       row->kind == ROW_THREAD ? row->tid : row->pid, name);
	if (len < 0)
		return -ENOMEM;
	*ret_text = text;
	return 0;
}
