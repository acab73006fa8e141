#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Part of guest.sh: waiting for what has to come.

# Seconds that anything is waited for: far more than it takes, also on a busy host
PATIENCE=${PATIENCE:-300}

# seconds_up: whole ones since the start, in $up
seconds_up() {
	read -r up _ < /proc/uptime
	up=${up%.*}
}

# look_every MICROSECONDS COMMAND...: waits until it is true. What did not come is said in a file: the
# judge does not let that pass.
look_every() {
	pause=$1
	shift
	seconds_up
	deadline=$((up + PATIENCE))
	until "$@"; do
		seconds_up
		if [ "$up" -ge $deadline ]; then
			echo "$*" >> in-vain
			return
		fi
		usleep "$pause"
	done
}

# until_true COMMAND...: waits for it
until_true() { look_every 100000 "$@"; }
