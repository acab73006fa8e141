/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Settings of the daemon, from lines "key = value" of its file and from the command line, which
 * wins. They are rows of shared_options[].
 */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include "cli/options.h"

/**
 * struct settings - the result
 * @run: the requested live run
 * @serve: the rest
 * @texts: of each row in order, NULL for none; values point to them
 */
struct settings {
	struct options values;
	char *texts[MAX_SETTINGS];
};

/** settings_file() - path of their file: SERVE_CONFIG_FILE comes from the Makefile */
const char *settings_file(const struct options *given);

/**
 * settings_read() - defaults, then the file, then the command line
 * @given: from options_parse()
 * @d: gets the problem, with the line of the file
 * @ret: release with settings_free(), also after an error
 *
 * Return: 0; -EINVAL for a setting that is unknown or wrong; the error of reading the file.
 */
int settings_read(const struct options *given, struct diag *d, struct settings *ret);

/**
 * settings_judge() - can a machine of this size be measured with these settings?
 * @o: settings that are valid one by one
 * @nr_cpus: of the machine
 * @d: gets the reason and a remedy
 *
 * Slices wait for at least 200 ms, and their number is at most CPUs times windows in that time,
 * times slots. Longer intervals need no more.
 *
 * Return: 0 or -EINVAL.
 */
int settings_judge(const struct options *o, uint32_t nr_cpus, struct diag *d);
void settings_free(struct settings *s);

/**
 * settings_fixed() - name the changed settings that need a restart
 * @from, @to: current settings, new settings
 * @ret_names: "window, state"; "" for none
 * @size: its size
 */
void settings_fixed(const struct settings *from, const struct settings *to, char *ret_names,
		    size_t size);

/** settings_take() - take over the settings that need no restart */
void settings_take(struct settings *s, const struct settings *from);

#endif
