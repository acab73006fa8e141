/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Contract between the layers: the most that memory and links can move in a second. Plain data.
 */
#ifndef T410TRACE_PEAK_H
#define T410TRACE_PEAK_H

#include <stdbool.h>
#include <stdint.h>

/* What has a peak. Memory moves reads and writes over the same wires; links have some for each. */
enum peak_of {
	PEAK_CMEM,   /* memory of a socket's CPUs: reads and writes together */
	PEAK_GMEM,   /* the link to memory of GPUs, in each direction, as all that follow */
	PEAK_CXL,    /* the links to CXL memory */
	PEAK_REMOTE, /* the links to memory of other sockets */
	PEAK_PCIE,   /* the link of one PCIe device */
	NR_PEAKS,
};

/* Who says so. */
enum peak_from {
	PEAK_GIVEN,    /* the user */
	PEAK_FIRMWARE, /* the firmware's table of memory devices */
	NR_PEAK_FROM,
};

#define PEAK_EVERY_SOCKET UINT32_MAX
#define PEAK_MAX	  80 /* one for each of 64 sockets, and those of links */
#define PEAK_NOTE_LEN	  256
/* The largest rate that is believed, in bytes a second: beyond it somebody has slipped */
#define PEAK_MOST	  1000000000000000ull

/**
 * struct peak - one peak
 * @of: of what
 * @from: who says so
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
 * struct peaks - all that is known of a machine
 * @items, @nr: no two for the same thing and socket
 * @note: how the firmware's table was read, "" when no peak is from there
 */
struct peaks {
	struct peak items[PEAK_MAX];
	uint32_t nr;
	char note[PEAK_NOTE_LEN];
};

/**
 * struct peaks_wanted - what the user says
 * @bytes_per_s: by enum peak_of; 0 = nothing
 * @none: no others than these: neither the firmware's nor those of a recording
 */
struct peaks_wanted {
	uint64_t bytes_per_s[NR_PEAKS];
	bool none;
};

/** peak_name() - "cmem", "gmem", "cxl", "remote", "pcie"; NULL behind the last one */
const char *peak_name(unsigned int of);

/** peak_from_name() - "given", "firmware"; NULL behind the last one */
const char *peak_from_name(unsigned int from);

/** peaks_find() - of a thing on a socket (its number); NULL for none */
const struct peak *peaks_find(const struct peaks *p, enum peak_of of, uint32_t socket);

/** peaks_given() - does the user say any peak? */
bool peaks_given(const struct peaks_wanted *w);

/** peaks_apply() - what the user says, in place of what was known of these things */
void peaks_apply(struct peaks *p, const struct peaks_wanted *w);

/** peaks_wrong() - do the peaks of a file make sense? NULL, or what is wrong */
const char *peaks_wrong(const struct peaks *p);

#endif
