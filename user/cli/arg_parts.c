// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/arg_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define NS_PER_MS  1000000ull
#define MAX_PID	   4194304 /* PID_MAX_LIMIT of 64-bit kernels */
#define MAX_DAYS_S (366.0 * 86400)

error_t arg_output(int key, char *arg, struct argp_state *state, struct output_options *a)
{
	switch (key) {
	case ARG_JSON:
		a->json = true;
		return 0;
	case 'o':
		a->file = arg;
		return 0;
	case ARG_SUMMARY:
		a->summary = true;
		return 0;
	case 'q':
		a->quiet = true;
		break;
	case 'v':
		a->verbose = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	if (a->quiet && a->verbose)
		argp_error(state, "-q and -v exclude each other");
	return 0;
}

error_t arg_machine(int key, char *arg, struct argp_state *state, struct machine_args *a)
{
	switch (key) {
	case ARG_JSON:
		a->json = true;
		return 0;
	case ARG_SYSFS:
		a->sysfs = arg;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument \"%s\"", arg);
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void arg_each_part(struct argp_state *state, const char *option, char *list,
		   void (*add)(struct argp_state *state, char *part))
{
	char *part;

	if (!list[0] || list[0] == ',' || list[strlen(list) - 1] == ',' || strstr(list, ",,"))
		argp_error(state, "%s %s: an empty entry in the list", option, list);
	while ((part = strsep(&list, ",")))
		add(state, part);
}

void arg_no_memory(struct argp_state *state)
{
	argp_failure(state, EXIT_FAILURE, ENOMEM, "arguments");
}

uint64_t arg_number_in(struct argp_state *state, const char *option, const char *text, uint64_t min,
		       uint64_t max, const char *unit)
{
	uint64_t value;

	if (parse_u64(text, &value) || value < min || value > max)
		argp_error(state, "%s %s: must be a whole number from %llu to %llu%s", option, text,
			   (unsigned long long)min, (unsigned long long)max, unit);
	return value;
}

uint64_t arg_interval_ns(struct argp_state *state, const char *text)
{
	return NS_PER_MS *
	       arg_number_in(state, "-i", text, INTERVAL_MIN_MS, INTERVAL_MAX_MS, " ms");
}

uint64_t arg_seconds_ns(struct argp_state *state, const char *text)
{
	double seconds;

	if (parse_double(text, &seconds) || seconds < 0.001 || seconds > MAX_DAYS_S)
		argp_error(state,
			   "-d %s: must be a number of seconds from 0.001 to %.0f (366 days)", text,
			   MAX_DAYS_S);
	return seconds * 1e9;
}

int parse_budget(const char *text, double min, double *ret)
{
	size_t length = strlen(text);
	double percent;
	char number[32];

	if (length && text[length - 1] == '%')
		length--;
	if (length >= sizeof(number))
		length = 0;
	memcpy(number, text, length);
	number[length] = '\0';
	if (parse_double(number, &percent) || !(percent >= min && percent <= 100))
		return -EINVAL;
	*ret = percent / 100;
	return 0;
}

double arg_budget(struct argp_state *state, const char *text, double min)
{
	double budget = 0;

	if (parse_budget(text, min, &budget))
		argp_error(state, "--read-budget %s: must be a percentage from %g to 100", text,
			   min);
	return budget;
}

enum method method_find(const char *name)
{
	int m = 0;

	while (m < NR_METHODS && strcmp(name, method_name(m)) != 0)
		m++;
	return m;
}

uint32_t arg_pid(struct argp_state *state, const char *text)
{
	uint64_t pid = 0;

	/* parse_u64() also takes hexadecimal, which no list of processes shows */
	if (text[strspn(text, "0123456789")] || parse_u64(text, &pid) || !pid || pid > MAX_PID)
		argp_error(state, "-p %s: not a process id", text);
	return pid;
}
