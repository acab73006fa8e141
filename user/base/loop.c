// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/loop.h"

#include <poll.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/times.h"

#define FIRST_ROOM 8

static int reserve(struct loop *l, struct diag *d)
{
	size_t cap = l->cap ? 2 * l->cap : FIRST_ROOM;
	void *sources, *args, *fds;

	if (l->nr < l->cap)
		return 0;
	sources = reallocarray(l->sources, cap, sizeof(*l->sources));
	if (sources)
		l->sources = sources;
	args = reallocarray(l->args, cap, sizeof(*l->args));
	if (args)
		l->args = args;
	fds = reallocarray(l->fds, cap, sizeof(*l->fds));
	if (fds)
		l->fds = fds;
	if (!sources || !args || !fds)
		return diag_no_memory(d);
	l->cap = cap;
	return 0;
}

int loop_add(struct loop *l, const struct loop_source *source, void *arg, struct diag *d)
{
	int err = reserve(l, d);

	if (err)
		return err;
	l->sources[l->nr] = source;
	l->args[l->nr] = arg;
	l->fds[l->nr++] = (struct pollfd){ .fd = -1 };
	return 0;
}

static uint64_t due_ns(const struct loop *l, size_t i)
{
	return l->sources[i]->when ? l->sources[i]->when(l->args[i]) : UINT64_MAX;
}

/* Until one of the descriptors has something, a signal has come or it is time. */
static int wait_until(struct loop *l, uint64_t until_ns)
{
	uint64_t now = monotonic_ns();
	struct timespec t = { 0 };

	if (until_ns > now) {
		t.tv_sec = (until_ns - now) / NS_PER_S;
		t.tv_nsec = (until_ns - now) % NS_PER_S;
	}
	if (ppoll(l->fds, l->nr, until_ns == UINT64_MAX ? NULL : &t, NULL) < 0 && errno != EINTR)
		return -errno;
	/* It would be readable for ever: whoever closed it has to say -1. */
	for (size_t i = 0; i < l->nr; i++)
		if (l->fds[i].revents & POLLNVAL)
			return -EBADF;
	return 0;
}

static int sleep_until_due(struct loop *l)
{
	uint64_t until = UINT64_MAX;

	for (size_t i = 0; i < l->nr; i++) {
		const struct loop_source *s = l->sources[i];

		l->fds[i] =
			(struct pollfd){ .fd = s->fd ? s->fd(l->args[i]) : -1, .events = POLLIN };
		until = earlier(until, due_ns(l, i));
	}
	return wait_until(l, until);
}

int loop_run(struct loop *l, struct diag *d)
{
	int err = 0;

	l->ended = false;
	while (!err && !l->ended) {
		err = sleep_until_due(l);
		if (err)
			return diag_error(d, err, "cannot wait");
		/* One that is added meanwhile is not readable: nobody has looked. */
		for (size_t i = 0; i < l->nr && !err && !l->ended; i++)
			if (l->fds[i].revents || due_ns(l, i) <= monotonic_ns())
				err = l->sources[i]->run(l->args[i], d);
	}
	return err;
}

void loop_end(struct loop *l)
{
	l->ended = true;
}

void loop_free(struct loop *l)
{
	free(l->sources);
	free(l->args);
	free(l->fds);
	*l = (struct loop){ 0 };
}
