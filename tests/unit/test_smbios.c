// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The firmware's memory table, as firmware writes it and as it should not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "base/array.h"
#include "platform/sys/locator.h"
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

static struct record dimm(const char *locator, const char *bank, uint32_t mts)
{
	struct record r = { .bytes = { 17, FORMATTED }, .size = FORMATTED };

	put(&r, 0x0A, 64, 2);
	put(&r, 0x0C, 16384, 2);
	put(&r, 0x12, 0x22, 1); /* DDR5 */
	put(&r, 0x15, 9999, 2); /* what it could do: not what it does */
	put(&r, 0x20, mts, 2);
	r.bytes[0x10] = 1;
	r.bytes[0x11] = 2;
	memcpy(r.bytes + r.size, locator, strlen(locator) + 1);
	r.size += strlen(locator) + 1;
	memcpy(r.bytes + r.size, bank, strlen(bank) + 1);
	r.size += strlen(bank) + 2;
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

static int read_memory(const struct tree *t, struct diag *d, struct smbios_memory *ret)
{
	struct sysfs fs;
	int err;

	open_tree(t, &fs);
	*d = (struct diag){ 0 };
	err = smbios_memory(&fs, d, ret);
	sysfs_close(&fs);
	return err;
}

static int read_peaks(const struct tree *t, const uint32_t *sockets, uint32_t nr, struct peaks *ret)
{
	struct diag d = { 0 };
	struct sysfs fs;
	int err;

	open_tree(t, &fs);
	*ret = (struct peaks){ 0 };
	err = smbios_peaks(&fs, sockets, nr, &d, ret);
	sysfs_close(&fs);
	return err;
}

/* Two sockets with four channels of two slots, one of them empty; in a strange order. */
static void make_server(const struct tree *t)
{
	char name[64];

	for (unsigned int i = 0; i < 16; i++) {
		unsigned int socket = (i + 1) % 2, channel = i / 2 % 4, slot = i / 8;
		struct record r;

		snprintf(name, sizeof(name), "P%u_Node%u_Channel%u_Dimm%u", socket, socket, channel,
			 slot);
		r = dimm(name, "BANK 0", socket ? 4800 : 5600);
		if (i == 15)
			put(&r, 0x0C, 0, 2);
		add(t, i, &r);
	}
}

static void channels_count_once(void **state)
{
	static const uint32_t ids[] = { 9, 4 }, one[] = { 0 };
	struct smbios_memory m;
	struct peaks peaks;
	struct tree t;
	struct diag d;

	(void)state;
	tree_make(&t);
	make_server(&t);
	assert_int_equal(read_memory(&t, &d, &m), 0);
	assert_int_equal(m.devices, 15);
	assert_int_equal(m.channels, 8);
	assert_true(m.channels_told && m.sockets_told);
	assert_int_equal(m.nr_sockets, 2);
	assert_int_equal(m.sockets[0].bytes_per_s, 4 * 5600000000ull * 8);
	assert_int_equal(m.sockets[1].bytes_per_s, 4 * 4800000000ull * 8);
	assert_int_equal(m.bytes_per_s, 4 * 8 * (5600000000ull + 4800000000ull));
	/* the lower number of the locators is that of the lower socket */
	assert_int_equal(read_peaks(&t, ids, 2, &peaks), 0);
	assert_int_equal(peaks.nr, 2);
	assert_int_equal(peaks_find(&peaks, PEAK_CMEM, 4)->bytes_per_s, 4 * 5600000000ull * 8);
	assert_int_equal(peaks_find(&peaks, PEAK_CMEM, 9)->bytes_per_s, 4 * 4800000000ull * 8);
	assert_int_equal(peaks.items[0].from, PEAK_FIRMWARE);
	assert_string_equal(peaks.note, "15 memory devices on 8 channels, 64 bit at 4800 to 5600 "
					"MT/s; the locators tell the sockets");
	/* another number of sockets than locators have: divided, and said */
	assert_int_equal(read_peaks(&t, one, 1, &peaks), 0);
	assert_int_equal(peaks.items[0].bytes_per_s, m.bytes_per_s);
	tree_remove(&t);
}

static void what_is_not_told_is_said(void **state)
{
	static const uint32_t ids[] = { 0, 1 };
	struct record a = dimm("PROC 1 DIMM 1", "", 3200), b = dimm("PROC 1 DIMM 2", "", 3200);
	struct peaks peaks;
	struct tree t;

	(void)state;
	tree_make(&t);
	add(&t, 0, &a);
	add(&t, 1, &b);
	assert_int_equal(read_peaks(&t, ids, 2, &peaks), 0);
	assert_int_equal(peaks.items[0].bytes_per_s, 3200000000ull * 8);
	assert_int_equal(peaks.items[1].bytes_per_s, 3200000000ull * 8);
	assert_string_equal(
		peaks.note,
		"2 memory devices, 64 bit at 3200 MT/s, each taken for a channel of its "
		"own; the locators do not tell the sockets: divided evenly");
	tree_remove(&t);
}

/* What is beside the DRAM of a channel adds nothing; nor do ROM and empty slots. */
static void other_memory_is_left_out(void **state)
{
	struct record r = dimm("A1", "", 3200), optane = dimm("B1", "", 2666),
		      flash = dimm("SPI", "", 33), logical = dimm("C1", "", 3200);
	struct smbios_memory m;
	struct tree t;
	struct diag d;

	(void)state;
	put(&optane, 0x28, 7, 1);
	put(&flash, 0x12, 0x09, 1);
	put(&logical, 0x12, 0x1F, 1);
	tree_make(&t);
	add(&t, 0, &optane);
	add(&t, 1, &flash);
	add(&t, 2, &logical);
	assert_int_equal(read_memory(&t, &d, &m), -ENODATA);
	add(&t, 3, &r);
	assert_int_equal(read_memory(&t, &d, &m), 0);
	assert_int_equal(m.devices, 1);
	tree_remove(&t);
}

/* A speed beyond 16 bits stands elsewhere. */
static void long_speeds_are_read(void **state)
{
	struct record r = dimm("A1", "", 0xFFFF);
	struct smbios_memory m;
	struct tree t;
	struct diag d;

	(void)state;
	put(&r, 0x58, 70000, 4);
	tree_make(&t);
	add(&t, 0, &r);
	assert_int_equal(read_memory(&t, &d, &m), 0);
	assert_int_equal(m.most_mts, 70000);
	/* a record of SMBIOS 3.2 has no such place */
	r.bytes[1] = 0x54;
	add(&t, 0, &r);
	assert_int_equal(read_memory(&t, &d, &m), -ENODATA);
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
		{ 0x20, 0, 2, -ENODATA },      { 0x01, 0x1C, 1, -ENODATA }, /* of SMBIOS 2.3 */
	};
	struct record good = dimm("CPU0_DIMM_A1", "", 4800);
	struct smbios_memory m = { .devices = 77 };
	struct tree t;
	struct diag d;

	(void)state;
	tree_make(&t);
	add(&t, 0, &good);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct record bad = dimm("CPU0_DIMM_B1", "", 4800);

		put(&bad, rows[i].at, rows[i].value, rows[i].bytes);
		add(&t, 1, &bad);
		assert_int_equal(read_memory(&t, &d, &m), rows[i].err);
		assert_int_equal(m.devices, 77);
		assert_true(d.what[0] && strstr(d.help, "--peak"));
	}
	tree_remove(&t);
}

/* Strings that are not there, or have no end, tell nothing: the device is one all the same. */
static void missing_strings_tell_nothing(void **state)
{
	struct record r = dimm("CPU1_DIMM_A1", "CHANNEL B", 4800);
	struct smbios_memory m;
	struct tree t;
	struct diag d;

	(void)state;
	tree_make(&t);
	r.bytes[0x10] = 200;
	r.bytes[0x11] = 0;
	add(&t, 0, &r);
	assert_int_equal(read_memory(&t, &d, &m), 0);
	assert_false(m.channels_told || m.sockets_told);
	r.bytes[0x10] = 1;
	r.size = FORMATTED + 4;
	add(&t, 0, &r);
	assert_int_equal(read_memory(&t, &d, &m), 0);
	assert_false(m.channels_told || m.sockets_told);
	r.size = FORMATTED;
	add(&t, 0, &r);
	assert_int_equal(read_memory(&t, &d, &m), 0);
	assert_int_equal(m.bytes_per_s, 4800000000ull * 8);
	r.size = 0;
	add(&t, 0, &r);
	assert_int_equal(read_memory(&t, &d, &m), -EBADMSG);
	tree_remove(&t);
}

/* Without dmi-sysfs: one file with all records. Any damage of it is an error, never a loop. */
static void the_whole_table_is_read(void **state)
{
	static const uint8_t before[] = { 1, 8, 0, 0, 9, 9, 9, 9, 'x', 0, 0, 3, 4, 1, 0, 0, 0 };
	static const uint8_t end[] = { 127, 4, 0, 0, 0, 0 };
	struct record r = dimm("CPU0_DIMM_A1", "BANK 0", 4800);
	uint8_t table[1024];
	struct smbios_memory m;
	size_t size = 0;
	struct tree t;
	struct diag d;

	(void)state;
	tree_make(&t);
	assert_int_equal(read_memory(&t, &d, &m), -ENOENT);
	assert_non_null(strstr(d.help, "dmi-sysfs"));
	memcpy(table, before, sizeof(before));
	size += sizeof(before);
	memcpy(table + size, r.bytes, r.size);
	size += r.size;
	memcpy(table + size, end, sizeof(end));
	size += sizeof(end);
	tree_write(&t, "firmware/dmi/tables/DMI", table, size);
	assert_int_equal(read_memory(&t, &d, &m), 0);
	assert_int_equal(m.devices, 1);
	for (size_t cut = 0; cut < size; cut++) {
		int err;

		tree_write(&t, "firmware/dmi/tables/DMI", table, cut);
		err = read_memory(&t, &d, &m);
		assert_true(err == 0 || err == -ENODATA || err == -EBADMSG);
		assert_true(cut >= sizeof(before) + r.size || err);
	}
	table[1] = 3;
	tree_write(&t, "firmware/dmi/tables/DMI", table, size);
	assert_int_equal(read_memory(&t, &d, &m), -EBADMSG);
	tree_remove(&t);
}

static void locators_are_understood(void **state)
{
	static const struct {
		const char *device, *bank;
		int32_t socket;
		const char *channel;
	} rows[] = {
		{ "P1_Node1_Channel2_Dimm0", "BANK 0", 1, "1|P1_Node1_Channel2|" },
		{ "CPU0_DIMM_A1", "NODE 1", 0, "0|CPU0_DIMM_A|" },
		{ "CPU0_DIMM_A2", "NODE 1", 0, "0|CPU0_DIMM_A|" },
		{ "P2-DIMMB1", "P1_Node1_Channel1_Dimm0", 2, "2||P1_Node1_Channel1" },
		{ "DIMM 0", "P0 CHANNEL A", 0, "0||P0 CHANNEL A" },
		{ "Controller0-ChannelA-DIMM1", "BANK 1", -1, "-1|Controller0-ChannelA|" },
		{ "CPU1_MC0_CHB_D0", "", 1, "1|CPU1_MC0_CHB|" },
		{ "A1", "", -1, "-1|A|" },
		{ "PROC 2 DIMM 11", "", 2, "" },
		{ "DIMM 3", "SOCKET 1", 1, "" },
		{ "SODIMM", "", -1, "" },
		{ "CPU99999_DIMM", "CHIP", -1, "" },
		{ "", "", -1, "" },
	};
	struct locator got;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		locator_read(rows[i].device, rows[i].bank, &got);
		if (got.socket != rows[i].socket || strcmp(got.channel, rows[i].channel) != 0)
			fail_msg("%s, %s: socket %d, channel \"%s\"", rows[i].device, rows[i].bank,
				 got.socket, got.channel);
	}
}

static void the_sentence_has_all(void **state)
{
	struct diag d = { 0 };
	struct sysfs fs;
	struct tree t;
	char text[512];

	(void)state;
	tree_make(&t);
	make_server(&t);
	tree_put(&t, "devices/system/cpu/possible", "0-1\n");
	tree_put(&t, "devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
	tree_put(&t, "devices/system/cpu/cpu1/topology/physical_package_id", "1\n");
	open_tree(&t, &fs);
	assert_int_equal(smbios_sentence(&fs, &d, text, sizeof(text)), 0);
	assert_string_equal(text, "179.2 GB/s and 153.6 GB/s, from the firmware's memory table: 15 "
				  "memory devices on 8 channels, 64 bit at 4800 to 5600 MT/s; the "
				  "locators tell the sockets");
	sysfs_close(&fs);
	tree_remove(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(channels_count_once),
		cmocka_unit_test(what_is_not_told_is_said),
		cmocka_unit_test(other_memory_is_left_out),
		cmocka_unit_test(long_speeds_are_read),
		cmocka_unit_test(hostile_records_are_refused),
		cmocka_unit_test(missing_strings_tell_nothing),
		cmocka_unit_test(the_whole_table_is_read),
		cmocka_unit_test(locators_are_understood),
		cmocka_unit_test(the_sentence_has_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
