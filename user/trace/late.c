// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "trace/late.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/living.h"
#include "trace/overhang.h"
#include "trace/recording.h"

struct late {
	const struct trace_header *header;
	struct living *living;
	struct overhang *overhang;
	struct recording_writer *writer;
	struct trace_sink out;
	bool begun; /* known tasks and cgroups have been written */
	int err;
};

int late_new(const struct trace_header *header, struct late **ret)
{
	struct late *l = calloc(1, sizeof(*l));

	if (!l || living_new(&l->living) || overhang_new(&header->layout, &l->overhang)) {
		late_free(l);
		return -ENOMEM;
	}
	l->header = header;
	*ret = l;
	return 0;
}

static int nothing(void *arg)
{
	(void)arg;
	return 0;
}

/* A reader's books begin at this mark: earlier losses are not repeated. */
int late_tell(const struct late *l, const struct trace_sink *out, const struct trace_mark *mark)
{
	return living_announce(l->living, out, nothing, NULL)
		?: overhang_announce(l->overhang, out, nothing, NULL)
		?: trace_send_mark(out, mark);
}

static int on_event(void *arg, const struct trace_event *e)
{
	struct late *l = arg;
	bool mark = e->type == TRACE_MARK && !e->mark.inner;
	int err = living_learn(l->living, e);

	overhang_learn(l->overhang, e);
	if (err || !l->writer || l->err)
		return err;
	if (l->begun) {
		err = trace_send(&l->out, e);
	} else if (mark) {
		l->begun = true;
		err = late_tell(l, &l->out, &e->mark);
	}
	/* The other receivers have taken the event: only a failure to write is our error. */
	l->err = err == -EINVAL ? 0 : err;
	return 0;
}

struct trace_sink late_sink(struct late *l)
{
	return (struct trace_sink){ on_event, l };
}

int late_start(struct late *l, const char *path, struct diag *d)
{
	int err = recording_create(path, l->header, 0, d, &l->writer);

	if (err)
		return err;
	l->out = recording_sink(l->writer);
	l->begun = false;
	l->err = 0;
	return 0;
}

int late_stop(struct late *l, struct diag *d, uint64_t *ret_bytes)
{
	struct recording_writer *w = l->writer;
	int err;

	l->writer = NULL;
	err = recording_finish(w, d, ret_bytes);
	if (!err && l->err)
		err = diag_fail(d, l->err, "not all could be written: %s", strerror(-l->err));
	return err;
}

bool late_records(const struct late *l)
{
	return l && l->writer;
}

int late_error(const struct late *l)
{
	return l->err;
}

void late_free(struct late *l)
{
	if (!l)
		return;
	recording_finish(l->writer, NULL, NULL);
	living_free(l->living);
	overhang_free(l->overhang);
	free(l);
}
