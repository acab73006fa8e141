#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# steps.sh STEP TREE JOB: a step of tests/packages.sh in a fresh system of Debian. In the same
# folder are the packages, new and before, and what steps leave to later ones. TREE is a cgroup that
# it may make, JOB a number that no job of Slurm on this machine has.
set -eux
export DEBIAN_FRONTEND=noninteractive
step=$1 tree=$2 job=$3
cd "$(dirname "$0")"
state=/var/lib/t410trace
settings=/etc/t410trace/serve.conf
daemon=
# of a step that fails
trap '[ -z "$daemon" ] || kill "$daemon"' EXIT

apt() { apt-get -y -q --no-install-recommends -o Dpkg::Options::=--force-confold "$@"; }

# no COMMAND...: it must fail; "set -e" does not look at "! COMMAND"
no() { if "$@"; then return 1; fi; }

# until_true COMMAND...: as long as a busy machine may take
until_true() {
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ $tries -lt 1200 ] || return 1
		sleep 0.1
	done
}

# accounts: how many of the job there are, running or past
accounts() { t410trace jobs --json | grep -o "\"id\": *\"$job\"" | wc -l; }
have_accounts() { [ "$(accounts)" = "$1" ]; }
# reports: how many closing reports
reports() { find /var/spool/t410trace -name "slurm-$job-*.json" | wc -l; }
have_reports() { [ "$(reports)" = "$1" ]; }

# page NAME: of the daemon, by what each system has
page() {
	port=$(sed -nE 's|.*http://127.0.0.1:([0-9]+)/.*|\1|p' daemon.log)
	# shellcheck disable=SC2016  # for the shell that knows such files
	bash -c 'exec 3<> "/dev/tcp/127.0.0.1/$1"
		printf "GET /%s HTTP/1.0\r\n\r\n" "$2" >&3; cat <&3' bash "$port" "$1"
}

# start: a daemon that serves pages
start() {
	# what an earlier one said is not asked
	rm -f daemon.log
	t410trace serve > daemon.log 2>&1 &
	daemon=$!
	until_true grep -qs http:// daemon.log
	page metrics | grep '^# TYPE t410trace_'
}

stop() {
	kill $daemon
	wait $daemon
	daemon=
}

# keep_job: a daemon has a job of Slurm from its begin to its end
keep_job() {
	group=$tree/slurmstepd.scope/job_$job
	start
	before=$(accounts) written=$(reports)
	mkdir -p "$group/step_0"
	# shellcheck disable=SC2016  # for the shell of the job
	sh -c 'echo $$ > "$1/cgroup.procs"
		i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done' sh "$group/step_0"
	until_true have_accounts $((before + 1))
	until_true rmdir "$group/step_0"
	rmdir "$group" "$tree/slurmstepd.scope" "$tree"
	until_true have_reports $((written + 1))
	stop
	t410trace job --json "slurm:$job" | grep -q '"slurm"'
}

step_dependencies() {
	apt install systemd man-db
	for folder in before new; do apt satisfy "$(dpkg-deb -f $folder/t410trace_*.deb Depends)"; done
}

step_install() {
	apt install ./before/*.deb
	t410trace --version
	status=0
	t410trace check || status=$?
	[ $status -le 1 ]
	stat -c '%A %U %G' $state | grep -qx 'drwxr-s--- root t410trace'
	dpkg -L t410trace t410trace-gpu t410trace-slurm | sed -nE 's|.*/systemd/system/(.+)|\1|p' > units
	[ "$(wc -l < units)" -ge 5 ]
	while read -r unit; do
		# its status is that of the unit
		{ systemctl --root=/ is-enabled "$unit" || true; } | grep -xE 'disabled|static'
	done < units
}

step_accounts() {
	printf 'counters = no\ninterval = 300ms\nlisten = 127.0.0.1:0\nschedulers = slurm\n' > $settings
	keep_job
}

# installed FOLDER: of these packages is what is there
installed() {
	[ "$(dpkg-query -W -f '${Version}' t410trace)" = "$(dpkg-deb -f "$1"/t410trace_*.deb Version)" ]
	t410trace --version
	grep -q 'counters = no' $settings
	[ -s $state/accounts.db ]
	dpkg --verify t410trace t410trace-gpu t410trace-slurm > verified || true
	no grep -v " $settings\$" verified
}

step_upgrade() {
	apt install ./new/*.deb
	installed new
}

step_units() {
	systemd-analyze verify /usr/lib/systemd/system/t410trace*.* > said 2>&1 || true
	no grep t410trace said
	systemd-analyze security --offline=yes t410trace.service | grep 'exposure level'
}

step_upgraded_daemon() {
	keep_job
	[ -s $state/accounts.db.v8 ]
	have_accounts 2
}

step_manual_page() {
	man -w t410trace t410trace-gpu
	zcat /usr/share/man/man1/t410trace.1.gz | grep -q /etc/t410trace/
}

# Settings that both the package and the operator have changed
step_changed_settings() {
	apt install ./later/t410trace_*.deb
	grep 'counters = no' $settings
	grep '^# of a later' $settings.dpkg-dist
}

# The file rollback has the commands of docs/OPERATION.md: accounts are those of before the upgrade
step_rollback() {
	sh -eux rollback
	apt --allow-downgrades install ./before/*.deb
	installed before
	keep_job
	have_accounts 2
	[ -s $state/accounts.db.newer ]
}

step_remove() {
	apt remove 't410trace*'
	no command -v t410trace
	[ -s $state/accounts.db ]
	grep 'counters = no' $settings
}

# A daemon that systemd does not know is not stopped, and writes its accounts again: this is said
step_purge_beside_a_daemon() {
	apt install ./new/*.deb
	start
	apt purge 't410trace*' > purged 2>&1
	cat purged
	grep "process $daemon still keeps accounts in $state" purged
	no getent group t410trace
	stop
	rm -rf $state
	no test -e /var/spool/t410trace
}

"step_$step"
