#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Part of guest.sh: Debian's packages of t410trace, in /host/debs and, as of a later version, in
# /host/debs/later, on a machine whose first process is systemd, with AppArmor.

# busybox has a dpkg of its own. Libraries are not those of packages here, so dependencies are not looked at.
DPKG="/usr/bin/dpkg --force-confold --force-depends"
PAGES=/run/t410trace/t410trace.sock
AA_PROFILES=/sys/kernel/security/apparmor/profiles

# What an installed system has, and this guest has not
become_debian() {
	insmod /machine/modules/overlay.ko
	mkdir -p /var/usr/new /var/usr/work /var/lib/dpkg/info /var/lib/dpkg/updates /var/lib/dpkg/triggers
	mount -t overlay overlay -o lowerdir=/usr,upperdir=/var/usr/new,workdir=/var/usr/work /usr
	: > /var/lib/dpkg/status
	cp -a /usr/share/apparmor.d /etc/
	# where this build of t410trace has its libraries
	mkdir -p /etc/apparmor.d/local
	echo '/opt/t410trace/lib/** mr,' > /etc/apparmor.d/local/t410trace-serve
	echo 'root:*:20000:0:99999:7:::' > /etc/shadow
	echo 2 > /proc/sys/kernel/perf_event_paranoid
	# the kernel would leave lines out when there are many
	echo 0 > /proc/sys/kernel/printk_ratelimit
}

# --- used by guest_operation.sh, too

# settings LINE...: serve.conf with these lines
# shellcheck disable=SC2120  # guest_operation.sh has some
settings() {
	printf '%s\n' "interval = 1s" "window = 20ms" "read-budget = 0" "schedulers = slurm" "$@" > /etc/t410trace/serve.conf
}

# answers_with STATUS PAGE: keeps the page
answers_with() { [ "$(curl -s -m 60 -o "$2.page" -w '%{http_code}' --unix-socket $PAGES "http://localhost/$2")" = "$1" ]; }

# job_begins NUMBER: a task of a job of Slurm, which alone reads on socket 1. It does when the job is known:
# what the machine counted before is in no account of the job (docs/JOBS.md, Begin and end).
job_begins() {
	mkdir -p "$CGROUPS/slurmstepd.scope/job_$1/step_0"
	until_true in_page jobs "$1"
	traffic --name "job$1" --report truth --cgroup "slurmstepd.scope/job_$1/step_0" --slot 2 --rate 1000000 --cpu 2 \
		--seconds 300 &
	task=$!
	until_true has_worked 50 $task
}
in_page() { answers_with 200 "$1" && grep -q "\"$2\"" "$1.page"; }
has_closing() { [ -n "$(find $SPOOL -name "slurm-$1-*.json")" ]; }

# job_ends NUMBER: kills the task
job_ends() {
	kill -TERM $task
	wait $task
	rmdir "$CGROUPS/slurmstepd.scope/job_$1/step_0" "$CGROUPS/slurmstepd.scope/job_$1"
}

# job_reported NUMBER: keeps its closing report
job_reported() {
	until_true has_closing "$1"
	cp $SPOOL/slurm-"$1"-*.json "job$1.json"
}

# --- the packages

# units_shown NAME UNIT...: their states
units_shown() {
	shown_name=$1
	shift
	for unit; do
		echo "Unit=$unit"
		systemctl show "$unit" -p UnitFileState -p ActiveState -p Result -p MainPID
	done > "$shown_name.shown"
}

all_units_shown() {
	units_shown "$1" t410trace.service t410trace.socket t410trace-collect.timer t410trace-gpu.service t410trace-merge.timer
}

# package_state NAME: version, settings, units
package_state() {
	/usr/bin/dpkg -s t410trace > "$1.dpkg"
	all_units_shown "$1"
	ls /etc/t410trace > "$1.etc"
	cp /etc/t410trace/serve.conf "$1.conf"
	stat -c '%n %a %U %G' /var/lib/t410trace $SPOOL > "$1.folders"
	until_true answers_with 200 healthz
	t410trace jobs --json > "$1.jobs"
}

denied() { dmesg | grep -q 'DENIED.*"/etc/shadow"'; }
read_shadow() { "$@" /usr/bin/dash -c 'read -r line < /etc/shadow'; }

scenario_packages() {
	taskset -p $ANYWHERE $$ > /dev/null
	become_debian
	# shellcheck disable=SC2086  # words
	said install $DPKG -i /host/debs/*.deb
	all_units_shown installed
	settings
	said enable systemctl enable --now t410trace.service t410trace.socket
	package_state enabled
	said check t410trace check --json
	mv check.out check.json
	cat "/proc/$(main_pid)/attr/current" > confined
	read_shadow env && touch shadow.read
	read_shadow aa-exec -p t410trace-serve -- || echo $? > shadow.refused
	until_true denied

	job_begins 7001
	job_ends 7001
	job_reported 7001
	job_begins 7002
	main_pid > pid.before
	# shellcheck disable=SC2086
	said upgrade $DPKG -i /host/debs/later/*.deb
	package_state upgraded
	main_pid > pid.after
	job_ends 7002
	job_reported 7002
	# shellcheck disable=SC2086
	said rollback $DPKG -i /host/debs/*.deb
	package_state rolled

	main_pid > pid.purged
	# shellcheck disable=SC2086
	said purge $DPKG --purge t410trace-slurm t410trace-gpu t410trace
	journalctl --sync
	journalctl -u t410trace.service -u t410trace.socket --no-pager -o cat > journal
	systemctl list-units 't410trace*' --all --plain --no-legend > left
	[ ! -d "/proc/$(cat pid.purged)" ] || echo "process $(cat pid.purged)" >> left
	grep t410trace $AA_PROFILES /etc/group /etc/passwd >> left
	find /etc /run /var -name '*t410trace*' ! -path '/var/cache/*' ! -path '/var/log/*' ! -path '/run/systemd/*' >> left
	dmesg | grep 'apparmor="DENIED"' > denied
}
