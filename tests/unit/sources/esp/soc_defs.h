/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What ESP's tools would write for the system-on-chip of test_esp_library.c */
#ifndef SOC_DEFS_H
#define SOC_DEFS_H

#define SOC_ROWS	  2
#define SOC_COLS	  2
#define SOC_NCPU	  1
#define SOC_NMEM	  1
#define ACCS_PRESENT	  1
#define SOC_NACC	  1
#define MONITOR_BASE_ADDR 0x60090000
#define MONITOR_TILE_SIZE 0x200

#endif
