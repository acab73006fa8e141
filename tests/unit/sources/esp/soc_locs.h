/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Included inside of functions, as ESP's tools write it. */
soc_loc_t cpu_locs[1] = { { 0, 1 } };
soc_loc_t mem_locs[1] = { { 0, 0 } };
soc_loc_t acc_locs[1] = { { 1, 0 } };
unsigned int acc_has_l2[1] = { 1 };
