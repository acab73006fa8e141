/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Registers of hardware: each access reaches the device, in the order of the program. What the CPU
 * may put off with memory, it must not here. Tests have hardware of their own behind these.
 */
#ifndef SOURCES_ESP_REGISTERS_H
#define SOURCES_ESP_REGISTERS_H

#include <stdint.h>

/** esp_register_get() - read a register, after all accesses before */
uint32_t esp_register_get(const volatile uint32_t *at);

/** esp_register_put() - write a register, before all accesses behind */
void esp_register_put(volatile uint32_t *at, uint32_t value);

#endif
