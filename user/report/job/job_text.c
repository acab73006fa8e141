// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/job/job_text.h"

#include <errno.h>

#include "base/cleanup.h"

size_t job_text_width(const struct table_options *o)
{
	size_t width = o->width ? o->width : TABLE_DEFAULT_WIDTH;

	return width < TABLE_MIN_WIDTH ? TABLE_MIN_WIDTH : width;
}

int job_text_title(const struct host_info *host, const struct account_job *j, char **ret)
{
	cleanup_free char *id = NULL;
	cleanup_free char *name = NULL;
	cleanup_free char *user = NULL;
	cleanup_free char *machine = NULL;
	char *text;
	int err = format_terminal(j->job.id, sizeof(j->job.id), &id);

	if (!err)
		err = format_terminal(j->job.name, sizeof(j->job.name), &name);
	if (!err)
		err = format_terminal(j->job.user, sizeof(j->job.user), &user);
	if (!err)
		err = format_terminal(host->name, sizeof(host->name), &machine);
	if (err)
		return err;
	if (asprintf(&text, "%s job %s%s%s%s%s%s%s on %s: %s", scheduler_name(j->job.scheduler), id,
		     j->job.provisional ? " (stand-in: its number is not known)" : "",
		     name[0] ? " (" : "", name, name[0] ? ")" : "", user[0] ? " of " : "", user,
		     machine, account_state_name(j->state)) < 0)
		return -ENOMEM;
	*ret = text;
	return 0;
}
