// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "engine/split/split_deferred.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct deferred_bytes {
	const struct trace_window *window;
	uint64_t bytes;
	size_t nr;
};

static int on_bytes(void *arg, uint32_t counter, const struct trace_window *w, uint64_t bytes,
		    const struct portion *p, size_t nr)
{
	struct split_deferred *l = arg;

	(void)counter;
	if (array_reserve(l->bytes, l->cap_bytes, l->nr_bytes))
		return -ENOMEM;
	l->bytes[l->nr_bytes++] = (struct deferred_bytes){ w, bytes, nr };
	while (l->cap_portions < l->nr_portions + nr)
		if (array_reserve(l->portions, l->cap_portions, l->cap_portions))
			return -ENOMEM;
	if (nr)
		memcpy(l->portions + l->nr_portions, p, nr * sizeof(*p));
	l->nr_portions += nr;
	return 0;
}

static int on_bounds(void *arg, uint32_t counter, const struct bounds *b)
{
	struct split_deferred *l = arg;

	(void)counter;
	if (array_reserve(l->bounds, l->cap_bounds, l->nr_bounds))
		return -ENOMEM;
	l->bounds[l->nr_bounds++] = *b;
	for (size_t i = 0; i < b->nr_inseparable; i++) {
		if (array_reserve(l->inseparable, l->cap_inseparable, l->nr_inseparable))
			return -ENOMEM;
		l->inseparable[l->nr_inseparable++] = b->inseparable[i];
	}
	return 0;
}

struct split_sink split_deferred_sink(struct split_deferred *l)
{
	l->nr_bytes = l->nr_portions = l->nr_bounds = l->nr_inseparable = 0;
	return (struct split_sink){ .bytes = on_bytes, .bounds = on_bounds, .arg = l };
}

int split_deferred_play(struct split_deferred *l, uint32_t counter, const struct split_sink *sink)
{
	const struct portion *p = l->portions;
	const uint32_t *inseparable = l->inseparable;
	int err = 0;

	for (size_t i = 0; i < l->nr_bytes && !err; i++) {
		const struct deferred_bytes *b = &l->bytes[i];

		err = sink->bytes(sink->arg, counter, b->window, b->bytes, p, b->nr);
		p += b->nr;
	}
	for (size_t i = 0; i < l->nr_bounds && !err; i++) {
		struct bounds *b = &l->bounds[i];

		/* The array may have moved since, and its owner's is gone. */
		b->inseparable = b->nr_inseparable ? inseparable : NULL;
		inseparable += b->nr_inseparable;
		err = sink->bounds(sink->arg, counter, b);
	}
	return err;
}

void split_deferred_free(struct split_deferred *l)
{
	free(l->bytes);
	free(l->portions);
	free(l->bounds);
	free(l->inseparable);
	*l = (struct split_deferred){ 0 };
}
