#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Sends closing reports away: one round, which t410trace-collect.timer starts again and again. See
# docs/OPERATION.md.
#
# Reports are moved to a hidden folder in the spool, where the daemon neither counts nor removes them.
# COMMAND sends them, and they are removed. When it fails they stay there, and the next round begins
# with them. Nothing else is moved until then, so that the bounds of the spool hold.
#
# Exit status: 0, or 1 when reports could not be sent; then the log says why.
#
# Settings, to be changed in /etc/t410trace/collect.conf (lines of a shell script):
SETTINGS=${T410TRACE_COLLECT_CONF:-/etc/t410trace/collect.conf}
COMMAND=                     # sends the files "$@"
SPOOL=/var/spool/t410trace   # folder of closing reports
MOST=500                     # reports that one call sends
LIMIT=300                    # seconds that a call may take

stop() {
	echo "no report is sent: $*" >&2
	exit 1
}

check_settings() {
	for name in MOST LIMIT; do
		value=''
		eval "value=\$$name"
		case $value in
		'' | 0* | *[!0-9]*) stop "$name in $SETTINGS must be a number from 1 on" ;;
		esac
	done
	[ -n "$COMMAND" ] || stop "COMMAND in $SETTINGS must be the command that sends them"
	cd "$SPOOL" || stop "SPOOL in $SETTINGS must be spool in serve.conf"
	mkdir -p -m 700 .collect || stop "cannot write to $SPOOL"
}

# reports FOLDER: the oldest in it, as the daemon calls them
reports() {
	find "$1" -maxdepth 1 -type f -regex '.*/[A-Za-z0-9_][A-Za-z0-9._-]*\.json' -printf '%T@ %f\n' |
		sort -n | cut -d ' ' -f 2 | head -n "$MOST"
}

# The daemon may remove the oldest meanwhile: then these are not there any more.
take() {
	for report in $(reports .); do
		mv -f "$report" .collect/ 2> /dev/null || [ ! -e "$report" ] || stop "cannot move $SPOOL/$report to $SPOOL/.collect"
	done
}

# send FILE...
send() {
	timeout -k 5 "$LIMIT" sh -c "$COMMAND" t410trace-collect "$@" < /dev/null 9<&-
	status=$?
	case $status in
	0) return ;;
	124 | 137) why="COMMAND did not end in $LIMIT s (LIMIT)" ;;
	*) why="COMMAND failed with status $status" ;;
	esac
	stop "$why; $# reports are in $SPOOL/.collect and are tried again"
}

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
if [ -r "$SETTINGS" ]; then
	# shellcheck source=/dev/null
	. "$SETTINGS"
fi
check_settings
exec 9< .collect
flock -n 9 || stop "another round runs"
sent=0
while :; do
	# shellcheck disable=SC2046  # names without blanks
	set -- $(reports .collect)
	if [ $# -eq 0 ]; then
		take
		# shellcheck disable=SC2046
		set -- $(reports .collect)
	fi
	[ $# -gt 0 ] || break
	cd .collect || exit 1
	send "$@"
	# else they would be sent again at once, and again
	rm -f "$@" || {
		echo "$# reports were sent and cannot be removed from $SPOOL/.collect:" \
			"the next round sends them again" >&2
		exit 1
	}
	cd ..
	sent=$((sent + $#))
done
[ "$sent" -eq 0 ] || echo "$sent reports were sent"
