// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/run/signals.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* nohup(1) */
static bool is_ignored(int sig)
{
	struct sigaction now;

	return !sigaction(sig, NULL, &now) && now.sa_handler == SIG_IGN;
}

int signals_open(enum hangup hangup, struct diag *d, sigset_t *ret_mask, int *ret_fd)
{
	sigset_t block;
	int fd;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigaddset(&block, SIGTERM);
	/* While blocked, it would be delivered although it is ignored. */
	if (hangup == HANGUP_RELOADS || (hangup == HANGUP_ENDS && !is_ignored(SIGHUP)))
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
