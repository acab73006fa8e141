/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* "list" and "stat" for the monitors of an ESP (--esp) instead of the machine's PMUs. */
#ifndef CLI_ESP_H
#define CLI_ESP_H

#include "cli/options.h"

/** esp_list() - show tiles and counters without reading them; 0 or a negative errno with @d */
int esp_list(const struct options *o, struct diag *d);

/** esp_stat() - count; returns the exit status */
int esp_stat(const struct options *o);

#endif
