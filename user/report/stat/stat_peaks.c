// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/stat/stat_peaks.h"

#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "report/put.h"
#include "tables/metric_peaks.h"

#define GIGA 1e9

/* The id of a row at @i: first those of one direction, then those of both; NULL for none. */
static const char *id_at(const struct metric_peak_row *row, size_t i, enum direction *ret)
{
	const char *const ids[] = { row->read, row->write, row->together[0], row->together[1] };

	_Static_assert(ARRAY_SIZE(ids) == NR_WAYS + METRIC_PEAK_IDS, "all ids");
	*ret = i < NR_WAYS ? (enum direction)i : DIRECTION_READWRITE;
	return ids[i];
}

/* Add up a metric of PMU @pmu, or of all PMUs of the socket if it is NULL. */
static bool add_metric(const struct stat_report *r, const char *id, const struct stat_pmu *pmu,
		       struct peak_use *u, double *sum, const char **ret_family)
{
	const struct stat_layout *l = r->layout;
	bool counted = false;

	for (size_t i = 0; i < l->nr_metrics; i++) {
		const struct stat_metric *m = &l->metrics[i];
		const struct stat_pmu *p = &l->pmus[m->pmu];

		if (strcmp(m->id, id) != 0 || m->filters[0] || m->label[0] ||
		    (pmu ? p != pmu : p->socket != (int32_t)u->socket))
			continue;
		*ret_family = p->family;
		counted = true;
		u->valid &= r->values[i].absence == STAT_PRESENT && r->values[i].value >= 0;
		*sum += r->values[i].value;
	}
	return counted;
}

/* Add up the metrics of a row; return their family, NULL for none. */
static const char *add_up(const struct stat_report *r, const struct metric_peak_row *row,
			  const struct stat_pmu *pmu, struct peak_use *u)
{
	double sums[NR_DIRECTIONS] = { 0 };
	const char *family = NULL;
	enum direction way;

	for (size_t i = 0; i < NR_WAYS + METRIC_PEAK_IDS; i++) {
		const char *id = id_at(row, i, &way);

		if (!id)
			continue;
		/* one direction, or some of the channels, would pass for the total */
		u->valid &= add_metric(r, id, pmu, u, &sums[way], &family);
		u->together |= way == DIRECTION_READWRITE;
		u->apart |= way != DIRECTION_READWRITE;
	}
	for (int i = 0; i < NR_DIRECTIONS; i++)
		u->valid = u->valid && sums[i] < GIGA;
	for (int i = 0; u->valid && i < NR_DIRECTIONS; i++)
		u->bytes[i] = (uint64_t)(sums[i] * GIGA);
	return family;
}

const char *stat_peaks_use(const struct stat_report *r, size_t *at, struct peak_use *ret)
{
	const struct stat_layout *l = r->layout;
	size_t places = r->host->peaks.nr ? r->host->sockets + l->nr_pmus : 0;

	/* Sockets come first, then PMUs. */
	while (*at < places * nr_metric_peak_rows) {
		size_t place = *at / nr_metric_peak_rows;
		const struct metric_peak_row *row =
			&metric_peak_rows[(*at)++ % nr_metric_peak_rows];
		const struct stat_pmu *pmu =
			place < r->host->sockets ? NULL : &l->pmus[place - r->host->sockets];
		uint32_t socket = pmu ? (uint32_t)pmu->socket : (uint32_t)place;
		const char *family = NULL;

		*ret = (struct peak_use){
			.peak = peaks_find(&r->host->peaks, row->of, socket),
			.socket = socket,
			.place = pmu ? pmu->name : NULL,
			.valid = true,
			.upper_bound = row->upper_bound,
			.cpus_only = row->cpus_only,
		};
		if (ret->peak && row->each == (pmu != NULL))
			family = add_up(r, row, pmu, ret);
		if (family) {
			/* metrics are rates already */
			peaks_share(ret, NS_PER_S);
			return family;
		}
	}
	return NULL;
}

json_t *stat_peaks_array(const struct stat_report *r, int *err)
{
	json_t *a = json_array();
	const char *family;
	struct peak_use u;

	for (size_t at = 0; !*err && (family = stat_peaks_use(r, &at, &u));) {
		json_t *o = json_object();

		put_text(o, "of", peak_name(u.peak->of), err);
		if (u.place)
			put_text(o, "pmu", u.place, err);
		else
			put_number(o, "socket", u.socket, err);
		put_text(o, "family", family, err);
		peaks_put(o, &u, err);
		put_element(a, o, err);
	}
	return a;
}

int stat_peaks_write(FILE *out, const struct stat_report *r, size_t width)
{
	static const struct peak_use none;
	bool memory = false, over = false;
	const char *family;
	struct peak_use u;
	int err = 0;

	for (size_t at = 0; !err && (family = stat_peaks_use(r, &at, &u));) {
		char by[64];

		snprintf(by, sizeof(by), "%.48s, ", family);
		memory |= u.peak->of == PEAK_CMEM;
		over |= u.valid && u.share > 1;
		err = peaks_line(out, &u, by, width);
	}
	if (!err && memory)
		err = peaks_source_line(out, &r->host->peaks, width);
	return err ? err : peaks_explain(out, &none, over, width);
}
