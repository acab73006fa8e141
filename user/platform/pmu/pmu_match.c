// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/pmu/pmu_match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

/* Short names of families, without numbers. */
struct family_names {
	const char *own;	  /* "pcie_grace" */
	char sysfs[PMU_NAME_LEN]; /* "nvidia_pcie_pmu" */
	char plain[PMU_NAME_LEN]; /* "pcie": the same without the common prefix */
};

static void read_names(const struct pmu_family *family, struct family_names *ret)
{
	static const char begin[] = "nvidia_", end[] = "_pmu";
	size_t length = strcspn(family->pattern, "<");
	size_t first = strlen(begin), last = strlen(end);

	ret->own = family->short_name;
	/* without the "_" in front of the number */
	length -= length && family->pattern[length - 1] == '_';
	snprintf(ret->sysfs, sizeof(ret->sysfs), "%.*s", (int)length, family->pattern);
	str_copy(ret->plain, sizeof(ret->plain), ret->sysfs);
	if (length > first + last && !strncmp(ret->sysfs, begin, first) &&
	    !strcmp(ret->sysfs + length - last, end))
		snprintf(ret->plain, sizeof(ret->plain), "%.*s", (int)(length - first - last),
			 ret->sysfs + first);
}

static bool is_exact(const struct pmu *pmu, const char *name)
{
	char label[PMU_NAME_LEN + 16];

	pmu_label(pmu, label, sizeof(label));
	return !strcmp(pmu->name, name) || !strcmp(label, name);
}

static bool is_family(const struct pmu *pmu, const char *name)
{
	struct family_names names;

	read_names(pmu->family, &names);
	return !strcmp(name, names.own) || !strcmp(name, names.sysfs) || !strcmp(name, names.plain);
}

/* "0", "0.rc1" or ".rc1" behind a short name. */
static bool numbers_fit(const struct pmu *pmu, const char *text)
{
	static const char rc[] = ".rc";
	int32_t number;

	if (*text && *text != rc[0] && (!take_number(&text, &number) || number != pmu->instance))
		return false;
	if (!*text)
		return true;
	if (strncmp(text, rc, strlen(rc)))
		return false;
	text += strlen(rc);
	return take_number(&text, &number) && number == pmu->rc && !*text;
}

static bool is_numbered(const struct pmu *pmu, const char *name)
{
	struct family_names names;
	size_t own, plain;

	read_names(pmu->family, &names);
	own = strlen(names.own);
	plain = strlen(names.plain);
	return (!strncmp(name, names.own, own) && numbers_fit(pmu, name + own)) ||
	       (!strncmp(name, names.plain, plain) && numbers_fit(pmu, name + plain));
}

static void numbered(const struct pmu *pmu, const char *family, char *ret, size_t size)
{
	str_copy(ret, size, family);
	if (pmu->instance >= 0)
		str_append(ret, size, "%d", pmu->instance);
	if (pmu->rc >= 0)
		str_append(ret, size, ".rc%d", pmu->rc);
}

/* Only the last * is tried again, so that no pattern takes long. */
static bool fits_pattern(const char *pattern, const char *name)
{
	const char *star = NULL, *again = NULL;

	while (*name) {
		if (*pattern == '*') {
			star = ++pattern;
			again = name;
		} else if (*pattern == '?' || *pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star;
			name = ++again;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

static bool is_in_pattern(const struct pmu *pmu, const char *pattern)
{
	char own[PMU_NAME_LEN + 32], plain[PMU_NAME_LEN + 32];
	struct family_names names;

	if (!strpbrk(pattern, "*?"))
		return false;
	read_names(pmu->family, &names);
	numbered(pmu, names.own, own, sizeof(own));
	numbered(pmu, names.plain, plain, sizeof(plain));
	return fits_pattern(pattern, pmu->name) || fits_pattern(pattern, own) ||
	       fits_pattern(pattern, plain);
}

int pmu_choice_add(struct pmu_choice *choice, const struct pmu *pmu)
{
	int err = array_reserve(choice->pmus, choice->cap, choice->nr);

	if (!err)
		choice->pmus[choice->nr++] = pmu;
	return err;
}

int pmu_match(const struct pmu_list *list, const char *name, struct pmu_choice *ret)
{
	/* The first match wins: "nvlink_c2c0" is a family on Grace and a PMU on T410. */
	static bool (*const ways[])(const struct pmu *, const char *) = {
		is_exact,
		is_family,
		is_numbered,
		is_in_pattern,
	};
	struct pmu_choice choice = { 0 };
	int err = 0;

	for (size_t way = 0; way < ARRAY_SIZE(ways) && !choice.nr; way++) {
		for (size_t i = 0; i < list->nr && !err; i++)
			if (ways[way](&list->pmus[i], name))
				err = pmu_choice_add(&choice, &list->pmus[i]);
	}
	if (err)
		pmu_choice_free(&choice);
	else
		*ret = choice;
	return err;
}

void pmu_choice_free(struct pmu_choice *choice)
{
	if (!choice)
		return;
	free(choice->pmus);
	*choice = (struct pmu_choice){ 0 };
}

void pmu_names_add(const struct pmu_list *list, struct spelling *s)
{
	char text[PMU_NAME_LEN + 32];

	for (size_t i = 0; i < list->nr; i++)
		spelling_add(s, list->pmus[i].family->short_name);
	for (size_t i = 0; i < list->nr; i++) {
		numbered(&list->pmus[i], list->pmus[i].family->short_name, text, sizeof(text));
		spelling_add(s, text);
	}
	for (size_t i = 0; i < list->nr; i++)
		spelling_add(s, list->pmus[i].name);
}
