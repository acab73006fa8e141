/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which term of a want breaks a rule, for who can point at it. */
#ifndef PLATFORM_WANT_RULES_H
#define PLATFORM_WANT_RULES_H

#include "platform/pmu/pmu.h"
#include "tables/events.h"

/**
 * want_broken() - the first rule about one event alone that is broken
 * @pmu: where
 * @event: name in sysfs, NULL when @terms choose it by number
 * @terms, @nr: filters
 * @ret_term: index of the term at fault
 *
 * Return: the row of the rule, or NULL when all is well.
 */
const struct constraint_row *want_broken(const struct pmu *pmu, const char *event,
					 const struct pmu_term *terms, size_t nr, size_t *ret_term);

#endif
