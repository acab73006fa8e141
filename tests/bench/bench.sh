#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# bench.sh T410TRACE [OPTION...]: what t410trace costs on this machine, as a table.
# Options are those of bench.py, for example --rounds 3 or --pairs 0.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
if [ $# -lt 1 ] || [ ! -x "$1" ]; then
	echo "usage: bench.sh T410TRACE [OPTION...]" >&2
	exit 2
fi
program=$(realpath "$1")
shift

case $(uname -m) in
aarch64) arch=arm64 ;;
*) arch=amd64 ;;
esac

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

for name in empty floor iopeers; do
	${CLANG:-clang} -O2 -g -target bpf -mcpu=v3 -Wall -Wextra -Wno-unused-parameter -I"$root/vmlinux/$arch" \
		-idirafter "/usr/include/$(uname -m)-linux-gnu" \
		-c -o "$tools/$name.bpf.o" "$here/$name.bpf.c"
done
for name in load crowd iogen; do
	${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -o "$tools/$name" "$here/$name.c" -lbpf
done
${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -pthread -o "$tools/burn" "$here/../live/burn.c"
for name in weigh iowho; do
	make -s -C "$root" "build/$arch/tests/live/$name"
	cp "$root/build/$arch/tests/live/$name" "$tools/"
done
PYTHONDONTWRITEBYTECODE=1 "$here/bench.py" --tools "$tools" "$@" "$program"
