#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Part of guest.sh: this machine is a cluster of its own: Slurm's controller, its only node and
# its accounting, with t410trace serve and the prolog and epilog of packaging/slurm. The guest's
# /usr is that of guest/slurm.list.

SLURM_LOG=/var/log/slurm
ADDRESS=10.4.1.0
SPOOL=/var/spool/t410trace

# --- the cluster

# What packages and the service manager do on a real node
slurm_folders() {
	mkdir -p /etc/munge /etc/slurm /run/munge /run/mysqld /var/lib/munge /var/log/munge /var/spool/slurmctld \
		/var/spool/slurmd $SLURM_LOG $CGROUPS/system.slice
	chmod 700 /etc/munge /var/log/munge /var/lib/munge
	for folder in $CGROUPS $CGROUPS/system.slice; do
		echo "+cpuset +cpu +memory +io +pids" > $folder/cgroup.subtree_control
	done
	echo 'root:x:0:' > /etc/group
	echo "$ADDRESS t410" > /etc/hosts
	ifconfig lo up
	# for the C library a machine with nothing but 127.0.0.1 has no IPv4
	ifconfig lo:0 $ADDRESS netmask 255.255.255.255
	dd if=/dev/urandom of=/etc/munge/munge.key bs=128 count=1 2> /dev/null
	chmod 400 /etc/munge/munge.key
}

# Slurm's defaults, but for what is slow on emulated CPUs, and the lines of docs/SLURM.md
slurm_settings() {
	cat > /etc/slurm/slurm.conf <<-END
	ClusterName=t410
	SlurmctldHost=t410($ADDRESS)
	SlurmUser=root
	StateSaveLocation=/var/spool/slurmctld
	SlurmdSpoolDir=/var/spool/slurmd
	SlurmctldLogFile=$SLURM_LOG/slurmctld.log
	SlurmdLogFile=$SLURM_LOG/slurmd.log
	MailProg=/bin/true
	ProctrackType=proctrack/cgroup
	TaskPlugin=task/cgroup,task/affinity
	JobAcctGatherType=jobacct_gather/cgroup
	SelectType=select/cons_tres
	SelectTypeParameters=CR_Core
	MessageTimeout=60
	KillWait=5
	AccountingStorageType=accounting_storage/slurmdbd
	AccountingStorageHost=t410
	AccountingStoreFlags=job_comment
	Epilog=/etc/slurm/epilog.d/*
	PrologFlags=Contain
	NodeName=t410 NodeAddr=$ADDRESS Sockets=2 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=1500
	PartitionName=main Nodes=ALL Default=YES State=UP
	END
	cat > /etc/slurm/cgroup.conf <<-END
	CgroupPlugin=cgroup/v2
	IgnoreSystemd=yes
	ConstrainCores=yes
	END
	cat > /etc/slurm/slurmdbd.conf <<-END
	DbdHost=t410
	DbdAddr=$ADDRESS
	SlurmUser=root
	LogFile=$SLURM_LOG/slurmdbd.log
	StorageType=accounting_storage/mysql
	StorageHost=localhost
	StorageUser=root
	END
	chmod 600 /etc/slurm/slurmdbd.conf
}

# A database in memory, without passwords; nothing but Slurm's tables are needed
database_start() {
	mkdir -p /tmp/db
	mariadbd --no-defaults --user=root --datadir=/tmp/db --skip-grant-tables --skip-networking \
		--socket=/run/mysqld/mysqld.sock --innodb-buffer-pool-size=32M --innodb-log-file-size=8M \
		--innodb-flush-log-at-trx-commit=0 --innodb-doublewrite=0 > $SLURM_LOG/mariadb.log 2>&1 &
	database=$!
	until_true test -e /run/mysqld/mysqld.sock
}

answers() { "$@" > /dev/null 2>&1; }
node_is_idle() { [ "$(sinfo -h -o %T)" = idle ]; }

# cluster_start NODE...: those of guest_fleet.sh; none: this machine is the only one
# shellcheck disable=SC2120  # guest_fleet.sh names some
cluster_start() {
	slurm_folders
	slurm_settings
	[ $# = 0 ] || fleet_settings
	# jobs get the CPUs that slurmd has
	taskset -p $ANYWHERE $$ > /dev/null
	munged --force
	database_start
	slurmdbd
	until_true answers sacctmgr -n list cluster
	answers sacctmgr -i add cluster t410
	slurmctld
	[ $# != 0 ] || slurmd
	for node; do slurmd -N "$node"; done
	until_true node_is_idle
}

cluster_end() {
	scontrol shutdown > /dev/null 2>&1
	for name in slurmdbd munged; do
		killall $name
	done 2> /dev/null
	kill "$database"
	wait "$database"
	taskset -p $SOCKET0 $$ > /dev/null
}

# --- accounts

# serve: as its unit does, with the same capabilities, on a CPU of its own. Readings of latencies
# take twenty times as long as on hardware, and nobody asks for them here; those of counters are
# half as many as usual. Everything that keeps emulated CPUs busy makes bytes come late.
serve() {
	taskset -c 3 /usr/bin/setpriv --no-new-privs --inh-caps -all \
		--bounding-set -all,+bpf,+perfmon,+sys_ptrace,+dac_read_search \
		"$T410TRACE" serve --interval 1s --read-budget 0 --window 20ms --names yes -v 2>> serve.err &
	daemon=$!
	until_true answers page healthz
}

page() { wget -q -O - "http://127.0.0.1:9410/$1"; }

# serve_end: exit status in serve.status
serve_end() {
	kill -TERM "$daemon"
	wait "$daemon"
	echo $? > serve.status
}

# A job that moves bytes: job NAME RATE STEP, with bytes for a millisecond of CPU time. It has one
# CPU, and the slots of its socket are 0 and 1 or 2 and 3. The script reads, and then starts a
# step, which reads (0) or writes (1) for as long at three times the rate. Both wait until all jobs
# are there: on emulated CPUs Slurm's programs take seconds to start, and would be half of what is
# measured.
write_job() {
	cat > /tmp/job.sh <<-'END'
	#!/bin/sh
	name=$1 rate=$2 kind=$3 out=$4
	ready() {
		: > "$out/$name.$1"
		until [ -e "$out/go.$1" ]; do sleep 0.3; done
	}
	load() {
		traffic --name "$1" --report "$out/truth" --slot "$2" --rate "$3" --seed "$3" --duty 20-100/50-250 \
			--seconds 6
	}
	if [ $# = 5 ]; then	# the step
		ready step
		load "$name-step" $(($5 + kind)) $((3 * rate))
		exit
	fi
	/usr/bin/date +%s%N > "$out/$name.started"
	cpu=$(taskset -cp $$ | sed 's/.*: //')
	echo "$cpu" > "$out/$name.cpu"
	echo "$SLURM_JOB_ID" > "$out/$name.id"
	first=$((cpu / 2 * 2))
	ready batch
	load "$name" $first "$rate"
	srun /tmp/job.sh "$@" $first
	/usr/bin/date +%s%N > "$out/$name.ended"
	END
	chmod +x /tmp/job.sh
}

# patiently COMMAND...: waits for it without being a load itself
patiently() { look_every 2000000 "$@"; }

# all_ready STEP: the three jobs have come so far; and it is quiet
all_ready() {
	for name in alpha beta gamma; do patiently test -e $name.$1; done
	sleep 2
	: > go.$1
}

# Their comment looks like fields of "scontrol show job", which the epilog must not believe.
submit() {
	submit_name=$1
	shift
	sbatch -J "$submit_name" --comment "x ArrayTaskId=1 ArrayJobId=1,2,3 StartTime=2099-01-01T00:00:00" \
		-n 1 -o "$submit_name.out" /tmp/job.sh "$submit_name" "$@" "$PWD" >> sbatch.out 2>&1
}

# Slurm's controller tells its database when it has time to
has_record() { [ -n "$(sacct -X -n -P -j "$1" -o AdminComment)" ]; }
have_completed() { [ "$(sacct -X -n -P -o State | grep -cx COMPLETED)" -ge "$1" ]; }

# keep NAME: what there is to be known of a job
keep() {
	keep_id=$(cat "$1.id")
	cp $SPOOL/slurm-"$keep_id"-* "$1.json"
	for file in $SPOOL/slurm-"$keep_id"-*; do
		/usr/bin/stat -c %.9Y "$file"
	done > "$1.written"
	said "$1-job" "$T410TRACE" job "$keep_id" --json
	said "$1-table" "$T410TRACE" job "$keep_id"
	until_true has_record "$keep_id"
	sacct -X -n -P -j "$keep_id" -o AdminComment > "$1.record"
	said "$1-decoded" "$T410TRACE" job --decode "$(cat "$1.record")"
}

# Three jobs at once and one that waits for all of them. Then one during which the daemon is killed.
scenario_slurm() {
	cluster_start
	mkdir -p /etc/slurm/epilog.d /etc/t410trace
	cp /host/epilog.sh /etc/slurm/epilog.d/t410trace.sh
	# its limits are for a node that must not wait; emulated CPUs may take longer
	printf 'T410TRACE=%s\nWAIT=120\nLIMIT=360\n' "$T410TRACE" > /etc/t410trace/epilog.conf
	write_job
	# Debian's kernel asks for all of CAP_SYS_ADMIN otherwise (see docs/SERVE.md)
	echo 2 > /proc/sys/kernel/perf_event_paranoid
	serve
	submit alpha 1000000 0
	submit beta 3000000 0
	submit gamma 500000 1
	sbatch -J last -n 4 -o last.out --wrap "/usr/bin/date +%s%N > $PWD/last.started" >> sbatch.out 2>&1
	all_ready batch
	patiently has_lines truth 3
	all_ready step
	patiently has_lines truth 6
	patiently test -e last.started
	until_true node_is_idle
	page metrics > metrics
	page jobs > running
	page healthz > healthz
	for name in alpha beta gamma; do keep $name; done
	said jobs "$T410TRACE" jobs --json
	mv truth truth.three

	# One program after the other, so that the truth says when bytes were moved; until the daemon has
	# been back for a while, however long that takes. A task of an array, to which Slurm's database
	# gives another number.
	sbatch -J delta -a 7 -n 1 -o delta.out --wrap "
		slot=\$((\$(taskset -cp \$\$ | sed 's/.*: //') / 2 * 2))
		echo \$SLURM_JOB_ID > $PWD/delta.id
		until [ -e $PWD/enough ]; do
			traffic --name delta --report $PWD/truth --slot \$slot --rate 1000000 --seconds 0.25
		done" >> sbatch.out 2>&1
	patiently has_lines truth 16
	page report > last.page
	/usr/bin/date +%s%N > killed
	kill -KILL "$daemon"
	wait "$daemon"
	/usr/bin/date +%s%N > dead
	sleep 1
	serve
	/usr/bin/date +%s%N > restarted
	uptime_ns > back
	patiently has_lines truth $(($(wc -l < truth) + 6))
	touch enough
	until_true node_is_idle
	keep delta
	page metrics > metrics.later
	serve_end
	echo 3 > /proc/sys/kernel/perf_event_paranoid
	until_true have_completed 5
	sacct -X -P -o JobID,JobName,State,ExitCode > sacct
	SLURM_TIME_FORMAT=%s sacct -X -n -P -o JobName,ElapsedRaw,Start > sacct.times
	cluster_end
	cp $SLURM_LOG/*.log .
}
