/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Values of options that several commands have. A wrong one ends the process: argp
 * prints the problem.
 */
#ifndef CLI_ARG_PARTS_H
#define CLI_ARG_PARTS_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "run_options.h"

/* Limits of -i */
#define INTERVAL_MIN_MS 10
#define INTERVAL_MAX_MS 3600000

/* Keys of options without a letter; those of one command alone begin with ARG_OWN. */
enum {
	ARG_JSON = 0x100,
	ARG_SUMMARY,
	ARG_SYSFS,
	ARG_OWN,
};

/** arg_output() - an argp parser for these: --json, -o, --summary, -q, -v */
error_t arg_output(int key, char *arg, struct argp_state *state, struct output_options *a);

/**
 * struct machine_args - of the commands that show a machine and take no argument
 * @json: JSON instead of text
 * @sysfs: look into this copy of /sys, NULL for the machine's own
 */
struct machine_args {
	bool json;
	const char *sysfs;
};

/** arg_machine() - an argp parser for these: --json, --sysfs */
error_t arg_machine(int key, char *arg, struct argp_state *state, struct machine_args *a);

/** arg_each_part() - call @add for each part of a list with commas; changes @list */
void arg_each_part(struct argp_state *state, const char *option, char *list,
		   void (*add)(struct argp_state *state, char *part));

/** arg_no_memory() - say so, and end */
void arg_no_memory(struct argp_state *state);

/** arg_number_in() - a whole number from @min to @max; @unit is for the message, " ms" */
uint64_t arg_number_in(struct argp_state *state, const char *option, const char *text, uint64_t min,
		       uint64_t max, const char *unit);

/** arg_interval_ns() - the value of -i, in nanoseconds */
uint64_t arg_interval_ns(struct argp_state *state, const char *text);

/** arg_seconds_ns() - the value of -d, in nanoseconds */
uint64_t arg_seconds_ns(struct argp_state *state, const char *text);

/**
 * arg_budget() - the value of --read-budget: "0.5" or "0.5%"
 * @state: of argp
 * @text: the value
 * @min: the least, in percent
 *
 * Return: a part of one, 0.005.
 */
double arg_budget(struct argp_state *state, const char *text, double min);

/**
 * parse_budget() - arg_budget() for those who say what is wrong themselves
 * @text: "0.5" or "0.5%"
 * @min: the least, in percent
 * @ret: a part of one
 *
 * Return: 0 or -EINVAL.
 */
int parse_budget(const char *text, double min, double *ret);

/** method_find() - the method of this name, NR_METHODS for none */
enum method method_find(const char *name);

/** arg_pid() - a process id */
uint32_t arg_pid(struct argp_state *state, const char *text);

#endif
