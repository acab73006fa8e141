// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Notes of the plan for devices: those that share a reason are one sentence. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "platform/plan/device_plan_internal.h"

/* A sentence names this many. */
#define MOST_NAMED 3
/* A device is called by its name and its address. */
#define CALLED_LEN (sizeof(((struct device *)NULL)->name) + MODEL_BDF_LEN + 8)

int device_reason_add(struct device_reasons *r, const char *name, const char *why)
{
	return text_list_add(&r->names, name) ?: text_list_add(&r->why, why);
}

void device_reasons_free(struct device_reasons *r)
{
	text_list_free(&r->names);
	text_list_free(&r->why);
}

/* "A, B, C and 2 more" with the reason of @at; the number of names, 0 if it came before. */
static size_t names_with(const struct device_reasons *r, size_t at, char *ret, size_t size)
{
	size_t nr = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < 2 * r->why.nr; i++) {
		size_t k = i % r->why.nr;
		/* "nvme0n1 (0002:81:00.0)" says more than an address */
		bool has_name = strchr(r->names.items[k], '('), first = i < r->why.nr;

		if (first != has_name || strcmp(r->why.items[k], r->why.items[at]) != 0)
			continue;
		if (k < at)
			return 0;
		if (nr++ < MOST_NAMED)
			str_append(ret, size, "%s%s", nr > 1 ? ", " : "", r->names.items[k]);
	}
	if (nr > MOST_NAMED)
		str_append(ret, size, " and %zu more", nr - MOST_NAMED);
	return nr;
}

static int note_missed(struct device_plan *p)
{
	char names[(MOST_NAMED + 1) * CALLED_LEN];
	int err = 0;

	for (size_t i = 0; i < p->missed.why.nr && !err; i++) {
		size_t nr = names_with(&p->missed, i, names, sizeof(names));

		if (nr)
			err = text_list_print(&p->notes, "%s %s not counted: %s", names,
					      nr > 1 ? "are" : "is", p->missed.why.items[i]);
	}
	return err;
}

static int note_lost(struct device_plan *p)
{
	char names[(MOST_NAMED + 1) * PMU_NAME_LEN], text[1024] = "";

	for (size_t i = 0; i < p->lost.why.nr; i++)
		if (names_with(&p->lost, i, names, sizeof(names)))
			str_append(text, sizeof(text), "%s%s (%s)", text[0] ? ", " : "",
				   p->lost.why.items[i], names);
	return text[0] ? text_list_print(&p->notes, "too few counters: left out of devices are %s",
					 text)
		       : 0;
}

int device_reasons_note(struct device_plan *p)
{
	return note_missed(p) ?: note_lost(p);
}
