/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where a memory device is, by the names that firmware gives its slot. Nobody has agreed on them. */
#ifndef PLATFORM_LOCATOR_H
#define PLATFORM_LOCATOR_H

#include <stdint.h>

#define LOCATOR_LEN 160

/**
 * struct locator - what the names tell
 * @socket: number of the processor, -1 = not told
 * @channel: names the channel, alike for all devices of it; "" = not told
 */
struct locator {
	int32_t socket;
	char channel[LOCATOR_LEN];
};

/**
 * locator_read() - read the two names of a slot
 * @device: of the device, "CPU0_DIMM_A1", "P0_Node0_Channel2_Dimm1", "DIMM A2"
 * @bank: of its bank, "P0 CHANNEL A", "BANK 0", "NODE 1"
 * @ret: what they tell
 */
void locator_read(const char *device, const char *bank, struct locator *ret);

#endif
