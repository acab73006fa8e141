/* SPDX-License-Identifier: GPL-2.0-only */
/* What ESP's tools would write for the system-on-chip of esp_config, see guest/esp_sets.c */
#ifndef SOC_DEFS_H
#define SOC_DEFS_H

#define SOC_ROWS	  2
#define SOC_COLS	  4
#define SOC_NCPU	  2
#define SOC_NMEM	  1
#define ACCS_PRESENT	  1
#define SOC_NACC	  3
#define MONITOR_BASE_ADDR 0x0e820000
#define MONITOR_TILE_SIZE 0x200

#endif
