// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "gpu/fdinfo_internal.h"

static const struct fdinfo_driver drivers[] = {
	{ "amdgpu", "dma", false },
	{ "i915", "copy", false },
	{ "xe", "bcs", true },
};

const struct fdinfo_driver *fdinfo_driver_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		if (!strcmp(name, drivers[i].name))
			return &drivers[i];
	return NULL;
}

/* The engine of a key that begins with @prefix; NULL for another key. */
static struct fdinfo_engine *engine(struct fdinfo_client *c, const char *key, const char *prefix)
{
	size_t n = strlen(prefix);

	if (strncmp(key, prefix, n) != 0)
		return NULL;
	for (size_t i = 0; i < c->nr; i++)
		if (!strcmp(c->engines[i].name, key + n))
			return &c->engines[i];
	if (c->nr == FDINFO_MAX_ENGINES)
		return NULL;
	str_copy(c->engines[c->nr].name, sizeof(c->engines[0].name), key + n);
	return &c->engines[c->nr++];
}

static bool is_memory(const char *key)
{
	return !strncmp(key, "drm-memory-", 11) || !strncmp(key, "drm-resident-", 13) ||
	       !strncmp(key, "drm-total-", 10);
}

static void take_value(struct fdinfo_client *c, const struct fdinfo_driver *d, const char *key,
		       uint64_t value)
{
	struct fdinfo_engine *e;

	if (!strcmp(key, "drm-client-id")) {
		c->id = value;
	} else if ((e = engine(c, key, "drm-engine-capacity-"))) {
		e->capacity = value;
	} else if ((e = engine(c, key, "drm-total-cycles-"))) {
		e->total = value;
	} else if ((e = engine(c, key, d->cycles ? "drm-cycles-" : "drm-engine-"))) {
		e->used = value;
	} else if (is_memory(key)) {
		c->memory |= value;
	}
}

bool fdinfo_read(FILE *f, struct fdinfo_client *ret, const struct fdinfo_driver **ret_driver)
{
	char line[256], key[64], text[64];
	const struct fdinfo_driver *d = NULL;
	bool id = false;
	uint64_t value;

	*ret = (struct fdinfo_client){ 0 };
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%63[^:]:%63s", key, text) != 2)
			continue;
		/* It is the first of its keys. */
		if (!strcmp(key, "drm-driver"))
			d = fdinfo_driver_of(text);
		else if (d && !strcmp(key, "drm-pdev"))
			str_copy(ret->address, sizeof(ret->address), text);
		else if (d && !parse_u64(text, &value)) {
			take_value(ret, d, key, value);
			id |= !strcmp(key, "drm-client-id");
		}
	}
	*ret_driver = d;
	return d && id && ret->address[0];
}

static const struct fdinfo_engine *same_engine(const struct fdinfo_client *c, const char *name)
{
	for (size_t i = 0; c && i < c->nr; i++)
		if (!strcmp(c->engines[i].name, name))
			return &c->engines[i];
	return NULL;
}

/*
 * One engine; false: not known. One that is said to have been busy for longer than there was time is
 * measured a little later than before, if its client is not older than it looks.
 */
static bool engine_busy(const struct fdinfo_driver *d, const struct fdinfo_engine *now,
			const struct fdinfo_engine *old, const struct fdinfo_engine *other,
			uint64_t ns, uint64_t *ret)
{
	const struct fdinfo_engine *clock = old ? old : other;
	double used = now->used - (old ? old->used : 0), busy = used, most = ns;

	*ret = 0;
	if (!used)
		return true;
	if (d->cycles) {
		if (!clock || now->total <= clock->total)
			return false;
		busy = used / (now->total - clock->total) * ns;
	}
	if (now->capacity)
		most *= now->capacity;
	if (!old && busy > most)
		return false;
	*ret = busy < most ? busy : most;
	return true;
}

bool fdinfo_busy(const struct fdinfo_driver *d, struct fdinfo_client *now,
		 const struct fdinfo_client *before, const struct fdinfo_client *other, uint64_t ns,
		 uint64_t *ret_ns, uint64_t *ret_copy_ns)
{
	bool known = true;

	*ret_ns = *ret_copy_ns = 0;
	for (size_t i = 0; i < now->nr; i++) {
		struct fdinfo_engine *e = &now->engines[i];
		const struct fdinfo_engine *old = same_engine(before, e->name);
		uint64_t busy;

		if (old && e->used < old->used)
			e->used = old->used;
		if (!engine_busy(d, e, old, same_engine(other, e->name), ns, &busy)) {
			known = false;
			continue;
		}
		*ret_ns += busy;
		if (!strncmp(e->name, d->copy, strlen(d->copy)))
			*ret_copy_ns += busy;
	}
	return known;
}

bool fdinfo_works(const struct fdinfo_client *c)
{
	bool used = c->memory;

	for (size_t i = 0; i < c->nr; i++)
		used |= c->engines[i].used != 0;
	return used;
}
