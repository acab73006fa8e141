#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Stores the accounts of jobs that ended: one round, which t410trace-merge.timer starts again and
# again on the machine of slurmctld, as Slurm's user. See docs/SLURM.md.
#
# A ticket of epilog-slurmctld.sh says that a job has ended. Its account is merged from the reports
# that epilog.sh put into the shared folder, when all nodes have closed theirs, or CLOSE seconds
# after its end. One job after the other, so that the database has one connection of this; a
# ticket that fails goes to the end of the line and is tried again in the next round.
#
# Exit status: 0, or 1 when an account could not be stored; then the log says which and why.
#
# Settings, to be changed in /etc/t410trace/epilog.conf (lines of a shell script):
SETTINGS=${T410TRACE_EPILOG_CONF:-/etc/t410trace/epilog.conf}
T410TRACE=/usr/local/bin/t410trace
SLURM=/usr/bin         # folder of scontrol and sacctmgr
FIELD=AdminComment     # or SystemComment, Comment (sacctmgr(1) says which there are)
MOST=60000             # bytes that the database's column has room for
SHARED=                # folder of closing reports that all nodes share
TICKETS=/var/lib/t410trace-merge	# folder of tickets, on this machine
CLOSE=300              # seconds after a job's end in which its nodes may close their accounts
CALL=60                # seconds that one call of another program may take
KEEP=7                 # days in which an account that cannot be stored is tried again
TRIES=3                # failures in a row that end a round: the database does not answer

say() { echo "$*" >&2; }

stop() {
	say "no account is stored: $*"
	exit 1
}

# without the lock, which is for this shell alone, however long a program stays
call() { timeout -k 1 "$CALL" "$@" 9>&-; }

# is_number TEXT: one that the shell can compare
is_number() {
	case $1 in
	'' | *[!0-9]* | 0?* | ????????????????*) return 1 ;;
	esac
}

check_settings() {
	for name in CLOSE CALL KEEP TRIES MOST; do
		eval "is_number \"\$$name\"" || stop "$name in $SETTINGS must be a number"
	done
	for program in scontrol sacctmgr; do
		command -v $program > /dev/null || stop "there is no $program in $PATH; set SLURM in $SETTINGS to its folder"
	done
	[ -n "$SHARED" ] || stop "SHARED in $SETTINGS must be the folder that all nodes share"
	mkdir -p "$TICKETS/open" "$TICKETS/unstored" || stop "cannot write to $TICKETS, TICKETS in $SETTINGS"
}

# Reports of a folder to which others may write could be anybody's.
check_shared() {
	owner=$(call stat -c '%u %A' "$SHARED") || stop "there is no folder $SHARED: is it mounted?"
	case $owner in
	"$(id -u) "*) ;;
	*) stop "$SHARED does not belong to $(id -un), the user of this service" ;;
	esac
	case $owner in
	*????????w? | *?????w????) stop "others may write to $SHARED, so that reports could be forged: chmod go-w" ;;
	esac
	SHARED=$(cd "$SHARED" && pwd -P) || stop "cannot enter a folder: is it mounted?"
}

# read_ticket: what epilog-slurmctld.sh wrote. Anything else would become arguments of other programs.
read_ticket() {
	id='' number='' cluster='' begin='' end='' nodes='' rest=''
	read -r id number cluster begin end nodes rest < "open/$ticket"
	is_number "$id" && is_number "$begin" && is_number "$end" && [ -z "$rest" ] || return 1
	is_number "${number%[_+]*}" && is_number "${number#*[_+]}" || return 1
	case $cluster in
	'' | -* | *[!A-Za-z0-9._-]*) return 1 ;;
	esac
	case $nodes in
	'' | -* | *[!][A-Za-z0-9._,-]*) return 1 ;;
	esac
}

# find_folder: of the reports of this run, in $folder. Where the controller does not say when it
# began, it is the last that began before the ticket was written.
find_folder() {
	[ "$begin" = 0 ] || {
		folder=$SHARED/$id/$begin
		return
	}
	last=0
	for folder in "$SHARED/$id"/*; do
		is_number "${folder##*/}" || continue
		[ "${folder##*/}" -gt "$end" ] || [ "${folder##*/}" -le "$last" ] || last=${folder##*/}
	done
	folder=$SHARED/$id/$last
}

# is_steady SECONDS: has the clock gone on for so long, with no day without a round? Where it has not,
# because the machine was down or the clock was set, what looks old may not be.
is_steady() { [ $((now - since)) -ge "$1" ]; }

# note_round: since when it has
note_round() {
	now=$(date +%s) since='' last=''
	[ ! -r .since ] || read -r since last < .since
	if ! is_number "$since" || ! is_number "$last"; then
		since=$now
	elif [ "$last" -gt "$now" ] || [ $((now - last)) -gt 86400 ]; then
		say "the last round was at $(date -d "@$last"), says the clock:" \
			"for $KEEP days nothing is given up for its age"
		since=$now
	fi
	echo "$since $now" > .since.tmp && mv -f .since.tmp .since
}

# is_over: has the time passed in which nodes may close? Also when the clock was set back after the end.
is_over() {
	[ "$end" -gt $((now + CLOSE)) ] ||
		{ [ "$now" -ge $((end + $1 * CLOSE)) ] && is_steady $(($1 * CLOSE)); }
}

# problem: what a program has said, in a line
problem() {
	if [ -s .problem ]; then
		head -c 400 .problem | tr '\n' ' '
	else
		echo "no message; CALL is $CALL s"
	fi
}

# list_reports: names of nodes into .there; 1 when the file server does not say
list_reports() {
	call ls "$folder" > .files 2> .problem || grep -q "No such file" .problem || return 1
	sed -n 's/\.json$//p' .files | sort -u > .there
}

# all_closed: has each node put its report there, NODE.json?
all_closed() {
	call scontrol show hostnames "$nodes" | sort -u > .hosts
	[ -s .hosts ] && [ -z "$(comm -23 .hosts .there)" ]
}

# give_up REASON
give_up() {
	failed=1
	say "job $number: the account is given up $*. Its ticket is in $TICKETS/unstored, the reports are in $folder"
	mv -f "open/$ticket" unstored/
}

# fail REASON: later again, after the others
fail() {
	failed=1
	in_a_row=$((in_a_row + 1))
	if [ "$now" -gt $((end + KEEP * 86400)) ] && is_steady $((KEEP * 86400)); then
		give_up "after $KEEP days: $*"
	else
		say "job $number: the account is not stored and will be tried again: $*"
		touch "open/$ticket"
	fi
}

# can_read: else the file server is away for some time, after which the record is made without them.
# Up to 16 MiB, as job --merge reads, in blocks of 512 bytes: not every find knows M.
can_read() {
	is_over 12 || call find "$folder" -type f -name '*.json' -size -32769 -exec cat {} + 2> .problem > /dev/null
}

# merge: the record of the job, in $record; and what it says about reports that are not in it, in
# $refused: the record has only their number
merge() {
	record=$(call "$T410TRACE" job --merge "$folder" --nodes "$nodes" --compact "slurm:$id" 2> .problem)
	status=$?
	refused=
	[ ! -s .problem ] || refused=$(problem)
	case $refused in
	*" left out: "*) ;;
	*) refused= ;;
	esac
	case $status in
	0 | 3)
		[ $status = 0 ] || can_read || {
			fail "cannot read all reports: $(problem)"
			return 1
		}
		case $record in
		*[!a-z0-9=:]*) ;;
		t4j1l:?*) [ ${#record} -gt "$MOST" ] || return 0 ;;
		esac
		fail "t410trace job --merge printed no record of at most $MOST bytes (MOST)"
		;;
	4) give_up "for no report in its folder is one of it: $(problem)" ;;
	124) fail "t410trace job --merge did not end in $CALL s (CALL)" ;;
	137) fail "t410trace job --merge was killed after $CALL s (CALL), or because it needed too much memory" ;;
	126 | 127) fail "cannot execute $T410TRACE; set T410TRACE in $SETTINGS to the program" ;;
	*) fail "t410trace job --merge failed with status $status: $(problem)" ;;
	esac
	return 1
}

store() {
	problem=$(call sacctmgr -i modify job where "jobid=$number" "cluster=$cluster" set "$FIELD=$record" 2>&1 > /dev/null)
	status=$?
	case $status in
	0) return 0 ;;
	124 | 137) fail "sacctmgr did not end in $CALL s (CALL)" ;;
	*) fail "sacctmgr failed: $problem" ;;
	esac
	return 1
}

# remove_run FOLDER: with all that nodes have put there, but nothing behind a link. Not by find, because
# not every one can delete; what stays is tried again by forget_old_reports.
remove_run() (
	cd "${1%/*}" 2> /dev/null && [ "$(pwd -P)" = "${1%/*}" ] || return
	problem=$(call rm -rf "./${1##*/}" 2>&1) ||
		say "the reports in $1 cannot be removed: ${problem:-rm did not end in $CALL s (CALL)}"
	rmdir "${1%/*}" 2> /dev/null
)

# forget: the ticket, and the reports of this run and of earlier ones, whose tickets it has replaced.
# A run that is to come has a folder of its own.
forget() {
	rm -f "open/$ticket"
	for run in "$SHARED/$id"/*; do
		is_number "${run##*/}" && [ "${run##*/}" -le "${folder##*/}" ] && remove_run "$run"
	done
}

# one_ticket: 1 when it failed
one_ticket() {
	now=$(date +%s)
	read_ticket || {
		say "ticket $ticket is none of epilog-slurmctld.sh: it is in $TICKETS/unstored"
		mv -f "open/$ticket" unstored/
		failed=1
		return
	}
	find_folder
	list_reports || {
		fail "cannot read $folder: $(problem)"
		return
	}
	all_closed || is_over 1 || return
	if [ ! -s .there ]; then
		# an empty folder is also where the shared one is not mounted
		check_shared
		say "job $number: none of its nodes ($nodes) put a report into $folder: its record has only their names. Does t410trace serve run there?"
		call mkdir -p "$folder" || {
			fail "cannot write to $SHARED"
			return
		}
	fi
	merge || return
	store || return
	[ -z "$refused" ] || say "job $number: $refused"
	in_a_row=0
	forget
}

# Reports for which no ticket came, and those of tickets that were given up
forget_old_reports() {
	is_steady $((2 * KEEP * 86400)) || return 0
	{
		call find "$SHARED" -mindepth 2 -maxdepth 2 -type d -path '*/[0-9]*/[0-9]*' -mtime +$((2 * KEEP)) 2> .problem ||
			say "not all old reports can be found: $(problem)"
	} |
		while read -r folder; do
			say "the reports in $folder are removed: for $((2 * KEEP)) days nobody asked for them"
			remove_run "$folder"
		done
}

export LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
if [ -r "$SETTINGS" ]; then
	# shellcheck source=/dev/null
	. "$SETTINGS"
fi
PATH=${SLURM:+$SLURM:}$PATH
# a lock needs no more than an open file
umask 077
check_settings
cd "$TICKETS" || exit 1
exec 9> .lock && chmod 600 .lock || stop "cannot write to $TICKETS/.lock"
flock -n 9 || stop "another round runs"
check_shared
note_round
failed=0
in_a_row=0
# a ticket that comes meanwhile is one of the next round, also if it is of a run of the same number
find . -maxdepth 1 -type f -name '[0-9]*' -exec mv -f -t open {} +
# shellcheck disable=SC2045  # names are digits
for ticket in $(ls -tr open); do
	one_ticket
	[ "$in_a_row" -lt "$TRIES" ] || {
		say "$TRIES accounts in a row were not stored: the next round goes on"
		break
	}
done
forget_old_reports
exit $failed
