/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whose I/O it is: the ledger is told which disks and interfaces a device has, and devices that
 * one cgroup alone has open become events of the trace.
 */
#ifndef LIVE_SOURCES_DEVICE_IO_H
#define LIVE_SOURCES_DEVICE_IO_H

#include "live/lookup/feed.h"
#include "live/lookup/live_cgroups.h"
#include "platform/devices/devices.h"
#include "platform/bpf/ledger.h"
#include "trace.h"

struct device_io;

/**
 * device_io_new() - tell the ledger about all disks and interfaces
 * @list: devices in the order of the trace; must outlive @ret, as must @ledger
 * @cgroups: where owners are
 * @out: gets owners; copied
 * @feed: knows when living processes began; must outlive @ret
 * @ret: free with device_io_free()
 *
 * Return: 0 or -ENOMEM; what the ledger refuses is told by device_io_note().
 */
int device_io_new(const struct device_list *list, struct ledger *ledger,
		  const struct live_cgroups *cgroups, const struct text_list *ignored,
		  const struct trace_sink *out, const struct feed *feed, struct device_io **ret);
void device_io_free(struct device_io *io);

/** device_io_changed() - disks or interfaces of an item are others now */
void device_io_changed(struct device_io *io, size_t item);

/** device_io_remap() - tell the ledger what changed; 0 or -ENOMEM */
int device_io_remap(struct device_io *io);

/** device_io_start() - owners are looked for from here on */
void device_io_start(struct device_io *io, uint64_t now_ns);

/** device_io_tell() - say who prevents a single owner, too; the header announces it (@holders) */
void device_io_tell(struct device_io *io);

/**
 * device_io_look() - look for owners, if it is time
 * @io: devices
 * @now_ns: the time
 * @mark: an interval ends: it should know, if that is not too dear
 *
 * Who alone had a device open at this look and at the one before had it in between: that
 * is one event for each of its processes.
 *
 * Return: 0, or an error of the sink other than -EINVAL.
 */
int device_io_look(struct device_io *io, uint64_t now_ns, bool mark);

/** device_io_noted() - which requests of an item of this kind are noted */
enum io_noted device_io_noted(const struct device_io *io, size_t item, enum device_kind kind);

/** device_io_note() - what could not be had, "" for nothing */
const char *device_io_note(const struct device_io *io);

#endif
