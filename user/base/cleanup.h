/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Scope-bound release of what a function owns. A variable marked with one of
 * these must be initialised where it is declared; hand its value out with the
 * matching take_*(), which leaves the variable empty.
 */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_free_(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_close_(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_fclose_(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline void cleanup_closedir_(DIR **d)
{
	if (*d)
		closedir(*d);
}

#define cleanup_free	 __attribute__((cleanup(cleanup_free_)))
#define cleanup_close	 __attribute__((cleanup(cleanup_close_)))
#define cleanup_fclose	 __attribute__((cleanup(cleanup_fclose_)))
#define cleanup_closedir __attribute__((cleanup(cleanup_closedir_)))

/* dir_at() - open a directory relative to another one; NULL with errno */
static inline DIR *dir_at(int dirfd, const char *path)
{
	int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/* take_fd() - move a descriptor out of a cleanup_close variable */
static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

/* take_ptr() - move a pointer out of a cleanup_free variable */
#define take_ptr(p)                         \
	({                                  \
		__typeof__(p) taken_ = (p); \
		(p) = NULL;                 \
		taken_;                     \
	})

#endif
