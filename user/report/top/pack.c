// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/top/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A text with its NUL; NULL is kept apart from "". */
static void pack_text(struct bytes *p, const char *text, size_t max)
{
	size_t length = text ? strnlen(text, max) : 0;

	bytes_put(p, text ? length + 1 : 0);
	if (text) {
		bytes_put_raw(p, text, length);
		bytes_put_raw(p, "", 1);
	}
}

uint64_t unpack_number(struct bytes_in *u)
{
	uint64_t value = bytes_get(u);

	if (u->err)
		abort();
	return value;
}

void unpack_raw(struct bytes_in *u, void *to, size_t size)
{
	const void *from = bytes_get_raw(u, size);

	if (!from)
		abort();
	memcpy(to, from, size);
}

const char *unpack_text(struct bytes_in *u)
{
	uint64_t size = unpack_number(u);

	return size ? bytes_get_raw(u, size) : NULL;
}

/* Up to 256 exact; then 128 steps for each power of two. */
uint64_t pack_rounded(uint64_t value)
{
	unsigned int shift;
	uint64_t steps;

	if (value <= 256)
		return value;
	shift = 64 - 8 - (unsigned int)__builtin_clzll(value);
	steps = (value >> shift) + !!(value & ((1ull << shift) - 1));
	return 256 + (shift - 1) * 128ull + (steps - 128);
}

uint64_t unpack_rounded(uint64_t code)
{
	unsigned int shift;
	uint64_t steps;

	if (code <= 256)
		return code;
	shift = (unsigned int)((code - 256) / 128) + 1;
	steps = (code - 256) % 128 + 128;
	return shift > 56 ? UINT64_MAX : steps << shift;
}

/* --- identities */

static void pack_job(struct bytes *w, const struct row_job *j)
{
	bytes_put(w, j ? 1 : 0);
	if (!j)
		return;
	bytes_put(w, j->scheduler);
	bytes_put(w, j->cgroup_id);
	bytes_put(w, j->provisional | j->made << 1);
	bytes_put(w, j->owner);
	pack_text(w, j->id, sizeof(j->id));
	pack_text(w, j->step, sizeof(j->step));
	pack_text(w, j->name, sizeof(j->name));
	pack_text(w, j->user, sizeof(j->user));
}

void pack_who(struct bytes *w, const struct report_row *r, size_t *ret_key)
{
	w->nr = 0;
	bytes_put(w, r->kind);
	bytes_put(w, r->leaf | r->comm_known << 1 | r->kernel << 2);
	bytes_put(w, r->pid);
	bytes_put(w, r->tid);
	bytes_put(w, r->start_ns);
	bytes_put(w, r->cgroup_id);
	*ret_key = w->nr;
	pack_text(w, r->key, sizeof(r->key));
	pack_text(w, r->parent, sizeof(r->parent));
	pack_text(w, r->comm, sizeof(r->comm));
	pack_text(w, r->cgroup, SIZE_MAX);
	pack_job(w, r->job);
}

static void copy_text(char *to, size_t size, const char *from)
{
	size_t length = strlen(from);

	memcpy(to, from, length < size ? length + 1 : size);
}

static struct row_job *unpack_job(struct bytes_in *u, int *err)
{
	struct row_job *j;
	uint64_t flags;

	if (!unpack_number(u))
		return NULL;
	j = calloc(1, sizeof(*j));
	if (!j) {
		*err = -ENOMEM;
		return NULL;
	}
	j->scheduler = (enum scheduler)unpack_number(u);
	j->cgroup_id = unpack_number(u);
	flags = unpack_number(u);
	j->provisional = flags & 1;
	j->made = flags & 2;
	j->owner = (uint32_t)unpack_number(u);
	copy_text(j->id, sizeof(j->id), unpack_text(u));
	copy_text(j->step, sizeof(j->step), unpack_text(u));
	copy_text(j->name, sizeof(j->name), unpack_text(u));
	copy_text(j->user, sizeof(j->user), unpack_text(u));
	return j;
}

int unpack_who(const uint8_t *bytes, size_t size, struct report_row *r)
{
	struct bytes_in u = bytes_from(bytes, size);
	uint64_t flags;
	int err = 0;

	r->kind = (enum row_kind)unpack_number(&u);
	flags = unpack_number(&u);
	r->leaf = flags & 1;
	r->comm_known = flags & 2;
	r->kernel = flags & 4;
	r->pid = (uint32_t)unpack_number(&u);
	r->tid = (uint32_t)unpack_number(&u);
	r->start_ns = unpack_number(&u);
	r->cgroup_id = unpack_number(&u);
	copy_text(r->key, sizeof(r->key), unpack_text(&u));
	copy_text(r->parent, sizeof(r->parent), unpack_text(&u));
	copy_text(r->comm, sizeof(r->comm), unpack_text(&u));
	r->cgroup = (char *)unpack_text(&u);
	r->job = unpack_job(&u, &err);
	return err;
}

/* --- users of devices */

static size_t kept(size_t nr)
{
	return nr < PACK_USERS ? nr : PACK_USERS;
}

static void pack_list(struct bytes *w, const struct device_user *users, size_t nr)
{
	for (size_t i = 0; i < kept(nr); i++) {
		bytes_put_raw(w, &users[i], sizeof(users[i]));
		pack_text(w, users[i].cgroup, SIZE_MAX);
		pack_job(w, users[i].job);
	}
}

void pack_users(struct bytes *w, const struct device_users *u)
{
	pack_list(w, u->users, u->nr);
	pack_list(w, u->blockers, u->nr_blockers);
}

/* The list is as long as what could be read, so that it can be released in any case. */
static int unpack_list(struct bytes_in *u, struct device_user **list, size_t *nr)
{
	size_t want = kept(*nr);
	int err = 0;

	*nr = 0;
	*list = want ? calloc(want, sizeof(**list)) : NULL;
	if (want && !*list)
		return -ENOMEM;
	for (; *nr < want && !err; (*nr)++) {
		struct device_user *to = &(*list)[*nr];
		const char *cgroup;

		unpack_raw(u, to, sizeof(*to));
		to->job = NULL;
		cgroup = unpack_text(u);
		to->cgroup = cgroup ? strdup(cgroup) : NULL;
		to->job = unpack_job(u, &err);
		if (cgroup && !to->cgroup)
			err = -ENOMEM;
	}
	return err;
}

int unpack_users(struct bytes_in *u, struct device_users *ret)
{
	size_t blockers = ret->nr_blockers;
	int err;

	ret->blockers = NULL;
	ret->nr_blockers = 0;
	err = unpack_list(u, &ret->users, &ret->nr);
	if (err)
		return err;
	ret->nr_blockers = blockers;
	return unpack_list(u, &ret->blockers, &ret->nr_blockers);
}
