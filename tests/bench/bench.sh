#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# bench.sh bench T410TRACE [OPTION...]: what t410trace costs on this machine, as a table.
# bench.sh disturb T410TRACE [OPTION...]: what it does to other programs.
# Options are those of bench.py and disturb.py, for example --rounds 3 or --pairs 6.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
what=${1:-}
case $what in
bench) bpf="empty floor iopeers" programs="load crowd iogen ../live/burn" linked="weigh iowho" ;;
disturb) bpf=empty programs="load stream" linked= ;;
*) what= ;;
esac
if [ -z "$what" ] || [ ! -x "${2:-}" ]; then
	echo "usage: bench.sh bench|disturb T410TRACE [OPTION...]" >&2
	exit 2
fi
program=$(realpath "$2")
shift 2

case $(uname -m) in
aarch64) arch=arm64 ;;
*) arch=amd64 ;;
esac

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

for name in $bpf; do
	${CLANG:-clang} -O2 -g -target bpf -mcpu=v3 -Wall -Wextra -Wno-unused-parameter -I"$root/vmlinux/$arch" \
		-idirafter "/usr/include/$(uname -m)-linux-gnu" \
		-c -o "$tools/$name.bpf.o" "$here/$name.bpf.c"
done
for name in $programs; do
	${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -pthread -o "$tools/${name##*/}" "$here/$name.c" -lbpf
done
for name in $linked; do
	make -s -C "$root" "build/$arch/tests/live/$name"
	cp "$root/build/$arch/tests/live/$name" "$tools/"
done
PYTHONDONTWRITEBYTECODE=1 "$here/$what.py" --tools "$tools" "$@" "$program"
