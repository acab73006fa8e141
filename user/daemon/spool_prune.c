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

/* A report that is there: whose it is, since when, and its number in the folder. */
struct there {
	uint32_t owner;
	uint64_t since_ns;
	uint64_t number;
};

/* Reports of an owner: a row of struct there, the oldest first. @give: how many of them make room */
struct holder {
	uint32_t owner;
	size_t first, nr;
	size_t give;
};

struct spool_look {
	int folder;
	struct there *there;
	size_t nr, cap;
	struct holder *holders; /* by owner, the machine's first */
	size_t nr_holders, cap_holders;
	uint64_t removed;
	size_t stuck; /* that could not be removed */
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
static bool since_of(int folder, const char *name, uint64_t *ret_ns)
{
	struct stat st;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return false;
	*ret_ns = (uint64_t)st.st_mtim.tv_sec * NS_PER_S + st.st_mtim.tv_nsec;
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

	if (!since_of(l->folder, e->d_name, &t.since_ns))
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

static int make_holders(struct spool_look *l)
{
	if (l->nr)
		qsort(l->there, l->nr, sizeof(*l->there), by_owner_and_age);
	for (size_t i = 0; i < l->nr; i++) {
		struct holder *last = l->nr_holders ? &l->holders[l->nr_holders - 1] : NULL;

		if (last && last->owner == l->there[i].owner) {
			last->nr++;
			continue;
		}
		if (array_reserve(l->holders, l->cap_holders, l->nr_holders))
			return -ENOMEM;
		l->holders[l->nr_holders++] =
			(struct holder){ .owner = l->there[i].owner, .first = i, .nr = 1 };
	}
	return 0;
}

static size_t left(const struct holder *s)
{
	return s->nr - s->give;
}

/* Who gives the next one: the machine, unless users have more than half, and of these who has most. */
static struct holder *next_giver(const struct spool_look *l, size_t users, size_t half)
{
	struct holder *machine = l->nr_holders && !l->holders[0].owner ? &l->holders[0] : NULL;
	struct holder *largest = NULL;

	if (machine && left(machine) && users <= half)
		return machine;
	for (size_t i = machine ? 1 : 0; i < l->nr_holders; i++)
		if (left(&l->holders[i]) && (!largest || left(&l->holders[i]) > left(largest)))
			largest = &l->holders[i];
	return largest ? largest : machine && left(machine) ? machine : NULL;
}

static void choose(struct spool_look *l, size_t need, size_t half)
{
	size_t users = l->nr;
	struct holder *giver;

	if (l->nr_holders && !l->holders[0].owner)
		users -= l->holders[0].nr;
	for (; need && (giver = next_giver(l, users, half)); need--) {
		giver->give++;
		users -= giver->owner != 0;
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
	const struct there wanted = { .owner = owner, .number = e->d_ino };

	if (!bsearch(&wanted, l->there, l->nr, sizeof(*l->there), by_number))
		return 0;
	if (!unlinkat(l->folder, e->d_name, 0))
		l->removed++;
	else if (errno != ENOENT)
		l->stuck++;
	return 0;
}

/* @stuck: more of them, in place of those that cannot be removed; how many these are now */
static int make_room(struct spool *s, size_t *stuck)
{
	struct spool_look l = { .folder = s->folder };
	int err = each_report(&l, note);

	if (!err)
		err = make_holders(&l);
	if (!err) {
		choose(&l, s->nr_files - s->max_files + 1 + s->max_files / 100 + *stuck,
		       s->max_files / 2);
		keep_chosen(&l);
	}
	if (!err && l.nr)
		err = each_report(&l, drop);
	s->nr_files -= l.removed < s->nr_files ? l.removed : s->nr_files;
	s->removed += l.removed;
	*stuck = l.removed ? 0 : l.stuck;
	free(l.there);
	free(l.holders);
	return l.removed ? 0 : err;
}

int spool_make_room(struct spool *s)
{
	size_t stuck = 0;
	int err = make_room(s, &stuck);

	/* Those that must not be changed are not in the way of the next ones. */
	return err || !stuck ? err : make_room(s, &stuck);
}
