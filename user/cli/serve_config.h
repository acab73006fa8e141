/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the daemon is told: rows of settings, each a line "key = value" of the configuration file
 * and a long option of the same name. The command line wins.
 */
#ifndef CLI_SERVE_CONFIG_H
#define CLI_SERVE_CONFIG_H

#include <argp.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "cli/trace_args.h"
#include "daemon/serve_config.h"

#define SERVE_CONFIG_FILE  "/etc/t410trace/serve.conf"

#define SERVE_MAX_SETTINGS 24

/**
 * struct serve_args - the command line of t410trace serve
 * @file: configuration file
 * @file_given: it was asked for, so it must be there
 * @check: only look whether the configuration is right
 * @verbose: also say when jobs end
 * @given: value of each setting on the command line, NULL = not given; of argv
 */
struct serve_args {
	const char *file;
	bool file_given;
	bool check;
	bool verbose;
	const char *given[SERVE_MAX_SETTINGS];
};

/** serve_options() - option rows, for the manual page and completion; never freed */
const struct argp_option *serve_options(void);

/** serve_args_parse() - read the command line; ends the process when it is wrong */
void serve_args_parse(int argc, char **argv, struct serve_args *ret);

/**
 * serve_config_read() - defaults, then the file, then the command line
 * @args: from serve_args_parse()
 * @d: gets the problem, with the line of the file
 * @ret: untouched with an error
 *
 * Return: 0; -EINVAL for a setting that is unknown or wrong; the error of reading the file.
 */
int serve_config_read(const struct serve_args *args, struct diag *d, struct serve_config *ret);

/**
 * serve_config_judge() - can a machine of this size be measured with these settings?
 * @c: settings that are right by themselves
 * @nr_cpus: of the machine
 * @d: gets the reason and a remedy
 *
 * Slices wait for 200 ms at least, and there may be as many as CPUs times windows in that time,
 * times slots. Longer intervals need no more.
 *
 * Return: 0 or -EINVAL.
 */
int serve_config_judge(const struct serve_config *c, uint32_t nr_cpus, struct diag *d);

/**
 * serve_config_fixed() - which settings changed that need a restart
 * @from, @to: what is, what is wanted
 * @ret_names: "window, state"; "" for none
 * @size: room in it
 */
void serve_config_fixed(const struct serve_config *from, const struct serve_config *to,
			char *ret_names, size_t size);

/** serve_config_take() - take over the settings that need no restart */
void serve_config_take(struct serve_config *c, const struct serve_config *from);

/** serve_config_loopback() - is the address to listen on one that only this machine reaches? */
bool serve_config_loopback(const struct serve_config *c);

/**
 * serve_config_live() - the live run that is asked for
 * @c: must outlive @ret
 * @ret: release with run_options_free()
 *
 * Return: 0 or -ENOMEM.
 */
int serve_config_live(struct serve_config *c, struct run_options *ret);

#endif
