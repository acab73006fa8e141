#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Part of guest.sh: this machine is a cluster of three nodes: a real slurmd for each, whose jobs have
# cgroups of their own, and one t410trace serve, for there is one machine to be counted. The epilog
# of a node finds the closing report of the job's cgroup on that node. The rest is as on real nodes:
# epilogs, tickets, rounds of merge.sh, Slurm's database. Needs guest_slurm.sh.

SHARED=/shared/t410trace
TICKETS=/var/lib/t410trace-merge
# Seconds in which nodes may close
CLOSE=30

# Three nodes of one machine. They do not keep CPUs apart, for each would take the first ones.
fleet_settings() {
	sed -i -e '/^NodeName=/d' -e '/^TaskPlugin=/d' -e 's|/slurmd$|/slurmd.%n|' -e 's|slurmd\.log|slurmd.%n.log|' \
		-e 's/CR_Core/CR_CPU/' /etc/slurm/slurm.conf
	sed -i 's/ConstrainCores=yes/ConstrainCores=no/' /etc/slurm/cgroup.conf
	cat >> /etc/slurm/slurm.conf <<-END
	SlurmdPidFile=/run/slurmd.%n.pid
	SlurmdParameters=config_overrides
	EpilogSlurmctld=/etc/slurm/epilog-slurmctld.sh
	END
	for node in 1 2 3; do
		echo "NodeName=n$node NodeHostname=t410 NodeAddr=$ADDRESS Port=1700$node CPUs=4 RealMemory=1500"
	done >> /etc/slurm/slurm.conf
}

# The program that epilogs ask on node n1, n2 and n3, as "job --wait S --json --since @BEGIN slurm:ID".
write_asker() {
	cat > /tmp/asker <<-END
	#!/bin/sh
	[ ! -e /tmp/stopped.\$SLURMD_NODENAME ] || exit 4
	for word; do id=\${word#slurm:}; done
	for second in \$(seq 120); do
		for report in $SPOOL/slurm-\$id-*.json; do
			grep -q "/\${SLURMD_NODENAME}_slurmstepd.scope/job_\$id\"" "\$report" || continue
			exec sed "s/\"host\":{\"name\":\"t410\"/\"host\":{\"name\":\"\$SLURMD_NODENAME\"/" "\$report"
		done
		sleep 1
	done
	exit 4
	END
	chmod +x /tmp/asker
}

fleet_install() {
	# small, for it has to become full
	mkdir -p /shared /etc/slurm/epilog.d /etc/t410trace $TICKETS
	mount -t tmpfs -o size=4m tmpfs /shared
	mkdir -m 750 $SHARED
	write_asker
	cp /host/epilog.sh /etc/slurm/epilog.d/t410trace.sh
	cp /host/epilog-slurmctld.sh /etc/slurm/
	# merge.sh has the program itself
	cat > /etc/t410trace/epilog.conf <<-END
	case \$0 in *merge.sh) T410TRACE=$T410TRACE ;; *) T410TRACE=/tmp/asker ;; esac
	SHARED=$SHARED
	SHARED_USER=root
	TICKETS=$TICKETS
	CLOSE=$CLOSE
	WAIT=120
	LIMIT=360
	CALL=300
	END
}

# A job on nodes: node NAME RATE SECONDS OUT moves bytes on each, by another counter or at another
# rate. It waits for a file: Slurm's programs take long to start. Programs of two jobs that move bytes
# at once are on different CPUs: what is tested here is not how the bytes of a CPU are split.
write_node() {
	cat > /tmp/node <<-'END'
	#!/bin/sh
	name=$1 rate=$2 seconds=$3 out=$4
	number=${SLURMD_NODENAME#n}
	case $name.$number in
	two.* | array.*) cpu=1 slot=1 ;;
	*.1) cpu=0 slot=0 ;;
	*.2) cpu=2 slot=3 ;;
	*.3) cpu=2 slot=2 ;;
	esac
	: > "$out/ready.$name.$SLURM_JOB_ID.$number"
	until [ -e "$out/go.$name" ]; do sleep 0.3; done
	exec taskset -c $cpu traffic --name "$name.$SLURM_JOB_ID.$number" --report "$out/truth" \
		--slot $slot --rate $((rate * number)) --seed $((rate + number)) --duty 20-100/50-250 \
		--seconds "$seconds"
	END
	chmod +x /tmp/node
}

# send_job NAME NODES RATE SECONDS [OPTION...]: a batch job, whose number is in NAME.id
send_job() {
	send_name=$1 send_nodes=$2 send_rate=$3 send_seconds=$4
	shift 4
	sbatch --parsable -J "$send_name" --comment "x ArrayTaskId=1 JobId=1" -N "$send_nodes" -n "$send_nodes" \
		--ntasks-per-node=1 -o "$send_name.%j.out" "$@" \
		--wrap "srun --overlap /tmp/node $send_name $send_rate $send_seconds $PWD" > "$send_name.id" 2>> sbatch.err
}

# shellcheck disable=SC2012  # names are plain
are_ready() { [ "$(ls ready."$1".* 2> /dev/null | wc -l)" -ge "$2" ]; }
no_job() { [ -z "$(squeue -h)" ]; }

# round NAME: of merge.sh; what was shared before it is kept
round() {
	cp -r $SHARED "reports.$1"
	cp -r $TICKETS "tickets.$1"
	said "round.$1" /host/merge.sh
}

closed_in_vain() { [ "$(date +%s)" -gt $(($1 + CLOSE)) ]; }
have_tickets() { [ "$(find $TICKETS -maxdepth 1 -name '[0-9]*' | wc -l)" -ge "$1" ]; }
has_ticket() { [ -e "$TICKETS/$1" ]; }

# ended NAME: the job of this name has, and everything of it
ended() {
	until_true no_job
	until_true has_ticket "$(cat "$1.id")"
	date +%s > "$1.end"
}

scenario_fleet() {
	# slurmctld ignores an epilog that is not there when it starts
	fleet_install
	cluster_start n1 n2 n3
	write_node
	echo 2 > /proc/sys/kernel/perf_event_paranoid
	serve
	# three jobs at once, one of them an array, which runs where there is room
	send_job three 3 1000000 4
	send_job two 2 600000 4
	send_job array 1 800000 2 -a 1-2
	for ready in "three 3" "two 2" "array 2"; do
		# shellcheck disable=SC2086  # two words
		patiently are_ready $ready
	done
	for name in three two; do : > go.$name; done
	patiently has_lines truth 5
	: > go.array
	patiently no_job
	until_true have_tickets 4
	round first

	# the daemon of a node is stopped
	: > go.stopped
	: > /tmp/stopped.n2
	send_job stopped 3 500000 1
	ended stopped
	rm /tmp/stopped.n2
	round early
	until_true closed_in_vain "$(cat stopped.end)"
	round late

	# the folder is full, and then it is gone, while a job ends
	for name in full gone; do
		: > go.$name
		case $name in
		full) dd if=/dev/zero of=/shared/fill bs=64k > /dev/null 2>&1 ;;
		gone) mv $SHARED /shared/away ;;
		esac
		send_job $name 2 500000 1
		ended $name
		case $name in
		full) rm /shared/fill ;;
		gone)
			said round.gone.away /host/merge.sh
			mv /shared/away $SHARED
			;;
		esac
	done
	until_true closed_in_vain "$(cat gone.end)"
	round vain

	# a node dies in the middle
	send_job killed 3 500000 600 --no-requeue
	patiently are_ready killed 3
	: > go.killed
	sleep 3
	kill -KILL "$(cat /run/slurmd.n3.pid)"
	echo 1 > "$CGROUPS/system.slice/n3_slurmstepd.scope/cgroup.kill"
	scontrol update nodename=n3 state=down reason=killed
	ended killed
	until_true closed_in_vain "$(cat killed.end)"
	round killed

	for name in three two array stopped full gone killed; do
		sacct -X -n -P -j "$(cat $name.id)" -o JobID,JobName,State,ExitCode,AdminComment > "$name.sacct"
		cut -d '|' -f 5 < "$name.sacct" | while read -r record; do
			[ -z "$record" ] || "$T410TRACE" job --decode "$record"
		done > "$name.decoded" 2>> decode.err
	done
	sinfo -h -N -o '%N %T' > nodes
	serve_end
	echo 3 > /proc/sys/kernel/perf_event_paranoid
	cluster_end
	cp $SLURM_LOG/*.log .
	umount -l /shared
}
