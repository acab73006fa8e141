// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The place of a root port. T410 firmware tells it; otherwise the user may, and as a last resort
 * there are rules that held on machines seen so far.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "platform/pci/topology_internal.h"

#define MAX_PORT       7 /* port masks of a T410 have 8 bits */
#define MAX_PORT_GRACE 9
/* T410: segment = 8 * socket + rc + 1 */
#define SEGMENTS       8
/* Grace: domain = 16 * socket + root port */
#define DOMAINS_GRACE  16
#define MAX_SOCKETS    256
#define MAX_COMPLEXES  256

static void from_map(const struct pci_map_entry *e, struct pci_wiring *w)
{
	w->how = WIRING_USER;
	w->socket = e->socket;
	w->rc = e->rc;
	w->rp = e->rp;
	w->gpu = e->gpu;
}

/* Firmware and Linux number buses independently; the rest of the capability holds anyway. */
static bool from_firmware(const struct pci_config *c, const struct bdf *a, struct pci_wiring *w)
{
	const struct pci_dvsec *v = &c->dvsec;

	if (!v->present)
		return false;
	if (v->rp > MAX_PORT) {
		snprintf(w->note, sizeof(w->note),
			 "the firmware calls it port %u, and there are 8 at most", v->rp);
		return false;
	}
	if (v->bus != a->bus || v->segment != (a->domain & 0xff))
		snprintf(w->note, sizeof(w->note),
			 "the firmware calls it segment %02x, bus %02x: it numbers them "
			 "differently",
			 v->segment, v->bus);
	w->how = WIRING_FIRMWARE;
	w->socket = v->socket;
	w->rc = v->rc;
	w->rp = v->rp;
	return true;
}

/* Put a warning, or why nothing is known, in front of the earlier note. */
static void explain(struct pci_wiring *w, const char *text)
{
	if (!w->note[0])
		str_copy(w->note, sizeof(w->note), text);
}

static void from_rules(const struct pci_config *c, const struct bdf *a, enum pmu_platform platform,
		       struct pci_wiring *w)
{
	const struct pmu_platform_row *chip = pmu_platform_row(platform);
	enum wiring rule = chip ? chip->port_rule : WIRING_UNKNOWN;

	if (rule == WIRING_MEDIUM) {
		uint32_t rp = a->domain % DOMAINS_GRACE;

		if (rp > MAX_PORT_GRACE || a->domain / DOMAINS_GRACE >= MAX_SOCKETS) {
			explain(w, "its domain does not fit the rule of Grace");
			return;
		}
		w->how = WIRING_MEDIUM;
		w->socket = a->domain / DOMAINS_GRACE;
		w->rc = 0;
		w->rp = rp;
		explain(w, "by the rule domain = 16 * socket + port");
	} else if (rule == WIRING_LOW && !c->cut) {
		if (!a->domain || (a->domain - 1) / SEGMENTS >= MAX_SOCKETS || !c->express ||
		    c->link_port > MAX_PORT) {
			explain(w, "no DVSEC 10de/4, and its numbers do not fit the rule of T410");
			return;
		}
		w->how = WIRING_LOW;
		w->socket = (a->domain - 1) / SEGMENTS;
		w->rc = (a->domain - 1) % SEGMENTS;
		w->rp = c->link_port;
		explain(w, "no DVSEC 10de/4: by the rule segment = 8 * socket + rc + 1");
	}
}

void pci_wiring_find(const struct pci_config *config, const struct bdf *a,
		     const struct pci_map *map, enum pmu_platform platform, struct pci_wiring *ret)
{
	const struct pci_map_entry *e = pci_map_find(map, a, false);
	struct pci_wiring w = { .how = WIRING_UNKNOWN };

	if (!e)
		e = pci_map_find(map, a, true);
	if (from_firmware(config, a, &w)) {
		/* firmware makes the map unnecessary; users who give one should know that */
		if (e && (e->socket != w.socket || e->rc != w.rc || e->rp != w.rp))
			snprintf(w.note, sizeof(w.note),
				 "line %zu of the map says socket %u, RC %u, port %u; the firmware "
				 "is believed",
				 e->line, e->socket, e->rc, e->rp);
	} else if (e) {
		from_map(e, &w);
	} else {
		from_rules(config, a, platform, &w);
		if (w.how == WIRING_UNKNOWN)
			explain(&w, !config->readable ? "its configuration space cannot be read"
				    : config->cut     ? "reading it needs CAP_SYS_ADMIN"
						      : "no DVSEC 10de/4");
	}
	*ret = w;
}

static struct bdf address_of(const struct pci_function *f)
{
	return (struct bdf){ .domain = f->domain, .bus = f->bus, .devfn = f->devfn };
}

/* Two ports at one place cannot both be right. */
static int check_twice(struct topology_job *job)
{
	const size_t nr = (size_t)MAX_SOCKETS * MAX_COMPLEXES * (MAX_PORT_GRACE + 1);
	cleanup_free uint8_t *seen = calloc(1, nr / 8 + 1);
	int err = seen ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < job->t->nr; i++) {
		const struct pci_function *f = &job->t->functions[i];
		const struct pci_wiring *w = &f->wiring;
		size_t at;

		if (f->role != PCI_ROLE_ROOT_PORT || w->how == WIRING_UNKNOWN || f->port != i)
			continue;
		at = ((size_t)w->socket * MAX_COMPLEXES + w->rc) * (MAX_PORT_GRACE + 1) + w->rp;
		if (seen[at / 8] >> at % 8 & 1)
			err = topology_note(job,
					    "%s: another root port is port %u of RC %u on socket "
					    "%u, too: counts by port have both",
					    f->bdf, w->rp, w->rc, w->socket);
		seen[at / 8] |= (uint8_t)(1u << at % 8);
	}
	return err;
}

static int check_map(struct topology_job *job)
{
	const struct pci_map *m = job->src->map;
	int err = 0;

	for (size_t i = 0; m && !err && i < m->nr; i++) {
		const struct pci_map_entry *e = &m->entries[i];
		bool found = !e->segment && topology_index(job->t, &e->address) != TOPOLOGY_NONE;

		for (size_t k = 0; e->segment && !found && k < job->t->nr; k++)
			found = job->t->functions[k].domain == e->address.domain;
		if (!found)
			err = topology_note(job, "line %zu of the map is about nothing here",
					    e->line);
	}
	return err;
}

int topology_wiring(struct topology_job *job)
{
	struct topology *t = job->t;
	int err;

	for (size_t i = 0; i < t->nr; i++) {
		struct pci_function *f = &t->functions[i];
		struct bdf a = address_of(f);

		if (f->port == i)
			pci_wiring_find(&job->configs[i], &a, job->src->map, job->src->platform,
					&f->wiring);
	}
	for (size_t i = 0; i < t->nr; i++) {
		struct pci_function *f = &t->functions[i];
		struct bdf a = address_of(f);
		const struct pci_map_entry *e;

		if (f->port == i)
			continue;
		if (f->port != TOPOLOGY_NONE)
			f->wiring = t->functions[f->port].wiring;
		e = pci_map_find(job->src->map, &a, false);
		if (!e && f->port == TOPOLOGY_NONE)
			e = pci_map_find(job->src->map, &a, true);
		if (e) {
			f->wiring = (struct pci_wiring){ 0 };
			from_map(e, &f->wiring);
		}
	}
	err = check_twice(job);
	return err ? err : check_map(job);
}
