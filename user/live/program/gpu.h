/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where t410trace-gpu is, the program that tells who uses GPUs. */
#ifndef LIVE_PROGRAM_GPU_H
#define LIVE_PROGRAM_GPU_H

#include <limits.h>
#include <stddef.h>

#include "base/diag.h"

/* Where its unit listens, see packaging/systemd/t410trace-gpu.service */
#define GPU_SOCKET	"/run/t410trace-gpu/socket"
/* A path in quotes for the shell, with words before and behind it */
#define GPU_COMMAND_LEN (4 * PATH_MAX + 32)

/**
 * gpu_find() - a command that starts it
 * @arguments: of it, "" for none
 * @d: gets where it was looked for, and the remedy
 * @ret: gets the command
 * @size: GPU_COMMAND_LEN or more
 *
 * It is beside our own program, in ../libexec/t410trace, or in $PATH.
 *
 * Return: 0 or -ENOENT.
 */
int gpu_find(const char *arguments, struct diag *d, char *ret, size_t size);

/** gpu_reader() - the same; where its unit runs and lets us read, "unix:" and its socket */
int gpu_reader(struct diag *d, char *ret, size_t size);

#endif
