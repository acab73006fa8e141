/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The book: bytes of each row of a report, and unattributed bytes, per counter.
 * For each counter the rows and the unattributed bytes add up to the counter, to
 * the unit: every byte that comes in is entered on exactly one of them.
 */
#ifndef ENGINE_BOOK_BOOK_H
#define ENGINE_BOOK_BOOK_H

#include "engine/identity/identity.h"
#include "engine/latency/latency.h"
#include "engine/latency/neighbours.h"
#include "engine/timeline/timeline.h"
#include "model.h"

/*
 * Rows of a book that spans a whole run. Beyond that, ended processes with the
 * least bytes are pooled into one row, so that a run with millions of short
 * processes has an end.
 */
#define BOOK_MAX_ROWS 16384

/**
 * struct book_scope - which workloads are rows
 * @by: the kind of a row
 * @all: every workload; otherwise followed tasks and selected cgroups
 * @idle_units: see struct session_options
 * @links: counters whose bytes weigh latencies; must outlive the book. NULL: none
 * @devices, @nr_devices: of the trace's header; must outlive the book
 * @starts_ns: where the interval begins on each socket, kept up to date by the owner. NULL: 0
 * @gone_ns: see contexts_gone(). NULL: 0
 */
struct book_scope {
	enum row_kind by;
	bool all;
	bool idle_units;
	const struct links *links;
	const struct device *devices;
	size_t nr_devices;
	const uint64_t *starts_ns;
	const uint64_t *gone_ns;
};

struct book;

/**
 * book_new() - an empty book
 * @layout: counters and sockets; must outlive the book
 * @scope: which workloads are rows; copied
 * @id: names; must outlive the book
 * @ret: free with book_free()
 *
 * Return: 0 or -ENOMEM.
 */
int book_new(const struct layout *layout, const struct book_scope *scope, struct identity *id,
	     struct book **ret);
void book_free(struct book *b);

/** book_clear() - forget everything that was entered */
void book_clear(struct book *b);

/**
 * book_cgroup_gone() - a cgroup was removed, perhaps intervals after its last task ran
 * @b: the book of a run; that of an interval asks for names when it is finished
 * @cgroup_id: its id
 */
void book_cgroup_gone(struct book *b, uint64_t cgroup_id);

/** book_forget() - the number of a workload is going to be used for another one; its row stays */
void book_forget(struct book *b, uint32_t workload);

/** book_on_cpu() - enter CPU time of a workload on a socket; 0 or -ENOMEM */
int book_on_cpu(struct book *b, uint32_t socket, uint32_t workload, uint64_t ns);

/**
 * book_io() - enter requests of a device that a workload made
 * @b: the book
 * @device: index
 * @workload: its number; WORKLOAD_LOST if it is unknown
 * @read_bytes, @write_bytes: the device's view
 *
 * Return: 0 or -ENOMEM.
 */
int book_io(struct book *b, uint32_t device, uint32_t workload, uint64_t read_bytes,
	    uint64_t write_bytes);

/**
 * book_exclusive() - did one row have a device to itself in all of the interval?
 * @b: the book
 * @device: index
 * @row: its number, see split_sink.row; SPLIT_NO_ROW when it was not one row
 * @several: it was several rows
 */
void book_exclusive(struct book *b, uint32_t device, uint32_t row, bool several);

/**
 * struct book_process - a process that used a device, for some time
 * @pid, @start_ns: as it was told
 * @instance: see struct device_user
 * @workload: its number; WORKLOAD_LOST if it is unknown
 * @from_ns, @to_ns: looks saw it; may be outside of the interval
 * @busy_ns, @copy_ns: the device worked for it
 * @here: in the last look; not used here
 */
struct book_process {
	uint32_t pid;
	uint64_t start_ns;
	uint32_t instance;
	uint32_t workload;
	uint64_t from_ns;
	uint64_t to_ns;
	uint64_t busy_ns;
	uint64_t copy_ns;
	bool here;
};

/**
 * struct book_use - the users of a device in an interval
 * @rule: OWNER_NODES or OWNER_CONTEXTS
 * @known: with OWNER_CONTEXTS: @processes are all that there were
 * @gone: up to book_scope.gone_ns: after that there may be others
 * @start_ns, @end_ns: the interval
 * @told_ns, @samples, @copies: see struct device_users
 * @processes, @nr: in the order of their times
 */
struct book_use {
	enum owner_rule rule;
	bool known;
	bool gone;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t told_ns;
	uint64_t samples;
	bool copies;
	const struct book_process *processes;
	size_t nr;
};

/**
 * book_use() - enter the users of a device, before book_finish()
 * @b: the book
 * @device: index
 * @use: its users
 *
 * With OWNER_CONTEXTS and one owner, all bytes of the device that no request explains are that
 * owner's when the book is finished; once it is gone, those of windows up to then. Of an owner with several rows they are divided in proportion
 * to busy time. Where that is unknown, they are on the row of the job's own cgroup in a book by
 * job, and unattributed in all others.
 *
 * Return: 0 or a negative errno.
 */
int book_use(struct book *b, uint32_t device, const struct book_use *use);

/** book_sink() - split windows are entered through this */
struct split_sink book_sink(struct book *b);

/** book_latencies() - latencies of bytes that were entered before are entered through this */
struct latency_sink book_latencies(struct book *b);

/** book_names() - rows by their number, and the keys that reports give them */
struct neighbours_names book_names(struct book *b);

/**
 * book_finish() - all entries of an interval are made: scale and name
 * @b: the book
 *
 * Also adds the rows of followed tasks and selected cgroups that did nothing, and
 * scales counters that did not count all the time. That is done once for the whole
 * interval: in a single window the time counted can be so short that scaling it
 * would turn a burst into nonsense.
 *
 * Then memory traffic of devices is entered on the rows that own the devices' bytes.
 *
 * Return: 0 or -ENOMEM.
 */
int book_finish(struct book *b);

/**
 * book_add() - enter all of another, finished, book
 * @total: with the same layout and scope
 * @part: unchanged
 *
 * Return: 0 or -ENOMEM.
 */
int book_add(struct book *total, const struct book *part);

/**
 * book_fill_gaps() - prepare a book for a report, after other books were added
 *
 * A device may not have had its turn in some intervals, which have no value for it then. Its
 * counters are scaled as if these intervals had been like the rest.
 *
 * Return: 0 or -ENOMEM.
 */
int book_fill_gaps(struct book *b);

/**
 * book_report() - rows, counters, devices and sockets of a report
 * @b: a finished book
 * @ret: has its probes; gets rows, counters, devices, sockets (without their number of CPUs), by,
 *	and quality.windows,
 *	.unknown_tasks, .lost_slices_ns, .rows_pooled, .unowned_io_bytes; other fields are
 *	untouched; release with report_free()
 *
 * Return: 0 or -ENOMEM.
 */
int book_report(const struct book *b, struct report *ret);

#endif
