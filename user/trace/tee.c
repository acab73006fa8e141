// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "trace/tee.h"

static int on_event(void *arg, const struct trace_event *e)
{
	struct tee *t = arg;
	int err = 0;

	for (size_t i = 0; i < t->nr && !err; i++) {
		err = trace_send(&t->sinks[i], e);
		t->refused = err ? i + 1 : t->refused;
	}
	t->events += !err;
	return err;
}

struct trace_sink tee_sink(struct tee *t)
{
	return (struct trace_sink){ on_event, t };
}
