/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hand-made reports for the tests of user/report. */
#ifndef TESTS_SAMPLE_REPORT_H
#define TESTS_SAMPLE_REPORT_H

#include <stddef.h>
#include <stdio.h>

#include "model.h"

struct table_options;

/* Two sockets with three sources in two directions each. */
#define SAMPLE_COUNTERS 12

/**
 * sample_report() - one second of two sockets
 * @by: what the rows are: five processes, four threads, eight cgroups, or ten jobs and steps
 *
 * It was split by state-space estimate, with rows that cannot be told apart.
 *
 * Return: a report to be released with report_free(). Fails the test when
 * memory runs out.
 */
struct report *sample_report(enum row_kind by);

/** sample_split_by_cpu_time() - keep the values, and of the bounds what is certain */
void sample_split_by_cpu_time(struct report *r);

/**
 * sample_tangle() - make a row one that cannot be told from others
 * @row: the row; its shares with bytes get wide intervals
 * @keys: the others by key, one after the other with blanks between; "" for none
 * @nr_all: how many others there are
 *
 * To be followed by sample_balance().
 */
void sample_tangle(struct report_row *row, const char *keys, size_t nr_all);

/**
 * sample_by_destination() - make the counters of CPUs tell where bytes go: socket 0 reads
 *	CMEM and writes to the other socket, socket 1 reads GMEM and writes CXL memory
 */
void sample_by_destination(struct report *r);

/**
 * sample_together() - make counters of tasks that do not tell reads from writes
 * @r: a report
 * @first: the first socket of these; the sockets before it are as they were
 */
void sample_together(struct report *r, uint32_t first);

/** sample_with_energy() - what CPUs write is the energy of their socket instead */
void sample_with_energy(struct report *r);

/**
 * sample_with_devices() - add six devices and a port, and what rows have of them
 * @r: a report of processes or cgroups; balanced again
 *
 * 0 a disk that took turns, split by destination; 1 a network card alone below its port; 2 a
 * function that one row alone had open; 3 a disk whose place is not known; 4 a GPU that did
 * nothing; 5 a disk that got no turn; 6 the port of 0 and 2. Rows have parts in 0 to 3.
 */
void sample_with_devices(struct report *r);

/** sample_with_requests() - as that, but nothing is counted: rows have requests only */
void sample_with_requests(struct report *r);

/**
 * sample_with_users() - as sample_with_devices(), with two GPUs that a program told of
 *
 * 2 one job alone, by measured times; 4 a job and a cgroup on two instances, by 7 samples.
 */
void sample_with_users(struct report *r);

#define SAMPLE_DEVICES	       7
#define SAMPLE_DEVICE_COUNTERS 15

/** sample_without_counters() - processes with CPU time alone, platform "none" */
struct report *sample_without_counters(void);

/** sample_without_rows() - a second in which only device traffic happened */
struct report *sample_without_rows(void);

/** sample_add_row() - one more process with bytes from every CPU counter */
void sample_add_row(struct report *r, uint32_t pid, const char *comm, const char *cgroup,
		    uint64_t bytes, uint64_t on_cpu_ns);

/** sample_balance() - make the counters what rows and reasons add up to */
void sample_balance(struct report *r);

/** sample_text() - what @write puts in a file, as a string to be freed */
char *sample_text(int (*write)(FILE *out, const struct report *r, const void *arg),
		  const struct report *r, const void *arg);

/** sample_table() - the table of a report, as a string to be freed */
char *sample_table(const struct report *r, const struct table_options *o);

/** sample_json() - the same of its line of JSON */
char *sample_json(const struct report *r);

/**
 * sample_check_golden() - compare a text with a file in tests/golden
 * @name: name of the file
 * @text: what should be in it
 *
 * With T410_UPDATE_GOLDEN in the environment the file is written instead; look
 * at the difference before it is committed.
 */
void sample_check_golden(const char *name, const char *text);

#endif
