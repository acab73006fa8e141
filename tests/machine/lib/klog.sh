# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# klog.sh: does the kernel complain?
#
# Complaints are: the kernel's own alarms, wherever they appear; every line of
# priority "error" or worse; of our drivers also warnings; and floods. What every
# boot of this machine says is listed in known-log.

readonly ALARMS='WARNING: |BUG: |Oops|Unable to handle kernel|Kernel panic|soft lockup|detected stall|blocked for more than'
readonly DRIVER_NAMES='arm[-_]cs|cspmu|ampere_mcu|hisi_|HISI0|arm[-_]cmn|ARMHC|dwc[-_]pcie|nvidia|NVDA20|cmem|c2c|nvclink|nvdlink|apmt|APMT'
readonly DRIVER_TROUBLE='[Ff]ail|[Ee]rror|[Ii]nvalid|only one BDF|mutually exclusive|suppressed|overflow|[Uu]nable|[Cc]annot'
# Lines of one text (numbers aside) in one run that make a flood, beside one for each CPU
readonly FLOOD=100
# die, warning and soft lockup: bits that stay when the log no longer has the line
readonly TAINT_ALARMS=$((1 << 7 | 1 << 9 | 1 << 14))

# complaints KERNEL_LOG CONSOLE: lines "TIME TEXT" of the log and lines of the console
complaints() {
	{
		# "<priority>[time] text"; the priority is that modulo 8
		[ ! -r "$1" ] || awk -v alarms="$ALARMS" -v names="$DRIVER_NAMES" -v trouble="$DRIVER_TROUBLE" -v flood=$((FLOOD + CPUS * SOCKETS)) '
			match($0, /^<[0-9]+>/) {
				priority = substr($0, 2, RLENGTH - 2) % 8
				text = substr($0, RLENGTH + 1)
				same = text
				sub(/^\[[ 0-9.]+\] */, "", same)
				gsub(/[0-9]+/, "N", same)
				if (++seen[same] == flood)
					print "flood: " text
				if (priority <= 3 || text ~ alarms || (text ~ names && (priority <= 4 || text ~ trouble)))
					print text
			}' "$1"
		# a machine that died has no log file; then the console has the alarm
		[ ! -r "$2" ] || tr -d '\r' < "$2" | grep -aE "$ALARMS"
	} | grep -avEf <(grep -v '^#' "$MACHINE_SRC/lib/known-log")
}

# without PATTERN...: those lines of the input that match none of them
without() {
	local arguments=() pattern
	for pattern in "$@"; do arguments+=(-e "$pattern"); done
	[ $# -gt 0 ] || { cat; return 0; }
	grep -avE "${arguments[@]}"
}

# judge_log RUN: fails, and says why, if there are complaints that the options do not
# expect, or expected ones are missing
judge_log() {
	local run=$1 found rest pattern taint status=0
	found=$(complaints "$run/guest/kernel.log" "$run/console.log") || true
	rest=$(without "${EXPECTED_LOG[@]}" "${ALLOWED_LOG[@]}" <<< "$found" | sort -u) || true
	if [ -n "$rest" ]; then
		say "the kernel complains ($(wc -l <<< "$rest") lines, see $run/guest/kernel.log):"
		head -n 10 <<< "$rest" >&2
		status=1
	fi
	for pattern in "${EXPECTED_LOG[@]}"; do
		grep -qaE -- "$pattern" <<< "$found" && continue
		say "the kernel log should have \"$pattern\" and has not, see $run/guest/kernel.log"
		status=1
	done
	taint=$(cat "$run/guest/tainted" 2> /dev/null || echo 0)
	if [ -z "$found" ] && [ $((taint & TAINT_ALARMS)) != 0 ]; then
		say "the kernel is tainted ($taint) though its log, $run/guest/kernel.log, has no alarm"
		status=1
	fi
	return $status
}
