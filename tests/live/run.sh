#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# run.sh [--disturbed FILE | --these FILE] T410TRACE [NAME...]: the scheduler side of t410trace on
# this very kernel. Prints "ok NAME", "not ok NAME: reason" or "skip NAME: reason" for each test (NAME:
# only those with this in their name), and fails when one was not ok. Needs root and a
# kernel with BPF and type information; on others every test is skipped. Helpers that were built
# along with T410TRACE have its BPF programs. The options are those of run.py.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
[ -n "${ENDING:-}" ] || ENDING=1 exec "$here/../ending.py" "$0" "$@"
option=
case ${1:-} in
--disturbed | --these)
	option="$1=${2:-}"
	shift 2
	;;
esac
if [ $# -lt 1 ] || [ ! -x "$1" ]; then
	echo "usage: run.sh [--disturbed FILE | --these FILE] T410TRACE [NAME...]" >&2
	exit 2
fi
program=$(realpath "$1")
shift

reason=
if [ "$(id -u)" != 0 ]; then
	reason="not root"
elif [ ! -r /sys/kernel/btf/vmlinux ]; then
	reason="the kernel has no type information (BTF)"
elif ! problem=$("$program" --no-counters -a -q -d 0.01 -o /dev/null 2>&1); then
	# Only the kernel's refusal is a reason to skip; anything else is for the tests to find.
	case $problem in
	*"cannot load the BPF programs: Operation not permitted"* | \
		*"cannot load the BPF programs: Function not implemented"*)
		reason="this kernel does not allow BPF"
		;;
	esac
fi

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
# One test runs as another user.
chmod 755 "$tools"

case $(uname -m) in
aarch64) arch=arm64 ;;
*) arch=amd64 ;;
esac
for name in weigh iowho reader exporter t410trace-file; do
	make -s -C "$here/../.." "build/$arch/tests/live/$name"
	own=$(dirname "$program")/tests/live/$name
	[ -x "$own" ] || own=$here/../../build/$arch/tests/live/$name
	cp "$own" "$tools/"
done
for file in burn esp_traffic family stalls storm touch ../bench/iogen; do
	${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -pthread -o "$tools/$(basename $file)" "$here/$file.c"
done
${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -shared -fPIC -o "$tools/refuse.so" "$here/refuse.c"
PYTHONDONTWRITEBYTECODE=1 "$here/run.py" --tools "$tools" ${option:+"$option"} ${reason:+--skip "$reason"} "$program" "$@"
