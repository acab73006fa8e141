// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/exit_status.h"

const struct exit_status exit_statuses[NR_EXIT_STATUSES] = {
	[EXIT_OK_] = { "done", "done" },
	[EXIT_FAILED] = { "failed", "failed; the message says what to do" },
	[EXIT_USAGE] = { "wrong arguments",
			 "wrong arguments or settings; or a time namespace, in which "
			 "the clock is not the kernel's" },
	[EXIT_INCOMPLETE] = { "done but data is missing",
			      "done, but data is missing: a counter without any reading (of a "
			      "socket, not of a device, which may have no turn), an event that was "
			      "refused, CPU time, records, or requests to devices that were lost; "
			      "of a list of jobs, accounts that are damaged; of \"t410trace "
			      "job --merge\", nodes or reports that are not in it; of "
			      "\"t410trace serve\", the last accounts could not be saved" },
	[EXIT_NO_JOB] = { "there is no account",
			  "\"t410trace job\" and \"t410trace jobs\": there is no account of this "
			  "job, or no file of accounts" },
	[EXIT_WAITED] = { "the job has not ended, or may not have begun anew",
			  "\"t410trace job --wait\": the job has not ended, and what its account "
			  "has so far was shown; or there is only an account of what may be an "
			  "earlier run of it" },
};
