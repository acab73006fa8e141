// SPDX-License-Identifier: GPL-2.0-only
/*
 * esp_sets COMMAND...: a program with ESP's own vocabulary (include/esp/monitors.h). It reads each
 * of the nine sets of counters by itself, runs the command, reads them again, and prints what each
 * set has counted.
 */
#include <stdbool.h>
#include <sys/wait.h>

#include "esp/monitors.h"

/* What a set is read of: esp/traffic.conf has traffic there */
static const struct {
	uint8_t tile;
	uint8_t acc;
	uint8_t plane;
} places[ESP_MON_NR_SETS_] = {
	[ESP_MON_READ_ACC_STATS] = { .acc = 0 },
	[ESP_MON_READ_DVFS_OP] = { .tile = 2 },
	[ESP_MON_READ_NOC_INJECTS] = { .tile = 6 },
	[ESP_MON_READ_NOC_QUEUE_FULL_TILE] = { .tile = 7 },
	[ESP_MON_READ_NOC_QUEUE_FULL_PLANE] = { .plane = 4 },
};

static esp_monitor_args_t args_of(int set)
{
	return (esp_monitor_args_t){ .read_mode = ESP_MON_READ_MANY,
				     .read_mask = (uint16_t)(1 << set),
				     .tile_index = places[set].tile,
				     .acc_index = places[set].acc,
				     .noc_index = places[set].plane };
}

static bool read_sets(esp_monitor_vals_t *ret)
{
	for (int set = 0; set < ESP_MON_NR_SETS_; set++)
		if (esp_monitor(args_of(set), &ret[set])) {
			perror("esp_sets: registers");
			return false;
		}
	return true;
}

static bool run(char **command)
{
	pid_t pid = fork();
	int status = 0;

	if (!pid) {
		execvp(command[0], command);
		_exit(127);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

int main(int argc, char **argv)
{
	static esp_monitor_vals_t before[ESP_MON_NR_SETS_], after[ESP_MON_NR_SETS_];

	if (argc < 2) {
		fprintf(stderr, "usage: esp_sets COMMAND...\n");
		return 2;
	}
	if (!read_sets(before) || !run(argv + 1) || !read_sets(after))
		return 1;
	for (int set = 0; set < ESP_MON_NR_SETS_; set++) {
		printf("set %d\n", set);
		esp_monitor_print(args_of(set), esp_monitor_diff(before[set], after[set]), stdout);
	}
	esp_monitor_free();
	return 0;
}
