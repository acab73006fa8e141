#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Part of guest.sh: this machine's first process is Debian's systemd, and t410trace serve its
# service, with the unit as it is installed. The guest's /usr is that of guest/systemd.list.

UNIT=t410trace.service

# What "make install" would have installed
install_service() {
	mkdir -p /usr/local/bin /usr/local/lib/systemd/system /etc/t410trace
	cp "$T410TRACE" /usr/local/bin/t410trace
	cp /host/$UNIT /host/t410trace.socket /usr/local/lib/systemd/system/
	serve_conf 1s
	systemctl daemon-reload
}

# serve_conf INTERVAL: readings as those of guest_slurm.sh
serve_conf() {
	cat > /etc/t410trace/serve.conf <<-END
	interval = $1
	window = 20ms
	read-budget = 0
	schedulers = systemd
	state = /var/lib/t410trace/site.db
	END
}

unit_state() { systemctl show $UNIT -p ActiveState -p StatusText -p NRestarts -p Result -p ExecMainStatus > "$1.shown"; }
main_pid() { systemctl show $UNIT -p MainPID --value; }
is_active() { systemctl is-active -q $UNIT; }
has_other_pid() { [ "$(main_pid)" != "$(cat pid.before)" ]; }
in_store() { "$T410TRACE" jobs --json | grep -qF "\"$1\""; }
journal_says() { journalctl -u $UNIT --no-pager -o cat | grep -qF "$1"; }
has_report() { [ -n "$(find $SPOOL -name "systemd-$1-*")" ]; }

# unit_load NAME SLOT CPU SECONDS SYSTEMD-RUN-ARGUMENT...: traffic as a unit of that name
unit_load() {
	unit_name=$1 unit_slot=$2 unit_cpu=$3 unit_seconds=$4
	shift 4
	systemd-run "$@" --unit="$unit_name" /machine/bin/traffic --name "$unit_name" --report "$PWD/truth" \
		--slot "$unit_slot" --cpu "$unit_cpu" --rate 1000000 --seconds "$unit_seconds" >> systemd-run.out 2>&1
}

scenario_systemd() {
	taskset -p $ANYWHERE $$ > /dev/null
	systemctl --version > version
	install_service

	# Debian's kernel asks for all of CAP_SYS_ADMIN at this setting, which the unit has not
	echo 3 > /proc/sys/kernel/perf_event_paranoid
	said refused systemctl start $UNIT
	systemctl stop $UNIT
	echo 2 > /proc/sys/kernel/perf_event_paranoid
	# As docs/JOBS.md says: this group may read
	chgrp -R 1 /var/lib/t410trace
	chmod g+s /var/lib/t410trace
	said start systemctl start $UNIT
	unit_state started
	stat -c '%n %a %g' /var/lib/t410trace /var/lib/t410trace/site.db* > rights
	cat "/proc/$(main_pid)/status" > process
	systemd-analyze security $UNIT --no-pager > security
	said verify systemd-analyze verify --man=no /usr/local/lib/systemd/system/$UNIT

	unit_load alpha 0 0 2 --scope
	unit_load beta 2 2 2 --slice=batch-night.slice
	until_true has_report alpha.scope
	until_true has_report beta.service
	serve_conf 2s
	said reload systemctl reload $UNIT
	# It ends when the signal is sent: the file must not change before the daemon has read it
	until_true journal_says "settings read again"
	systemctl is-active t410trace.socket > socket.state
	stat -c '%F %a' /run/t410trace/t410trace.sock >> socket.state
	echo interval = soon >> /etc/t410trace/serve.conf
	said reload-wrong systemctl reload $UNIT
	is_active && echo active > reload-wrong.state
	serve_conf 2s

	unit_load gamma 1 1 300
	until_true in_store gamma.service
	main_pid > pid.before
	systemctl kill -s KILL $UNIT
	until_true has_other_pid
	until_true is_active
	unit_state killed
	sleep 1
	systemctl stop gamma.service
	until_true has_report gamma.service
	said stop systemctl stop $UNIT
	unit_state stopped
	journalctl --sync
	journalctl -u $UNIT --no-pager -o cat > journal
	for name in alpha beta gamma; do cp $SPOOL/systemd-$name.* $name.json; done
	echo 3 > /proc/sys/kernel/perf_event_paranoid
}
