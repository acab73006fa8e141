// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/pmu/pmu.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "platform/pmu/pmu_socket.h"
#include "platform/sys/cpus.h"
#include "tables/counter_rows.h"
#include "tables/scale.h"

#define SCALE_FILE   ".scale"
#define UNIT_FILE    ".unit"

/* A modalias lists the CPU's features behind its model; the file is at most a page. */
#define MODALIAS_LEN 8192

/* Names go to terminals and into JSON, so only plain characters are allowed. */
static bool is_name(const char *text)
{
	return *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789_-.")];
}

int pmu_event_parse(const char *text, struct pmu_event *ret_event)
{
	struct pmu_event event = { 0 };
	char copy[PMU_TEXT_LEN];
	struct pmu_term *term;
	char *rest = copy;
	char *word, *value;
	int err;

	if (str_copy(event.text, sizeof(event.text), text))
		return -E2BIG;
	memcpy(copy, event.text, sizeof(copy));
	while ((word = strsep(&rest, ","))) {
		if (event.nr_terms == ARRAY_SIZE(event.terms))
			return -E2BIG;
		term = &event.terms[event.nr_terms++];
		term->value = 1;
		value = strchr(word, '=');
		if (value)
			*value++ = '\0';
		if (!is_name(word))
			return -EINVAL;
		if (str_copy(term->name, sizeof(term->name), word))
			return -E2BIG;
		err = value ? parse_u64(value, &term->value) : 0;
		if (err)
			return err;
	}
	memcpy(ret_event->text, event.text, sizeof(event.text));
	memcpy(ret_event->terms, event.terms, sizeof(event.terms));
	ret_event->nr_terms = event.nr_terms;
	return 0;
}

/* Bits @low to @high of a word; both are below 64. */
static uint64_t range_mask(unsigned int low, unsigned int high)
{
	return (high - low == 63 ? ~0ULL : (1ULL << (high - low + 1)) - 1) << low;
}

/* Read "8-23" or "8" at @text and move @text behind it. */
static bool take_range(const char **text, int32_t *ret_low, int32_t *ret_high)
{
	int32_t low, high;

	if (!take_number(text, &low))
		return false;
	high = low;
	if (**text == '-') {
		(*text)++;
		if (!take_number(text, &high))
			return false;
	}
	if (high < low || high > 63)
		return false;
	*ret_low = low;
	*ret_high = high;
	return true;
}

/*
 * perf fills the bits of a field from the lowest one up whatever the order in
 * the text, so keep the ranges sorted.
 */
static void insert_range(struct pmu_format *format, int32_t low, int32_t high)
{
	size_t at = format->nr_ranges++;

	for (; at > 0 && format->ranges[at - 1].low > low; at--)
		format->ranges[at] = format->ranges[at - 1];
	format->ranges[at].low = (uint8_t)low;
	format->ranges[at].high = (uint8_t)high;
	format->width += high - low + 1;
}

int pmu_format_parse(const char *text, struct pmu_format *ret_format)
{
	struct pmu_format format = { 0 };
	const char *at = text;
	int32_t low, high;
	uint64_t used = 0;

	if (str_copy(format.text, sizeof(format.text), text))
		return -E2BIG;
	if (strncmp(at, "config", 6))
		return -EINVAL;
	at += 6;
	if (*at >= '1' && *at < '0' + PMU_NR_WORDS)
		format.word = *at++ - '0';
	if (*at != ':')
		return -EINVAL;
	do {
		at++;
		if (!take_range(&at, &low, &high))
			return -EINVAL;
		if (used & range_mask(low, high))
			return -EINVAL;
		if (format.nr_ranges == PMU_MAX_RANGES)
			return -E2BIG;
		used |= range_mask(low, high);
		insert_range(&format, low, high);
	} while (*at == ',');
	if (*at)
		return -EINVAL;
	memcpy(format.name, ret_format->name, sizeof(format.name));
	*ret_format = format;
	return 0;
}

/* Add a problem of a PMU. Text beyond the buffer is dropped: the first problems count. */
static void __attribute__((format(printf, 2, 3))) add_problem(struct pmu *pmu, const char *fmt, ...)
{
	char text[PMU_PROBLEM_LEN];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	str_append(pmu->problem, sizeof(pmu->problem), "%s%s", pmu->problem[0] ? "; " : "", text);
}

/* Note the error of reading a PMU's file. */
static void add_file_problem(struct pmu *pmu, const char *dir, const char *file, int err)
{
	const char *words;

	switch (err) {
	case -E2BIG:
		words = "too long";
		break;
	case -EINVAL:
		words = "not understood";
		break;
	case -ERANGE:
		words = "number too large";
		break;
	case -ENOENT:
		words = "missing";
		break;
	default:
		words = strerror(-err);
		break;
	}
	add_problem(pmu, "%s%s: %s", dir, file, words);
}

static int read_file(const struct sysfs *fs, const struct pmu *pmu, const char *dir,
		     const char *file, char *ret_line, size_t size)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), PMU_DEVICES "/%s/%s%s", pmu->name, dir, file);
	return sysfs_read(fs, ret_line, size, "%s", path);
}

/* Read a file with a 32-bit number. */
static int read_u32(const struct sysfs *fs, const struct pmu *pmu, const char *file,
		    uint32_t *ret_value)
{
	char line[PMU_TEXT_LEN];
	uint64_t value;
	int err;

	err = read_file(fs, pmu, "", file, line, sizeof(line));
	if (!err)
		err = parse_u64(line, &value);
	if (!err && value > UINT32_MAX)
		err = -ERANGE;
	if (!err)
		*ret_value = (uint32_t)value;
	return err;
}

/* Read a file with a list of CPUs; note a problem when that fails or there are none. */
static int read_cpus(const struct sysfs *fs, struct pmu *pmu, const char *file,
		     struct cpulist *ret_cpus)
{
	char line[CPULIST_TEXT_LEN];
	struct cpulist cpus;
	int err;

	err = read_file(fs, pmu, "", file, line, sizeof(line));
	if (!err)
		err = cpulist_parse(line, &cpus);
	if (err) {
		add_file_problem(pmu, "", file, err);
		return err;
	}
	if (cpulist_count(&cpus) == 0)
		add_problem(pmu, "%s: no CPUs", file);
	*ret_cpus = cpus;
	return 0;
}

/* Read a file with printable ASCII text that only some PMUs have. */
static void read_words(const struct sysfs *fs, struct pmu *pmu, const char *file, char *ret_text,
		       size_t size)
{
	char line[PMU_TEXT_LEN];
	int err;

	err = read_file(fs, pmu, "", file, line, sizeof(line));
	if (!err && strlen(line) >= size)
		err = -E2BIG;
	for (const char *at = line; !err && *at; at++)
		err = *at < ' ' || *at > '~' ? -EINVAL : 0;
	if (!err)
		str_copy(ret_text, size, line);
	else if (err != -ENOENT)
		add_file_problem(pmu, "", file, err);
}

static bool has_file(const struct sysfs *fs, const struct pmu *pmu, const char *file)
{
	return sysfs_exists(fs, PMU_DEVICES "/%s/%s", pmu->name, file);
}

/* Files that every PMU should have, and optional ones. */
static void read_attributes(const struct sysfs *fs, struct pmu *pmu, struct cpulist *ret_active)
{
	struct cpulist *active = ret_active;
	bool by_cpus = pmu->family->socket_by != PMU_SOCKET_BY_NAME &&
		       pmu->family->socket_by != PMU_SOCKET_UNKNOWN;
	int err;

	err = read_u32(fs, pmu, "type", &pmu->type);
	pmu->type_known = !err;
	if (err)
		add_file_problem(pmu, "", "type", err);

	if (!by_cpus || has_file(fs, pmu, "associated_cpus"))
		read_cpus(fs, pmu, "associated_cpus", &pmu->cpus);
	if (!read_cpus(fs, pmu, "cpumask", active) && (by_cpus || cpulist_count(active) == 1))
		pmu->active_cpu = cpulist_next(active, -1);
	else if (cpulist_count(active) > 1)
		add_problem(pmu, "cpumask: %u CPUs instead of one", cpulist_count(active));

	read_words(fs, pmu, "identifier", pmu->identifier, sizeof(pmu->identifier));
	read_words(fs, pmu, "peer", pmu->peer, sizeof(pmu->peer));
	err = read_u32(fs, pmu, "perf_event_mux_interval_ms", &pmu->mux_interval_ms);
	if (err && err != -ENOENT)
		add_file_problem(pmu, "", "perf_event_mux_interval_ms", err);
}

/* Files beside an event that describe it and are no events themselves. */
static bool is_event_attribute(const char *name)
{
	static const char *const endings[] = { UNIT_FILE, SCALE_FILE, ".per-pkg", ".snapshot" };
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && i < ARRAY_SIZE(endings); i++) {
		if (!strcmp(dot, endings[i]))
			return true;
	}
	return false;
}

/* The scale or the unit of an event; @name is the name of the file. */
static int read_event_scale(const struct sysfs *fs, struct pmu *pmu, const char *name)
{
	const char *dot = strrchr(name, '.');
	char file[NAME_MAX + sizeof("events/")];
	struct pmu_event *event = NULL;
	bool scale;

	if (!dot || (strcmp(dot, SCALE_FILE) && strcmp(dot, UNIT_FILE)))
		return 0;
	scale = !strcmp(dot, SCALE_FILE);
	for (size_t i = 0; i < pmu->nr_events && !event; i++)
		if (strlen(pmu->events[i].name) == (size_t)(dot - name) &&
		    !strncmp(pmu->events[i].name, name, dot - name))
			event = &pmu->events[i];
	if (!event)
		return 0;
	snprintf(file, sizeof(file), "events/%s", name);
	read_words(fs, pmu, file, scale ? event->scale : event->unit, PMU_SCALE_LEN);
	event->bytes = scale_bytes(event->scale, event->unit);
	return 0;
}

/* "a=1,b=?": not an event but a template whose user chooses b. Arm's CMN has some. */
static bool is_pattern(const char *line)
{
	const char *value = strstr(line, "=?");

	return value && (!value[2] || value[2] == ',');
}

static int read_event(const struct sysfs *fs, struct pmu *pmu, const char *name)
{
	struct pmu_event event = { 0 };
	char line[PMU_TEXT_LEN];
	int err;

	if (is_event_attribute(name))
		return 0;
	if (!is_name(name) || str_copy(event.name, sizeof(event.name), name)) {
		add_problem(pmu, "events: a file with a strange name");
		return 0;
	}
	err = read_file(fs, pmu, "events/", name, line, sizeof(line));
	if (!err && is_pattern(line))
		return 0;
	if (!err)
		err = pmu_event_parse(line, &event);
	if (err) {
		add_file_problem(pmu, "events/", event.name, err);
		return 0;
	}
	err = array_reserve(pmu->events, pmu->cap_events, pmu->nr_events);
	if (!err)
		pmu->events[pmu->nr_events++] = event;
	return err;
}

static int read_format(const struct sysfs *fs, struct pmu *pmu, const char *name)
{
	struct pmu_format format = { 0 };
	char line[PMU_TEXT_LEN];
	int err;

	if (!is_name(name) || str_copy(format.name, sizeof(format.name), name)) {
		add_problem(pmu, "format: a file with a strange name");
		return 0;
	}
	err = read_file(fs, pmu, "format/", name, line, sizeof(line));
	if (!err)
		err = pmu_format_parse(line, &format);
	if (err) {
		add_file_problem(pmu, "format/", format.name, err);
		return 0;
	}
	err = array_reserve(pmu->formats, pmu->cap_formats, pmu->nr_formats);
	if (!err)
		pmu->formats[pmu->nr_formats++] = format;
	return err;
}

typedef int (*read_one_fn)(const struct sysfs *fs, struct pmu *pmu, const char *name);

/*
 * Hand every file of a PMU's directory to @read_one, and then to @read_more unless it is NULL.
 * Fails only without memory.
 */
static int read_directory(const struct sysfs *fs, struct pmu *pmu, const char *dir,
			  read_one_fn read_one, read_one_fn read_more)
{
	cleanup_texts struct text_list names = { 0 };
	int err;

	err = sysfs_list(fs, &names, PMU_DEVICES "/%s/%s", pmu->name, dir);
	if (err == -ENOMEM)
		return err;
	if (err)
		add_file_problem(pmu, "", dir, err);
	err = 0;
	for (size_t i = 0; i < names.nr && !err; i++)
		err = read_one(fs, pmu, names.items[i]);
	for (size_t i = 0; read_more && i < names.nr && !err; i++)
		err = read_more(fs, pmu, names.items[i]);
	return err;
}

/* Events that only rows name, not sysfs: every user of the PMU sees them by these names. */
static int add_own_events(struct pmu *pmu)
{
	const struct counter_row *row;
	int err = 0;

	for (size_t i = 0; !err && (row = counter_row_at(i)); i++) {
		struct pmu_event event = { .own = true };

		if (row->kind != pmu->kind || !row->terms || row->optional ||
		    strchr(row->event, '<') || pmu_event_find(pmu, row->event) ||
		    !is_name(row->event) || str_copy(event.name, sizeof(event.name), row->event) ||
		    pmu_event_parse(row->terms, &event))
			continue;
		err = array_reserve(pmu->events, pmu->cap_events, pmu->nr_events);
		if (!err)
			pmu->events[pmu->nr_events++] = event;
	}
	return err;
}

static void pmu_clear(struct pmu *pmu)
{
	if (pmu->borrowed)
		return;
	free(pmu->events);
	free(pmu->formats);
}

/* Add a PMU to the list: once, or once for each CPU if its cpumask has several. */
static int add_pmu(const struct sysfs *fs, struct pmu_list *list, const struct pmu *pmu,
		   const struct cpulist *active)
{
	size_t first = list->nr;
	int cpu = pmu->active_cpu;

	do {
		struct pmu *p;

		if (array_reserve(list->pmus, list->cap, list->nr))
			return -ENOMEM;
		p = &list->pmus[list->nr];
		*p = *pmu;
		p->active_cpu = cpu;
		p->borrowed = list->nr++ > first;
		p->several = p->usable && cpulist_count(active) > 1;
		p->socket = p->several ? pmu_cpu_socket(fs, cpu) : pmu_find_socket(fs, p);
		for (size_t i = first; i + 1 < list->nr; i++)
			p->place += list->pmus[i].socket == p->socket;
	} while (pmu->usable && (cpu = cpulist_next(active, cpu)) >= 0);
	return 0;
}

static int read_pmu(const struct sysfs *fs, const char *name, enum pmu_platform cpu,
		    struct pmu_list *list)
{
	struct pmu pmu = { .active_cpu = -1 };
	struct cpulist active = { 0 };
	int err;

	pmu.family = pmu_family_match(name, cpu, &pmu.instance, &pmu.rc);
	if (!pmu.family)
		return 0;
	/* A name that matches a family is never longer than the buffer. */
	str_copy(pmu.name, sizeof(pmu.name), name);
	pmu.kind = pmu.family->kind;
	pmu.platform = pmu.family->platform;
	read_attributes(fs, &pmu, &active);
	pmu.usable = pmu.type_known && pmu.active_cpu >= 0;
	err = 0;
	if (!pmu.family->no_events || has_file(fs, &pmu, "events"))
		err = read_directory(fs, &pmu, "events", read_event, read_event_scale);
	if (!err)
		err = add_own_events(&pmu);
	/* Virtual machines have energy PMUs too, but without events. */
	if (!err && !pmu.nr_events && !pmu.problem[0])
		add_problem(&pmu, "it has no events");
	if (!err)
		err = read_directory(fs, &pmu, "format", read_format, NULL);
	if (!err) {
		size_t before = list->nr;

		err = add_pmu(fs, list, &pmu, &active);
		/* The list owns its content and releases it. */
		if (list->nr > before)
			return err;
	}
	if (err)
		pmu_clear(&pmu);
	return err;
}

int pmu_cpu_now(const struct sysfs *fs, const struct pmu *pmu)
{
	char line[CPULIST_TEXT_LEN];
	struct cpulist active;
	uint32_t place = pmu->place;
	int cpu = -1;

	if (sysfs_read(fs, line, sizeof(line), PMU_DEVICES "/%s/cpumask", pmu->name) ||
	    cpulist_parse(line, &active))
		return -1;
	if (cpulist_count(&active) == 1 && !pmu->several)
		return cpulist_next(&active, -1);
	while (pmu->several && (cpu = cpulist_next(&active, cpu)) >= 0)
		if (pmu_cpu_socket(fs, cpu) == pmu->socket && !place--)
			return cpu;
	return -1;
}

static int by_kind(const void *a, const void *b)
{
	const struct pmu *left = a, *right = b;

	return ORDER(left->kind, right->kind) ?: ORDER(left->instance, right->instance) ?:
	       ORDER(left->rc, right->rc) ?: strcmp(left->name, right->name) ?:
	       ORDER(left->active_cpu, right->active_cpu);
}

/* PMUs whose names have no running number get one, in the order of their names. */
static void number_pmus(struct pmu_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		struct pmu *pmu = &list->pmus[i];
		const struct pmu *last = i ? pmu - 1 : NULL;

		if (strstr(pmu->family->pattern, "<n>") || !strchr(pmu->family->pattern, '<'))
			continue;
		pmu->instance = last && last->kind == pmu->kind
					? last->instance + !!strcmp(last->name, pmu->name)
					: 0;
	}
}

bool pmu_cpu_id(const struct sysfs *fs, struct cpu_id *ret)
{
	char line[MODALIAS_LEN];

	return !sysfs_read(fs, line, sizeof(line), "devices/system/cpu/modalias") &&
	       cpu_id_parse(line, ret);
}

bool pmu_cpu_virtual(const struct sysfs *fs)
{
	char line[MODALIAS_LEN];

	/* X86_FEATURE_HYPERVISOR of arch/x86/include/asm/cpufeatures.h: word 4, bit 31 */
	return !sysfs_read(fs, line, sizeof(line), "devices/system/cpu/modalias") &&
	       !strncmp(line, "cpu:type:x86,", 13) && strstr(line, ",009F");
}

/* MIDR of CPU 0: rows for chips with unlike cores would need more. */
bool pmu_cpu_midr(const struct sysfs *fs, uint64_t *ret)
{
	return !sysfs_number(fs, ret, "devices/system/cpu/cpu0/regs/identification/midr_el1");
}

bool pmu_cpu_text(const struct sysfs *fs, char *ret, size_t size, enum pmu_platform *ret_platform)
{
	struct cpu_id id;
	uint64_t midr;

	if (pmu_cpu_id(fs, &id)) {
		cpu_id_text(&id, ret, size);
		*ret_platform = cpu_id_platform(&id);
	} else if (pmu_cpu_midr(fs, &midr)) {
		cpu_midr_text(midr, ret, size);
		*ret_platform = cpu_midr_platform(midr);
	} else {
		return false;
	}
	return true;
}

int pmu_list_read(const struct sysfs *fs, struct diag *d, struct pmu_list *ret_list)
{
	cleanup_texts struct text_list names = { 0 };
	struct pmu_list list = { 0 };
	enum pmu_platform cpu = PMU_PLATFORM_UNKNOWN;
	int err;

	pmu_cpu_text(fs, NULL, 0, &cpu);
	err = sysfs_list(fs, &names, PMU_DEVICES);
	/* No such directory: a kernel without perf, which has no PMUs. */
	if (err == -ENOENT)
		err = 0;
	if (err)
		return diag_fail(d, err, "cannot list %s/%s: %s", fs->root, PMU_DEVICES,
				 strerror(-err));
	for (size_t i = 0; i < names.nr && !err; i++)
		err = read_pmu(fs, names.items[i], cpu, &list);
	if (err) {
		pmu_list_free(&list);
		return diag_error(d, err, "cannot read the PMUs");
	}
	if (list.nr)
		qsort(list.pmus, list.nr, sizeof(*list.pmus), by_kind);
	number_pmus(&list);
	pmu_sockets_doubt(fs, &list);
	if (pmu_sockets_named(fs, &list)) {
		pmu_list_free(&list);
		return diag_no_memory(d);
	}
	*ret_list = list;
	return 0;
}

void pmu_list_free(struct pmu_list *list)
{
	if (!list)
		return;
	for (size_t i = 0; i < list->nr; i++)
		pmu_clear(&list->pmus[i]);
	free(list->pmus);
	*list = (struct pmu_list){ 0 };
}

void pmu_label(const struct pmu *pmu, char *ret, size_t size)
{
	snprintf(ret, size, "%s", pmu->name);
	if (pmu->several)
		str_append(ret, size, ".cpu%d", pmu->active_cpu);
}

enum pmu_platform pmu_list_platform(const struct pmu_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		if (pmu_platform_row(list->pmus[i].platform))
			return list->pmus[i].platform;
	return PMU_PLATFORM_UNKNOWN;
}

const struct pmu *pmu_find(const struct pmu_list *list, enum pmu_kind kind, int32_t socket,
			   int32_t rc)
{
	const struct pmu *found = NULL;

	for (size_t i = 0; i < list->nr; i++) {
		const struct pmu *pmu = &list->pmus[i];

		if (pmu->kind != kind || pmu->socket != socket || pmu->rc != rc)
			continue;
		if (found)
			return NULL;
		found = pmu;
	}
	return found;
}

const struct pmu_event *pmu_event_find(const struct pmu *pmu, const char *name)
{
	for (size_t i = 0; i < pmu->nr_events; i++) {
		if (!strcmp(pmu->events[i].name, name))
			return &pmu->events[i];
	}
	return NULL;
}

const struct pmu_format *pmu_format_find(const struct pmu *pmu, const char *name)
{
	for (size_t i = 0; i < pmu->nr_formats; i++) {
		if (!strcmp(pmu->formats[i].name, name))
			return &pmu->formats[i];
	}
	return NULL;
}

/* Add what could not be read of the PMU, if anything, as an explanation. */
static void help_with_problem(const struct pmu *pmu, char *help, size_t size)
{
	if (pmu->problem[0])
		str_append(help, size, " (not all of it could be read: %s)", pmu->problem);
}

static int no_event(const struct pmu *pmu, const char *event, struct diag *d)
{
	char help[sizeof(d->help)] = "";

	for (size_t i = 0; i < pmu->nr_events; i++)
		str_append(help, sizeof(help), "%s%s", i ? ", " : "it has: ", pmu->events[i].name);
	if (!pmu->nr_events)
		str_append(help, sizeof(help), "it has no named events");
	help_with_problem(pmu, help, sizeof(help));
	diag_fail(d, -ENOENT, "%s has no event \"%s\"", pmu->name, event);
	return diag_advise(d, -ENOENT, "%s", help);
}

static int no_format(const struct pmu *pmu, const char *name, struct diag *d)
{
	char help[sizeof(d->help)] = "";

	for (size_t i = 0; i < pmu->nr_formats; i++)
		str_append(help, sizeof(help), "%s%s",
			   i ? ", " : "it takes: ", pmu->formats[i].name);
	if (!pmu->nr_formats)
		str_append(help, sizeof(help), "it takes no filters");
	help_with_problem(pmu, help, sizeof(help));
	diag_fail(d, -ENOENT, "%s has no filter \"%s\"", pmu->name, name);
	return diag_advise(d, -ENOENT, "%s", help);
}

/* "config" and so on are whole words, unless the PMU has a format of this name. */
static bool is_word(const struct pmu_term *term, unsigned int *ret)
{
	static const char *const words[PMU_NR_WORDS] = { "config", "config1", "config2",
							 "config3" };

	for (*ret = 0; *ret < PMU_NR_WORDS; ++*ret)
		if (!strcmp(term->name, words[*ret]))
			return true;
	return false;
}

static int set_twice(const struct pmu *pmu, const char *name, struct diag *d)
{
	diag_fail(d, -EINVAL, "%s of %s sets bits that are already set", name, pmu->name);
	return diag_advise(d, -EINVAL, "give each filter once, and none that the event implies");
}

/* Put one term into @word; @used has the bits that earlier terms claimed. */
static int encode_term(const struct pmu *pmu, const struct pmu_term *term, struct diag *d,
		       uint64_t *used, uint64_t *word)
{
	const struct pmu_format *format = pmu_format_find(pmu, term->name);
	uint64_t value = term->value;
	unsigned int at;

	if (!format && is_word(term, &at)) {
		if (used[at] & value)
			return set_twice(pmu, term->name, d);
		used[at] |= value;
		word[at] |= value;
		return 0;
	}
	if (!format)
		return no_format(pmu, term->name, d);
	if (format->width < 64 && value >> format->width) {
		diag_fail(d, -ERANGE, "%#llx does not fit into %s of %s", (unsigned long long)value,
			  format->name, pmu->name);
		return diag_advise(d, -ERANGE, "the field has %u bit%s, so 0 to %#llx fit",
				   format->width, format->width == 1 ? "" : "s",
				   (unsigned long long)range_mask(0, format->width - 1));
	}
	for (size_t i = 0; i < format->nr_ranges; i++) {
		unsigned int low = format->ranges[i].low, high = format->ranges[i].high;
		uint64_t mask = range_mask(low, high);

		if (used[format->word] & mask)
			return set_twice(pmu, format->name, d);
		used[format->word] |= mask;
		word[format->word] |= value << low & mask;
		/* A field of all 64 bits has one range, so nothing is left to shift out. */
		value = high - low == 63 ? 0 : value >> (high - low + 1);
	}
	return 0;
}

static int encode_terms(const struct pmu *pmu, const struct pmu_term *terms, size_t nr,
			struct diag *d, uint64_t *used, uint64_t *word)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++)
		err = encode_term(pmu, &terms[i], d, used, word);
	return err;
}

int pmu_encode(const struct pmu *pmu, const char *event, const struct pmu_term *terms, size_t nr,
	       struct diag *d, struct pmu_config *ret_config)
{
	const struct pmu_event *known = event ? pmu_event_find(pmu, event) : NULL;
	uint64_t word[PMU_NR_WORDS] = { 0 };
	uint64_t used[PMU_NR_WORDS] = { 0 };
	int err = 0;

	if (event && !known)
		return no_event(pmu, event, d);
	if (!event && !nr)
		return diag_fail(d, -EINVAL, "no event of %s was chosen", pmu->name);
	if (known)
		err = encode_terms(pmu, known->terms, known->nr_terms, d, used, word);
	if (!err)
		err = encode_terms(pmu, terms, nr, d, used, word);
	if (err)
		return err;
	*ret_config = (struct pmu_config){ word[0], word[1], word[2], word[3] };
	return 0;
}
