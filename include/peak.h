/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Contract between the layers: peak rates of memory and links. Plain data. */
#ifndef T410TRACE_PEAK_H
#define T410TRACE_PEAK_H

#include <stdbool.h>
#include <stdint.h>

/* Quantities with a peak. Reads and writes of memory share wires; links have separate ones. */
enum peak_of {
	PEAK_CMEM,   /* memory of a socket's CPUs: reads and writes together */
	PEAK_GMEM,   /* the link to memory of GPUs, in each direction, like the rest */
	PEAK_CXL,    /* the links to CXL memory */
	PEAK_REMOTE, /* the links to memory of other sockets */
	PEAK_PCIE,   /* the link of one PCIe device */
	NR_PEAKS,
};

/* Source of a peak. */
enum peak_from {
	PEAK_GIVEN,    /* the user */
	PEAK_FIRMWARE, /* the firmware's table of memory devices */
	NR_PEAK_FROM,
};

#define PEAK_EVERY_SOCKET UINT32_MAX
#define PEAK_MAX	  80 /* one for each of 64 sockets, and those of links */
#define PEAK_NOTE_LEN	  256
/* The largest plausible rate in bytes a second: a larger one is an error */
#define PEAK_MOST	  1000000000000000ull

/**
 * struct peak - one peak
 * @of: its quantity
 * @from: its source
 * @socket: number of the socket, or PEAK_EVERY_SOCKET
 * @bytes_per_s: the peak, from 1 to PEAK_MOST
 */
struct peak {
	enum peak_of of;
	enum peak_from from;
	uint32_t socket;
	uint64_t bytes_per_s;
};

/**
 * struct peaks - all peaks of a machine
 * @items, @nr: no two for the same quantity and socket
 * @note: how the firmware's table was read, "" when no peak is from there
 */
struct peaks {
	struct peak items[PEAK_MAX];
	uint32_t nr;
	char note[PEAK_NOTE_LEN];
};

/**
 * struct peaks_wanted - the user's peaks
 * @bytes_per_s: by enum peak_of; 0 = not given
 * @none: only these: neither the firmware's nor those of a recording
 */
struct peaks_wanted {
	uint64_t bytes_per_s[NR_PEAKS];
	bool none;
};

/** peak_name() - "cmem", "gmem", "cxl", "remote", "pcie"; NULL behind the last one */
const char *peak_name(unsigned int of);

/** peak_from_name() - "given", "firmware"; NULL behind the last one */
const char *peak_from_name(unsigned int from);

/** peaks_find() - peak of a quantity on a socket (its number); NULL for none */
const struct peak *peaks_find(const struct peaks *p, enum peak_of of, uint32_t socket);

/** peaks_given() - did the user give any peak? */
bool peaks_given(const struct peaks_wanted *w);

/** peaks_apply() - replace known peaks by the user's */
void peaks_apply(struct peaks *p, const struct peaks_wanted *w);

/** peaks_wrong() - are the peaks of a file valid? NULL, or the error */
const char *peaks_wrong(const struct peaks *p);

#endif
