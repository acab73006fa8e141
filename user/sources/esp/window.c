// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sources/esp/window.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "sources/esp/registers.h"

#define NO_ANSWER UINT32_MAX
#define FREEZE	  1u
#define RELEASE	  0u

struct esp_window {
	const struct esp_soc *soc;
	int fd; /* locked: there is one reader */
	void *map;
	size_t size;
	volatile uint32_t *registers;
	uint32_t found_frozen;
};

static volatile uint32_t *tile_of(const struct esp_window *w, uint32_t tile)
{
	return w->registers + (size_t)tile * (ESP_TILE_SIZE / sizeof(uint32_t));
}

/* Older hardware has no counter of invocations, and those behind it are one place lower. */
static uint32_t word_of(const struct esp_soc *soc, uint32_t counter)
{
	bool older = soc->nr_registers < ESP_NR_COUNTERS;

	return counter + 1 - (older && counter > ESP_ACC_INVOCATIONS);
}

static void control(const struct esp_window *w, uint32_t tile, uint32_t value)
{
	esp_register_put(tile_of(w, tile), value);
}

static uint32_t controlled(const struct esp_window *w, uint32_t tile)
{
	return esp_register_get(tile_of(w, tile));
}

static uint32_t count_of(const struct esp_window *w, uint32_t tile, uint32_t counter)
{
	return esp_register_get(tile_of(w, tile) + word_of(w->soc, counter));
}

static int no_answer(const struct esp_soc *soc, uint32_t tile, struct diag *d)
{
	char label[64];

	esp_tile_label(soc, tile, label, sizeof(label));
	diag_fail(d, -ENXIO,
		  "tile %u, %s: all registers read all ones: nothing answers at 0x%llx "
		  "in %s",
		  tile, label, (unsigned long long)(soc->base + (uint64_t)tile * ESP_TILE_SIZE),
		  soc->window);
	return diag_advise(d, -ENXIO,
			   "is the description that of this bitstream? T410TRACE_BASE "
			   "says where registers begin");
}

static int stuck(const struct esp_soc *soc, uint32_t tile, bool frozen, struct diag *d)
{
	char label[64];

	esp_tile_label(soc, tile, label, sizeof(label));
	diag_fail(d, -EIO, "tile %u, %s: its monitors %s", tile, label,
		  frozen ? "stay frozen" : "cannot be frozen");
	return diag_advise(d, -EIO,
			   "the hardware does not take what is written to its control "
			   "word: is the bitstream built with monitors, and the "
			   "description that of this bitstream?");
}

int esp_window_read(struct esp_window *w, uint32_t tile, uint64_t set, struct diag *d,
		    struct esp_counts *ret)
{
	uint32_t frozen, ones = ~0u, nr = 0;

	if (w->soc->nr_registers < ESP_NR_COUNTERS)
		set &= ~ESP_BITS(ESP_ACC_INVOCATIONS, 1);
	*ret = (struct esp_counts){ .set = set };
	control(w, tile, FREEZE);
	ret->time_ns = monotonic_ns();
	frozen = controlled(w, tile);
	for (uint32_t i = 0; i < ESP_NR_COUNTERS; i++) {
		if (!(set & ESP_BITS(i, 1)))
			continue;
		ret->counts[i] = count_of(w, tile, i);
		ones &= ret->counts[i];
		nr++;
	}
	control(w, tile, RELEASE);
	/* One counter may well stand at its end. */
	if (frozen == NO_ANSWER || (nr > 1 && ones == NO_ANSWER))
		return no_answer(w->soc, tile, d);
	if (!(frozen & FREEZE))
		return stuck(w->soc, tile, false, d);
	return controlled(w, tile) & FREEZE ? stuck(w->soc, tile, true, d) : 0;
}

/* --- opening */

static int refused(const struct esp_soc *soc, int err, struct diag *d)
{
	diag_fail(d, err, "cannot open the registers of the ESP, %s: %s", soc->window,
		  strerror(-err));
	if (err == -ENOENT)
		return diag_advise(d, err,
				   strcmp(soc->window, ESP_MEM)
					   ? "T410TRACE_WINDOW in the description names it"
					   : "the kernel needs CONFIG_DEVMEM=y");
	if (strcmp(soc->window, ESP_MEM) != 0)
		return diag_advise(d, err, "it must be readable and writable");
	return diag_advise(d, err,
			   "run as root (CAP_SYS_RAWIO). A kernel with "
			   "CONFIG_IO_STRICT_DEVMEM refuses registers that a driver has: "
			   "boot with iomem=relaxed. Lockdown refuses all");
}

static int long_enough(const struct esp_soc *soc, int fd, struct diag *d)
{
	uint64_t size = (uint64_t)esp_nr_tiles(soc) * ESP_TILE_SIZE;
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (uint64_t)st.st_size >= soc->base + size)
		return 0;
	diag_fail(d, -EINVAL, "%s has %llu bytes; %u tiles need %llu from 0x%llx on", soc->window,
		  (unsigned long long)st.st_size, esp_nr_tiles(soc), (unsigned long long)size,
		  (unsigned long long)soc->base);
	return diag_advise(d, -EINVAL, "is the description that of another system-on-chip?");
}

static int map(struct esp_window *w, struct diag *d)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), begin = w->soc->base & ~(page - 1);
	int err;

	if (w->soc->base % sizeof(uint32_t))
		return diag_fail(d, -EINVAL, "registers at 0x%llx: not a multiple of 4",
				 (unsigned long long)w->soc->base);
	w->size = (size_t)(w->soc->base - begin) + (size_t)esp_nr_tiles(w->soc) * ESP_TILE_SIZE;
	w->map = mmap(NULL, w->size, PROT_READ | PROT_WRITE, MAP_SHARED, w->fd, (off_t)begin);
	if (w->map == MAP_FAILED) {
		w->map = NULL;
		err = -errno;
		return refused(w->soc, err, d);
	}
	w->registers = (volatile uint32_t *)((char *)w->map + (w->soc->base - begin));
	return 0;
}

/* A reader that was killed between freezing and releasing */
static int release_all(struct esp_window *w, struct diag *d)
{
	for (uint32_t i = 0; i < esp_nr_tiles(w->soc); i++) {
		uint32_t was = controlled(w, i);

		if (was == NO_ANSWER)
			return no_answer(w->soc, i, d);
		w->found_frozen += (was & FREEZE) != 0;
		control(w, i, RELEASE);
		if (controlled(w, i) & FREEZE)
			return stuck(w->soc, i, true, d);
	}
	return 0;
}

static int open_window(struct esp_window *w, struct diag *d)
{
	int err;

	w->fd = open(w->soc->window, O_RDWR | O_SYNC | O_CLOEXEC);
	if (w->fd < 0)
		return refused(w->soc, -errno, d);
	err = long_enough(w->soc, w->fd, d);
	if (err)
		return err;
	if (flock(w->fd, LOCK_EX | LOCK_NB)) {
		diag_fail(d, -EBUSY, "another program has locked %s", w->soc->window);
		return diag_advise(d, -EBUSY,
				   "two readers would release each other's tiles: end the other "
				   "t410trace first");
	}
	err = map(w, d);
	return err ? err : release_all(w, d);
}

int esp_window_open(const struct esp_soc *soc, struct diag *d, struct esp_window **ret)
{
	struct esp_window *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return diag_no_memory(d);
	w->soc = soc;
	w->fd = -1;
	err = open_window(w, d);
	if (err) {
		esp_window_close(w);
		return err;
	}
	*ret = w;
	return 0;
}

void esp_window_close(struct esp_window *w)
{
	if (!w)
		return;
	for (uint32_t i = 0; w->registers && i < esp_nr_tiles(w->soc); i++)
		if (controlled(w, i) != NO_ANSWER)
			control(w, i, RELEASE);
	if (w->map)
		munmap(w->map, w->size);
	if (w->fd >= 0)
		close(w->fd);
	free(w);
}

uint32_t esp_window_found_frozen(const struct esp_window *w)
{
	return w->found_frozen;
}
