#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# riscv64.sh: build/riscv64/t410trace under Debian's kernel for riscv64, booted in QEMU with nothing but
# busybox, programs of the live tests and t410trace in memory. riscv64-init runs there and keeps what
# all of them say, riscv64.py judges it here. Needs make ARCH=riscv64 and qemu-system-riscv64. Debian 13 is
# the first release with riscv64; build/riscv64 keeps what was downloaded.
#
# Environment: T410_KERNEL_LIMIT  seconds after which a machine hangs (default: 1800)
#              T410_RESULTS       folder to keep what was said there
set -euo pipefail
# shellcheck source=tests/kernel/machine.sh
. "$(dirname "$0")/machine.sh"
top=$(realpath "$here/../..")
debs=$top/build/riscv64/debian

# fetch: Debian's newest kernel and busybox, once
fetch() {
	local state=$top/build/riscv64/packages kernel
	[ ! -e "$debs/.complete" ] || return 0
	rm -rf "$state" "$debs"
	mkdir -p "$debs"
	"$top/packaging/foreign.sh" riscv64 "$state"
	(
		export APT_CONFIG=$state/apt.conf
		apt-get -q update
		kernel=$(apt-cache depends linux-image-riscv64 | sed -n 's/^ *Depends: \(linux-image-[0-9]\)/\1/p' | head -n 1)
		cd "$debs" && apt-get -q download "$kernel" busybox-static
	) > "$state/log" 2>&1 || fail "packages for riscv64: $(tail -n 1 "$state/log")"
	touch "$debs/.complete"
}

command -v qemu-system-riscv64 > /dev/null || fail "qemu-system-riscv64 is not installed"
begin riscv64
program=$top/build/riscv64/t410trace
if readelf -l "$program" | grep -q INTERP; then fail "the program needs a loader"; fi
fetch
unpack "$(echo "$debs"/linux-image-[0-9]*)"
dpkg-deb -x "$(echo "$debs"/busybox-static_*)" "$work/busybox"
mkdir -p "$work/root/bin"
riscv64-linux-gnu-strip -o "$work/root/bin/t410trace" "$program"
for name in burn esp_traffic; do
	riscv64-linux-gnu-gcc -std=gnu11 -D_GNU_SOURCE -O2 -static -pthread -o "$work/root/bin/$name" \
		"$here/../live/$name.c"
done
cat > "$work/out/esp_config" << END
CPU_ARCH = ariane
NCPU_TILE = 2
CONFIG_NOC_ROWS = 1
CONFIG_NOC_COLS = 4
CONFIG_DMA_NOC_WIDTH = 64
CONFIG_CACHE_EN = y
TILE_0_0 = 0 mem mem
TILE_0_1 = 1 cpu cpu
TILE_0_2 = 2 cpu cpu
TILE_0_3 = 3 misc IO
T410TRACE_WINDOW = /window
T410TRACE_CLOCK_MHZ = 100
END
make_initrd "$work/busybox/usr/bin/busybox" riscv64-init
boot "$work/kernel/boot/vmlinux-$version" "$work/out" ttyS0 qemu-system-riscv64 -M virt
if [ -n "${T410_RESULTS:-}" ]; then cp -r "$work/out/." "$T410_RESULTS"; fi
"$here/riscv64.py" "$work/out" > "$work/verdict" || true
named "$work/verdict"
! grep -q '^not ok' "$work/verdict"
