// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* t410trace topology: PCI functions, the root ports above them, and the PMUs of these. */
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/values.h"
#include "platform/pmu/pmu.h"
#include "platform/pci/topology.h"
#include "platform/plan/device_plan.h"
#include "platform/sys/smbios.h"
#include "report/format.h"
#include "report/grid.h"

#define TOPOLOGY_SCHEMA "t410trace.topology/1"

#define INDENT		2
#define MAX_DEPTH	12 /* deeper levels get no more indentation */
#define MAX_COLUMN	28 /* a longer name shifts the rest of the line */
#define LINK_TEXT	32

/*
 * The PMU that counts requests of devices below a root port or, with @target, requests to them: the
 * latter does not exist on Grace. "" when it is unknown.
 */
static void topology_pmu_name(const struct pci_wiring *w, bool target, enum pmu_platform platform,
			      char ret_name[PMU_NAME_LEN])
{
	const struct pmu_platform_row *chip = pmu_platform_row(platform);
	enum pmu_kind kind;

	ret_name[0] = '\0';
	/* Without PMUs, the source of the place identifies the chip. */
	for (size_t i = 0; i < nr_pmu_platforms; i++)
		if (w->how == WIRING_MEDIUM && pmu_platforms[i].port_rule == w->how)
			chip = &pmu_platforms[i];
	if (!chip && nr_pmu_platforms)
		chip = &pmu_platforms[0];
	if (!chip)
		return;
	kind = target ? chip->pcie_target : chip->pcie;
	if (w->how != WIRING_UNKNOWN && kind != PMU_UNKNOWN)
		pmu_family_name(pmu_family_of(kind), w->socket, w->rc, ret_name, PMU_NAME_LEN);
}

/* Source of the numbers: a copy or a dump may be of any machine. */
struct topology_view {
	const struct topology *t;
	const struct sysfs *fs; /* NULL for a dump */
	enum pmu_platform platform;
	const struct pmu_list *pmus; /* NULL for a dump */
};

/* A GPU's link to the CPUs; false where nothing is known of one. */
static bool find_link(const struct topology_view *v, const struct pci_function *f,
		      struct device_link_place *ret)
{
	struct device_item item = { .function = (uint32_t)(f - v->t->functions) };
	const struct device_list one = { .topology = v->t, .items = &item, .nr = 1 };
	const struct device_plan_options o = { .devices = &one, .pmus = v->pmus };

	return v->pmus && device_link_find(&o, 0, ret);
}

/*
 * PMUs for a root port: that of its root complex, or its own. No rule tells which chips have the
 * latter, so they are named only if they exist.
 */
static void port_pmu_name(const struct topology_view *v, const struct pci_function *port,
			  char ret_name[PMU_NAME_LEN])
{
	topology_pmu_name(&port->wiring, false, v->platform, ret_name);
	if (ret_name[0] || !v->fs)
		return;
	topology_port_pmu(port, ret_name, PMU_NAME_LEN);
	if (!sysfs_exists(v->fs, PMU_DEVICES "/%s", ret_name))
		ret_name[0] = '\0';
}

/**
 * struct tree - the displayed tree
 * @v, @t: the topology
 * @above: parent in the display: its bridge, or the physical function; the other lists follow it in
 *	one allocation
 * @child, @sibling: first one below; next one at the same place
 * @order: functions at the top, in the order of sockets and root complexes
 * @nr: length of @order
 * @address, @use, @names, @links, @drivers: widths of columns, 0: nothing to show
 */
struct tree {
	const struct topology_view *v;
	const struct topology *t;
	uint32_t *above;
	uint32_t *child;
	uint32_t *sibling;
	uint32_t *order;
	size_t nr;
	int address;
	int use;
	int names;
	int links;
	int drivers;
};

static const char *use_text(const struct pci_function *f, char text[32])
{
	static const char *const roles[] = {
		[PCI_ROLE_ROOT_PORT] = "root port",	[PCI_ROLE_UPSTREAM] = "switch",
		[PCI_ROLE_DOWNSTREAM] = "switch port",	[PCI_ROLE_PCI_BRIDGE] = "PCI bridge",
		[PCI_ROLE_HOST_BRIDGE] = "host bridge",
	};

	if (f->role == PCI_ROLE_ROOT_PORT && f->wiring.how != WIRING_UNKNOWN) {
		snprintf(text, 32, "root port %u", f->wiring.rp);
		return text;
	}
	if (f->role != PCI_ROLE_ENDPOINT && f->role != PCI_ROLE_INTEGRATED)
		return roles[f->role];
	snprintf(text, 32, "%s%s", f->kind == DEVICE_OTHER ? "" : device_kind_name(f->kind),
		 f->physfn == TOPOLOGY_NONE ? ""
		 : f->kind == DEVICE_OTHER  ? "VF"
					    : " VF");
	return text;
}

/* The link of a function is that of the bridge above: "16 GT/s x4". */
static const char *link_text(const struct topology *t, const struct pci_function *f,
			     char text[LINK_TEXT])
{
	const struct pci_function *above =
		f->parent == TOPOLOGY_NONE ? NULL : &t->functions[f->parent];

	text[0] = '\0';
	if (above && above->link_width)
		snprintf(text, LINK_TEXT, "%.4g GT/s x%u", above->link_mts / 1000.0,
			 above->link_width);
	return text;
}

static int depth_of(const struct tree *tree, uint32_t i)
{
	int depth = 0;

	while (depth < MAX_DEPTH && (i = tree->above[i]) != TOPOLOGY_NONE)
		depth++;
	return depth;
}

static void widen(int *width, int length)
{
	if (length > *width && length <= MAX_COLUMN)
		*width = length;
}

static void measure(struct tree *tree)
{
	char text[32], link[LINK_TEXT];

	for (uint32_t i = 0; i < tree->t->nr; i++) {
		const struct pci_function *f = &tree->t->functions[i];
		int address = depth_of(tree, i) * INDENT + (int)strlen(f->bdf);

		if (address > tree->address)
			tree->address = address;
		widen(&tree->use, (int)strlen(use_text(f, text)));
		widen(&tree->names, (int)format_width(f->names));
		widen(&tree->links, (int)strlen(link_text(tree->t, f, link)));
		widen(&tree->drivers, (int)strlen(f->driver));
	}
}

/* Indexes into a topology, by the places of its functions */
static int by_place(const void *a, const void *b, void *topology)
{
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct topology *t = topology;
	const struct pci_wiring *x = &t->functions[i].wiring, *y = &t->functions[k].wiring;
	bool x_unknown = x->how == WIRING_UNKNOWN, y_unknown = y->how == WIRING_UNKNOWN;
	int place = x_unknown ? 0 : ORDER(x->socket, y->socket) ?: ORDER(x->rc, y->rc);
	int node = ORDER(t->functions[i].numa_node, t->functions[k].numa_node);

	return ORDER(x_unknown, y_unknown) ?: place ?: node ?: ORDER(i, k);
}

static int tree_make(const struct topology_view *v, struct tree *tree)
{
	const struct topology *t = v->t;

	*tree = (struct tree){ .v = v,
			       .t = t,
			       .above = calloc(4 * t->nr + 1, sizeof(*tree->above)) };
	if (!tree->above)
		return -ENOMEM;
	tree->child = tree->above + t->nr;
	tree->sibling = tree->child + t->nr;
	tree->order = tree->sibling + t->nr;
	for (uint32_t i = 0; i < t->nr; i++)
		tree->child[i] = tree->sibling[i] = TOPOLOGY_NONE;
	/* from the back, so that lists are in order of addresses */
	for (uint32_t i = (uint32_t)t->nr; i-- > 0;) {
		const struct pci_function *f = &t->functions[i];
		uint32_t above = f->parent;

		if (f->physfn != TOPOLOGY_NONE && t->functions[f->physfn].parent == f->parent)
			above = f->physfn;
		tree->above[i] = above;
		if (above == TOPOLOGY_NONE)
			continue;
		tree->sibling[i] = tree->child[above];
		tree->child[above] = i;
	}
	for (uint32_t i = 0; i < t->nr; i++)
		if (tree->above[i] == TOPOLOGY_NONE)
			tree->order[tree->nr++] = i;
	qsort_r(tree->order, tree->nr, sizeof(*tree->order), by_place, (void *)t);
	measure(tree);
	return 0;
}

/* A text in a column of its own, with two blanks behind it; nothing where no line has one. */
static size_t print_cell(const char *text, int width)
{
	int used = (int)format_width(text);

	if (!width)
		return 0;
	used = printf("%s%*s  ", text, used < width ? width - used : 0, "") - (int)strlen(text) +
	       used;
	return (size_t)used;
}

/* How the link of a GPU is known, behind its line: "(C2C: PMU, the only GPU of its socket, ...)" */
static void print_link(const struct topology_view *v, const struct pci_function *f)
{
	struct device_link_place l;

	if (!find_link(v, f, &l))
		putchar('\n');
	else
		printf(" (C2C: %s%s, %s%s)\n", l.pmu->name,
		       !l.known	  ? ""
		       : l.mapped ? ", by the map"
				  : ", the only GPU of its socket",
		       l.why[0]	   ? "no bytes: "
		       : l.derived ? "bytes are derived"
				   : "bytes are counted",
		       l.why);
}

static int print_function(const struct tree *tree, uint32_t i)
{
	const struct pci_function *f = &tree->t->functions[i];
	cleanup_free char *names = NULL, *driver = NULL, *what = NULL, *cut = NULL;
	int indent = depth_of(tree, i) * INDENT;
	/* output to a file is never truncated */
	size_t width = isatty(STDOUT_FILENO) ? output_width(stdout) : SIZE_MAX, used;
	bool empty = f->port == i && tree->child[i] == TOPOLOGY_NONE;
	char text[LINK_TEXT], pmu[PMU_NAME_LEN] = "";

	if (format_terminal(f->names, SIZE_MAX, &names) ||
	    format_terminal(f->driver, SIZE_MAX, &driver) ||
	    format_terminal(empty ? "nothing below" : f->what, SIZE_MAX, &what))
		return -ENOMEM;
	used = (size_t)printf("%*s%-*s  ", indent, "", tree->address - indent, f->bdf);
	used += print_cell(use_text(f, text), tree->use);
	used += print_cell(names, tree->names);
	used += print_cell(link_text(tree->t, f, text), tree->links);
	used += print_cell(driver, tree->drivers);
	if (format_cut(what, used + 12 < width ? width - used : 12, FORMAT_CUT_RIGHT, &cut))
		return -ENOMEM;
	fputs(cut, stdout);
	if (f->wiring.how == WIRING_USER && f->port != i)
		printf(" (the map: socket %u, root complex %u, port %u)", f->wiring.socket,
		       f->wiring.rc, f->wiring.rp);
	/* A port with a PMU of its own: those of root complexes are in the headings. */
	if (f->port == i && f->wiring.how == WIRING_UNKNOWN)
		port_pmu_name(tree->v, f, pmu);
	printf("%s%s%s", pmu[0] ? " (" : "", pmu, pmu[0] ? ")" : "");
	print_link(tree->v, f);
	return 0;
}

/* A top-level function and all below it, without recursion: a damaged copy may be deep. */
static int print_below(const struct tree *tree, uint32_t top)
{
	uint32_t at = top;
	int err = 0;

	while (!err) {
		err = print_function(tree, at);
		if (tree->child[at] != TOPOLOGY_NONE) {
			at = tree->child[at];
			continue;
		}
		while (at != top && tree->sibling[at] == TOPOLOGY_NONE)
			at = tree->above[at];
		if (at == top)
			break;
		at = tree->sibling[at];
	}
	return err;
}

static bool same_place(const struct pci_function *x, const struct pci_function *y)
{
	const struct pci_wiring *a = &x->wiring, *b = &y->wiring;

	if (x->numa_node != y->numa_node)
		return false;
	if (a->how == WIRING_UNKNOWN || b->how == WIRING_UNKNOWN)
		return a->how == b->how;
	return a->socket == b->socket && a->rc == b->rc;
}

/* "socket 0, root complex 1 (nvidia_pcie_pmu_0_rc_1), NUMA node 0, CPUs 0-71" */
static void print_place(const struct topology_view *v, const struct pci_function *f, bool more)
{
	const struct pci_wiring *w = &f->wiring;
	char pmu[PMU_NAME_LEN], cpus[64];

	topology_pmu_name(w, false, v->platform, pmu);
	if (more)
		putchar('\n');
	if (w->how == WIRING_UNKNOWN)
		printf("root complex not known");
	else
		printf("socket %u, root complex %u%s%s%s", w->socket, w->rc, pmu[0] ? " (" : "",
		       pmu, pmu[0] ? ")" : "");
	if (f->numa_node >= 0)
		printf(", NUMA node %d", f->numa_node);
	if (f->numa_node >= 0 && v->fs &&
	    !sysfs_read(v->fs, cpus, sizeof(cpus), "devices/system/node/node%d/cpulist",
			f->numa_node))
		printf(", %s%.60s", cpus[0] ? "CPUs " : "no CPUs", cpus);
	putchar('\n');
}

static int print_tree(const struct tree *tree)
{
	const struct pci_function *last = NULL;
	bool known = false;
	int err = 0;

	for (size_t i = 0; !err && i < tree->nr; i++) {
		const struct pci_function *f = &tree->t->functions[tree->order[i]];

		known |= f->wiring.how != WIRING_UNKNOWN || f->numa_node >= 0;
		/* no headings if nothing is known: a plain tree */
		if (known && (!last || !same_place(last, f)))
			print_place(tree->v, f, last != NULL);
		last = f;
		err = print_below(tree, tree->order[i]);
	}
	return err;
}

static bool is_port(const struct topology *t, size_t i)
{
	return t->functions[i].port == i;
}

/* In hexadecimal, as in lspci; empty if unknown. */
static struct grid_cell place_cell(const struct pci_wiring *w, uint32_t value)
{
	return grid_if(w->how != WIRING_UNKNOWN, grid_text("%02x", value));
}

static struct grid_cell cell_mask(const struct grid_place *at)
{
	const struct pci_wiring *w = &((const struct pci_function *)at->row)->wiring;

	return w->how == WIRING_UNKNOWN ? grid_is(GRID_ABSENT) : grid_text("0x%x", 1u << w->rp);
}

static struct grid_cell cell_pmu(const struct grid_place *at)
{
	char pmu[PMU_NAME_LEN];

	port_pmu_name(at->table, at->row, pmu);
	return grid_if(pmu[0], grid_text("%s", pmu));
}

GRID_CELL(cell_bdf, struct pci_function, grid_text("%s", row->bdf));
GRID_CELL(cell_bus, struct pci_function, grid_text("%02x", row->bus));
GRID_CELL(cell_segment, struct pci_function, grid_text("%02x", row->domain));
GRID_CELL(cell_rp, struct pci_function, place_cell(&row->wiring, row->wiring.rp));
GRID_CELL(cell_rc, struct pci_function, place_cell(&row->wiring, row->wiring.rc));
GRID_CELL(cell_socket, struct pci_function, place_cell(&row->wiring, row->wiring.socket));
GRID_CELL(cell_known, struct pci_function, grid_text("%s", wiring_name(row->wiring.how)));

#define COLUMN_KNOWN 8

static const struct grid_column columns[] = {
	{ NULL, "root port", 12, .look = GRID_LEFT, .cell = cell_bdf },
	{ NULL, "bus", 3, .look = GRID_LEFT, .cell = cell_bus },
	{ NULL, "segment", 7, .look = GRID_LEFT, .cell = cell_segment },
	{ NULL, "RP", 2, .look = GRID_LEFT, .cell = cell_rp },
	{ NULL, "RC", 2, .look = GRID_LEFT, .cell = cell_rc },
	{ NULL, "socket", 6, .look = GRID_LEFT, .cell = cell_socket },
	{ NULL, "PMU", 22, .look = GRID_LEFT, .cell = cell_pmu },
	{ NULL, "src_rp_mask", 11, .look = GRID_LEFT, .cell = cell_mask },
	[COLUMN_KNOWN] = { NULL, "known", 8, .look = GRID_LEFT, .cell = cell_known },
};

static bool same_sentence(const struct topology *t, size_t a, size_t b)
{
	const struct pci_wiring *x = &t->functions[a].wiring, *y = &t->functions[b].wiring;

	return x->how == y->how && !strcmp(x->note, y->note);
}

/* Warnings about ports; a warning shared by several ports appears once. */
static int print_remarks(const struct topology *t)
{
	cleanup_free bool *said = calloc(t->nr, sizeof(*said));
	char line[400];

	if (!said)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr; i++) {
		const struct pci_function *f = &t->functions[i];
		size_t others = 0;

		if (!is_port(t, i) || !f->wiring.note[0] || said[i])
			continue;
		for (size_t k = i + 1; k < t->nr; k++) {
			if (!is_port(t, k) || said[k] || !same_sentence(t, i, k))
				continue;
			said[k] = true;
			others++;
		}
		if (others)
			snprintf(line, sizeof(line), "%s and %zu more: %s", f->bdf, others,
				 f->wiring.note);
		else
			snprintf(line, sizeof(line), "%s: %s", f->bdf, f->wiring.note);
		output_wrapped(stdout, 2, line);
	}
	return 0;
}

/* The places of root ports as their registers have them. */
static int print_ports(const struct topology_view *v)
{
	GRID(g, columns, stdout, OUTPUT_COLUMNS, v);
	const struct topology *t = v->t;
	bool how = false;
	size_t nr = 0;
	int err = 0;

	for (size_t i = 0; i < t->nr; i++) {
		nr += is_port(t, i);
		how |= is_port(t, i) && t->functions[i].wiring.how != WIRING_FIRMWARE;
	}
	if (!nr)
		return 0;
	putchar('\n');
	g.columns[COLUMN_KNOWN].hidden = !how;
	grid_fit(&g);
	grid_heading(&g);
	for (size_t i = 0; i < t->nr && !err; i++)
		if (is_port(t, i))
			err = grid_row(&g, &t->functions[i]);
	return err;
}

static int print_notes(const struct topology *t, const char *more)
{
	bool remarks = false;
	int err;

	for (size_t i = 0; i < t->nr; i++)
		remarks |= is_port(t, i) && t->functions[i].wiring.note[0];
	if (t->notes.nr || *more || remarks)
		printf("\nnotes\n");
	err = print_remarks(t);
	if (err)
		return err;
	for (size_t i = 0; i < t->notes.nr; i++) {
		cleanup_free char *note = NULL;

		if (format_terminal(t->notes.items[i], SIZE_MAX, &note))
			return -ENOMEM;
		output_wrapped(stdout, 2, note);
	}
	output_wrapped(stdout, 2, more);
	return 0;
}

/* All functions as a tree, with @ports the table of the root ports; @note: one more for the end. */
static int print_as_text(const struct topology_view *v, bool ports, const char *note)
{
	struct tree tree;
	int err = tree_make(v, &tree);

	if (err)
		return err;
	err = print_tree(&tree);
	if (!err && ports)
		err = print_ports(v);
	free(tree.above);
	return err ? err : print_notes(v->t, note);
}

static json_t *text_json(const char *text)
{
	cleanup_free char *clean = NULL;

	return format_utf8(text, SIZE_MAX, &clean) ? NULL : json_string(clean);
}

static json_t *hex(uint32_t value, int digits)
{
	return json_sprintf("0x%0*x", digits, value);
}

/* The address of another function, or null. */
static json_t *address_json(const struct topology *t, uint32_t i)
{
	return i == TOPOLOGY_NONE ? json_null() : json_string(t->functions[i].bdf);
}

static json_t *number_json(const struct pci_wiring *w, uint32_t value)
{
	return w->how == WIRING_UNKNOWN ? json_null() : json_integer(value);
}

static json_t *note_json(const struct pci_wiring *w)
{
	return w->note[0] ? text_json(w->note) : json_null();
}

static json_t *pmu_json(const char *name)
{
	return name[0] ? json_string(name) : json_null();
}

/* Does the PMU of a port exist here? null when that is unknown. */
static json_t *present_json(const struct topology_view *v, const char *name)
{
	if (!v->fs || !name[0])
		return json_null();
	return json_boolean(sysfs_exists(v->fs, PMU_DEVICES "/%s", name));
}

static json_t *port_json(const struct topology_view *v, const struct pci_function *f)
{
	const struct pci_wiring *w = &f->wiring;
	bool known = w->how != WIRING_UNKNOWN;
	char pmu[PMU_NAME_LEN], target[PMU_NAME_LEN];

	port_pmu_name(v, f, pmu);
	topology_pmu_name(w, true, v->platform, target);
	return json_pack("{s:s, s:i, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "address",
			 f->bdf, "bus", f->bus, "segment", (json_int_t)f->domain, "root_port",
			 number_json(w, w->rp), "root_complex", number_json(w, w->rc), "socket",
			 number_json(w, w->socket), "pmu", pmu_json(pmu), "target_pmu",
			 pmu_json(target), "pmu_present", present_json(v, pmu), "src_rp_mask",
			 known ? hex(1u << w->rp, 1) : json_null(), "known", wiring_name(w->how),
			 "note", note_json(w));
}

static json_t *names_json(const char *names)
{
	json_t *list = json_array();
	char name[sizeof(((struct pci_function *)NULL)->names)];

	for (; *names; names += strspn(names, " ")) {
		size_t length = strcspn(names, " ");

		snprintf(name, sizeof(name), "%.*s", (int)length, names);
		output_append(&list, text_json(name));
		names += length;
	}
	return list;
}

static NAMES(role_name, enum pci_role, [PCI_ROLE_ENDPOINT] = "endpoint",
	     [PCI_ROLE_ROOT_PORT] = "root port", [PCI_ROLE_UPSTREAM] = "upstream",
	     [PCI_ROLE_DOWNSTREAM] = "downstream", [PCI_ROLE_PCI_BRIDGE] = "pci bridge",
	     [PCI_ROLE_INTEGRATED] = "integrated", [PCI_ROLE_HOST_BRIDGE] = "host bridge")

	/* The link that leads to it; null where it is not known. */
	static json_t *link_json(const struct topology *t, const struct pci_function *f)
{
	const struct pci_function *above =
		f->parent == TOPOLOGY_NONE ? NULL : &t->functions[f->parent];

	if (!above || !above->link_width)
		return json_null();
	return json_pack("{s:f, s:i}", "gigatransfers_per_second", above->link_mts / 1000.0,
			 "lanes", (int)above->link_width);
}

/* Its link to the CPUs beside PCIe; null where none is known. */
static json_t *c2c_json(const struct topology_view *v, const struct pci_function *f)
{
	struct device_link_place l;
	const char *known, *bytes;

	if (!find_link(v, f, &l))
		return json_null();
	known = !l.known ? "unknown" : l.mapped ? "map" : "single";
	bytes = l.why[0] ? "none" : l.derived ? "derived" : "counted";
	return json_pack("{s:s, s:i, s:s, s:o, s:s, s:o}", "pmu", l.pmu->name, "gpus", (int)l.gpus,
			 "known", known, "mask", l.known ? hex(l.mask, 1) : json_null(), "bytes",
			 bytes, "why", l.why[0] ? text_json(l.why) : json_null());
}

static json_t *function_json(const struct topology_view *v, const struct pci_function *f)
{
	const struct topology *t = v->t;
	const struct pci_wiring *w = &f->wiring;
	json_t *numa = f->numa_node < 0 ? json_null() : json_integer(f->numa_node);
	bool bridge = f->secondary || f->subordinate;

	return json_pack(
		"{s:s, s:i, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
		"s:s, s:s, s:o, s:o, s:o, s:o, s:o}",
		"address", f->bdf, "requester_id", f->bus << 8 | f->devfn, "vendor",
		hex(f->vendor, 4), "device", hex(f->device, 4), "class", hex(f->class_code, 6),
		"role", role_name(f->role), "first_bus",
		bridge ? json_integer(f->secondary) : json_null(), "last_bus",
		bridge ? json_integer(f->subordinate) : json_null(), "parent",
		address_json(t, f->parent), "port", address_json(t, f->port), "physical_function",
		address_json(t, f->physfn), "alias_bridge", address_json(t, f->alias_bridge),
		"numa_node", numa, "socket", number_json(w, w->socket), "root_complex",
		number_json(w, w->rc), "root_port", number_json(w, w->rp), "known",
		wiring_name(w->how), "kind", device_kind_name(f->kind), "names",
		names_json(f->names), "text", text_json(f->what), "driver",
		f->driver[0] ? text_json(f->driver) : json_null(), "link", link_json(t, f), "c2c",
		c2c_json(v, f));
}

static json_t *topology_json(const struct topology_view *v)
{
	json_t *ports = json_array(), *functions = json_array(), *notes = json_array();
	const struct topology *t = v->t;

	for (size_t i = 0; i < t->nr; i++) {
		const struct pci_function *f = &t->functions[i];

		if (f->port == i)
			output_append(&ports, port_json(v, f));
		output_append(&functions, function_json(v, f));
	}
	for (size_t i = 0; i < t->notes.nr; i++)
		output_append(&notes, text_json(t->notes.items[i]));
	return json_pack("{s:s, s:s, s:s, s:b, s:o, s:o, s:o}", "schema", TOPOLOGY_SCHEMA, "source",
			 v->fs ? "sysfs" : "dump", "platform", pmu_platform_name(v->platform),
			 "cut", t->cut, "root_ports", ports, "functions", functions, "notes",
			 notes);
}

/* Missing PMUs that should exist: mostly for want of drivers. */
static void missing_pmus(const struct topology_view *v, char *ret, size_t size)
{
	char name[PMU_NAME_LEN], first[PMU_NAME_LEN] = "";
	size_t nr = 0;

	ret[0] = '\0';
	for (size_t i = 0; v->fs && i < v->t->nr; i++) {
		const struct pci_function *f = &v->t->functions[i];

		if (f->port != i)
			continue;
		port_pmu_name(v, f, name);
		if (!name[0] || sysfs_exists(v->fs, PMU_DEVICES "/%s", name))
			continue;
		if (!nr++)
			str_copy(first, sizeof(first), name);
	}
	if (nr)
		snprintf(ret, size,
			 "the PMU of %zu root port%s is not here, %s first: \"t410trace check\" "
			 "says which driver is missing",
			 nr, nr == 1 ? "" : "s", first);
}

static int show(const struct options *args, const struct sysfs *fs, struct diag *d)
{
	struct topology t = { 0 };
	struct pci_map *map = NULL;
	struct pmu_list pmus = { 0 };
	struct topology_view view = { .t = &t, .fs = fs, .pmus = fs ? &pmus : NULL };
	struct diag absent = { 0 };
	char note[256], peak[512];
	int err;

	if (fs)
		pmu_list_read(fs, NULL, &pmus);
	/* The machine's chip chooses the rules of thumb. */
	view.platform = pmu_list_platform(&pmus);
	err = args->run.pci_map ? pci_map_read(args->run.pci_map, d, &map) : 0;

	if (!err) {
		const struct topology_source src = {
			.sysfs = fs,
			.dump = args->machine.lspci,
			.map = map,
			.platform = view.platform,
		};

		err = topology_read(&src, d, &t);
	}
	pci_map_free(map);
	if (err) {
		pmu_list_free(&pmus);
		return err;
	}
	missing_pmus(&view, note, sizeof(note));
	if (fs && !smbios_sentence(fs, &absent, peak, sizeof(peak)) &&
	    text_list_print(&t.notes, "peak of memory: %s", peak))
		err = -ENOMEM;
	if (!err)
		err = args->run.output.format == OUTPUT_JSON
			      ? output_json(topology_json(&view))
			      : print_as_text(&view, args->machine.ports, note);
	topology_free(&t);
	pmu_list_free(&pmus);
	return err ? diag_error(d, err, "cannot show the topology") : 0;
}

static int run(struct options *o)
{
	struct sysfs fs = { .fd = -1 };
	struct diag d = { 0 };
	int err = o->machine.lspci ? 0 : sysfs_open(o->machine.sysfs, &d, &fs);

	if (!err)
		err = show(o, o->machine.lspci ? NULL : &fs, &d);
	sysfs_close(&fs);
	return output_end(o->who, err, &d) ? EXIT_FAILED : EXIT_OK_;
}

static int check(struct options *o, struct diag *d)
{
	return o->machine.sysfs && o->machine.lspci
		       ? diag_fail(d, -EINVAL, "--sysfs and --lspci exclude each other")
		       : 0;
}

static const struct option_row rows[] = {
	{ 0, 0, "Print JSON (" TOPOLOGY_SCHEMA ")", AS_JSON },
	{ 0, 0, "Look into a copy of /sys at DIR",
	  OPTION("sysfs", 0, "DIR", value_text, machine.sysfs) },
	{ 0, 0, "Look into the output of \"lspci -D -xxxx\" in FILE",
	  OPTION("lspci", 0, "FILE", value_text, machine.lspci) },
	{ 0, 0,
	  "Where root ports or devices are, if the firmware does not say it: lines "
	  "\"ADDRESS socket=S rc=R rp=P\"",
	  OPTION("pci-map", 0, "FILE", value_text, run.pci_map) },
	{ 0, 0, "Also show what the registers of root ports say, as masks of filters need it",
	  SWITCH("ports", 0, machine.ports) },
	{ 0 },
};

const struct command command_topology = {
	.name = "topology",
	.brief = "PCI devices, and the PMUs that count them",
	.doc = "Show PCI devices, the root ports that they are below, and the PMUs that count "
	       "them.",
	.options = rows,
	.check = check,
	.run = run,
};
