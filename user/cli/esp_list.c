// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* t410trace list --esp: the tiles of an ESP, and the counters of their monitors. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/esp.h"
#include "cli/output.h"
#include "sources/esp/soc.h"
#include "report/grid.h"

#define LIST_SCHEMA "t410trace.list/1"

/* --- JSON */

static json_t *tile_to_json(const struct esp_soc *soc, uint32_t i)
{
	const struct esp_tile *t = &soc->tiles[i];
	uint64_t set = esp_tile_counters(soc, i);
	json_t *counters = json_array();

	for (uint32_t k = 0; k < ESP_NR_COUNTERS; k++)
		if (set & ESP_BITS(k, 1))
			output_append(&counters, json_integer(k));
	return json_pack("{s:i, s:s, s:i, s:i, s:i, s:s, s:b, s:b, s:o*, s:o}", "tile", i, "type",
			 esp_tile_type_name(t->type), "number", t->number, "row", t->row, "column",
			 t->col, "ip", t->ip, "l2", t->has_l2, "dvfs", t->has_dvfs, "device",
			 t->device[0] ? json_string(t->device) : NULL, "counters", counters);
}

static json_t *counter_to_json(uint32_t i)
{
	const struct esp_counter_row *row = esp_counter_row(i);
	char name[ESP_NAME_LEN];

	esp_counter_name(i, name);
	return json_pack("{s:i, s:s, s:s, s:s}", "index", i, "name", name, "unit", row->unit,
			 "valid_in", row->valid);
}

static json_t *esp_to_json(const struct esp_soc *soc)
{
	json_t *tiles = json_array(), *counters = json_array();

	for (uint32_t i = 0; i < esp_nr_tiles(soc); i++)
		output_append(&tiles, tile_to_json(soc, i));
	for (uint32_t i = 0; i < ESP_NR_COUNTERS; i++)
		output_append(&counters, counter_to_json(i));
	return json_pack("{s:s, s:[], s:[], s:{s:s, s:I, s:I, s:i, s:i, s:i, s:b, s:i, s:o, s:o}}",
			 "schema", LIST_SCHEMA, "pmus", "notes", "esp", "window", soc->window,
			 "base", (json_int_t)soc->base, "clock_hz", (json_int_t)soc->clock_hz,
			 "rows", soc->rows, "columns", soc->cols, "registers", soc->nr_registers,
			 "caches", soc->caches, "access_bytes", soc->word_bytes, "tiles", tiles,
			 "counters", counters);
}

/* --- text */

struct tile_row {
	const struct esp_soc *soc;
	uint32_t tile;
};

static struct grid_cell cell_label(const struct grid_place *at)
{
	const struct tile_row *row = at->row;
	char label[64];

	esp_tile_label(row->soc, row->tile, label, sizeof(label));
	return grid_text("%s", label);
}

static struct grid_cell cell_counters(const struct grid_place *at)
{
	const struct tile_row *row = at->row;

	return grid_text("%d", __builtin_popcountll(esp_tile_counters(row->soc, row->tile)));
}

GRID_CELL(cell_tile, struct tile_row, grid_text("%u", row->tile));
GRID_CELL(cell_place, struct tile_row,
	  grid_text("%u,%u", row->soc->tiles[row->tile].row, row->soc->tiles[row->tile].col));
GRID_CELL(cell_device, struct tile_row,
	  grid_if(row->soc->tiles[row->tile].device[0],
		  grid_text("%s", row->soc->tiles[row->tile].device)));

static const struct grid_column tile_columns[] = {
	{ NULL, "tile", 4, .cell = cell_tile },
	{ NULL, "row,col", 7, .look = GRID_LEFT, .cell = cell_place },
	{ NULL, "what", 28, .look = GRID_LEFT, .cell = cell_label },
	{ NULL, "counters", 8, .cell = cell_counters },
	{ NULL, "device node", 24, .look = GRID_LEFT, .cell = cell_device },
};

static struct grid_cell cell_name(const struct grid_place *at)
{
	char name[ESP_NAME_LEN];

	esp_counter_name(*(const uint32_t *)at->row, name);
	return grid_text("%s", name);
}

GRID_CELL(cell_index, uint32_t, grid_text("%u", *row));
GRID_CELL(cell_unit, uint32_t, grid_text("%s", esp_counter_row(*row)->unit));
GRID_CELL(cell_valid, uint32_t, grid_text("%s", esp_counter_row(*row)->valid));

static const struct grid_column counter_columns[] = {
	{ NULL, "index", 5, .cell = cell_index },
	{ NULL, "counter", 27, .look = GRID_LEFT, .cell = cell_name },
	{ NULL, "unit", 11, .look = GRID_LEFT, .cell = cell_unit },
	{ NULL, "counts in", 26, .look = GRID_LEFT, .cell = cell_valid },
};

static int print_text(const struct esp_soc *soc)
{
	GRID(tiles, tile_columns, stdout, OUTPUT_COLUMNS, NULL);
	GRID(counters, counter_columns, stdout, OUTPUT_COLUMNS, NULL);
	int err = 0;

	printf("ESP: %u rows of %u tiles, registers at 0x%" PRIx64 " in %s\n", soc->rows, soc->cols,
	       soc->base, soc->window);
	if (soc->clock_hz)
		printf("clock %g MHz: counters of 32 bits are read every %.1f s at least\n",
		       (double)soc->clock_hz / 1e6, (double)esp_safe_ns(soc) / 1e9);
	tiles.indent = counters.indent = 2;
	grid_heading(&tiles);
	for (uint32_t i = 0; !err && i < esp_nr_tiles(soc); i++)
		err = grid_row(&tiles, &(struct tile_row){ soc, i });
	printf("\n%d counters of a tile\n", ESP_NR_COUNTERS);
	grid_heading(&counters);
	for (uint32_t i = 0; !err && i < ESP_NR_COUNTERS; i++)
		err = grid_row(&counters, &i);
	return err;
}

int esp_list(const struct options *o, struct diag *d)
{
	cleanup_free struct esp_soc *soc = calloc(1, sizeof(*soc));
	int err = soc ? esp_soc_read(o->run.esp, d, soc) : diag_no_memory(d);

	if (err)
		return err;
	/* A description can be shown on any machine. */
	esp_tree_check(soc, ESP_TREE, NULL);
	err = o->run.output.format == OUTPUT_JSON ? output_json(esp_to_json(soc)) : print_text(soc);
	return err ? diag_error(d, err, "cannot show the ESP") : 0;
}
