#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# EpilogSlurmctld of a cluster whose nodes share a folder of closing reports: writes one ticket for
# the job that has ended, and ends. merge.sh does the rest later. See docs/SLURM.md.
#
# Slurm's controller starts one of these for each job, and keeps the job until it has ended. So
# this one asks no program of Slurm and never fails.
#
# Settings, to be changed in /etc/t410trace/epilog.conf (lines of a shell script):
SETTINGS=${T410TRACE_EPILOG_CONF:-/etc/t410trace/epilog.conf}
TICKETS=/var/lib/t410trace-merge	# folder of tickets, on this machine, of Slurm's user

refuse() {
	timeout -s KILL 1 logger -t t410trace-epilog -- "job $SLURM_JOB_ID: there is no ticket, and no account will be stored: $*"
	exit 0
}

is_number() {
	case $1 in
	'' | *[!0-9]*) return 1 ;;
	esac
}

# find_number: of the job in the database, in $number, as in epilog.sh
find_number() {
	number=$SLURM_JOB_ID
	if [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then
		number=${SLURM_ARRAY_JOB_ID:-}_$SLURM_ARRAY_TASK_ID
	elif [ -n "${SLURM_HET_JOB_OFFSET:-}" ]; then
		number=${SLURM_HET_JOB_ID:-}+$SLURM_HET_JOB_OFFSET
	else
		return
	fi
	{ is_number "${number%[_+]*}" && is_number "${number#*[_+]}"; } || refuse "slurmctld says an impossible number"
}

is_number "${SLURM_JOB_ID:-}" || exit 0
exec > /dev/null 2>&1
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
# a mistake in the settings ends the shell
trap 'refuse "there is a mistake in $SETTINGS"' EXIT
if [ -r "$SETTINGS" ]; then
	# shellcheck source=/dev/null
	. "$SETTINGS"
fi
trap 'exit 0' EXIT
# a job that was cancelled before it had nodes
[ -n "${SLURM_JOB_NODELIST:-}" ] || exit 0
case $SLURM_JOB_NODELIST in
-* | *[!][A-Za-z0-9._,-]*) refuse "slurmctld says impossible nodes" ;;
esac
case ${SLURM_CLUSTER_NAME:-} in
'' | *[!A-Za-z0-9._-]*) refuse "slurmctld does not say which cluster this is" ;;
esac
find_number
# before Slurm 23.02 it does not say when the run began
begin=${SLURM_JOB_START_TIME:-0}
is_number "$begin" || begin=0
# a job that was requeued has a ticket of each run: the last one stays, as in the database
{
	echo "$SLURM_JOB_ID $number $SLURM_CLUSTER_NAME $begin $(date +%s) $SLURM_JOB_NODELIST" > "$TICKETS/.$SLURM_JOB_ID" &&
		mv -f "$TICKETS/.$SLURM_JOB_ID" "$TICKETS/$SLURM_JOB_ID"
} || refuse "cannot write to $TICKETS: is it there, does it belong to Slurm's user, is the disk full?"
exit 0
