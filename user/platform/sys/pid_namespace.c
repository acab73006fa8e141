// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/sys/pid_namespace.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

/* The kernel always gives the first namespace this number. */
#define MACHINE "pid:[4026531836]"

bool pid_namespace_has_proc(const char *proc)
{
	char path[PATH_MAX], line[256], more;
	cleanup_fclose FILE *f = NULL;
	bool read = false;
	int number, nr = 1;

	snprintf(path, sizeof(path), "%s/self/status", proc);
	f = fopen(path, "re");
	/* One number for each namespace from proc's down to ours; without the line there is one. */
	while (f && fgets(line, sizeof(line), f)) {
		read = true;
		if (!strncmp(line, "NSpid:", 6))
			nr = sscanf(line, "NSpid: %d %c", &number, &more);
	}
	return read && nr == 1;
}

bool pid_namespace_is_machine(const char *proc)
{
	char path[PATH_MAX], link[64];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/self/ns/pid", proc);
	n = readlink(path, link, sizeof(link) - 1);
	link[n > 0 ? n : 0] = '\0';
	return !strcmp(link, MACHINE) && pid_namespace_has_proc(proc);
}
