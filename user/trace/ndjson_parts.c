// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is measured elsewhere than the counters, in the header of an NDJSON trace. */
#include <errno.h>
#include <stdlib.h>

#include "trace/json_text.h"
#include "trace/ndjson_header.h"

void ndjson_put_parts(FILE *f, const struct trace_header *h)
{
	if (!h->nr_parts)
		return;
	fputs(",\"parts\":[", f);
	for (size_t i = 0; i < h->nr_parts; i++) {
		const struct traffic_part *p = &h->parts[i];

		fprintf(f, "%s{\"id\":%zu", i ? "," : "", i);
		json_name(f, "name", p->name);
		json_name(f, "part", part_name(p->kind));
		json_name(f, "pmu", p->pmu);
		json_name(f, "event", p->event);
		json_number(f, "pmus", p->nr_pmus);
		json_number(f, "socket", h->layout.socket_ids[p->socket]);
		json_name(f, "direction", direction_name(p->direction));
		putc('}', f);
	}
	putc(']', f);
}

static int take_part(const struct ndjson_line *line, const struct trace_header *h,
		     const json_t *value, size_t nr, struct traffic_part *p)
{
	unsigned int kind = PART_NONE, direction = DIRECTION_READ;
	uint64_t id = 0, socket = 0, pmus = 0;
	int err = line_u64(line, value, "id", REQUIRED, UINT64_MAX, &id);

	if (!err && id != nr)
		return line_fail(line, "parts", "\"id\" of parts must count from 0");
	if (!err)
		err = line_text(line, value, "name", REQUIRED, p->name, sizeof(p->name), NULL);
	if (!err)
		err = line_word(line, value, "part", REQUIRED, part_name, NR_PARTS, &kind);
	if (!err)
		err = line_text(line, value, "pmu", OPTIONAL, p->pmu, sizeof(p->pmu), NULL);
	if (!err)
		err = line_text(line, value, "event", OPTIONAL, p->event, sizeof(p->event), NULL);
	if (!err)
		err = line_u64(line, value, "pmus", OPTIONAL, UINT32_MAX, &pmus);
	if (!err)
		err = line_u64(line, value, "socket", REQUIRED, UINT32_MAX, &socket);
	if (!err)
		err = line_word(line, value, "direction", REQUIRED, direction_name, NR_WAYS,
				&direction);
	if (err)
		return err;
	p->kind = kind;
	p->direction = direction;
	p->nr_pmus = pmus;
	p->socket = ndjson_socket(&h->layout, socket);
	if (p->socket == h->layout.nr_sockets)
		return line_fail(line, "parts", "part %zu is on an unknown socket", nr);
	return 0;
}

int ndjson_parts(const struct ndjson_line *line, struct trace_header *h)
{
	json_t *values, *value;
	int err = line_array(line, line->json, "parts", OPTIONAL, TRACE_MAX_PARTS, &values);
	size_t i;

	if (err)
		return err;
	h->parts = calloc(json_array_size(values) + 1, sizeof(*h->parts));
	if (!h->parts)
		return -ENOMEM;
	json_array_foreach (values, i, value) {
		err = take_part(line, h, value, i, &h->parts[i]);
		if (err)
			return err;
	}
	h->nr_parts = json_array_size(values);
	return 0;
}
