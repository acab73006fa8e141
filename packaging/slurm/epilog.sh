#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Epilog of slurmd: put the account of a job that has ended into Slurm's database, where sacct
# shows it, or its closing report into a folder that all nodes share (SHARED). See docs/SLURM.md.
#
# A node is not given to the next job before its epilog has ended, and is drained when that
# fails. So one time limit holds for all of this, and the status is always 0: what goes wrong is
# in the system log, and the account stays with t410trace.
#
# Settings, to be changed in /etc/t410trace/epilog.conf (lines of a shell script):
SETTINGS=${T410TRACE_EPILOG_CONF:-/etc/t410trace/epilog.conf}
T410TRACE=/usr/local/bin/t410trace
SLURM=/usr/bin         # folder of scontrol, squeue and sacctmgr
LIMIT=10               # seconds that the whole epilog may take, 3 to 999
WAIT=5                 # seconds of these that the closing account may take
FIELD=AdminComment     # or SystemComment, Comment (sacctmgr(1) says which there are)
MOST=60000             # bytes that the database's column has room for
SHARED=                # folder of closing reports that all nodes share; then merge.sh stores
SHARED_USER=slurm      # its owner, who is Slurm's user

# The log, too, can keep a program waiting.
say() { timeout -s KILL 1 logger -t t410trace-epilog -- "job $SLURM_JOB_ID: $*"; }

refuse() {
	say "the account is not stored: $*"
	exit 0
}

need() {
	for program; do
		command -v "$program" || refuse "there is no $program in $PATH; set SLURM in $SETTINGS to its folder"
	done
}

check_environment() {
	need scontrol squeue sacctmgr
	[ -n "${SLURM_CLUSTER_NAME:-}" ] || refuse "slurmd does not say which cluster this is"
	[ -n "$nodes" ] || refuse "slurmd does not say which nodes the job had"
	[ -n "${SLURMD_NODENAME:-}" ] || refuse "slurmd does not say which node this is"
}

# One node speaks for a job: the first. The others keep what they have, as a field has room
# for one.
is_first_node() {
	[ "$nodes" != "$SLURMD_NODENAME" ] || return 0
	step="scontrol show hostnames"
	first=$(scontrol show hostnames "$nodes" | head -n 1)
	[ -n "$first" ] || refuse "\"$step $nodes\" failed"
	[ "$first" = "$SLURMD_NODENAME" ]
}

# find_run: "NUMBER @BEGIN" of this run, in $run. NUMBER is the database's: 40_7 is a task of an
# array and 40+0 a part of a heterogeneous job, where 40 alone may mean all of them. BEGIN tells
# the run from an earlier one of a job that was requeued. Nothing else is asked for: names,
# comments and paths are the submitter's, and may look like any field.
find_run() {
	step=squeue
	run=$(SLURM_TIME_FORMAT=%s squeue -h -r -t all -j "$SLURM_JOB_ID" -o '%A %i %S' |
		sed -n -E "s/^$SLURM_JOB_ID ([0-9]+([_+][0-9]+)?) ([0-9]+)\$/\1 @\3/p")
	case $run in
	'') refuse "squeue does not say which run this is: does the controller answer?" ;;
	*[!0-9_+@\ ]*) refuse "squeue shows several jobs of this number" ;;
	esac
}

# find_account FORMAT: the account of this run, in $record
find_account() {
	step="t410trace job"
	record=$("$T410TRACE" job --wait "$WAIT" "$1" --since "${run#* }" "slurm:$SLURM_JOB_ID")
	status=$?
	case $status in
	0 | 3) ;;
	2) refuse "t410trace refuses its options: WAIT in $SETTINGS must be a number of seconds" ;;
	4) refuse "there is no account of this run: does t410trace serve run?" ;;
	5) say "the account is not closed after $WAIT s, this is what it has so far: does t410trace serve run?" ;;
	126 | 127) refuse "cannot execute $T410TRACE; set T410TRACE in $SETTINGS to the program" ;;
	*) refuse "\"$T410TRACE job slurm:$SLURM_JOB_ID\" failed with status $status" ;;
	esac
}

check_record() {
	case $record in
	*[!a-z0-9=:]*) refuse "t410trace printed no record" ;;
	t4j1l:?*) ;;
	*) refuse "t410trace printed no record" ;;
	esac
	[ ${#record} -le "$MOST" ] || refuse "it has ${#record} bytes, and MOST in $SETTINGS is $MOST"
}

store() {
	step=sacctmgr
	problem=$(sacctmgr -i modify job where "jobid=${run% *}" "cluster=$SLURM_CLUSTER_NAME" \
		set "$FIELD=$record" 2>&1 > /dev/null) || refuse "sacctmgr failed: $problem"
}

# --- a folder that all nodes share

# Slurm 23.02 and later says when the run began; earlier ones have to be asked.
find_shared_run() {
	case ${SLURM_JOB_START_TIME:-} in
	'' | *[!0-9]*)
		need squeue
		find_run
		;;
	*) run="$SLURM_JOB_ID @$SLURM_JOB_START_TIME" ;;
	esac
}

# As its owner, because root is nobody on a server of NFS: one that knows delegations of folders (Linux
# 7) does not even tell nobody whose a folder is that nobody may read. Nothing is written where the
# folder should be mounted but is not: that one belongs to somebody else.
check_shared() {
	step="looking at $SHARED"
	group=$(id -g "$SHARED_USER") || refuse "there is no user $SHARED_USER, SHARED_USER in $SETTINGS"
	owner=$(as_owner stat -c '%U %g %A' "$SHARED" 2>&1) ||
		refuse "there is no folder $SHARED: is it mounted? (${owner##*: })"
	case $owner in
	"$SHARED_USER "*) ;;
	*) refuse "$SHARED does not belong to SHARED_USER of $SETTINGS, $SHARED_USER: is it mounted?" ;;
	esac
	case $owner in
	*????????w? | *?????w????) refuse "others may write to $SHARED, so that reports could be forged: chmod go-w" ;;
	esac
	group=${owner#* }
	group=${group% *}
}

as_owner() {
	if [ "$(id -un)" = "$SHARED_USER" ]; then
		"$@"
	else
		setpriv --reuid "$SHARED_USER" --regid "$group" --clear-groups -- "$@"
	fi
}

# check_report: is it of this node? It gets the name that Slurm has for it, which may be another one
# than that of the machine.
check_report() {
	case $record in
	'{"schema":"t410trace.job/'*) ;;
	*) refuse "t410trace printed no report" ;;
	esac
	host=$(printf '%s\n' "$record" | sed -n -E 's/^[^,]*,"host":\{"name":"([^"]*)".*/\1/p')
	machine=$(uname -n)
	case $host in
	"$SLURMD_NODENAME" | "$SLURMD_NODENAME".*) ;;
	"${machine%%.*}" | "${machine%%.*}".*)
		record=$(printf '%s\n' "$record" | sed -E '1s/^([^,]*,"host":\{"name":")[^"]*/\1'"$SLURMD_NODENAME/")
		;;
	*) refuse "t410trace serve calls this node $host, and Slurm $SLURMD_NODENAME; set host in serve.conf" ;;
	esac
}

# put_report: JOB/BEGIN/NODE.json, which appears when it is whole and on disk. NFS tells of a full
# disk as late as that.
put_report() {
	step="writing to $SHARED"
	# shellcheck disable=SC2016  # for the other shell
	problem=$(printf '%s\n' "$record" | as_owner /bin/sh -c '
		umask 027
		cd "$1" && mkdir -p "$2" && dd of="$2/.$3.tmp" conv=fsync && mv -f "$2/.$3.tmp" "$2/$3" && exit
		rm -f "$2/.$3.tmp"
		exit 1' sh "$SHARED" "$SLURM_JOB_ID/${run#*@}" "$SLURMD_NODENAME.json" 2>&1) ||
		refuse "cannot write to $SHARED: $problem"
}

share() {
	case ${SLURMD_NODENAME:-} in
	'' | .* | *[!A-Za-z0-9._-]*) refuse "slurmd does not say which node this is" ;;
	esac
	find_shared_run
	check_shared
	find_account --json
	check_report
	put_report
}

account() {
	nodes=${SLURM_JOB_NODELIST:-${SLURM_NODELIST:-}}
	trap 'refuse "$step did not end in time; LIMIT in $SETTINGS is $LIMIT s"' TERM
	if [ -n "$SHARED" ]; then
		share
		return
	fi
	check_environment
	is_first_node || return
	find_run
	find_account --compact
	check_record
	store
}

# in_time: account, in a process group that ends with the limit. A second of it is for what account
# says then, and one for what is said here.
in_time() {
	case $LIMIT in
	[3-9] | [1-9][0-9] | [1-9][0-9][0-9]) ;;
	*) refuse "LIMIT in $SETTINGS must be a number of seconds, from 3 to 999" ;;
	esac
	timeout -k 1 $((LIMIT - 2)) /bin/sh "$0" account
	status=$?
	case $status in
	0 | 124) ;;
	*) say "the account may not be stored: the epilog ended with status $status" ;;
	esac
}

case ${SLURM_JOB_ID:-} in
'' | *[!0-9]*) exit 0 ;;
esac
exec > /dev/null 2>&1
# slurmd gives epilogs no PATH
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
# a mistake in the settings ends the shell
trap 'refuse "there is a mistake in $SETTINGS"' EXIT
trap 'exit 0' HUP INT TERM
if [ -r "$SETTINGS" ]; then
	# shellcheck source=/dev/null
	. "$SETTINGS"
fi
trap 'exit 0' EXIT
PATH=${SLURM:+$SLURM:}$PATH
case ${1:-} in
account) account ;;
*) in_time ;;
esac
exit 0
