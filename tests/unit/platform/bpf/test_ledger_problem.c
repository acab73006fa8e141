// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "platform/bpf/ledger_internal.h"

#define FAILED "libbpf: prog 'ledger_flush': BPF program load failed: Permission denied\n"
#define BEGIN  "libbpf: prog 'ledger_flush': -- BEGIN PROG LOAD LOG --\n"
#define END    "-- END PROG LOAD LOG --\n"
#define COUNTS "processed 12 insns (limit 1000000) max_states_per_insn 0 total_states 0\n"

static libbpf_print_fn_t print_fn;

static void __attribute__((format(printf, 1, 2))) libbpf_says(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_fn(LIBBPF_WARN, fmt, ap);
	va_end(ap);
}

/* What is said of a load that failed with @err, when libbpf printed @warning and @log, "" for none. */
static int problem(int err, const char *warning, const char *log, struct diag *d)
{
	ledger_load_begins();
	if (warning[0])
		libbpf_says("%s", warning);
	if (log[0])
		libbpf_says("%s%s%s", BEGIN, log, END);
	return ledger_load_problem(err, "cannot load", "clang 99", d);
}

static void rights_are_missing(void **state)
{
	const int errors[] = { -EPERM, -EACCES };
	struct diag d;

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(problem(errors[i], FAILED, "", &d), -EPERM);
		assert_non_null(strstr(d.what, i ? "Permission denied (libbpf: "
						 : "Operation not permitted (libbpf: "));
		assert_non_null(strstr(d.help, "CAP_BPF"));
	}
	/* A log does not make up for a right. */
	assert_int_equal(problem(-EPERM, FAILED, "R9 !read_ok\n" COUNTS, &d), -EPERM);
	assert_non_null(strstr(d.help, "CAP_BPF"));
}

static void verifier_refuses(void **state)
{
	struct diag d;

	(void)state;
	assert_int_equal(problem(-EACCES, FAILED, "old\n1: x\n2: y\nR9 bad\n" COUNTS, &d), -EACCES);
	assert_string_equal(
		d.what,
		"cannot load: the verifier refuses ledger_flush, compiled by clang 99: R9 bad");
	assert_string_equal(d.what + strlen("cannot load: "), ledger_load_reason());
	assert_non_null(strstr(d.help, "last lines: 1: x; 2: y; R9 bad"));
	assert_null(strstr(d.help, "CAP_BPF"));
	/* whatever the error is */
	assert_int_equal(problem(-E2BIG, FAILED, "program is too large\n", &d), -E2BIG);
	assert_non_null(strstr(d.what, "refuses ledger_flush, compiled by clang 99: program is "));
}

static void first_refusal_counts(void **state)
{
	struct diag d;

	(void)state;
	ledger_load_begins();
	libbpf_says("%sfirst\n%s", BEGIN, END);
	libbpf_says("libbpf: prog 'other': -- BEGIN PROG LOAD LOG --\nsecond\n%s", END);
	ledger_load_problem(-EACCES, "cannot load", "clang 99", &d);
	assert_non_null(strstr(d.what, "refuses ledger_flush, compiled by clang 99: first"));
	/* and is forgotten before the next load */
	assert_int_equal(problem(-ENOENT, "libbpf: no BTF\n", "", &d), -ENOENT);
	assert_string_equal(d.what, "cannot load: No such file or directory (libbpf: no BTF)");
}

static void long_lines_are_cut(void **state)
{
	char log[4000];
	struct diag d;

	(void)state;
	memset(log, 'x', sizeof(log) - 1);
	log[sizeof(log) - 1] = '\0';
	memcpy(log + 3000, "\nbehind\n", 8);
	assert_int_equal(problem(-EACCES, FAILED, log, &d), -EACCES);
	assert_non_null(strstr(d.help, "; behind; xxx"));
	assert_true(strlen(ledger_load_reason()) < 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rights_are_missing),
		cmocka_unit_test(verifier_refuses),
		cmocka_unit_test(first_refusal_counts),
		cmocka_unit_test(long_lines_are_cut),
	};

	ledger_listen(NULL);
	print_fn = libbpf_set_print(NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
