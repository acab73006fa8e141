// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/sums.h"
#include "report/chains.h"
#include "report/devices.h"
#include "report/format.h"
#include "report/names.h"
#include "report/rows.h"

static uint64_t all_directions(const uint64_t bytes[NR_DIRECTIONS])
{
	uint64_t sum = 0;

	for (int d = 0; d < NR_DIRECTIONS; d++)
		sum = sum_capped(sum, bytes[d]);
	return sum;
}

uint64_t amounts_bytes(const struct amounts *a)
{
	return all_directions(a->bytes);
}

uint64_t amounts_to(const struct amounts *a, enum destination to)
{
	return all_directions(a->to[to]);
}

uint64_t amounts_to_memory(const struct amounts *a)
{
	uint64_t bytes = amounts_bytes(a), elsewhere = 0;

	for (int to = DESTINATION_CMEM + 1; to < NR_DESTINATIONS; to++)
		elsewhere = sum_capped(elsewhere, amounts_to(a, to));
	return bytes > elsewhere ? bytes - elsewhere : 0;
}

uint64_t amounts_all(const struct amounts *a)
{
	return sum_capped(amounts_bytes(a), sum_capped(a->device[0], a->device[1]));
}

void amounts_add(struct amounts *to, const struct amounts *from)
{
	for (int i = 0; i < NR_DIRECTIONS; i++)
		to->bytes[i] = sum_capped(to->bytes[i], from->bytes[i]);
	for (int d = 0; d < NR_DESTINATIONS; d++)
		for (int i = 0; i < NR_DIRECTIONS; i++)
			to->to[d][i] = sum_capped(to->to[d][i], from->to[d][i]);
	to->low = sum_capped(to->low, from->low);
	to->high = sum_capped(to->high, from->high);
	for (int i = 0; i < NR_WAYS; i++)
		to->device[i] = sum_capped(to->device[i], from->device[i]);
	to->energy = sum_capped(to->energy, from->energy);
	to->cpu_ns = sum_capped(to->cpu_ns, from->cpu_ns);
}

void amounts_add_bytes(struct amounts *to, const struct counter *c, uint64_t bytes)
{
	uint64_t *sum = &to->bytes[c->direction];
	uint64_t *part = &to->to[c->destination][c->direction];

	if (c->unit == UNIT_NANOJOULES) {
		to->energy = sum_capped(to->energy, bytes);
		return;
	}
	*sum = sum_capped(*sum, bytes);
	if (c->destination != DESTINATION_ANY)
		*part = sum_capped(*part, bytes);
}

size_t row_tree_socket(const struct row_tree *t, uint32_t id)
{
	size_t i;

	for (i = 0; i < t->nr_sockets; i++)
		if (t->sockets[i].id == id)
			break;
	return i;
}

uint64_t row_tree_all(const struct row_tree *t)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t->nr_sockets; i++)
		sum = sum_capped(sum, t->sockets[i].bytes);
	return sum ? sum : 1;
}

struct amounts rows_machine(const struct report *r)
{
	struct amounts sum = { 0 };
	uint64_t all;

	for (size_t i = 0; i < r->nr_counters; i++) {
		const struct report_counter *c = &r->counters[i];

		if (!c->valid || c->counter->device)
			continue;
		amounts_add_bytes(&sum, c->counter, c->value);
		if (c->counter->unit == UNIT_NANOJOULES)
			continue;
		sum.low = sum_capped(sum.low, c->low);
		sum.high = sum_capped(sum.high, c->high);
	}
	for (size_t i = 0; i < r->nr_sockets; i++) {
		const struct report_socket *s = &r->sockets[i];

		sum.cpu_ns =
			sum_capped(sum.cpu_ns, rows_socket_cpu(s, report_duration_ns(r), &all));
		for (int d = 0; d < NR_WAYS; d++)
			sum.device[d] = sum_capped(sum.device[d], devices_on_socket(r, s->id, d));
	}
	return sum;
}

uint64_t rows_socket_cpu(const struct report_socket *s, uint64_t duration_ns, uint64_t *ret_all)
{
	uint64_t used = sum_capped(s->busy_ns, s->lost_ns);

	*ret_all = sum_capped(used, s->idle_ns);
	/* Traces of other tools leave idle time out. */
	if (!s->idle_ns && *ret_all < s->nr_cpus * duration_ns)
		*ret_all = s->nr_cpus * duration_ns;
	return used;
}

void rows_put_parts(FILE *out, const struct report *r, const struct row_tree *t,
		    const struct report_row *row)
{
	const char *between = "";

	for (size_t i = 0; i < t->nr_sockets; i++) {
		char part[FORMAT_NUMBER_LEN];
		uint64_t bytes = 0;

		for (size_t k = 0; k < row->nr_shares; k++) {
			const struct share *s = &row->shares[k];
			const struct report_counter *rc = &r->counters[s->counter];
			const struct counter *c = rc->counter;

			if (rc->valid && devices_task_counter(c) &&
			    report_socket_id(r, c) == t->sockets[i].id)
				bytes = sum_capped(bytes, s->value);
		}
		if (!bytes)
			continue;
		format_percent(bytes, t->sockets[i].bytes, part);
		fprintf(out, "%s%s of socket %" PRIu32, between, part, t->sockets[i].id);
		between = ", ";
	}
}

/* A cgroup without a known number has a key of its report; its path stays. */
bool rows_key_stays(const struct report_row *row)
{
	return strncmp(row->key, "cgroup:?", strlen("cgroup:?")) != 0;
}

const struct report_row *rows_find(const struct report *r, const char *key)
{
	for (size_t i = 0; i < r->nr_rows; i++)
		if (!strncmp(r->rows[i].key, key, MODEL_KEY_LEN))
			return &r->rows[i];
	return NULL;
}

static int note_socket(struct row_tree *t, uint32_t id, struct socket_total **ret_socket)
{
	size_t i = row_tree_socket(t, id);

	if (i == ROWS_MAX_SOCKETS)
		return -E2BIG;
	if (i == t->nr_sockets)
		t->sockets[t->nr_sockets++].id = id;
	*ret_socket = &t->sockets[i];
	return 0;
}

static int find_sockets(struct row_tree *t, const struct report *r)
{
	struct socket_total *s;
	size_t i;
	int err;

	for (i = 0; i < r->nr_sockets; i++) {
		err = note_socket(t, r->sockets[i].id, &s);
		if (err)
			return err;
		s->cpus = &r->sockets[i];
	}
	for (i = 0; i < r->nr_counters; i++) {
		const struct report_counter *c = &r->counters[i];

		if (c->counter->device)
			continue;
		err = note_socket(t, report_socket_id(r, c->counter), &s);
		if (err)
			return err;
		if (c->valid && c->counter->unit == UNIT_BYTES)
			s->bytes = sum_capped(s->bytes, c->value);
		else if (!c->valid)
			s->incomplete = true;
	}
	return 0;
}

static void fill_node(const struct report *r, struct row_node *node)
{
	const struct report_row *row = node->row;
	struct amounts *a = &node->amounts;
	size_t i;

	a->cpu_ns = row->on_cpu_ns;
	a->device[DIRECTION_READ] = devices_moved(r, row, DIRECTION_READ);
	a->device[DIRECTION_WRITE] = devices_moved(r, row, DIRECTION_WRITE);
	a->tangled = !row->separable && devices_tangle(r, row) == TANGLE_MEMORY;
	for (i = 0; i < row->nr_shares; i++) {
		const struct share *s = &row->shares[i];
		const struct counter *c = r->counters[s->counter].counter;

		if (c->unit == UNIT_NANOJOULES)
			amounts_add_bytes(a, c, s->value);
		if (!devices_task_counter(c))
			continue;
		amounts_add_bytes(a, c, s->value);
		a->low = sum_capped(a->low, s->low);
		a->high = sum_capped(a->high, s->high);
	}
}

static int compare_keys(const void *a, const void *b)
{
	const struct row_node *x = *(struct row_node *const *)a;
	const struct row_node *y = *(struct row_node *const *)b;

	return strcmp(x->row->key, y->row->key);
}

/* The largest first; the order of equals must not depend on the sort. */
static int compare_amounts(const void *a, const void *b)
{
	const struct row_node *x = *(struct row_node *const *)a;
	const struct row_node *y = *(struct row_node *const *)b;
	int order = ORDER(amounts_all(&y->amounts), amounts_all(&x->amounts));

	if (!order)
		order = ORDER(y->amounts.cpu_ns, x->amounts.cpu_ns);
	if (!order && (x->row->kind == ROW_CGROUP || x->row->kind == ROW_JOB))
		order = strcmp(x->row->cgroup ? x->row->cgroup : "",
			       y->row->cgroup ? y->row->cgroup : "");
	if (!order)
		order = ORDER(x->row->pid, y->row->pid);
	if (!order)
		order = ORDER(x->row->tid, y->row->tid);
	return order ? order : strcmp(x->row->key, y->row->key);
}

/* Would a node become its own ancestor below @parent? */
static bool is_within(const struct row_node *parent, const struct row_node *node)
{
	for (; parent; parent = parent->parent)
		if (parent == node)
			return true;
	return false;
}

/*
 * Find parents by key. A row without a parent in the report, or whose parent would close a cycle,
 * belongs to the root: no row may get lost.
 */
static void find_parents(struct row_tree *t, struct row_node **nodes, size_t nr)
{
	size_t i;

	qsort(nodes, nr, sizeof(*nodes), compare_keys);
	for (i = 0; i < nr; i++) {
		struct report_row wanted;
		struct row_node key = { .row = &wanted }, *pkey = &key, **found;

		memcpy(wanted.key, nodes[i]->row->parent, sizeof(wanted.key));
		found = wanted.key[0] ? bsearch(&pkey, nodes, nr, sizeof(*nodes), compare_keys)
				      : NULL;
		if (found && !is_within(*found, nodes[i]))
			nodes[i]->parent = *found;
		else
			nodes[i]->parent = &t->root;
	}
}

/* Mark rows to show, and add up the rest at its expected place. */
static void choose(struct row_tree *t, struct row_node **sorted, size_t nr, size_t top,
		   bool together)
{
	struct row_node *node;
	size_t i, shown = 0;

	for (i = 0; i < nr; i++) {
		if (!sorted[i]->row->leaf || (top && shown >= top))
			continue;
		shown++;
		for (node = sorted[i]; !node->shown; node = node->parent)
			node->shown = true;
	}
	for (i = 0; i < nr; i++) {
		if (!sorted[i]->row->leaf || sorted[i]->shown)
			continue;
		node = together ? &t->root : sorted[i]->parent;
		while (!node->shown)
			node = node->parent;
		amounts_add(&node->hidden, &sorted[i]->amounts);
		node->nr_hidden++;
	}
}

int row_tree_new(const struct report *r, size_t top, bool together, struct row_tree **ret_tree)
{
	cleanup_free struct row_tree *t = calloc(1, sizeof(*t));
	cleanup_free struct row_node *nodes = calloc(r->nr_rows + 1, sizeof(*nodes));
	cleanup_free struct row_node **sorted = calloc(r->nr_rows + 1, sizeof(*sorted));
	size_t i;
	int err;

	if (!t || !nodes || !sorted)
		return -ENOMEM;
	err = find_sockets(t, r);
	if (err)
		return err;
	t->root.shown = true;
	for (i = 0; i < r->nr_rows; i++) {
		nodes[i].row = &r->rows[i];
		fill_node(r, &nodes[i]);
		if (r->rows[i].leaf)
			amounts_add(&t->root.amounts, &nodes[i].amounts);
		sorted[i] = &nodes[i];
	}
	find_parents(t, sorted, r->nr_rows);
	qsort(sorted, r->nr_rows, sizeof(*sorted), compare_amounts);
	for (i = r->nr_rows; i > 0; i--) {
		struct row_node *node = sorted[i - 1];

		node->next = node->parent->child;
		node->parent->child = node;
	}
	choose(t, sorted, r->nr_rows, top, together);
	t->nodes = take_ptr(nodes);
	t->nr_nodes = r->nr_rows;
	*ret_tree = take_ptr(t);
	return 0;
}

/* Put the end of each chain in the place of its begin. */
static void replace_joined(const struct row_tree *t, struct row_node *parent, const bool *joined)
{
	for (struct row_node **link = &parent->child; *link; link = &(*link)->next) {
		while (joined[*link - t->nodes]) {
			struct row_node *gone = *link;

			*link = gone->child;
			(*link)->next = gone->next;
			(*link)->parent = parent;
			gone->shown = false;
		}
	}
}

/* Does the row above only repeat this one, if it has no other? */
static bool is_repeated(const struct row_node *node)
{
	const struct row_node *above = node->parent;

	return above->row && !above->row->leaf && !names_is_own(node->row) &&
	       above->row->exited == node->row->exited &&
	       amounts_all(&above->amounts) == amounts_all(&node->amounts) &&
	       above->amounts.energy == node->amounts.energy &&
	       above->amounts.cpu_ns == node->amounts.cpu_ns;
}

int row_tree_join(struct row_tree *t)
{
	cleanup_free size_t *parents = calloc(t->nr_nodes + 1, sizeof(*parents));
	cleanup_free bool *apart = calloc(t->nr_nodes + 1, sizeof(*apart));
	cleanup_free bool *joined = calloc(t->nr_nodes + 1, sizeof(*joined));
	int err;

	if (!parents || !apart || !joined)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_nodes; i++) {
		const struct row_node *node = &t->nodes[i];

		parents[i] =
			node->parent->row ? (size_t)(node->parent - t->nodes) : CHAINS_NO_PARENT;
		apart[i] = !is_repeated(node);
	}
	err = chains_join(parents, t->nr_nodes, apart, joined);
	if (err)
		return err;
	replace_joined(t, &t->root, joined);
	for (size_t i = 0; i < t->nr_nodes; i++)
		if (!joined[i])
			replace_joined(t, &t->nodes[i], joined);
	return 0;
}

size_t row_tree_busy(const struct row_tree *t, uint64_t least_ns)
{
	size_t nr = 0;

	for (size_t i = 0; i < t->nr_nodes; i++) {
		const struct row_node *node = &t->nodes[i];

		nr += node->row->leaf &&
		      (amounts_all(&node->amounts) || node->amounts.cpu_ns >= least_ns);
	}
	return nr;
}

void row_tree_free(struct row_tree *t)
{
	if (!t)
		return;
	free(t->nodes);
	free(t);
}
