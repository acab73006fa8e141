// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <ctype.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "platform/pmu/pmu.h"
#include "platform/core/weights.h"

struct known_event {
	const char *name;
	uint32_t type;
	uint64_t config;
};

#define SOFTWARE(name, config)                                    \
	{                                                         \
		name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##config, \
	}
#define HARDWARE(name, config)                                    \
	{                                                         \
		name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config, \
	}

static const struct known_event software[] = {
	SOFTWARE("page-faults", PAGE_FAULTS),	    SOFTWARE("minor-faults", PAGE_FAULTS_MIN),
	SOFTWARE("major-faults", PAGE_FAULTS_MAJ),  SOFTWARE("context-switches", CONTEXT_SWITCHES),
	SOFTWARE("cpu-migrations", CPU_MIGRATIONS), SOFTWARE("task-clock", TASK_CLOCK),
};

static const struct known_event generic[] = {
	HARDWARE("cpu-cycles", CPU_CYCLES),
	HARDWARE("instructions", INSTRUCTIONS),
	HARDWARE("cache-references", CACHE_REFERENCES),
	HARDWARE("cache-misses", CACHE_MISSES),
	HARDWARE("branch-instructions", BRANCH_INSTRUCTIONS),
	HARDWARE("branch-misses", BRANCH_MISSES),
	HARDWARE("bus-cycles", BUS_CYCLES),
};

static int folded(char c)
{
	return c == '-' ? '_' : tolower((unsigned char)c);
}

static bool same_name(const char *a, const char *b)
{
	while (*a && folded(*a) == folded(*b))
		a++, b++;
	return folded(*a) == folded(*b);
}

static const struct known_event *known_find(const struct known_event *rows, size_t nr,
					    const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (same_name(rows[i].name, name))
			return &rows[i];
	return NULL;
}

const char *weight_event_known(size_t i)
{
	if (i < ARRAY_SIZE(software))
		return software[i].name;
	i -= ARRAY_SIZE(software);
	return i < ARRAY_SIZE(generic) ? generic[i].name : NULL;
}

int weight_spec_parse(const char *spec, struct diag *d,
		      char ret_names[LEDGER_MAX_WEIGHTS][WEIGHT_NAME_LEN], uint32_t *ret_nr)
{
	char names[LEDGER_MAX_WEIGHTS][WEIGHT_NAME_LEN];
	uint32_t nr = 0;

	for (const char *at = spec;; at++) {
		size_t length = strcspn(at, ",");

		if (nr == LEDGER_MAX_WEIGHTS)
			return diag_fail(d, -EINVAL, "at most two events");
		if (!length)
			return diag_fail(d, -EINVAL, "an event without a name");
		if (length >= WEIGHT_NAME_LEN)
			return diag_fail(d, -ENAMETOOLONG, "\"%.*s\" is not an event", (int)length,
					 at);
		memcpy(names[nr], at, length);
		names[nr++][length] = '\0';
		at += length;
		if (!*at)
			break;
	}
	if (nr == 2 && same_name(names[0], names[1])) {
		diag_fail(d, -EINVAL, "the same event twice");
		return diag_advise(d, -EINVAL, "one event alone stands for reads and writes");
	}
	memcpy(ret_names, names, nr * sizeof(names[0]));
	*ret_nr = nr;
	return 0;
}

/* PMUs of cores list their CPUs, except on machines with one kind of core only. */
static bool is_core_pmu(const struct sysfs *fs, const char *name)
{
	if (!strcmp(name, "cpu"))
		return true;
	return sysfs_exists(fs, PMU_DEVICES "/%s/cpus", name);
}

static bool read_type(const struct sysfs *fs, const char *name, uint32_t *ret)
{
	uint64_t type;

	if (sysfs_number(fs, &type, PMU_DEVICES "/%s/type", name) || type > UINT32_MAX)
		return false;
	*ret = type;
	return true;
}

/* An event that the core lacks cannot be seen counting: why wait for it? */
static bool shows_reads(const struct sysfs *fs, const struct weight_cores *cores)
{
	for (size_t i = 0; i < nr_weight_rows; i++)
		if (weight_rows[i].core == cores->core->core &&
		    weight_rows[i].role == WEIGHT_READ && weight_rows[i].rank &&
		    sysfs_exists(fs, PMU_DEVICES "/%s/events/%s", cores->pmu, weight_rows[i].name))
			return true;
	return false;
}

int weight_cores_read(const struct sysfs *fs, struct weight_cores *ret)
{
	struct weight_cores cores = { 0 };
	cleanup_texts struct text_list names = { 0 };
	int err = sysfs_list(fs, &names, PMU_DEVICES);
	uint32_t type;

	if (err)
		return err;
	for (size_t i = 0; i < names.nr; i++) {
		if (strlen(names.items[i]) >= sizeof(cores.pmu) ||
		    !is_core_pmu(fs, names.items[i]) || !read_type(fs, names.items[i], &type))
			continue;
		if (!cores.nr_pmus++) {
			str_copy(cores.pmu, sizeof(cores.pmu), names.items[i]);
			cores.type = type;
		}
	}
	cores.is_x86 = pmu_cpu_id(fs, &cores.x86);
	if (cores.is_x86)
		cores.core = weight_core_of(&cores.x86);
	else if (pmu_cpu_midr(fs, &cores.midr))
		cores.core = weight_core_find(cores.midr);
	if (cores.core && cores.core->several && !shows_reads(fs, &cores))
		cores.core = NULL;
	*ret = cores;
	return 0;
}

/* Configuration fields that an event of sysfs uses; damaged ones are an error. */
static int read_formats(const struct sysfs *fs, const char *pmu, const struct pmu_event *event,
			struct pmu_format *formats, struct diag *d)
{
	char path[PATH_MAX], line[PMU_TEXT_LEN];
	int err;

	for (size_t i = 0; i < event->nr_terms; i++) {
		snprintf(path, sizeof(path), PMU_DEVICES "/%s/format/%s", pmu,
			 event->terms[i].name);
		err = sysfs_read(fs, line, sizeof(line), "%s", path);
		if (!err)
			err = pmu_format_parse(line, &formats[i]);
		if (err)
			return diag_fail(d, err, "cannot use %s/%s: %s", fs->root, path,
					 strerror(-err));
		str_copy(formats[i].name, sizeof(formats[i].name), event->terms[i].name);
	}
	return 0;
}

static int sysfs_event(const struct sysfs *fs, const struct weight_cores *cores, const char *file,
		       struct diag *d, struct weight_event *ret)
{
	struct pmu_format formats[PMU_MAX_TERMS] = { 0 };
	struct pmu_event event = { 0 };
	struct pmu pmu = { .events = &event, .nr_events = 1, .formats = formats };
	char path[PATH_MAX], line[PMU_TEXT_LEN];
	struct pmu_config config;
	int err;

	snprintf(path, sizeof(path), PMU_DEVICES "/%s/events/%s", cores->pmu, file);
	err = sysfs_read(fs, line, sizeof(line), "%s", path);
	if (!err)
		err = pmu_event_parse(line, &event);
	if (err)
		return diag_fail(d, err, "cannot use %s/%s: %s", fs->root, path, strerror(-err));
	str_copy(event.name, sizeof(event.name), file);
	str_copy(pmu.name, sizeof(pmu.name), cores->pmu);
	err = read_formats(fs, cores->pmu, &event, formats, d);
	pmu.nr_formats = event.nr_terms;
	if (!err)
		err = pmu_encode(&pmu, event.name, NULL, 0, d, &config);
	if (err)
		return err;
	if (config.config3)
		return diag_fail(d, -EOPNOTSUPP, "%s/%s: config3 is not supported", fs->root, path);
	*ret = (struct weight_event){
		.type = cores->type,
		.config = config.config,
		.config1 = config.config1,
		.config2 = config.config2,
	};
	str_copy(ret->name, sizeof(ret->name), file);
	return 0;
}

/* Suggest as many names as fit. */
static int unknown(const struct weight_cores *cores, const struct text_list *files,
		   const char *name, struct diag *d)
{
	char help[sizeof(d->help)] = "cpu-time, auto";

	for (size_t i = 0; i < ARRAY_SIZE(software); i++)
		str_append(help, sizeof(help), ", %s", software[i].name);
	for (size_t i = 0; cores->core && i < nr_weight_rows; i++)
		if (weight_rows[i].core == cores->core->core && weight_rows[i].rank)
			str_append(help, sizeof(help), ", %s", weight_rows[i].name);
	if (cores->nr_pmus == 1)
		str_append(help, sizeof(help), ", rNNN (hexadecimal), or one of %s: ", cores->pmu);
	for (size_t i = 0; i < files->nr; i++)
		if (str_append(help, sizeof(help), "%s%s", i ? ", " : "", files->items[i]))
			break;
	diag_fail(d, -ENOENT, "there is no event \"%s\" to weigh tasks with", name);
	return diag_advise(d, -ENOENT, "known here: %s", help);
}

static bool is_raw(const char *name, uint64_t *ret)
{
	char number[24];

	if ((name[0] != 'r' && name[0] != 'R') || strlen(name) > 17 || !isxdigit(name[1]))
		return false;
	snprintf(number, sizeof(number), "0x%s", name + 1);
	return !parse_u64(number, ret);
}

static const struct weight_row *row_find(const struct weight_cores *cores, const char *name)
{
	for (size_t i = 0; cores->core && i < nr_weight_rows; i++)
		if (weight_rows[i].core == cores->core->core &&
		    same_name(weight_rows[i].name, name))
			return &weight_rows[i];
	return NULL;
}

static struct weight_event row_event(const struct weight_cores *cores, const struct weight_row *row)
{
	struct weight_event event = { .type = cores->type, .config = row->code };

	str_copy(event.name, sizeof(event.name), row->name);
	return event;
}

static void put_role(const struct weight_cores *cores, enum weight_role role, char *ret,
		     size_t size)
{
	struct weight_event event;
	uint8_t rank;

	for (rank = 1; !weight_event_auto(cores, role, rank, &event); rank++)
		str_append(ret, size, "%s%s", rank > 1 ? ", else " : "", event.name);
	if (rank == 1)
		str_append(ret, size, "the same, as there is none");
}

void weight_cores_describe(const struct weight_cores *cores, char *ret, size_t size)
{
	*ret = '\0';
	if (cores->nr_pmus != 1 || !cores->core)
		return;
	str_append(ret, size, "Weights of tasks (%s): the cores count ", cores->core->name);
	put_role(cores, WEIGHT_READ, ret, size);
	str_append(ret, size, " for reads, and for writes ");
	put_role(cores, WEIGHT_WRITE, ret, size);
	str_append(ret, size, ". A run takes what it sees counting.");
}

int weight_event_auto(const struct weight_cores *cores, enum weight_role role, uint8_t rank,
		      struct weight_event *ret)
{
	for (size_t i = 0; rank && cores->core && i < nr_weight_rows; i++) {
		const struct weight_row *row = &weight_rows[i];

		if (row->core != cores->core->core || row->role != role || row->rank != rank)
			continue;
		*ret = row_event(cores, row);
		return 0;
	}
	return -ENOENT;
}

static struct weight_event known_event(const struct known_event *known)
{
	struct weight_event event = {
		.software = known->type == PERF_TYPE_SOFTWARE,
		.type = known->type,
		.config = known->config,
	};

	str_copy(event.name, sizeof(event.name), known->name);
	return event;
}

/* An event of the cores, if all cores are of one kind. */
static int hardware_event(const struct sysfs *fs, const struct weight_cores *cores,
			  const struct text_list *files, const char *name, struct diag *d,
			  struct weight_event *ret)
{
	const struct known_event *known = known_find(generic, ARRAY_SIZE(generic), name);
	const struct weight_row *row = row_find(cores, name);
	uint64_t code;

	for (size_t i = 0; i < files->nr; i++)
		if (same_name(files->items[i], name) && !strchr(name, '.'))
			return sysfs_event(fs, cores, files->items[i], d, ret);
	if (row) {
		*ret = row_event(cores, row);
	} else if (known) {
		*ret = known_event(known);
	} else if (is_raw(name, &code)) {
		*ret = (struct weight_event){ .type = cores->type, .config = code };
		snprintf(ret->name, sizeof(ret->name), "r%llx", (unsigned long long)code);
	} else {
		return unknown(cores, files, name, d);
	}
	return 0;
}

int weight_event_find(const struct sysfs *fs, const struct weight_cores *cores, const char *name,
		      struct diag *d, struct weight_event *ret)
{
	const struct known_event *known = known_find(software, ARRAY_SIZE(software), name);
	cleanup_texts struct text_list files = { 0 };
	uint64_t code;

	if (known) {
		*ret = known_event(known);
		return 0;
	}
	if (cores->nr_pmus != 1) {
		if (!is_raw(name, &code) && !known_find(generic, ARRAY_SIZE(generic), name))
			return unknown(cores, &files, name, d);
		diag_fail(d, -ENODEV, "no event \"%s\": %s", name,
			  cores->nr_pmus
				  ? "there are several kinds of cores, which do not count "
				    "the same things"
				  : "the cores of this machine have no PMU, or its hypervisor "
				    "hides it");
		return diag_advise(d, -ENODEV, "split by CPU time: cpu-time");
	}
	/* A PMU without named events is fine. */
	if (sysfs_list(fs, &files, PMU_DEVICES "/%s/events", cores->pmu) == -ENOMEM)
		return diag_no_memory(d);
	return hardware_event(fs, cores, &files, name, d, ret);
}
