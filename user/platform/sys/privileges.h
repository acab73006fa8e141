/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Capabilities of a program that runs for months: rows of the needed ones with the reason, and
 * dropping the rest.
 */
#ifndef PLATFORM_SYS_PRIVILEGES_H
#define PLATFORM_SYS_PRIVILEGES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

/**
 * privileges_keep() - drop all other capabilities for good
 * @running: keep those that are needed while it runs only, not those needed to start
 * @d: gets the problem
 *
 * Also clears the ambient set and, as far as allowed, the bounding set, and makes sure that no
 * child program can regain them.
 *
 * Return: 0 or a negative errno.
 */
int privileges_keep(bool running, struct diag *d);

/**
 * privileges_text() - names of the capabilities in effect: "cap_bpf,cap_perfmon"
 * @ret_text: gets it, "none" for none
 * @size: its size
 */
void privileges_text(char *ret_text, size_t size);

#endif
