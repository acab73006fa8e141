#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Guest side of the machine tests: guest.sh SCENARIO...
#
# Each scenario runs t410trace beside programs whose traffic is known, and leaves
# what both said in /host/out/SCENARIO. Nothing is judged here: judge.py does that
# on the host. Everything is written to memory first and copied afterwards, for
# writing to the host's file system would wake kernel threads on the CPUs that are
# being measured.
set -u

OUT=/tmp/out
CGROUPS=/sys/fs/cgroup
UCF=nvidia_ucf_pmu_0
T410TRACE=/tmp/t410trace
# Number of BPF programs before t410trace ran for the first time
AT_START=/tmp/programs
# Masks of their CPUs, for taskset
SOCKET0=3
SOCKET1=c
ANYWHERE=f

# --- tools

# shellcheck source=tests/machine/guest_wait.sh
. /host/guest_wait.sh

# The marker separates what the kernel says from here on from what it said at boot.
mark() { echo "t410trace test: $1" > /dev/kmsg; }

# Hundredths of a second are enough
uptime_ns() { sed -E 's/^0*([0-9]+)\.([0-9]+) .*/\1\20000000/' /proc/uptime; }

# has_worked TICKS PID: has this traffic program had so many hundredths of a second of a CPU?
has_worked() {
	ticks=$1
	# shellcheck disable=SC2046  # words of a line
	set -- $(cat "/proc/$2/stat")
	[ "$2" = "(traffic)" ] && [ "${14}" -ge "$ticks" ]
} 2> /dev/null

has_lines() { [ -e "$1" ] && [ "$(wc -l < "$1")" -ge "$2" ]; }

# trace NAME ARG...: starts t410trace with JSON into NAME.json. Traffic that starts
# after the first report is covered from its first byte.
trace() {
	trace_name=$1
	shift
	"$T410TRACE" --json -o "$trace_name.json" "$@" 2> "$trace_name.err" &
	tracer=$!
	until_true has_lines "$trace_name.json" 1
}

# trace_ended: waits for it and keeps its status
trace_ended() {
	wait "$tracer"
	echo $? > "$trace_name.status"
}

# trace_end SIGNAL: the final report covers all that happened before the signal
trace_end() {
	kill "-$1" "$tracer"
	trace_ended
}

# recorded_since NS: a recording has whole intervals. Is one in it that began after this time?
recorded_since() {
	"$T410TRACE" report run.rec -a --json 2> /dev/null |
		sed -nE 's/.*"interval":\{"start_ns":([0-9]+),.*/\1/p' > starts
	while read -r begun; do
		[ "$begun" -le "$1" ] || return 0
	done < starts
	return 1
}

# recording ARG...: starts t410trace record into run.rec; it counts when this returns. There is a file
# before that.
recording() {
	"$T410TRACE" record -a -o run.rec "$@" 2> record.err &
	recorder=$!
	until_true recorded_since 0
	rm -f starts
}

# recording_end: all that happened before is in it; keeps the status
recording_end() {
	kill -TERM "$recorder"
	wait "$recorder"
	echo $? > record.status
}

# held NAME COMMAND...: a process with a known id that becomes COMMAND on release
held() {
	mkfifo "$1.gate"
	# shellcheck disable=SC2016  # expanded by the shell that waits
	sh -c 'read -r go < "$0.gate"; exec "$@"' "$@" &
	held=$!
}
release() { echo go > "$1.gate"; }

# load NAME ARG...: traffic with its ground truth
load() {
	load_name=$1
	shift
	traffic --name "$load_name" --report truth "$@"
}

# said NAME COMMAND...: keeps what a command says and how it ends
said() {
	said_name=$1
	shift
	timeout $PATIENCE "$@" > "$said_name.out" 2> "$said_name.err"
	echo $? > "$said_name.status"
}

as_nobody() { said "$1" su nobody -c "$T410TRACE -a -d 1"; }

# without PATH NAME ARG...: t410trace where PATH is an empty folder
without() {
	path=$1 name=$2
	shift 2
	# shellcheck disable=SC2016
	said "$name" unshare -m sh -c 'mount -t tmpfs none "$0" && exec "$@"' "$path" "$T410TRACE" "$@"
}

count_programs() { bpf_programs; }
# programs_gone: those that were loaded since the start. The kernel frees a program when its
# last user has been gone for a while, which is longer the busier it is.
programs_gone() { [ "$(count_programs)" -le "$(cat $AT_START)" ]; }

# counters_free EVENT...: could perf have these counters of the first UCF for itself? The kernel gives
# back those of a program that was killed some time after its end.
counters_free() {
	list=
	for event in "$@"; do
		list="$list -e $UCF/$event/D"
	done
	# shellcheck disable=SC2086  # a list
	perf stat -x, -o free.csv -a $list -- usleep 50000 && ! grep -q '<not' free.csv
}

# perf_counts OPTION...: perf counts until perf_release; ends by itself when that never comes
perf_counts() {
	perf stat -x, -o "$PWD/perf.csv" -a "$@" -- timeout 300 sh -c \
		"touch $PWD/perf.ready; while [ ! -e $PWD/perf.end ]; do sleep 0.1; done" &
	holder=$!
	until_true test -e perf.ready
}

# perf_hold MODIFIER EVENT...: perf counts EVENTs of the first UCF until perf_release
perf_hold() {
	modifier=$1
	shift
	list=
	for event in "$@"; do
		list="$list -e $UCF/$event/$modifier"
	done
	# shellcheck disable=SC2086  # a list
	perf_counts $list
}
perf_release() {
	touch perf.end
	wait "$holder"
}

# hold_all_counters: as many as a PMU has, once those of a killed program are free, which is
# waited for
hold_all_counters() {
	set -- mem_bytes_rd mem_bytes_wr mem_access_rd slc_bytes_rd \
		mem_bytes_rd,src_loc_cpu=1 mem_bytes_wr,src_loc_cpu=1 mem_bytes_rd,src_rem=1 cycles
	until_true counters_free "$@"
	perf_hold '' "$@"
	usleep 300000
	perf_release
}

# --- scenarios: attribution

# Programs of every kind at once, in four cgroups, on both sockets, the tracer anywhere.
scenario_conservation() {
	taskset -p $ANYWHERE $$ > /dev/null
	trace all -a -i 300
	load read0 --slot 0 --rate 2000000 --cpu 0 --cgroup con/one --seconds 1.5 &
	load write0 --slot 1 --rate 700001 --cpu 1 --cgroup con/two --duty 20/30 --seconds 1.5 &
	load remote0 --slot 4 --per-iter 999983 --cgroup con/two --duty 5/45 --cpu 0 --seconds 1.2 &
	load gpu0 --slot 5 --rate 12345 --cpu 1 --seconds 1 &
	load read1 --slot 2 --rate 3000000 --cpu 2 --cgroup con/three --threads 2 --seconds 1.5 &
	load write1 --slot 3 --rate 1 --cpu 3 --cgroup con/three --seconds 1 &
	load again1 --slot 2 --per-iter 4096 --cpu 3 --cgroup con/one --duty 3/7 --seconds 1.3 &
	load disk_rd --slot 8 --rate 500000 --cpu 0 --duty 2/18 --seconds 1.2 &
	load disk_wr --slot 9 --rate 400000 --cpu 1 --duty 2/18 --seconds 1.2 &
	load nic_rd --slot 10 --rate 300000 --cpu 2 --duty 2/18 --seconds 1.2 &
	load nic_wr --slot 11 --rate 200000 --cpu 3 --duty 2/18 --seconds 1.2 &
	load gpu_rd --slot 12 --rate 900000 --cpu 0 --duty 2/18 --seconds 1.2 &
	until_true has_lines truth 13
	trace_end TERM
	taskset -p $SOCKET0 $$ > /dev/null
}

# One program alone on socket 1: the tracer is on the other.
scenario_alone() {
	trace all -a -i 500
	load alone --slot 2 --rate 1000000 --cpu 2 --seconds 2
	trace_end TERM
}

# Two programs on one CPU, one after the other. The followed one is kept alive by a
# sleeping parent, for the run would end with it.
FIRST_THEN_SLEEP='traffic --name first --report truth --slot 2 --rate 1000000 --cpu 2 --seconds 0.8; exec sleep 300'
sleeps() { grep -q '^Name:.sleep$' "/proc/$1/status" && grep -q '^State:.S' "/proc/$1/status"; }
scenario_turns() {
	held first sh -c "$FIRST_THEN_SLEEP"
	trace first -p "$held" -i 300
	release first
	until_true has_lines truth 1
	# the followed one is at rest, and windows between the two have bytes of neither
	until_true sleeps "$held"
	usleep 100000
	load second --slot 2 --rate 1500000 --cpu 2 --seconds 0.8
	trace_end TERM
	kill "$held"
}

# tenants SECONDS LIGHT MEDIUM HEAVY: what they move in a millisecond of CPU time. They
# share both CPUs of socket 1, sleep and work when they like.
tenants() {
	for tenant in light:$2 medium:$3 heavy:$4; do
		taskset $SOCKET1 traffic --name ${tenant%:*} --report truth --slot 2 --rate ${tenant#*:} \
			--duty 20-300/20-300 --seed ${tenant#*:} --seconds "$1" &
	done
	until_true has_lines truth 3
}

# They differ tenfold.
scenario_tenants() {
	trace all -a -i 1000
	tenants 10 100000 1000000 10000000
	trace_end TERM
}

# What they do is measured by an event of the cores, and they move nearly the same for each
# count. The emulated cores count no caches: cycles it is. These do not follow traffic as the
# estimate expects of an event, hence in proportion.
scenario_weights() {
	trace all -a -i 1000 -v --weights cpu_cycles --method weights
	tenants 6 950000 1000000 1050000
	trace_end TERM
	said auto "$T410TRACE" -a -v -d 0.5
	# An event that such a core may have, and this one does not
	said still "$T410TRACE" -a -d 0.5 --weights r2a
	said unknown "$T410TRACE" -a -d 0.5 --weights nonsense
	said record "$T410TRACE" record -d 1 --weights cpu-cycles -o run.rec
	said report "$T410TRACE" report run.rec -a --json --summary
	said time "$T410TRACE" report run.rec -a --json --summary --method cpu-time
	rm -f run.rec
}

# A command that lives for a few milliseconds, three times.
scenario_short() {
	for n in 1 2 3; do
		"$T410TRACE" --json -o short$n.json -- sh -c \
			"traffic --name short$n --report truth --slot 2 --rate 1000000 --cpu 2 --seconds 0.005; exit 7" \
			2> short$n.err
		echo $? > short$n.status
	done
}

# --- scenarios: beside perf

# perf counts the same events over the same traffic.
scenario_perf() {
	trace all -a -i 300
	perf_hold '' mem_bytes_rd,src_loc_cpu=1 mem_bytes_wr,src_loc_cpu=1
	load reader --slot 0 --rate 1234567 --cpu 0 --seconds 1 &
	load writer --slot 1 --rate 765432 --cpu 1 --seconds 1 &
	until_true has_lines truth 2
	perf_release
	trace_end TERM
}

# perf has so many pinned events that the tracer's do not fit at once.
scenario_crowded() {
	perf_hold D mem_bytes_rd,src_loc_cpu=1 mem_bytes_wr,src_loc_cpu=1 \
		mem_bytes_rd,src_loc_noncpu=1 mem_bytes_wr,src_loc_noncpu=1 mem_bytes_rd,src_rem=1 mem_bytes_wr,src_rem=1
	trace all -a -i 500
	load reader --slot 0 --rate 1000000 --cpu 0 --seconds 3
	trace_end TERM
	perf_release
}

# --- scenarios: rows

# A tree of cgroups, one of which is removed while the tracer runs. Those who share a
# socket pause now and then, each for itself: without that nothing could tell them apart.
scenario_tree() {
	trace all -a --by cgroup -i 400
	load left --slot 0 --rate 1000000 --cpu 0 --cgroup tree/left --duty 20-100/20-100 --seed 1 --seconds 2 &
	load deep --slot 1 --rate 600000 --cpu 1 --cgroup tree/left/deep --duty 20-100/20-100 --seed 2 --seconds 2 &
	load right --slot 2 --rate 800000 --cpu 2 --cgroup tree/right --seconds 2 &
	load gone --slot 3 --rate 500000 --cpu 3 --cgroup gone --seconds 0.5
	rmdir $CGROUPS/gone
	until_true has_lines truth 4
	trace_end INT
}

# Programs that enter a cgroup and then do not give up their CPU, on a quiet socket.
# Whether something else gets the CPU for a moment is chance, hence many programs.
scenario_moves() {
	trace all -a --by cgroup -i 5000
	for n in 1 2 3 4 5 6 7 8; do
		load mover --slot 2 --rate 1000000 --cpu 2 --cgroup moves/a$n --seconds 0.15 &
		load mover --slot 3 --rate 1000000 --cpu 3 --cgroup moves/b$n --seconds 0.15
		until_true has_lines truth $((2 * n))
	done
	trace_end TERM
}

scenario_cgroup() {
	mkdir -p $CGROUPS/only
	trace only -G only -i 300
	load in --slot 2 --rate 1000000 --cpu 2 --cgroup only --seconds 0.8
	usleep 100000
	load below --slot 2 --rate 1000000 --cpu 2 --cgroup only/below --seconds 0.8
	usleep 100000
	load out --slot 2 --rate 1000000 --cpu 2 --cgroup outside --seconds 0.8
	trace_end TERM
}

scenario_threads() {
	trace threads -a --by thread -i 500
	taskset $SOCKET1 traffic --name three --report truth --slot 2 --rate 1000000 --threads 3 --seconds 1.5 \
		--duty 40/20
	trace_end TERM
}

# Enough rows that two are not all of them.
scenario_top() {
	traffic --slot 2 --rate 1000000 --cpu 2 --seconds 300 > big &
	big=$!
	traffic --slot 0 --rate 1000 --cpu 0 --seconds 300 > small &
	small=$!
	until_true has_worked 20 $big
	until_true has_worked 20 $small
	said top "$T410TRACE" -a --top 2 -d 1
	said all "$T410TRACE" -a -d 1
	kill $big $small
	wait $big $small
}

# Three seconds on a CPU without ever giving it up.
scenario_busy() {
	traffic --slot 3 --rate 1000000 --cpu 3 --seconds 300 > truth &
	busy=$!
	echo $busy > busy.pid
	until_true has_worked 20 $busy
	trace busy -p $busy -i 300 -d 3
	trace_ended
	kill $busy
	wait $busy
}

# in_turn NAME FILE ARG...: a recording where FILE says which CPUs are isolated, and its report
in_turn() {
	turn=$1 file=$2
	shift 2
	# shellcheck disable=SC2016
	said "record-$turn" unshare -m sh -c 'mount --bind "$0" /sys/devices/system/cpu/isolated && exec "$@"' \
		"$file" "$T410TRACE" record -a -d 2 --format ndjson -o "$turn.ndjson" "$@"
	said "report-$turn" "$T410TRACE" report "$turn.ndjson" -a --json --summary
	mv "report-$turn.out" "$turn.json"
	# What is needed of it
	grep -E '"type":"(header|window|workload)"' "$turn.ndjson" > "$turn.part"
	grep '"type":"slice"' "$turn.ndjson" | grep '"cpu":3,' >> "$turn.part"
	rm "$turn.ndjson"
}

# A program that never sleeps and is alone on its CPU: with ticks, without, and where that CPU is to
# be left alone. The machine's list of isolated CPUs is replaced for it.
scenario_ticks() {
	traffic --slot 3 --rate 1000000 --cpu 3 --seconds 300 > truth &
	busy=$!
	echo $busy > busy.pid
	until_true has_worked 20 $busy
	echo > none
	echo 3 > three
	in_turn auto none
	in_turn off none --tick=off
	in_turn quiet three
	in_turn all three --tick=all
	kill $busy
	wait $busy
}

# Children that are started after the tracer, and a process that becomes another.
CHILD='traffic --report truth --slot 2 --rate 1000000 --cpu 2 --seconds 0.5'
TWO_CHILDREN="$CHILD --name child; sh -c '$CHILD --name grandchild; true'"
scenario_family() {
	held parent sh -c "$TWO_CHILDREN"
	echo "$held" > parent.pid
	trace family -p "$held" -i 300
	release parent
	until_true has_lines truth 2
	trace_ended

	held changes traffic --name changes --report truth2 --slot 2 --rate 1000000 --cpu 2 --seconds 1
	echo "$held" > changes.pid
	trace changes -p "$held" -i 300
	release changes
	trace_ended
}

# --- scenarios: faults

# What cannot be done is said, with a status.
scenario_refusals() {
	said unknown-pid "$T410TRACE" -p 4000000 -d 1
	said junk-pid "$T410TRACE" -p 12x -d 1
	said unknown-cgroup "$T410TRACE" -G no/such -d 1
	said nothing "$T410TRACE"
	said interval-zero "$T410TRACE" -a -i 0
	said window-too-long "$T410TRACE" -a -i 20 --window 30
	said no-command "$T410TRACE" -- /no/such/program
	said no-folder "$T410TRACE" -a -d 1 -o /no/such/folder/file
	said help "$T410TRACE" --help
	without /sys/bus/event_source/devices no-pmu -a -d 1
	without /sys/kernel/btf no-btf -a -d 1
	# shellcheck disable=SC2016
	said no-cgroup2 unshare -m sh -c 'umount -a -t cgroup2 -l; exec "$@"' sh "$T410TRACE" -G x -d 1
}

scenario_rights() {
	echo "nobody:x:65534:65534::/:/bin/sh" >> /etc/passwd
	as_nobody paranoid
	was=$(cat /proc/sys/kernel/perf_event_paranoid)
	echo 0 > /proc/sys/kernel/perf_event_paranoid
	as_nobody bpf
	echo "$was" > /proc/sys/kernel/perf_event_paranoid
}

scenario_output() {
	mkdir full
	mount -t tmpfs -o size=64k none full
	said full "$T410TRACE" -a --json -i 50 -d 15 -o full/reports
	cp full/reports full.reports
	umount full
	rmdir full
	{ timeout $PATIENCE "$T410TRACE" -a --json -i 100 -d 15 2> pipe.err; echo $? > pipe.status; } | head -n 1 > pipe.json
}

# The followed process ends: so does the run, and its bytes are there.
scenario_death() {
	held dies traffic --name dies --report truth --slot 2 --rate 1000000 --cpu 2 --seconds 300
	trace dies -p "$held" -i 300
	release dies
	until_true has_worked 200 "$held"
	kill "$held"
	until_true test ! -d "/proc/$tracer"
	trace_ended
}

scenario_signals() {
	until_true programs_gone
	count_programs > programs.before
	ls -A /sys/fs/bpf > pins.before
	for signal in INT TERM KILL; do
		trace $signal -a -i 200
		load load$signal --slot 2 --rate 1000000 --cpu 2 --seconds 0.3
		count_programs > programs.during
		trace_end $signal
	done
	# its last line may be half a line
	mv KILL.json KILL.part
	until_true programs_gone
	count_programs > programs.after
	ls -A /sys/fs/bpf > pins.after
	hold_all_counters
	trace again -a -v -i 200 -d 0.5
	trace_ended
}

# A command that would run on for long, when the tracer is told to end.
scenario_command() {
	trace term -i 200 -- traffic --name term --report truth --slot 2 --rate 1000000 --cpu 2 --seconds 300
	# shellcheck disable=SC2016  # expanded each time
	until_true eval 'has_worked 150 "$(pidof traffic)"'
	trace_end TERM
	pidof traffic > left
}

# goes_on PID [REPORTS]: a program works up to the fourth report from now on, or that many
goes_on() {
	until_true has_lines all.json $(($(wc -l < all.json) + ${2:-4}))
	kill "$1"
	wait "$1"
}

# has_reopened: has the run found its core events ended, and opened them again?
has_reopened() { grep -q '"weights_reopened":[1-9]' all.json; }

# The CPU that reads the counters of socket 1 goes away and comes back.
scenario_hotplug() {
	trace all -a -i 500 --weights cpu_cycles
	traffic --name steady --report truth --slot 2 --rate 1000000 --cpu 3 --seconds 300 &
	steady=$!
	sleep 1
	offline=$(uptime_ns)
	echo 0 > /sys/devices/system/cpu/cpu2/online
	cat /sys/bus/event_source/devices/nvidia_ucf_pmu_1/cpumask > cpumask
	usleep 1500000
	echo 1 > /sys/devices/system/cpu/cpu2/online
	echo $(($(uptime_ns) - offline)) > offline_ns
	# Somebody uses it: nobody wakes a CPU to see whether its core events have ended.
	taskset 4 sh -c 'while usleep 50000; do :; done' &
	user=$!
	until_true has_reopened
	goes_on $steady 3
	kill $user
	trace_end TERM
}

# CPU 1 of socket 0 and CPU 3 of socket 1 are offline at the start. Both come online, and a program
# runs on CPU 3; then CPU 1 goes again. It is recorded, reported meanwhile, and reported again.
scenario_coming() {
	echo 0 > /sys/devices/system/cpu/cpu1/online
	echo 0 > /sys/devices/system/cpu/cpu3/online
	mkfifo pipe
	"$T410TRACE" record -a -i 500 --format ndjson -o - > pipe 2> record.err &
	recorder=$!
	tee run.ndjson < pipe | "$T410TRACE" report - -a --json > all.json 2> all.err &
	reporter=$!
	until_true has_lines all.json 1
	load steady --slot 0 --rate 1000000 --cpu 0 --seconds 4 &
	steady=$!
	usleep 800000
	echo 1 > /sys/devices/system/cpu/cpu1/online
	echo 1 > /sys/devices/system/cpu/cpu3/online
	load late --slot 2 --rate 1000000 --cpu 3 --seconds 2
	wait $steady
	echo 0 > /sys/devices/system/cpu/cpu1/online
	until_true has_lines all.json $(($(wc -l < all.json) + 3))
	kill -TERM $recorder
	wait $recorder
	echo $? > record.status
	wait $reporter
	echo $? > all.status
	echo 1 > /sys/devices/system/cpu/cpu1/online
	"$T410TRACE" report run.ndjson -a --json > again.json
	grep -E '"type":"(cpu|header)"' run.ndjson > told
	rm -f run.ndjson pipe
}

# --- scenarios: where bytes go

# Each program on socket 1 has a destination of its own, the last one two. Two share the
# socket, the others are alone. The counters are more than the PMU has.
scenario_destinations() {
	trace all -a --split destination -i 1000
	load cmem --slot 2 --rate 1000000 --cpu 2 --duty 50-300/50-300 --seed 1 --seconds 3 &
	load far --slot 6 --rate 600000 --cpu 3 --duty 50-300/50-300 --seed 2 --seconds 3 &
	until_true has_lines truth 2
	load gpu --slot 7 --rate 400000 --cpu 2 --seconds 2
	load both --slot 13,14 --rate 300000 --cpu 3 --seconds 2
	trace_end TERM
	recording --split destination
	traffic --slot 7 --rate 400000 --cpu 2 --seconds 0.8 > /dev/null
	recording_end
	said report "$T410TRACE" report run.rec -a --summary
	said sums "$T410TRACE" report run.rec -a --summary --split none
	"$T410TRACE" record -a -d 0.2 -o run.rec
	said without "$T410TRACE" report run.rec --split destination
	rm -f run.rec
}

# --- scenarios: latency

# latency_read_since NS: has the recording two pieces of latency of socket 1 in an interval that began
# after this time? The second one began after it, too.
latency_read_since() {
	"$T410TRACE" report run.rec -a --json 2> /dev/null |
		sed -nE 's/.*"interval":\{"start_ns":([0-9]+),.*"probe":"cmem1\/rd"[^}]*"samples":([0-9]+),.*/\1 \2/p' > pieces
	while read -r begun pieces; do
		[ "$begun" -le "$1" ] || [ "$pieces" -lt 2 ] || return 0
	done < pieces
	return 1
}

# counts_samples: has a run on a terminal said that it has some?
counts_samples() { grep -qE ' s, ([1-9][0-9]* high|[0-9]+ high, [1-9])' counting; } 2> /dev/null

# A program that reads most of the time (one that never pauses could not be told from the
# background), and one whose requests wait twenty times as long and which works half of the time. Latency readings take long in the emulation, hence the budget.
scenario_latency() {
	recording -i 1000 --read-budget 10
	load calm --slot 15 --rate 1000000 --cpu 2 --duty 150-400/30-100 --seed 5 --seconds 11 &
	load loud --slot 16 --rate 1500000 --cpu 3 --duty 900-1100/900-1100 --seed 3 --seconds 11 &
	until_true has_lines truth 2
	# Latencies whose reading has to wait for the budget are not read once more at the end: the last
	# stores are seen by a later reading.
	until_true latency_read_since "$(uptime_ns)"
	recording_end
	"$T410TRACE" report run.rec -a --json > all.json
	said summary "$T410TRACE" report run.rec -a --json --summary
	said neighbours "$T410TRACE" neighbours run.rec --json
	said table "$T410TRACE" neighbours run.rec
	rm -f run.rec
	traffic --slot 15 --rate 1000000 --cpu 2 --seconds 300 > /dev/null &
	loader=$!
	until_true has_worked 20 $loader
	said live "$T410TRACE" neighbours -d 2 --json
	mkfifo keys
	terminal counting "$T410TRACE" neighbours -d 300 < keys > ended 2> terminal.err &
	exec 3> keys
	until_true counts_samples
	# Ctrl-C
	printf '\003' >&3
	exec 3>&-
	kill $loader
	wait
	rm -f keys
}

# --- scenarios: Grace

# Programs of every kind at once. Data of reads and write-backs come in beats of 32 bytes;
# --per-iter sends whole ones.
scenario_grace_conservation() {
	taskset -p $ANYWHERE $$ > /dev/null
	trace all -a -i 300
	load read0 --slot 0 --per-iter 2097152 --cpu 0 --cgroup con/one --seconds 1.5 &
	load back0 --slot 1 --per-iter 700032 --cpu 1 --cgroup con/two --duty 20/30 --seconds 1.5 &
	load write0 --slot 2 --rate 12345 --cpu 0 --cgroup con/two --duty 5/45 --seconds 1.2 &
	load read1 --slot 3 --per-iter 3000000 --cpu 2 --cgroup con/three --threads 2 --seconds 1.5 &
	load back1 --slot 4 --per-iter 32 --cpu 3 --cgroup con/three --seconds 1 &
	load write1 --slot 5 --rate 999983 --cpu 3 --duty 3/7 --seconds 1.3 &
	load far1 --slot 6 --per-iter 640000 --cpu 2 --duty 2/18 --seconds 1.2 &
	load farback1 --slot 7 --rate 400001 --cpu 3 --duty 2/18 --seconds 1.2 &
	load farwrite0 --slot 8 --rate 300001 --cpu 1 --duty 2/18 --seconds 1.2 &
	load gpuread1 --slot 9 --per-iter 200000 --cpu 3 --duty 2/18 --seconds 1.2 &
	load gpuback1 --slot 10 --rate 900001 --cpu 2 --duty 2/18 --seconds 1.2 &
	load gpuwrite0 --slot 11 --rate 700001 --cpu 0 --duty 2/18 --seconds 1.2 &
	until_true has_lines truth 13
	trace_end TERM
	taskset -p $SOCKET0 $$ > /dev/null
}

# One program after the other on socket 1, each with a destination of its own.
scenario_grace_alone() {
	trace all -a -i 500
	load own --slot 3 --per-iter 1000000 --cpu 2 --seconds 1
	load far --slot 6 --per-iter 1000000 --cpu 2 --seconds 1
	load gpu --slot 9,10 --per-iter 1000000 --cpu 2 --seconds 1
	trace_end TERM
	traffic --slot 9,10 --per-iter 1000000 --cpu 2 --seconds 300 > /dev/null &
	loader=$!
	until_true has_worked 20 $loader
	said table "$T410TRACE" -a -v --split destination -d 1
	said refused "$T410TRACE" -a --split source -d 1
	kill $loader
	wait
}

# shellcheck source=tests/machine/guest_stat.sh
. /host/guest_stat.sh
# shellcheck source=tests/machine/guest_devices.sh
. /host/guest_devices.sh
# shellcheck source=tests/machine/guest_gpus.sh
. /host/guest_gpus.sh
# shellcheck source=tests/machine/guest_drivers.sh
. /host/guest_drivers.sh
# shellcheck source=tests/machine/guest_slurm.sh
. /host/guest_slurm.sh
# shellcheck source=tests/machine/guest_shapes.sh
. /host/guest_shapes.sh
# shellcheck source=tests/machine/guest_esp.sh
. /host/guest_esp.sh
# shellcheck source=tests/machine/guest_fleet.sh
. /host/guest_fleet.sh
# shellcheck source=tests/machine/guest_systemd.sh
. /host/guest_systemd.sh
# shellcheck source=tests/machine/guest_packages.sh
. /host/guest_packages.sh
# shellcheck source=tests/machine/guest_operation.sh
. /host/guest_operation.sh
# shellcheck source=tests/machine/guest_view.sh
. /host/guest_view.sh

# --- running them

# A kernel thread on socket 1 gets its part of the bytes there, by CPU time. Those that
# may run elsewhere do, so that a program that is alone is nearly that.
quieten_socket1() {
	for comm in /proc/[0-9]*/comm; do
		read -r name < "$comm" || continue
		case $name in
		kdamond* | kcompactd* | khugepaged | ksmd | kswapd* | rcu_*)
			pid=${comm#/proc/}
			taskset -p $SOCKET0 "${pid%/comm}"
			;;
		esac
	done > /dev/null 2>&1
	echo $SOCKET0 > /sys/devices/virtual/workqueue/cpumask
}

run_one() {
	mkdir -p "$OUT/$1"
	cd "$OUT/$1" || return
	mark "$1"
	"scenario_$1" 2> guest.err
	cd /
	rm -f "$OUT/$1"/*.gate
	touch "$OUT/$1/done"
	cp -r "$OUT/$1" /host/out/
	# Results of the next one need the room
	rm -rf "${OUT:?}/$1"
}

# A sleeping CPU has no ticks, and with too many windows between two of them the kernel stops its
# counters for a moment, in which an emulated program may store (docs/COUNTERS.md).
echo 10000000 > /proc/sys/kernel/perf_event_max_sample_rate
cp /host/t410trace $T410TRACE
count_programs > $AT_START
mkdir -p $OUT
# The scripts and the tracer share a socket with those programs only that say so.
taskset -p $SOCKET0 $$ > /dev/null
quieten_socket1
for scenario; do
	run_one "$scenario"
done
# What follows in the log is the next boot's.
mark "the end"
dmesg >> /host/out/kernel.log
