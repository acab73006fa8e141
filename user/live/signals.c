// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/signals.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"

int signals_open(bool reload, struct diag *d, sigset_t *ret_mask, int *ret_fd)
{
	sigset_t block;
	int fd;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigaddset(&block, SIGTERM);
	if (reload)
		sigaddset(&block, SIGHUP);
	sigprocmask(SIG_BLOCK, &block, ret_mask);
	fd = signalfd(-1, &block, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return diag_fail(d, -errno, "cannot receive signals: %s", strerror(errno));
	*ret_fd = fd;
	return 0;
}

int signals_take(int fd)
{
	struct signalfd_siginfo s;

	return read(fd, &s, sizeof(s)) == sizeof(s) ? (int)s.ssi_signo : 0;
}

int wait_until(struct pollfd *fds, size_t nr, uint64_t until_ns)
{
	uint64_t now = monotonic_ns();
	struct timespec t = { 0 };

	if (until_ns > now) {
		t.tv_sec = (until_ns - now) / NS_PER_S;
		t.tv_nsec = (until_ns - now) % NS_PER_S;
	}
	if (ppoll(fds, nr, until_ns == UINT64_MAX ? NULL : &t, NULL) < 0 && errno != EINTR)
		return -errno;
	return 0;
}
