// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "daemon/spool_prune.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "account.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "daemon/private_files.h"

#define SUFFIX ".json"

bool spool_is_name(const char *name)
{
	size_t length =
		strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
			     ".-_");

	return length && !name[length] && name[0] != '.' && length <= NAME_MAX;
}

/* Kinds of bounds */
enum bound { FILES, BYTES, NR_BOUNDS };

/* A report that is there: whose it is, since when, and its number in the folder; @size: by bound */
struct there {
	uint32_t owner;
	uint64_t since_ns;
	uint64_t number;
	uint64_t size[NR_BOUNDS];
};

/* Reports of an owner: a row of struct there, the oldest first. @give: how many of them make room */
struct holder {
	uint32_t owner;
	size_t first;
	size_t give;
	uint64_t left[NR_BOUNDS]; /* of those that do not */
};

struct spool_look {
	int folder;
	struct there *there;
	size_t nr, cap;
	struct holder *holders; /* by owner, the machine's first */
	size_t nr_holders, cap_holders;
	uint64_t chosen[NR_BOUNDS]; /* to be removed */
	uint64_t users[NR_BOUNDS];  /* left to users */
	uint64_t removed;
	uint64_t stuck[NR_BOUNDS]; /* that could not be removed */
};

static bool owner_of(const char *name, uint32_t *ret)
{
	char key[NAME_MAX + 1];
	size_t length = strlen(name);

	if (!spool_is_name(name) || length <= strlen(SUFFIX))
		return false;
	length -= strlen(SUFFIX);
	if (strcmp(name + length, SUFFIX) != 0)
		return false;
	memcpy(key, name, length);
	key[length] = '\0';
	*ret = account_key_owner(key);
	return true;
}

/* Only a file can be a report. */
static bool look_at(int folder, const char *name, struct there *t)
{
	struct stat st;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return false;
	t->since_ns = (uint64_t)st.st_mtim.tv_sec * NS_PER_S + st.st_mtim.tv_nsec;
	t->size[FILES] = 1;
	t->size[BYTES] = st.st_size;
	return true;
}

static int each_report(struct spool_look *l,
		       int (*fn)(struct spool_look *l, const struct dirent *e, uint32_t owner))
{
	cleanup_closedir DIR *dir = dir_at(l->folder, ".");
	struct dirent *entry;
	uint32_t owner;
	int err = 0;

	if (!dir)
		return -errno;
	for (errno = 0; !err && (entry = readdir(dir)); errno = 0)
		if (owner_of(entry->d_name, &owner))
			err = fn(l, entry, owner);
	return err ? err : -errno;
}

static int narrow(struct spool_look *l, const struct dirent *e, uint32_t owner)
{
	int err = private_narrow(l->folder, e->d_name);

	(void)owner;
	/* a group that may write here has put its own there */
	return err == -EPERM ? 0 : err;
}

int spool_narrow(int folder)
{
	struct spool_look l = { .folder = folder };

	return each_report(&l, narrow);
}

static int note(struct spool_look *l, const struct dirent *e, uint32_t owner)
{
	struct there t = { .owner = owner, .number = e->d_ino };

	if (!look_at(l->folder, e->d_name, &t))
		return 0;
	if (array_reserve(l->there, l->cap, l->nr))
		return -ENOMEM;
	l->there[l->nr++] = t;
	return 0;
}

static int by_owner_and_age(const void *a, const void *b)
{
	const struct there *x = a, *y = b;

	return ORDER(x->owner, y->owner) ?: ORDER(x->since_ns, y->since_ns);
}

static void add_sizes(uint64_t to[NR_BOUNDS], const uint64_t more[NR_BOUNDS])
{
	for (int u = 0; u < NR_BOUNDS; u++)
		to[u] += more[u];
}

static int make_holders(struct spool_look *l)
{
	if (l->nr)
		qsort(l->there, l->nr, sizeof(*l->there), by_owner_and_age);
	for (size_t i = 0; i < l->nr; i++) {
		const struct there *t = &l->there[i];

		if (!l->nr_holders || l->holders[l->nr_holders - 1].owner != t->owner) {
			if (array_reserve(l->holders, l->cap_holders, l->nr_holders))
				return -ENOMEM;
			l->holders[l->nr_holders++] =
				(struct holder){ .owner = t->owner, .first = i };
		}
		add_sizes(l->holders[l->nr_holders - 1].left, t->size);
		if (t->owner)
			add_sizes(l->users, t->size);
	}
	return 0;
}

/* Who gives the next one: the machine, unless users have more than half, and of these who has most. */
static struct holder *next_giver(const struct spool_look *l, enum bound u, uint64_t half)
{
	struct holder *machine = l->nr_holders && !l->holders[0].owner ? &l->holders[0] : NULL;
	struct holder *largest = NULL;

	if (machine && machine->left[FILES] && l->users[u] <= half)
		return machine;
	for (size_t i = machine ? 1 : 0; i < l->nr_holders; i++)
		if (l->holders[i].left[FILES] &&
		    (!largest || l->holders[i].left[u] > largest->left[u]))
			largest = &l->holders[i];
	return largest ? largest : machine && machine->left[FILES] ? machine : NULL;
}

static void choose(struct spool_look *l, enum bound by, uint64_t need, uint64_t half)
{
	struct holder *giver;

	while (l->chosen[by] < need && (giver = next_giver(l, by, half))) {
		const struct there *t = &l->there[giver->first + giver->give++];

		add_sizes(l->chosen, t->size);
		for (int u = 0; u < NR_BOUNDS; u++) {
			giver->left[u] -= t->size[u];
			if (giver->owner)
				l->users[u] -= t->size[u];
		}
	}
}

static int by_number(const void *a, const void *b)
{
	const struct there *x = a, *y = b;

	return ORDER(x->number, y->number);
}

/* Only those that go stay in the list, to be found by their number. */
static void keep_chosen(struct spool_look *l)
{
	size_t nr = 0;

	for (size_t i = 0; i < l->nr_holders; i++) {
		memmove(&l->there[nr], &l->there[l->holders[i].first],
			l->holders[i].give * sizeof(*l->there));
		nr += l->holders[i].give;
	}
	l->nr = nr;
	if (nr)
		qsort(l->there, l->nr, sizeof(*l->there), by_number);
}

static int drop(struct spool_look *l, const struct dirent *e, uint32_t owner)
{
	const struct there wanted = { .owner = owner, .number = e->d_ino }, *t;

	t = bsearch(&wanted, l->there, l->nr, sizeof(*l->there), by_number);
	if (!t)
		return 0;
	if (!unlinkat(l->folder, e->d_name, 0))
		l->removed++;
	else if (errno != ENOENT)
		add_sizes(l->stuck, t->size);
	return 0;
}

static bool is_over(uint64_t have, uint64_t more, uint64_t bound)
{
	return bound && more && have + more > bound;
}

bool spool_is_full(const struct spool *s, size_t files, uint64_t bytes)
{
	return is_over(s->nr_files, files, s->max_files) || is_over(s->bytes, bytes, s->max_bytes);
}

static void choose_all(struct spool_look *l, const struct spool *s, size_t files, uint64_t bytes,
		       const uint64_t stuck[NR_BOUNDS])
{
	if (is_over(s->nr_files, files, s->max_files))
		choose(l, FILES,
		       s->nr_files + files - s->max_files + s->max_files / 100 + stuck[FILES],
		       s->max_files / 2);
	if (is_over(s->bytes, bytes, s->max_bytes))
		choose(l, BYTES,
		       s->bytes + bytes - s->max_bytes + s->max_bytes / 100 + stuck[BYTES],
		       s->max_bytes / 2);
	keep_chosen(l);
}

/* @stuck: more of them, in place of those that cannot be removed; which these are now */
static int make_room(struct spool *s, size_t files, uint64_t bytes, uint64_t stuck[NR_BOUNDS])
{
	struct spool_look l = { .folder = s->folder };
	uint64_t nr, size;
	int err = each_report(&l, note);

	if (!err)
		err = make_holders(&l);
	if (!err)
		choose_all(&l, s, files, bytes, stuck);
	if (!err && l.nr)
		err = each_report(&l, drop);
	/* those that somebody took meanwhile are gone, too */
	nr = err ? l.removed : l.chosen[FILES] - l.stuck[FILES];
	size = err ? 0 : l.chosen[BYTES] - l.stuck[BYTES];
	s->nr_files -= nr < s->nr_files ? nr : s->nr_files;
	s->bytes -= size < s->bytes ? size : s->bytes;
	s->removed += l.removed;
	memcpy(stuck, l.stuck, sizeof(l.stuck));
	free(l.there);
	free(l.holders);
	return l.removed ? 0 : err;
}

int spool_make_room(struct spool *s, size_t files, uint64_t bytes)
{
	uint64_t stuck[NR_BOUNDS] = { 0 };
	int err = make_room(s, files, bytes, stuck);

	/* Those that must not be changed are not in the way of the next ones. */
	if (err || !stuck[FILES] || !spool_is_full(s, files, bytes))
		return err;
	return make_room(s, files, bytes, stuck);
}
