/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where accounts are, for commands that read them: the daemon's file of settings says so. */
#ifndef CLI_STATE_FILE_H
#define CLI_STATE_FILE_H

/**
 * state_file_name() - where accounts are
 * @given: the user's choice, NULL for none
 *
 * Return: @given, or "state" of serve.conf, or the usual place. A line of the settings that is wrong
 * is the daemon's business.
 */
const char *state_file_name(const char *given);

#endif
