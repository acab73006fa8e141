// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Devices of an NDJSON trace. Our traces list them in the header; foreign ones only name
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

int ndjson_device_done(const struct ndjson_line *line, const json_t *value, struct trace_header *h,
		       struct device *d)
{
	char bdf[MODEL_BDF_LEN];
	int err = ndjson_bdf(line, value, "bdf", REQUIRED, bdf);

	if (err)
		return err;
	d->bdf[0] = '\0';
	if (ndjson_device(h, bdf))
		return line_fail(line, "devices", "device %s is there twice", bdf);
	str_copy(d->bdf, sizeof(d->bdf), bdf);
	if (d->wiring == WIRING_UNKNOWN) {
		d->socket = d->rc = d->rp = 0;
		return 0;
	}
	if (!json_object_get(value, "socket"))
		return line_fail(line, NULL, "\"socket\" is missing");
	d->socket = ndjson_socket(&h->layout, d->socket);
	return d->socket < h->layout.nr_sockets
		       ? 0
		       : line_fail(line, "devices", "device %s is on an unknown socket", bdf);
}

/* The number of another device that one refers to by its address. */
static int refer(const struct ndjson_line *line, const json_t *value, const struct trace_header *h,
		 const char *key, uint32_t *ret)
{
	char bdf[MODEL_BDF_LEN];

	if (ndjson_bdf(line, value, key, OPTIONAL, bdf))
		return -EBADMSG;
	if (!bdf[0])
		return 0;
	*ret = ndjson_device(h, bdf);
	return *ret ? 0 : line_fail(line, key, "%s %s is not among the devices", key, bdf);
}

int ndjson_ports(const struct ndjson_line *line, struct trace_header *h)
{
	const json_t *values = json_object_get(line->json, "devices");
	json_t *value;
	int err = 0;
	size_t i;

	json_array_foreach (values, i, value) {
		err = err ?: refer(line, value, h, "port", &h->devices[i].port);
		err = err ?: refer(line, value, h, "function", &h->devices[i].function);
	}
	return err;
}

void ndjson_peek_device(struct trace_header *h, const json_t *line)
{
	const char *type = json_string_value(json_object_get(line, "type"));
	const char *text = json_string_value(json_object_get(line, "bdf"));
	char bdf[MODEL_BDF_LEN];
	uint32_t number = 0;

	if (type && text && !strcmp(type, "io") && !device_address(text, bdf, sizeof(bdf)))
		number = add_device(h, bdf);
	if (number)
		h->devices[number - 1].io = IO_BOTH;
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
