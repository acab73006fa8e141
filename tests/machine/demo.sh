#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# demo.sh: the main job on a virtual T410, and beside it what was true ("make demo").
set -uo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/machine/machine.sh
. "$HERE/machine.sh"
TIMEOUT=200
share=$(mktemp -d)
trap 'rm -rf "$share"' EXIT
step=0

# phase TITLE COMMAND...: a line with its seconds; when it fails, why, and the end
phase() {
	local title=$1 start=$EPOCHREALTIME dots
	shift
	step=$((step + 1))
	dots=$(printf '%*s' $((52 - ${#title})) '' | tr ' ' .)
	printf ' [%d/3] %s %s' $step "$title" "$dots"
	if ! "$@" > "$share/log" 2>&1; then
		echo " failed"
		echo
		if [ -n "$MACHINE_PROBLEM" ]; then
			echo " $MACHINE_PROBLEM" | fold -s -w 78
		else
			tail -n 15 "$share/log"
		fi
		echo " The demo did NOT work."
		exit 1
	fi
	awk -v from="$start" -v to="$EPOCHREALTIME" 'BEGIN { printf " %5.1f s\n", to - from }'
}

build() { make -C "$ROOT" -s -j"$(nproc)" ARCH=arm64 LINK=shared; }

tenants() {
	cp -r "$ROOT"/build/arm64-shared/{t410trace,lib} "$HERE/demo-guest.sh" "$share/"
	"$MACHINE" --steady --timeout $TIMEOUT --traffic "$HERE/demo.conf" --dir "$share" -- sh demo-guest.sh
}

cat <<'END'

 t410trace: which process moves the bytes?

 The hardware of this demo is EMULATED: two sockets of two CPUs each, with
 T410 uncore counters. Linux, NVIDIA's drivers and t410trace are the real ones.
 No memory is measured: each program tells the counters what it "moves" in every
 millisecond of its CPU time, and writes down how much that was. So t410trace
 can be compared with the truth. The machine's clock counts instructions: on a
 busy computer the demo takes longer, and shows the same.

END
phase "build t410trace for arm64" build
phase "prepare the machine (minutes only the first time)" machine_ready "$share/prepare.log"
phase "boot it, trace what runs in it (about a minute)" tenants
"$HERE/demo.py" "$share/out"
