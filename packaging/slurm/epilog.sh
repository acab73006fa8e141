#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Epilog of slurmd: put the account of a job that has ended into Slurm's database, where sacct
# shows it. See docs/SLURM.md.
#
# A node is not given to the next job before its epilog has ended, and is drained when that
# fails. So everything here has a time limit, and the status is always 0: what goes wrong is in
# the system log, and the account stays with t410trace.
#
# Settings, to be changed in /etc/t410trace/epilog.conf (lines of a shell script):
SETTINGS=${T410TRACE_EPILOG_CONF:-/etc/t410trace/epilog.conf}
T410TRACE=/usr/local/bin/t410trace
WAIT=5                 # seconds until the closing account must be there
STORE_WAIT=5           # seconds that Slurm's database may take
FIELD=AdminComment     # or SystemComment, Comment (sacctmgr(1) says which there are)
MOST=60000             # bytes that the database's column has room for

say() { logger -t t410trace-epilog -- "job $SLURM_JOB_ID: $*" 2> /dev/null; }

# One node speaks for a job: the first. The others keep what they have, as a field has room
# for one.
is_first_node() {
	[ "${SLURM_JOB_NUM_NODES:-1}" = 1 ] && return 0
	first=$(timeout "$STORE_WAIT" scontrol show hostnames "$SLURM_NODELIST" 2> /dev/null | head -n 1)
	[ "$first" = "$SLURMD_NODENAME" ]
}

# field NAME: what Slurm says of the job; "" when it says nothing
field() {
	case $details in
	*" $1="*)
		value=${details#* "$1"=}
		echo "${value%% *}"
		;;
	esac
}

# An array's number means all of its tasks, and one of these has it as its own: ARRAY_TASK then
database_id() {
	case $(field ArrayTaskId) in
	[0-9]*) echo "$(field ArrayJobId)_$(field ArrayTaskId)" ;;
	*) echo "$SLURM_JOB_ID" ;;
	esac
}

store() {
	problem=$(timeout "$STORE_WAIT" sacctmgr -i modify job where "jobid=$(database_id)" \
		"cluster=$SLURM_CLUSTER_NAME" set "$FIELD=$1" 2>&1 > /dev/null) ||
		say "sacctmgr did not store the account: ${problem:-no answer in $STORE_WAIT s}"
}

main() {
	is_first_node || return
	details=" $(timeout "$STORE_WAIT" scontrol -o show job "$SLURM_JOB_ID" 2> /dev/null) "
	# --since: a job that was requeued has run before, under the same number.
	# --caseless: sacctmgr stores lower-case letters, whatever it is given.
	start=$(field StartTime)
	record=$(timeout $((WAIT + 2)) "$T410TRACE" job --wait "$WAIT" --compact --caseless ${start:+--since "$start"} \
		"$SLURM_JOB_ID" 2> /dev/null)
	status=$?
	case $record in
	*[!a-z0-9=:]* | '') say "no account (status $status): does t410trace serve run?" ;;
	t4j1l:*)
		[ $status = 0 ] || say "not closed after $WAIT s: this is the account so far"
		if [ ${#record} -gt "$MOST" ]; then
			say "the account has ${#record} bytes, which is too long"
		else
			store "$record"
		fi
		;;
	*) say "an account that cannot be stored (status $status)" ;;
	esac
}

# also after a mistake in the settings, which ends the shell
trap 'exit 0' EXIT HUP INT TERM
case ${SLURM_JOB_ID:-} in
'' | *[!0-9]*) exit 0 ;;
esac
if [ -r "$SETTINGS" ]; then
	# shellcheck source=/dev/null
	. "$SETTINGS"
fi
main
exit 0
