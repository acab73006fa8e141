/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The firmware's tables (SMBIOS) on memory: one record of type 17 for each device. */
#ifndef PLATFORM_SYS_SMBIOS_H
#define PLATFORM_SYS_SMBIOS_H

#include <stdint.h>

#include "peak.h"
#include "platform/sys/sysfs.h"

#define SMBIOS_MAX_SOCKETS 64

/**
 * smbios_peaks() - the memory table as peaks of the machine's sockets
 * @fs: sysfs, with firmware/dmi/entries/17-N/raw, or else firmware/dmi/tables/DMI
 * @sockets, @nr: numbers of the sockets
 * @d: why there is no answer, with a remedy
 * @ret: gets a peak for each socket, and the note; its other peaks stay
 *
 * Only LPDDR has one: each device has its own wires. DIMMs share channels, and firmware's names of
 * slots do not tell the channel. Without a configured speed the rated one is taken, and the note
 * says so. Sockets get equal parts of identical devices.
 *
 * Firmware is not trusted: a short record, or one with missing or impossible values for a present
 * device, makes the whole table useless, because a partial sum would pass for the sum.
 *
 * Return: 0, -ENOMEM; -ENOENT, -EACCES or another error of reading; -EBADMSG for records that make
 * no sense; -ENODATA for a table that does not tell the peak.
 */
int smbios_peaks(const struct sysfs *fs, const uint32_t *sockets, uint32_t nr, struct diag *d,
		 struct peaks *ret);

/**
 * smbios_sentence() - the peak of the machine's memory in words, and how it is known
 * @fs, @d: see smbios_peaks()
 * @ret: "511.9 GB/s a socket, from the firmware's memory table: ..."
 * @size: its size
 *
 * Return: as smbios_peaks(), or why the sockets are not known.
 */
int smbios_sentence(const struct sysfs *fs, struct diag *d, char *ret, size_t size);

#endif
