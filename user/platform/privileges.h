/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Capabilities of a program that runs for months: what it needs, by rows with the reason, and
 * the way to give up the rest.
 */
#ifndef PLATFORM_PRIVILEGES_H
#define PLATFORM_PRIVILEGES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

/**
 * struct privilege - a capability that is of use
 * @capability: CAP_BPF and so on, of linux/capability.h
 * @running: needed while it runs; otherwise only to start
 * @required: nothing works without; otherwise @why says what is missing then
 * @why: what it is for
 */
struct privilege {
	int capability;
	bool running;
	bool required;
	const char *why;
};

/** privileges_rows() - all of them, in the order of the documentation */
const struct privilege *privileges_rows(size_t *ret_nr);

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
