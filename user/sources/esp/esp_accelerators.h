/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Accelerators of an ESP as devices of a run: DMA bytes are divided among them by the cycles in
 * which they moved data, and the only process that has an accelerator's node open owns its share.
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
 * @d: the problem
 * @ret: release with esp_accelerators_free(); NULL when there are none
 *
 * Return: 0 or -ENOMEM.
 */
int esp_accelerators_new(const struct source_context *c, struct esp_reader *reader, struct diag *d,
			 struct esp_accelerators **ret);
void esp_accelerators_free(struct esp_accelerators *a);

/** esp_accelerators_attach() - start looking for owners; 0 or a negative errno with @d */
int esp_accelerators_attach(struct esp_accelerators *a, struct diag *d);

/** esp_accelerators_start() - begin the books; 0 or an error of reading with @d */
int esp_accelerators_start(struct esp_accelerators *a, struct diag *d);

/**
 * esp_accelerators_read() - a window of each accelerator
 * @a: accelerators
 * @bytes: by direction, DMA bytes since the last call
 *
 * Bytes without a busy accelerator belong to those busy in the next window, or to none.
 *
 * Return: 0, or an error of the sink other than -EINVAL.
 */
int esp_accelerators_read(struct esp_accelerators *a, const uint64_t bytes[ESP_WAYS]);

/** esp_accelerators_look() - look for owners if due; @mark as in device_io_look() */
int esp_accelerators_look(struct esp_accelerators *a, bool mark);

/** esp_accelerators_failed() - number of useless readings */
uint64_t esp_accelerators_failed(const struct esp_accelerators *a);

/** esp_accelerators_note() - a note for users, "" for none */
const char *esp_accelerators_note(const struct esp_accelerators *a);

#endif
