/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by "t410trace job" and "t410trace jobs": their view of the store. */
#ifndef CLI_JOB_FILE_H
#define CLI_JOB_FILE_H

#include "daemon/store.h"
#include "report/job/job_report.h"

/**
 * struct job_file - the store in one state
 * @store: open until job_file_done(), then NULL
 * @host, @node: the machine
 * @damaged: number of accounts left out, known from job_file_done() on
 * @now_ns: when it was read (CLOCK_REALTIME)
 * @kept: a daemon keeps accounts there now; -EACCES: only root may know
 */
struct job_file {
	struct store *store;
	struct host_info host;
	struct accounts_node node;
	struct store_damaged damaged;
	uint64_t now_ns;
	int kept;
};

/** job_file_open() - read it; 0, or a negative errno with nothing to close */
int job_file_open(const char *file, struct diag *d, struct job_file *ret);
void job_file_close(struct job_file *f);

/**
 * job_file_done() - everything was read: close the store, and keep the rest of @f
 *
 * Call it before writing: a reader of the output may take hours (a pager), and the log of the store
 * keeps growing while a reader has it open.
 */
void job_file_done(struct job_file *f);

/** job_file_context() - the context for showing its accounts */
struct job_context job_file_context(const struct job_file *f);

/**
 * job_file_state() - a sentence: is a daemon keeping accounts, and up to when
 * @f: the store
 * @ret: "accounts are kept, up to 2 s ago", "nobody keeps accounts at present: they end 3 h ago"
 * @size: its size
 *
 * Return: whether accounts are as recent as they should be.
 */
bool job_file_state(const struct job_file *f, char *ret, size_t size);

/** job_file_damage() - after job_file_done(): name damaged accounts; @d stays for none */
bool job_file_damage(const struct job_file *f, struct diag *d);

/** job_file_write() - write accounts that are there as text; @path: NULL for standard output. 0 or an errno */
int job_file_write(const char *path, const char *text, size_t size, struct diag *d);

#endif
