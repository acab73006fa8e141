// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "job.h"

static const char *const names[NR_SCHEDULERS] = {
	[SCHEDULER_NONE] = "none",	     [SCHEDULER_SLURM] = "slurm",
	[SCHEDULER_FLUX] = "flux",	     [SCHEDULER_KUBERNETES] = "kubernetes",
	[SCHEDULER_DOCKER] = "docker",	     [SCHEDULER_PODMAN] = "podman",
	[SCHEDULER_CONTAINER] = "container", [SCHEDULER_LXC] = "lxc",
	[SCHEDULER_LIBVIRT] = "libvirt",     [SCHEDULER_SYSTEMD] = "systemd",
};

const char *scheduler_name(enum scheduler s)
{
	return (size_t)s < ARRAY_SIZE(names) ? names[s] : "unknown";
}

bool job_text_parse(const char *text, enum scheduler *ret, const char **ret_id)
{
	const char *colon = strchr(text, ':');
	char name[16] = "";

	*ret = SCHEDULER_NONE;
	*ret_id = text;
	if (!colon)
		return *text;
	if ((size_t)(colon - text) < sizeof(name))
		memcpy(name, text, colon - text);
	*ret = scheduler_find(name);
	*ret_id = colon + 1;
	return *ret != SCHEDULER_NONE && *ret != NR_SCHEDULERS && colon[1];
}

size_t job_id_shown(const char *id)
{
	size_t length = strlen(id);

	return length == 64 && strspn(id, "0123456789abcdef") == 64 ? JOB_SHORT_ID : length;
}

bool job_id_fits(const char *id, const char *wanted)
{
	size_t length = strlen(wanted);

	if (!strcmp(id, wanted))
		return true;
	return length >= JOB_SHORT_ID && strlen(id) >= JOB_LONG_ID &&
	       !id[strspn(id, "0123456789abcdef-")] && !strncmp(id, wanted, length);
}

enum scheduler scheduler_find(const char *name)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(names) && strcmp(names[i], name) != 0)
		i++;
	return (enum scheduler)i;
}

void scheduler_names(char ret[SCHEDULER_NAMES_LEN], const char *last)
{
	const size_t first = SCHEDULER_NONE + 1;

	ret[0] = '\0';
	for (size_t i = first; i < ARRAY_SIZE(names); i++) {
		if (i == ARRAY_SIZE(names) - 1)
			str_append(ret, SCHEDULER_NAMES_LEN, " %s ", last);
		else if (i > first)
			str_append(ret, SCHEDULER_NAMES_LEN, ", ");
		str_append(ret, SCHEDULER_NAMES_LEN, "%s", names[i]);
	}
}
