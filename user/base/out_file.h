/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files that are written. A new file has no name, or a temporary one, until out_file_publish()
 * gives it its own: up to there an older file of this name stays as it is.
 */
#ifndef BASE_OUT_FILE_H
#define BASE_OUT_FILE_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * struct out_file - a file that is written
 * @fd: for writing
 * @path: the name it gets, links followed; NULL for a pipe, a device and standard output, which
 *	are written as they are
 * @temporary: the name until then; @named: it is there
 * @mode, @uid, @gid: of the older file; @replaces: there is one
 * @published: it has its name
 */
struct out_file {
	int fd;
	char *path;
	char *temporary;
	mode_t mode;
	uid_t uid;
	gid_t gid;
	bool replaces;
	bool named;
	bool published;
};

#define OUT_FILE_NONE ((struct out_file){ .fd = -1 })

/** out_file_is_stdout() - does this name stand for standard output, as "-" does? */
bool out_file_is_stdout(const char *path);

/** out_file_resolve() - @path with links followed; the file need not be there; NULL with errno */
char *out_file_resolve(const char *path);

/**
 * out_file_open() - begin to write
 * @path: a file, a pipe, a device, or standard output
 * @mode: of a file that replaces none, less the umask; one that does keeps the older one's mode,
 *	and its owner where possible. Only its owner can open it before out_file_publish()
 * @ret: end it with out_file_close() if this works
 *
 * Return: 0 or a negative errno, -EACCES for a file that is write-protected.
 */
int out_file_open(const char *path, mode_t mode, struct out_file *ret);

/** out_file_publish() - let it take its name, once; 0 or a negative errno */
int out_file_publish(struct out_file *f);

/** out_file_close() - end it; one that was not published is gone. 0 or a negative errno */
int out_file_close(struct out_file *f);

#endif
