// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "base/bytes.h"

static const uint64_t numbers[] = { 0,	    1,		0x7f,	    0x80,	0x3fff,
				    0x4000, UINT32_MAX, 1ull << 62, 1ull << 63, UINT64_MAX };
#define NR_NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static void numbers_stay(void **state)
{
	static const size_t lengths[] = { 1, 1, 1, 2, 2, 3, 5, 9, 10, 10 };
	uint8_t bytes[LEB128_MAX];
	uint64_t got;

	(void)state;
	for (size_t i = 0; i < NR_NUMBERS; i++) {
		size_t n = leb128_put(bytes, numbers[i]);
		const uint8_t *at = bytes;

		assert_int_equal(n, lengths[i]);
		assert_true(leb128_get(&at, bytes + n, &got));
		assert_true(got == numbers[i]);
		assert_ptr_equal(at, bytes + n);
	}
}

/* Nothing is read behind the end: sanitizers see it if it is. */
static void cut_numbers_are_none(void **state)
{
	uint8_t bytes[LEB128_MAX];
	uint64_t got;

	(void)state;
	for (size_t i = 0; i < NR_NUMBERS; i++) {
		size_t n = leb128_put(bytes, numbers[i]);
		const uint8_t *at = bytes;

		assert_false(leb128_get(&at, bytes + n - 1, &got));
	}
}

static void too_large_numbers_are_none(void **state)
{
	uint8_t bytes[LEB128_MAX + 2];
	const uint8_t *at = bytes;
	uint64_t got;

	(void)state;
	memset(bytes, 0xff, sizeof(bytes));
	assert_false(leb128_get(&at, bytes + sizeof(bytes), &got));
	at = bytes;
	bytes[LEB128_MAX - 1] = 2;
	assert_false(leb128_get(&at, bytes + sizeof(bytes), &got));
	at = bytes;
	bytes[LEB128_MAX - 1] = 1;
	assert_true(leb128_get(&at, bytes + sizeof(bytes), &got));
	assert_true(got == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_stay),
		cmocka_unit_test(cut_numbers_are_none),
		cmocka_unit_test(too_large_numbers_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
