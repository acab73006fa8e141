// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "account.h"

static void expect(const char *key, const char *node, const char *name)
{
	char ret[ACCOUNT_FILE_LEN];

	account_file_name(key, node, ret);
	assert_string_equal(ret, name);
}

static void test_files(void **state)
{
	(void)state;
	expect("slurm-12-881-1763740800", NULL, "slurm-12-881-1763740800.json");
	expect("slurm-12-881-1763740800", "n1", "slurm-12-881-1763740800.n1.json");
	expect("flux-f2-7-1-u1000", "n1.example.org", "flux-f2-7-1-u1000.n1.example.org.json");
	/* no name leads out of the folder */
	expect("slurm-12-881-1", "../n1 \xc3\xa4", "slurm-12-881-1..._n1___.json");
}

/* A scheduler, 80 characters of an id, two numbers of 64 bits, a uid */
#define LONGEST_KEY (10 + 1 + 80 + 1 + 20 + 1 + 20 + 2 + 10)

/* The longest of both fit. */
static void test_longest(void **state)
{
	char key[LONGEST_KEY + 1], node[65], ret[ACCOUNT_FILE_LEN];

	(void)state;
	memset(key, 'k', sizeof(key) - 1);
	key[sizeof(key) - 1] = '\0';
	memset(node, 'n', sizeof(node) - 1);
	node[sizeof(node) - 1] = '\0';
	account_file_name(key, node, ret);
	assert_string_equal(strchr(ret, 'n') + 64, ".json");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_longest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
