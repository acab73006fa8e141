/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The CPU of each CPU tile by its number in the kernel, and the time that it has worked. */
#ifndef SOURCES_ESP_CPUS_H
#define SOURCES_ESP_CPUS_H

#include "platform/sys/sysfs.h"

#define ESP_NO_CPU UINT32_MAX

/**
 * esp_cpus_find() - the CPUs of the CPU tiles
 * @fs: sysfs
 * @nr: number of CPU tiles
 * @ret_cpus: by tile, its CPU, or ESP_NO_CPU where the kernel has none
 *
 * The number of a tile's hart is the number of the CPU tile, and the kernel numbers harts as it
 * starts them. The device tree has the hart of each CPU (of_node/reg, big-endian). Without it the
 * numbers are taken to be the same.
 *
 * Return: 0; -ENODEV when a CPU is in no tile, or two are in one; the error of reading which CPUs
 * there are.
 */
int esp_cpus_find(const struct sysfs *fs, uint32_t nr, uint32_t *ret_cpus);

/**
 * esp_cpus_busy() - how long CPUs have worked since the machine was started
 * @proc: /proc, opened
 * @cpus: CPUs, or ESP_NO_CPU
 * @nr: their number
 * @ret: by CPU, its time in ticks; 0 for none, and for one that is offline
 *
 * Return: 0 or a negative errno; @ret is all zero then.
 */
int esp_cpus_busy(int proc, const uint32_t *cpus, uint32_t nr, uint64_t *ret);

#endif
