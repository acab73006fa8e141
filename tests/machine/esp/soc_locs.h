/* SPDX-License-Identifier: GPL-2.0-only */
/* Included inside of functions, as ESP's tools write it. */
soc_loc_t cpu_locs[2] = { { 0, 1 }, { 0, 2 } };
soc_loc_t mem_locs[1] = { { 0, 0 } };
soc_loc_t acc_locs[3] = { { 0, 3 }, { 1, 0 }, { 1, 1 } };
unsigned int acc_has_l2[3] = { 0, 0, 0 };
