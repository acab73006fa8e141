// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "trace/midrun.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/repeat_names.h"
#include "trace/repeat_spans.h"
#include "trace/recording.h"

struct midrun {
	const struct trace_header *header;
	struct repeat_names *names;
	struct repeat_spans *spans;
	struct recording_writer *writer;
	struct trace_sink out;
	bool begun; /* known tasks and cgroups have been written */
	int err;
};

int midrun_new(const struct trace_header *header, struct midrun **ret)
{
	struct midrun *l = calloc(1, sizeof(*l));

	if (!l || repeat_names_new(&l->names) || repeat_spans_new(&header->layout, &l->spans)) {
		midrun_free(l);
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
int midrun_tell(const struct midrun *l, const struct trace_sink *out, const struct trace_mark *mark)
{
	return repeat_names_announce(l->names, out, nothing, NULL)
		?: repeat_spans_announce(l->spans, out, nothing, NULL)
		?: trace_send_mark(out, mark);
}

static int on_event(void *arg, const struct trace_event *e)
{
	struct midrun *l = arg;
	bool mark = e->type == TRACE_MARK && !e->mark.inner;
	int err = repeat_names_learn(l->names, e);

	repeat_spans_learn(l->spans, e);
	if (err || !l->writer || l->err)
		return err;
	if (l->begun) {
		err = trace_send(&l->out, e);
	} else if (mark) {
		l->begun = true;
		err = midrun_tell(l, &l->out, &e->mark);
	}
	/* The other receivers have taken the event: only a failure to write is our error. */
	l->err = err == -EINVAL ? 0 : err;
	return 0;
}

struct trace_sink midrun_sink(struct midrun *l)
{
	return (struct trace_sink){ on_event, l };
}

int midrun_start(struct midrun *l, const char *path, struct diag *d)
{
	int err = recording_create(path, l->header, 0, d, &l->writer);

	if (err)
		return err;
	l->out = recording_sink(l->writer);
	l->begun = false;
	l->err = 0;
	return 0;
}

int midrun_stop(struct midrun *l, struct diag *d, uint64_t *ret_bytes)
{
	struct recording_writer *w = l->writer;
	int err;

	l->writer = NULL;
	err = recording_finish(w, d, ret_bytes);
	if (!err && l->err)
		err = diag_fail(d, l->err, "not all could be written: %s", strerror(-l->err));
	return err;
}

bool midrun_records(const struct midrun *l)
{
	return l && l->writer;
}

int midrun_error(const struct midrun *l)
{
	return l->err;
}

void midrun_free(struct midrun *l)
{
	if (!l)
		return;
	recording_finish(l->writer, NULL, NULL);
	repeat_names_free(l->names);
	repeat_spans_free(l->spans);
	free(l);
}
