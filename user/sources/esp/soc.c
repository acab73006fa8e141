// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sources/esp/soc.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/spelling.h"
#include "base/text.h"

#define LINE_LEN   512
#define MAX_WORDS  8
/* Keys of our own; ESP's tools do not know them. */
#define OWN	   "T410TRACE_"

/* Registers of the monitors on the bus, by CPU: tools/socgen/socmap_gen.py of ESP */
#define BASE	   0x60090000ull
#define BASE_LEON3 0x80090000ull

struct reader {
	const char *path;
	unsigned int line;
	struct esp_soc *soc;
	char cpu_arch[16]; /* "ariane", "ibex", "leon3"; "": not said */
	uint32_t nr_cpus;  /* as the file says it */
	bool base_given;
	bool seen[ESP_MAX_TILES];
	char devices[ESP_MAX_TILES][sizeof(((struct esp_tile *)NULL)->device)]; /* by accelerator */
	struct diag *d;
};

static int __attribute__((format(printf, 2, 3))) wrong(const struct reader *r, const char *fmt, ...)
{
	char what[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (!r->line)
		return diag_fail(r->d, -EINVAL, "%.150s: %s", r->path, what);
	return diag_fail(r->d, -EINVAL, "%.150s:%u: %s", r->path, r->line, what);
}

static int number(const struct reader *r, const char *key, const char *text, uint64_t least,
		  uint64_t max, uint64_t *ret)
{
	if (parse_u64(text, ret) || *ret < least || *ret > max)
		return wrong(r, "%s must be a whole number from %llu to %llu", key,
			     (unsigned long long)least, (unsigned long long)max);
	return 0;
}

static int small(const struct reader *r, const char *key, const char *text, uint64_t least,
		 uint64_t max, uint32_t *ret)
{
	uint64_t value;
	int err = number(r, key, text, least, max, &value);

	if (!err)
		*ret = (uint32_t)value;
	return err;
}

/* --- tiles */

static bool is_flag(const char *word)
{
	return !strcmp(word, "0") || !strcmp(word, "1");
}

/* "5 acc FFT_STRATUS basic_dma64 0 1 sld": design point and vendor may be missing. */
static int take_acc(const struct reader *r, struct esp_tile *t, char **words, size_t nr)
{
	size_t end = nr;

	if (end > 3 && !is_flag(words[end - 1]))
		end--;
	if (end < 5 || !is_flag(words[end - 1]) || !is_flag(words[end - 2]))
		return wrong(r, "an accelerator tile is \"NUMBER acc NAME POINT HAS_L2 HAS_DVFS "
				"VENDOR\", both flags 0 or 1");
	t->has_l2 = words[end - 2][0] == '1';
	t->has_dvfs = words[end - 1][0] == '1';
	return 0;
}

static int tile_type(const struct reader *r, const char *word, enum esp_tile_type *ret)
{
	for (int i = 0; i < ESP_NR_TILE_TYPES; i++) {
		if (strcmp(word, esp_tile_type_name((enum esp_tile_type)i)))
			continue;
		*ret = (enum esp_tile_type)i;
		return 0;
	}
	return wrong(r, "unknown tile type \"%.30s\": cpu, mem, acc, misc, slm or empty", word);
}

static int take_tile(struct reader *r, const char *key, char **words, size_t nr)
{
	struct esp_soc *soc = r->soc;
	struct esp_tile t = { 0 };
	uint32_t at, index;
	char end;
	int err;

	if (!soc->rows || !soc->cols)
		return wrong(r, "CONFIG_NOC_ROWS and CONFIG_NOC_COLS must come before the tiles");
	if (sscanf(key, "TILE_%u_%u%c", &t.row, &t.col, &end) != 2 || t.row >= soc->rows ||
	    t.col >= soc->cols)
		return wrong(r, "%.30s is not in the grid of %u rows and %u columns", key,
			     soc->rows, soc->cols);
	if (nr < 2)
		return wrong(r, "a tile is \"NUMBER TYPE NAME\", and more for accelerators");
	at = t.row * soc->cols + t.col;
	err = small(r, "the number of a tile", words[0], 0, ESP_MAX_TILES - 1, &index);
	if (!err)
		err = tile_type(r, words[1], &t.type);
	if (err)
		return err;
	if (index != at || r->seen[at])
		return wrong(r, r->seen[at] ? "%.30s is there twice" : "%.30s is tile number %u",
			     key, at);
	str_copy(t.ip, sizeof(t.ip), nr > 2 ? words[2] : words[1]);
	for (char *c = t.ip; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	if (t.type == ESP_TILE_ACC && (err = take_acc(r, &t, words, nr)))
		return err;
	r->seen[at] = true;
	soc->tiles[at] = t;
	return 0;
}

/* Numbers of a kind follow each other row by row, and device nodes of an IP do, too. */
static void count_tiles(struct esp_soc *soc)
{
	for (uint32_t i = 0; i < esp_nr_tiles(soc); i++) {
		struct esp_tile *t = &soc->tiles[i];
		/* a copy: with sanitizers, gcc takes the two fields of a tile for one object */
		char ip[sizeof(t->ip)];
		uint32_t alike = 0;

		t->number = soc->nr[t->type]++;
		if (t->type != ESP_TILE_ACC)
			continue;
		for (uint32_t k = 0; k < i; k++)
			alike += soc->tiles[k].type == ESP_TILE_ACC &&
				 !strcmp(soc->tiles[k].ip, t->ip);
		str_copy(ip, sizeof(ip), t->ip);
		snprintf(t->device, sizeof(t->device), "/dev/%s.%u", ip, alike);
	}
}

/* --- lines */

static int take_arch(struct reader *r, const char *text)
{
	if (strcmp(text, "ariane") && strcmp(text, "ibex") && strcmp(text, "leon3"))
		return wrong(r, "CPU_ARCH is ariane, ibex or leon3");
	str_copy(r->cpu_arch, sizeof(r->cpu_arch), text);
	return 0;
}

static int take_device(struct reader *r, const char *key, const char *text)
{
	uint32_t acc;
	int err = small(r, key, key + strlen(OWN "DEVICE_"), 0, ESP_MAX_TILES - 1, &acc);

	if (!err && (text[0] != '/' || str_copy(r->devices[acc], sizeof(r->devices[acc]), text)))
		err = wrong(r, "%.40s must be the path of a device node", key);
	return err;
}

static int unknown_own(const struct reader *r, const char *key)
{
	static const char *const keys[] = { OWN "WINDOW",   OWN "BASE",	      OWN "CLOCK_MHZ",
					    OWN "COUNTERS", OWN "WORD_BYTES", OWN "DEVICE_0" };
	struct spelling s = { .word = key };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		spelling_add(&s, keys[i]);
	wrong(r, "unknown key \"%.60s\"", key);
	return spelling_advise(&s, "known are", r->d, -EINVAL);
}

static int take_own(struct reader *r, const char *key, const char *text)
{
	struct esp_soc *soc = r->soc;
	const char *name = key + strlen(OWN);
	double mhz;

	if (!strcmp(name, "WINDOW"))
		return str_copy(soc->window, sizeof(soc->window), text)
			       ? wrong(r, "%s: this path is too long", key)
			       : 0;
	if (!strcmp(name, "BASE")) {
		r->base_given = true;
		return number(r, key, text, 0, INT64_MAX, &soc->base);
	}
	if (!strcmp(name, "COUNTERS"))
		return small(r, key, text, ESP_NR_COUNTERS - 1, ESP_NR_COUNTERS,
			     &soc->nr_registers);
	if (!strcmp(name, "WORD_BYTES"))
		return small(r, key, text, 1, 1024, &soc->word_bytes);
	if (!strncmp(name, "DEVICE_", 7))
		return take_device(r, key, text);
	if (strcmp(name, "CLOCK_MHZ"))
		return unknown_own(r, key);
	if (parse_double(text, &mhz) || mhz < 0.001 || mhz > 100000)
		return wrong(r, "%s must be a number from 0.001 to 100000", key);
	soc->clock_hz = (uint64_t)(mhz * 1e6 + 0.5);
	return 0;
}

static int take_pair(struct reader *r, const char *key, char *value)
{
	struct esp_soc *soc = r->soc;
	char *words[MAX_WORDS], *rest = value;
	uint32_t bits;
	size_t nr = 0;
	int err = 0;

	if (!strncmp(key, OWN, strlen(OWN)))
		return take_own(r, key, value);
	while (nr < MAX_WORDS && (words[nr] = strtok_r(nr ? NULL : rest, " \t", &rest)))
		nr++;
	if (!nr)
		return wrong(r, "%.60s has no value", key);
	if (!strcmp(key, "CPU_ARCH"))
		err = take_arch(r, words[0]);
	else if (!strcmp(key, "NCPU_TILE"))
		err = small(r, key, words[0], 0, ESP_MAX_TILES, &r->nr_cpus);
	else if (!strcmp(key, "CONFIG_NOC_ROWS"))
		err = small(r, key, words[0], 1, 16, &soc->rows);
	else if (!strcmp(key, "CONFIG_NOC_COLS"))
		err = small(r, key, words[0], 1, 16, &soc->cols);
	else if (!strcmp(key, "CONFIG_CACHE_EN"))
		soc->caches = !strcmp(words[0], "y");
	else if (!strcmp(key, "CONFIG_DMA_NOC_WIDTH")) {
		err = small(r, key, words[0], 8, 8192, &bits);
		soc->dma_word_bytes = err ? 0 : bits / 8;
	} else if (!strncmp(key, "TILE_", 5))
		err = take_tile(r, key, words, nr);
	return err;
}

/* "KEY = VALUE"; what begins with # is switched off, or a comment. */
static int take_line(struct reader *r, char *line)
{
	char *key = line + strspn(line, " \t"), *equals = strchr(key, '='), *end;

	if (!*key || *key == '#')
		return 0;
	if (!equals)
		return wrong(r, "a line is \"KEY = VALUE\"");
	for (end = equals; end > key && isspace((unsigned char)end[-1]); end--)
		;
	*end = '\0';
	equals += 1 + strspn(equals + 1, " \t");
	for (end = equals + strlen(equals); end > equals && isspace((unsigned char)end[-1]); end--)
		end[-1] = '\0';
	return take_pair(r, key, equals);
}

static int take_devices(struct reader *r)
{
	for (uint32_t i = 0; i < ESP_MAX_TILES; i++) {
		uint32_t tile = esp_tile_at(r->soc, ESP_TILE_ACC, i);

		if (!r->devices[i][0])
			continue;
		if (tile == UINT32_MAX)
			return wrong(r, OWN "DEVICE_%u: there are %u accelerators", i,
				     r->soc->nr[ESP_TILE_ACC]);
		str_copy(r->soc->tiles[tile].device, sizeof(r->soc->tiles[tile].device),
			 r->devices[i]);
	}
	return 0;
}

/* Without a line of our own, values follow from the CPU, whatever the order of the lines. */
static void set_defaults(const struct reader *r)
{
	struct esp_soc *soc = r->soc;

	if (!soc->word_bytes)
		soc->word_bytes = strcmp(r->cpu_arch, "ariane") ? 4 : 8;
	if (r->base_given)
		return;
	/* In any other file the registers are at its beginning. */
	if (strcmp(soc->window, ESP_MEM) != 0)
		soc->base = 0;
	else
		soc->base = strcmp(r->cpu_arch, "leon3") ? BASE : BASE_LEON3;
}

static int whole(struct reader *r)
{
	struct esp_soc *soc = r->soc;

	r->line = 0;
	if (!r->cpu_arch[0] || !soc->rows || !soc->cols) {
		wrong(r, "it has no %s",
		      !r->cpu_arch[0] ? "CPU_ARCH"
		      : !soc->rows    ? "CONFIG_NOC_ROWS"
				      : "CONFIG_NOC_COLS");
		return diag_advise(
			r->d, -EINVAL,
			"give the .esp_config that ESP's tools wrote for this bitstream");
	}
	for (uint32_t i = 0; i < esp_nr_tiles(soc); i++)
		if (!r->seen[i])
			return wrong(r, "TILE_%u_%u is missing", i / soc->cols, i % soc->cols);
	count_tiles(soc);
	if (soc->nr[ESP_TILE_CPU] != r->nr_cpus)
		return wrong(r, "NCPU_TILE is %u, and %u tiles are CPUs", r->nr_cpus,
			     soc->nr[ESP_TILE_CPU]);
	set_defaults(r);
	return take_devices(r);
}

int esp_soc_read(const char *path, struct diag *d, struct esp_soc *ret)
{
	cleanup_fclose FILE *in = fopen(path, "re");
	struct reader r = { .path = path, .soc = ret, .d = d };
	char line[LINE_LEN];
	int err;

	if (!in) {
		err = -errno;
		diag_fail(d, err, "cannot read the description of the ESP %.200s: %s", path,
			  strerror(-err));
		return diag_advise(d, err, "it is the .esp_config that ESP's tools write");
	}
	*ret = (struct esp_soc){ .nr_registers = ESP_NR_COUNTERS };
	str_copy(ret->window, sizeof(ret->window), ESP_MEM);
	for (r.line = 1; (err = next_line(in, line, sizeof(line))) > 0; r.line++)
		if ((err = take_line(&r, line)))
			return err;
	if (err == -E2BIG || err == -EINVAL)
		return wrong(&r, "this line is %s", err == -E2BIG ? "too long" : "no text");
	return err ? diag_error(d, err, "cannot read the description of the ESP") : whole(&r);
}

/* --- what follows from it */

uint32_t esp_tile_at(const struct esp_soc *soc, enum esp_tile_type type, uint32_t number)
{
	for (uint32_t i = 0; i < esp_nr_tiles(soc); i++)
		if (soc->tiles[i].type == type && soc->tiles[i].number == number)
			return i;
	return UINT32_MAX;
}

uint64_t esp_tile_counters(const struct esp_soc *soc, uint32_t tile)
{
	const struct esp_tile *t = &soc->tiles[tile];
	uint64_t set = ESP_BITS(ESP_NOC_INJECTS, ESP_NR_COUNTERS - ESP_NOC_INJECTS);

	if (t->type == ESP_TILE_MEM) {
		set |= ESP_BITS(ESP_DDR_ACCESSES, 1) | ESP_BITS(ESP_MEM_REQS, 8);
		if (soc->caches)
			set |= ESP_BITS(ESP_LLC_HITS, 2);
	}
	if ((t->type == ESP_TILE_CPU && soc->caches) || t->has_l2)
		set |= ESP_BITS(ESP_L2_HITS, 2);
	if (t->type == ESP_TILE_ACC)
		set |= ESP_BITS(ESP_ACC_TLB, 6);
	if (t->type == ESP_TILE_CPU || t->has_dvfs)
		set |= ESP_BITS(ESP_DVFS, ESP_NR_POINTS);
	if (soc->nr_registers < ESP_NR_COUNTERS)
		set &= ~ESP_BITS(ESP_ACC_INVOCATIONS, 1);
	return set;
}

void esp_tile_label(const struct esp_soc *soc, uint32_t tile, char *ret, size_t size)
{
	const struct esp_tile *t = &soc->tiles[tile];

	snprintf(ret, size, "%s%u%s%s%s", esp_tile_type_name(t->type), t->number,
		 t->type == ESP_TILE_ACC ? " (" : "", t->type == ESP_TILE_ACC ? t->ip : "",
		 t->type == ESP_TILE_ACC ? ")" : "");
}

uint64_t esp_safe_ns(const struct esp_soc *soc)
{
	/* At most one count a cycle. */
	return (uint64_t)((double)(1ull << 32) / (double)soc->clock_hz * NS_PER_S);
}
