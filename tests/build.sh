#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# build.sh: every supported build, from nothing and without a warning; and Debian's package.
#
# Environment: FROM_NOTHING  that with gcc has just been made and judged
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tests/builds.sh

# is_for FILE MACHINE: or the reason why not
is_for() { readelf -h "$1" | grep -q "Machine: .*$2" || echo "not for $2"; }

# A static program needs nothing of the machine it runs on
is_static() { ! readelf -l "$1" | grep -q INTERP || echo "needs a dynamic loader"; }

# One with shared libraries needs what is in the folder beside it
is_complete() {
	local folder loader name
	folder=$(dirname "$1")/lib
	loader=$(readelf -l "$1" | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
	[ "${loader%/*}" = /opt/t410trace/lib ] || echo "its loader is $loader"
	[ -e "$folder/${loader##*/}" ] || echo "no loader beside it"
	readelf -d "$1" "$folder"/* | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u | while read -r name; do
		[ -e "$folder/$name" ] || echo "no $name beside it"
	done
}

# It says what a copy of sysfs has, in a folder with nothing else in it
runs_alone() {
	local root said
	root=$(mktemp -d)
	cp "$1" "$root/t410trace"
	tests/fixtures/platforms.py zen4 "$root/sysfs"
	if [ "$(id -u)" = 0 ]; then
		said=$(chroot "$root" /t410trace list --sysfs /sysfs 2>&1)
	else
		said=$(env -i "$root/t410trace" list --sysfs "$root/sysfs" 2>&1)
	fi
	rm -rf "$root"
	[[ $said == *"amd_umc_<12-23>"* ]] || echo "does not run alone: ${said:0:200}"
}

# unfused FOLDER: sums are those of other machines: no product is added without being rounded
unfused() {
	local dump=aarch64-linux-gnu-objdump said
	[ $native != arm64 ] || dump=objdump
	said=$($dump -d "$1"/user/engine/*/*.o | awk '$3 ~ /^fn?m(ul|add|sub)$|^fml[as]$/ { print $3 }' | sort -u)
	[[ $said == *fmul* ]] || echo "no products in $1"
	[[ ! $said =~ f(ml|n?madd|n?msub) ]] || echo "fused:" $said
}

# says NAME REASONS: ok if there are none
says() { if [ -z "$2" ]; then echo "ok $1"; else echo "not ok $1:" $2; fi; }

native=amd64
[ "$(uname -m)" != aarch64 ] || native=arm64
# tests/style.sh has built a new tree and judged that
[ -n "${FROM_NOTHING:-}" ] || build "build gcc" "build/$native-gcc/t410trace" VARIANT=-gcc CC=gcc
build "build benches" "build/$native/tests/bench/memory" bench-programs
# Debugging information is a fifth of the work, and no warning depends on it
build "build clang" "build/$native-clang/t410trace" VARIANT=-clang CC=clang CFLAGS=-O2
# The one with gcc is what the virtual T410 runs; it is linked a second time, statically
for cc in aarch64-linux-gnu-gcc clang; do
	variant=
	[ $cc != clang ] || variant=-clang
	name=arm64-${cc##*-} objects=build/arm64$variant file=build/arm64-shared$variant/t410trace
	rm -rf $objects
	build "build $name" "$file" ARCH=arm64 LINK=shared VARIANT=$variant CC=$cc ${variant:+CFLAGS=-O2} &&
		says "shared $name" "$(is_for "$file" AArch64)$(is_for "$file-gpu" AArch64)$(is_complete "$file")$(unfused $objects)"
done
link "build arm64-static" build/arm64/t410trace ARCH=arm64 CC=aarch64-linux-gnu-gcc &&
	says "static arm64" "$(is_for build/arm64/t410trace AArch64)$(is_static build/arm64/t410trace)$(is_for build/arm64/t410trace-gpu AArch64)"
build "build amd64-static" build/amd64-static/t410trace ARCH=amd64 VARIANT=-static CFLAGS=-O2 &&
	says "static amd64" "$(is_for build/amd64-static/t410trace X86-64)$(is_static build/amd64-static/t410trace)"
# The one for this machine can be run
file=build/arm64/t410trace
[ $native = arm64 ] || file=build/amd64-static/t410trace
[ ! -x $file ] || says "static $native runs" "$(runs_alone $file)"
tests/package.sh || echo "not ok package: package.sh ended with status $?"
exit 0
