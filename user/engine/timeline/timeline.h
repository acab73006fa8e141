/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The timeline joins the two streams: slices (CPU time of workloads) and windows (increments of
 * counters). Both may arrive in any order; an interval is closed when both have arrived up to its
 * end, and the rest stays for the next one.
 *
 * Events that go in are valid, see trace_valid(), and windows of a group are in order.
 */
#ifndef ENGINE_TIMELINE_TIMELINE_H
#define ENGINE_TIMELINE_TIMELINE_H

#include "engine/split/split.h"
#include "trace.h"

/**
 * struct timeline_sink - receives the content of a closed interval
 * @on_cpu: @ns of CPU time of a workload on a socket
 * @io: bytes of a workload's requests of a device, the device's view; may be NULL
 * @block: consecutive windows of a group, with the activity of workloads in them
 * @keep: the workload will be named again: its slices or requests are for windows or intervals
 *	yet to come. Once a workload; may be NULL
 * @arg: handed to all
 *
 * All but @keep return 0 or a negative errno, which ends the close.
 */
struct timeline_sink {
	int (*on_cpu)(void *arg, uint32_t socket, uint32_t workload, uint64_t ns);
	int (*block)(void *arg, const struct split_block *b);
	int (*io)(void *arg, uint32_t device, uint32_t workload, uint64_t read_bytes,
		  uint64_t write_bytes);
	void (*keep)(void *arg, uint32_t workload);
	void *arg;
};

struct timeline;

/**
 * timeline_new() - an empty timeline
 * @layout: copied by reference, must outlive the timeline
 * @cpu_socket: of each CPU now: as layout.cpu_socket, kept up to date by the owner
 * @nr_devices: of trace_header
 * @ret: free with timeline_free()
 *
 * Return: 0 or -ENOMEM.
 */
int timeline_new(const struct layout *layout, const uint32_t *cpu_socket, size_t nr_devices,
		 struct timeline **ret);
void timeline_free(struct timeline *t);

/**
 * timeline_slice() - a workload was on a CPU
 * @t: where
 * @workload: its number
 * @s: its times; the task in it is not used. A CPU without a socket is counted nowhere
 *
 * Return: 0 or -ENOMEM.
 */
int timeline_slice(struct timeline *t, uint32_t workload, const struct trace_slice *s);

/**
 * timeline_io() - a workload made a device move data
 * @t: where
 * @workload: its number; WORKLOAD_LOST if it is unknown
 * @io: its device, times and bytes; the task in it is not used. It may arrive as late as slices
 *
 * Return: 0 or -ENOMEM.
 */
int timeline_io(struct timeline *t, uint32_t workload, const struct trace_io *io);

/** timeline_forget_exclusive() - another rule tells the owner of a device from now on */
void timeline_forget_exclusive(struct timeline *t, uint32_t device);

/**
 * timeline_window() - a group of counters was read
 * @t: where
 * @w: the readings are copied; windows of a group do not overlap
 *
 * Return: 0 or -ENOMEM.
 */
int timeline_window(struct timeline *t, const struct trace_window *w);

/**
 * timeline_begin() - forget everything before the first interval
 * @t: where
 * @starts_ns: start of the first interval on each socket
 *
 * Slices that cross the start are cut. Called once, before timeline_close().
 *
 * Return: 0 or -ENOMEM.
 */
int timeline_begin(struct timeline *t, const uint64_t *starts_ns);

/**
 * timeline_close() - hand out everything before the end of an interval
 * @t: where
 * @ends_ns: end of the interval on each socket
 * @sink: receives it
 * @ret_late: slices and I/O that began before the end of the last close
 *
 * Slices that cross the end are cut; a slice that was not running all the time
 * between its ends is divided in proportion, without losing a nanosecond.
 *
 * A window that ends later stays for the next interval, with the slices it needs.
 *
 * Return: 0, or the first error; the rest of the interval is lost then.
 */
int timeline_close(struct timeline *t, const uint64_t *ends_ns, const struct timeline_sink *sink,
		   uint64_t *ret_late);

/**
 * timeline_close_inner() - hand out complete windows and slices within an interval
 * @t: where
 * @ends_ns: everything up to these moments has come; a socket whose last end was later is left out
 * @sink: receives CPU time and I/O up to there, and windows that make good blocks; other windows
 *	wait, with the slices they need
 * @ret_late: as with timeline_close()
 *
 * Return: 0, or the first error.
 */
int timeline_close_inner(struct timeline *t, const uint64_t *ends_ns,
			 const struct timeline_sink *sink, uint64_t *ret_late);

/** timeline_backlogged() - are there so many slices that timeline_close_inner() must not wait? */
bool timeline_backlogged(const struct timeline *t);

#endif
