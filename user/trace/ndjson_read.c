// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "recording_format.h"
#include "trace/header.h"
#include "trace/ndjson_header.h"
#include "trace/ndjson_read.h"
#include "trace/reader.h"

/* Longest line, and how far the names of weights are looked for. */
#define MAX_LINE   (16u << 20)
#define PEEK_BYTES (4u << 20)
#define PEEK_LINES 10000

/* Get the next line into the buffer; 1, 0 at the end of the file, or an error. */
static int next_line(struct ndjson_reader *r, struct diag *d)
{
	size_t want = 1, seen = 0;
	const uint8_t *end;
	int err;

	for (;;) {
		err = input_fill(&r->in, want);
		if (err)
			return diag_fail(d, err, "%s: cannot be read: %s", r->path, strerror(-err));
		end = memchr(input_data(&r->in) + seen, '\n', r->in.nr - seen);
		if (end || r->in.eof)
			break;
		if (r->in.nr >= MAX_LINE) {
			r->line.number++;
			return line_fail(&r->line, NULL, "the line is longer than %u bytes",
					 MAX_LINE);
		}
		seen = r->in.nr;
		want = r->in.nr + 1;
	}
	if (!r->in.nr)
		return 0;
	r->line.number++;
	r->line.text = (const char *)input_data(&r->in);
	r->line.size = end ? (size_t)(end - input_data(&r->in)) : r->in.nr;
	r->used = r->line.size + (end ? 1 : 0);
	r->unfinished = !end;
	return 1;
}

static bool is_blank(const struct ndjson_line *line)
{
	for (size_t i = 0; i < line->size; i++)
		if (!strchr(" \t\r", line->text[i]) || !line->text[i])
			return false;
	return true;
}

static void learn_weights(struct trace_header *h, json_t *weights)
{
	const char *name;
	json_t *value;

	json_object_foreach (weights, name, value) {
		(void)value;
		if (h->nr_weights < TRACE_MAX_WEIGHTS && strlen(name) < TRACE_WEIGHT_NAME_LEN)
			memcpy(h->weights[h->nr_weights++], name, strlen(name) + 1);
	}
}

static bool is_write(const char *name)
{
	return strstr(name, "_wb") || strstr(name, "_wr") || strstr(name, "write");
}

/* The first stands for reads, as far as names tell. */
static void order_weights(struct trace_header *h)
{
	char first[TRACE_WEIGHT_NAME_LEN];

	if (h->nr_weights != 2 || !is_write(h->weights[0]) || is_write(h->weights[1]))
		return;
	memcpy(first, h->weights[0], sizeof(first));
	memcpy(h->weights[0], h->weights[1], sizeof(first));
	memcpy(h->weights[1], first, sizeof(first));
}

static bool holds(const char *line, size_t size, const char *text)
{
	return memmem(line, size, text, strlen(text));
}

/*
 * Look ahead for the first slice with weights, and for devices: their names belong into
 * the header.
 */
static int peek_names(struct ndjson_reader *r, struct trace_header *h, struct diag *d)
{
	bool weights = !r->names.weights_known, devices = !r->names.devices_known;
	const char *at, *end, *newline;
	json_t *line;
	int err = input_fill(&r->in, PEEK_BYTES);

	if (err)
		return diag_fail(d, err, "%s: cannot be read: %s", r->path, strerror(-err));
	at = (const char *)input_data(&r->in);
	end = at + r->in.nr;
	for (int n = 0; n < PEEK_LINES && at < end; n++, at = newline + 1) {
		newline = memchr(at, '\n', end - at);
		if (!newline)
			break;
		if (!(weights && !h->nr_weights && holds(at, newline - at, "\"weights\"")) &&
		    !(devices && holds(at, newline - at, "\"io\"")))
			continue;
		/* its problem is reported when its turn comes */
		line = json_loadb(at, newline - at, JSON_REJECT_DUPLICATES, NULL);
		if (weights && !h->nr_weights)
			learn_weights(h, json_object_get(line, "weights"));
		if (devices)
			ndjson_peek_device(h, line);
		json_decref(line);
	}
	if (weights)
		order_weights(h);
	return 0;
}

static int read_header(struct ndjson_reader *r, struct diag *d, struct trace_header *h)
{
	int err;

	do {
		err = next_line(r, d);
		if (err == 1 && is_blank(&r->line)) {
			input_skip(&r->in, r->used);
			err = 2;
		}
	} while (err == 2);
	if (err < 0)
		return err;
	if (!err) {
		r->line.number++;
		return line_fail(&r->line, NULL, "the header is missing");
	}
	err = line_parse(&r->line);
	if (!err)
		err = ndjson_header(&r->line, h, &r->names);
	json_decref(r->line.json);
	r->line.json = NULL;
	input_skip(&r->in, r->used);
	if (!err && !r->names.own && !(r->names.weights_known && r->names.devices_known))
		err = peek_names(r, h, d);
	return err;
}

int ndjson_open(const char *path, struct input *in, struct diag *d, struct trace_header *header,
		struct ndjson_reader **ret)
{
	struct ndjson_reader *r = calloc(1, sizeof(*r));
	int err = 0;

	if (!r)
		return -ENOMEM;
	r->in = *in;
	*in = (struct input){ .fd = -1 };
	r->header = header;
	r->path = strdup(path);
	r->line.file = r->path;
	r->line.d = d;
	if (!r->path)
		err = -ENOMEM;
	if (!err)
		err = read_header(r, d, header);
	if (err) {
		ndjson_reader_free(r);
		return err;
	}
	*ret = r;
	return 0;
}

void ndjson_progress(const struct ndjson_reader *r, uint64_t *ret_done, uint64_t *ret_all)
{
	*ret_done = r->in.offset;
	*ret_all = input_size(&r->in);
}

void ndjson_wait(struct ndjson_reader *r, const struct input_wait *w)
{
	r->in.wait = *w;
}

bool ndjson_ended(const struct ndjson_reader *r)
{
	return r->ended;
}

void ndjson_reader_free(struct ndjson_reader *r)
{
	struct ndjson_workload *w, *next;

	if (!r)
		return;
	HASH_ITER (hh, r->workloads, w, next) {
		HASH_DEL(r->workloads, w);
		free(w);
	}
	input_release(&r->in);
	free(r->names.counter_ids);
	free(r->names.probe_ids);
	free(r->path);
	free(r);
}

/* The sink's answer; a refused event is an error of the current line. */
static int answer(const struct ndjson_reader *r, int err)
{
	if (err != -EINVAL)
		return err;
	return line_fail(&r->line, NULL,
			 "what the line says makes no sense: times or numbers "
			 "are out of range");
}

static int read_lines(struct ndjson_reader *r, const struct trace_sink *sink, struct diag *d,
		      struct trace_end *end)
{
	int err;

	while ((err = next_line(r, d)) > 0) {
		if (!is_blank(&r->line)) {
			err = line_parse(&r->line);
			if (err && r->unfinished) {
				/* the writer was killed; this is no error */
				if (d)
					d->what[0] = d->help[0] = '\0';
				end->dropped_bytes = r->line.size;
				return 0;
			}
			if (!err)
				err = answer(r, ndjson_event(r, sink));
			json_decref(r->line.json);
			r->line.json = NULL;
			if (err)
				return err;
		}
		input_skip(&r->in, r->used);
	}
	return err;
}

int ndjson_read(struct ndjson_reader *r, const struct trace_sink *sink, struct diag *d,
		struct trace_end *ret)
{
	struct trace_end end = { 0 };
	struct trace_mark last = { .last = true };
	int err;

	r->line.d = d;
	err = read_lines(r, sink, d, &end);
	if (!err && r->ended && !r->names.own) {
		last.time_ns = r->end_ns;
		r->events++;
		err = answer(r, trace_send_mark(sink, &last));
	}
	end.events = r->events;
	end.bytes = r->in.offset + end.dropped_bytes;
	end.complete = r->ended;
	*ret = end;
	return err;
}
