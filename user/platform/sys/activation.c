// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/sys/activation.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"

#define MAX_FDS 16

int activation_take(void)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	uint64_t wanted, nr = 0;
	bool ours = pid && fds && !parse_u64(pid, &wanted) && wanted == (uint64_t)getpid() &&
		    !parse_u64(fds, &nr) && nr <= MAX_FDS;

	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	for (uint64_t i = 0; ours && i < nr; i++) {
		int fd = ACTIVATION_FIRST_FD + (int)i;
		int flags = fcntl(fd, F_GETFD);

		if (flags < 0 || fcntl(fd, F_SETFD, flags | FD_CLOEXEC))
			return (int)i;
		/* a blocking socket would stop the loop when a client is gone before accept() */
		flags = fcntl(fd, F_GETFL);
		if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK))
			return (int)i;
	}
	return ours ? (int)nr : 0;
}
