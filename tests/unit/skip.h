/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* cmocka's skip() has no reason, and tests/results.py wants one. */
#ifndef TEST_SKIP_H
#define TEST_SKIP_H

/* After <cmocka.h>. Ends the test as one that cannot run here. */
static inline void skip_because(const char *reason)
{
	print_message("# skipped: %s\n", reason);
	skip();
}

#endif
