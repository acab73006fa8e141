// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* t410trace topology: PCI functions, the root ports above them, and the PMUs of these. */
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/topology_text.h"
#include "cli/values.h"
#include "report/format.h"

#define TOPOLOGY_SCHEMA "t410trace.topology/1"

/* Where the numbers come from: a copy or a dump may be of any machine. */
struct topology_view {
	const struct topology *t;
	const struct sysfs *fs; /* NULL for a dump */
	enum pmu_platform platform;
};

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

static json_t *pmu_json(const struct topology_view *v, const struct pci_wiring *w, bool target)
{
	char name[PMU_NAME_LEN];

	topology_pmu_name(w, target, v->platform, name);
	return name[0] ? json_string(name) : json_null();
}

/* Is the PMU of a port here? null when that cannot be known. */
static json_t *present_json(const struct topology_view *v, const struct pci_wiring *w)
{
	char name[PMU_NAME_LEN];

	topology_pmu_name(w, false, v->platform, name);
	if (!v->fs || !name[0])
		return json_null();
	return json_boolean(sysfs_exists(v->fs, PMU_DEVICES "/%s", name));
}

static json_t *port_json(const struct topology_view *v, const struct pci_function *f)
{
	const struct pci_wiring *w = &f->wiring;
	bool known = w->how != WIRING_UNKNOWN;

	return json_pack("{s:s, s:i, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "address",
			 f->bdf, "bus", f->bus, "segment", (json_int_t)f->domain, "root_port",
			 number_json(w, w->rp), "root_complex", number_json(w, w->rc), "socket",
			 number_json(w, w->socket), "pmu", pmu_json(v, w, false), "target_pmu",
			 pmu_json(v, w, true), "pmu_present", present_json(v, w), "src_rp_mask",
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
		append_json(&list, text_json(name));
		names += length;
	}
	return list;
}

static const char *role_name(enum pci_role role)
{
	static const char *const names[] = {
		[PCI_ROLE_ENDPOINT] = "endpoint",	[PCI_ROLE_ROOT_PORT] = "root port",
		[PCI_ROLE_UPSTREAM] = "upstream",	[PCI_ROLE_DOWNSTREAM] = "downstream",
		[PCI_ROLE_PCI_BRIDGE] = "pci bridge",	[PCI_ROLE_INTEGRATED] = "integrated",
		[PCI_ROLE_HOST_BRIDGE] = "host bridge",
	};

	return names[role];
}

static json_t *function_json(const struct topology *t, const struct pci_function *f)
{
	const struct pci_wiring *w = &f->wiring;
	json_t *numa = f->numa_node < 0 ? json_null() : json_integer(f->numa_node);
	bool bridge = f->secondary || f->subordinate;

	return json_pack(
		"{s:s, s:i, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
		"s:s, s:s, s:o, s:o}",
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
		names_json(f->names), "text", text_json(f->what));
}

static json_t *topology_json(const struct topology_view *v)
{
	json_t *ports = json_array(), *functions = json_array(), *notes = json_array();
	const struct topology *t = v->t;

	for (size_t i = 0; i < t->nr; i++) {
		const struct pci_function *f = &t->functions[i];

		if (f->port == i)
			append_json(&ports, port_json(v, f));
		append_json(&functions, function_json(t, f));
	}
	for (size_t i = 0; i < t->notes.nr; i++)
		append_json(&notes, text_json(t->notes.items[i]));
	return json_pack("{s:s, s:s, s:s, s:b, s:o, s:o, s:o}", "schema", TOPOLOGY_SCHEMA, "source",
			 v->fs ? "sysfs" : "dump", "platform", pmu_platform_name(v->platform),
			 "cut", t->cut, "root_ports", ports, "functions", functions, "notes",
			 notes);
}

/* What kind of machine it is, by its PMUs: decides which rules of thumb apply. */
static enum pmu_platform platform_of(const struct sysfs *fs)
{
	enum pmu_platform platform;
	struct pmu_list pmus = { 0 };

	if (fs)
		pmu_list_read(fs, NULL, &pmus);
	platform = pmu_list_platform(&pmus);
	pmu_list_free(&pmus);
	return platform;
}

/* PMUs that should be here and are not: drivers, most of the time. */
static void missing_pmus(const struct topology_view *v, char *ret, size_t size)
{
	char name[PMU_NAME_LEN], first[PMU_NAME_LEN] = "";
	size_t nr = 0;

	ret[0] = '\0';
	for (size_t i = 0; v->fs && i < v->t->nr; i++) {
		const struct pci_function *f = &v->t->functions[i];

		if (f->port != i)
			continue;
		topology_pmu_name(&f->wiring, false, v->platform, name);
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

static int print_as_text(const struct topology_view *v, const char *note)
{
	return topology_print(v->t, v->platform, note);
}

static int print_as_json(const struct topology_view *v, const char *note)
{
	(void)note;
	return print_json(topology_json(v));
}

static int (*const writers[NR_OUTPUT_FORMATS])(const struct topology_view *v, const char *note) = {
	[OUTPUT_TEXT] = print_as_text,
	[OUTPUT_JSON] = print_as_json,
};

static int show(const struct options *args, const struct sysfs *fs, struct diag *d)
{
	struct topology t = { 0 };
	struct pci_map *map = NULL;
	struct topology_view view = { .t = &t, .fs = fs, .platform = platform_of(fs) };
	char note[256];
	int err = args->run.pci_map ? pci_map_read(args->run.pci_map, d, &map) : 0;

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
	if (err)
		return err;
	missing_pmus(&view, note, sizeof(note));
	err = writers[args->run.output.format](&view, note);
	topology_free(&t);
	return err ? diag_fail(d, err, "cannot show the topology: %s", strerror(-err)) : 0;
}

static int run(struct options *o)
{
	struct sysfs fs = { .fd = -1 };
	struct diag d = { 0 };
	int err = o->machine.lspci ? 0 : sysfs_open(o->machine.sysfs, &d, &fs);

	if (!err)
		err = show(o, o->machine.lspci ? NULL : &fs, &d);
	sysfs_close(&fs);
	return end_output(o->who, err, &d) ? EXIT_FAILED : EXIT_OK_;
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
