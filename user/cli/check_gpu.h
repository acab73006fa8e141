/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows of "t410trace check" about GPUs. t410trace-gpu --check has them: this program, which may be
 * static, loads no library of a driver.
 */
#ifndef CLI_CHECK_GPU_H
#define CLI_CHECK_GPU_H

#include <stdint.h>

#include "platform/check/checks.h"

/** check_gpu() - add the rows, if a driver of GPUs is loaded; 0 or a negative errno */
int check_gpu(const struct sysfs *fs, struct check_list *list);

/**
 * check_gpu_ask() - add rows that a command prints: "NAME<TAB>STATUS<TAB>FOUND<TAB>REMEDY"
 * @command: for the shell
 * @limit_ns: it is ended then; a driver may hang
 * @list: gets them, or one row with the reason why there are none
 *
 * Return: 0 or a negative errno.
 */
int check_gpu_ask(const char *command, uint64_t limit_ns, struct check_list *list);

#endif
