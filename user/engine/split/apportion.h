/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ENGINE_SPLIT_APPORTION_H
#define ENGINE_SPLIT_APPORTION_H

#include <stddef.h>
#include <stdint.h>

/**
 * apportion() - split a whole number in proportion to weights, exactly
 * @total: what is split
 * @weights: any; a zero weight gets nothing
 * @nr: number of weights
 * @ret_shares: one per weight; they add up to @total
 *
 * The largest-remainder rule (Hamilton): each share is rounded down, then the
 * units left over go to the largest remainders, the first one on a tie. Shares
 * are off by less than one unit.
 *
 * Return: 0; -EINVAL when all weights are zero and @total is not (nothing is
 * written); -ERANGE when the weights' sum exceeds 64 bits; -ENOMEM.
 */
int apportion(uint64_t total, const uint64_t *weights, size_t nr, uint64_t *ret_shares);

/**
 * apportion_scale() - value * num / den, rounded to nearest, without overflow inside
 *
 * Return: the quotient, UINT64_MAX when it does not fit; @value when @den is 0.
 */
uint64_t apportion_scale(uint64_t value, uint64_t num, uint64_t den);

#endif
