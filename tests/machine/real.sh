#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# real.sh [--short] [RUN...]: how right is t410trace on programs that nobody here wrote? Each alone
# and beside three others, in the virtual T410 with its cache model; all runs, or those named ("+"
# between programs that run together). With --short it is a test: three programs of the usual guest,
# and the estimate has limits.
#
# The machine's clock counts instructions (--steady): by the host's clock, an emulated CPU that gets
# no processor seems to work, and windows and slices become as long as the host likes.
#
# Environment: T410TRACE     the arm64 program that records (build/arm64-shared/t410trace)
#              T410_REPORT   the program of this host that makes the reports (t410trace)
#              T410_RESULTS  folder to keep recordings and truth in (default: removed afterwards)
#              T410_TABLE    document whose table of real programs is replaced
set -uo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/machine/machine.sh
. "$HERE/machine.sh"
T410TRACE=${T410TRACE:-$ROOT/build/arm64-shared/t410trace}
T410_REPORT=${T410_REPORT:-$ROOT/t410trace}
CACHES=64:512	# KiB: private L2, shared LLC
MILLIONS=500	# of loads and stores in a run, twice as many with several programs
TIMEOUT=2400	# of a machine that hangs
USERLAND=real
LIMITS=		# option of the judge
PROGRAMS=(sysbench_memory stress_stream stress_cache sqlite gzip_text zstd_text sort_text numpy
	fio_tmpfs redis openssl_sha video)
# Four that have nothing to do with each other: each program is in one of them, some in two
TOGETHER=(sysbench_memory+gzip_text+redis+numpy stress_stream+sqlite+video+fio_tmpfs
	stress_cache+zstd_text+sort_text+openssl_sha sqlite+redis+gzip_text+stress_stream)

end() {
	echo "$1"
	exit "$2"
}

if [ "${1:-}" = --short ]; then
	shift
	PROGRAMS=(zstd_text)
	TOGETHER=(sqlite+zstd_text+sort_text)
	MILLIONS=200
	USERLAND=userland
	LIMITS=--limits
fi
[ $# -gt 0 ] || set -- "${PROGRAMS[@]}" "${TOGETHER[@]}"
[ -f "$T410TRACE" ] || end "not ok real: no $T410TRACE: run \"make ARCH=arm64 LINK=shared\" first" 1
[ -x "$T410_REPORT" ] || end "not ok real: no $T410_REPORT: run \"make\" first" 1
machine_share
machine_ready "$share/prepare.log" --userland $USERLAND
case $? in
0) ;;
"$MACHINE_NO_NETWORK") end "skip real: $MACHINE_PROBLEM" 0 ;;
*) end "not ok real: $MACHINE_PROBLEM" 1 ;;
esac
machine_take "$T410TRACE" "$share"
cp "$HERE/real-guest.sh" "$share/"

rm -rf "$share/out"
mkdir -p "$share/out"
"$MACHINE" --steady --timeout $TIMEOUT --userland $USERLAND --cache $CACHES \
	--traffic "$HERE/real.conf" --dir "$share" \
	-- sh real-guest.sh $MILLIONS "$@" < /dev/null 2>&1 | sed 's/^/# /'
status=${PIPESTATUS[0]}
[ "$status" = 0 ] || end "not ok real: the virtual machine ended with status $status" 1
"$HERE/judge_real.py" $LIMITS "$T410_REPORT" "$share/out" ${T410_TABLE:+--table "$T410_TABLE"}
