/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the exit statuses mean: the one list, which the manual page is made from. */
#ifndef BASE_EXIT_STATUS_H
#define BASE_EXIT_STATUS_H

#include <stddef.h>

enum {
	EXIT_OK_ = 0,	     /* done */
	EXIT_FAILED = 1,     /* could not be done */
	EXIT_USAGE = 2,	     /* wrong arguments */
	EXIT_INCOMPLETE = 3, /* done, but data is missing */
	EXIT_NO_JOB = 4,     /* "job": there is no account of it */
	EXIT_WAITED = 5,     /* "job": the end is not known; what there is was shown */
	NR_EXIT_STATUSES,
};

/** exit_status_text() - what a status says, for the manual page */
const char *exit_status_text(int status);

#endif
