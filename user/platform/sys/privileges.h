/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Capabilities of a program that runs for months: what it needs, by rows with the reason, and
 * the way to give up the rest.
 */
#ifndef PLATFORM_SYS_PRIVILEGES_H
#define PLATFORM_SYS_PRIVILEGES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

/**
 * privileges_keep() - give up all others, for good
 * @running: keep those that are needed while it runs only, not those needed to start
 * @d: gets the problem
 *
 * Also clears the ambient set and the bounding set as far as that is allowed, and makes sure that
 * no program that is started could get them back.
 *
 * Return: 0 or a negative errno.
 */
int privileges_keep(bool running, struct diag *d);

/**
 * privileges_text() - names of the capabilities in effect: "cap_bpf,cap_perfmon"
 * @ret_text: gets it, "none" for none
 * @size: room in it
 */
void privileges_text(char *ret_text, size_t size);

#endif
