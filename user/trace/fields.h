/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What all forms of trace files agree on: the running totals of marks, and the lengths of texts. */
#ifndef TRACE_FIELDS_H
#define TRACE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "trace.h"

/* Add at the end of both only: the order is that of recordings. */
#define TRACE_NR_LOSSES NR_QUALITY_NUMBERS
#define TRACE_NR_COSTS	8

/**
 * struct trace_field - a uint64_t of struct quality or struct self_cost
 * @name: in NDJSON
 * @offset: in the structure
 */
struct trace_field {
	const char *name;
	size_t offset;
};

extern const struct trace_field trace_losses[TRACE_NR_LOSSES];
extern const struct trace_field trace_costs[TRACE_NR_COSTS];

static inline uint64_t trace_field_get(const void *s, const struct trace_field *f)
{
	return *(const uint64_t *)((const char *)s + f->offset);
}

static inline void trace_field_set(void *s, const struct trace_field *f, uint64_t value)
{
	*(uint64_t *)((char *)s + f->offset) = value;
}

/** trace_job_fits() - are the texts as short as readers want them? */
static inline bool trace_job_fits(const struct trace_job_news *j)
{
	return (!j->id || strlen(j->id) < JOB_ID_LEN) &&
	       (!j->name || strlen(j->name) < JOB_NAME_LEN) &&
	       (!j->user || strlen(j->user) < JOB_NAME_LEN);
}

#endif
