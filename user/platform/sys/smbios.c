// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Layout of records: DMTF DSP0134 (SMBIOS), "Memory Device (Type 17)". Numbers are little-endian.
 */
#include "platform/sys/smbios.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "platform/sys/cpus.h"

#define ENTRIES	     "firmware/dmi/entries"
#define TABLE	     "firmware/dmi/tables/DMI"
#define TABLE_MAX    (1u << 20)
#define RECORD_MAX   4096
#define MOST_DEVICES 4096
#define TYPE_MEMORY  17
#define TYPE_END     127

/* Offsets in a record; the first one added by later versions is at 0x15. */
#define AT_LENGTH    0x01
#define AT_BITS	     0x0A
#define AT_SIZE	     0x0C
#define AT_KIND	     0x12
#define LEAST_LENGTH 0x15
#define AT_RATED     0x15
#define AT_SPEED     0x20 /* configured */
#define AT_RATED_32  0x54 /* where 16 bits are too few */
#define AT_SPEED_32  0x58

#define UNKNOWN_16   0xFFFF
/* Values beyond these are nonsense: HBM has 1024 bits, the fastest DRAM some 10,000 MT/s */
#define MOST_BITS    4096
#define MOST_MTS     100000

/* LPDDR to LPDDR4, and LPDDR5: each device has its own wires */
#define KIND_LPDDR   0x1B
#define KIND_LPDDR4  0x1E
#define KIND_LPDDR5  0x23
/*
 * Kinds that are not the CPUs' DRAM: ROM, flash (0x08 to 0x0C), logical non-volatile devices
 * (0x1F), and HBM, which belongs to GPUs or to no total
 */
#define KIND_ROM     0x08
#define KIND_FLASH   0x0C
#define KIND_LOGICAL 0x1F
#define KIND_HBM     0x20
#define KIND_HBM2    0x21
#define KIND_HBM3    0x24

/* The sum of the records */
struct memory {
	uint32_t devices;
	uint32_t least_mts, most_mts;
	uint32_t least_bits, most_bits;
	uint64_t bytes_per_s;
	bool rated; /* a device has only its rated speed */
};

static uint32_t number(const uint8_t *at, size_t bytes)
{
	uint32_t value = 0;

	while (bytes--)
		value = value << 8 | at[bytes];
	return value;
}

static int nonsense(struct diag *d, const char *what, uint32_t value)
{
	diag_fail(d, -EBADMSG, "the firmware's memory table makes no sense: %s (%u)", what, value);
	return diag_advise(d, -EBADMSG, "give the peak with --peak, as in --peak 546GB/s");
}

static int not_told(struct diag *d, const char *what)
{
	diag_fail(d, -ENODATA, "the firmware's memory table does not tell %s", what);
	return diag_advise(d, -ENODATA, "give the peak with --peak, as in --peak 546GB/s");
}

static int only_lpddr(struct diag *d)
{
	diag_fail(d, -ENODATA,
		  "not all memory is LPDDR: the firmware's memory table does not tell the peak");
	return diag_advise(d, -ENODATA,
			   "DIMMs share channels, and the table does not tell which: give the "
			   "peak with --peak, as in --peak 546GB/s");
}

static bool is_main_memory(uint8_t kind)
{
	return !(kind >= KIND_ROM && kind <= KIND_FLASH) && kind != KIND_LOGICAL &&
	       kind != KIND_HBM && kind != KIND_HBM2 && kind != KIND_HBM3;
}

static bool is_lpddr(uint8_t kind)
{
	return (kind >= KIND_LPDDR && kind <= KIND_LPDDR4) || kind == KIND_LPDDR5;
}

/* A speed in 16 bits, or in 32 bits where 16 are too few; 0: not given. */
static uint32_t speed_at(const uint8_t *record, size_t length, size_t at, size_t at_32)
{
	uint32_t mts = length >= at + 2 ? number(record + at, 2) : 0;

	if (mts == UNKNOWN_16)
		mts = length >= at_32 + 4 ? number(record + at_32, 4) : 0;
	return mts;
}

static void add_device(struct memory *m, uint32_t bits, uint32_t mts)
{
	m->least_mts = !m->devices || mts < m->least_mts ? mts : m->least_mts;
	m->most_mts = mts > m->most_mts ? mts : m->most_mts;
	m->least_bits = !m->devices || bits < m->least_bits ? bits : m->least_bits;
	m->most_bits = bits > m->most_bits ? bits : m->most_bits;
	m->bytes_per_s += (uint64_t)bits * mts * 1000000 / 8;
	m->devices++;
}

/* One record: a device that counts, one that does not, or nonsense. */
static int take_record(const uint8_t *record, size_t size, struct memory *m, struct diag *d)
{
	size_t length = size > AT_LENGTH ? record[AT_LENGTH] : 0;
	uint32_t bits, mts;

	if (length < LEAST_LENGTH || length > size)
		return nonsense(d, "a record is short", (uint32_t)length);
	/* an empty slot */
	if (!number(record + AT_SIZE, 2) || !is_main_memory(record[AT_KIND]))
		return 0;
	if (!is_lpddr(record[AT_KIND]))
		return only_lpddr(d);
	bits = number(record + AT_BITS, 2);
	mts = speed_at(record, length, AT_SPEED, AT_SPEED_32);
	if (!mts) {
		mts = speed_at(record, length, AT_RATED, AT_RATED_32);
		m->rated = true;
	}
	if (!bits || bits == UNKNOWN_16)
		return not_told(d, "the width of a device");
	if (!mts)
		return not_told(d, "the speed of a device");
	if (bits > MOST_BITS)
		return nonsense(d, "the width of a device in bits", bits);
	if (mts > MOST_MTS)
		return nonsense(d, "the speed of a device in MT/s", mts);
	if (m->devices >= MOST_DEVICES)
		return nonsense(d, "too many devices", MOST_DEVICES);
	add_device(m, bits, mts);
	return 0;
}

static int no_table(int err, struct diag *d)
{
	if (err == -EACCES || err == -EPERM) {
		diag_fail(d, err, "the firmware's memory table may not be read");
		return diag_advise(d, err,
				   "run as root or with CAP_DAC_READ_SEARCH, or give --peak");
	}
	diag_fail(d, err, "there is no memory table of the firmware: %s", strerror(-err));
	return diag_advise(d, err, "it needs SMBIOS, and dmi-sysfs or CONFIG_DMI; or give --peak");
}

/* Read a file of at most @max bytes; the caller frees it. */
static int read_bytes(const struct sysfs *fs, const char *path, size_t max, uint8_t **ret,
		      size_t *ret_size)
{
	cleanup_close int fd = openat(fs->fd, path, O_RDONLY | O_CLOEXEC);
	uint8_t *bytes;
	size_t nr = 0;
	ssize_t got;

	if (fd < 0)
		return -errno;
	bytes = malloc(max);
	if (!bytes)
		return -ENOMEM;
	do
		got = read(fd, bytes + nr, max - nr);
	while (got > 0 && (nr += (size_t)got) < max);
	if (got < 0) {
		got = -errno;
		free(bytes);
		return (int)got;
	}
	*ret = bytes;
	*ret_size = nr;
	return 0;
}

static int read_entries(const struct sysfs *fs, const struct text_list *names, struct memory *m,
			struct diag *d)
{
	int err = 0;

	for (size_t i = 0; !err && i < names->nr; i++) {
		cleanup_free uint8_t *record = NULL;
		char path[PATH_MAX];
		size_t size;

		if (strncmp(names->items[i], "17-", 3) != 0)
			continue;
		snprintf(path, sizeof(path), ENTRIES "/%.64s/raw", names->items[i]);
		err = read_bytes(fs, path, RECORD_MAX, &record, &size);
		err = err ? no_table(err, d) : take_record(record, size, m, d);
	}
	return err;
}

/* End of a record's strings: two zeros, even without strings. 0: not found. */
static size_t record_size(const uint8_t *record, size_t left)
{
	for (size_t at = record[AT_LENGTH]; at + 1 < left; at++)
		if (!record[at] && !record[at + 1])
			return at + 2;
	return 0;
}

/* The same records one after the other, for kernels without the module dmi-sysfs. */
static int read_table(const struct sysfs *fs, struct memory *m, struct diag *d)
{
	cleanup_free uint8_t *table = NULL;
	size_t size, at = 0, next;
	int err = read_bytes(fs, TABLE, TABLE_MAX, &table, &size);

	if (err)
		return no_table(err, d);
	while (!err && at + 4 <= size && table[at] != TYPE_END) {
		if (table[at + AT_LENGTH] < 4)
			return nonsense(d, "a record is short", table[at + AT_LENGTH]);
		next = record_size(table + at, size - at);
		if (!next)
			return nonsense(d, "a record has no end", (uint32_t)at);
		if (table[at] == TYPE_MEMORY)
			err = take_record(table + at, next, m, d);
		at += next;
	}
	return err;
}

static int read_devices(const struct sysfs *fs, struct memory *m, struct diag *d)
{
	cleanup_texts struct text_list names = { 0 };
	int err = sysfs_list(fs, &names, ENTRIES);

	if (err == -ENOMEM)
		return diag_no_memory(d);
	if (err)
		return read_table(fs, m, d);
	return read_entries(fs, &names, m, d);
}

/* "16 memory devices, 64 bit at 8533 MT/s" */
static void describe(const struct memory *m, uint32_t nr_sockets, char ret[PEAK_NOTE_LEN])
{
	ret[0] = '\0';
	str_append(ret, PEAK_NOTE_LEN, "%u memory device%s, %u", m->devices,
		   m->devices == 1 ? "" : "s", m->least_bits);
	if (m->most_bits != m->least_bits)
		str_append(ret, PEAK_NOTE_LEN, " to %u", m->most_bits);
	str_append(ret, PEAK_NOTE_LEN, " bit at %u", m->least_mts);
	if (m->most_mts != m->least_mts)
		str_append(ret, PEAK_NOTE_LEN, " to %u", m->most_mts);
	str_append(ret, PEAK_NOTE_LEN, " MT/s");
	if (m->rated)
		str_append(ret, PEAK_NOTE_LEN, ", the rated speed: the configured one is unknown");
	if (nr_sockets > 1)
		str_append(ret, PEAK_NOTE_LEN, "; divided evenly among %u sockets", nr_sockets);
}

int smbios_peaks(const struct sysfs *fs, const uint32_t *sockets, uint32_t nr, struct diag *d,
		 struct peaks *ret)
{
	struct memory m = { 0 };
	int err = nr ? read_devices(fs, &m, d) : not_told(d, "how many sockets there are");

	if (err)
		return err;
	if (!m.devices)
		return not_told(d, "any memory");
	if (m.bytes_per_s > PEAK_MOST)
		return nonsense(d, "the sum of all devices", m.devices);
	if (nr > 1 && (m.devices % nr || m.least_bits != m.most_bits || m.least_mts != m.most_mts))
		return not_told(d, "which socket has which of its unlike devices");
	describe(&m, nr, ret->note);
	for (uint32_t i = 0; i < nr && ret->nr < PEAK_MAX; i++)
		ret->items[ret->nr++] = (struct peak){ .of = PEAK_CMEM,
						       .from = PEAK_FIRMWARE,
						       .socket = sockets[i],
						       .bytes_per_s = m.bytes_per_s / nr };
	return 0;
}

int smbios_sentence(const struct sysfs *fs, struct diag *d, char *ret, size_t size)
{
	struct peaks peaks = { 0 };
	struct cpu_map cpus = { 0 };
	int err = cpu_map_read(fs, NULL, 0, d, &cpus);

	ret[0] = '\0';
	if (!err)
		err = smbios_peaks(fs, cpus.socket_ids, cpus.nr_sockets, d, &peaks);
	cpu_map_free(&cpus);
	if (!err)
		str_append(ret, size, "%.1f GB/s%s, from the firmware's memory table: %s",
			   (double)peaks.items[0].bytes_per_s / 1e9,
			   peaks.nr > 1 ? " a socket" : "", peaks.note);
	return err;
}
