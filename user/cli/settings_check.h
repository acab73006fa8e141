/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* "t410trace serve --check-config": can the daemon work here with settings that are right? */
#ifndef CLI_SETTINGS_CHECK_H
#define CLI_SETTINGS_CHECK_H

#include "cli/settings.h"

/**
 * settings_check() - look at the paths, addresses and programs of settings
 * @s: settings, each of which is valid
 * @tell: called for each problem
 *
 * Nothing is made or changed, and a running daemon is not disturbed: an address that is in use may
 * be its own.
 *
 * Return: number of problems.
 */
size_t settings_check(const struct settings *s, void (*tell)(const struct diag *d));

#endif
