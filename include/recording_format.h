/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording on disk. docs/RECORDING.md says what the payloads look like.
 *
 * A segment is a file: a preamble, then blocks. All numbers are little-endian. A
 * block is written with one system call and can be decoded without any other one
 * but the header block of its segment.
 */
#ifndef T410TRACE_RECORDING_FORMAT_H
#define T410TRACE_RECORDING_FORMAT_H

#include <stddef.h>
#include <stdint.h>

/* The first byte is in no text, so that one byte tells what a file is. */
#define RECORDING_MAGIC	       "\x8dT410\r\n\x1a"
#define RECORDING_VERSION      11u
#define RECORDING_NO_CONTEXTS  10u	   /* version of recordings that know no users of devices */
#define RECORDING_NO_ONLINE    9u	   /* version of recordings that know no CPU's coming */
#define RECORDING_NO_RESCTRL   8u	   /* version of those without monitoring groups */
#define RECORDING_NO_PARTS     7u	   /* version of those that have no parts either */
#define RECORDING_OLDEST       5u	   /* version that is still read: has no inner marks */
#define RECORDING_BLOCK_MAGIC  0x4b4c4234u /* "4BLK" */

/* Events of a block are written once there is this much of them. */
#define RECORDING_BLOCK_TARGET 65536u
/* Longest payload and text that a reader takes. */
#define RECORDING_MAX_PAYLOAD  (4u << 20)
#define RECORDING_MAX_TEXT     16384u
/* Smallest bound on the size of a recording. */
#define RECORDING_MIN_BYTES    (1u << 20)

enum recording_block_type {
	RECORDING_HEADER = 1,
	RECORDING_EVENTS = 2,
	RECORDING_ANNOUNCE = 3, /* events that repeat what earlier segments said */
	RECORDING_END = 4,
};

/**
 * struct recording_preamble - start of each segment
 * @magic: RECORDING_MAGIC
 * @version: RECORDING_VERSION, or an older one that has all that is in this recording
 * @segment: number of the segment, from 1
 * @id: the same in all segments of a recording, another one in other recordings
 * @sequence: number of the first block of the segment
 * @zero: 0
 * @crc: CRC-32 of all bytes before it
 */
struct recording_preamble {
	uint8_t magic[8];
	uint32_t version;
	uint32_t segment;
	uint64_t id;
	uint64_t sequence;
	uint32_t zero;
	uint32_t crc;
};

/**
 * struct recording_block - in front of each payload
 * @magic: RECORDING_BLOCK_MAGIC
 * @type: enum recording_block_type
 * @flags: 0
 * @sequence: counts the blocks of a recording from 0, across segments
 * @length: of the payload in bytes
 * @events: in the payload
 * @payload_crc: CRC-32 of the payload
 * @crc: CRC-32 of all bytes before it in this structure
 */
struct recording_block {
	uint32_t magic;
	uint16_t type;
	uint16_t flags;
	uint64_t sequence;
	uint32_t length;
	uint32_t events;
	uint32_t payload_crc;
	uint32_t crc;
};

_Static_assert(sizeof(struct recording_preamble) == 40, "preamble");
_Static_assert(offsetof(struct recording_preamble, crc) == 36, "preamble");
_Static_assert(sizeof(struct recording_block) == 32, "block");
_Static_assert(offsetof(struct recording_block, crc) == 28, "block");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "recordings are little-endian");

/*
 * First byte of an event. With bit 0 it is a slice and the other bits say what is
 * left out; otherwise it is twice one of enum recording_event.
 */
#define RECORDING_SLICE		   0x01u
#define RECORDING_SLICE_SAME_CPU   0x02u /* as the slice before in the block */
#define RECORDING_SLICE_WHOLE	   0x04u /* on_cpu_ns is end - start */
#define RECORDING_SLICE_FOLLOWS	   0x08u /* starts at the end of the slice before */
#define RECORDING_SLICE_WEIGHTS	   0x10u /* has weights */
#define RECORDING_SLICE_ALL_COUNTS 0x20u /* weights_ns is on_cpu_ns */
#define RECORDING_SLICE_FLAGS	   0x3fu

enum recording_event {
	RECORDING_TASK = 1,
	RECORDING_EXIT,
	RECORDING_RESYNC,
	RECORDING_CGROUP,
	RECORDING_FOLLOW,
	RECORDING_WINDOW,
	RECORDING_LOST,
	RECORDING_MARK,
	RECORDING_SAMPLE,
	RECORDING_IO,
	RECORDING_JOB,
	RECORDING_PART,		 /* from version 8 on */
	RECORDING_RESCTRL_GROUP, /* from version 9 on */
	RECORDING_CPU,		 /* from version 10 on */
	RECORDING_CONTEXTS,	 /* all three from version 11 on */
	RECORDING_ACTIVITY,
	RECORDING_HOLDERS,
};

#define RECORDING_TASK_KERNEL  0x01u
#define RECORDING_RESYNC_BEGIN 0x01u
#define RECORDING_MARK_FIRST   0x01u
#define RECORDING_MARK_LAST    0x02u
#define RECORDING_MARK_ENDS    0x04u
#define RECORDING_MARK_INNER   0x08u /* from version 6 on */

#define RECORDING_BY_THREAD    0x01u
#define RECORDING_MARKED       0x02u
#define RECORDING_ALL	       0x04u
#define RECORDING_RESCTRL      0x08u /* from version 9 on */
#define RECORDING_ONLINE       0x10u /* from version 10 on */
#define RECORDING_LINKS	       0x20u /* from version 11 on */
#define RECORDING_C2C	       0x40u /* from version 11 on */
#define RECORDING_HELD	       0x80u /* from version 11 on */

#define RECORDING_CPU_ONLINE   0x01u
#define RECORDING_COPIES       0x01u

#define RECORDING_IO_EXCLUSIVE 0x01u /* no bytes follow */

#endif
