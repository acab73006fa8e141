// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Loaded before the C library (LD_PRELOAD): notes each write() to a terminal as a line of the file
 * that TERMINAL_WRITES names.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

ssize_t write(int fd, const void *data, size_t length)
{
	ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
	const char *path = getenv("TERMINAL_WRITES");

	if (path && isatty(fd)) {
		int log = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
		char line[32];

		real(log, line, snprintf(line, sizeof(line), "%zu\n", length));
		close(log);
	}
	return real(fd, data, length);
}
