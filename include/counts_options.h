/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Contract between the layers: options about counts of another tool (--counts). Plain data. */
#ifndef T410TRACE_COUNTS_OPTIONS_H
#define T410TRACE_COUNTS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct counts_options - facts that the file does not have
 * @group: name of the counted group
 * @one_channel: the machine has one memory channel: a count is 32 bytes instead of 64
 * @dram_hz: base frequency of the memory, 0 = not known: no metric needs it then
 */
struct counts_options {
	const char *group;
	bool one_channel;
	uint64_t dram_hz;
};

/**
 * struct counts_joining - the input of a join
 * @counts: options of the file of counts
 * @file: that file
 * @recording: the recording
 * @modules: CPUs of the modules; NULL: "0-1:2-3"
 * @offset_s: added to the times of counts, in seconds; NULL: none
 */
struct counts_joining {
	struct counts_options counts;
	const char *file;
	const char *recording;
	const char *modules;
	const char *offset_s;
};

#endif
