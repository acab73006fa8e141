/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files of the daemon have the rights that it gives them, whatever the umask: its owner writes, a
 * group may read. Nobody else can open them, because a lock needs no more than an open file.
 */
#ifndef DAEMON_PRIVATE_FILES_H
#define DAEMON_PRIVATE_FILES_H

#include "base/diag.h"

/* The remedy where the file system is read-only */
#define PRIVATE_READ_ONLY                                                                  \
	"it is mounted read-only, or the unit allows no writing there: add its folder to " \
	"ReadWritePaths= (systemctl edit t410trace)"

#define PRIVATE_FOLDER 0750
#define PRIVATE_FILE   0640
#define PRIVATE_LOCK   0600

/** private_folder() - make a folder; one that is there keeps its rights. 0, or an error of mkdir() */
int private_folder(const char *path);

/** private_file() - give an open file the rights @mode; 0 or a negative errno */
int private_file(int fd, int mode);

/**
 * private_narrow() - take rights from a file that is there: all of others, and the group's to write
 * @folder, @name: as for openat()
 *
 * Symbolic links, files with two names and what is not a file are left alone.
 *
 * Return: 0, also for no file; -EPERM when they cannot be taken, or another negative errno.
 */
int private_narrow(int folder, const char *name);

/**
 * private_lock() - be the only one
 * @folder, @name: of the lock file, as for openat(); made when it is not there, and never removed
 * @ret_fd: whoever closes it lets go
 * @d: after -EBUSY, who has it; nothing after other errors
 *
 * Only its owner can open the file, so nobody else can lock it. It is locked while its name leads to it.
 *
 * Return: 0, -EBUSY, or another negative errno.
 */
int private_lock(int folder, const char *name, struct diag *d, int *ret_fd);

#endif
