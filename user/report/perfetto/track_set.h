/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counters, groups and lanes that are known: a set of numbers. */
#ifndef REPORT_PERFETTO_TRACK_SET_H
#define REPORT_PERFETTO_TRACK_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In place of a counter: what it means that a track has no value in an interval */
#define TRACK_NONE UINT32_MAX	    /* that there is none */
#define TRACK_ZERO (UINT32_MAX - 1) /* zero */

/**
 * struct known_track - one of them
 * @id: stands for its keys, 0 where there is none
 * @number: in the file: of the group or lane, of a counter's group
 * @called: of a group or lane: stands for the name that was told
 * @name, @unit, @bar: of a counter: its name, the unit of its values and whether they are three
 * @counter: of this one's absence, see above
 */
struct known_track {
	uint64_t id;
	const char *name;
	uint32_t number;
	uint32_t called;
	uint32_t counter;
	uint8_t unit;
	bool bar;
};

/** struct track_set - zeros are an empty one */
struct track_set {
	struct known_track *slots;
	size_t capacity; /* a power of two */
	size_t nr;
};

/** track_set_find() - one of the set, NULL if it is not in it */
struct known_track *track_set_find(const struct track_set *s, uint64_t id);

/** track_set_add() - add one that is not in it; 0 or -ENOMEM */
int track_set_add(struct track_set *s, const struct known_track *t);

/** track_set_clear() - no tracks any more; the memory stays */
void track_set_clear(struct track_set *s);
void track_set_free(struct track_set *s);

#endif
