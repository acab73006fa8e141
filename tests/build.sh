#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# build.sh: every supported build, from nothing and without a warning.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# build NAME FILE ARGUMENTS...: what make prints besides commands is a warning
build() {
	local name=$1 file=$2
	shift 2
	rm -rf "$(dirname "$file")"
	if ! make -s -j"$(nproc)" "$@" > "$log" 2>&1; then
		echo "not ok build $name: failed"
		tail -n 20 "$log"
	elif grep -qi warning "$log"; then
		echo "not ok build $name: warnings"
		grep -i -A3 warning "$log" | head -n 20
	elif [ ! -x "$file" ]; then
		echo "not ok build $name: no $file"
	else
		echo "ok build $name"
	fi
}

native=amd64
[ "$(uname -m)" != aarch64 ] || native=arm64
build gcc "build/$native-gcc/t410trace" VARIANT=-gcc CC=gcc
build clang "build/$native-clang/t410trace" VARIANT=-clang CC=clang
build arm64-gcc build/arm64/t410trace ARCH=arm64
build arm64-clang build/arm64-clang/t410trace ARCH=arm64 VARIANT=-clang CC=clang
build amd64-static build/amd64-static/t410trace ARCH=amd64 VARIANT=-static

# machine FILE NAME: a static program for that machine, which needs nothing of the
# one it runs on
machine() {
	if ! readelf -h "$1" 2> /dev/null | grep -q "Machine: .*$2"; then
		echo "not ok static $1: not for $2"
	elif readelf -l "$1" | grep -q INTERP; then
		echo "not ok static $1: needs a dynamic loader"
	else
		echo "ok static $1"
	fi
}
machine build/arm64/t410trace AArch64
machine build/arm64-clang/t410trace AArch64
machine build/amd64-static/t410trace X86-64
exit 0
