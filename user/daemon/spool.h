/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The spool: a folder of closing reports, one file a job, for whoever picks them up. A file is
 * there as a whole or not at all. When it is full, in number or in bytes, the oldest reports make room.
 * Nothing else is ever removed but what an earlier writer left unfinished.
 */
#ifndef DAEMON_SPOOL_H
#define DAEMON_SPOOL_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/diag.h"

#define SPOOL_DEFAULT_FOLDER "/var/spool/t410trace"

/**
 * struct spool - see above
 * @path: of the folder, "" for none: reports are not written
 * @folder, @lock: descriptors; of a lock against a second writer. -1 and anything: not open
 * @max_files: with this many files the oldest reports make room for the next one; 0 = no bound
 * @max_bytes: the same for the sum of their sizes
 * @nr_files, @bytes, @counted: files there were, the sum of their sizes, and when the folder had changed
 *	last when they were counted
 * @removed: reports that had to make room
 */
struct spool {
	char path[PATH_MAX];
	int folder;
	int lock;
	size_t max_files;
	uint64_t max_bytes;
	size_t nr_files;
	uint64_t bytes;
	struct timespec counted;
	uint64_t removed;
};

/**
 * spool_open() - open the folder, made when it is not there
 * @folder: its path, "" for none; not a symbolic link, and not writable by everybody (-EPERM): then anybody
 *	could put forged reports there
 * @max_files, @max_bytes: see struct spool
 * @d: gets the problem
 * @ret: close with spool_close()
 *
 * The unfinished file of a writer that died is removed. A folder that is there keeps its rights, reports in
 * it are for their owner and group only, see private_files.h.
 *
 * Return: 0, -EBUSY when another one writes there, or another negative errno.
 */
int spool_open(const char *folder, size_t max_files, uint64_t max_bytes, struct diag *d,
	       struct spool *ret);
void spool_close(struct spool *s);

/**
 * spool_write() - add a report
 * @s: the spool
 * @name: of the file: letters, digits, ".", "-" and "_" only, not beginning with a dot (-EINVAL)
 * @text, @size: the report
 * @d: gets the problem
 *
 * -EEXIST: something is called so that cannot be replaced, a folder or a file that must not be changed. Only
 * this report is concerned, and may be written once that is gone; all other errors are of the spool as a whole.
 *
 * If the folder was removed or renamed, one is made or opened under its name before the report is written, as
 * spool_open() does.
 *
 * With @max_files files there, or when it would be more than @max_bytes with this one, a hundredth of the bound
 * is removed, the oldest ones that are called as reports of jobs are (KEY.json). Reports of users' own jobs
 * (account_key_owner()) have at most half of the space then; of these the user with the most gives. -EDQUOT when
 * nothing can be removed. A report larger than @max_bytes is written when no other is left.
 *
 * On disk (fsync) under its name when this returns 0. A file of that name is replaced. With an error
 * no part of it is there under its name: a whole one may be, if only the folder could not be brought
 * to disk. The same call may be made again later.
 *
 * Return: 0 or a negative errno.
 */
int spool_write(struct spool *s, const char *name, const char *text, size_t size, struct diag *d);

#endif
