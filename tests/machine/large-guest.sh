#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# guest.sh GROUPS LOOPS: guest side of large.sh: t410trace on many CPUs, idle and with many switches,
# which so many groups of 40 processes make that send each other so many messages. Nothing is judged
# here: judge_large.py does that on the host.
set -u

OUT=/host/out
T410TRACE=/tmp/t410trace
INTERVALS=4	# that are looked at
BUSY=2		# the same, while all CPUs have work: a second of theirs takes the host ten and more
GROUPS_OF_40=$1
LOOPS=$2
TRIES=3000	# of a tenth of a second

# until_true COMMAND...: waits for it
until_true() {
	tries=$TRIES
	while ! "$@" && [ $tries -gt 0 ]; do
		usleep 100000
		tries=$((tries - 1))
	done
}
has_lines() { [ -e "$1" ] && [ "$(wc -l < "$1")" -ge "$2" ]; }

# counted NAME: what the kernel has counted so far
counted() {
	for row in 'Function call' Rescheduling arch_timer; do
		grep -F "$row" /proc/interrupts | sed "s/^/$1 /"
	done >> $OUT/counted
	awk -v name="$1" '/^ctxt/ { print name, "switches:", $2 }' /proc/stat >> $OUT/counted
}

# needs NAME PID: memory, open files and the kernel's memory for maps of a process
needs() {
	awk '/^VmHWM|^VmRSS|^RssAnon/ { print }' "/proc/$2/status" > "$OUT/$1.needs"
	find "/proc/$2/fd" -type l | wc -l | sed 's/^/files /' >> "$OUT/$1.needs"
	cat "/proc/$2/fdinfo/"* 2> /dev/null | awk '
		/^map_type/ { map = 1; nr++ }
		/^prog_type/ { map = 0 }
		/^memlock/ && map { sum += $2 }
		END { print "maps", nr + 0; print "map_bytes", sum + 0 }
	' >> "$OUT/$1.needs"
}

# traced NAME INTERVALS: a run of all workloads, counted over so many intervals in its middle
traced() {
	"$T410TRACE" -a -i 1s --json -o "/tmp/$1.json" 2> "$OUT/$1.err" &
	tracer=$!
	until_true has_lines "/tmp/$1.json" 1
	# a program on the first CPU, and one on the last, of the other socket
	for end in 0:0 2:$LAST; do
		traffic --name "end-${end#*:}" --report "$OUT/$1.truth" --slot "${end%:*}" \
			--cpu "${end#*:}" --rate 1000000 --seconds $(($2 - 1)) &
	done
	counted "$1"
	until_true has_lines "/tmp/$1.json" $(($2 + 1))
	counted "$1"
	needs "$1" $tracer
	kill -INT $tracer
	wait $tracer
	echo $? > "$OUT/$1.status"
	cp "/tmp/$1.json" $OUT/
}

# recorded NAME: for so many seconds, and reported
recorded() {
	"$T410TRACE" record -a -d ${BUSY}s -o /tmp/run.rec 2> "$OUT/$1.err"
	echo $? > "$OUT/$1.status"
	"$T410TRACE" report /tmp/run.rec -a --json > "$OUT/$1-report.json" 2> "$OUT/$1-report.err"
	echo $? > "$OUT/$1-report.status"
}

is_ready() { grep -qs "is ready" $OUT/serve.err; }

served() {
	printf 'interval = 1s\nlisten =\nstate = /tmp/accounts.db\nspool = /tmp/spool\n' > /tmp/conf
	"$T410TRACE" serve --config /tmp/conf 2> $OUT/serve.err &
	daemon=$!
	until_true is_ready
	sleep 1
	counted serve
	sleep $INTERVALS
	counted serve
	needs serve $daemon
	kill -TERM $daemon
	wait $daemon
	echo $? > $OUT/serve.status
}

# switching: many processes that wake each other up, until stop_switching
switching() {
	while [ -e /tmp/switching ]; do
		perf bench sched messaging -g "$GROUPS_OF_40" -l "$LOOPS" > /dev/null
	done
}

mkdir -p $OUT
cp /host/t410trace $T410TRACE
LAST=$(($(nproc) - 1))
nproc > $OUT/cpus
sleep 2
counted nothing
sleep $INTERVALS
counted nothing
traced idle $INTERVALS
served
recorded record-idle
: > /tmp/switching
switching &
sleep 1
counted switching
sleep $BUSY
counted switching
traced busy $BUSY
recorded record
rm /tmp/switching
wait
exit 0
