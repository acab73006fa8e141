#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Guest side of the demo: three tenants and two devices, first recorded from start to end for
# an account to the byte, then once more for what a user sees on a terminal. Leaves it
# in /host/out.
set -u
CGROUPS=/sys/fs/cgroup
# Another place for all files, for test_demo.py
ROOT=${ROOT:-}
T410TRACE=$ROOT/tmp/t410trace
SWARM_SECONDS=0.03

# failed STATUS: what t410trace said is the machine's last words, which the demo shows
failed() {
	echo "t410trace ended with status $1 and said:"
	cat said
	exit 1
}

# sound STATUS: of a t410trace that wrote its errors to "said". 3 are losses, which its report tells
sound() { case $1 in 0 | 3) ;; *) failed "$1" ;; esac }

# load CGROUP NAME ARG...: one program of a tenant
load() {
	load_cgroup=$1 load_name=$2
	shift 2
	traffic --cgroup "$load_cgroup" --name "$load_name" --report truth "$@" &
}

# Short-lived commands one after the other, on both sockets in turn
swarm() {
	mkdir -p $CGROUPS/tenants/swarm
	sh -c 'echo $$ > '$CGROUPS'/tenants/swarm/cgroup.procs
		while [ ! -e '"$PWD"'/enough ]; do
			traffic --name swarm --report truth --slot 0 --rate 1000000 --cpu 1 --seconds '$SWARM_SECONDS'
			traffic --name swarm --report truth --slot 3 --rate 2000000 --cpu 2 --seconds '$SWARM_SECONDS'
		done' &
}

# tenants SECONDS: all of them; $first is one program of the steady one
tenants() {
	rm -f enough truth
	load tenants/stream stream --slot 0 --rate 4000000 --cpu 0 --seconds "$1"
	first=$!
	load tenants/stream stream --slot 3 --rate 1500000 --cpu 3 --seconds "$1"
	load tenants/burst burst --slot 1 --rate 9000000 --cpu 1 --duty 60/240 --seconds "$1"
	load tenants/burst burst --slot 2 --rate 6000000 --cpu 2 --duty 100/200 --seconds "$1"
	# The programs that drive the devices need next to no CPU time
	load drivers nvme --slot 8 --rate 20000000 --cpu 1 --duty 1/39 --seconds "$1"
	load drivers nvme --slot 9 --rate 9000000 --cpu 1 --duty 1/39 --seconds "$1"
	load drivers gpu --slot 12 --rate 30000000 --cpu 3 --duty 1/39 --seconds "$1"
	swarm
}

# Waits until all programs of the tenants have ended, not for the tracer
tenants_end() {
	wait "$first"
	touch enough
	while pidof traffic > /dev/null; do usleep 50000; done
}

# account_by METHOD: what the recording says by it. One report of all: intervals of several would
# have to be added up, and sums of intervals that cannot begin below 0 do not hold a truth of 0.
account_by() {
	"$T410TRACE" report run.rec -a --by cgroup --json -i 60000 --method "$1" > "$ROOT/host/out/$1.json" 2> said
	sound $?
}

account() {
	"$T410TRACE" record -a -o run.rec 2> said & tracer=$!
	# there is a file before anything is counted; with a whole interval in it all is
	until "$T410TRACE" report run.rec -a --json 2> /dev/null | grep -q '"interval"'; do
		if ! kill -0 $tracer 2> /dev/null; then
			wait $tracer
			failed $?
		fi
		usleep 50000
	done
	tenants 3
	tenants_end
	kill -INT $tracer
	wait $tracer
	sound $?
	cp truth "$ROOT/host/out/"
	account_by state-space
	account_by cpu-time
}

screens() {
	tenants 60
	usleep 300000
	"$T410TRACE" -a --by cgroup -i 2000 -d 2 > all.txt 2> said
	sound $?
	echo "$first" > pid
	"$T410TRACE" -p "$first" -i 1000 -d 1 > one.txt 2> said
	sound $?
	touch enough
	# shellcheck disable=SC2046  # a list
	kill $(pidof traffic)
	cp all.txt one.txt pid "$ROOT/host/out/"
}

cp "$ROOT/host/t410trace" "$T410TRACE"
mkdir -p "$ROOT/tmp/demo" "$ROOT/host/out"
cd "$ROOT/tmp/demo" || exit
account
screens
