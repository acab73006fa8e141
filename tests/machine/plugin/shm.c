/* SPDX-License-Identifier: GPL-2.0-only */
/* The shared memory: what a unit test replaces. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "machine.h"

struct shm *shm;

int shm_map(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	uint64_t now = now_ns();
	void *map;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, sizeof(*shm))) {
		int err = -errno;

		close(fd);
		return err;
	}
	map = mmap(NULL, sizeof(*shm), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return -errno;
	shm = map;
	if (shm->magic && shm->magic != SHM_MAGIC)
		return -EPROTO;
	shm->magic = SHM_MAGIC;
	for (int k = 0; k < NR_KINDS; k++)
		if (!shm->clock[k].rate)
			shm->clock[k] = (struct ramp){ .rate = DEFAULT_CLOCK_HZ, .since_ns = now };
	return 0;
}
