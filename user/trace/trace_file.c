// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recording_format.h"
#include "trace/header.h"
#include "trace/reader.h"

struct trace_file {
	struct trace_header header;
	struct recording_reader *recording; /* one of the two */
	struct ndjson_reader *ndjson;
};

static int open_any(struct trace_file *f, const char *path, struct input *in, struct diag *d)
{
	int err = input_fill(in, 1);
	uint8_t first;

	if (err) {
		diag_fail(d, err, "%s: cannot be read: %s", path, strerror(-err));
		return err;
	}
	if (!in->nr) {
		diag_fail(d, -EBADMSG, "%s: the file is empty", path);
		diag_help(d, "give a file that \"t410trace record\" has written");
		return -EBADMSG;
	}
	first = *input_data(in);
	if (first == (uint8_t)RECORDING_MAGIC[0])
		return recording_open(path, in, d, &f->header, &f->recording);
	if (first == '{' || first == ' ' || first == '\t' || first == '\r' || first == '\n')
		return ndjson_open(path, in, d, &f->header, &f->ndjson);
	diag_fail(d, -EBADMSG, "%s: is neither a recording nor an NDJSON trace", path);
	diag_help(d, "give a file that \"t410trace record\" has written, or one in the form "
		     "t410trace.trace/1");
	return -EBADMSG;
}

int trace_file_open(const char *path, struct diag *d, struct trace_file **ret)
{
	struct trace_file *f = calloc(1, sizeof(*f));
	struct input in;
	int err;

	if (!f)
		return diag_no_memory(d);
	err = input_open(&in, path);
	if (err) {
		diag_fail(d, err, "%s: cannot be opened: %s", path, strerror(-err));
	} else {
		err = open_any(f, strcmp(path, "-") ? path : "standard input", &in, d);
		input_release(&in);
	}
	if (err) {
		trace_file_close(f);
		return err == -ENOMEM ? diag_no_memory(d) : err;
	}
	*ret = f;
	return 0;
}

void trace_file_close(struct trace_file *f)
{
	if (!f)
		return;
	recording_reader_free(f->recording);
	ndjson_reader_free(f->ndjson);
	header_release(&f->header);
	free(f);
}

void trace_file_peaks(struct trace_file *f, const struct peaks_wanted *w)
{
	peaks_apply(&f->header.host.peaks, w);
}

const struct trace_header *trace_file_header(const struct trace_file *f)
{
	return &f->header;
}

void trace_file_progress(const struct trace_file *f, uint64_t *ret_done, uint64_t *ret_all)
{
	if (f->recording)
		recording_progress(f->recording, ret_done, ret_all);
	else
		ndjson_progress(f->ndjson, ret_done, ret_all);
}

void trace_file_wait(struct trace_file *f, const struct input_wait *w)
{
	if (f->recording)
		recording_wait(f->recording, w);
	else
		ndjson_wait(f->ndjson, w);
}

bool trace_file_ended(const struct trace_file *f)
{
	return f->recording ? recording_ended(f->recording) : ndjson_ended(f->ndjson);
}

int trace_file_read(struct trace_file *f, const struct trace_sink *sink, struct diag *d,
		    struct trace_end *ret)
{
	int err;

	if (d)
		d->what[0] = d->help[0] = '\0';
	if (f->recording)
		err = recording_read(f->recording, sink, d, ret);
	else
		err = ndjson_read(f->ndjson, sink, d, ret);
	return err == -ENOMEM ? diag_no_memory(d) : err;
}
