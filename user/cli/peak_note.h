/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The peak of a machine's memory, as shown by list and topology. */
#ifndef CLI_PEAK_NOTE_H
#define CLI_PEAK_NOTE_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/sys/sysfs.h"

/** peak_note() - the firmware's peak; false if unknown: check has the reason */
bool peak_note(const struct sysfs *fs, char *ret, size_t size);

#endif
