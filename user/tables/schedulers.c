// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "base/array.h"
#include "job.h"

static const char *const names[NR_SCHEDULERS] = {
	[SCHEDULER_NONE] = "none",	 [SCHEDULER_SLURM] = "slurm",
	[SCHEDULER_FLUX] = "flux",	 [SCHEDULER_KUBERNETES] = "kubernetes",
	[SCHEDULER_DOCKER] = "docker",	 [SCHEDULER_PODMAN] = "podman",
	[SCHEDULER_LIBVIRT] = "libvirt", [SCHEDULER_SYSTEMD] = "systemd",
};

const char *scheduler_name(enum scheduler s)
{
	return (size_t)s < ARRAY_SIZE(names) ? names[s] : "unknown";
}

enum scheduler scheduler_find(const char *name)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(names) && strcmp(names[i], name) != 0)
		i++;
	return (enum scheduler)i;
}
