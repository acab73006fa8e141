/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The spool: a folder of closing reports, one file a job, for whoever picks them up. A file is
 * there as a whole or not at all.
 */
#ifndef PLATFORM_SPOOL_H
#define PLATFORM_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define SPOOL_DEFAULT_FOLDER "/var/spool/t410trace"

/**
 * struct spool - see above
 * @folder: descriptor
 * @max_files: beyond this many files nothing is written: -EDQUOT. Nothing is ever removed but what
 *	an earlier writer left unfinished
 */
struct spool {
	int folder;
	size_t max_files;
};

/**
 * spool_open() - open the folder, made when it is not there
 * @folder: its path
 * @max_files: see struct spool; 0 = no bound
 * @d: gets the problem
 * @ret: close with spool_close()
 *
 * Unfinished files of a writer that died are removed.
 *
 * Return: 0 or a negative errno.
 */
int spool_open(const char *folder, size_t max_files, struct diag *d, struct spool *ret);
void spool_close(struct spool *s);

/**
 * spool_write() - add a report
 * @s: the spool
 * @name: of the file: letters, digits, ".", "-" and "_" only, not beginning with a dot (-EINVAL)
 * @text, @size: the report
 * @d: gets the problem
 *
 * On disk (fsync) under its name when this returns 0. A file of that name is replaced. With an error
 * nothing is there, and the same call may be made again later.
 *
 * Return: 0 or a negative errno.
 */
int spool_write(struct spool *s, const char *name, const char *text, size_t size, struct diag *d);

#endif
