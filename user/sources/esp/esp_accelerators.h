/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Accelerators of an ESP as devices of a run: what DMA moved is divided among them by the cycles in
 * which they moved data, and who alone has an accelerator's node open owns its part.
 */
#ifndef SOURCES_ESP_ESP_ACCELERATORS_H
#define SOURCES_ESP_ESP_ACCELERATORS_H

#include "live/sources/source.h"
#include "sources/esp/dma.h"

/* Reads and writes, by direction */
#define ESP_WAYS 2

struct esp_accelerators;

/**
 * esp_accelerators_new() - append them to the header
 * @c: of the run
 * @reader: of the system-on-chip; must outlive @ret
 * @d: what is wrong
 * @ret: release with esp_accelerators_free(); NULL when there are none
 *
 * Return: 0 or -ENOMEM.
 */
int esp_accelerators_new(const struct source_context *c, struct esp_reader *reader, struct diag *d,
			 struct esp_accelerators **ret);
void esp_accelerators_free(struct esp_accelerators *a);

/** esp_accelerators_attach() - owners can be looked for; 0 or a negative errno with @d */
int esp_accelerators_attach(struct esp_accelerators *a, struct diag *d);

/** esp_accelerators_start() - the books begin; 0 or an error of reading with @d */
int esp_accelerators_start(struct esp_accelerators *a, struct diag *d);

/**
 * esp_accelerators_read() - a window of each accelerator
 * @a: accelerators
 * @bytes: by direction, what DMA moved since the last call
 *
 * What nobody was busy for belongs to those who are in the next window, and then to nobody.
 *
 * Return: 0, or an error of the sink other than -EINVAL.
 */
int esp_accelerators_read(struct esp_accelerators *a, const uint64_t bytes[ESP_WAYS]);

/** esp_accelerators_look() - look for owners if it is time; @mark as device_io_look() */
int esp_accelerators_look(struct esp_accelerators *a, bool mark);

/** esp_accelerators_failed() - readings that were of no use */
uint64_t esp_accelerators_failed(const struct esp_accelerators *a);

/** esp_accelerators_note() - what users must know, "" for nothing */
const char *esp_accelerators_note(const struct esp_accelerators *a);

#endif
