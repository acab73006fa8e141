// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Devices in a header, and lines about their users. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bdf.h"
#include "base/text.h"
#include "live/program/text.h"

/* The most that Linux gives out */
#define MAX_PID	       4194304
/* Starts of processes are told to a tick, and may be rounded up. */
#define START_SLACK_NS 20000000u
/* Engines of a device that a process may use at once; what is beyond is a mistake of units. */
#define MAX_ENGINES    1024

static int take_address(const struct ndjson_line *line, const json_t *object, char *ret)
{
	char text[MODEL_BDF_LEN] = "",
	     *wrong = "\"address\" must be a PCI address as Linux writes it";
	int err = line_text(line, object, "address", REQUIRED, text, sizeof(text), NULL);

	if (err)
		return err;
	if (bdf_canonical(text, ret, MODEL_BDF_LEN) || strcmp(text, ret) != 0)
		return line_fail(line, "address", "%s", wrong);
	return 0;
}

static int take_device(const struct ndjson_line *line, json_t *object, struct program_device *ret)
{
	static const char *const keys[] = { "address", "link", "uuid" };
	unsigned int link = LINK_UNKNOWN;
	int err = line_known_keys(line, object, keys, ARRAY_SIZE(keys));

	if (!err)
		err = take_address(line, object, ret->address);
	if (!err)
		err = line_word(line, object, "link", OPTIONAL, device_link_name, NR_DEVICE_LINKS,
				&link);
	ret->link = link;
	if (!err)
		err = line_text(line, object, "uuid", OPTIONAL, ret->uuid, sizeof(ret->uuid), NULL);
	return err;
}

int program_devices_parse(const struct ndjson_line *line, struct program_header *h)
{
	json_t *list, *object;
	size_t i;
	int err = line_array(line, line->json, "devices", OPTIONAL, PROGRAM_MAX_DEVICES, &list);

	if (err || !list)
		return err;
	h->devices = calloc(json_array_size(list) + 1, sizeof(*h->devices));
	if (!h->devices)
		return diag_no_memory(line->d);
	json_array_foreach (list, i, object) {
		if (!json_is_object(object))
			return line_fail(line, "devices", "a device must be an object");
		err = take_device(line, object, &h->devices[i]);
		for (size_t k = 0; k < i && !err; k++)
			if (!strcmp(h->devices[k].address, h->devices[i].address))
				err = line_fail(line, "devices", "device %s is there twice",
						h->devices[i].address);
		if (err)
			return err;
	}
	h->nr_devices = json_array_size(list);
	return 0;
}

/* --- lines */

static int take_of(const struct ndjson_line *line, const struct program_header *h, uint32_t *ret)
{
	const char *address = json_string_value(json_object_get(line->json, "device"));

	for (*ret = 0; address && *ret < h->nr_devices; ++*ret)
		if (!strcmp(h->devices[*ret].address, address))
			return 0;
	return line_fail(line, "device", "\"device\" must be an address of the header");
}

static int take_process(const struct ndjson_line *line, const json_t *object, uint64_t end_ns,
			uint32_t *ret_pid, uint64_t *ret_start_ns)
{
	uint64_t pid = 0;
	int err;

	if (!json_is_object(object))
		return line_fail(line, "device", "a process must be an object");
	err = line_u64(line, object, "pid", REQUIRED, MAX_PID, &pid);
	if (!err && !pid)
		err = line_fail(line, "pid", "\"pid\" must not be 0");
	*ret_pid = pid;
	return err ? err
		   : line_u64(line, object, "start_ns", REQUIRED, end_ns + START_SLACK_NS,
			      ret_start_ns);
}

static int take_context(const struct ndjson_line *line, json_t *object, struct trace_contexts *c,
			struct trace_context *ret)
{
	static const char *const keys[] = { "pid", "start_ns", "instance", "since_ns" };
	uint64_t instance = TRACE_NO_INSTANCE;
	int err = take_process(line, object, c->end_ns, &ret->pid, &ret->start_ns);

	if (!err)
		err = line_known_keys(line, object, keys, ARRAY_SIZE(keys));
	if (!err)
		err = line_u64(line, object, "instance", OPTIONAL, TRACE_NO_INSTANCE - 1,
			       &instance);
	ret->instance = instance;
	ret->since_ns = c->end_ns;
	if (!err)
		err = line_u64(line, object, "since_ns", OPTIONAL, c->end_ns, &ret->since_ns);
	for (uint32_t i = 0; i < c->nr && !err; i++)
		if (c->processes[i].pid == ret->pid && c->processes[i].instance == ret->instance)
			err = line_fail(line, "pid", "process %u is there twice", ret->pid);
	return err;
}

static int take_contexts(const struct ndjson_line *line, struct program_users *ret)
{
	static const char *const keys[] = { "time_ns", "device", "contexts" };
	struct trace_contexts *c = &ret->contexts;
	json_t *list, *object;
	size_t i;
	int err = line_known_keys(line, line->json, keys, ARRAY_SIZE(keys));

	ret->known = !json_is_null(json_object_get(line->json, "contexts"));
	if (err || !ret->known)
		return err;
	err = line_array(line, line->json, "contexts", REQUIRED, TRACE_MAX_CONTEXTS, &list);
	c->processes = ret->context;
	json_array_foreach (list, i, object) {
		if (!err)
			err = take_context(line, object, c, &ret->context[i]);
		c->nr += !err;
	}
	return err;
}

static int take_busy(const struct ndjson_line *line, json_t *object, struct trace_activity *a,
		     struct trace_busy *ret)
{
	static const char *const keys[] = { "pid", "start_ns", "busy_ns", "copy_ns" };
	uint64_t time_ns = a->end_ns - a->start_ns, most_ns;
	int err = take_process(line, object, a->end_ns, &ret->pid, &ret->start_ns);

	if (__builtin_mul_overflow(time_ns, MAX_ENGINES, &most_ns) || most_ns > INT64_MAX)
		most_ns = INT64_MAX;
	ret->copy_ns = 0;
	if (!err)
		err = line_known_keys(line, object, keys, ARRAY_SIZE(keys));
	if (!err)
		err = line_u64(line, object, "busy_ns", REQUIRED, most_ns, &ret->busy_ns);
	if (!err)
		err = line_u64(line, object, "copy_ns", OPTIONAL, ret->busy_ns, &ret->copy_ns);
	a->copies |= json_object_get(object, "copy_ns") != NULL;
	for (uint32_t i = 0; i < a->nr && !err; i++)
		if (a->processes[i].pid == ret->pid)
			err = line_fail(line, "pid", "process %u is there twice", ret->pid);
	return err;
}

static int take_activity(const struct ndjson_line *line, struct program_users *ret)
{
	static const char *const keys[] = { "time_ns",	"since_ns", "device",
					    "activity", "samples",  "period_ns" };
	struct trace_activity *a = &ret->activity;
	uint64_t samples = 0;
	json_t *list, *object;
	size_t i;
	int err = line_known_keys(line, line->json, keys, ARRAY_SIZE(keys));

	ret->known = ret->active = true;
	if (!err)
		err = line_u64(line, line->json, "since_ns", REQUIRED, a->end_ns, &a->start_ns);
	if (!err)
		err = line_u64(line, line->json, "samples", OPTIONAL, UINT32_MAX, &samples);
	a->samples = samples;
	if (!err)
		err = line_u64(line, line->json, "period_ns", OPTIONAL, INT64_MAX, &a->period_ns);
	if (!err && !a->samples != !a->period_ns)
		err = line_fail(line, "samples", "\"samples\" and \"period_ns\" go together");
	if (!err)
		err = line_array(line, line->json, "activity", REQUIRED, TRACE_MAX_CONTEXTS, &list);
	if (err)
		return err;
	a->processes = ret->busy;
	json_array_foreach (list, i, object) {
		if (!err)
			err = take_busy(line, object, a, &ret->busy[i]);
		a->nr += !err;
	}
	return err;
}

int program_users_parse(const struct ndjson_line *line, const struct program_header *h,
			struct program_users *ret)
{
	uint64_t end_ns = 0;
	uint32_t device;
	int err = take_of(line, h, &device);

	if (!err)
		err = line_u64(line, line->json, "time_ns", REQUIRED, INT64_MAX, &end_ns);
	ret->active = false;
	ret->contexts = (struct trace_contexts){ .device = device, .end_ns = end_ns };
	ret->activity = (struct trace_activity){ .device = device, .end_ns = end_ns };
	if (err)
		return err;
	return json_object_get(line->json, "activity") ? take_activity(line, ret)
						       : take_contexts(line, ret);
}
