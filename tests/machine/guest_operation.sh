#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Part of guest.sh: what docs/OPERATION.md and docs/SERVE.md promise of t410trace serve, on a machine
# whose first process is systemd. CPU 3 is isolated and nohz_full.

# As docs/OPERATION.md says
HOUSEKEEPING=/etc/systemd/system/t410trace.service.d/cpus.conf
COLLECTED=/run/collector
SECONDS_A_DAY=86400

# operation_units NAME: states of service and socket
operation_units() { units_shown "$1" t410trace.service t410trace.socket; }

# stopped: nor do the starts so far count for the limit of starts
stopped() {
	systemctl stop $UNIT t410trace.socket
	systemctl reset-failed $UNIT t410trace.socket 2> /dev/null
}

# restarted LINE...: with these settings beside the usual ones
restarted() {
	stopped
	settings "$@"
	systemctl start $UNIT
	until_true answers_with 200 healthz
}

# --- CPUs

# noise NAME: what interrupts a program that never sleeps, on the isolated CPU, in 5 s
noise() {
	taskset -c 3 /usr/bin/dash -c 'while :; do :; done' &
	loop=$!
	sleep 2
	cat /proc/interrupts > "$1.before"
	cat /proc/$loop/status > "$1.status.before"
	sleep 5
	cat /proc/interrupts > "$1.after"
	cat /proc/$loop/status > "$1.status.after"
	kill $loop
	wait $loop
}

operation_cpus() {
	cat /sys/devices/system/cpu/isolated /sys/devices/system/cpu/nohz_full > isolated
	noise quiet
	mkdir -p "${HOUSEKEEPING%/*}"
	printf '%s\n' "[Service]" "CPUAffinity=0" > $HOUSEKEEPING
	systemctl daemon-reload
	settings
	said start systemctl start $UNIT
	until_true answers_with 200 healthz
	noise beside
	pid=$(main_pid)
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		cat /proc/"$pid"/task/*/stat >> threads
		usleep 100000
	done
	grep -h Cpus_allowed_list /proc/"$pid"/task/*/status > allowed
	operation_units started
}

# --- the collector

collector_said() { [ "$(journalctl -u t410trace-collect.service --no-pager -o cat | grep -c "$1")" -ge "$2" ]; }

operation_collector() {
	mkdir -p /usr/local/share/t410trace /etc/systemd/system/t410trace-collect.timer.d
	cp /host/collect.sh /usr/local/share/t410trace/
	cp /host/t410trace-collect.* /usr/local/lib/systemd/system/
	# shellcheck disable=SC2016  # as the site writes it
	echo "COMMAND='test -d $COLLECTED && cp \"\$@\" $COLLECTED/'" > /etc/t410trace/collect.conf
	# rounds a minute apart are too long for a test
	printf '%s\n' "[Timer]" "OnUnitInactiveSec=" "OnActiveSec=1s" "OnUnitInactiveSec=3s" "RandomizedDelaySec=0" \
		> /etc/systemd/system/t410trace-collect.timer.d/rounds.conf
	systemctl daemon-reload
	job_begins 8001
	job_ends 8001
	job_reported 8001
	said timer systemctl enable --now t410trace-collect.timer
	until_true collector_said "tried again" 2
	ls -A $SPOOL/.collect > collect.kept
	mkdir $COLLECTED
	until_true collector_said "1 reports were sent" 1
	ls -A $SPOOL $SPOOL/.collect > collect.left
	cp $COLLECTED/* collected
	systemctl disable -q --now t410trace-collect.timer
	journalctl -u t410trace-collect.service --no-pager -o cat > collect.journal
}

# --- the clock

# clock_jumps SECONDS
clock_jumps() { date -s "@$(($(date +%s) + $1))" > /dev/null; }

operation_clock() {
	job_begins 8002
	clock_jumps 3600
	sleep 2
	job_ends 8002
	job_reported 8002
	clock_jumps $((40 * SECONDS_A_DAY))
	until_true answers_with 503 healthz
	mv healthz.page clock.health
	answers_with 200 metrics
	mv metrics.page clock.metrics
	clock_jumps $((-40 * SECONDS_A_DAY - 3600))
	until_true answers_with 200 healthz
	"$T410TRACE" jobs --json > clock.jobs
}

# --- folders

# What is there may be overwritten, so further accounts must need room, too.
state_is_full() {
	head -c 1048576 /dev/zero >> /var/lib/t410trace/filler
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		further=$((further + 1))
		mkdir "$CGROUPS/slurmstepd.scope/job_$further"
		rmdir "$CGROUPS/slurmstepd.scope/job_$further"
	done
	answers_with 503 healthz
} 2> /dev/null

operation_disk() {
	stopped
	mount -t tmpfs -o size=4m,mode=0750 tmpfs /var/lib/t410trace
	restarted
	job_begins 8003
	further=9000
	until_true state_is_full
	mv healthz.page disk.health
	job_ends 8003
	sleep 3
	rm /var/lib/t410trace/filler
	until_true answers_with 200 healthz
	job_reported 8003
	"$T410TRACE" jobs -n 0 --json > disk.jobs
	stopped
	umount /var/lib/t410trace

	mkdir -p /srv/accounts
	settings "state = /srv/accounts/accounts.db"
	said read-only systemctl start $UNIT
	stopped
}

# --- addresses

operation_ipv6() {
	ip address del 127.0.0.1/8 dev lo
	settings
	said no-ipv4 systemctl start $UNIT
	restarted "listen = [::1]:9410"
	said ipv6 curl -s -g -m 60 -o /dev/null -w '%{http_code}' "http://[::1]:9410/healthz"
	stopped
	ip address add 127.0.0.1/8 dev lo
}

# nobody_asks PAGE [COMMAND...]: as this user, by COMMAND; the status is behind the page
nobody_asks() {
	nobody_page=$1
	shift
	said "nobody-$nobody_page" /usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups "$@" \
		/usr/bin/dash -c "id -u; curl -s -m 60 -w '\n%{http_code}\n' --unix-socket $PAGES http://localhost/$nobody_page"
}

operation_users() {
	restarted
	job_begins 8004
	nobody_asks report /usr/bin/unshare --user --map-root-user
	nobody_asks jobs /usr/bin/unshare --user --map-root-user
	until_true in_page report 8004
	job_ends 8004
}

# --- wrong settings, while a user waits

operation_settings() {
	stopped
	# five starts take longer here than the ten seconds of which the limit is
	printf '%s\n' "[Unit]" "StartLimitIntervalSec=5min" > /etc/systemd/system/t410trace.service.d/limit.conf
	systemctl daemon-reload
	echo "interval = soon" > /etc/t410trace/serve.conf
	systemctl start t410trace.socket
	said waiting curl -s -m 300 --unix-socket $PAGES http://localhost/healthz
	until_true eval '[ "$(systemctl is-active t410trace.socket)" = failed ]'
	operation_units wrong
	settings
	said limited systemctl start $UNIT
	# As docs/OPERATION.md says
	said reset systemctl reset-failed t410trace.service t410trace.socket
	said mended systemctl start t410trace.service
	until_true answers_with 200 healthz
	operation_units mended
}

scenario_operation() {
	taskset -p $ANYWHERE $$ > /dev/null
	echo 2 > /proc/sys/kernel/perf_event_paranoid
	install_service
	operation_cpus
	operation_collector
	operation_clock
	operation_disk
	operation_ipv6
	operation_users
	operation_settings
	systemctl stop $UNIT t410trace.socket
	journalctl --sync
	journalctl -u $UNIT -u t410trace.socket --no-pager -o cat > journal
	echo 3 > /proc/sys/kernel/perf_event_paranoid
}
