// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "engine/latency/neighbours_internal.h"

/* Entries of all probes that wait for a sample: one that is not read may not fill memory. */
#define MAX_WAITING 1048576
/* Each probe may keep an equal share of the total, and at least this. */
#define MIN_PART    16384
/* Slots are not merged below this number. */
#define MIN_SLOTS   64

/* --- setup */

static void add_vicinity(struct neighbours *n, uint32_t probe)
{
	const struct layout *l = &n->header->layout;
	struct vicinity *v = &n->vicinities[n->nr++];

	*v = (struct vicinity){ .probe = probe,
				.socket = n->header->probes[probe].socket,
				.group = l->nr_groups,
				.per_slot = 1 };
	for (size_t i = l->nr_counters; i-- > 0;)
		if (l->groups[l->counters[i].group].socket == v->socket &&
		    l->counters[i].source == SOURCE_CPU && !l->counters[i].device)
			v->group = l->counters[i].group;
}

static size_t part_of(size_t all, size_t nr)
{
	return nr && all / nr > MIN_PART ? all / nr : MIN_PART;
}

int neighbours_new(const struct trace_header *header, const struct links *links,
		   const struct neighbours_names *names, struct neighbours **ret)
{
	struct neighbours *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	n->header = header;
	n->links = links;
	n->names = *names;
	n->next = FIRST_ROW;
	n->vicinities = calloc(header->nr_probes + 1, sizeof(*n->vicinities));
	n->enabled_ns = calloc(header->layout.nr_counters + 1, sizeof(*n->enabled_ns));
	n->running_ns = calloc(header->layout.nr_counters + 1, sizeof(*n->running_ns));
	if (!n->vicinities || !n->enabled_ns || !n->running_ns) {
		neighbours_free(n);
		return -ENOMEM;
	}
	for (size_t i = 0; i < header->nr_probes; i++)
		if (header->probes[i].by_tasks)
			add_vicinity(n, i);
	n->max_entries = part_of(NEIGHBOURS_MAX_ENTRIES, n->nr);
	n->max_waiting = part_of(MAX_WAITING, n->nr);
	*ret = n;
	return 0;
}

void neighbours_free(struct neighbours *n)
{
	struct known *k, *next;

	if (!n)
		return;
	for (size_t i = 0; i < n->nr; i++) {
		struct vicinity *v = &n->vicinities[i];

		for (size_t s = 0; s < v->nr; s++)
			free(v->slots[s].entries);
		for (size_t s = 0; s < v->nr_spans; s++)
			free(v->spans[s].entries);
		free(v->slots);
		free(v->spans);
	}
	HASH_ITER (hh, n->known, k, next) {
		HASH_DEL(n->known, k);
		free(k);
	}
	free(n->vicinities);
	free(n->who_of);
	free(n->scratch);
	free(n->enabled_ns);
	free(n->running_ns);
	free(n);
}

/* --- slots */

static int by_who(const void *a, const void *b)
{
	const struct neighbour_entry *x = a, *y = b;

	return x->who < y->who ? -1 : x->who > y->who;
}

void neighbours_slot_merge(struct slot *s)
{
	size_t kept = 0;

	if (s->merged == s->nr)
		return;
	qsort(s->entries, s->nr, sizeof(*s->entries), by_who);
	for (size_t i = 0; i < s->nr; i++) {
		struct neighbour_entry *to = kept ? &s->entries[kept - 1] : NULL;

		if (!to || to->who != s->entries[i].who) {
			s->entries[kept++] = s->entries[i];
			continue;
		}
		to->bytes += s->entries[i].bytes;
		to->linked += s->entries[i].linked;
	}
	s->nr = s->merged = kept;
}

static int slot_add(struct vicinity *v, struct slot *s, const struct neighbour_entry *e,
		    double part)
{
	/* Now and then, so that they are never more than twice as many as needed. */
	if (s->nr >= 2 * s->merged + 64) {
		v->nr_entries -= s->nr;
		neighbours_slot_merge(s);
		v->nr_entries += s->nr;
	}
	if (array_reserve(s->entries, s->cap, s->nr))
		return -ENOMEM;
	s->entries[s->nr++] = (struct neighbour_entry){ e->who, e->bytes * part, e->linked * part };
	v->nr_entries++;
	return 0;
}

/* Puts the second slot into the first; false when there is no memory: nothing is changed. */
static bool slot_join(struct slot *to, struct slot *from)
{
	struct neighbour_entry *both =
		reallocarray(to->entries, to->nr + from->nr + 1, sizeof(*both));

	if (!both)
		return false;
	memcpy(both + to->nr, from->entries, from->nr * sizeof(*both));
	to->entries = both;
	to->nr += from->nr;
	to->cap = to->nr + 1;
	to->merged = 0;
	to->end_ns = from->end_ns;
	to->length_ns += from->length_ns;
	to->covered_ns += from->covered_ns;
	to->samples += from->samples;
	to->sums.outstanding += from->sums.outstanding;
	to->sums.requests += from->sums.requests;
	to->sums.cycles += from->sums.cycles;
	to->sums.enabled_ns += from->sums.enabled_ns;
	free(from->entries);
	neighbours_slot_merge(to);
	return true;
}

/* Each two slots become one. */
static int halve(struct vicinity *v)
{
	size_t kept = 0;
	bool ok = true;

	v->nr_entries = 0;
	for (size_t i = 0; i < v->nr; i++) {
		struct slot s = v->slots[i];

		if (ok && i + 1 < v->nr) {
			ok = slot_join(&s, &v->slots[i + 1]);
			i += ok;
		}
		v->nr_entries += s.nr;
		v->slots[kept++] = s;
	}
	v->nr = kept;
	v->per_slot *= 2;
	return ok ? 0 : -ENOMEM;
}

static int bound(const struct neighbours *n, struct vicinity *v)
{
	int err = v->nr >= NEIGHBOURS_MAX_SLOTS ? halve(v) : 0;

	if (v->nr_entries <= n->max_entries)
		return err;
	v->nr_entries = 0;
	for (size_t i = 0; i < v->nr; i++) {
		neighbours_slot_merge(&v->slots[i]);
		v->nr_entries += v->slots[i].nr;
	}
	while (!err && v->nr_entries > n->max_entries / 2 && v->nr > MIN_SLOTS)
		err = halve(v);
	return err;
}

/* Gives a span to the slots it touches; the time after all of them stays in it. */
static int give(struct vicinity *v, struct neighbour_span *span)
{
	uint64_t last = v->nr ? v->slots[v->nr - 1].end_ns : 0;
	size_t at = array_place(v->nr, i, v->slots[i].end_ns <= span->from_ns);
	int err = 0;

	for (; at < v->nr && v->slots[at].start_ns < span->end_ns && !err; at++) {
		struct slot *s = &v->slots[at];
		uint64_t from = span->from_ns > s->start_ns ? span->from_ns : s->start_ns;
		uint64_t to = span->end_ns < s->end_ns ? span->end_ns : s->end_ns;
		double part = (double)(to - from) / (span->end_ns - span->start_ns);

		if (span->cover)
			s->covered_ns += to - from;
		for (size_t i = 0; i < span->nr && !err; i++)
			err = slot_add(v, s, &span->entries[i], part);
	}
	if (last > span->from_ns)
		span->from_ns = last < span->end_ns ? last : span->end_ns;
	return err;
}

/* --- spans: windows that wait for their sample */

/* All of them: a window without some of its counters would be wrong, not just missing. */
static void drop_spans(struct vicinity *v)
{
	for (size_t i = 0; i < v->nr_spans; i++)
		free(v->spans[i].entries);
	v->nr_spans = v->nr_waiting = 0;
}

/* The scratch entries are of one window: to the slots, and the rest waits. */
static int take(struct neighbours *n, struct vicinity *v, const struct trace_window *w, bool cover)
{
	struct neighbour_span span = { .start_ns = w->start_ns,
				       .end_ns = w->end_ns,
				       .from_ns = w->start_ns,
				       .cover = cover,
				       .entries = n->scratch,
				       .nr = n->nr_scratch };
	int err = give(v, &span);

	if (err || span.from_ns == span.end_ns)
		return err;
	if (v->nr_waiting + v->nr_spans > n->max_waiting)
		drop_spans(v);
	if (array_reserve(v->spans, v->cap_spans, v->nr_spans))
		return -ENOMEM;
	span.entries = NULL;
	if (span.nr) {
		span.entries = malloc(span.nr * sizeof(*span.entries));
		if (!span.entries)
			return -ENOMEM;
		memcpy(span.entries, n->scratch, span.nr * sizeof(*span.entries));
	}
	v->spans[v->nr_spans++] = span;
	v->nr_waiting += span.nr;
	return 0;
}

static int give_waiting(struct vicinity *v)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < v->nr_spans; i++) {
		struct neighbour_span *s = &v->spans[i];

		if (!err)
			err = give(v, s);
		if (s->from_ns < s->end_ns) {
			v->spans[kept++] = *s;
			continue;
		}
		v->nr_waiting -= s->nr;
		free(s->entries);
	}
	v->nr_spans = kept;
	return err;
}

/* --- events */

static bool last_is_full(const struct vicinity *v)
{
	return !v->nr || v->slots[v->nr - 1].samples >= v->per_slot;
}

static int add_sample(const struct neighbours *n, struct vicinity *v,
		      const struct trace_sample *sample)
{
	int err = last_is_full(v) ? bound(n, v) : 0;
	struct slot *s;

	if (err)
		return err;
	/* Slots may be longer now, and the last one not full. */
	if (last_is_full(v)) {
		if (array_reserve(v->slots, v->cap, v->nr))
			return -ENOMEM;
		v->slots[v->nr++] = (struct slot){ .start_ns = sample->start_ns };
	}
	s = &v->slots[v->nr - 1];
	s->end_ns = sample->end_ns;
	s->length_ns += sample->end_ns - sample->start_ns;
	s->samples++;
	latency_add(&s->sums, sample, 1);
	return give_waiting(v);
}

int neighbours_sample(struct neighbours *n, const struct trace_sample *s)
{
	for (size_t i = 0; i < n->nr; i++) {
		struct vicinity *v = &n->vicinities[i];

		if (v->probe != s->probe)
			continue;
		assert(v->end_ns <= s->start_ns);
		v->end_ns = s->end_ns;
		return add_sample(n, v, s);
	}
	return 0;
}

static int known_row(struct neighbours *n, uint32_t row, uint32_t *ret)
{
	char key[MODEL_KEY_LEN] = "";
	struct known *k;

	n->names.key(n->names.arg, row, key);
	HASH_FIND_STR(n->known, key, k);
	if (!k && n->next == POOL_ROW) {
		*ret = POOL_ROW;
		return 0;
	}
	if (!k) {
		k = calloc(1, sizeof(*k));
		if (!k)
			return -ENOMEM;
		memcpy(k->key, key, sizeof(k->key));
		k->who = n->next;
		HASH_ADD_STR(n->known, key, k);
		if (!k->hh.tbl) {
			free(k);
			return -ENOMEM;
		}
		n->next++;
	}
	*ret = k->who;
	return 0;
}

static int who_is(struct neighbours *n, uint32_t workload, uint32_t *ret)
{
	uint32_t row;
	int err;

	if (workload == WORKLOAD_BACKGROUND || workload == WORKLOAD_LOST) {
		*ret = workload == WORKLOAD_LOST ? REASON_LOST : REASON_BACKGROUND;
		return 0;
	}
	err = n->names.row(n->names.arg, workload, &row);
	if (err)
		return err;
	if (row == SPLIT_NO_ROW) {
		*ret = REASON_OTHER;
		return 0;
	}
	while (row >= n->nr_who) {
		if (array_reserve(n->who_of, n->cap_who, n->nr_who))
			return -ENOMEM;
		n->who_of[n->nr_who++] = 0;
	}
	if (!n->who_of[row])
		err = known_row(n, row, &n->who_of[row]);
	*ret = n->who_of[row];
	return err;
}

static int on_window(void *arg, const struct trace_window *w)
{
	struct neighbours *n = arg;
	const struct group *g = &n->header->layout.groups[w->group];
	size_t size = n->header->layout.nr_counters * sizeof(*n->enabled_ns);
	bool counted = false;
	int err = 0;

	if (n->in_bytes) {
		memset(n->enabled_ns, 0, size);
		memset(n->running_ns, 0, size);
		n->in_bytes = false;
	}
	for (uint32_t i = 0; i < g->nr; i++) {
		/* Its bytes are in no window, so its time is in none. */
		if (!w->readings[i].running_ns)
			continue;
		n->enabled_ns[g->first + i] += w->readings[i].enabled_ns;
		n->running_ns[g->first + i] += w->readings[i].running_ns;
		counted = true;
	}
	n->nr_scratch = 0;
	for (size_t i = 0; i < n->nr && counted && !err; i++)
		if (n->vicinities[i].group == w->group)
			err = take(n, &n->vicinities[i], w, true);
	return err;
}

/* Does the counter weigh the probe's latency? */
static bool is_linked(const struct neighbours *n, uint32_t probe, uint32_t counter)
{
	size_t nr, first = links_of(n->links, probe, &nr);

	for (size_t i = first; i < first + nr; i++)
		if (n->links->items[i].counter == counter)
			return true;
	return false;
}

static int on_bytes(void *arg, uint32_t counter, const struct trace_window *w, uint64_t bytes,
		    const struct portion *p, size_t nr)
{
	struct neighbours *n = arg;
	const struct portion nobody = { 0, bytes };
	uint64_t enabled = n->enabled_ns[counter], running = n->running_ns[counter];
	double scale = running && running < enabled ? (double)enabled / running : 1;
	uint32_t socket = n->header->layout.groups[w->group].socket;
	int err = 0;

	/* The socket's counters have these bytes, too; and energy is no traffic. */
	if (n->header->layout.counters[counter].device ||
	    n->header->layout.counters[counter].unit != UNIT_BYTES)
		return 0;
	n->in_bytes = true;
	n->nr_scratch = 0;
	for (size_t i = 0; i < (nr ? nr : 1) && !err; i++) {
		const struct portion *one = nr ? &p[i] : &nobody;
		uint32_t who = reason_unsplit(&n->header->layout.counters[counter]);

		if (!one->bytes)
			continue;
		if (nr)
			err = who_is(n, one->workload, &who);
		if (!err && array_reserve(n->scratch, n->cap_scratch, n->nr_scratch))
			err = -ENOMEM;
		if (!err)
			n->scratch[n->nr_scratch++] =
				(struct neighbour_entry){ who, one->bytes * scale, 0 };
	}
	for (size_t i = 0; i < n->nr && !err && n->nr_scratch; i++) {
		struct vicinity *v = &n->vicinities[i];
		bool linked;

		if (v->socket != socket)
			continue;
		linked = is_linked(n, v->probe, counter);
		for (size_t k = 0; k < n->nr_scratch; k++)
			n->scratch[k].linked = linked ? n->scratch[k].bytes : 0;
		err = take(n, v, w, false);
	}
	return err;
}

struct split_sink neighbours_split(struct neighbours *n)
{
	return (struct split_sink){ .window = on_window, .bytes = on_bytes, .arg = n };
}

void neighbours_close(struct neighbours *n)
{
	n->nr_who = 0;
}
