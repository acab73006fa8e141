// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sentences on the rows with which each inseparable row is tangled. A row named in an earlier
 * sentence needs none of its own: there are few sentences, and the largest rows come first.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/devices.h"
#include "report/format.h"
#include "report/names.h"
#include "report/notes.h"
#include "report/table/cells.h"

/* Of a sentence, unless everything is requested. */
#define MAX_NAMES 4

/* A row of the report, found by its key. */
struct entry {
	const struct report_row *row;
	bool named;
};

struct tangles {
	const struct report *r;
	struct entry *entries; /* sorted by key */
	bool *covered;	       /* by node: a row shown below carries the sentence */
	size_t width;
	size_t most;
	size_t sentences;
	size_t unsaid; /* rows that found no room in a sentence */
};

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return strncmp(x->row->key, y->row->key, MODEL_KEY_LEN);
}

static struct entry *find(const struct tangles *t, const char key[MODEL_KEY_LEN])
{
	struct report_row wanted;
	struct entry e = { .row = &wanted };

	memcpy(wanted.key, key, MODEL_KEY_LEN);
	return bsearch(&e, t->entries, t->r->nr_rows, sizeof(e), compare_entries);
}

static int put_name(const struct tangles *t, FILE *f, const char key[MODEL_KEY_LEN])
{
	cleanup_free char *name = NULL;
	struct entry *e = find(t, key);
	int err;

	if (e) {
		e->named = true;
		err = names_row(e->row, &name);
	} else {
		err = format_terminal(key, MODEL_KEY_LEN, &name);
	}
	if (!err)
		fputs(name, f);
	return err;
}

/* "4242 lbm, 4243 stream and 3 more": a row and the rows it is tangled with. */
static int put_names(const struct tangles *t, FILE *f, const struct report_row *row)
{
	size_t all = row->nr_tangled_all < row->nr_tangled ? row->nr_tangled : row->nr_tangled_all;
	size_t shown = row->nr_tangled, more, i;
	int err = put_name(t, f, row->key);

	if (t->most != TANGLED_ALL && shown > MAX_NAMES - 1)
		shown = MAX_NAMES - 1;
	more = all - shown;
	for (i = 0; i < shown && !err; i++) {
		fputs(i + 1 == shown && !more ? " and " : ", ", f);
		err = put_name(t, f, row->tangled[i]);
	}
	/* The sentence covers them as well, though not by name. */
	for (; i < row->nr_tangled; i++) {
		struct entry *e = find(t, row->tangled[i]);

		if (e)
			e->named = true;
	}
	if (more)
		fprintf(f, " and %zu more", more);
	return err;
}

static int put_sentence(struct tangles *t, FILE *out, const struct report_row *row)
{
	/* The mark is in the column of CPU bytes. */
	static const char *const starts[] = {
		[TANGLE_MEMORY] = "~ tangled: ",
		[TANGLE_DEVICES] = "tangled on devices: ",
		[TANGLE_ENERGY] = "energy tangled: ",
	};
	bool others = row->nr_tangled || row->nr_tangled_all;
	enum tangle what = devices_tangle(t->r, row);
	struct sentence s;
	FILE *f = sentence_begin(&s);
	int err;

	if (!f)
		return -ENOMEM;
	fputs(starts[what], f);
	err = put_names(t, f, row);
	if (others)
		fprintf(f, " %s at the same times: their split is what was expected, not measured",
			what == TANGLE_DEVICES ? "used them" : "ran");
	else
		fputs(" cannot be told from the rest: its part is what was expected, not measured",
		      f);
	t->sentences++;
	return sentence_end(&s, out, t->width, err);
}

/* A cgroup is tangled because of its content: that is the better name for it. */
static void find_covered(struct tangles *t, const struct row_tree *tree)
{
	for (size_t i = 0; i < t->r->nr_rows; i++) {
		const struct row_node *node = &tree->nodes[i];

		if (!node->shown || node->row->separable)
			continue;
		for (node = node->parent; node->row && !t->covered[node - tree->nodes];
		     node = node->parent)
			t->covered[node - tree->nodes] = true;
	}
}

/* Does a shown row still need a sentence? */
static bool is_unsaid(const struct tangles *t, const struct row_tree *tree,
		      const struct row_node *node)
{
	struct entry *e = node->row->separable ? NULL : find(t, node->row->key);

	return e && !e->named && !t->covered[node - tree->nodes];
}

/* The shown rows, in the order of the table. */
static int put_sentences(struct tangles *t, FILE *out, const struct row_tree *tree)
{
	const struct row_node *node = &tree->root, *next = node->child;
	int err = 0;

	while (!err) {
		while (next && !next->shown)
			next = next->next;
		if (next) {
			node = next;
			if (!is_unsaid(t, tree, node))
				;
			else if (t->sentences < t->most)
				err = put_sentence(t, out, node->row);
			else
				t->unsaid++;
			next = node->child;
			continue;
		}
		if (!node->row)
			break;
		next = node->next;
		node = node->parent;
	}
	return err;
}

int tangled_write(FILE *out, const struct report *r, const struct row_tree *tree, size_t width,
		  size_t most)
{
	cleanup_free struct entry *entries = calloc(r->nr_rows + 1, sizeof(*entries));
	cleanup_free bool *covered = calloc(r->nr_rows + 1, sizeof(*covered));
	struct tangles t = {
		.r = r, .entries = entries, .covered = covered, .width = width, .most = most
	};
	int err;

	if (!entries || !covered)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_rows; i++)
		entries[i].row = &r->rows[i];
	qsort(entries, r->nr_rows, sizeof(*entries), compare_entries);
	find_covered(&t, tree);
	err = put_sentences(&t, out, tree);
	if (err || !t.unsaid)
		return err;
	if (!most)
		return notes_line(out, width, "~ tangled: split as expected, not measured (-v)");
	return notes_line(out, width, "~ tangled: %zu more row%s marked like this; -v names them",
			  t.unsaid, t.unsaid == 1 ? "" : "s");
}
