/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The one file of a program that tests what is read from files. */
#ifndef TESTS_TEMP_FILE_H
#define TESTS_TEMP_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char temp_path[] = "/tmp/t410trace-unit-XXXXXX";

/* For cmocka, before and after all tests */

static inline int temp_make(void **state)
{
	int fd = mkstemp(temp_path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static inline int temp_drop(void **state)
{
	(void)state;
	return unlink(temp_path);
}

/* The file's new content, to be written; close it */
static inline FILE *temp_open(void)
{
	FILE *f = fopen(temp_path, "w");

	assert_non_null(f);
	return f;
}

static inline void temp_write(const char *text, size_t size)
{
	FILE *f = temp_open();

	assert_int_equal(fwrite(text, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

static inline void temp_put(const char *text)
{
	temp_write(text, strlen(text));
}

#endif
