/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Peaks of the machine as text, for a column of the store: a line each, which people can read. */
#ifndef DAEMON_STORE_PEAKS_H
#define DAEMON_STORE_PEAKS_H

#include <stddef.h>

#include "peak.h"

/* Room for the text of PEAK_MAX lines: "remote 4294967294 firmware 1000000000000000" */
#define STORE_PEAKS_LEN (PEAK_MAX * 48 + 1)

/** store_peaks_text() - lines "cmem 0 firmware 204800000000"; "all" for every socket */
void store_peaks_text(const struct peaks *p, char ret[STORE_PEAKS_LEN]);

/**
 * store_peaks_parse() - the reverse
 * @text: may be anything
 * @ret: without the note; untouched with an error
 *
 * Return: 0, or -EINVAL for what are no peaks.
 */
int store_peaks_parse(const char *text, struct peaks *ret);

#endif
