#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Part of guest.sh: PMUs in the shapes of other vendors' machines, by our module t410_shapes with
# the tables of shapes/. Perf core and scheduler are real, the driver is not. The CPU's name and the
# numbers of the sockets are those of the machine whose shape it is: these files of sysfs have
# others in front of them.

SYS_CPU=/sys/devices/system/cpu
SHAPE_FILES=/tmp/shape
WARMUP_SLOT=8
WARMUP_TOTAL=0x0e801208	# PORT_SLOT_TOTAL of that slot
JOB_CGROUP=system.slice/slurmstepd.scope/job_12/step_0

# in_front FILE TEXT: FILE of sysfs says TEXT
in_front() {
	copy=$SHAPE_FILES/$(echo "$1" | tr / _)
	echo "$2" > "$copy"
	mount --bind "$copy" "$1"
}

module_gone() { rmmod t410_shapes; } 2> /dev/null

# shape NAME CPU: the PMUs of shapes/NAME.pmus, and a CPU that calls itself so
shape() {
	if grep -q '^nvidia_cspmu ' /proc/modules; then
		rmmod nvidia_t410_c2c_pmu nvidia_t410_cmem_latency_pmu nvidia_cspmu arm_cspmu_module
	fi
	mkdir -p $SHAPE_FILES
	cp "/host/shapes/$1.pmus" $SHAPE_FILES/
	insmod /modules/t410_shapes.ko "table=$SHAPE_FILES/$1.pmus" || return
	in_front $SYS_CPU/modalias "cpu:type:x86,$2:feature:,0000,0001"
	for cpu in 0 1 2 3; do
		in_front $SYS_CPU/cpu$cpu/topology/physical_package_id $((cpu / 2))
	done
}

# shape_end: the module goes when nobody counts; the kernel gives events back a little later
shape_end() {
	until_true module_gone
	grep -c '^t410_shapes ' /proc/modules > left
	umount $SYS_CPU/modalias $SYS_CPU/cpu[0-3]/topology/physical_package_id
}

is_warm() { [ "$(devmem $WARMUP_TOTAL 64)" != "$cold" ]; }

# warm COMMAND ARG...: while events of the cores count, as they do on a machine that does something
warm() {
	cold=$(devmem $WARMUP_TOTAL 64)
	traffic --name warmup --slot $WARMUP_SLOT --per-iter 65536 --cpu 0 --seconds 300 > /dev/null &
	warmup=$!
	until_true is_warm
	"$@"
	kill $warmup
	wait $warmup
}

# pinned NAME CPU ARG...: what programs of a CPU read and write is what they store to its slots
pinned() {
	pinned_cpu=$2
	load_name=$1
	shift 2
	load "$load_name" --slot "$pinned_cpu,$((pinned_cpu + 4))" --cpu "$pinned_cpu" "$@"
}

# all_pinned: on all CPUs at once, two of them on one; whole lines of 64 bytes
all_pinned() {
	pinned light0 0 --per-iter 65536 --cgroup shapes/one --seconds 1.5 &
	pinned heavy0 0 --per-iter 655360 --cgroup shapes/two --duty 10/30 --seconds 1.5 &
	pinned one1 1 --per-iter 12800 --cgroup shapes/two --seconds 1 &
	pinned duty2 2 --per-iter 300032 --cgroup shapes/three --duty 20/20 --seconds 1.5 &
	pinned one3 3 --per-iter 64 --cgroup shapes/one --seconds 1.2 &
	until_true has_lines truth 10
}

# raw PMU TERMS: an event without the scale of sysfs, on all of its CPUs
raw() { printf -- '-e %s/%s/ ' "$1" "$2"; }

# numbered PMU FIRST LAST TERMS...
numbered() {
	pmu=$1 n=$2 last=$3
	shift 3
	while [ "$n" -le "$last" ]; do
		for terms; do raw "$pmu$n" "$terms"; done
		n=$((n + 1))
	done
}

says_what_is_there() {
	said list "$T410TRACE" list --json
	warm said check "$T410TRACE" check --json
}

# --- scenarios

scenario_shapes_icelake() {
	shape icelake ven0000fam0006mod006A
	says_what_is_there
	warm trace all -a -i 500
	# shellcheck disable=SC2046  # words
	perf_counts $(numbered uncore_imc_free_running_ 0 3 event=0xff,umask=0x20 event=0xff,umask=0x21) \
		$(numbered uncore_imc_ 0 11 event=0x04,umask=0x0f event=0x04,umask=0x30)
	all_pinned
	perf_release
	trace_end TERM
	shape_end
}

# meanwhile NAME CPU CGROUP ARG...: t410trace with ARG, and a program that it sees from its first byte
# to its last
meanwhile() {
	meanwhile_name=$1 meanwhile_cpu=$2 meanwhile_cgroup=$3
	shift 3
	trace "$meanwhile_name" -i 300 "$@"
	pinned "$meanwhile_name" "$meanwhile_cpu" --per-iter 320000 --cgroup "$meanwhile_cgroup" --seconds 0.6
	trace_end TERM
}

# Each kind of command that counts, one after the other: a channel has four counters, and all want
# four
scenario_shapes_granite() {
	shape granite ven0000fam0006mod00AD
	says_what_is_there
	held followed traffic --name followed --report truth --slot 2,6 --per-iter 640000 --cpu 2 \
		--seconds 0.6
	# shellcheck disable=SC2154  # held() sets it
	trace followed -i 300 -p "$held"
	release followed
	# counted by a run: it does not go
	rmmod t410_shapes > rmmod.out 2>&1
	echo $? > rmmod.status
	trace_ended
	mkdir -p "$CGROUPS/shapes/one"
	meanwhile grouped 3 shapes/one -G shapes
	mkdir -p "$CGROUPS/$JOB_CGROUP"
	meanwhile jobbed 1 $JOB_CGROUP -J 12
	recording
	pinned recorded 0 --per-iter 128000 --seconds 0.6
	recording_end
	said report "$T410TRACE" report run.rec -a --json --summary
	rm -f run.rec
	"$T410TRACE" stat --json -i 300 -o stat.json 2> stat.err &
	tracer=$!
	until_true has_lines stat.json 1
	pinned measured 2 --per-iter 320000 --seconds 0.6
	kill -TERM $tracer
	wait $tracer
	rmdir "$CGROUPS/$JOB_CGROUP"
	shape_end
}

metrics() { wget -q -O metrics http://127.0.0.1:9410/metrics; } 2> /dev/null
# Not %d: that of busybox has 32 bits
sum_of() { awk '{ sum += $1 } END { printf "%.0f", sum }'; }
# all_counted BYTES: do the metrics of counters add up to that much?
all_counted() {
	metrics && [ "$(sed -n 's/^t410trace_memory_bytes_total{.*} //p' metrics | sum_of)" -ge "$1" ]
}

scenario_shapes_zen4() {
	shape zen4 ven0002fam0019mod0011
	says_what_is_there
	warm trace all -a -i 500
	# shellcheck disable=SC2046  # words
	perf_counts $(numbered amd_umc_ 0 23 event=0x0a,rdwrmask=1 event=0x0a,rdwrmask=2)
	all_pinned
	perf_release
	trace_end TERM

	ifconfig lo up
	"$T410TRACE" serve --interval 1s --read-budget 0 --state "$PWD/accounts.db" \
		--spool "$PWD/spool" 2> serve.err &
	daemon=$!
	until_true metrics
	pinned served 3 --per-iter 320000 --seconds 1
	# a line for reads and one for writes
	until_true all_counted "$(sed -nE '/"served"/s/.*"bytes":([0-9]+).*/\1/p' truth | sum_of)"
	kill -TERM $daemon
	wait $daemon
	echo $? > serve.status
	rm -rf accounts.db* spool

	# The data fabric has two counters, and its rows want four
	trace df -a -i 500 --platform /host/shapes/amd_df.json
	pinned fabric 2 --per-iter 64000 --seconds 4
	trace_end TERM
	shape_end
}

# The CPU that reads the second socket's counters goes offline and comes back
scenario_shapes_hotplug() {
	shape granite ven0000fam0006mod00AD
	warm trace all -a -i 500
	traffic --name steady --report truth --slot 3,7 --cpu 3 --per-iter 640000 --seconds 300 &
	steady=$!
	sleep 1
	echo 0 > $SYS_CPU/cpu2/online
	cat /sys/bus/event_source/devices/uncore_imc_11/cpumask > cpumask
	usleep 1000000
	umount $SYS_CPU/cpu2/topology/physical_package_id 2> /dev/null
	echo 1 > $SYS_CPU/cpu2/online
	in_front $SYS_CPU/cpu2/topology/physical_package_id 1
	goes_on $steady
	trace_end TERM
	shape_end
}
