// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "peak.h"

#include <stddef.h>

#include "base/array.h"

const char *peak_name(unsigned int of)
{
	static const char *const names[NR_PEAKS] = {
		[PEAK_CMEM] = "cmem",	  [PEAK_GMEM] = "gmem", [PEAK_CXL] = "cxl",
		[PEAK_REMOTE] = "remote", [PEAK_PCIE] = "pcie",
	};

	return of < NR_PEAKS ? names[of] : NULL;
}

const char *peak_from_name(unsigned int from)
{
	static const char *const names[NR_PEAK_FROM] = {
		[PEAK_GIVEN] = "given",
		[PEAK_FIRMWARE] = "firmware",
	};

	return from < NR_PEAK_FROM ? names[from] : NULL;
}

const struct peak *peaks_find(const struct peaks *p, enum peak_of of, uint32_t socket)
{
	for (uint32_t i = 0; i < p->nr; i++)
		if (p->items[i].of == of &&
		    (p->items[i].socket == socket || p->items[i].socket == PEAK_EVERY_SOCKET))
			return &p->items[i];
	return NULL;
}

/* Remove the peaks of one kind. */
static void drop(struct peaks *p, enum peak_of of)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < p->nr; i++)
		if (p->items[i].of != of)
			p->items[kept++] = p->items[i];
	p->nr = kept;
}

bool peaks_given(const struct peaks_wanted *w)
{
	for (int i = 0; i < NR_PEAKS; i++)
		if (w->bytes_per_s[i])
			return true;
	return false;
}

void peaks_apply(struct peaks *p, const struct peaks_wanted *w)
{
	bool firmware = false;

	if (w->none)
		p->nr = 0;
	for (unsigned int of = 0; of < NR_PEAKS; of++) {
		if (!w->bytes_per_s[of])
			continue;
		drop(p, (enum peak_of)of);
		if (p->nr < PEAK_MAX)
			p->items[p->nr++] = (struct peak){ .of = (enum peak_of)of,
							   .from = PEAK_GIVEN,
							   .socket = PEAK_EVERY_SOCKET,
							   .bytes_per_s = w->bytes_per_s[of] };
	}
	for (uint32_t i = 0; i < p->nr; i++)
		firmware |= p->items[i].from == PEAK_FIRMWARE;
	if (!firmware)
		p->note[0] = '\0';
}

const char *peaks_wrong(const struct peaks *p)
{
	if (p->nr > PEAK_MAX)
		return "too many peaks";
	for (uint32_t i = 0; i < p->nr; i++) {
		const struct peak *a = &p->items[i];

		if (a->of >= NR_PEAKS || a->from >= NR_PEAK_FROM)
			return "a peak of an unknown kind";
		if (!a->bytes_per_s || a->bytes_per_s > PEAK_MOST)
			return "a peak that cannot be";
		for (uint32_t k = 0; k < i; k++)
			if (p->items[k].of == a->of && p->items[k].socket == a->socket)
				return "two peaks of one thing";
	}
	return NULL;
}
