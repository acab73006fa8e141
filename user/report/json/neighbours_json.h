/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Neighbours as t410trace.neighbours/1, for programs. */
#ifndef REPORT_NEIGHBOURS_JSON_H
#define REPORT_NEIGHBOURS_JSON_H

#include <stdio.h>

#include "neighbourhood.h"

/**
 * neighbours_json_write() - write neighbours as one line of JSON
 * @out: where to; flushed
 * @r: the neighbours
 *
 * Return: 0, -ENOMEM or -ERANGE with nothing written, or the negative errno of a failed
 * write.
 */
int neighbours_json_write(FILE *out, const struct neighbours_report *r);

#endif
