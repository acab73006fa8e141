// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/pmu/explain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "platform/pmu/pmu_scale.h"
#include "platform/pmu/pmu_socket.h"
#include "tables/events.h"
#include "tables/scale.h"

#define NAMES_LEN 256

/* The chip of a PMU with this identifier, or NULL. */
static const struct pmu_platform_row *chip_of(const struct pmu_family *family)
{
	return family ? pmu_platform_row(family->platform) : NULL;
}

bool pmu_identity(const char *identifier, char *ret, size_t size)
{
	const struct pmu_family *family = pmu_family_identified(identifier);
	const struct pmu_platform_row *chip = chip_of(family);

	if (!chip)
		return false;
	snprintf(ret, size, "%s (%s) of %s", family->title, family->short_name, chip->title);
	return true;
}

/* Names of the PMUs of the same kind and identifier as the one at @first. */
static void names_alike(const struct pmu_list *pmus, size_t first, char *names, size_t size)
{
	const struct pmu *like = &pmus->pmus[first];

	names[0] = '\0';
	for (size_t i = first; i < pmus->nr; i++) {
		const struct pmu *pmu = &pmus->pmus[i];

		if (pmu->kind == like->kind && !strcmp(pmu->identifier, like->identifier))
			str_append(names, size, "%s%s", names[0] ? ", " : "", pmu->name);
	}
}

/* Was a PMU of the same kind explained before? */
static bool explained(const struct pmu_list *pmus, size_t at)
{
	const struct pmu *pmu = &pmus->pmus[at];

	for (size_t i = 0; i < at; i++) {
		if (pmus->pmus[i].kind == pmu->kind &&
		    !strcmp(pmus->pmus[i].identifier, pmu->identifier))
			return true;
	}
	return false;
}

static int note_unknown(const struct pmu_list *pmus, size_t at, struct text_list *n)
{
	const struct pmu *pmu = &pmus->pmus[at];
	const struct pmu_platform_row *chip = chip_of(pmu_family_identified(pmu->identifier));
	char names[NAMES_LEN], identity[128];

	if (explained(pmus, at))
		return 0;
	names_alike(pmus, at, names, sizeof(names));
	if (chip && chip->since) {
		pmu_identity(pmu->identifier, identity, sizeof(identity));
		return text_list_print(
			n,
			"%s: by the identifier %s this is the %s, which this kernel does "
			"not know: it offers cycles and raw filters only. Linux %s or "
			"newer knows it, and some vendors' older kernels have the drivers "
			"too. The number in the name is a running index, not a socket.",
			names, pmu->identifier, identity, chip->since);
	}
	if (pmu_identity(pmu->identifier, identity, sizeof(identity)))
		return text_list_print(
			n,
			"%s: by the identifier %s this is the %s, but the kernel did not "
			"recognise it: it offers cycles and raw filters only. Try a newer "
			"kernel. The number in the name is a running index, not a socket.",
			names, pmu->identifier, identity);
	return text_list_print(
		n,
		"%s: an NVIDIA PMU that neither the kernel nor t410trace knows (identifier "
		"%s): it offers cycles and raw filters only. A newer kernel may know it; "
		"the T410 is known since Linux 7.1. The number in the name is a running "
		"index, not a socket.",
		names, pmu->identifier[0] ? pmu->identifier : "none");
}

/*
 * Older kernels compare less of the identifier, and take T410's PCIe for Grace's and its UCF for
 * the SCF. Then six root complexes of a socket request the same name, and one gets it.
 */
static int note_mistaken(const struct pmu_list *pmus, size_t at, struct text_list *n)
{
	const struct pmu *pmu = &pmus->pmus[at];
	const struct pmu_family *family = pmu_family_identified(pmu->identifier);
	const struct pmu_platform_row *chip = chip_of(family), *taken_for;
	char names[NAMES_LEN], identity[128];

	if (!chip || family == pmu->family || chip->mistaken_for != pmu->platform ||
	    explained(pmus, at))
		return 0;
	taken_for = pmu_platform_row(pmu->platform);
	names_alike(pmus, at, names, sizeof(names));
	pmu_identity(pmu->identifier, identity, sizeof(identity));
	return text_list_print(
		n,
		"%s: the name is that of %s's %s, but the identifier %s is that of the "
		"%s. Kernels before %s take one for the other: events and "
		"filters do not fit the hardware%s. Do not trust its counts; use Linux "
		"%s or newer.",
		names, taken_for->title, pmu->family->title, pmu->identifier, identity, chip->since,
		family->kind == chip->pcie ? ", and as all root complexes of a socket want "
					     "the same name, PMUs are missing"
					   : "",
		chip->since);
}

/* Once for each kind. */
static int note_numbers(const struct pmu_list *pmus, size_t at, struct text_list *n)
{
	const struct pmu *pmu = &pmus->pmus[at];
	size_t nr = 0, before = 0;

	for (size_t i = 0; i < pmus->nr; i++) {
		bool misleads =
			pmus->pmus[i].kind == pmu->kind && pmu_name_misleads(&pmus->pmus[i]);

		nr += misleads;
		before += misleads && i < at;
	}
	if (!pmu_name_misleads(pmu) || before)
		return 0;
	return text_list_print(
		n,
		"%s: name and associated_cpus disagree about the socket (%zu of these PMUs). The "
		"CPUs are believed: this kernel seems to number all PMUs of a kind. Mainline "
		"Linux has the socket in the name.",
		pmu->name, nr);
}

static int note_one_gpu(const struct pmu *pmu, struct text_list *n)
{
	if (!filter_row_use(pmu->kind, FILTER_GPUS) || strcmp(pmu->peer, "nr_gpu=1"))
		return 0;
	return text_list_print(
		n,
		"%s: one GPU is connected. If everything reads 0 although the GPU is busy, "
		"it is the second one that is wired, which the driver does not count.",
		pmu->name);
}

static int note_scale(const struct pmu *pmu, struct text_list *n)
{
	const struct counter_row *row;
	const struct pmu_event *event = pmu->borrowed ? NULL : pmu_scale_differs(pmu, &row);
	struct bytes_ratio r;
	char bytes[32];

	if (!event)
		return 0;
	r = pmu_row_bytes(row, event);
	snprintf(bytes, sizeof(bytes), "%.7g", (double)r.bytes / r.counts);
	return text_list_print(
		n,
		"%s: sysfs says that a count of %s is %.7g %s, and documents say %s (%s). "
		"Reports use %s.",
		pmu->name, event->name, pmu_row_scale(row, event), pmu_row_unit(row), bytes,
		row->doc, bytes);
}

static int note_unusable(const struct pmu *pmu, struct text_list *n)
{
	if (pmu->usable)
		return 0;
	return text_list_print(n, "%s cannot be counted: %s.", pmu->name,
			       pmu->problem[0] ? pmu->problem
					       : "sysfs does not say how to open its events");
}

/* Is the kernel's version known, and older than this one? */
static bool older_than(const char *release, int32_t major, int32_t minor)
{
	int32_t a, b;

	if (!release || !take_number(&release, &a) || *release++ != '.' ||
	    !take_number(&release, &b))
		return false;
	return a < major || (a == major && b < minor);
}

static int note_port_masks(const struct pmu_list *pmus, const char *release, struct text_list *n)
{
	bool ports = false;

	for (size_t i = 0; i < pmus->nr; i++)
		ports |= constraint_find(pmus->pmus[i].kind, CONSTRAINT_EMPTY_PORTS) != NULL;
	if (!ports || !older_than(release, 6, 14))
		return 0;
	return text_list_print(
		n,
		"Linux %.40s counts nothing on Grace's PCIe, NVLink-C2C and CNVLink PMUs "
		"unless ports are chosen (before 6.14). t410trace always chooses them; other "
		"tools may show 0.",
		release);
}

int pmu_notes(const struct pmu_list *pmus, const char *kernel_release, struct text_list *ret_notes)
{
	struct text_list n = { 0 };
	int err = 0;

	for (size_t i = 0; i < pmus->nr && !err; i++) {
		const struct pmu *pmu = &pmus->pmus[i];

		err = pmu->kind == PMU_UNKNOWN ? note_unknown(pmus, i, &n)
					       : note_mistaken(pmus, i, &n);
		if (!err)
			err = note_numbers(pmus, i, &n);
		if (!err)
			err = note_one_gpu(pmu, &n);
		if (!err)
			err = note_unusable(pmu, &n);
		if (!err)
			err = note_scale(pmu, &n);
	}
	if (!err)
		err = note_port_masks(pmus, kernel_release, &n);
	if (err)
		text_list_free(&n);
	else
		*ret_notes = n;
	return err;
}
