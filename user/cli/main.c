// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "cli/commands.h"
#include "version.h"

const char *argp_program_version = "t410trace " T410TRACE_VERSION;

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "record", cmd_record }, { "report", cmd_report },
	{ "stat", cmd_stat },	  { "neighbours", cmd_neighbours },
	{ "list", cmd_list },	  { "topology", cmd_topology },
	{ "check", cmd_check },	  { "serve", cmd_serve },
	{ "job", cmd_job },	  { "jobs", cmd_jobs },
};

int main(int argc, char **argv)
{
	char name[64];

	argp_err_exit_status = EXIT_USAGE;
	if (argc < 2 || argv[1][0] == '-')
		return cmd_trace(argc, argv);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		/* argp takes the name in its messages from here */
		snprintf(name, sizeof(name), "t410trace %s", commands[i].name);
		argv[1] = name;
		return commands[i].run(argc - 1, argv + 1);
	}
	fprintf(stderr,
		"t410trace: unknown command \"%s\"\n"
		"Commands are record, report, stat, neighbours, serve, job, jobs, list, "
		"topology and check; to run and follow a program: t410trace -- %s\n",
		argv[1], argv[1]);
	return EXIT_USAGE;
}
