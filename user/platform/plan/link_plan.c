// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Links of GPUs: which GPU has one, and its counters. A link is a device beside its function, so
 * that no counter of one is taken for the other's.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "platform/plan/device_plan_internal.h"
#include "tables/link_rows.h"
#include "trace.h"

#define VENDOR_NVIDIA 0x10de
#define CLASS_DISPLAY 0x03
#define LINK_SUFFIX   "/c2c"
/* Counters that a link needs of a root complex. */
#define LINK_EVENTS   2

/**
 * struct choice - a GPU's link
 * @chip: how it is counted
 * @pmu: of the link
 * @bit: of the GPU in masks of the link's PMU
 * @gpus: number of GPUs that this PMU counts
 * @known: @bit is
 * @why: why there are no counters, "" if there are
 */
struct choice {
	const struct link_chip *chip;
	const struct pmu *pmu;
	uint32_t bit;
	uint32_t gpus;
	bool known;
	char why[MODEL_WHY_LEN];
};

static const struct pci_function *function_of(const struct device_plan_options *o, size_t item)
{
	return &o->devices->topology->functions[o->devices->items[item].function];
}

static bool is_gpu(const struct pci_function *f)
{
	return f->vendor == VENDOR_NVIDIA && f->class_code >> 16 == CLASS_DISPLAY &&
	       f->physfn == TOPOLOGY_NONE;
}

/* GPUs at the other end of a T410's link: "nr_gpu=2". */
static uint32_t gpus_of(const struct pmu *pmu)
{
	static const char peer[] = "nr_gpu=";
	uint64_t nr;

	if (strncmp(pmu->peer, peer, strlen(peer)) != 0 ||
	    parse_u64(pmu->peer + strlen(peer), &nr) || nr > 8)
		return 0;
	return (uint32_t)nr;
}

/* A GPU that may be at the end of a link of @socket. */
static bool is_candidate(const struct pci_function *f, const struct link_chip *chip,
			 uint32_t socket)
{
	return is_gpu(f) && f->wiring.how != WIRING_UNKNOWN && f->wiring.socket == socket &&
	       (chip->peers || f->wiring.gpu || link_gpu_known(f->device));
}

/* GPUs that may be at the end of the link; of these, those that the map tells. */
static void count_gpus(const struct topology *t, const struct link_chip *chip, uint32_t socket,
		       uint32_t *ret_all, uint32_t *ret_mapped)
{
	*ret_all = *ret_mapped = 0;
	for (size_t i = 0; i < t->nr; i++) {
		if (!is_candidate(&t->functions[i], chip, socket))
			continue;
		++*ret_all;
		*ret_mapped += t->functions[i].wiring.gpu > 0;
	}
}

/* Which bit is the GPU's? False: it is not at the end of this link. */
static bool find_bit(const struct device_plan_options *o, const struct pci_function *f,
		     struct choice *c)
{
	uint32_t all, mapped, gpus = gpus_of(c->pmu);

	count_gpus(o->devices->topology, c->chip, f->wiring.socket, &all, &mapped);
	/* Grace does not tell how many there are. */
	c->gpus = c->chip->peers ? gpus : all;
	if (f->wiring.gpu) {
		c->bit = f->wiring.gpu - 1;
		if (c->bit >= c->gpus && c->chip->peers)
			snprintf(c->why, sizeof(c->why), "%s has no GPU %u, as the map says",
				 c->pmu->name, c->bit);
		return true;
	}
	if (mapped >= c->gpus)
		return false;
	c->bit = 0;
	if (c->gpus == 1 && all == 1)
		return true;
	if (c->gpus == 1)
		snprintf(c->why, sizeof(c->why),
			 "socket %u has %u GPUs, and which is on the link is not known (gpu=0 in "
			 "--pci-map)",
			 f->wiring.socket, all);
	else
		snprintf(c->why, sizeof(c->why),
			 "its link has %u GPUs, and which of them it is is not known (gpu= in "
			 "--pci-map)",
			 c->gpus);
	return true;
}

/* The PMU of a GPU's link, if it is on one. */
static bool find_pmu(const struct device_plan_options *o, const struct pci_function *f,
		     struct choice *ret)
{
	for (size_t i = 0; i < nr_link_chips; i++) {
		const struct link_chip *chip = &link_chips[i];
		const struct pmu *pmu =
			pmu_find(o->pmus, chip->link, (int32_t)f->wiring.socket, -1);

		if (!pmu || (chip->peers && !gpus_of(pmu)) ||
		    !is_candidate(f, chip, f->wiring.socket))
			continue;
		ret->chip = chip;
		ret->pmu = pmu;
		return true;
	}
	return false;
}

static bool is_counted(const struct device_plan_options *o, const struct pci_function *f,
		       enum pmu_kind complexes)
{
	const struct pmu *pmu =
		pmu_find(o->pmus, complexes, (int32_t)f->wiring.socket, (int32_t)f->wiring.rc);

	return pmu && pmu->usable;
}

/* Devices whose bytes the fabric has and no root complex counts would become the GPU's. */
static void check_complexes(const struct device_plan_options *o, uint32_t socket, struct choice *c)
{
	const struct topology *t = o->devices->topology;

	for (size_t i = 0; i < t->nr && !c->why[0]; i++) {
		const struct pci_function *f = &t->functions[i];

		if (!device_moves(f))
			continue;
		if (f->wiring.how == WIRING_UNKNOWN)
			snprintf(c->why, sizeof(c->why),
				 "which root complex has %s is not known (--pci-map tells)",
				 f->bdf);
		else if (f->wiring.socket == socket && !is_counted(o, f, c->chip->complexes))
			snprintf(c->why, sizeof(c->why),
				 "root complex %u, which has %s, cannot be counted", f->wiring.rc,
				 f->bdf);
	}
}

/* Does a chosen device have a link? */
static bool choose(const struct device_plan_options *o, size_t item, struct choice *ret)
{
	const struct pci_function *f = function_of(o, item);

	*ret = (struct choice){ 0 };
	if (!o->pmus || !is_gpu(f) || f->wiring.how == WIRING_UNKNOWN)
		return false;
	if (!find_pmu(o, f, ret) || !find_bit(o, f, ret))
		return false;
	ret->known = !ret->why[0];
	if (ret->why[0] || ret->chip->fabric == PMU_UNKNOWN)
		return true;
	if (o->no_fabric)
		str_copy(ret->why, sizeof(ret->why), o->no_fabric);
	else
		check_complexes(o, f->wiring.socket, ret);
	return true;
}

bool device_link_find(const struct device_plan_options *o, size_t item,
		      struct device_link_place *ret)
{
	struct choice c;

	if (!choose(o, item, &c))
		return false;
	*ret = (struct device_link_place){ .pmu = c.pmu,
					   .mask = 1u << c.bit,
					   .gpus = c.gpus,
					   .known = c.known,
					   .mapped = function_of(o, item)->wiring.gpu > 0,
					   .derived = c.chip->fabric != PMU_UNKNOWN };
	str_copy(ret->why, sizeof(ret->why), c.why);
	return true;
}

uint32_t device_links_need(const struct device_plan_options *o, const struct pmu *pmu)
{
	struct choice c;

	for (size_t i = 0; i < o->devices->nr; i++)
		if ((int32_t)function_of(o, i)->wiring.socket == pmu->socket && choose(o, i, &c) &&
		    !c.why[0] && c.chip->complexes == pmu->kind)
			return LINK_EVENTS;
	return 0;
}

/* --- counters */

static void add_term(struct pmu_term *terms, size_t *nr, const char *name, uint64_t value)
{
	str_copy(terms[*nr].name, sizeof(terms[*nr].name), name);
	terms[(*nr)++].value = value;
}

/* Filters of a row, and the bit of the GPU or all ports where the PMU has such a mask. */
static size_t terms_of(const struct link_row *row, const struct choice *c, bool all,
		       struct pmu_term *ret)
{
	const struct filter_row *gpus = filter_row_use(row->kind, FILTER_GPUS);
	const struct filter_row *mask = gpus ? gpus : filter_row_use(row->kind, FILTER_PORTS);
	bool whole = row->kind == c->chip->complexes || c->gpus < 2 || all;
	char names[64], *name, *rest = names;
	size_t nr = 0;

	str_copy(names, sizeof(names), row->filters);
	while ((name = strsep(&rest, ",")) && name[0])
		add_term(ret, &nr, name, 1);
	if (mask)
		add_term(ret, &nr, mask->name, whole ? mask->all : 1ull << c->bit);
	return nr;
}

/* One event in the last group; @all: of all GPUs of the link together. */
static int add_event(struct device_plan *p, const struct pmu *pmu, const struct link_row *row,
		     const struct choice *c, bool all, uint32_t set, struct diag *d)
{
	const struct device *link = &p->devices[p->nr_devices - 1];
	struct pmu_term terms[PMU_MAX_TERMS];
	size_t nr = terms_of(row, c, all, terms);
	struct counter *counter;
	struct want want;
	int err = want_make(pmu, row->event, terms, nr, d, &want);

	if (err)
		return err;
	want.set = set;
	want.constant = true;
	if (want_add(&p->wants, &want) ||
	    array_reserve(p->counters, p->cap_counters, p->nr_counters) ||
	    array_reserve(p->counter_wants, p->cap_counter_wants, p->nr_counters))
		return -ENOMEM;
	p->counter_wants[p->nr_counters] = p->wants.nr - 1;
	counter = &p->counters[p->nr_counters++];
	*counter = (struct counter){
		.socket = link->socket,
		.group = p->nr_groups - 1,
		.source = SOURCE_DEVICE,
		.direction = row->direction,
		.destination = row->destination,
		.unit = row->unit,
		.device = p->nr_devices,
		.term = all ? TERM_WHOLE : row->term,
	};
	snprintf(counter->name, sizeof(counter->name), "%s/%s/%s%s", link->bdf, pmu->name,
		 row->event, all ? "/all" : "");
	str_copy(counter->pmu, sizeof(counter->pmu), pmu->name);
	str_copy(counter->event, sizeof(counter->event), row->event);
	str_copy(counter->filters, sizeof(counter->filters), want.filters);
	p->groups[p->nr_groups - 1].nr++;
	return 0;
}

/* The rows of a PMU: one set, read together. */
static int add_pmu(struct device_plan *p, const struct pmu *pmu, const struct choice *c,
		   struct diag *d)
{
	uint32_t set = ++p->wants.last_set;
	int err = 0;

	if (array_reserve(p->groups, p->cap_groups, p->nr_groups))
		return -ENOMEM;
	p->groups[p->nr_groups++] = (struct device_group){ p->nr_counters, 0 };
	for (int all = 0; all < 2; all++) {
		/* The bytes of several GPUs' links are known together only. */
		if (all && (pmu->kind != c->chip->link || !c->chip->peers || c->gpus < 2))
			break;
		for (size_t i = 0; i < nr_link_rows && !err; i++)
			if (link_rows[i].kind == pmu->kind)
				err = add_event(p, pmu, &link_rows[i], c, all, set, d);
	}
	return err;
}

static bool has_rows(const struct pmu *pmu)
{
	for (size_t i = 0; i < nr_link_rows; i++)
		if (link_rows[i].kind == pmu->kind)
			return true;
	return false;
}

static int add_pmus(struct device_plan *p, const struct device_plan_options *o,
		    const struct choice *c, struct diag *d)
{
	int err = 0;

	for (size_t i = 0; i < o->pmus->nr && !err; i++) {
		const struct pmu *pmu = &o->pmus->pmus[i];

		if (!has_rows(pmu) || pmu->socket != c->pmu->socket)
			continue;
		/* A root complex without a device moves nothing. */
		if (pmu->usable)
			err = add_pmu(p, pmu, c, d);
		else if (pmu->kind != c->chip->complexes)
			err = diag_fail(d, -ENODEV, "%s cannot be read", pmu->name);
	}
	return err;
}

static bool has_term(const struct device_plan *p, size_t from, enum term term, enum unit unit)
{
	for (size_t i = from; i < p->nr_counters; i++)
		if (p->counters[i].term == term && p->counters[i].unit == unit)
			return true;
	return false;
}

/* Without the link's own requests, or the fabric's bytes, there is nothing to tell. */
static int count_link(struct device_plan *p, const struct device_plan_options *o,
		      const struct choice *c, struct diag *d)
{
	size_t from = p->nr_counters;
	int err = add_pmus(p, o, c, d);

	if (!err && c->chip->fabric != PMU_UNKNOWN && !has_term(p, from, TERM_WHOLE, UNIT_BYTES))
		return diag_fail(d, -ENODEV, "its socket has no UCF to count");
	return err;
}

static int add_link(struct device_plan *p, const struct device_plan_options *o, size_t item,
		    struct choice *c)
{
	struct device link = p->devices[item];
	struct device_plan was;
	struct diag d = { 0 };
	int err = 0;

	if (p->nr_devices == TRACE_MAX_DEVICES)
		return 0;
	str_append(link.bdf, sizeof(link.bdf), LINK_SUFFIX);
	link.name[0] = '\0';
	link.kind = DEVICE_LINK;
	link.port = 0;
	link.function = item + 1;
	link.filter = DEVICE_BY_LINK;
	if (link.wiring == WIRING_UNKNOWN)
		snprintf(c->why, sizeof(c->why), "its socket is not among those that are followed");
	if (array_reserve(p->devices, p->cap_devices, p->nr_devices))
		return -ENOMEM;
	p->devices[p->nr_devices++] = link;
	was = *p;
	if (!c->why[0])
		err = count_link(p, o, c, &d);
	if (err == -ENOMEM)
		return err;
	if (err) {
		p->wants.nr = was.wants.nr;
		p->nr_counters = was.nr_counters;
		p->nr_groups = was.nr_groups;
		str_copy(c->why, sizeof(c->why), d.what);
	}
	if (!c->why[0])
		return 0;
	p->devices[p->nr_devices - 1].filter = DEVICE_NOT_COUNTED;
	str_copy(p->devices[p->nr_devices - 1].why, MODEL_WHY_LEN, c->why);
	return device_reason_add(&p->missed, p->devices[p->nr_devices - 1].bdf, c->why);
}

int device_links_add(struct device_plan *p, const struct device_plan_options *o)
{
	struct choice c;
	int err = 0;

	for (size_t i = 0; i < o->devices->nr && !err; i++)
		if (choose(o, i, &c))
			err = add_link(p, o, i, &c);
	return err;
}
