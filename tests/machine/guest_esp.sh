#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Part of guest.sh: the monitors of an ESP. Their registers are the machine's (plugin/esp.c), the
# description is esp/esp_config. This machine is started by ACPI and has no device tree, so the
# program would not touch its memory: the description has another name for the same device. The node
# of accelerator 0 is a device that nobody else has open.

ESP_CONFIG=/tmp/esp_config
ESP_BASE=0x0e820000
WINDOW=/dev/esp
NODE=/dev/full

# description FILE [BASE]: of the bitstream, with its registers in this window
description() {
	[ -e $WINDOW ] || mknod $WINDOW c 1 1
	cat "$1"
	printf 'T410TRACE_WINDOW = %s\nT410TRACE_BASE = %s\n' $WINDOW "${2:-$ESP_BASE}"
}

# The monitors alone: the machine's other counters are not asked
esp_trace() {
	esp_name=$1
	shift
	description /host/esp/esp_config > $ESP_CONFIG
	trace "$esp_name" -a --no-counters --esp $ESP_CONFIG "$@"
}

# esp_said NAME CONFIG: a short run with this description
esp_said() { said "$1" "$T410TRACE" stat --esp "$2" -d 0.5; }

# controls: the control words of all tiles
controls() { for tile in 0 1 2 3 4 5 6 7; do word $tile 0; done; }

# word TILE WORD: what a register says
word() { devmem $((ESP_BASE + $1 * 512 + $2 * 4)) 32; }

# using NAME ARG...: a program that has the accelerator's node open while it moves data. It alone: a
# shell that had it, too, would be in another cgroup
using() {
	using_name=$1
	shift
	(
		exec 7<> $NODE
		exec traffic --name "$using_name" --report truth --slot 2,3 --cpu 1 "$@"
	)
}

# Every counter goes around meanwhile; two of a tile are the same at any moment
scenario_esp_counters() {
	description /host/esp/esp_config > $ESP_CONFIG
	"$T410TRACE" stat --esp $ESP_CONFIG --json -v -i 500ms -o stat.json 2> stat.err &
	tracer=$!
	until_true has_lines stat.json 1
	load all --slot 4 --per-iter 5000001 --cpu 1 --seconds 3
	kill -TERM $tracer
	wait $tracer
	echo $? > stat.status
	echo "$(word 5 14) $(word 5 59)" > unfrozen
}

# The same by ESP's own vocabulary: each of the nine sets by itself. It reads twice, so a counter may
# go around once: 1.25e9 accesses by this rate, whatever the host can do
scenario_esp_sets() {
	said sets esp_sets traffic --name all --report truth --slot 4 --rate 5000001 --cpu 1 --seconds 2
	controls > released
}

# Two who share a CPU, two on a CPU each, then one process that uses the accelerator, then another
scenario_esp_rows() {
	# intervals so long that looking for open files is worth it at their ends
	esp_trace all -i 2s
	load light --slot 0 --rate 400000 --cpu 1 --duty 20-60/20-60 --seconds 5 --cgroup esp/light &
	light=$!
	load heavy --slot 0,1 --rate 1600000 --cpu 1 --duty 20-60/20-60 --seed 7 --seconds 5 --cgroup esp/heavy
	wait $light
	# one on each CPU, all the time: nothing but misses of their L2 tells them apart
	load left --slot 5 --rate 200000 --cpu 0 --seconds 4 &
	left=$!
	load right --slot 0 --rate 1600000 --cpu 1 --seconds 4
	wait $left
	# who has a node open is looked for every 3 s, and two looks must agree
	using first --rate 800000 --seconds 12 --cgroup esp/first
	using second --rate 200000 --seconds 12 --cgroup esp/second
	trace_end TERM
}

# stopped_in_between: stops the reader; does a tile that it reads stay frozen then?
stopped_in_between() {
	kill -STOP "$tracer"
	for tile in 0 3 4 5; do [ "$(word $tile 0)" = 0x00000000 ] || return 0; done
	kill -CONT "$tracer"
	return 1
}

# Descriptions that do not fit; then a reader that is killed while it has a tile frozen
scenario_esp_refusals() {
	esp_said other /host/esp/esp_config
	description /host/esp/esp_config > $ESP_CONFIG
	{
		sed 's/^CONFIG_NOC_ROWS = .*/CONFIG_NOC_ROWS = 3/' $ESP_CONFIG
		for col in 0 1 2 3; do echo "TILE_2_$col = $((8 + col)) empty empty"; done
	} > /tmp/larger
	esp_said larger /tmp/larger
	dd if=/dev/zero of=/tmp/registers bs=4095 count=1 2> /dev/null
	{
		cat /host/esp/esp_config
		printf 'T410TRACE_WINDOW = /tmp/registers\nT410TRACE_BASE = 0\n'
	} > /tmp/short
	esp_said short /tmp/short
	description /host/esp/one_tile $((ESP_BASE + 15 * 512)) > /tmp/stuck
	esp_said stuck /tmp/stuck
	controls > untouched
	# stopped again and again, until it has a tile frozen
	esp_trace killed --window 1ms -i 100
	until_true stopped_in_between
	kill -KILL "$tracer"
	trace_ended
	controls > left
	# its last line may have no end
	rm -f killed.json
	esp_said again $ESP_CONFIG
	controls > released
}
