// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/pmu/fit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "platform/pmu/pmu_scale.h"
#include "platform/pmu/pmu_socket.h"
#include "platform/sys/nodes.h"
#include "tables/aside_rows.h"
#include "tables/own_rows.h"

#define WORDS_LEN 400

const struct pmu *pmu_replaced_by(const struct pmu_list *list, const struct pmu *pmu,
				  unsigned int set)
{
	for (size_t i = 0; pmu->family->choice && i < list->nr; i++) {
		const struct pmu *o = &list->pmus[i];

		if (o->family->choice && o->family->choice < pmu->family->choice && o->usable &&
		    o->socket >= 0 && counter_rows_have(o->kind, set))
			return o;
	}
	return NULL;
}

bool pmu_terms_differ(const struct pmu *pmu, const struct counter_row *row)
{
	struct counter_row table = *row;
	struct pmu_config sysfs, own;
	struct diag d = { 0 };

	if (!row->terms || !pmu_row_event(pmu, row))
		return false;
	/* sysfs has no event of this name, so the row's own terms are used. */
	table.event = "";
	return !pmu_row_config(pmu, row, &d, &sysfs) &&
	       (pmu_row_config(pmu, &table, &d, &own) || memcmp(&sysfs, &own, sizeof(own)) != 0);
}

bool pmu_fit_energy(const struct pmu_list *list)
{
	const struct counter_row *row;

	for (size_t i = 0; (row = counter_row_at(i)); i++)
		for (size_t p = 0; row->unit == UNIT_NANOJOULES && p < list->nr; p++) {
			const struct pmu *pmu = &list->pmus[p];

			if (pmu->kind == row->kind && pmu->usable && pmu->socket >= 0 &&
			    (row->terms || pmu_event_find(pmu, row->event)))
				return true;
		}
	return false;
}

/* --- notes */

static int note_total(const struct sysfs *fs, const struct pmu_list *list, struct text_list *n)
{
	const struct pmu_platform_row *chip = pmu_platform_row(pmu_list_platform(list));
	struct diag d = { 0 };
	size_t i = 0;

	/* Users know what their own rows count. */
	if (own_rows())
		return 0;
	while (i < list->nr && !counter_rows_have(list->pmus[i].kind, COUNTERS_SUMS))
		i++;
	if (i == list->nr) {
		no_pmu_diag(fs, &d);
		return text_list_print(n, "No PMU here counts memory traffic: %s", d.help);
	}
	if (!chip || !chip->total)
		return 0;
	return text_list_print(n,
			       "Reports of %s count %s. %s Nobody has seen it count on hardware.",
			       chip->title, chip->total, chip->hidden);
}

/* Families that count parts: reports show them beside the total. */
static int note_parts(const struct pmu_list *list, struct text_list *n)
{
	char names[WORDS_LEN] = "";

	for (size_t i = 0; i < list->nr; i++) {
		const struct pmu *pmu = &list->pmus[i];

		if (counter_rows_have(pmu->kind, COUNTERS_PARTS) &&
		    (!i || list->pmus[i - 1].kind != pmu->kind))
			str_append(names, sizeof(names), "%s%s", names[0] ? ", " : "",
				   pmu->family->pattern);
	}
	if (!names[0])
		return 0;
	return text_list_print(n,
			       "Parts of the traffic are measured by %s. Reports show them beside "
			       "the total, and add nothing of them to it.",
			       names);
}

/* Once for each family that a better one replaces. */
static int note_replaced(const struct pmu_list *list, size_t at, struct text_list *n)
{
	const struct pmu *pmu = &list->pmus[at];
	const struct pmu *better = pmu_replaced_by(list, pmu, COUNTERS_SUMS);

	if (!better || (at && list->pmus[at - 1].kind == pmu->kind))
		return 0;
	return text_list_print(n, "%s counts the same bytes as %s, which reports take.",
			       pmu->family->pattern, better->family->pattern);
}

/* NUMA nodes of the socket that has most of them; 0: a node has CPUs of several sockets. */
static size_t most_nodes(const struct sysfs *fs, const struct numa_nodes *nodes)
{
	size_t max = 0;

	for (size_t i = 0; i < nodes->nr; i++) {
		int32_t socket = pmu_cpus_socket(fs, &nodes->items[i].cpus);
		size_t nr = 0;

		if (socket < 0)
			return 0;
		for (size_t k = 0; k < nodes->nr; k++)
			nr += pmu_cpu_socket(fs, cpulist_next(&nodes->items[k].cpus, -1)) == socket;
		max = nr > max ? nr : max;
	}
	return max;
}

/* With fewer or more nodes than sockets, firmware interleaves channels differently. */
static int doubt_nodes(const struct sysfs *fs, const struct pmu_list *list, struct text_list *n)
{
	const struct pmu_platform_row *chip = pmu_platform_row(pmu_list_platform(list));
	struct numa_nodes nodes;
	char found[64];
	size_t max, nr;

	if (!chip || !chip->one_node)
		return 0;
	if (numa_nodes_read(fs, &nodes))
		return -ENOMEM;
	max = most_nodes(fs, &nodes);
	nr = nodes.nr;
	numa_nodes_free(&nodes);
	if (!nr || max == 1)
		return 0;
	str_copy(found, sizeof(found), "a NUMA node has several sockets");
	if (max)
		snprintf(found, sizeof(found), "a socket has %zu NUMA nodes", max);
	return text_list_print(
		n,
		"%s: %s, and the sum is documented for one node of each socket (NPS1). How wrong "
		"the total is here is not known: set NPS1 in the firmware's setup. Only a node for "
		"each L3 cache does no harm.",
		chip->one_node, found);
}

/* A sentence about PMUs of a name, if any are here. */
static int note_names(const struct sysfs *fs, const char *pattern, const char *what,
		      struct text_list *n)
{
	cleanup_texts struct text_list names = { 0 };
	int err = sysfs_list(fs, &names, PMU_DEVICES);
	size_t i = 0;

	if (err)
		return err == -ENOMEM ? err : 0;
	while (i < names.nr && !pmu_name_fits(pattern, names.items[i]))
		i++;
	return i < names.nr ? text_list_print(n, "%s: %s.", pattern, what) : 0;
}

static int doubt_asides(const struct sysfs *fs, struct text_list *n)
{
	int err = 0;

	for (size_t i = 0; i < nr_aside_rows && !err; i++)
		err = note_names(fs, aside_rows[i].pattern, aside_rows[i].what, n);
	return err;
}

int pmu_fit_doubts(const struct sysfs *fs, const struct pmu_list *list, struct text_list *ret_notes)
{
	/* Users know what their own rows count. */
	int err = own_rows() ? 0 : doubt_nodes(fs, list, ret_notes);

	return err ? err : doubt_asides(fs, ret_notes);
}

static int note_terms(const struct pmu *pmu, struct text_list *n)
{
	const struct counter_row *row;
	int err = 0;

	for (size_t i = 0; !err && !pmu->borrowed && (row = counter_row_at(i)); i++) {
		if (row->kind == pmu->kind && pmu_terms_differ(pmu, row))
			err = text_list_print(n,
					      "%s: sysfs encodes %s as %s, and documents as %s "
					      "(%s). Reports use what sysfs says.",
					      pmu->name, row->event, pmu_row_event(pmu, row)->text,
					      row->terms, row->doc);
	}
	return err;
}

void pmu_fit_chips(const char *name, char *ret, size_t size)
{
	ret[0] = '\0';
	for (size_t i = 0; i < nr_pmu_families; i++) {
		const struct pmu_family *f = &pmu_families[i];
		const struct pmu_platform_row *chip = pmu_platform_row(f->platform);

		if (f->by_cpu && chip && pmu_name_fits(f->pattern, name))
			str_append(ret, size, "%s%s", ret[0] ? "; " : "", chip->title);
	}
}

void pmu_fit_cpu(const struct sysfs *fs, char *ret, size_t size)
{
	const struct pmu_platform_row *chip;
	enum pmu_platform platform;

	if (!pmu_cpu_text(fs, ret, size, &platform)) {
		str_copy(ret, size, "of no model that sysfs tells");
		return;
	}
	chip = pmu_platform_row(platform);
	if (chip)
		str_append(ret, size, " (%s)", chip->title);
}

static bool is_known(const struct pmu_list *list, const char *name)
{
	for (size_t i = 0; i < list->nr; i++)
		if (!strcmp(list->pmus[i].name, name))
			return true;
	return false;
}

/* The family whose name fits although its rows are for another CPU. */
static const struct pmu_family *misfit(const struct pmu_list *list, const char *name)
{
	for (size_t i = 0; i < nr_pmu_families && !is_known(list, name); i++)
		if (pmu_families[i].by_cpu && pmu_name_fits(pmu_families[i].pattern, name))
			return &pmu_families[i];
	return NULL;
}

/* Once for each such name, without its number. */
static int note_misfits(const struct sysfs *fs, const struct pmu_list *list, struct text_list *n)
{
	cleanup_texts struct text_list names = { 0 };
	const struct pmu_family *last = NULL;
	char chips[WORDS_LEN], cpu[WORDS_LEN];
	int err = sysfs_list(fs, &names, PMU_DEVICES);

	/* Without a list there is nothing that does not fit. */
	if (err && err != -ENOMEM)
		return 0;
	for (size_t i = 0; i < names.nr && !err; i++) {
		const struct pmu_family *f = misfit(list, names.items[i]);

		if (!f || f == last)
			continue;
		last = f;
		pmu_fit_chips(names.items[i], chips, sizeof(chips));
		pmu_fit_cpu(fs, cpu, sizeof(cpu));
		err = text_list_print(n,
				      "%s: not counted. The CPU is %s, and rows for PMUs of this "
				      "name are about %s.",
				      f->pattern, cpu, chips);
	}
	return err;
}

/* PMUs of the discovery table without a name in the kernel; HBM and CXL have one since 6.11. */
static int note_nameless(const struct sysfs *fs, struct text_list *n)
{
	return note_names(fs, PMU_NAMELESS,
			  "the kernel has no names for these PMUs, and they are not counted. A "
			  "newer one may have them",
			  n);
}

int pmu_fit_left_out(const struct sysfs *fs, const struct pmu_list *list,
		     struct text_list *ret_notes)
{
	int err = 0;

	for (size_t i = 0; i < list->nr && !err; i++)
		err = note_replaced(list, i, ret_notes);
	if (!err)
		err = note_nameless(fs, ret_notes);
	return err ? err : note_misfits(fs, list, ret_notes);
}

int pmu_fit_notes(const struct sysfs *fs, const struct pmu_list *list, struct text_list *ret_notes)
{
	int err = note_total(fs, list, ret_notes);

	if (!err)
		err = pmu_fit_doubts(fs, list, ret_notes);
	if (!err)
		err = note_parts(list, ret_notes);
	for (size_t i = 0; i < list->nr && !err; i++)
		err = note_terms(&list->pmus[i], ret_notes);
	return err ? err : pmu_fit_left_out(fs, list, ret_notes);
}
