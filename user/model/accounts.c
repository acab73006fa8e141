// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "base/array.h"
#include "base/text.h"

NAMES(account_state_name, enum account_state, [ACCOUNT_RUNNING] = "running",
      [ACCOUNT_ENDED] = "ended", [ACCOUNT_STALE] = "stale")

bool account_counter_same(const struct account_counter *a, const struct account_counter *b)
{
#define SAME_TEXT(name, size)  &&!strncmp(a->name, b->name, size)
#define SAME_VALUE(type, name) &&a->name == b->name
	return true ACCOUNT_COUNTER(SAME_TEXT, SAME_VALUE);
#undef SAME_TEXT
#undef SAME_VALUE
}

uint32_t account_key_owner(const char *key)
{
	const char *end = strrchr(key, '-');
	uint64_t uid;

	if (!end || end[1] != 'u' || parse_u64(end + 2, &uid) || uid > UINT32_MAX)
		return 0;
	return (uint32_t)uid;
}

void account_file_name(const char *key, const char *node, char ret[ACCOUNT_FILE_LEN])
{
	snprintf(ret, ACCOUNT_FILE_LEN, "%s%s%s.json", key, node ? "." : "", node ?: "");
	for (size_t i = 0; ret[i]; i++)
		if (!isalnum((unsigned char)ret[i]) && !strchr(".-_", ret[i]))
			ret[i] = '_';
}

void account_part_release(struct account_part *p)
{
	free(p->totals);
	free(p->io);
}

void account_job_release(struct account_job *j)
{
	for (size_t i = 0; i < j->nr_steps; i++)
		account_part_release(&j->steps[i]);
	account_part_release(&j->whole);
	free(j->steps);
	free(j->node);
	free(j->groups);
	free(j->gpus);
	free(j->path);
}

/* A copy of @from's array; false: no memory. */
static bool copy_items(void *ret, const void *from, size_t nr, size_t size)
{
	void *items = nr ? reallocarray(NULL, nr, size) : NULL;

	if (items)
		memcpy(items, from, nr * size);
	*(void **)ret = items;
	return items || !nr;
}

static bool copy_part(struct account_part *p)
{
	const struct account_part from = *p;
	bool ok = copy_items(&p->totals, from.totals, from.nr_totals, sizeof(*from.totals));

	return copy_items(&p->io, from.io, from.nr_io, sizeof(*from.io)) && ok;
}

int account_part_copy(const struct account_part *from, struct account_part *ret)
{
	struct account_part p = *from;

	if (!copy_part(&p)) {
		account_part_release(&p);
		return -ENOMEM;
	}
	*ret = p;
	return 0;
}

int account_job_copy(const struct account_job *from, struct account_job *ret)
{
	struct account_job j = *from;
	bool ok = copy_part(&j.whole);

	j.path = from->path ? strdup(from->path) : NULL;
	ok = (j.path || !from->path) && ok;
	ok = copy_items(&j.groups, from->groups, from->nr_groups, sizeof(*from->groups)) && ok;
	ok = copy_items(&j.gpus, from->gpus, from->nr_gpus, sizeof(*from->gpus)) && ok;
	ok = copy_items(&j.node, from->node, from->nr_node, sizeof(*from->node)) && ok;
	ok = copy_items(&j.steps, from->steps, from->nr_steps, sizeof(*from->steps)) && ok;
	/* All of them, also without memory: pointers into @from must not be released. */
	for (size_t i = 0; j.steps && i < j.nr_steps; i++)
		ok = copy_part(&j.steps[i]) && ok;
	if (!j.steps)
		j.nr_steps = 0;
	if (!ok) {
		account_job_release(&j);
		return -ENOMEM;
	}
	*ret = j;
	return 0;
}

int account_list_add(void *arg, const struct account_job *j)
{
	struct account_list *l = arg;

	if (array_reserve(l->jobs, l->cap, l->nr) || account_job_copy(j, &l->jobs[l->nr]))
		return -ENOMEM;
	l->nr++;
	return 0;
}

void account_list_release(struct account_list *l)
{
	for (size_t i = 0; i < l->nr; i++)
		account_job_release(&l->jobs[i]);
	free(l->jobs);
	*l = (struct account_list){ 0 };
}

void accounts_node_release(struct accounts_node *n)
{
	free(n->counters);
	free(n->totals);
}
