/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's .scale and .unit files whose units are bytes. */
#ifndef TABLES_SCALE_H
#define TABLES_SCALE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * scale_exact() - bytes per count of a scale and a unit, possibly fractional
 *
 * Return: the bytes, 0 when the unit is not bytes.
 */
double scale_exact(const char *scale, const char *unit);

/** scale_nanojoules() - the same for energy: nanojoules per count, 0 when @unit is not energy */
double scale_nanojoules(const char *scale, const char *unit);

/** scale_same() - are two scales equal to the files' precision? */
bool scale_same(double a, double b);

/**
 * scale_bytes() - bytes per count of a scale and a unit
 * @scale: "6.103515625e-05"
 * @unit: "MiB"
 *
 * Return: the bytes, 0 when they are no whole number or @unit is not one of bytes.
 */
uint32_t scale_bytes(const char *scale, const char *unit);

#endif
