// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Many short processes: storm COUNT [PROGRAM ARGS...]
 *
 * Runs COUNT processes, two at a time; each runs PROGRAM, or ends at once. With
 * COUNT 0 it goes on until its standard input ends. Says how many there were.
 */
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

#define AT_A_TIME 2

static int input_ended(void)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&p, 1, 0) > 0 && (p.revents & POLLHUP);
}

int main(int argc, char **argv)
{
	long count, done = 0, alive = 0;

	if (argc < 2)
		return 2;
	count = number(argv[1]);
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
		if (++alive >= AT_A_TIME && wait(NULL) > 0)
			alive--;
	}
	while (wait(NULL) > 0)
		;
	printf("%ld\n", done);
	return 0;
}
