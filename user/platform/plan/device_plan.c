// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/plan/device_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "platform/plan/device_plan_internal.h"
#include "platform/pmu/pmu_socket.h"
#include "trace.h"

/* The name of a shared port has room for this many devices. */
#define MOST_SHARERS 3

/* A device as users call it: "nvme0n1 (0002:81:00.0)". */
static void call(const struct device *d, char *ret, size_t size)
{
	if (d->name[0])
		snprintf(ret, size, "%s (%s)", d->name, d->bdf);
	else
		str_copy(ret, size, d->bdf);
}

static int not_counted(struct device_plan *p, const struct device *d, const char *why)
{
	char name[MODEL_BDF_LEN + sizeof(d->name) + 4];

	call(d, name, sizeof(name));
	return device_reason_add(&p->missed, name, why);
}

static const struct pci_function *function_of(const struct device_plan_options *o, size_t item)
{
	return &o->devices->topology->functions[o->devices->items[item].function];
}

/* The PMU of a root complex; on some chips the socket's PMU. */
static const struct pmu *pmu_of(const struct pmu_list *pmus, const struct pci_wiring *w)
{
	const struct pmu *pmu = NULL;

	for (size_t i = 0; i < nr_pmu_platforms && !pmu; i++) {
		enum pmu_kind kind = pmu_platforms[i].pcie;
		const struct pmu_family *f = pmu_family_of(kind);

		if (f && kind != PMU_UNKNOWN)
			pmu = pmu_find(pmus, kind, w->socket,
				       pmu_family_has_rc(f) ? (int32_t)w->rc : -1);
	}
	return pmu;
}

static bool find_socket(const struct device_plan_options *o, uint32_t id, uint32_t *ret)
{
	for (uint32_t i = 0; i < o->nr_sockets; i++) {
		if (o->socket_ids[i] == id) {
			*ret = i;
			return true;
		}
	}
	return false;
}

static void no_such_pmu(const struct pmu_list *pmus, const struct pci_wiring *w, char *ret_why,
			size_t size)
{
	const struct pmu_platform_row *chip = pmu_platform_row(pmu_list_platform(pmus));
	enum pmu_kind kind = chip ? chip->pcie : pmu_platforms[0].pcie;
	char name[PMU_NAME_LEN];

	if (kind == PMU_UNKNOWN) {
		snprintf(ret_why, size, "no PMU of %s is known to count devices", chip->title);
		return;
	}
	for (size_t i = 0; i < pmus->nr; i++)
		if (pmus->pmus[i].kind == kind && pmus->pmus[i].socket == (int32_t)w->socket &&
		    pmu_name_misleads(&pmus->pmus[i])) {
			snprintf(ret_why, size,
				 "names and CPUs of %s disagree, so it is not known which one "
				 "counts it",
				 pmu_family_of(kind)->pattern);
			return;
		}
	pmu_family_name(pmu_family_of(kind), w->socket, w->rc, name, sizeof(name));
	snprintf(ret_why, size, "there is no %s", name);
}

/* The PMU that serves only the root port above a device; NULL for none. */
static const struct pmu *pmu_of_port(const struct device_plan_options *o, size_t item)
{
	const struct topology *t = o->devices->topology;
	const struct pci_function *f = function_of(o, item);
	char name[PMU_NAME_LEN];

	if (f->port == TOPOLOGY_NONE)
		return NULL;
	topology_port_pmu(&t->functions[f->port], name, sizeof(name));
	for (size_t i = 0; i < o->pmus->nr; i++)
		if (o->pmus->pmus[i].family->one_port && !strcmp(o->pmus->pmus[i].name, name))
			return &o->pmus->pmus[i];
	return NULL;
}

/* The addresses of all devices behind a port. */
static void put_sharers(const struct topology *t, uint32_t port, char *ret, size_t size)
{
	size_t nr = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < t->nr; i++) {
		if (t->functions[i].port != port || !device_moves(&t->functions[i]))
			continue;
		if (nr++ < MOST_SHARERS)
			str_append(ret, size, "%s%s", nr > 1 ? ", " : "", t->functions[i].bdf);
	}
	if (nr > MOST_SHARERS)
		str_append(ret, size, " and %zu more", nr - MOST_SHARERS);
}

/* Why the root port's own PMU cannot count; "" if it can. */
static void check_port_pmu(const struct device_plan_options *o, const struct pmu *pmu,
			   char *ret_why, size_t size)
{
	uint32_t socket;

	if (!pmu->usable)
		snprintf(ret_why, size, "%s: %.200s", pmu->name, pmu->problem);
	else if (pmu->socket < 0 || !find_socket(o, (uint32_t)pmu->socket, &socket))
		snprintf(ret_why, size, "%s is on no socket that is followed", pmu->name);
}

/* The same for a PMU of the root complex, which must know its ports. */
static void check_pmu(const struct device_plan_options *o, size_t item, const struct device *d,
		      const struct pmu *pmu, char *ret_why, size_t size)
{
	const struct pci_wiring *w = &function_of(o, item)->wiring;

	if (w->how == WIRING_UNKNOWN)
		snprintf(ret_why, size,
			 "which root port is above is not known (--pci-map tells)%s%s",
			 w->note[0] ? ": " : "", w->note);
	else if (d->wiring == WIRING_UNKNOWN)
		snprintf(ret_why, size, "socket %u is not among those that are followed",
			 w->socket);
	else if (!pmu)
		no_such_pmu(o->pmus, w, ret_why, size);
	else if (!pmu->usable)
		snprintf(ret_why, size, "%s: %.200s", pmu->name, pmu->problem);
	else if (!o->devices->items[item].alone && !filter_row_use(pmu->kind, FILTER_BDF))
		snprintf(ret_why, size,
			 "others are below the same root port, and %s cannot tell them apart",
			 pmu->name);
}

/*
 * Which PMU counts a device and how; @ret_why: why none does, "" where none was requested. A device
 * that has a PMU but is not counted shares its port, which is counted.
 */
static enum device_filter choose(const struct device_plan_options *o, size_t item,
				 const struct device *d, const struct pmu **ret, char *ret_why,
				 size_t size)
{
	bool alone = o->devices->items[item].alone;
	const struct pmu *pmu, *of_port;

	ret_why[0] = '\0';
	*ret = NULL;
	if (!o->pmus)
		return DEVICE_NOT_COUNTED;
	pmu = pmu_of(o->pmus, &function_of(o, item)->wiring);
	of_port = pmu ? NULL : pmu_of_port(o, item);
	if (of_port)
		check_port_pmu(o, of_port, ret_why, size);
	else
		check_pmu(o, item, d, pmu, ret_why, size);
	if (ret_why[0])
		return DEVICE_NOT_COUNTED;
	*ret = of_port ? of_port : pmu;
	if (alone)
		return DEVICE_BY_PORT;
	return of_port ? DEVICE_NOT_COUNTED : DEVICE_BY_ID;
}

/* All known devices, with the PMUs that are to count them. */
static int describe(struct device_plan *p, const struct device_plan_options *o,
		    const struct pmu **ret_pmus)
{
	int err = 0;

	for (size_t i = 0; i < o->devices->nr && !err; i++) {
		const struct pci_wiring *w = &function_of(o, i)->wiring;
		struct device *d;
		char why[PMU_PROBLEM_LEN + PMU_NAME_LEN];

		if (array_reserve(p->devices, p->cap_devices, p->nr_devices))
			return -ENOMEM;
		d = &p->devices[p->nr_devices++];
		*d = (struct device){ 0 };
		device_item_describe(o->devices, i, d);
		d->port = 0;
		if (!find_socket(o, w->socket, &d->socket)) {
			d->socket = 0;
			d->wiring = WIRING_UNKNOWN;
		}
		d->filter = choose(o, i, d, &ret_pmus[i], why, sizeof(why));
		if (why[0])
			err = not_counted(p, d, why);
		/* The device's place is unknown, but its PMU's is known. */
		if (ret_pmus[i] && ret_pmus[i]->family->one_port && d->wiring == WIRING_UNKNOWN)
			find_socket(o, (uint32_t)ret_pmus[i]->socket, &d->socket);
	}
	return err;
}

/* The terms that select a device. */
static size_t filter_terms(const struct pmu *pmu, const struct device *d, uint16_t requester_id,
			   struct pmu_term ret[2])
{
	const struct filter_row *row =
		filter_row_use(pmu->kind, d->filter == DEVICE_BY_ID ? FILTER_BDF : FILTER_PORTS);

	if (pmu->family->one_port)
		return 0;
	str_copy(ret[0].name, sizeof(ret[0].name), row->name);
	ret[0].value = d->filter == DEVICE_BY_ID ? requester_id : 1ull << (d->rp & 63);
	if (d->filter != DEVICE_BY_ID)
		return 1;
	row = filter_row_use(pmu->kind, FILTER_BDF_ENABLE);
	str_copy(ret[1].name, sizeof(ret[1].name), row->name);
	ret[1].value = 1;
	return 2;
}

static int count_device(struct device_plan *p, const struct device_depth *depth, size_t device,
			uint16_t requester_id)
{
	struct device_sets s = { .depth = depth, .device = device };
	struct diag d = { 0 };
	int err;

	s.nr_terms = filter_terms(depth->pmu, &p->devices[device], requester_id, s.terms);
	err = device_sets_add(p, &s, &d);
	if (!err || err == -ENOMEM)
		return err;
	p->devices[device].filter = DEVICE_NOT_COUNTED;
	return not_counted(p, &p->devices[device], d.what);
}

/*
 * The port above a device as a whole: existing, or new. @check: its devices are counted, too;
 * otherwise they share the port's bytes.
 */
static int count_port(struct device_plan *p, const struct device_plan_options *o,
		      const struct device_depth *depth, size_t item, bool check)
{
	const struct pci_function *f = function_of(o, item), *port;
	struct device_depth sums = *depth;
	struct device d = p->devices[item];
	size_t at = o->devices->nr;
	int err;

	if (f->port == TOPOLOGY_NONE)
		return 0;
	port = &o->devices->topology->functions[f->port];
	while (at < p->nr_devices && strcmp(p->devices[at].bdf, port->bdf) != 0)
		at++;
	if (at < p->nr_devices) {
		p->devices[item].port = p->devices[at].filter ? at + 1 : 0;
		return 0;
	}
	if (p->nr_devices == TRACE_MAX_DEVICES || (check && depth->capacity.events < 2))
		return 0;
	if (array_reserve(p->devices, p->cap_devices, p->nr_devices))
		return -ENOMEM;
	str_copy(d.bdf, sizeof(d.bdf), port->bdf);
	d.name[0] = '\0';
	if (!check)
		put_sharers(o->devices->topology, f->port, d.name, sizeof(d.name));
	d.kind = DEVICE_PORT;
	d.filter = DEVICE_BY_PORT;
	p->devices[p->nr_devices++] = d;
	sums.parts = DEVICE_BYTES;
	sums.by_destination = false;
	sums.beside = false;
	err = count_device(p, &sums, at, 0);
	if (!err && p->devices[at].filter)
		p->devices[item].port = at + 1;
	return err;
}

/* A device that shares the counter of its port with other devices. */
static int share_port(struct device_plan *p, const struct device_plan_options *o,
		      const struct device_depth *depth, size_t item)
{
	size_t before = p->nr_devices;
	int err = count_port(p, o, depth, item, false);
	const struct device *d = &p->devices[item];

	if (err || (!d->port && p->nr_devices > before))
		return err; /* the port's note has told why */
	if (!d->port)
		return not_counted(p, d, "its root port has other devices, and is not counted");
	if (p->nr_devices == before)
		return 0;
	return text_list_print(&p->notes,
			       "root port %s is counted as a whole (%s): it cannot tell %s apart",
			       p->devices[before].bdf, depth->pmu->name, p->devices[before].name);
}

/* One device, as it was chosen. */
static int plan_device(struct device_plan *p, const struct device_plan_options *o,
		       const struct device_depth *by_port, const struct device_depth *by_id,
		       size_t item)
{
	uint16_t id = o->devices->items[item].requester_id;
	int err;

	switch (p->devices[item].filter) {
	case DEVICE_BY_PORT:
		return count_device(p, by_port, item, id);
	case DEVICE_BY_ID:
		err = count_device(p, by_id, item, id);
		if (!err && p->devices[item].filter)
			err = count_port(p, o, by_id, item, true);
		return err;
	default:
		return share_port(p, o, by_port, item);
	}
}

static int plan_pmu(struct device_plan *p, const struct device_plan_options *o,
		    const struct pmu *pmu, const struct pmu *const *pmus)
{
	struct device_depth by_port, by_id;
	size_t nr[NR_DEVICE_FILTERS] = { 0 };
	int err;

	for (size_t i = 0; i < o->devices->nr; i++)
		if (pmus[i] == pmu)
			nr[p->devices[i].filter]++;
	if (!nr[DEVICE_BY_PORT] && !nr[DEVICE_BY_ID] && !nr[DEVICE_NOT_COUNTED])
		return 0;
	device_depth_find(o, pmu, nr[DEVICE_BY_PORT], nr[DEVICE_BY_ID], &by_port, &by_id);
	err = device_depth_note(p, nr[DEVICE_BY_ID] ? &by_id : &by_port);
	if (!err && nr[DEVICE_BY_ID] && nr[DEVICE_BY_PORT] && by_port.parts != by_id.parts)
		err = device_depth_note(p, &by_port);
	for (size_t i = 0; i < o->devices->nr && !err; i++)
		if (pmus[i] == pmu)
			err = plan_device(p, o, &by_port, &by_id, i);
	return err;
}

/* The bytes of such ports beyond devices' own requests, once for all of them. */
static int note_ports(struct device_plan *p, const struct pmu *const *pmus, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (pmus[i] && pmus[i]->family->one_port)
			return text_list_add(&p->notes,
					     "root ports count by themselves here: what CPUs write "
					     "to devices and read of them is in READ and WRITE of "
					     "these");
	return 0;
}

bool device_plan_checks(const struct device_plan *p, size_t device)
{
	bool checks = false;

	for (size_t i = 0; i < p->nr_devices; i++)
		checks |= p->devices[i].port == device + 1 && p->devices[i].filter;
	return checks;
}

int device_plan_make(const struct device_plan_options *o, struct diag *d, struct device_plan *ret)
{
	cleanup_free const struct pmu **pmus = calloc(o->devices->nr + 1, sizeof(*pmus));
	struct device_plan p = { 0 };
	int err = pmus ? describe(&p, o, pmus) : -ENOMEM;

	for (size_t i = 0; o->pmus && i < o->pmus->nr && !err; i++)
		err = plan_pmu(&p, o, &o->pmus->pmus[i], pmus);
	if (!err)
		err = device_links_add(&p, o);
	if (!err)
		err = note_ports(&p, pmus, o->devices->nr) ?: device_reasons_note(&p);
	if (!err && p.nr_counters > TRACE_MAX_COUNTERS / 2) {
		err = diag_fail(d, -E2BIG, "%zu devices: too many counters for one run",
				p.nr_devices);
		diag_help(d, "choose some of them with -D");
	} else if (err) {
		diag_error(d, err, "cannot plan the counters of devices");
	}
	if (err)
		device_plan_free(&p);
	else
		*ret = p;
	return err;
}

void device_plan_free(struct device_plan *p)
{
	if (!p)
		return;
	free(p->devices);
	want_list_free(&p->wants);
	free(p->counters);
	free(p->counter_wants);
	free(p->groups);
	free(p->probes);
	free(p->latencies);
	device_reasons_free(&p->missed);
	device_reasons_free(&p->lost);
	text_list_free(&p->notes);
	*p = (struct device_plan){ 0 };
}
