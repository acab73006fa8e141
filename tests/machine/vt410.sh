# shellcheck shell=bash disable=SC2034  # the scripts that source this read the variables
# SPDX-License-Identifier: GPL-2.0-only
# Finding the virtual T410: source this, then call machine_ready.
#
# Sets MACHINE (the program that boots it) or, when there is none or it cannot be
# prepared, MACHINE_PROBLEM in words. Tests that need the machine are then skipped
# with that reason: a machine that is not there says nothing about t410trace.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
MACHINE=
MACHINE_PROBLEM=

# A path given by the user is the only one tried: testing on another machine than
# the one asked for would be worse than not testing.
machine_find() {
	MACHINE=${T410_MACHINE:-$ROOT/../shared/vt410/vt410}
	if [ ! -x "$MACHINE" ]; then
		MACHINE_PROBLEM="no virtual T410 at $MACHINE (T410_MACHINE names another)"
		MACHINE=
		return 1
	fi
	MACHINE=$(realpath "$MACHINE")
}

# machine_ready LOG: a fraction of a second when everything is there already; the
# first time it downloads, which fails without a network.
machine_ready() {
	machine_find || return 1
	if ! "$MACHINE" prepare > "$1" 2>&1 || ! "$MACHINE" root >> "$1" 2>&1; then
		MACHINE_PROBLEM=$(tail -n 1 "$1")
		MACHINE_PROBLEM="the virtual T410 cannot be prepared: ${MACHINE_PROBLEM:-it does not say why}"
		return 1
	fi
}
