// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/perfetto/track_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Numbers are hashes already. The slot that has it, or the free one where it belongs. */
static struct known_track *slot_of(const struct track_set *s, uint64_t id)
{
	size_t i = id & (s->capacity - 1);

	while (s->slots[i].id && s->slots[i].id != id)
		i = (i + 1) & (s->capacity - 1);
	return &s->slots[i];
}

struct known_track *track_set_find(const struct track_set *s, uint64_t id)
{
	struct known_track *slot = s->capacity ? slot_of(s, id) : NULL;

	return slot && slot->id ? slot : NULL;
}

static int grow(struct track_set *s)
{
	struct track_set larger = { .capacity = s->capacity ? 2 * s->capacity : 256 };

	larger.slots = calloc(larger.capacity, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < s->capacity; i++)
		if (s->slots[i].id)
			*slot_of(&larger, s->slots[i].id) = s->slots[i];
	larger.nr = s->nr;
	free(s->slots);
	*s = larger;
	return 0;
}

int track_set_add(struct track_set *s, const struct known_track *t)
{
	if (s->nr >= s->capacity / 2 && grow(s))
		return -ENOMEM;
	*slot_of(s, t->id) = *t;
	s->nr++;
	return 0;
}

void track_set_clear(struct track_set *s)
{
	if (s->capacity)
		memset(s->slots, 0, s->capacity * sizeof(*s->slots));
	s->nr = 0;
}

void track_set_free(struct track_set *s)
{
	free(s->slots);
	*s = (struct track_set){ 0 };
}
