/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Arguments of the main job, t410trace -p PID | -G CGROUP | -a | -- COMMAND, and of
 * its two halves, t410trace record and t410trace report, and of t410trace neighbours,
 * which is either of them. One table has the options of all.
 */
#ifndef CLI_TRACE_ARGS_H
#define CLI_TRACE_ARGS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/arg_parts.h"
#include "run_options.h"

/* Limits of the options, in milliseconds. */
#define WINDOW_MIN_MS 1
#define WINDOW_MAX_MS 1000
#define PROBE_MIN_MS  1

/* Which of them. */
enum trace_command {
	COMMAND_LIVE,
	COMMAND_RECORD,
	COMMAND_REPORT,
	COMMAND_NEIGHBOURS,
	NR_TRACE_COMMANDS,
};

/**
 * trace_args_options() - the option rows of a command, for the manual page and completion
 *
 * Return: rows that end with an empty one; never freed.
 */
const struct argp_option *trace_args_options(enum trace_command command);

/**
 * trace_args_parse() - read the command line
 * @command: which one
 * @argc, @argv: the whole command line
 * @ret: release with run_options_free()
 *
 * Does not return when the arguments are wrong: argp prints the problem and ends
 * the process with status EXIT_USAGE.
 */
void trace_args_parse(enum trace_command command, int argc, char **argv, struct run_options *ret);

#endif
