// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "caret.h"
#include "platform/spec/event_spec.h"
#include "random.h"
#include "tree.h"

#define DEVICE(bdf) "bus/pci/devices/" bdf "/resource"
#define EMPTY	    "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
#define LABEL_LEN   64

static struct tree tree;
static struct sysfs fs;

static int make_devices(void **state)
{
	struct diag d = { 0 };

	(void)state;
	tree_make(&tree);
	/* a 64-bit BAR of 16 MiB, I/O ports, 4 KiB, no address */
	tree_put(&tree, DEVICE("0002:81:00.0"),
		 "0x0000021000000000 0x0000021000ffffff 0x000000000014220c\n" EMPTY
		 "0x0000000000001000 0x000000000000107f 0x0000000000040101\n"
		 "0x0000000040000000 0x0000000040000fff 0x0000000000040200\n"
		 "0x0000000000000000 0x0000000000000fff 0x0000000020040200\n" EMPTY EMPTY);
	/* no single window: the size; the address; neither memory nor ports; no sense */
	tree_put(&tree, DEVICE("0000:03:02.4"),
		 "0x0000000080000000 0x0000000080002fff 0x0000000000040200\n"
		 "0x0000000080001000 0x0000000080002fff 0x0000000000040200\n"
		 "0x0000000080000000 0x0000000080000fff 0x0000000000000400\n"
		 "0x0000000080002000 0x0000000080000fff 0x0000000000040200\n"
		 "0x0000000000000000 0xffffffffffffffff 0x0000000000040200\n"
		 "0x0000000000000000 0x00000000ffffffff 0x0000000000040200\n");
	/* what users without rights may see, and a device without memory */
	tree_put(&tree, DEVICE("10000:e1:00.0"), EMPTY EMPTY EMPTY EMPTY EMPTY EMPTY EMPTY);
	tree_put(&tree, DEVICE("0000:04:00.0"), "0x0 0x0 0x0\n");
	tree_put(&tree, DEVICE("0000:04:00.1"), "0x1000 0x1fff\n" EMPTY EMPTY EMPTY EMPTY EMPTY);
	tree_put(&tree, DEVICE("0000:04:00.2"), "0x1000 0x1fff 0x200 1\n" EMPTY EMPTY EMPTY EMPTY);
	tree_put(&tree, DEVICE("0000:04:00.3"), "");
	tree_put(&tree, "bus/pci/devices/0000:05:00.0/vendor", "0x10de\n");
	assert_int_equal(sysfs_open(tree.root, &d, &fs), 0);
	return 0;
}

static int drop_devices(void **state)
{
	(void)state;
	sysfs_close(&fs);
	tree_remove(&tree);
	return 0;
}

static void bars_are_windows(void **state)
{
	static const struct {
		const char *text;
		const char *label;
		uint64_t base;
		uint64_t mask;
	} rows[] = {
		{ "0002:81:00.0:BAR0", "0002:81:00.0 BAR0", 0x21000000000, ~0xffffffULL },
		{ "0002:81:00.0:bar0", "0002:81:00.0 BAR0", 0x21000000000, ~0xffffffULL },
		{ "0002:81:00.0:BAR 0", "0002:81:00.0 BAR0", 0x21000000000, ~0xffffffULL },
		{ "0002:81:00.0:0", "0002:81:00.0 BAR0", 0x21000000000, ~0xffffffULL },
		{ "0002:81:00.0 BAR3", "0002:81:00.0 BAR3", 0x40000000, ~0xfffULL },
		{ "03:02.4:5", "0000:03:02.4 BAR5", 0, ~0xffffffffULL },
		{ "0000:03:02.4:BAR5", "0000:03:02.4 BAR5", 0, ~0xffffffffULL },
		{ "00000000:03:02.4:BAR5", "0000:03:02.4 BAR5", 0, ~0xffffffffULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pmu_term terms[3];
		char label[LABEL_LEN];
		struct diag d = { 0 };

		if (range_spec_terms(&fs, rows[i].text, &d, terms, label, sizeof(label)))
			fail_msg("%s: %s", rows[i].text, d.what);
		assert_string_equal(label, rows[i].label);
		assert_string_equal(terms[0].name, "dst_addr_en");
		assert_int_equal(terms[0].value, 1);
		assert_string_equal(terms[1].name, "dst_addr_base");
		assert_int_equal(terms[1].value, rows[i].base);
		assert_string_equal(terms[2].name, "dst_addr_mask");
		assert_int_equal(terms[2].value, rows[i].mask);
	}
}

/* @from: the rest of the text from the caret on; NULL: the problem is not in the text */
struct bad {
	const char *text;
	const char *from;
	int err;
	const char *what;
	const char *help;
};

static void check_bad(const struct bad *row)
{
	struct pmu_term terms[3] = { { "a", 1 }, { "b", 2 }, { "c", 3 } }, before[3];
	char line[sizeof(((struct diag *)0)->what)], label[LABEL_LEN] = "before";
	struct diag d = { 0 };
	size_t at;
	int err;

	memcpy(before, terms, sizeof(before));
	err = range_spec_terms(&fs, row->text, &d, terms, label, sizeof(label));
	if (err != row->err || !strstr(d.what, row->what) || !strstr(d.help, row->help))
		fail_msg("%s: %d: %s (%s)", row->text, err, d.what, d.help);
	if (row->from &&
	    (!caret_read(&d, line, &at) || at != strlen(row->text) - strlen(row->from) ||
	     strcmp(row->text + at, row->from)))
		fail_msg("%s: %s", row->text, d.what);
	assert_memory_equal(terms, before, sizeof(before));
	assert_string_equal(label, "before");
	assert_int_equal(range_spec_terms(&fs, row->text, NULL, terms, label, sizeof(label)),
			 row->err);
}

static void problems_are_named(void **state)
{
	static const struct bad rows[] = {
		{ "", "", -EINVAL, "a PCI address", "0002:81:00.0:BAR0" },
		{ "81", "", -EINVAL, "a colon", "0002:81:00.0:BAR0" },
		{ "8:00.0:0", "8:00.0:0", -EINVAL, "a PCI address", "" },
		{ "123:81:00.0:0", "123:81:00.0:0", -EINVAL, "a PCI address", "" },
		{ "123456789:81:00.0:0", "123456789:81:00.0:0", -EINVAL, "a PCI address", "" },
		{ "0002:81:00.0", "", -EINVAL, "a colon and the BAR", "" },
		{ "0002:81:00.0:", "", -EINVAL, "a BAR number", "" },
		{ "0002:81:00:0", ":0", -EINVAL, "a dot", "" },
		{ "0002:81:20.0:0", "20.0:0", -EINVAL, "a device number", "" },
		{ "0002:81:0.0:0", "0.0:0", -EINVAL, "a device number", "" },
		{ "0002:81:00.8:0", "8:0", -EINVAL, "a function number", "" },
		{ "0002:81:00.00:0", "00:0", -EINVAL, "a function number", "" },
		{ "0002:81:00.0:BAR6", "6", -EINVAL, "a BAR number", "" },
		{ "0002:81:00.0:ROM", "ROM", -EINVAL, "a BAR number", "" },
		{ "0002:81:00.0:BAR00", "0", -EINVAL, "nothing is expected", "" },
		{ "0002:81:00.0:BAR0 ", " ", -EINVAL, "nothing is expected", "" },
		{ " 81:00.0:0", " 81:00.0:0", -EINVAL, "a PCI address", "" },
		{ "\r:\033[2J", "\r:\033[2J", -EINVAL, "a PCI address", "" },
		{ "81:00.0:0", "81:00.0:0", -ENOENT, "no PCI device 0000:81:00.0",
		  "did you mean \"0002:81:00.0\"? PCI devices are" },
		{ "0002:81:00.1:0", "0002:81:00.1:0", -ENOENT, "no PCI device 0002:81:00.1",
		  "did you mean \"0002:81:00.0\"?" },
		{ "0002:81:00.0:1", "1", -ENODATA, "upper half of the 64-bit BAR0", "BAR0, BAR3" },
		{ "0002:81:00.0:BAR2", "BAR2", -EINVAL, "I/O ports", "BAR0, BAR3" },
		{ "0002:81:00.0:BAR4", "BAR4", -ENODATA, "no address", "BAR0, BAR3" },
		{ "0002:81:00.0:BAR5", "BAR5", -ENODATA, "BAR5 of 0002:81:00.0 is empty",
		  "BAR0, BAR3" },
		{ "03:02.4:0", "0", -EINVAL, "2 would be needed", "dst_addr_mask" },
		{ "03:02.4:1", "1", -EINVAL, "2 would be needed", "power of two" },
		{ "03:02.4:2", "2", -EINVAL, "no memory", "BAR0" },
		{ "03:02.4:3", "3", -EINVAL, "make no sense", "" },
		{ "03:02.4:4", "4", -EINVAL, "make no sense", "" },
		{ "04:00.0:0", NULL, -EINVAL, "resource: line 2 is not understood", "" },
		{ "04:00.1:0", NULL, -EINVAL, "resource: line 1 is not understood", "" },
		{ "04:00.2:0", NULL, -EINVAL, "resource: line 1 is not understood", "" },
		{ "04:00.3:0", NULL, -EINVAL, "resource: line 1 is not understood", "" },
		{ "05:00.0:0", NULL, -ENOENT, "0000:05:00.0/resource", "" },
	};
	static const struct bad hidden[] = {
		{ "10000:E1:00.0:0", "0", -EACCES, "may be hidden", "CAP_SYS_ADMIN" },
		{ "10000:e1:00.0:0", "0", -ENODATA, "is empty", "no BAR with memory" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_bad(&rows[i]);
	check_bad(&hidden[geteuid() == 0]);
}

static void no_pci(void **state)
{
	struct sysfs full = fs;
	struct diag d = { 0 };
	struct tree empty;

	(void)state;
	tree_make(&empty);
	assert_int_equal(sysfs_open(empty.root, &d, &fs), 0);
	check_bad(&(struct bad){ "81:00.0:0", "81:00.0:0", -ENOENT, "no PCI device 0000:81:00.0",
				 "no PCI devices at all" });
	sysfs_close(&fs);
	fs = full;
	tree_remove(&empty);
}

static void mutations_do_no_harm(void **state)
{
	static const char letters[] = "0123456789abcdefBARbar:. \001\377-x";
	struct draw draw = { .state = 20260712 };
	size_t understood = 0;

	(void)state;
	for (size_t i = 0; i < 10000; i++) {
		char text[32], label[LABEL_LEN], line[sizeof(((struct diag *)0)->what)];
		struct pmu_term terms[3];
		struct diag d = { 0 };
		size_t at;

		str_copy(text, sizeof(text), i % 2 ? "0002:81:00.0:BAR0" : "03:02.4:5");
		text[draw_below(&draw, strlen(text))] =
			letters[draw_below(&draw, sizeof(letters) - 1)];
		if (draw_below(&draw, 4) == 0)
			text[draw_below(&draw, strlen(text))] = '\0';
		if (!range_spec_terms(&fs, text, &d, terms, label, sizeof(label)))
			understood++;
		else if (!caret_read(&d, line, &at) && !strstr(d.what, "/resource"))
			fail_msg("%s: %s", text, d.what);
	}
	assert_in_range(understood, 100, 9900);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bars_are_windows),
		cmocka_unit_test(problems_are_named),
		cmocka_unit_test(no_pci),
		cmocka_unit_test(mutations_do_no_harm),
	};

	return cmocka_run_group_tests(tests, make_devices, drop_devices);
}
