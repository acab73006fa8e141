/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The commands of t410trace. A new one is a file with its struct command, and a line in commands.c:
 * dispatch, --help, the manual page and shell completion derive from that.
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "base/exit_status.h"
#include "cli/options.h"

/* Bits of the commands that use rows of shared_options[] */
enum {
	FOR_LIVE = 1 << 0,
	FOR_RECORD = 1 << 1,
	FOR_REPORT = 1 << 2,
	FOR_NEIGHBOURS = 1 << 3,
	FOR_STAT = 1 << 4,
	FOR_SERVE = 1 << 5,
	FOR_TOP = 1 << 6,
};

/* How formats with a file of their own go with other output: see formats_check() */
enum format_rule {
	FORMATS_BESIDE,	 /* the file is written beside it */
	FORMATS_INSTEAD, /* files, one or several, in place of it */
	FORMATS_ONE,	 /* one format at all */
};

/**
 * struct command - a row
 * @name: "" is the main job, "t410trace" alone
 * @brief: one line for the list of commands
 * @args: usages without options, one per line; NULL when there are only options
 * @doc: its description
 * @more: further text for --help, NULL for none; "@COMMANDS@" is replaced by the list of commands
 * @bit: of shared_options[], 0 for none
 * @options: rows of its own, with an empty one at the end; NULL for none
 * @formats: which formats exclude each other
 * @statuses: bits of exit statuses beside 0 to 2
 * @incomplete: meaning of status 3, NULL: the usual one
 * @takes_command: a program to run follows the options
 * @defaults: set values that differ from those of other commands; NULL: none do
 * @argument: take an argument that is no option; NULL: none allowed. 0 or a negative errno
 * @check: do the options make sense together? May derive further values from them; NULL: always
 * @run: do it; returns the exit status. NULL: @check does not return
 */
struct command {
	const char *name;
	const char *brief;
	const char *args;
	const char *doc;
	const char *more;
	unsigned int bit;
	const struct option_row *options;
	enum format_rule formats;
	unsigned int statuses;
	const char *incomplete;
	bool takes_command;
	void (*defaults)(struct options *o);
	int (*argument)(struct options *o, const char *text, struct diag *d);
	int (*check)(struct options *o, struct diag *d);
	int (*run)(struct options *o);
};

extern const struct command command_trace, command_record, command_report, command_top,
	command_stat, command_neighbours, command_list, command_topology, command_check,
	command_serve, command_job, command_jobs, command_help;

/* All of them, the main job first, and NULL. */
extern const struct command *const commands[];

#endif
