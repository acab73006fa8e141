/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events of the cores and of the kernel in an option -e. */
#ifndef PLATFORM_SPEC_CORE_SPEC_H
#define PLATFORM_SPEC_CORE_SPEC_H

#include "platform/spec/spec_text.h"
#include "base/spelling.h"
#include "platform/sys/sysfs.h"
#include "platform/spec/want.h"

/**
 * core_spec_name() - an event by its name alone, see weight_event_find()
 * @fs: sysfs
 * @text: the whole text
 * @piece: the name
 * @d: the error, with a caret
 * @ret: the want
 *
 * Return: 0; 1 when there is no event of that name (@d stays empty); -ENODEV when the cores cannot
 * count it, -ENOMEM, or the error of a damaged file of sysfs.
 */
int core_spec_name(const struct sysfs *fs, const char *text, struct spec_piece piece,
		   struct diag *d, struct want *ret);

/**
 * core_spec_slashes() - the same with the PMU of the cores in front: "armv8_pmuv3_0/r11/"
 * @fs, @text: see above
 * @event: with slashes
 * @d, @ret: see above
 *
 * Return: 0; 1 when it is another PMU; -ENOENT for an unknown event; -EINVAL for anything but
 * the name of an event between the slashes; or as above.
 */
int core_spec_slashes(const struct sysfs *fs, const char *text, const struct spec_event *event,
		      struct diag *d, struct want *ret);

/** core_spec_names() - names that core_spec_name() knows, where they can be listed */
void core_spec_names(const struct sysfs *fs, struct spelling *s);

#endif
