/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * In static programs only; the linker puts it in the place of dlopen() (--wrap). SQLite can load
 * extensions, which is off and never used here. Its call alone would make the linker warn, with
 * reason: what a static program loads must fit the C library it was built with, on any machine.
 */
#include <stddef.h>

void *__wrap_dlopen(const char *file, int mode);

/** __wrap_dlopen() - nothing can be loaded */
void *__wrap_dlopen(const char *file, int mode)
{
	(void)file;
	(void)mode;
	return NULL;
}
