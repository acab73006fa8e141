// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "engine/split/split_tee.h"

static int on_window(void *arg, const struct trace_window *w)
{
	const struct split_tee *t = arg;
	int err = 0;

	for (size_t i = 0; i < t->nr && !err; i++)
		err = t->sinks[i].window(t->sinks[i].arg, w);
	return err;
}

static int on_bytes(void *arg, uint32_t counter, const struct trace_window *w, uint64_t bytes,
		    const struct portion *p, size_t nr)
{
	const struct split_tee *t = arg;
	int err = 0;

	for (size_t i = 0; i < t->nr && !err; i++)
		err = t->sinks[i].bytes(t->sinks[i].arg, counter, w, bytes, p, nr);
	return err;
}

static int on_row(void *arg, uint32_t workload, uint32_t *ret)
{
	const struct split_tee *t = arg;

	return t->sinks[0].row(t->sinks[0].arg, workload, ret);
}

static int on_bounds(void *arg, uint32_t counter, const struct bounds *b)
{
	const struct split_tee *t = arg;

	return t->sinks[0].bounds(t->sinks[0].arg, counter, b);
}

struct split_sink split_tee_sink(struct split_tee *t)
{
	return (struct split_sink){ on_window, on_bytes, on_row, on_bounds, t, t->sinks[0].id };
}
