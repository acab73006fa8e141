// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* At the end of a run: finds high samples, and the rows that moved more in them. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "engine/latency/neighbours_internal.h"

/* Windows must tell of this part of a sample's time. */
#define MIN_COVERED 0.5
/* A bandwidth that changed by less than this part did not change. */
#define MIN_CHANGE  0.05

enum mood { CALM, RISEN, NR_MOODS };

/* Sums over samples of one mood: @x and @xx are of bytes per second and its square. */
struct over {
	double bytes;
	double x;
	double xx;
	double linked;
	double linked_ns;
	size_t active;
	size_t observed;
};

/* All that is known of a row or reason beside one probe. */
struct neighbour_tally {
	struct over of[NR_MOODS];
};

/* The samples of a probe that can be used, by mood. */
struct moods {
	const struct slot **slots;
	double *ns;
	enum mood *is;
	size_t nr;
	size_t count[NR_MOODS];
	size_t episodes[NR_MOODS]; /* runs of samples of one mood */
	size_t few;		   /* other samples, with too few requests */
	double time[NR_MOODS];	   /* seconds that windows cover */
};

static void moods_free(struct moods *m)
{
	free(m->slots);
	free(m->ns);
	free(m->is);
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int choose_slots(const struct vicinity *v, struct moods *m)
{
	m->slots = calloc(v->nr + 1, sizeof(*m->slots));
	m->ns = calloc(v->nr + 1, sizeof(*m->ns));
	m->is = calloc(v->nr + 1, sizeof(*m->is));
	if (!m->slots || !m->ns || !m->is)
		return -ENOMEM;
	for (size_t i = 0; i < v->nr; i++) {
		const struct slot *s = &v->slots[i];
		double cycles;

		if (!latency_mean(&s->sums, &cycles, &m->ns[m->nr]) ||
		    s->sums.requests < NEIGHBOURS_MIN_REQUESTS) {
			m->few++;
			continue;
		}
		if (s->covered_ns < MIN_COVERED * s->length_ns)
			continue;
		m->slots[m->nr++] = s;
	}
	return 0;
}

/* The lower quartile is calm, also if it is calm in a quarter of the time only. */
static int find_moods(const struct vicinity *v, double rise, struct moods *m,
		      struct neighbourhood *ret)
{
	cleanup_free double *sorted = calloc(m->nr + 1, sizeof(*sorted));
	double sum[NR_MOODS] = { 0 };

	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, m->ns, m->nr * sizeof(*sorted));
	qsort(sorted, m->nr, sizeof(*sorted), by_value);
	ret->baseline_ns = m->nr ? sorted[(m->nr - 1) / 4] : 0;
	ret->limit_ns = ret->baseline_ns * (1 + rise);
	for (size_t i = 0; i < m->nr; i++) {
		enum mood is = m->ns[i] >= ret->limit_ns ? RISEN : CALM;

		m->is[i] = is;
		m->count[is]++;
		*(is == RISEN ? &ret->risen_ns : &ret->calm_ns) += m->slots[i]->covered_ns;
		m->episodes[is] += !i || m->is[i - 1] != is;
		sum[is] += m->ns[i];
	}
	ret->samples = m->nr;
	ret->unusable = v->nr - m->nr;
	ret->few = m->few;
	ret->merged = v->per_slot;
	ret->calm_samples = m->count[CALM];
	ret->risen_samples = m->count[RISEN];
	ret->episodes = m->episodes[RISEN];
	m->time[CALM] = ret->calm_ns / 1e9;
	m->time[RISEN] = ret->risen_ns / 1e9;
	ret->calm_latency_ns = m->count[CALM] ? sum[CALM] / m->count[CALM] : 0;
	ret->risen_latency_ns = m->count[RISEN] ? sum[RISEN] / m->count[RISEN] : 0;
	ret->enough = m->count[CALM] >= NEIGHBOURS_MIN_SAMPLES &&
		      m->count[RISEN] >= NEIGHBOURS_MIN_SAMPLES;
	return 0;
}

/* Adds up entries by @target of their rows. */
static void add_up(const struct moods *m, const uint32_t *target, struct neighbour_tally *tallies)
{
	for (size_t i = 0; i < m->nr; i++) {
		const struct slot *s = m->slots[i];
		double seconds = s->covered_ns / 1e9;

		for (size_t k = 0; k < s->nr; k++) {
			const struct neighbour_entry *e = &s->entries[k];
			struct over *o = &tallies[target[e->who]].of[m->is[i]];
			double x = e->bytes / seconds;

			o->bytes += e->bytes;
			o->x += x;
			o->xx += x * x;
			o->linked += e->linked;
			o->linked_ns += e->linked * m->ns[i];
			o->active += e->bytes > 0;
			o->observed += e->linked > 0;
		}
	}
}

/* Square of the standard error of a mean bandwidth. */
static double error_square(const struct moods *m, const struct over *o, enum mood is)
{
	double n = m->count[is], mean = o->x / n, square = (o->xx - n * mean * mean) / (n - 1);

	return square > 0 ? square / m->episodes[is] : 0;
}

static double mean_of(const struct over *o)
{
	return o->linked > 0 ? o->linked_ns / o->linked : 0;
}

static enum neighbour_role role_of(const struct neighbour *n, double socket)
{
	bool changed = n->increase > n->error && n->increase > MIN_CHANGE * n->calm;

	if (changed)
		return n->increase >= NEIGHBOURS_MIN_SHARE * socket ? NEIGHBOUR_ROSE
								    : NEIGHBOUR_NONE;
	return n->row && n->observed >= NEIGHBOURS_MIN_SAMPLES ? NEIGHBOUR_VICTIM : NEIGHBOUR_NONE;
}

static struct neighbour judge(const struct moods *m, const struct neighbour_tally *t,
			      const struct neighbourhood *h)
{
	const struct over *calm = &t->of[CALM], *risen = &t->of[RISEN];
	struct neighbour n = {
		.calm = calm->bytes / m->time[CALM],
		.risen = risen->bytes / m->time[RISEN],
		.error = 2 * sqrt(error_square(m, calm, CALM) + error_square(m, risen, RISEN)),
		.active = risen->active,
		.observed = risen->observed,
		.observed_calm = mean_of(calm),
		.observed_risen = mean_of(risen),
	};

	n.increase = n.risen - n.calm;
	n.share = h->risen > 0 ? n.risen / h->risen : 0;
	return n;
}

static int by_increase(const void *a, const void *b)
{
	const struct neighbour *x = a, *y = b;

	if (x->increase != y->increase)
		return x->increase < y->increase ? 1 : -1;
	if (x->row && y->row)
		return x->row < y->row ? -1 : x->row > y->row;
	return !x->row - !y->row;
}

/* The first tallies are of reasons, then one a row of the summary. */
static int judge_all(const struct moods *m, const struct neighbour_tally *tallies,
		     const struct report *summary, struct neighbourhood *h)
{
	size_t nr = NR_REASONS + summary->nr_rows;

	h->rows = calloc(nr + 1, sizeof(*h->rows));
	if (!h->rows)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		h->calm += tallies[i].of[CALM].bytes / m->time[CALM];
		h->risen += tallies[i].of[RISEN].bytes / m->time[RISEN];
	}
	for (size_t i = 0; i < nr; i++) {
		struct neighbour *n = &h->rows[h->nr];

		if (tallies[i].of[CALM].bytes <= 0 && tallies[i].of[RISEN].bytes <= 0)
			continue;
		*n = judge(m, &tallies[i], h);
		if (i < NR_REASONS)
			n->reason = i;
		else
			n->row = &summary->rows[i - NR_REASONS];
		n->role = role_of(n, h->risen);
		h->nr++;
	}
	qsort(h->rows, h->nr, sizeof(*h->rows), by_increase);
	return 0;
}

static int compare(const struct neighbours *n, const struct vicinity *v, double rise,
		   const uint32_t *target, const struct report *summary, struct neighbourhood *ret)
{
	cleanup_free struct neighbour_tally *tallies =
		calloc(NR_REASONS + summary->nr_rows + 1, sizeof(*tallies));
	struct moods m = { 0 };
	int err = tallies ? choose_slots(v, &m) : -ENOMEM;

	ret->probe = &n->header->probes[v->probe];
	if (!err)
		err = find_moods(v, rise, &m, ret);
	if (!err && ret->enough) {
		for (size_t i = 0; i < v->nr; i++)
			neighbours_slot_merge(&v->slots[i]);
		add_up(&m, target, tallies);
		err = judge_all(&m, tallies, summary, ret);
	}
	moods_free(&m);
	return err;
}

/* "cgroup:7" and "cgroup:7:own" are the same cgroup's own tasks; the same goes for jobs. */
static void plain_key(const char *key, char ret[MODEL_KEY_LEN])
{
	char *own;

	memcpy(ret, key, MODEL_KEY_LEN);
	own = strstr(ret, ":own");
	if (own)
		*own = '\0';
}

static bool is_pool(const struct report_row *row)
{
	if (row->kind == ROW_JOB)
		return !strcmp(row->key, "job:pooled");
	return row->leaf && !(row->kind == ROW_CGROUP ? row->cgroup_id : row->pid);
}

/*
 * The tally of each number: a reason's own, or that of the row with the key. Rows that
 * the summary has pooled, or that we have, are in its pool, if there is one.
 */
static int find_targets(const struct neighbours *n, const struct report *summary, uint32_t **ret)
{
	uint32_t *target = calloc(POOL_ROW + 1, sizeof(*target)), pool = REASON_LOST;
	char key[MODEL_KEY_LEN];
	struct known *k;

	if (!target)
		return -ENOMEM;
	for (size_t i = 0; i < summary->nr_rows; i++) {
		const struct report_row *row = &summary->rows[i];

		if (is_pool(row))
			pool = NR_REASONS + i;
	}
	for (uint32_t i = 0; i <= POOL_ROW; i++)
		target[i] = i < NR_REASONS ? i : pool;
	for (size_t i = 0; i < summary->nr_rows; i++) {
		if (!summary->rows[i].leaf)
			continue;
		plain_key(summary->rows[i].key, key);
		HASH_FIND_STR(n->known, key, k);
		if (k)
			target[k->who] = NR_REASONS + i;
	}
	*ret = target;
	return 0;
}

/* The scarcer kind of samples decides. */
static size_t scarce(const struct neighbourhood *h)
{
	return h->calm_samples < h->risen_samples ? h->calm_samples : h->risen_samples;
}

int neighbours_progress(const struct neighbours *n, double rise, struct neighbourhood *ret)
{
	*ret = (struct neighbourhood){ 0 };
	for (size_t i = 0; i < n->nr; i++) {
		const struct vicinity *v = &n->vicinities[i];
		struct neighbourhood h = { .probe = &n->header->probes[v->probe] };
		struct moods m = { 0 };
		int err = choose_slots(v, &m);

		if (!err)
			err = find_moods(v, rise, &m, &h);
		moods_free(&m);
		if (err)
			return err;
		if (!ret->probe || scarce(&h) > scarce(ret) ||
		    (scarce(&h) == scarce(ret) && h.samples > ret->samples))
			*ret = h;
	}
	return 0;
}

int neighbours_report(const struct neighbours *n, double rise, struct report *summary,
		      struct neighbours_report **ret)
{
	struct neighbours_report *r = calloc(1, sizeof(*r));
	cleanup_free uint32_t *target = NULL;
	int err = r ? find_targets(n, summary, &target) : -ENOMEM;

	if (!err) {
		r->rise = rise;
		r->probes = calloc(n->nr + 1, sizeof(*r->probes));
		err = r->probes ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < n->nr && !err; i++)
		err = compare(n, &n->vicinities[i], rise, target, summary, &r->probes[r->nr++]);
	if (err) {
		neighbours_report_free(r);
		return err;
	}
	r->summary = summary;
	*ret = r;
	return 0;
}

void neighbours_report_free(struct neighbours_report *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->nr; i++)
		free(r->probes[i].rows);
	free(r->probes);
	report_free(r->summary);
	free(r);
}
