/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests under valgrind, where everything takes longer and the process does more. */
#ifndef TEST_VALGRIND_H
#define TEST_VALGRIND_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Under valgrind, which is 30 times slower, long loops do a part of their work. */
static inline size_t under_valgrind(size_t part, size_t whole)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload && strstr(preload, "vgpreload") ? part : whole;
}

#endif
