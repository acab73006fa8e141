// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Many short processes: storm COUNT [PROGRAM ARGS...]
 *
 * Runs COUNT processes, two at a time; each runs PROGRAM, or ends at once. With
 * COUNT 0 it goes on until its standard input ends. Says how many there were, and before that of
 * each that ran PROGRAM "ended PID NS".
 */
#include <poll.h>
#include <unistd.h>

#include "burn.h"

#define AT_A_TIME 2

static int input_ended(void)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&p, 1, 0) > 0 && (p.revents & POLLHUP);
}

static pid_t next(int known)
{
	return known ? wait_for_child() : wait(NULL);
}

int main(int argc, char **argv)
{
	long count, done = 0, alive = 0;

	if (argc < 2)
		return 2;
	count = number(argv[1]);
	/* PROGRAMs write beside it: a full buffer would end in the middle of a line. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (count ? done < count : !input_ended()) {
		pid_t pid = fork();

		if (pid < 0) {
			perror("storm: fork");
			return 3;
		}
		if (!pid) {
			if (argc > 2)
				execv(argv[2], argv + 2);
			_exit(argc > 2);
		}
		done++;
		if (++alive >= AT_A_TIME && next(argc > 2) > 0)
			alive--;
	}
	while (next(argc > 2) > 0)
		;
	printf("%ld\n", done);
	return 0;
}
