// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "daemon/spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "base/text.h"
#include "base/times.h"

/* What a job had when the span began; @written: it has a part in the span */
struct span_base {
	char key[sizeof(((struct account_job *)NULL)->key)];
	uint64_t intervals;
	uint64_t covered_ns;
	uint64_t gap_ns;
	struct account_part whole;
	bool written;
	UT_hash_handle hh;
};

static void free_jobs(struct span_base **jobs)
{
	struct span_base *b, *next;

	HASH_ITER (hh, *jobs, b, next) {
		HASH_DEL(*jobs, b);
		account_part_release(&b->whole);
		free(b);
	}
}

static int note_job(void *arg, const struct account_job *j)
{
	struct span_base **jobs = arg, *b = calloc(1, sizeof(*b));

	if (!b || account_part_copy(&j->whole, &b->whole)) {
		free(b);
		return -ENOMEM;
	}
	str_copy(b->key, sizeof(b->key), j->key);
	b->intervals = j->intervals;
	b->covered_ns = j->covered_ns;
	b->gap_ns = j->gap_ns;
	HASH_ADD_STR(*jobs, key, b);
	if (b->hh.tbl)
		return 0;
	account_part_release(&b->whole);
	free(b);
	return -ENOMEM;
}

int spans_begin(struct spans *h, struct accounts *a, uint64_t number)
{
	struct span_base *jobs = NULL;
	struct accounts_node node;
	int err = accounts_node_copy(accounts_node(a), &node);

	if (err)
		return err;
	err = accounts_each(a, note_job, &jobs);
	if (err) {
		free_jobs(&jobs);
		accounts_node_release(&node);
		return err;
	}
	/* Where the last one ended: the clock has not been asked since. */
	h->start_ns = h->on ? node.until_ns : 0;
	free_jobs(&h->jobs);
	accounts_node_release(&h->node);
	h->on = true;
	h->number = number;
	h->node = node;
	h->jobs = jobs;
	return 0;
}

void spans_end(struct spans *h)
{
	free_jobs(&h->jobs);
	accounts_node_release(&h->node);
	accounts_node_release(&h->piece);
	*h = (struct spans){ 0 };
}

int spans_put(struct spans *h, struct store *s, const struct accounts_node *n, uint64_t length_ns,
	      struct diag *d)
{
	int err;

	accounts_node_release(&h->piece);
	h->piece = (struct accounts_node){ 0 };
	err = accounts_node_since(n, &h->node, &h->piece);
	if (err)
		return diag_no_memory(d);
	if (!h->start_ns)
		h->start_ns = n->until_ns - h->piece.covered_ns;
	h->now = (struct store_span){
		.number = h->number,
		.start_ns = h->start_ns,
		.end_ns = later(n->until_ns, h->start_ns),
		.length_ns = length_ns,
		.piece = &h->piece,
	};
	return store_span(s, &h->now, d);
}

/* Nothing in it, and nothing happened to the job: no part says just that. */
static bool says_nothing(const struct account_job *piece, bool known, bool over)
{
	return known && account_part_empty(&piece->whole) && !piece->gap_ns &&
	       !(over && piece->covered_ns);
}

int spans_put_job(struct spans *h, struct store *s, const struct account_job *j, struct diag *d)
{
	static const struct account_part none;
	bool over = j->state != ACCOUNT_RUNNING, nothing;
	struct store_job_span part = { .span = &h->now, .key = j->key, .over = over };
	struct account_job piece = { 0 };
	struct span_base *b;
	int err;

	HASH_FIND_STR(h->jobs, j->key, b);
	if (account_part_since(&j->whole, b ? &b->whole : &none, &piece.whole))
		return diag_no_memory(d);
	piece.intervals = j->intervals - (b ? b->intervals : 0);
	piece.covered_ns = j->covered_ns - (b ? b->covered_ns : 0);
	piece.gap_ns = j->gap_ns - (b ? b->gap_ns : 0);
	if (b)
		piece.whole.start_ns = h->start_ns;
	/* The clock may have been set back since. */
	piece.whole.end_ns = later(piece.whole.end_ns, piece.whole.start_ns);
	nothing = says_nothing(&piece, b, over);
	part.piece = nothing ? NULL : &piece;
	err = nothing && !over ? 0 : store_job_span(s, &part, d);
	if (b && !nothing)
		b->written = true;
	account_job_release(&piece);
	return err;
}

int spans_put_rest(struct spans *h, struct store *s, const struct account_job *j, struct diag *d)
{
	struct span_base *b;

	if (j->state != ACCOUNT_RUNNING)
		return 0;
	HASH_FIND_STR(h->jobs, j->key, b);
	return b && !b->written ? 0 : spans_put_job(h, s, j, d);
}

bool spans_full(const struct spans *h, const struct accounts_node *n, uint64_t length_ns)
{
	return h->on && n->covered_ns - h->node.covered_ns >= length_ns;
}
