// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sources/esp/registers.h"

#include <stdatomic.h>

static void barrier(void)
{
#ifdef __riscv
	__asm__ __volatile__("fence iorw, iorw" ::: "memory");
#else
	atomic_thread_fence(memory_order_seq_cst);
#endif
}

uint32_t esp_register_get(const volatile uint32_t *at)
{
	barrier();
	return *at;
}

void esp_register_put(volatile uint32_t *at, uint32_t value)
{
	barrier();
	*at = value;
	barrier();
}
