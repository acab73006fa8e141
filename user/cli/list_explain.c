// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/list_explain.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model.h"
#include "platform/pmu/fit.h"
#include "platform/pmu/pmu_scale.h"
#include "tables/aside_rows.h"
#include "tables/events.h"
#include "tables/scale.h"

#define WORDS_LEN 400

/* "64 bytes a count", "64 bytes for 9 counts" */
static void ratio_words(const struct counter_row *row, const struct bytes_ratio *r, char *ret,
			size_t size)
{
	if (row->unit != UNIT_BYTES)
		snprintf(ret, size, "%u %s for %u counts", r->bytes, unit_name(row->unit),
			 r->counts);
	else if (!r->bytes)
		snprintf(ret, size, "no bytes known");
	else if (r->counts == 1)
		snprintf(ret, size, "%u byte%s a count", r->bytes, r->bytes == 1 ? "" : "s");
	else
		snprintf(ret, size, "%u bytes for %u counts", r->bytes, r->counts);
}

static int explain_row(const struct pmu *pmu, const struct counter_row *row, struct text_list *n)
{
	const struct pmu_event *event = pmu_row_event(pmu, row);
	struct bytes_ratio r = pmu_row_bytes(row, event);
	char bytes[64], what[80], name[PMU_NAME_LEN] = "", part[64] = "";
	struct pmu_config c;
	struct diag d = { 0 };
	int err;

	ratio_words(row, &r, bytes, sizeof(bytes));
	event_on_socket(row->event, pmu->socket, name, sizeof(name));
	if (row->part)
		snprintf(part, sizeof(part), ", not added: %s", part_name(row->part));
	if (row->unit == UNIT_BYTES)
		snprintf(what, sizeof(what), "%s, source %s, to %s", direction_name(row->direction),
			 source_name(row->source), destination_name(row->destination));
	else
		snprintf(what, sizeof(what), "energy, source %s", source_name(row->source));
	err = text_list_print(n, "  %s%s%s: %s, %s%s%s%s", name, row->filters[0] ? "/" : "",
			      row->filters, what, bytes, row->sum ? ", a part of " : "",
			      row->sum ? row->sum : "", part);
	if (!err && event && event->unit[0])
		err = text_list_print(n, "    sysfs: a count is %.7g %s%s",
				      pmu_row_scale(row, event), unit_name(row->unit),
				      pmu_row_differs(pmu, row) ? ", which is not believed" : "");
	if (!err && event)
		err = text_list_print(n, "    sysfs: %s%s", event->text,
				      pmu_terms_differ(pmu, row) ? ", unlike the documents" : "");
	if (!err && row->terms)
		err = text_list_print(n, "    documents: %s", row->terms);
	if (!err && pmu_row_config(pmu, row, &d, &c))
		err = text_list_print(n, "    %s here: %s",
				      row->optional ? "not there" : "cannot be counted", d.what);
	else if (!err)
		err = text_list_print(
			n, "    config %#" PRIx64 ", config1 %#" PRIx64 ", config2 %#" PRIx64,
			c.config, c.config1, c.config2);
	return err ? err : text_list_print(n, "    from: %s", row->doc);
}

static int explain_known(const struct sysfs *fs, const struct pmu_list *list, const struct pmu *pmu,
			 struct text_list *n)
{
	const struct pmu *better = pmu_replaced_by(list, pmu, COUNTERS_SUMS);
	bool counts = counter_rows_any(pmu->kind, COUNTERS_SUMS | COUNTERS_DESTINATION);
	char label[PMU_NAME_LEN + 16], cpu[WORDS_LEN];
	const struct counter_row *row;
	int err;

	pmu_label(pmu, label, sizeof(label));
	err = text_list_print(n, "%s: %s (%s) of %s", label, pmu->family->title,
			      pmu->family->short_name, pmu_platform_name(pmu->platform));
	if (!err && pmu->family->by_cpu) {
		pmu_fit_cpu(fs, cpu, sizeof(cpu));
		err = text_list_print(n, "  fits by its name, %s, and by the CPU, %s",
				      pmu->family->pattern, cpu);
	} else if (!err) {
		err = text_list_print(n, "  fits by its name, %s", pmu->family->pattern);
	}
	if (!err)
		err = text_list_print(n, "  from: %s", pmu->family->source);
	if (!err && pmu->problem[0])
		err = text_list_print(n, "  %s: %s", pmu->usable ? "problem" : "not usable",
				      pmu->problem);
	if (!err && pmu->socket < 0)
		err = text_list_print(n, "  its socket is unknown");
	if (!err && better)
		err = text_list_print(n, "  reports leave it out: %s counts the same bytes",
				      better->name);
	if (!err && counter_rows_have(pmu->kind, COUNTERS_PARTS))
		err = text_list_print(n, "  parts are shown beside the total and never added to "
					 "it: it has the same bytes already, or never saw them");
	else if (!err && !counts)
		err = text_list_print(n, "  no row says that it counts the memory traffic of a "
					 "socket; \"stat\" can count its events");
	for (size_t i = 0; !err && (row = counter_row_at(i)); i++)
		if (row->kind == pmu->kind)
			err = explain_row(pmu, row, n);
	return err;
}

static int explain_unknown(const struct sysfs *fs, const char *name, struct text_list *n)
{
	char chips[WORDS_LEN], cpu[WORDS_LEN];

	for (size_t i = 0; i < nr_aside_rows; i++)
		if (pmu_name_fits(aside_rows[i].pattern, name))
			return text_list_print(n, "%s: not counted. %s.", name, aside_rows[i].what);
	if (pmu_name_fits(PMU_NAMELESS, name))
		return text_list_print(n,
				       "%s: not counted. This kernel has no name for it; a newer "
				       "one may have.",
				       name);
	pmu_fit_chips(name, chips, sizeof(chips));
	if (!chips[0])
		return text_list_print(n,
				       "%s: no row knows PMUs of this name; \"perf stat\" can "
				       "count what it has",
				       name);
	pmu_fit_cpu(fs, cpu, sizeof(cpu));
	return text_list_print(n,
			       "%s: not counted. The CPU is %s, and rows for PMUs of this name "
			       "are about %s.",
			       name, cpu, chips);
}

int list_explain(const struct sysfs *fs, const struct pmu_list *list, const char *name,
		 struct diag *d, struct text_list *ret_lines)
{
	bool known = false;
	int err = 0;

	if (!name[0] || strchr(name, '/') || name[0] == '.' ||
	    !sysfs_exists(fs, PMU_DEVICES "/%s", name)) {
		diag_fail(d, -ENOENT, "there is no PMU \"%.64s\" in %.80s/%s", name, fs->root,
			  PMU_DEVICES);
		return pmu_advise_names(fs, name, -ENOENT, d);
	}
	for (size_t i = 0; i < list->nr && !err; i++) {
		if (strcmp(list->pmus[i].name, name))
			continue;
		known = true;
		err = explain_known(fs, list, &list->pmus[i], ret_lines);
	}
	if (!err && !known)
		err = explain_unknown(fs, name, ret_lines);
	return err;
}
