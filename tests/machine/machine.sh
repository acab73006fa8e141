# shellcheck shell=bash disable=SC2034  # the scripts that source this read the variables
# SPDX-License-Identifier: GPL-2.0-only
# Making the virtual T410 ready: source this, then call machine_ready.
#
# Sets MACHINE, the program that boots it, and MACHINE_PROBLEM in words when it
# cannot be had. Tests are skipped only when there is neither network nor cache: then
# nothing is known about t410trace. Any other failure to prepare is a failure.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
MACHINE=$ROOT/tests/machine/run
MACHINE_PROBLEM=
MACHINE_NO_NETWORK=126
# A machine does not outlive the script that has booted it.
[ -n "${ENDING:-}" ] || ENDING=1 exec "$ROOT/tests/ending.py" "$0" "$@"

# machine_ready LOG OPTION...: a fraction of a second when everything is there already; the
# first time it downloads. Options and status are those of "run prepare".
machine_ready() {
	local log=$1 status=0
	shift
	"$MACHINE" prepare "$@" > "$log" 2>&1 || status=$?
	[ $status = 0 ] || MACHINE_PROBLEM=$(tail -n 1 "$log")
	return $status
}

# machine_share: sets share, the folder that host and guest have in common: T410_RESULTS, or one that
# goes at the end.
machine_share() {
	if [ -n "${T410_RESULTS:-}" ]; then
		mkdir -p "$T410_RESULTS"
		share=$(cd "$T410_RESULTS" && pwd)
	else
		share=$(mktemp -d)
		trap 'rm -rf "$share"' EXIT
	fi
}

# machine_take PROGRAM FOLDER: copies it for the guest as t410trace, with the libraries beside it
machine_take() {
	cp "$1" "$2/t410trace"
	[ ! -d "$(dirname "$1")/lib" ] || cp -r "$(dirname "$1")/lib" "$2/"
}
