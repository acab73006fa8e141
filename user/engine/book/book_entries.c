// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rows of a book and their entries: found, made, dropped and named. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/digits.h"
#include "engine/book/book_rows.h"

/* All zero; in the memory of a row of the interval before, if one is left. */
static struct book_row *row_new(struct book *b)
{
	size_t size = sizeof(struct book_row) + b->nr_places * sizeof(struct entry_share) +
		      b->nr_links * sizeof(struct entry_seen);
	struct book_row *row = b->spare;

	if (!row)
		return calloc(1, size);
	b->spare = row->hh.next;
	memset(row, 0, size);
	return row;
}

/* @hash: of the key */
static int get_row(struct book *b, const struct book_key *key, unsigned int hash,
		   struct book_row **ret)
{
	struct book_row *row;

	HASH_FIND_BYHASHVALUE(hh, b->rows, key, sizeof(*key), hash, row);
	if (!row) {
		row = row_new(b);
		if (!row)
			return -ENOMEM;
		row->key = *key;
		row->seen = (struct entry_seen *)&row->shares[b->nr_places];
		HASH_ADD_BYHASHVALUE(hh, b->rows, key, sizeof(row->key), hash, row);
		if (!row->hh.tbl) {
			free(row);
			return -ENOMEM;
		}
	}
	*ret = row;
	return 0;
}

int book_row_get(struct book *b, const struct book_key *key, struct book_row **ret)
{
	unsigned int hash;

	HASH_VALUE(key, sizeof(*key), hash);
	return get_row(b, key, hash, ret);
}

int book_row_get_same(struct book *b, const struct book_row *row, struct book_row **ret)
{
	return get_row(b, &row->key, row->hh.hashv, ret);
}

static void row_empty(struct book_row *row)
{
	free(row->path);
	row_job_release(row->job);
	free(row->tangled);
	free(row->device_shares);
	free(row->io);
}

void book_row_delete(struct book *b, struct book_row *row)
{
	HASH_DEL(b->rows, row);
	row_empty(row);
	free(row);
}

static void free_spare(struct book *b)
{
	while (b->spare) {
		struct book_row *row = b->spare;

		b->spare = row->hh.next;
		free(row);
	}
}

void book_rows_clear(struct book *b)
{
	free_spare(b);
	for (struct book_row *row = b->rows; row; row = row->hh.next)
		row_empty(row);
	b->spare = b->rows;
	HASH_CLEAR(hh, b->rows);
}

void book_rows_free(struct book *b)
{
	book_rows_clear(b);
	free_spare(b);
}

/* Where the entry of a counter is, or would be. */
static size_t device_share_at(const struct book_row *row, uint32_t counter)
{
	return array_place(row->nr_device_shares, i, row->device_shares[i].counter < counter);
}

struct device_share *book_device_share(const struct book_row *row, uint32_t counter)
{
	size_t at = device_share_at(row, counter);

	if (at == row->nr_device_shares || row->device_shares[at].counter != counter)
		return NULL;
	return &row->device_shares[at];
}

struct entry_share *book_share(const struct book *b, const struct book_row *row, uint32_t counter)
{
	struct device_share *s;

	if (b->roles[counter] == ROLE_MEMORY)
		return (struct entry_share *)&row->shares[b->places[counter]];
	s = book_device_share(row, counter);
	return s ? &s->share : NULL;
}

int book_device_share_get(struct book_row *row, uint32_t counter, struct device_share **ret)
{
	size_t at = device_share_at(row, counter);
	struct device_share *s;

	if (at == row->nr_device_shares || row->device_shares[at].counter != counter) {
		if (array_reserve(row->device_shares, row->cap_device_shares,
				  row->nr_device_shares))
			return -ENOMEM;
		s = &row->device_shares[at];
		memmove(s + 1, s, (row->nr_device_shares++ - at) * sizeof(*s));
		*s = (struct device_share){ .counter = counter };
	}
	*ret = &row->device_shares[at];
	return 0;
}

int book_share_get(const struct book *b, struct book_row *row, uint32_t counter,
		   struct entry_share **ret)
{
	struct device_share *s;
	int err;

	if (b->roles[counter] == ROLE_MEMORY) {
		*ret = &row->shares[b->places[counter]];
		return 0;
	}
	err = book_device_share_get(row, counter, &s);
	if (!err)
		*ret = &s->share;
	return err;
}

int book_io_get(struct book_row *row, uint32_t device, struct book_device_io **ret)
{
	size_t at = 0;
	struct book_device_io *io;

	while (at < row->nr_io && row->io[at].device < device)
		at++;
	if (at == row->nr_io || row->io[at].device != device) {
		if (array_reserve(row->io, row->cap_io, row->nr_io))
			return -ENOMEM;
		io = &row->io[at];
		memmove(io + 1, io, (row->nr_io++ - at) * sizeof(*io));
		*io = (struct book_device_io){ .device = device };
	}
	*ret = &row->io[at];
	return 0;
}

int book_row_tangle(struct book_row *row, const struct book_key *other)
{
	for (size_t i = 0; i < row->nr_tangled; i++)
		if (!memcmp(&row->tangled[i], other, sizeof(*other)))
			return 0;
	if (row->nr_tangled == BOOK_MAX_TANGLED)
		return 0;
	if (array_reserve(row->tangled, row->cap_tangled, row->nr_tangled))
		return -ENOMEM;
	row->tangled[row->nr_tangled++] = *other;
	if (row->nr_tangled > row->nr_tangled_all)
		row->nr_tangled_all = row->nr_tangled;
	return 0;
}

static void job_key(const struct book *b, const struct book_key *key, char *ret)
{
	const struct book_row *row;
	const char *step;

	if (!key->cgroup_id) {
		snprintf(ret, MODEL_KEY_LEN, "job:%s",
			 key->start_ns == BOOK_NO_JOB ? "none" : "pooled");
		return;
	}
	/* Without its row, the step is not known: the job says as much as there is to say. */
	HASH_FIND(hh, b->rows, key, sizeof(*key), row);
	step = row && row->job ? row->job->step : "";
	ret = put_digits(stpcpy(ret, "job:"), key->cgroup_id);
	if (*step)
		stpcpy(stpcpy(ret, ":"), step);
}

_Static_assert(MODEL_KEY_LEN > sizeof("cgroup:") + 2 * DIGITS_MAX, "two numbers, and a word");
_Static_assert(MODEL_KEY_LEN > sizeof("job::") + DIGITS_MAX + JOB_STEP_LEN, "a number and a step");

void book_row_key(const struct book *b, const struct book_key *key, char *ret)
{
	if (b->scope.by == ROW_JOB) {
		job_key(b, key, ret);
	} else if (b->scope.by == ROW_CGROUP) {
		put_digits(stpcpy(ret, "cgroup:"), key->cgroup_id);
	} else {
		ret = put_digits(stpcpy(ret, b->scope.by == ROW_THREAD ? "tid:" : "pid:"),
				 key->pid);
		*ret++ = ':';
		put_digits(ret, key->start_ns);
	}
}

uint64_t book_of_bytes(const struct book *b, const struct report_row *row, uint32_t probe)
{
	uint64_t sum = 0;

	for (size_t k = 0; k < b->nr_links; k++)
		for (size_t i = 0; b->scope.links->items[k].probe == probe && i < row->nr_shares;
		     i++)
			if (row->shares[i].counter == b->scope.links->items[k].counter)
				sum += row->shares[i].value;
	return sum;
}
