#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Part of guest.sh: a cluster of three machines, t410-1 to t410-3, whose nodes Slurm calls n1 to n3. The
# first has the controller, the database and the shared folder, which all of them mount by NFS, where
# root is nobody. Each has a slurmd, whose epilog is ours, and t410trace serve. Needs guest_slurm.sh.

NET=10.4.1
# What the server of NFS has, and where nodes see it
EXPORT=/srv
SHARED=/shared/t410trace
TICKETS=/var/lib/t410trace-merge
# Seconds in which nodes may close
CLOSE=30
# A folder of the host: signs from one machine to another, and what programs moved
COMMON=/host/fleet

# --- machines

# The cluster's names and settings, which all machines have, and its key, which is the first one's.
# Slurm's user is not root: that one must not own a folder in which root is nobody.
fleet_settings() {
	echo 'slurm:x:64030:' >> /etc/group
	mkdir -p /run/slurm
	chmod 1777 $SLURM_LOG
	sed -i -e '/^NodeName=/d' -e '/^ProctrackType=/a ReturnToService=2' -e 's/^SlurmUser=.*/SlurmUser=slurm/' \
		-e "s/^SlurmctldHost=.*/SlurmctldHost=t410-1($NET.1)/" \
		-e 's/^AccountingStorageHost=.*/AccountingStorageHost=t410-1/' \
		/etc/slurm/slurm.conf
	sed -i -e 's/^SlurmUser=.*/SlurmUser=slurm/' -e 's/^DbdHost=.*/DbdHost=t410-1/' \
		-e "s/^DbdAddr=.*/DbdAddr=$NET.1/" -e '$a PidFile=/run/slurm/slurmdbd.pid' /etc/slurm/slurmdbd.conf
	cat >> /etc/slurm/slurm.conf <<-END
	SlurmctldPidFile=/run/slurm/slurmctld.pid
	SlurmdParameters=config_overrides
	EpilogSlurmctld=/etc/slurm/epilog-slurmctld.sh
	END
	: > /etc/hosts
	for number in 1 2 3; do
		echo "$NET.$number t410-$number" >> /etc/hosts
		echo "NodeName=n$number NodeHostname=t410-$number NodeAddr=$NET.$number Sockets=2 CoresPerSocket=2 RealMemory=1500"
	done >> /etc/slurm/slurm.conf
	chown slurm:slurm /run/slurm /var/spool/slurmctld /etc/slurm/slurmdbd.conf
	[ "$machine" != 1 ] || cp /etc/munge/munge.key $COMMON/munge.new
	[ "$machine" != 1 ] || mv $COMMON/munge.new $COMMON/munge.key
}

# fleet_install NUMBER: what each node has
fleet_install() {
	machine=$1
	hostname "t410-$1"
	echo 'slurm:x:64030:64030::/:/bin/sh' >> /etc/passwd
	ifconfig lo up
	ifconfig eth0 $NET."$1" netmask 255.255.255.0
	mkdir -p /etc/slurm/epilog.d /etc/t410trace
	cp /host/epilog.sh /etc/slurm/epilog.d/t410trace.sh
	cp /host/epilog-slurmctld.sh /etc/slurm/
	syslogd -O "$COMMON/log.$1"
	# its limits are for a node that must not wait; emulated CPUs may take longer
	# busybox' shell takes its own programs, whatever PATH says, and these two can do less
	cat > /etc/t410trace/epilog.conf <<-END
	setpriv() { /usr/bin/setpriv "\$@"; }
	timeout() { /usr/bin/timeout "\$@"; }
	T410TRACE=$T410TRACE
	SHARED=$SHARED
	TICKETS=$TICKETS
	CLOSE=$CLOSE
	WAIT=40
	LIMIT=60
	CALL=100
	END
	write_node
}

# A folder in memory, small, because it has to become full
nfs_serve() {
	mkdir -p $EXPORT /var/lib/nfs/v4recovery
	mount -t tmpfs -o size=4m,mode=0755 tmpfs $EXPORT
	mkdir -m 750 $EXPORT/t410trace
	chown 64030:64030 $EXPORT/t410trace
	mount -t nfsd nfsd /proc/fs/nfsd
	echo "$EXPORT $NET.0/24(rw,sync,root_squash,no_subtree_check,fsid=0)" > /etc/exports
	: > /var/lib/nfs/etab
	: > /var/lib/nfs/rmtab
	exportfs -r
	rpc.mountd --no-nfs-version 3
	nfs_answers
}
nfs_answers() { rpc.nfsd --port 2049 --no-nfs-version 3 --grace-time 10 --lease-time 10 2; }
nfs_is_silent() { rpc.nfsd 0; }

nfs_mount() {
	mkdir -p /shared
	mount -i -t nfs4 -o "vers=4.2,sec=sys,addr=$NET.1,clientaddr=$NET.$1" $NET.1:/ /shared
}

# fleet_node NUMBER: a machine that only computes, until the end; its daemon stops while it is told to
fleet_node() {
	fleet_install "$1"
	slurm_folders
	slurm_settings
	fleet_settings
	until_true test -e $COMMON/munge.key
	cp $COMMON/munge.key /etc/munge/
	until_true nfs_mount "$1"
	taskset -p $ANYWHERE $$ > /dev/null
	munged --force
	echo 2 > /proc/sys/kernel/perf_event_paranoid
	# of a machine that is switched off, too
	ln -s "$COMMON/serve.$1" serve.err
	serve
	slurmd
	until [ -e $COMMON/end ]; do
		if [ -e "$COMMON/stop.$1" ]; then
			serve_end
			: > "$COMMON/stopped.$1"
			until_true test ! -e "$COMMON/stop.$1"
			serve
			rm "$COMMON/stopped.$1"
		fi
		sleep 1
	done
	serve_end
	killall slurmd munged
	umount -l /shared
	cp $SLURM_LOG/slurmd.log .
	rm serve.err
	: > "$COMMON/ended.$1"
}
scenario_fleet_node2() { fleet_node 2; }
scenario_fleet_node3() { fleet_node 3; }

# --- jobs

# A job on nodes: node NAME RATE SECONDS moves bytes on each, at another rate, by a counter of the
# socket of its CPU: the job on three nodes reads, others write. It waits for a file, of all nodes or of
# its own: Slurm's programs take long to start.
write_node() {
	cat > /tmp/node <<-END
	#!/bin/sh
	name=\$1 rate=\$2 seconds=\$3
	number=\${SLURMD_NODENAME#n}
	cpu=\$(taskset -cp \$\$ | sed 's/.*[^0-9]//')
	slot=\$((cpu / 2 * 2))
	[ "\$name" = three ] || slot=\$((slot + 1))
	: > "$COMMON/ready.\$name.\$SLURM_JOB_ID.\$number"
	until [ -e "$COMMON/go.\$name" ] || [ -e "$COMMON/go.\$name.\$number" ]; do sleep 0.5; done
	run=\$name.\$SLURM_JOB_ID.\$number
	taskset -c "\$cpu" traffic --name "\$run" --report "/tmp/\$run" --slot \$slot --rate \$((rate * number)) \
		--seed \$((rate + number)) --duty 20-100/50-250 --seconds "\$seconds"
	cp "/tmp/\$run" "$COMMON/truth/"
	END
	chmod +x /tmp/node
}

# send_job NAME NODES RATE SECONDS [OPTION...]: a batch job, whose number is in NAME.id
send_job() {
	send_name=$1 send_nodes=$2 send_rate=$3 send_seconds=$4
	shift 4
	sbatch --parsable -J "$send_name" --comment "x ArrayTaskId=1 JobId=1" -N "$send_nodes" -n "$send_nodes" \
		--ntasks-per-node=1 -D /tmp -o "$COMMON/$send_name.%j.out" "$@" \
		--wrap "srun --overlap /tmp/node $send_name $send_rate $send_seconds" > "$send_name.id" 2>> sbatch.err
}

# has_files COUNT FILE...: are so many of these there?
has_files() {
	wanted=$1
	shift
	[ -e "$1" ] && [ $# -ge "$wanted" ]
}
are_ready() { has_files "$2" $COMMON/ready."$1".*; }
have_moved() { has_files "$1" $COMMON/truth/*; }
# no_job: not when the controller does not answer, which is said by an empty list, too
no_job() { jobs=$(squeue -h) && [ -z "$jobs" ]; }

# round NAME: of merge.sh; what was shared before it is kept
round() {
	cp -r $EXPORT/t410trace "reports.$1"
	find $EXPORT/t410trace -mindepth 1 -exec /usr/bin/stat -c %u {} + >> owners
	cp -r $TICKETS "tickets.$1"
	said "round.$1" /usr/bin/setpriv --reuid 64030 --regid 64030 --clear-groups -- /tmp/merge.sh
}

closed_in_vain() { [ "$(date +%s)" -gt $(($1 + CLOSE)) ]; }
have_tickets() { [ "$(find $TICKETS -maxdepth 1 -name '[0-9]*' | wc -l)" -ge "$1" ]; }
# has_ticket NAME: the job of this name, before a round or after it
has_ticket() { [ -e "$TICKETS/$(cat "$1.id")" ] || [ -e "$TICKETS/open/$(cat "$1.id")" ]; }

# ended NAME: the job has, and the epilogs of its nodes
ended() {
	patiently has_ticket "$1"
	patiently no_job
	date +%s > "$1.end"
}

# time_is_over NAME: that of its nodes
time_is_over() { until_true closed_in_vain "$(cat "$1.end")"; }

# --- what is seen

first_jobs() {
	# three jobs at once, one of them an array, which runs where there is room
	send_job three 3 1000000 4
	send_job two 2 600000 4
	send_job array 1 800000 2 -a 1-2
	for ready in "three 3" "two 2" "array 2"; do
		# shellcheck disable=SC2086  # two words
		patiently are_ready $ready
	done
	# One machine after the other: programs on all of them at once had to wait for the host's processors
	# in a third of their CPU time, after which their bytes come in one piece. Nobody can tell whose
	# such a piece is: a tenth of a job's bytes went to others.
	for number in 1 2 3; do
		for name in three two; do : > $COMMON/go.$name.$number; done
		patiently have_moved $((number < 3 ? 2 * number : 5))
	done
	: > $COMMON/go.array
	patiently no_job
	until_true have_tickets 4
	round first
}

# The daemon of a node is stopped.
stopped_daemon() {
	: > $COMMON/go.stopped
	: > $COMMON/stop.2
	until_true test -e $COMMON/stopped.2
	send_job stopped 3 500000 1
	patiently has_ticket stopped
	round early
	ended stopped
	rm $COMMON/stop.2
	until_true test ! -e $COMMON/stopped.2
	time_is_over stopped
	round late
}

# The folder is full, and then its server does not answer, while a job ends.
no_folder() {
	: > $COMMON/go.full
	dd if=/dev/zero of=$EXPORT/fill bs=64k > /dev/null 2>&1
	send_job full 2 500000 1
	ended full
	rm $EXPORT/fill
	: > $COMMON/go.gone
	nfs_is_silent
	send_job gone 2 500000 1
	ended gone
	round gone.away
	nfs_answers
	time_is_over gone
	round vain
}

# A machine dies in the middle: the host switches it off.
killed_node() {
	send_job killed 3 500000 600 --no-requeue
	patiently are_ready killed 3
	: > $COMMON/go.killed
	sleep 3
	: > $COMMON/kill.3
	until_true test -e $COMMON/killed.3
	scontrol update nodename=n3 state=down reason=killed
	ended killed
	time_is_over killed
	round killed
}

scenario_fleet() {
	# slurmctld ignores an epilog that is not there when it starts
	fleet_install 1
	mkdir -p $COMMON/truth $TICKETS
	chown 64030:64030 $TICKETS
	cp /host/merge.sh /tmp/
	nfs_serve
	until_true nfs_mount 1
	cluster_start n1
	echo 2 > /proc/sys/kernel/perf_event_paranoid
	serve
	first_jobs
	stopped_daemon
	no_folder
	killed_node
	for name in three two array stopped full gone killed; do
		sacct -X -n -P -j "$(cat $name.id)" -o JobID,JobName,State,ExitCode,AdminComment > "$name.sacct"
		cut -d '|' -f 5 < "$name.sacct" | while read -r record; do
			[ -z "$record" ] || "$T410TRACE" job --decode "$record"
		done > "$name.decoded" 2>> decode.err
	done
	sinfo -h -N -o '%N %T' > nodes
	cat $COMMON/truth/* > truth
	grep " /shared " /proc/mounts > mount
	: > $COMMON/end
	until_true test -e $COMMON/ended.2
	serve_end
	echo 3 > /proc/sys/kernel/perf_event_paranoid
	cluster_end
	umount -l /shared
	nfs_is_silent
	cp $SLURM_LOG/*.log $COMMON/log.? .
}
