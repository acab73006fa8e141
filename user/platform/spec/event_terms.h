/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The terms between the slashes of an event, on one PMU. */
#ifndef PLATFORM_SPEC_EVENT_TERMS_H
#define PLATFORM_SPEC_EVENT_TERMS_H

#include "platform/spec/spec_text.h"
#include "platform/spec/want.h"

/**
 * event_terms_want() - resolve an event on a PMU
 * @text: the text that @event was taken from
 * @event: the event; without slashes its name is an event of @pmu
 * @pmu: where
 * @d: the error, with a caret, and what would fit
 * @ret: the want, without a set
 *
 * Return: 0; -ENOENT when @pmu does not have it, although another PMU may; -EINVAL, -ERANGE.
 */
int event_terms_want(const char *text, const struct spec_event *event, const struct pmu *pmu,
		     struct diag *d, struct want *ret);

#endif
