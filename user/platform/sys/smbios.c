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

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "platform/sys/cpus.h"
#include "platform/sys/locator.h"

#define ENTRIES		    "firmware/dmi/entries"
#define TABLE		    "firmware/dmi/tables/DMI"
#define TABLE_MAX	    (1u << 20)
#define RECORD_MAX	    4096
#define TYPE_MEMORY	    17
#define TYPE_END	    127

/* Places in a record; the first that later versions added is at 0x1C. */
#define AT_LENGTH	    0x01
#define AT_BITS		    0x0A
#define AT_SIZE		    0x0C
#define AT_LOCATOR	    0x10
#define AT_BANK		    0x11
#define AT_KIND		    0x12
#define LEAST_LENGTH	    0x15
#define AT_SPEED	    0x20 /* configured */
#define AT_TECHNOLOGY	    0x28
#define AT_SPEED_32	    0x58 /* where 16 bits do not do */

#define UNKNOWN_16	    0xFFFF
/* Beyond these a record is nonsense: HBM has 1024 bits, the fastest DRAM some 10,000 MT/s */
#define MOST_BITS	    4096
#define MOST_MTS	    100000

/* Kinds that are no main memory: ROM, flash (0x08 to 0x0C), and a part of others' space (0x1F) */
#define KIND_ROM	    0x08
#define KIND_FLASH	    0x0C
#define KIND_LOGICAL	    0x1F
/* Technologies that are beside the DRAM of a channel: NVDIMM-F, NVDIMM-P, Intel's persistent memory */
#define TECHNOLOGY_NVDIMM_F 0x05
#define TECHNOLOGY_OPTANE   0x07

/* What one record comes to */
struct device {
	struct locator place;
	uint32_t mts;
	uint32_t bits;
};

struct devices {
	struct device *items;
	size_t nr;
	size_t cap;
};

static uint32_t number(const uint8_t *at, size_t bytes)
{
	uint32_t value = 0;

	while (bytes--)
		value = value << 8 | at[bytes];
	return value;
}

/* A string of a record by its number, from 1; "" for none or one that has no end. */
static const char *string_of(const uint8_t *record, size_t size, uint8_t index)
{
	size_t at = record[AT_LENGTH];

	for (; index && at < size; index--) {
		const uint8_t *end = memchr(record + at, 0, size - at);

		if (!end || end == record + at)
			return "";
		if (index == 1)
			return (const char *)record + at;
		at = end - record + 1;
	}
	return "";
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

static bool is_main_memory(const uint8_t *record, size_t length)
{
	uint8_t kind = record[AT_KIND];
	uint8_t technology = length > AT_TECHNOLOGY ? record[AT_TECHNOLOGY] : 0;

	return !(kind >= KIND_ROM && kind <= KIND_FLASH) && kind != KIND_LOGICAL &&
	       !(technology >= TECHNOLOGY_NVDIMM_F && technology <= TECHNOLOGY_OPTANE);
}

/* The speed that it runs at, which may be less than what it could do. */
static uint32_t speed_of(const uint8_t *record, size_t length)
{
	uint32_t mts = length >= AT_SPEED + 2 ? number(record + AT_SPEED, 2) : 0;

	if (mts == UNKNOWN_16)
		mts = length >= AT_SPEED_32 + 4 ? number(record + AT_SPEED_32, 4) : 0;
	return mts;
}

/* One record: a device that counts, one that does not, or nonsense. */
static int take_record(const uint8_t *record, size_t size, struct devices *all, struct diag *d)
{
	size_t length = size > AT_LENGTH ? record[AT_LENGTH] : 0;
	struct device one = { 0 };

	if (length < LEAST_LENGTH || length > size)
		return nonsense(d, "a record is short", (uint32_t)length);
	/* an empty slot */
	if (!number(record + AT_SIZE, 2) || !is_main_memory(record, length))
		return 0;
	one.bits = number(record + AT_BITS, 2);
	one.mts = speed_of(record, length);
	if (!one.bits || one.bits == UNKNOWN_16)
		return not_told(d, "the width of a device");
	if (!one.mts)
		return not_told(d, "the speed of a device");
	if (one.bits > MOST_BITS)
		return nonsense(d, "the width of a device in bits", one.bits);
	if (one.mts > MOST_MTS)
		return nonsense(d, "the speed of a device in MT/s", one.mts);
	if (all->nr >= SMBIOS_MAX_DEVICES)
		return nonsense(d, "too many devices", SMBIOS_MAX_DEVICES);
	locator_read(string_of(record, size, record[AT_LOCATOR]),
		     string_of(record, size, record[AT_BANK]), &one.place);
	if (array_room(all->items, all->cap, all->nr))
		return diag_no_memory(d);
	all->items[all->nr++] = one;
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

/* All of a file of at most @max bytes, which must be freed. */
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

static int read_entries(const struct sysfs *fs, const struct text_list *names, struct devices *all,
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
		err = err ? no_table(err, d) : take_record(record, size, all, d);
	}
	return err;
}

/* Where the strings of a record end: two zeros, also when there are none. 0: nowhere. */
static size_t record_size(const uint8_t *record, size_t left)
{
	for (size_t at = record[AT_LENGTH]; at + 1 < left; at++)
		if (!record[at] && !record[at + 1])
			return at + 2;
	return 0;
}

/* The same records one after the other, for kernels without the module dmi-sysfs. */
static int read_table(const struct sysfs *fs, struct devices *all, struct diag *d)
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
			err = take_record(table + at, next, all, d);
		at += next;
	}
	return err;
}

static int read_devices(const struct sysfs *fs, struct devices *all, struct diag *d)
{
	cleanup_texts struct text_list names = { 0 };
	int err = sysfs_list(fs, &names, ENTRIES);

	if (err == -ENOMEM)
		return diag_no_memory(d);
	if (err)
		return read_table(fs, all, d);
	return read_entries(fs, &names, all, d);
}

/* Is another device in front of this one on the same channel? */
static bool shares_channel(const struct devices *all, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(all->items[k].place.channel, all->items[i].place.channel))
			return true;
	return false;
}

static int add_to_socket(struct smbios_memory *m, uint32_t socket, uint64_t bytes_per_s)
{
	uint32_t at = 0, last = m->nr_sockets;

	while (at < m->nr_sockets && m->sockets[at].number < socket)
		at++;
	if (at == m->nr_sockets || m->sockets[at].number != socket) {
		if (last == SMBIOS_MAX_SOCKETS)
			return -E2BIG;
		for (; last > at; last--)
			m->sockets[last] = m->sockets[last - 1];
		m->sockets[at].number = socket;
		m->sockets[at].bytes_per_s = 0;
		m->nr_sockets++;
	}
	m->sockets[at].bytes_per_s += bytes_per_s;
	return 0;
}

/* Devices of one channel take turns on its wires: only one of them counts. */
static void add_up(const struct devices *all, struct smbios_memory *m)
{
	m->channels_told = m->sockets_told = true;
	m->least_bits = m->least_mts = UINT32_MAX;
	for (size_t i = 0; i < all->nr; i++) {
		m->channels_told &= all->items[i].place.channel[0] != '\0';
		m->sockets_told &= all->items[i].place.socket >= 0;
	}
	for (size_t i = 0; i < all->nr; i++) {
		const struct device *one = &all->items[i];
		uint64_t rate = (uint64_t)one->bits * one->mts * 1000000 / 8;

		m->devices++;
		m->least_mts = one->mts < m->least_mts ? one->mts : m->least_mts;
		m->most_mts = one->mts > m->most_mts ? one->mts : m->most_mts;
		m->least_bits = one->bits < m->least_bits ? one->bits : m->least_bits;
		m->most_bits = one->bits > m->most_bits ? one->bits : m->most_bits;
		if (m->channels_told && shares_channel(all, i))
			continue;
		m->channels++;
		m->bytes_per_s += rate;
		if (m->sockets_told && add_to_socket(m, (uint32_t)one->place.socket, rate))
			m->sockets_told = false;
	}
}

int smbios_memory(const struct sysfs *fs, struct diag *d, struct smbios_memory *ret)
{
	struct smbios_memory m = { 0 };
	struct devices all = { 0 };
	int err = read_devices(fs, &all, d);

	if (!err && !all.nr)
		err = not_told(d, "any memory");
	if (!err) {
		add_up(&all, &m);
		*ret = m;
	}
	free(all.items);
	return err;
}

/* "16 devices on 8 channels, 64 bit at 4800 MT/s" */
static void describe(const struct smbios_memory *m, char ret[PEAK_NOTE_LEN])
{
	ret[0] = '\0';
	str_append(ret, PEAK_NOTE_LEN, "%u memory device%s", m->devices,
		   m->devices == 1 ? "" : "s");
	if (m->channels_told)
		str_append(ret, PEAK_NOTE_LEN, " on %u channel%s", m->channels,
			   m->channels == 1 ? "" : "s");
	str_append(ret, PEAK_NOTE_LEN, ", %u", m->least_bits);
	if (m->most_bits != m->least_bits)
		str_append(ret, PEAK_NOTE_LEN, " to %u", m->most_bits);
	str_append(ret, PEAK_NOTE_LEN, " bit at %u", m->least_mts);
	if (m->most_mts != m->least_mts)
		str_append(ret, PEAK_NOTE_LEN, " to %u", m->most_mts);
	str_append(ret, PEAK_NOTE_LEN, " MT/s");
	if (!m->channels_told)
		str_append(ret, PEAK_NOTE_LEN, ", each taken for a channel of its own");
}

int smbios_peaks(const struct sysfs *fs, const uint32_t *sockets, uint32_t nr, struct diag *d,
		 struct peaks *ret)
{
	struct smbios_memory m;
	int err = nr ? smbios_memory(fs, d, &m) : not_told(d, "how many sockets there are");
	bool apart;

	if (err)
		return err;
	apart = m.sockets_told && m.nr_sockets == nr;
	if (m.bytes_per_s > PEAK_MOST)
		return nonsense(d, "the sum of all devices", m.devices);
	describe(&m, ret->note);
	if (nr > 1)
		str_append(ret->note, sizeof(ret->note), "; %s",
			   apart ? "the locators tell the sockets"
				 : "the locators do not tell the sockets: divided evenly");
	for (uint32_t i = 0; i < nr && ret->nr < PEAK_MAX; i++) {
		struct peak one = { .of = PEAK_CMEM, .from = PEAK_FIRMWARE, .socket = sockets[i] };

		/* sockets are numbered upwards on both sides */
		uint32_t rank = 0;

		for (uint32_t k = 0; k < nr; k++)
			rank += sockets[k] < sockets[i];
		one.bytes_per_s = apart ? m.sockets[rank].bytes_per_s : m.bytes_per_s / nr;
		ret->items[ret->nr++] = one;
	}
	return 0;
}

int smbios_sentence(const struct sysfs *fs, struct diag *d, char *ret, size_t size)
{
	struct peaks peaks = { 0 };
	struct cpu_map cpus = { 0 };
	bool same = true;
	int err = cpu_map_read(fs, NULL, 0, d, &cpus);

	ret[0] = '\0';
	if (!err)
		err = smbios_peaks(fs, cpus.socket_ids, cpus.nr_sockets, d, &peaks);
	cpu_map_free(&cpus);
	for (uint32_t i = 0; i < peaks.nr; i++)
		same &= peaks.items[i].bytes_per_s == peaks.items[0].bytes_per_s;
	for (uint32_t i = 0; !err && i < peaks.nr && !(same && i); i++)
		str_append(ret, size, "%s%.1f GB/s", i ? " and " : "",
			   (double)peaks.items[i].bytes_per_s / 1e9);
	if (!err)
		str_append(ret, size, "%s, from the firmware's memory table: %s",
			   same && peaks.nr > 1 ? " a socket" : "", peaks.note);
	return err;
}
