/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Values of options that several commands have. A wrong one ends the process: argp
 * prints the problem.
 */
#ifndef CLI_ARG_PARTS_H
#define CLI_ARG_PARTS_H

#include <argp.h>
#include <stdint.h>

#include "model.h"

/** arg_each_part() - call @add for each part of a list with commas; changes @list */
void arg_each_part(struct argp_state *state, const char *option, char *list,
		   void (*add)(struct argp_state *state, char *part));

/** arg_no_memory() - say so, and end */
void arg_no_memory(struct argp_state *state);

/** arg_number_in() - a whole number from @min to @max; @unit is for the message, " ms" */
uint64_t arg_number_in(struct argp_state *state, const char *option, const char *text, uint64_t min,
		       uint64_t max, const char *unit);

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
