/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Facts that a client of a DRM driver tells of itself. */
#ifndef GPU_FDINFO_INTERNAL_H
#define GPU_FDINFO_INTERNAL_H

#include "gpu/fdinfo.h"

#define FDINFO_MAX_ENGINES 24

/**
 * struct fdinfo_driver - a driver and its words
 * @copy: names of its copy engines begin so
 * @cycles: it counts cycles; others count ns
 */
struct fdinfo_driver {
	const char *name;
	const char *copy;
	bool cycles;
};

/**
 * struct fdinfo_engine - an engine, as a client used it
 * @used: ns or cycles
 * @total: cycles of the engine
 * @capacity: engines that this one stands for; 0: it is one
 */
struct fdinfo_engine {
	char name[24];
	uint64_t used;
	uint64_t total;
	uint64_t capacity;
};

/**
 * struct fdinfo_client - an open GPU; descriptors may share one
 * @address: of the GPU
 * @id: its number there
 * @memory: it has some
 * @pid, @start_ns: the process that has it, of several the oldest
 */
struct fdinfo_client {
	char address[24];
	uint64_t id;
	bool memory;
	struct fdinfo_engine engines[FDINFO_MAX_ENGINES];
	size_t nr;
	uint32_t pid;
	uint64_t start_ns;
};

/** fdinfo_driver_of() - the row of a driver; NULL for none */
const struct fdinfo_driver *fdinfo_driver_of(const char *name);

/** fdinfo_read() - read the lines of a client; false if they are not those of a known driver */
bool fdinfo_read(FILE *f, struct fdinfo_client *ret, const struct fdinfo_driver **ret_driver);

/**
 * fdinfo_busy() - time that a client used its engines
 * @d: its driver
 * @now: the client. Drivers may let values fall for a while: it keeps the largest ones
 * @before: it, at the last look; NULL for a new one
 * @other: any client of this GPU at the last look: it has the GPU's own cycles; NULL for none
 * @ns: from then to now
 * @ret_ns, @ret_copy_ns: the time, and the part of it on copy engines
 *
 * Return: is that known?
 */
bool fdinfo_busy(const struct fdinfo_driver *d, struct fdinfo_client *now,
		 const struct fdinfo_client *before, const struct fdinfo_client *other, uint64_t ns,
		 uint64_t *ret_ns, uint64_t *ret_copy_ns);

/** fdinfo_works() - has the client ever used an engine, or memory? An open node is no context */
bool fdinfo_works(const struct fdinfo_client *c);

#endif
