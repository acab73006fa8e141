// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The device tree that ESP's tools write: CPUs, their clock, accelerators. Big-endian numbers. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "sources/esp/soc.h"

/* Is one of the names of @path/compatible among those of ESP's machines? */
static bool is_esp(int tree)
{
	static const char *const names[] = { "eth,ariane-bare-dev", "lowrisc,ibex" };
	cleanup_fclose FILE *in = file_at(tree, "compatible");
	char text[256] = "";
	size_t length = in ? fread(text, 1, sizeof(text) - 1, in) : 0;

	for (const char *name = text; name < text + length; name += strlen(name) + 1)
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			if (!strcmp(name, names[i]))
				return true;
	return false;
}

/* Folders of @path whose name is @name and an address. */
static uint32_t count_nodes(int tree, const char *path, const char *name)
{
	cleanup_closedir DIR *dir = dir_at(tree, path);
	size_t length = strlen(name);
	struct dirent *e;
	uint32_t nr = 0;

	while (dir && (e = readdir(dir)))
		nr += !strncmp(e->d_name, name, length) && e->d_name[length] == '@';
	return nr;
}

static uint64_t read_clock(int tree)
{
	cleanup_fclose FILE *in = file_at(tree, "cpus/cpu@0/clock-frequency");
	unsigned char b[4];

	if (!in || fread(b, 1, sizeof(b), in) != sizeof(b))
		return 0;
	return (uint64_t)b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3];
}

static int compare(const struct esp_soc *soc, int tree, struct diag *d)
{
	uint32_t cpus = count_nodes(tree, "cpus", "cpu");

	if (cpus != soc->nr[ESP_TILE_CPU]) {
		diag_fail(d, -ENODEV, "this machine has %u CPU tile%s, and its description %u",
			  cpus, cpus == 1 ? "" : "s", soc->nr[ESP_TILE_CPU]);
		return diag_advise(d, -ENODEV,
				   "give the .esp_config of the bitstream that runs here");
	}
	for (uint32_t i = 0; i < esp_nr_tiles(soc); i++) {
		const struct esp_tile *t = &soc->tiles[i];
		uint32_t described = 0, there;

		for (uint32_t k = 0; k < esp_nr_tiles(soc); k++)
			described += soc->tiles[k].type == ESP_TILE_ACC &&
				     !strcmp(soc->tiles[k].ip, t->ip);
		if (t->type != ESP_TILE_ACC)
			continue;
		there = count_nodes(tree, "soc", t->ip);
		if (there == described)
			continue;
		diag_fail(d, -ENODEV,
			  "this machine has %u accelerator%s %s, and its description %u", there,
			  there == 1 ? "" : "s", t->ip, described);
		return diag_advise(d, -ENODEV,
				   "give the .esp_config of the bitstream that runs here");
	}
	return 0;
}

int esp_tree_check(struct esp_soc *soc, const char *path, struct diag *d)
{
	cleanup_close int tree = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool memory = !strcmp(soc->window, ESP_MEM);

	if (memory && (tree < 0 || !is_esp(tree))) {
		diag_fail(d, -ENODEV, "this machine is not an ESP: %s %s", path,
			  tree < 0 ? "is not there" : "is of another one");
		return diag_advise(d, -ENODEV,
				   "its memory is not touched; T410TRACE_WINDOW = PATH in the "
				   "description names registers that are elsewhere");
	}
	if (memory) {
		int err = compare(soc, tree, d);

		if (err)
			return err;
	}
	if (!soc->clock_hz && tree >= 0 && is_esp(tree))
		soc->clock_hz = read_clock(tree);
	if (soc->clock_hz)
		return 0;
	diag_fail(d, -EINVAL,
		  "the clock of the ESP is not known: counters of 32 bits would go "
		  "around unseen");
	return diag_advise(d, -EINVAL, "say it in the description: T410TRACE_CLOCK_MHZ = 100");
}
