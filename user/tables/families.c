// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "tables/families.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "tables/own_rows.h"

const struct pmu_family *pmu_family_at(size_t i)
{
	size_t own = own_rows() ? own_rows()->nr_families : 0;

	if (i < own)
		return &own_rows()->families[i];
	return i - own < nr_pmu_families ? &pmu_families[i - own] : NULL;
}

const struct pmu_platform_row *pmu_platform_row(enum pmu_platform platform)
{
	if (platform == PMU_PLATFORM_OWN && own_rows())
		return own_rows()->platform;
	for (size_t i = 0; i < nr_pmu_platforms; i++)
		if (pmu_platforms[i].platform == platform)
			return &pmu_platforms[i];
	return NULL;
}

const char *pmu_platform_name(enum pmu_platform platform)
{
	const struct pmu_platform_row *row = pmu_platform_row(platform);

	return row ? row->name : "unknown";
}

const struct pmu_family *pmu_family_of(enum pmu_kind kind)
{
	const struct pmu_family *f;

	for (size_t i = 0; (f = pmu_family_at(i)); i++)
		if (f->kind == kind)
			return f;
	return NULL;
}

const struct pmu_family *pmu_family_one_port(void)
{
	const struct pmu_family *f;
	size_t i = 0;

	while ((f = pmu_family_at(i++)) && !f->one_port)
		;
	return f;
}

bool pmu_family_has_rc(const struct pmu_family *f)
{
	return strstr(f->pattern, "<rc>");
}

/* The number at a placeholder; @name moves behind it. */
static bool take_place(char place, const char **name, int32_t *n, int32_t *rc)
{
	size_t digits = strspn(*name, "0123456789abcdef");
	int32_t any;

	if (place == 'x') {
		*name += digits;
		return digits;
	}
	return take_number(name, place == 'r' ? rc : place == 'n' ? n : &any);
}

static bool match_pattern(const char *pattern, const char *name, int32_t *ret_n, int32_t *ret_rc)
{
	int32_t n = -1, rc = -1;

	while (*pattern) {
		if (*pattern == '<') {
			if (!take_place(pattern[1], &name, &n, &rc))
				return false;
			pattern = strchr(pattern, '>') + 1;
		} else if (*pattern++ != *name++) {
			return false;
		}
	}
	if (*name)
		return false;
	*ret_n = n;
	*ret_rc = rc;
	return true;
}

bool pmu_name_fits(const char *pattern, const char *name)
{
	int32_t n, rc;

	return match_pattern(pattern, name, &n, &rc);
}

const struct pmu_family *pmu_family_match(const char *name, enum pmu_platform cpu, int32_t *ret_n,
					  int32_t *ret_rc)
{
	const struct pmu_family *f;

	for (size_t i = 0; (f = pmu_family_at(i)); i++) {
		if ((!f->by_cpu || f->platform == cpu) &&
		    match_pattern(f->pattern, name, ret_n, ret_rc))
			return f;
	}
	return NULL;
}

void pmu_family_name(const struct pmu_family *f, uint32_t n, uint32_t rc, char *ret_name,
		     size_t size)
{
	size_t at = 0;

	for (const char *p = f->pattern; *p && at + 1 < size; p++) {
		if (*p != '<') {
			ret_name[at++] = *p;
			continue;
		}
		at += (size_t)snprintf(ret_name + at, size - at, p[1] == 'x' ? "%x" : "%u",
				       p[1] == 'r' ? rc : n);
		p = strchr(p, '>');
	}
	ret_name[at < size ? at : size - 1] = '\0';
}

const struct pmu_family *pmu_family_identified(const char *identifier)
{
	for (size_t i = 0; i < nr_pmu_families; i++) {
		const char *known = pmu_families[i].identifier;

		if (known && !strcmp(known, identifier))
			return &pmu_families[i];
	}
	return NULL;
}
