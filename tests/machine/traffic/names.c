/* SPDX-License-Identifier: GPL-2.0-only */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "names.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static const char *const kinds[NR_KINDS] = {
	[KIND_NONE] = "none",	      [KIND_UCF] = "ucf",	  [KIND_PCIE] = "pcie",
	[KIND_TGT] = "tgt",	      [KIND_CMEM] = "cmem",	  [KIND_NVLINK] = "nvlink",
	[KIND_NVCLINK] = "nvclink",   [KIND_NVDLINK] = "nvdlink", [KIND_SCF] = "scf",
	[KIND_GPCIE] = "gpcie",	      [KIND_C2C0] = "c2c0",	  [KIND_C2C1] = "c2c1",
	[KIND_CNVLINK] = "cnvlink",   [KIND_MCU] = "mcu",	  [KIND_DDRC] = "ddrc",
	[KIND_HNF] = "hnf",	      [KIND_RND] = "rnd",	  [KIND_SBSX] = "sbsx",
	[KIND_ROOTPORT] = "rootport", [KIND_ESP] = "esp",
};

struct place {
	enum kind kind;
	const char *name;
	uint32_t bit;
};

static const struct place sources[] = {
	{ KIND_UCF, "noncpu", UCF_SRC_NONCPU },
	{ KIND_UCF, "cpu", UCF_SRC_CPU },
	{ KIND_UCF, "rem", UCF_SRC_REM },
};

static const struct place destinations[] = {
	{ KIND_UCF, "cmem", UCF_DST_CMEM },
	{ KIND_UCF, "gmem", UCF_DST_GMEM },
	{ KIND_UCF, "other", UCF_DST_OTHER },
	{ KIND_UCF, "rem", UCF_DST_REM },
	{ KIND_PCIE, "cmem", PCIE_DST_CMEM },
	{ KIND_PCIE, "gmem", PCIE_DST_GMEM },
	{ KIND_PCIE, "p2p", PCIE_DST_P2P },
	{ KIND_PCIE, "cxl", PCIE_DST_CXL },
	{ KIND_PCIE, "rem", PCIE_DST_REM },
	{ KIND_TGT, "bar", 0 },
	{ KIND_TGT, "cxl", 1 },
	{ KIND_SCF, "s0", SCF_DST_S0 },
	{ KIND_SCF, "s1", SCF_DST_S1 },
	{ KIND_SCF, "s2", SCF_DST_S2 },
	{ KIND_SCF, "s3", SCF_DST_S3 },
	{ KIND_SCF, "gmem", SCF_DST_GMEM },
	{ KIND_SCF, "cmem", SCF_DST_CMEM },
	{ KIND_GPCIE, "loc", MCF_DST_LOC },
	{ KIND_GPCIE, "rem", MCF_DST_REM },
};

/* The T410 links share one table of events and directions, Grace's units another */
static enum kind table_kind(enum kind kind)
{
	switch (kind) {
	case KIND_NVCLINK:
	case KIND_NVDLINK:
		return KIND_NVLINK;
	case KIND_C2C0:
	case KIND_C2C1:
	case KIND_CNVLINK:
		return KIND_GPCIE;
	default:
		return kind;
	}
}

enum kind kind_by_name(const char *name)
{
	for (int k = KIND_NONE + 1; k < NR_KINDS; k++)
		if (!strcmp(kinds[k], name))
			return k;
	return KIND_NONE;
}

const char *kind_name(uint32_t kind)
{
	return kind < NR_KINDS ? kinds[kind] : "?";
}

int parse_number(const char *text, uint64_t *ret_value)
{
	uint64_t value, scale = 1;
	char *end;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno)
		return -EINVAL;
	switch (*end) {
	case 'k':
		scale = 1000;
		break;
	case 'M':
		scale = 1000000;
		break;
	case 'G':
		scale = 1000000000;
		break;
	}
	if (scale != 1)
		end++;
	if (*end || __builtin_mul_overflow(value, scale, &value))
		return -EINVAL;
	*ret_value = value;
	return 0;
}

int parse_bdf(const char *text, uint64_t *ret_bdf)
{
	unsigned int bus, device, function;
	char rest;

	if (!strchr(text, ':'))
		return parse_number(text, ret_bdf);
	if (sscanf(text, "%2x:%2x.%1u%c", &bus, &device, &function, &rest) != 3 || device > 0x1f ||
	    function > 7)
		return -EINVAL;
	*ret_bdf = bus << 8 | device << 3 | function;
	return 0;
}

int event_by_name(enum kind kind, const char *word, uint64_t *ret_id)
{
	for (size_t i = 0; i < nr_event_names; i++)
		if (event_names[i].kind == table_kind(kind) && !strcmp(event_names[i].name, word)) {
			*ret_id = event_names[i].id;
			return 0;
		}
	return parse_number(word, ret_id);
}

static int place_by_name(const struct place *table, size_t nr, enum kind kind, const char *word,
			 uint64_t *ret_bit)
{
	for (size_t i = 0; i < nr; i++)
		if (table[i].kind == table_kind(kind) && !strcmp(table[i].name, word)) {
			*ret_bit = table[i].bit;
			return 0;
		}
	return parse_number(word, ret_bit);
}

int src_by_name(enum kind kind, const char *word, uint64_t *ret_bit)
{
	return place_by_name(sources, ARRAY_SIZE(sources), kind, word, ret_bit);
}

int dst_by_name(enum kind kind, const char *word, uint64_t *ret_bit)
{
	return place_by_name(destinations, ARRAY_SIZE(destinations), kind, word, ret_bit);
}

uint32_t default_dst(enum kind kind, uint32_t socket)
{
	if (kind == KIND_UCF)
		return UCF_DST_CMEM;
	if (kind == KIND_SCF)
		return SCF_DST_S0 + socket; /* its own memory */
	return 0;			    /* cmem, bar, loc */
}
