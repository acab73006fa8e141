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
		/* No cgroup has the id 0: it means that the cgroup is unknown. */
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

int names_job(const struct report_row *row, bool below, char **ret_text)
{
	const struct row_job *job = row->job;
	char text[JOB_ID_LEN + JOB_STEP_LEN + 32];

	if (!job)
		snprintf(text, sizeof(text), "%s",
			 !strcmp(row->key, "job:none") ? "(no job)" : "(pooled)");
	else if (below && !job->step[0])
		snprintf(text, sizeof(text), "(no step)");
	else if (below)
		snprintf(text, sizeof(text), "step %.*s", (int)job_id_shown(job->step), job->step);
	else
		snprintf(text, sizeof(text), "%s %.*s%s%.*s", scheduler_name(job->scheduler),
			 (int)job_id_shown(job->id), job->id, job->step[0] ? " step " : "",
			 (int)job_id_shown(job->step), job->step);
	return format_terminal(text, sizeof(text), ret_text);
}

static int names_cgroup_row(const struct report_row *row, char **ret_text)
{
	cleanup_free char *name = NULL;
	int err = names_cgroup(row, NULL, &name);

	if (err)
		return err;
	return asprintf(ret_text, "%s%s", name, names_is_own(row) ? " (own tasks)" : "") < 0
		       ? -ENOMEM
		       : 0;
}

int names_row(const struct report_row *row, char **ret_text)
{
	char *text;

	if (row->kind == ROW_CGROUP)
		return names_cgroup_row(row, ret_text);
	if (row->kind == ROW_JOB)
		return names_job(row, false, ret_text);
	if (asprintf(&text, row->kernel ? "%" PRIu32 " [%s]" : "%" PRIu32 " %s",
		     row->kind == ROW_THREAD ? row->tid : row->pid,
		     row->comm_known ? FORMAT_SAFE(row->comm) : "(unknown)") < 0)
		return -ENOMEM;
	*ret_text = text;
	return 0;
}
