// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The firmware's memory table, as firmware writes it and as it should not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "base/array.h"
#include "platform/sys/smbios.h"
#include "tree.h"

#define FORMATTED 0x5C /* of SMBIOS 3.3 */

/* A record of type 17; lengths and strings as a test wants them. */
struct record {
	uint8_t bytes[512];
	size_t size;
};

static void put(struct record *r, size_t at, uint32_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		r->bytes[at + i] = (uint8_t)(value >> (8 * i));
}

/* LPDDR5 of 64 bits, as @locator. */
static struct record device(const char *locator, uint32_t mts)
{
	struct record r = { .bytes = { 17, FORMATTED }, .size = FORMATTED };

	put(&r, 0x0A, 64, 2);
	put(&r, 0x0C, 16384, 2);
	put(&r, 0x12, 0x23, 1);
	put(&r, 0x15, 9999, 2); /* what it could do: not what it does */
	put(&r, 0x20, mts, 2);
	r.bytes[0x10] = 1;
	memcpy(r.bytes + r.size, locator, strlen(locator) + 1);
	r.size += strlen(locator) + 2;
	return r;
}

static void add(const struct tree *t, unsigned int number, const struct record *r)
{
	char name[64];

	snprintf(name, sizeof(name), "firmware/dmi/entries/17-%u/raw", number);
	tree_write(t, name, r->bytes, r->size);
}

static void open_tree(const struct tree *t, struct sysfs *fs)
{
	struct diag d = { 0 };

	assert_int_equal(sysfs_open(t->root, &d, fs), 0);
}

static int read_peaks(const struct tree *t, const uint32_t *sockets, uint32_t nr, struct diag *d,
		      struct peaks *ret)
{
	struct sysfs fs;
	int err;

	open_tree(t, &fs);
	*d = (struct diag){ 0 };
	*ret = (struct peaks){ 0 };
	err = smbios_peaks(&fs, sockets, nr, d, ret);
	assert_int_equal(ret->nr, err ? 0 : nr);
	assert_int_equal(!err, !d->what[0]);
	assert_int_equal(!err, !d->help[0]);
	sysfs_close(&fs);
	return err;
}

/* Of one socket: the bytes, or an error. */
static int64_t read_one(const struct tree *t, struct diag *d, struct peaks *ret)
{
	static const uint32_t one[] = { 0 };
	int err = read_peaks(t, one, 1, d, ret);

	return err ? err : (int64_t)ret->items[0].bytes_per_s;
}

static void devices_add_up(void **state)
{
	static const uint32_t ids[] = { 9, 4 };
	struct peaks peaks;
	struct diag d;
	struct tree t;

	(void)state;
	tree_make(&t);
	for (unsigned int i = 0; i < 16; i++) {
		struct record r = device("LP5x", 8533), empty = device("LP5x", 0);

		put(&empty, 0x0C, 0, 2);
		add(&t, i, i == 7 ? &empty : &r);
	}
	assert_int_equal(read_one(&t, &d, &peaks), 15 * 8533000000ull * 8);
	assert_int_equal(peaks.items[0].of, PEAK_CMEM);
	assert_int_equal(peaks.items[0].from, PEAK_FIRMWARE);
	assert_string_equal(peaks.note, "15 memory devices, 64 bit at 8533 MT/s");
	/* 15 devices are not the same on both sockets */
	assert_int_equal(read_peaks(&t, ids, 2, &d, &peaks), -ENODATA);
	assert_non_null(strstr(d.what, "which socket"));
	tree_remove(&t);
}

static void sockets_get_the_same(void **state)
{
	static const uint32_t ids[] = { 9, 4 };
	struct record a = device("LP5x_0", 8532), b = device("LP5x_1", 8532);
	struct peaks peaks;
	struct diag d;
	struct tree t;

	(void)state;
	tree_make(&t);
	put(&a, 0x0A, 480, 2);
	put(&b, 0x0A, 480, 2);
	add(&t, 0, &a);
	add(&t, 1, &b);
	assert_int_equal(read_peaks(&t, ids, 2, &d, &peaks), 0);
	assert_int_equal(peaks_find(&peaks, PEAK_CMEM, 4)->bytes_per_s, 511920000000ull);
	assert_int_equal(peaks_find(&peaks, PEAK_CMEM, 9)->bytes_per_s, 511920000000ull);
	assert_string_equal(peaks.note, "2 memory devices, 480 bit at 8532 MT/s; divided evenly "
					"among 2 sockets");
	put(&b, 0x0A, 256, 2);
	add(&t, 1, &b);
	assert_int_equal(read_peaks(&t, ids, 2, &d, &peaks), -ENODATA);
	assert_int_equal(read_one(&t, &d, &peaks), (480 + 256) * 8532000000ull / 8);
	assert_string_equal(peaks.note, "2 memory devices, 256 to 480 bit at 8532 MT/s");
	tree_remove(&t);
}

/* As on a Grace: what it runs at is unknown, what it could do is not. */
static void the_rated_speed_is_the_second_choice(void **state)
{
	struct record r = device("LP5x_0", 0), old = device("LP4", 4800);
	struct peaks peaks;
	struct diag d;
	struct tree t;

	(void)state;
	tree_make(&t);
	put(&r, 0x0A, 480, 2);
	put(&r, 0x15, 8532, 2);
	add(&t, 0, &r);
	assert_int_equal(read_one(&t, &d, &peaks), 511920000000ull);
	assert_string_equal(peaks.note, "1 memory device, 480 bit at 8532 MT/s, the rated speed: "
					"the configured one is unknown");
	put(&r, 0x15, 0xFFFF, 2);
	put(&r, 0x54, 70000, 4);
	add(&t, 0, &r);
	assert_int_equal(read_one(&t, &d, &peaks), 480 * 70000000000ull / 8);
	/* SMBIOS 2.3 has the rated speed alone */
	old.bytes[1] = 0x1C;
	put(&old, 0x12, 0x1E, 1);
	add(&t, 0, &old);
	assert_int_equal(read_one(&t, &d, &peaks), 9999000000ull * 8);
	put(&old, 0x15, 0, 2);
	add(&t, 0, &old);
	assert_int_equal(read_one(&t, &d, &peaks), -ENODATA);
	tree_remove(&t);
}

/* Which DIMMs share a channel is not told, whatever their slots are called. */
static void dimms_have_no_peak(void **state)
{
	static const uint8_t kinds[] = { 0x07, 0x18, 0x1A, 0x22, 0x02 };
	struct record lpddr = device("LP5x", 8533);
	struct peaks peaks;
	struct diag d;
	struct tree t;

	(void)state;
	tree_make(&t);
	add(&t, 0, &lpddr);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct record r = device("P0_Node0_Channel2_Dimm0", 4800);

		put(&r, 0x12, kinds[i], 1);
		add(&t, 1, &r);
		assert_int_equal(read_one(&t, &d, &peaks), -ENODATA);
		assert_non_null(strstr(d.what, "not all memory is LPDDR"));
		assert_non_null(strstr(d.help, "--peak"));
	}
	tree_remove(&t);
}

/* ROM, and the HBM of GPUs. */
static void other_memory_is_left_out(void **state)
{
	static const uint8_t kinds[] = { 0x08, 0x09, 0x0C, 0x1F, 0x20, 0x21, 0x24 };
	struct record lpddr = device("LP5x", 8533);
	struct peaks peaks;
	struct diag d;
	struct tree t;

	(void)state;
	tree_make(&t);
	for (unsigned int i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct record r = device("SPI", 33);

		put(&r, 0x12, kinds[i], 1);
		add(&t, i, &r);
	}
	assert_int_equal(read_one(&t, &d, &peaks), -ENODATA);
	assert_non_null(strstr(d.what, "any memory"));
	add(&t, 99, &lpddr);
	assert_int_equal(read_one(&t, &d, &peaks), 8533000000ull * 8);
	tree_remove(&t);
}

/* A speed beyond 16 bits stands elsewhere. */
static void long_speeds_are_read(void **state)
{
	struct record r = device("LP5x", 0xFFFF);
	struct peaks peaks;
	struct diag d;
	struct tree t;

	(void)state;
	put(&r, 0x58, 70000, 4);
	tree_make(&t);
	add(&t, 0, &r);
	assert_int_equal(read_one(&t, &d, &peaks), 70000000000ull * 8);
	/* a record of SMBIOS 3.2 has no such place: the rated speed is left */
	r.bytes[1] = 0x54;
	add(&t, 0, &r);
	assert_int_equal(read_one(&t, &d, &peaks), 9999000000ull * 8);
	tree_remove(&t);
}

/* One device of which nothing is known: the sum of the others is not the machine's. */
static void hostile_records_are_refused(void **state)
{
	static const struct {
		size_t at;
		uint32_t value;
		size_t bytes;
		int err;
	} rows[] = {
		{ 0x01, 0x14, 1, -EBADMSG }, /* shorter than the oldest form */
		{ 0x01, 0xFF, 1, -EBADMSG }, /* longer than the file */
		{ 0x01, 0, 1, -EBADMSG },      { 0x0A, 0, 2, -ENODATA },
		{ 0x0A, 0xFFFF, 2, -ENODATA }, { 0x0A, 0x7FFF, 2, -EBADMSG },
		{ 0x20, 0xFFFF, 2, -ENODATA }, { 0x01, 0x15, 1, -ENODATA }, /* of SMBIOS 2.1 */
	};
	struct record good = device("LP5x_0", 8533);
	struct peaks peaks;
	struct tree t;
	struct diag d;

	(void)state;
	tree_make(&t);
	add(&t, 0, &good);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct record bad = device("LP5x_1", 8533);

		put(&bad, 0x15, 0, 2);
		put(&bad, rows[i].at, rows[i].value, rows[i].bytes);
		add(&t, 1, &bad);
		assert_int_equal(read_one(&t, &d, &peaks), rows[i].err);
		assert_non_null(strstr(d.help, "--peak"));
	}
	good.size = 0;
	add(&t, 1, &good);
	assert_int_equal(read_one(&t, &d, &peaks), -EBADMSG);
	tree_remove(&t);
}

/* Without dmi-sysfs: one file with all records. Any damage of it is an error, never a loop. */
static void the_whole_table_is_read(void **state)
{
	static const uint8_t before[] = { 1, 8, 0, 0, 9, 9, 9, 9, 'x', 0, 0, 3, 4, 1, 0, 0, 0 };
	static const uint8_t end[] = { 127, 4, 0, 0, 0, 0 };
	struct record r = device("LP5x", 8533);
	uint8_t table[1024];
	struct peaks peaks;
	size_t size = 0;
	struct tree t;
	struct diag d;

	(void)state;
	tree_make(&t);
	assert_int_equal(read_one(&t, &d, &peaks), -ENOENT);
	assert_non_null(strstr(d.help, "dmi-sysfs"));
	memcpy(table, before, sizeof(before));
	size += sizeof(before);
	memcpy(table + size, r.bytes, r.size);
	size += r.size;
	memcpy(table + size, end, sizeof(end));
	size += sizeof(end);
	tree_write(&t, "firmware/dmi/tables/DMI", table, size);
	assert_int_equal(read_one(&t, &d, &peaks), 8533000000ull * 8);
	for (size_t cut = 0; cut < size; cut++) {
		int64_t got;

		tree_write(&t, "firmware/dmi/tables/DMI", table, cut);
		got = read_one(&t, &d, &peaks);
		assert_true(got > 0 || got == -ENODATA || got == -EBADMSG);
		assert_true(cut >= sizeof(before) + r.size || got < 0);
	}
	table[1] = 3;
	tree_write(&t, "firmware/dmi/tables/DMI", table, size);
	assert_int_equal(read_one(&t, &d, &peaks), -EBADMSG);
	tree_remove(&t);
}

static void the_sentence_has_all(void **state)
{
	struct record r = device("LP5x", 8533);
	struct diag d = { 0 };
	struct sysfs fs;
	struct tree t;
	char text[512];

	(void)state;
	tree_make(&t);
	add(&t, 0, &r);
	add(&t, 1, &r);
	tree_put(&t, "devices/system/cpu/possible", "0-1\n");
	tree_put(&t, "devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
	tree_put(&t, "devices/system/cpu/cpu1/topology/physical_package_id", "1\n");
	open_tree(&t, &fs);
	assert_int_equal(smbios_sentence(&fs, &d, text, sizeof(text)), 0);
	assert_string_equal(text, "68.3 GB/s a socket, from the firmware's memory table: 2 memory "
				  "devices, 64 bit at 8533 MT/s; divided evenly among 2 sockets");
	sysfs_close(&fs);
	tree_remove(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_add_up),
		cmocka_unit_test(sockets_get_the_same),
		cmocka_unit_test(the_rated_speed_is_the_second_choice),
		cmocka_unit_test(dimms_have_no_peak),
		cmocka_unit_test(other_memory_is_left_out),
		cmocka_unit_test(long_speeds_are_read),
		cmocka_unit_test(hostile_records_are_refused),
		cmocka_unit_test(the_whole_table_is_read),
		cmocka_unit_test(the_sentence_has_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
