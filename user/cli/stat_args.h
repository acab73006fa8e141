/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arguments of t410trace stat. */
#ifndef CLI_STAT_ARGS_H
#define CLI_STAT_ARGS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/arg_parts.h"

/**
 * struct stat_list - texts that an option may give several of; the texts are argv's
 * @items, @nr, @cap: see base/array.h
 */
struct stat_list {
	char **items;
	size_t nr;
	size_t cap;
};

/**
 * struct stat_args - what the user asked for
 * @metrics, @events, @windows: as typed, lists of -M taken apart
 * @socket: only PMUs of this socket, -1 = all
 * @per_port, @per_gpu: see struct metric_options
 * @interval_ns: time between two reports, 0 = one report at the end
 * @duration_ns: end after this time, 0 = when interrupted
 * @budget: part of a CPU's time that readings may take
 * @pid: process to follow, 0 = none
 * @command: program to run and its arguments, NULL for none; part of argv
 * @output: how reports are shown
 */
struct stat_args {
	struct stat_list metrics;
	struct stat_list events;
	struct stat_list windows;
	int32_t socket;
	bool per_port;
	bool per_gpu;
	uint64_t interval_ns;
	uint64_t duration_ns;
	double budget;
	int pid;
	char **command;
	struct output_options output;
};

/** The option rows, for the manual page and completion. */
extern const struct argp_option stat_options[];

/**
 * stat_args_parse() - read the command line
 * @argc, @argv: the whole command line
 * @ret: release with stat_args_free()
 *
 * Does not return when the arguments are wrong: argp prints the problem and ends the
 * process with status EXIT_USAGE.
 */
void stat_args_parse(int argc, char **argv, struct stat_args *ret);
void stat_args_free(struct stat_args *args);

#endif
