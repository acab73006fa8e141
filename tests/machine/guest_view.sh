#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Part of guest.sh: "t410trace top" in a terminal, while it measures. What it wrote is kept, with
# marks of how far it was written when the picture stood still.

# press KEY: what is written from here on is its picture
press() {
	pressed=$(wc -c < screen)
	# shellcheck disable=SC2059  # with its escapes
	printf "$1" >&3
}

# shows TEXT: has it been written since the last key?
shows() { tail -c "+$((pressed + 1))" screen | grep -qF -- "$1"; }

stands_still() {
	was=$written
	usleep 200000
	written=$(wc -c < screen)
	[ "$written" = "$was" ]
}

# shot NAME TEXT: the picture with this new text in it
shot() {
	until_true shows "$2"
	written=
	until_true stands_still
	echo "$written" > "$1.at"
}

# Events of perf and things of BPF that any process has open
count_open() {
	# shellcheck disable=SC2010,SC2012  # what the links lead to
	ls -l /proc/[0-9]*/fd 2> /dev/null | grep -cE 'anon_inode:\[?(perf_event|bpf)'
}

leftovers() {
	count_programs > "programs.$1"
	count_open > "open.$1"
	ls -A /sys/fs/bpf > "pins.$1"
}

# Two programs, each alone on a socket. The recording that is begun by a key has all that they do.
scenario_view() {
	until_true programs_gone
	leftovers before
	mkfifo keys
	TERM=xterm TERMINFO=/host/terminfo terminal screen "$T410TRACE" top -i 1s -o run.rec \
		< keys > ended 2> terminal.err &
	viewer=$!
	exec 3> keys
	until_true test -e screen
	pressed=0
	until_true shows LIVE
	leftovers during
	press r
	until_true recorded_since 0
	press t
	traffic --name big --report truth --slot 0 --rate 1000000 --cpu 1 --seconds 300 &
	big=$!
	traffic --name small --report truth --slot 3 --rate 300000 --cpu 3 --seconds 300 &
	small=$!
	until_true has_worked 300 $big
	until_true has_worked 300 $small
	press p
	shot rows PAUSED
	press '\r'
	shot one 'SHARES OF COUNTERS'
	press '\033'
	until_true shows PROCESS
	press 4
	shot counters ATTRIBUTED
	kill $big $small
	until_true has_lines truth 2
	until_true recorded_since "$(uptime_ns)"
	press q
	wait $viewer
	exec 3>&-
	until_true programs_gone
	leftovers after
	"$T410TRACE" report run.rec -a --json > all.json 2> report.err
	rm -f run.rec keys starts
}

left_page() { [ "$(count_open)" = "$(cat open.rows)" ]; }

# Metrics are counted while their page is open; then rows become those of cgroups.
scenario_view_metrics() {
	until_true programs_gone
	mkfifo keys
	TERM=xterm TERMINFO=/host/terminfo terminal screen "$T410TRACE" top -i 1s --read-budget 50 \
		< keys > ended 2> terminal.err &
	viewer=$!
	exec 3> keys
	until_true test -e screen
	pressed=0
	until_true shows LIVE
	count_open > open.rows
	traffic --name big --report truth --slot 0 --rate 1000000 --cpu 1 --seconds 300 &
	big=$!
	until_true has_worked 300 $big
	press 6
	until_true shows 'uncore PMU'
	count_open > open.metrics
	shot metrics 'uncore PMU'
	press 1
	until_true left_page
	count_open > open.left
	press b
	shot cgroups CGROUP
	kill $big
	until_true has_lines truth 1
	press q
	wait $viewer
	exec 3>&-
	until_true programs_gone
	count_open > open.after
	rm -f keys
}
