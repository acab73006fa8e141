/* SPDX-License-Identifier: GPL-2.0-only */
/* Checks that count themselves, for programs of the emulation's tests; included once by each. */
#ifndef PLUGIN_CHECK_H
#define PLUGIN_CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned int failures, checks;

#define CHECK(got, want) check(__FILE__, __LINE__, #got, (uint64_t)(got), (uint64_t)(want))

static void check(const char *file, int line, const char *what, uint64_t got, uint64_t want)
{
	checks++;
	if (got == want)
		return;
	failures++;
	fprintf(stderr, "%s:%d: %s is 0x%llx, not 0x%llx\n", file, line, what,
		(unsigned long long)got, (unsigned long long)want);
}

/* The last line of a program, and its exit status */
static int checks_end(const char *name)
{
	printf("%s: %u checks, %u failed\n", name, checks, failures);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
