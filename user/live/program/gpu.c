// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/program/gpu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "live/program/process.h"

#define NAME "t410trace-gpu"

/* exec: signals reach the program, and not its shell. */
static void command_of(const char *path, const char *arguments, char *ret, size_t size)
{
	str_copy(ret, size, "exec '");
	for (; *path; path++)
		str_append(ret, size, *path == '\'' ? "'\\'%c" : "%c", *path);
	str_append(ret, size, "'%s%s", arguments[0] ? " " : "", arguments);
}

static bool take(const char *folder, int length, const char *below, const char *arguments,
		 char *ret, size_t size)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%.*s%s" NAME, length, folder, below) >=
		    (int)sizeof(path) ||
	    access(path, X_OK))
		return false;
	command_of(path, arguments, ret, size);
	return true;
}

int gpu_find(const char *arguments, struct diag *d, char *ret, size_t size)
{
	const char *in = getenv("PATH");
	char self[PATH_MAX] = "", *slash;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (slash &&
	    (take(self, (int)(slash - self), "/", arguments, ret, size) ||
	     take(self, (int)(slash - self), "/../libexec/t410trace/", arguments, ret, size)))
		return 0;
	while (in && *in) {
		int length = (int)strcspn(in, ":");

		if (length && take(in, length, "/", arguments, ret, size))
			return 0;
		in += length + (in[length] == ':');
	}
	diag_fail(d, -ENOENT, NAME " is not beside t410trace, in ../libexec/t410trace or in $PATH");
	return diag_advise(d, -ENOENT,
			   "install it: it is a program of its own, also beside a static "
			   "t410trace, as drivers of GPUs have libraries to load");
}

int gpu_reader(struct diag *d, char *ret, size_t size)
{
	if (access(GPU_SOCKET, W_OK))
		return gpu_find("", d, ret, size);
	str_copy(ret, size, PROGRAM_SOCKET GPU_SOCKET);
	return 0;
}
