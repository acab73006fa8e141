#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# large.sh: t410trace in a virtual T410 with many CPUs: live runs, a recording and the daemon, idle
# and while many processes wake each other up.
#
# Environment: T410TRACE     the arm64 program to test (build/arm64-shared/t410trace)
#              T410_CPUS     CPUs of each of the two sockets (default: 32)
#              T410_SENDERS  how many groups of 40 processes wake each other up by how many messages
#                            (default: "2 50"; with 352 CPUs each message takes the host long)
#              T410_TIMEOUT  seconds until a machine counts as hanging (default: 1800)
#              T410_RESULTS  folder to keep the output in (default: removed afterwards)
set -uo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/machine/machine.sh
. "$HERE/machine.sh"
T410TRACE=${T410TRACE:-$ROOT/build/arm64-shared/t410trace}
T410_CPUS=${T410_CPUS:-32}
T410_SENDERS=${T410_SENDERS:-2 50}
T410_TIMEOUT=${T410_TIMEOUT:-1800}
read -ra senders <<< "$T410_SENDERS"

end() {
	echo "$1"
	exit "$2"
}

[ -f "$T410TRACE" ] || end "not ok large: no $T410TRACE: run \"make ARCH=arm64 LINK=shared\" first" 1
machine_share
machine_ready "$share/prepare.log"
case $? in
0) ;;
"$MACHINE_NO_NETWORK") end "skip machine: $MACHINE_PROBLEM" 0 ;;
*) end "not ok large: $MACHINE_PROBLEM" 1 ;;
esac
machine_take "$T410TRACE" "$share"
cp "$HERE/large-guest.sh" "$share/guest.sh"

# By a clock that counts instructions. By the host's, CPUs that wait for each other, of which the
# host runs a few at a time, stall for tens of seconds. All of them together are as fast as one.
"$MACHINE" --steady --timeout "$T410_TIMEOUT" --cpus "$T410_CPUS" --mem 2048 --traffic "$HERE/traffic.conf" \
	--dir "$share" -- sh guest.sh "${senders[@]}" < /dev/null 2>&1 | sed 's/^/# /'
[ "${PIPESTATUS[0]}" = 0 ] || end "not ok large: the virtual machine ended with a fault" 1
"$HERE/judge_large.py" "$share/out" $((2 * T410_CPUS))
