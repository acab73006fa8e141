/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tracks that an interval has values on: a set of numbers. */
#ifndef REPORT_PERFETTO_TRACK_SET_H
#define REPORT_PERFETTO_TRACK_SET_H

#include <stddef.h>
#include <stdint.h>

/* In place of a counter: what it means that a track has no value in an interval */
#define TRACK_NONE UINT32_MAX	    /* that there is none */
#define TRACK_ZERO (UINT32_MAX - 1) /* zero */

/**
 * struct known_track - a track
 * @id: its number, 0 where there is none
 * @counter: of this one's absence, see above
 * @name: stands for the name that it was described with
 */
struct known_track {
	uint64_t id;
	uint32_t counter;
	uint32_t name;
};

/** struct track_set - zeros are an empty one */
struct track_set {
	struct known_track *slots;
	size_t capacity; /* a power of two */
	size_t nr;
};

/** track_set_find() - one of the set, NULL if it is not in it */
const struct known_track *track_set_find(const struct track_set *s, uint64_t id);

/** track_set_add() - add one that is not in it; 0 or -ENOMEM */
int track_set_add(struct track_set *s, const struct known_track *t);

/** track_set_clear() - no tracks any more; the room stays */
void track_set_clear(struct track_set *s);
void track_set_free(struct track_set *s);

#endif
