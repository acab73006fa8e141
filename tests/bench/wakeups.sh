#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# wakeups.sh T410TRACE [ROUNDS [SECONDS]]: interrupts of each CPU, and how often it fell asleep, per
# second: without t410trace, with --tick=off and with --tick=auto, in turns.
#
# For a machine that is idle otherwise; it must have counters, for without them there are no windows.
# Only a shell and awk are needed, so that it runs in the virtual T410, too.
set -eu
program=$1 rounds=${2:-5} seconds=${3:-4}

tmp=$(mktemp -d)
tracer=
trap '[ -z "$tracer" ] || kill "$tracer"; rm -r "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Lines "KIND CPU NUMBER"
now() {
	# The names of x86, and of arm64
	awk 'NR == 1 { n = NF; for (i = 1; i <= n; i++) cpu[i] = substr($i, 4); next }
		{ kind = /arch_timer|^ *LOC:/ ? "timers" : /^ *(IPI0|RES):/ ? "reschedule" : \
			/^ *(IPI1|CAL):/ ? "calls" : /^ *(IPI[56]|IWI):/ ? "irq_work" : "others" }
		{ for (i = 1; i <= n && $(i + 1) ~ /^[0-9]+$/; i++) sum[kind " " cpu[i]] += $(i + 1) }
		END { for (c in sum) print c, sum[c] }' /proc/interrupts
	for file in /sys/devices/system/cpu/cpu[0-9]*/cpuidle/state*/usage; do
		[ -r "$file" ] || continue
		cpu=${file#*/cpu/cpu}
		echo "sleeps ${cpu%%/*} $(cat "$file")"
	done
}

# counted WHAT: in the seconds to come
counted() {
	sleep 1
	now > "$tmp/before"
	begin=$(cut -d ' ' -f 1 /proc/uptime)
	sleep "$seconds"
	now > "$tmp/after"
	end=$(cut -d ' ' -f 1 /proc/uptime)
	awk -v what="$1" -v took="$begin $end" 'BEGIN { split(took, t, " ") }
		NR == FNR { before[$1 " " $2] += $3; next }
		{ after[$1 " " $2] += $3 }
		END { for (k in after) print what, k, (after[k] - before[k]) / (t[2] - t[1]) }' \
		"$tmp/before" "$tmp/after" >> "$tmp/all"
}

round=0
while [ $round -lt "$rounds" ]; do
	counted without
	for mode in off auto; do
		rm -f "$tmp/reports"
		"$program" -a --json -i 1000 --tick=$mode -o "$tmp/reports" &
		tracer=$!
		# To begin costs interrupts, too
		until [ -s "$tmp/reports" ]; do sleep 0.2; done
		counted --tick=$mode
		kill -TERM $tracer
		wait $tracer || true
		tracer=
	done
	round=$((round + 1))
done
# The median of the rounds, and the least and the most
sort -k2,2 -k3,3n -k1,1r -k4,4n "$tmp/all" | awk '
	function say() { if (n) printf "%-12s %-11s CPU %-4s %8.1f  %.1f..%.1f\n", w, kind, cpu,
		n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2, v[1], v[n] }
	{ if ($1 " " $2 " " $3 != key) { say(); n = 0; key = $1 " " $2 " " $3 }
	  w = $1; kind = $2; cpu = $3; v[++n] = $4 }
	END { say() }'
