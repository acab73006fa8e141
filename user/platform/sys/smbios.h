/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the firmware's tables (SMBIOS) say of memory: one record of type 17 for each device. */
#ifndef PLATFORM_SMBIOS_H
#define PLATFORM_SMBIOS_H

#include <stdbool.h>
#include <stdint.h>

#include "peak.h"
#include "platform/sys/sysfs.h"

#define SMBIOS_MAX_DEVICES 4096
#define SMBIOS_MAX_SOCKETS 64

/**
 * struct smbios_memory - the memory of a machine
 * @devices: memory devices that are there and in use
 * @channels: channels that they are on
 * @channels_told: locators tell the channel; otherwise each device is taken for one
 * @least_mts, @most_mts: configured speed of the devices, in 10^6 transfers a second
 * @least_bits, @most_bits: width of their data
 * @bytes_per_s: all of it
 * @sockets_told: the locator of each device tells its socket
 * @sockets, @nr_sockets: then, with the numbers that locators use, in their order
 */
struct smbios_memory {
	uint32_t devices;
	uint32_t channels;
	bool channels_told;
	uint32_t least_mts;
	uint32_t most_mts;
	uint32_t least_bits;
	uint32_t most_bits;
	uint64_t bytes_per_s;
	bool sockets_told;
	struct {
		uint32_t number;
		uint64_t bytes_per_s;
	} sockets[SMBIOS_MAX_SOCKETS];
	uint32_t nr_sockets;
};

/**
 * smbios_memory() - read the table
 * @fs: sysfs, with firmware/dmi/entries/17-N/raw, or else firmware/dmi/tables/DMI
 * @d: says why there is no answer, with a remedy
 * @ret: the memory; all of it is known then
 *
 * Firmware is not trusted: a record that is short, or says nothing or nonsense about a device that
 * is there, makes the whole table useless, because a part of the sum would pass for the sum.
 *
 * Return: 0, -ENOMEM; -ENOENT, -EACCES or another error of reading; -EBADMSG for records that make
 * no sense; -ENODATA for a table that does not tell the speed or has no memory.
 */
int smbios_memory(const struct sysfs *fs, struct diag *d, struct smbios_memory *ret);

/**
 * smbios_peaks() - the memory table as peaks of the machine's sockets
 * @fs, @d: see smbios_memory()
 * @sockets, @nr: numbers of the sockets
 * @ret: gets a peak for each socket, and the note; other peaks of it stay
 *
 * Locators number sockets as they like: the lowest number is the first socket's. If locators tell
 * no sockets, or not so many, each socket gets the same part, and the note says so.
 *
 * Return: as smbios_memory().
 */
int smbios_peaks(const struct sysfs *fs, const uint32_t *sockets, uint32_t nr, struct diag *d,
		 struct peaks *ret);

/**
 * smbios_sentence() - the peak of the machine's memory in words, and how it is known
 * @fs, @d: see smbios_memory()
 * @ret: "307.2 GB/s a socket, from the firmware's memory table: ..."
 * @size: room in it
 *
 * Return: as smbios_memory(), or why the sockets are not known.
 */
int smbios_sentence(const struct sysfs *fs, struct diag *d, char *ret, size_t size);

#endif
