// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/check/checks_devices.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "platform/pci/topology.h"

#define CLASS_DISPLAYS 0x03

static size_t count_pmus(const struct pmu_list *pmus)
{
	size_t nr = 0;

	for (size_t i = 0; i < pmus->nr; i++)
		for (size_t p = 0; p < nr_pmu_platforms; p++)
			nr += pmu_platforms[p].pcie != PMU_UNKNOWN &&
			      pmus->pmus[i].kind == pmu_platforms[p].pcie;
	return nr;
}

/* PMUs that serve a single root port each. */
static size_t count_port_pmus(const struct pmu_list *pmus)
{
	size_t nr = 0;

	for (size_t i = 0; i < pmus->nr; i++)
		nr += pmus->pmus[i].family->one_port && pmus->pmus[i].usable;
	return nr;
}

/* Then the places of ports need not be known: sysfs has the tree. */
static void judge_ports(const struct topology *t, size_t nr_pmus, struct check_row *ret)
{
	size_t ports = 0;

	for (size_t i = 0; i < t->nr; i++)
		ports += t->functions[i].role == PCI_ROLE_ROOT_PORT;
	snprintf(ret->found, sizeof(ret->found), "%zu root port%s, %zu with a PMU", ports,
		 ports == 1 ? "" : "s", nr_pmus);
	if (nr_pmus >= ports)
		ret->status = CHECK_OK;
	else
		str_copy(ret->remedy, sizeof(ret->remedy),
			 "-D cannot count what devices below the other ports move");
}

static void judge(const struct topology *t, size_t nr_pmus, struct check_row *ret)
{
	size_t ports = 0, known = 0;

	for (size_t i = 0; i < t->nr; i++) {
		bool is_port = t->functions[i].role == PCI_ROLE_ROOT_PORT;

		ports += is_port;
		known += is_port && t->functions[i].wiring.how != WIRING_UNKNOWN;
	}
	snprintf(ret->found, sizeof(ret->found), "%zu PCIe PMU%s, %zu root port%s", nr_pmus,
		 nr_pmus == 1 ? "" : "s", ports, ports == 1 ? "" : "s");
	if (ports)
		str_append(ret->found, sizeof(ret->found), ", place known of %zu", known);
	if (nr_pmus && ports && known == ports) {
		ret->status = CHECK_OK;
		return;
	}
	if (!nr_pmus)
		str_copy(ret->remedy, sizeof(ret->remedy),
			 "-D cannot count the traffic of devices, only attribute their requests");
	else if (t->cut)
		str_copy(ret->remedy, sizeof(ret->remedy),
			 "-D must read configuration space: run as root");
	else
		str_copy(ret->remedy, sizeof(ret->remedy),
			 "\"t410trace topology\" shows what is known; --pci-map tells -D the rest");
}

/* Display and 3D controllers are of base class 3, also those that only show a console. */
static void name_gpus(const struct topology *t, struct check_row *ret)
{
	size_t nr = 0;

	for (size_t i = 0; i < t->nr; i++)
		nr += t->functions[i].class_code >> 16 == CLASS_DISPLAYS;
	if (!nr)
		return;
	*ret = (struct check_row){ .name = "gpus", .status = CHECK_OK };
	str_append(ret->found, sizeof(ret->found), "%zu", nr);
	for (size_t i = 0; i < t->nr; i++) {
		const struct pci_function *f = &t->functions[i];

		if (f->class_code >> 16 == CLASS_DISPLAYS)
			str_append(ret->found, sizeof(ret->found), "%s %s %s%s%s%s",
				   strchr(ret->found, ' ') ? "," : ":", f->bdf, f->what,
				   f->driver[0] ? " (" : "", f->driver, f->driver[0] ? ")" : "");
	}
}

int check_devices(const struct sysfs *fs, struct check_row *ret_row, struct check_row *ret_gpus)
{
	struct topology_source source = { .sysfs = fs };
	struct topology topology = { 0 };
	struct pmu_list pmus = { 0 };
	struct diag d = { 0 };
	int err = pmu_list_read(fs, &d, &pmus);

	*ret_gpus = (struct check_row){ 0 };
	*ret_row = (struct check_row){ .name = "pci", .status = CHECK_LIMITED };
	if (err == -ENOMEM)
		return err;
	source.platform = pmu_list_platform(&pmus);
	err = topology_read(&source, &d, &topology);
	if (!err && !count_pmus(&pmus) && count_port_pmus(&pmus)) {
		judge_ports(&topology, count_port_pmus(&pmus), ret_row);
	} else if (!err) {
		judge(&topology, count_pmus(&pmus), ret_row);
	} else {
		str_copy(ret_row->found, sizeof(ret_row->found), d.what);
		str_copy(ret_row->remedy, sizeof(ret_row->remedy), "-D finds no devices here");
	}
	name_gpus(&topology, ret_gpus);
	topology_free(&topology);
	pmu_list_free(&pmus);
	return err == -ENOMEM ? err : 0;
}
