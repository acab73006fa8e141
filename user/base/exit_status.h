/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the exit statuses mean: the one list, which --help and the manual page are made from. */
#ifndef BASE_EXIT_STATUS_H
#define BASE_EXIT_STATUS_H

#include <errno.h>

enum {
	EXIT_OK_ = 0,	     /* done */
	EXIT_FAILED = 1,     /* could not be done */
	EXIT_USAGE = 2,	     /* wrong arguments */
	EXIT_INCOMPLETE = 3, /* done, but data is missing */
	EXIT_NO_JOB = 4,     /* "job", "jobs": there is no account, or no file of them */
	EXIT_WAITED = 5,     /* "job": the end is not known; what there is was shown */
	NR_EXIT_STATUSES,
};

/**
 * struct exit_status - what a status says
 * @brief: for --help
 * @text: for the manual page
 */
struct exit_status {
	const char *brief;
	const char *text;
};

extern const struct exit_status exit_statuses[NR_EXIT_STATUSES];

/** exit_of() - the status of a command that failed; it is no use to try again in another clock, -ETIME */
static inline int exit_of(int err)
{
	return err == -ETIME ? EXIT_USAGE : EXIT_FAILED;
}

#endif
