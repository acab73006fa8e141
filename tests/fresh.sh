#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# fresh.sh [RELEASE...]: is what README.md promises true of a Debian release that has just been
# installed, with git, gcc and make? For each release (bookworm, trixie and testing) debootstrap makes
# a folder with such a system, the project is cloned into it, as committed, and "make" runs there.
#
# What the commands say is in build/test-logs/fresh-RELEASE-*.log; here are a line "ok" or "not ok" for
# each, with its time and tally, and a tally of all. Needs root, network, 8 GB in build/.
#
# Environment: PARTS  "short" (default): demo, unit and live tests, all clangs, five scenarios of the
#                     virtual T410;
#                     "all": make demo, make check and make check-clangs; or names of make check's parts,
#                     and demo
#              KEEP   1: the folders stay, in build/fresh
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tests/roots.sh
logs=$PWD/build/test-logs
SCENARIOS=(conservation tenants stat_counts grace_conservation systemd)
passed=0 failed=0

# in_tree ROOT COMMAND: in the clone there
in_tree() { inside "$1" "cd t410trace && $2"; }

# install RELEASE ROOT: with the project in it
install() {
	make_root "$1" "$2" git,gcc,make,ca-certificates &&
		git clone -q --no-hardlinks . "$2/root/t410trace"
}

# try RELEASE NAME COMMAND...: a line with what came of it
try() {
	local name=$1/$2 log=$logs/fresh-$1-$2.log start=$SECONDS status=0 took
	shift 2
	"$@" > "$log" 2>&1 || status=$?
	took="$((SECONDS - start)) s$(sed -n 's/^\([0-9]* passed, .*\)/, \1/p' "$log" | tail -n 1)"
	if [ $status = 0 ]; then
		echo "ok $name ($took)"
		passed=$((passed + 1))
		return 0
	fi
	echo "not ok $name: status $status ($took), see $log:"
	grep -h '^not ok' "$log" | head -n 10
	tail -n 3 "$log"
	failed=$((failed + 1))
	return 1
}

# release NAME
release() {
	local root=$PWD/build/fresh/$1 part
	remove "$root"
	mkdir -p "$root"
	if try "$1" install install "$1" "$root"; then
		case ${PARTS:-short} in
		short)
			try "$1" demo in_tree "$root" "make demo"
			try "$1" unit in_tree "$root" "make check-unit"
			try "$1" live in_tree "$root" "make check-live"
			try "$1" clangs in_tree "$root" "make check-clangs"
			try "$1" machine in_tree "$root" "tests/machine/run.sh ${SCENARIOS[*]}"
			;;
		all)
			try "$1" demo in_tree "$root" "make demo"
			try "$1" check in_tree "$root" "make check"
			try "$1" clangs in_tree "$root" "make check-clangs"
			;;
		*)
			try "$1" deps in_tree "$root" "make deps"
			for part in $PARTS; do
				try "$1" "$part" in_tree "$root" "make $([ "$part" = demo ] || echo check-)$part"
			done
			;;
		esac
	fi
	[ "${KEEP:-}" = 1 ] || remove "$root"
}

[ "$(id -u)" = 0 ] || stop "debootstrap and chroot need root"
packaging/deps.sh debootstrap || exit 1
[ -n "${ENDING:-}" ] || ENDING=1 exec tests/ending.py tests/fresh.sh "$@"
[ $# -gt 0 ] || set -- bookworm trixie testing
[ -z "$(git status --porcelain)" ] || echo "# only what is committed is tested"
mkdir -p "$logs"
for name; do release "$name"; done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
