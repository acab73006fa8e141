// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/commands.h"

const struct command *const commands[] = {
	&command_trace,	     &command_record, &command_report,	 &command_top,	 &command_stat,
	&command_neighbours, &command_list,   &command_topology, &command_check, &command_serve,
	&command_job,	     &command_jobs,   &command_help,	 NULL,
};
