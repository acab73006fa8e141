// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Devices of an NDJSON trace. Ours list them in the header; those of others only name
 * addresses, at counters and in lines of type "io".
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bdf.h"
#include "base/text.h"
#include "trace/ndjson_header.h"

uint32_t ndjson_device(const struct trace_header *h, const char *bdf)
{
	for (size_t i = 0; i < h->nr_devices; i++)
		if (!strcmp(h->devices[i].bdf, bdf))
			return i + 1;
	return 0;
}

uint32_t ndjson_socket(const struct layout *l, uint64_t number)
{
	uint32_t i = 0;

	while (i < l->nr_sockets && l->socket_ids[i] != number)
		i++;
	return i;
}

/* The number of a device with that address; a new one is added if there is room. */
static uint32_t add_device(struct trace_header *h, const char *bdf)
{
	uint32_t number = ndjson_device(h, bdf);

	if (number || h->nr_devices == TRACE_MAX_DEVICES)
		return number;
	str_copy(h->devices[h->nr_devices].bdf, sizeof(h->devices->bdf), bdf);
	return ++h->nr_devices;
}

int ndjson_bdf(const struct ndjson_line *line, const json_t *object, const char *key,
	       enum need need, char *ret)
{
	char text[64] = "";
	bool known = false;
	int err = line_text(line, object, key, need, text, sizeof(text), &known);

	ret[0] = '\0';
	if (err || !known)
		return err;
	if (device_address(text, ret, MODEL_BDF_LEN))
		return line_fail(
			line, key,
			"\"%s\" must be a PCI address like \"0002:81:00.0\", or acc and a number",
			key);
	return 0;
}

static int take_words(const struct ndjson_line *line, const json_t *value, struct device *d)
{
	unsigned int kind = DEVICE_OTHER, wiring = WIRING_UNKNOWN, filter = DEVICE_NOT_COUNTED;
	int err =
		line_word(line, value, "kind", OPTIONAL, device_kind_name, NR_DEVICE_KINDS, &kind);

	if (!err)
		err = line_word(line, value, "wiring", OPTIONAL, wiring_name, NR_WIRINGS, &wiring);
	if (!err)
		err = line_word(line, value, "filter", OPTIONAL, device_filter_name,
				NR_DEVICE_FILTERS, &filter);
	d->kind = kind;
	d->wiring = wiring;
	d->filter = filter;
	return err;
}

static int take_place(const struct ndjson_line *line, const json_t *value, const struct layout *l,
		      struct device *d)
{
	uint64_t socket = 0, rc = 0, rp = 0;
	int err = line_u64(line, value, "socket", d->wiring == WIRING_UNKNOWN ? OPTIONAL : REQUIRED,
			   UINT32_MAX, &socket);

	if (!err)
		err = line_u64(line, value, "rc", OPTIONAL, UINT32_MAX, &rc);
	if (!err)
		err = line_u64(line, value, "rp", OPTIONAL, UINT32_MAX, &rp);
	if (err || d->wiring == WIRING_UNKNOWN)
		return err;
	d->rc = rc;
	d->rp = rp;
	while (d->socket < l->nr_sockets && l->socket_ids[d->socket] != socket)
		d->socket++;
	return d->socket < l->nr_sockets
		       ? 0
		       : line_fail(line, "devices", "device %s is on an unknown socket", d->bdf);
}

static int take_device(const struct ndjson_line *line, const json_t *value, struct trace_header *h)
{
	char bdf[MODEL_BDF_LEN];
	struct device *d;
	int err = ndjson_bdf(line, value, "bdf", REQUIRED, bdf);

	if (err)
		return err;
	if (ndjson_device(h, bdf))
		return line_fail(line, "devices", "device %s is there twice", bdf);
	d = &h->devices[add_device(h, bdf) - 1];
	err = line_text(line, value, "name", OPTIONAL, d->name, sizeof(d->name), NULL);
	if (!err)
		err = take_words(line, value, d);
	return err ? err : take_place(line, value, &h->layout, d);
}

int ndjson_devices(const struct ndjson_line *line, struct trace_header *h)
{
	char port[MODEL_BDF_LEN];
	struct device *devices = calloc(TRACE_MAX_DEVICES, sizeof(*devices));
	json_t *values, *value;
	size_t i;
	int err;

	h->devices = devices;
	if (!devices)
		return -ENOMEM;
	err = line_array(line, line->json, "devices", OPTIONAL, TRACE_MAX_DEVICES, &values);
	json_array_foreach (values, i, value) {
		if (!err)
			err = take_device(line, value, h);
	}
	/* A port may come behind the devices below it. */
	json_array_foreach (values, i, value) {
		if (!err)
			err = ndjson_bdf(line, value, "port", OPTIONAL, port);
		if (err)
			return err;
		if (!port[0])
			continue;
		devices[i].port = ndjson_device(h, port);
		if (!devices[i].port)
			return line_fail(line, "port", "port %s is not among the devices", port);
	}
	return err;
}

void ndjson_peek_device(struct trace_header *h, const json_t *line)
{
	const char *type = json_string_value(json_object_get(line, "type"));
	const char *text = json_string_value(json_object_get(line, "bdf"));
	char bdf[MODEL_BDF_LEN];

	if (type && text && !strcmp(type, "io") && !device_address(text, bdf, sizeof(bdf)))
		add_device(h, bdf);
}

/* The device of a counter; one that no list describes is at least counted. */
int ndjson_counter_device(const struct ndjson_line *line, const json_t *value,
			  struct trace_header *h, struct counter *c)
{
	size_t before = h->nr_devices;
	char bdf[MODEL_BDF_LEN];
	int err = ndjson_bdf(line, value, "bdf", OPTIONAL, bdf);

	if (err || !bdf[0] || c->source != SOURCE_DEVICE)
		return err;
	c->device = add_device(h, bdf);
	if (!c->device)
		return line_fail(line, "bdf", "the counters are of more than %d devices",
				 TRACE_MAX_DEVICES);
	if (h->nr_devices > before) {
		h->devices[before].filter =
			strstr(c->filters, "src_rp_mask=") ? DEVICE_BY_PORT : DEVICE_BY_ID;
	}
	return 0;
}
