#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Part of guest.sh: users of GPUs (devices.conf). The driver is our module nvidia, NVML our library
# (tests/gpu) that follows a script: what it says are contexts are the programs started here.

GPU_A=0002:81:00.0
GPU_B=0002:e1:00.0
# Copied, for reading from the host's file system wakes kernel threads
GPU_FILES=/tmp/gpu
JOBS=system.slice/slurmstepd.scope

# gpus_begin: nodes, and a monitor that has both open all of the time and no context
gpus_begin() {
	insmod /modules/nvidia.ko || return
	mkdir -p $GPU_FILES $CGROUPS/monitor
	cp /host/gpu/libnvidia-ml.so.1 $GPU_FILES/
	cp /host/t410trace-gpu "$T410TRACE-gpu"
	export LD_LIBRARY_PATH=$GPU_FILES NVML_SCRIPT=$PWD/script
	# minor numbers are in the order of addresses
	mknod /dev/nvidia0 c 195 0
	mknod /dev/nvidia1 c 195 1
	# shellcheck disable=SC2016
	sh -c 'echo $$ > $0/monitor/cgroup.procs; exec sleep 10000 3<> /dev/nvidia0 4<> /dev/nvidia1' $CGROUPS &
	monitor=$!
	gpus_say
}

gpus_end() {
	kill $monitor
	wait $monitor
	rm -f /dev/nvidia0 /dev/nvidia1
	unset LD_LIBRARY_PATH NVML_SCRIPT
	rmdir $CGROUPS/monitor
	rmmod nvidia
}

# gpus_say [LINE...]: what NVML says from now on, all at once. MIG of the first GPU is the variable mig.
mig=0
gpus_say() {
	{
		echo "gpu 0000$GPU_A GPU-a 1 $mig 0 0 ${lost:-0}"
		echo "gpu 0000$GPU_B GPU-b 0 0 0 0 0"
		for line; do echo "$line"; done
	} > script.new
	mv script.new script
}

# context PID [INSTANCE [PERCENT]]: a line of a process on the first GPU
context() { echo "process 0000$GPU_A $1 c ${2:--1} ${3:-0} 0 0"; }

# gpu_load NAME JOB TASK SECONDS: a task of a job that moves bytes of the first GPU; sets $task
gpu_load() {
	traffic --name "$1" --report truth --slot 0,1 --rate 3000001 --cpu 2 --duty 5/15 --seconds "$4" \
		--cgroup "$JOBS/job_$2/step_0/user/task_$3" &
	task=$!
}

# at_work PID...: waits until they have run in their cgroups for a while, as programs do before they have
# a context: a process that comes from another cgroup has been a user there, too.
at_work() {
	for one; do until_true has_worked 15 "$one"; done
}

# gpus_trace NAME ARG...: a run by job. With four devices there are no counters left for requests: their
# turns would stop the counters of bytes for a moment each.
gpus_trace() {
	name=$1
	shift
	# shellcheck disable=SC2046,SC2086  # lists
	trace "$name" -a --by job -i 2000 -v $(devices $FOUR_PORTS) "$@"
}

# helper_is PATTERN: has the tracer started it?
helper_is() { pgrep -f "^$T410TRACE-gpu" > helper; }

# Three tasks of one job, alone on a GPU beside the monitor
scenario_gpus() {
	gpus_begin || return
	gpus_trace all
	helper_is && echo yes > started
	gpu_load one 7 0 7
	first=$task
	gpu_load two 7 1 7
	second=$task
	gpu_load three 7 2 7
	at_work $first $second $task
	gpus_say "$(context $first)" "$(context $second)" "$(context $task)"
	# the second GPU moves bytes for nobody
	load nobody --slot 6,7 --per-iter 4099 --cpu 3 --duty 5/45 --seconds 5 &
	until_true has_lines truth 8
	gpus_say
	trace_end TERM
	said check "$T410TRACE" check --json
	# Nothing is left of the helper, also after SIGKILL
	gpus_trace killed
	helper_is
	trace_end KILL
	until_true helper_gone
	gpus_end
}

helper_gone() { ! helper_is; }

# A process that exits, and one of another job that gets its number
scenario_gpus_pid() {
	gpus_begin || return
	gpus_trace all
	gpu_load first 7 0 5
	number=$task
	at_work $task
	gpus_say "$(context $number)"
	wait $number
	gpus_say
	usleep 2500000
	echo $((number - 1)) > /proc/sys/kernel/ns_last_pid
	gpu_load second 8 0 5
	echo "$number $task" > numbers
	at_work $task
	gpus_say "$(context $task)"
	wait $task
	gpus_say
	usleep 2500000
	trace_end TERM
	gpus_end
}

# says WORDS: has the run said this?
says() { grep -qF "$1" "$name.err"; }

# Each in a run of its own: the helper is killed, hangs, prints nonsense; the GPU falls off the bus
scenario_gpus_faults() {
	gpus_begin || return
	cat > helper.sh <<-END
	while [ -e $PWD/nonsense ]; do echo '}{'; usleep 100000; done
	exec $T410TRACE-gpu
	END
	gpu_load alone 7 0 600
	at_work $task
	gpus_say "$(context $task)"
	for fault in killed hung nonsense lost; do
		gpus_trace $fault --gpu "sh $PWD/helper.sh"
		usleep 6500000
		case $fault in
		killed)
			kill -9 "$(pgrep -f "^$T410TRACE-gpu")"
			until_true says "source gpu: it can be read now"
			;;
		hung)
			kill -STOP "$(pgrep -f "^$T410TRACE-gpu")"
			until_true says "source gpu: it can be read now"
			;;
		nonsense)
			touch nonsense
			kill "$(pgrep -f "^$T410TRACE-gpu")"
			usleep 5000000
			rm nonsense
			until_true says "source gpu: it can be read now"
			;;
		lost)
			lost=15
			gpus_say "$(context $task)"
			until_true says "GPU is lost"
			usleep 4500000
			lost=0
			gpus_say "$(context $task)"
			until_true says "it can be read again"
			;;
		esac
		usleep 6500000
		trace_end TERM
	done
	kill $task
	wait $task
	gpus_end
}

# Two jobs on two instances of one GPU, then one job on both
scenario_gpus_mig() {
	mig=1
	gpus_begin || return
	gpus_trace all
	gpu_load one 7 0 6
	first=$task
	gpu_load two 8 0 6
	at_work $first $task
	gpus_say "$(context $first 1)" "$(context $task 2)"
	until_true has_lines truth 4
	gpus_say
	trace_end TERM
	mv truth truth.two
	gpus_trace same
	gpu_load one 7 0 6
	first=$task
	gpu_load three 7 1 6
	at_work $first $task
	gpus_say "$(context $first 1)" "$(context $task 2)"
	until_true has_lines truth 4
	gpus_say
	trace_end TERM
	mig=0
	gpus_end
}
