#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# run.sh T410TRACE [NAME...]: live tests (NAME: only those with this in their name) under the kernel
# of this Debian release, booted in QEMU over this machine's own files, which it can only read.
# Prints the lines of tests/live/run.sh with the kernel's version before the names. Needs root, for
# all files to be readable. QEMU emulates the CPUs, so it takes ten times as long as without it.
#
# Environment: T410_KERNEL_DEB    a file of Debian's kernel to boot instead (linux-image-*.deb)
#              T410_KERNEL_LIMIT  seconds after which a machine hangs (default: 1800)
set -euo pipefail
# shellcheck source=tests/kernel/machine.sh
. "$(dirname "$0")/machine.sh"
# What differs between kernels: how requests and packets are hooked, and the ledger's flush
TESTS=(ledger/short names/ disk-owners disk-writeback disk-gone disk-changes io/udp io/tcp without-network socket-changes)

# fetch FOLDER: the newest kernel of this release; apt checks signatures
fetch() {
	local image
	image=$(apt-cache depends "linux-image-$ARCH" | sed -n 's/^ *Depends: \(linux-image-[0-9]\)/\1/p' | head -n 1)
	[ -n "$image" ] || fail "apt knows no kernel: run apt-get update"
	(cd "$1" && apt-get -q -o APT::Sandbox::User=root download "$image") > "$1/apt.log" 2>&1 ||
		fail "apt-get download $image: $(tail -n 1 "$1/apt.log")"
}

if [ $# -lt 1 ] || [ ! -x "$1" ]; then
	echo "usage: run.sh T410TRACE [NAME...]" >&2
	exit 2
fi
[ "$(id -u)" = 0 ] || { echo "skip kernel: not root"; exit 0; }
program=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- "${TESTS[@]}"
# The emulator's TSC is the host's, one for all CPUs. Linux does not believe that, and goes by two clocks
# then: the scheduler's stands still when a tick is late, as they are on a busy host, the other does not.
case $(uname -m) in
aarch64) ARCH=arm64 QEMU=(qemu-system-aarch64 -M virt -cpu max -bios /usr/share/qemu-efi-aarch64/QEMU_EFI.fd) CONSOLE=ttyAMA0 ;;
*) ARCH=amd64 QEMU=(qemu-system-x86_64 -M q35 -cpu max) CONSOLE="ttyS0 tsc=reliable" ;;
esac
command -v "${QEMU[0]}" > /dev/null || fail "${QEMU[0]} is not installed, see make deps"
begin debian
deb=${T410_KERNEL_DEB:-}
[ -n "$deb" ] || { fetch "$work"; deb=$(echo "$work"/*.deb); }
unpack "$deb"
make_initrd /bin/busybox init
# Built here, where it takes less time
make -s -C "$here/../.." "build/$ARCH/tests/live/"{weigh,iowho,reader,exporter,t410trace-file}
printf '%q ' "$here/../live/run.sh" "$program" "$@" > "$work/out/command"
boot "$work/kernel/boot/vmlinuz-$version" / "$CONSOLE" "${QEMU[@]}"
named "$work/out/log"
exit "$(< "$work/out/status")"
