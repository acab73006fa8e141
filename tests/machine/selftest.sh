#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# selftest.sh: t410trace check --selftest in the virtual T410. At first its counters count nothing of
# what the programs of the self-test move: it must say that this is wrong. Then its cache model, which
# begins with the guest's module, counts all of it.
#
# Environment: T410TRACE     the arm64 program to test (build/arm64-shared/t410trace)
#              T410_RESULTS  folder to keep the output in (default: removed afterwards)
set -uo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/machine/machine.sh
. "$HERE/machine.sh"
T410TRACE=${T410TRACE:-$ROOT/build/arm64-shared/t410trace}
TIMEOUT=900	# of a machine that hangs

end() {
	echo "$1"
	exit "$2"
}

[ -f "$T410TRACE" ] || end "not ok selftest: no $T410TRACE: run \"make ARCH=arm64 LINK=shared\" first" 1
machine_share
machine_ready "$share/prepare.log"
case $? in
0) ;;
"$MACHINE_NO_NETWORK") end "skip selftest: $MACHINE_PROBLEM" 0 ;;
*) end "not ok selftest: $MACHINE_PROBLEM" 1 ;;
esac
machine_take "$T410TRACE" "$share"
cat > "$share/guest.sh" <<'GUEST'
# selftest NAME
selftest() {
	/tmp/t410trace check --selftest --json > "/host/$1.json" 2> "/host/$1.err"
	echo $? > "/host/$1.status"
}

cp /host/t410trace /tmp/t410trace
selftest uncounted
insmod /modules/t410_cache.ko || exit 1
selftest counted
# killed in the middle: none of its programs goes on
/tmp/t410trace check --selftest > /dev/null 2>&1 &
tries=100
until grep -l t410- /proc/[0-9]*/comm > /dev/null 2>&1 || [ $tries = 0 ]; do
	usleep 100000
	tries=$((tries - 1))
done
echo $tries > /host/killed
kill -9 $!
sleep 1
grep -l t410- /proc/[0-9]*/comm > /host/left 2> /dev/null
exit 0
GUEST

# The guest's clock counts its instructions, as in real.sh. The cache model makes the emulated CPU
# slow: by the host's clock, its estimate of a second can take longer than that second.
"$MACHINE" --steady --timeout $TIMEOUT --cache 64:512 --traffic "$HERE/real.conf" \
	--dir "$share" -- sh guest.sh < /dev/null 2>&1 | sed 's/^/# /'
[ "${PIPESTATUS[0]}" = 0 ] || end "not ok selftest: the virtual machine ended with a fault" 1
"$HERE/judge_selftest.py" "$share"
