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
here=$(cd "$(dirname "$0")" && pwd)
MODULES="virtio_pci virtio_blk virtio_net 9pnet_virtio 9p overlay ext4"
# What differs between kernels: how requests and packets are hooked, and the ledger's flush
TESTS=(ledger/short names/ disk-owners disk-writeback disk-gone disk-changes io/udp io/tcp without-network socket-changes)

fail() {
	echo "not ok kernel: $*"
	exit 1
}

# fetch FOLDER: the newest kernel of this release; apt checks signatures
fetch() {
	local image
	image=$(apt-cache depends "linux-image-$ARCH" | sed -n 's/^ *Depends: \(linux-image-[0-9]\)/\1/p' | head -n 1)
	[ -n "$image" ] || fail "apt knows no kernel: run apt-get update"
	(cd "$1" && apt-get -q -o APT::Sandbox::User=root download "$image") > "$1/apt.log" 2>&1 ||
		fail "apt-get download $image: $(tail -n 1 "$1/apt.log")"
}

# make_initrd KERNEL VERSION OUT: busybox, and the modules that are needed to see the machine's files
make_initrd() {
	local root=$3/root module file
	mkdir -p "$root/bin" "$root/modules"
	cp /bin/busybox "$root/bin/"
	cp "$here/init" "$root/init"
	depmod -b "$1" "$2"
	for module in $MODULES; do
		modprobe -d "$1" -S "$2" --show-depends "$module" 2> /dev/null | sed -n 's/^insmod \([^ ]*\).*/\1/p'
	done | awk '!seen[$0]++' > "$3/modules"
	[ -s "$3/modules" ] || fail "the kernel has no modules"
	while read -r file; do
		cp "$file" "$root/modules/"
		echo "${file##*/}"
	done < "$3/modules" > "$root/modules/order"
	(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) > "$3/initrd"
}

if [ $# -lt 1 ] || [ ! -x "$1" ]; then
	echo "usage: run.sh T410TRACE [NAME...]" >&2
	exit 2
fi
[ "$(id -u)" = 0 ] || { echo "skip kernel: not root"; exit 0; }
program=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- "${TESTS[@]}"
case $(uname -m) in
aarch64) ARCH=arm64 QEMU=(qemu-system-aarch64 -M virt -cpu max -bios /usr/share/qemu-efi-aarch64/QEMU_EFI.fd) TTY=ttyAMA0 ;;
*) ARCH=amd64 QEMU=(qemu-system-x86_64 -M q35 -cpu max) TTY=ttyS0 ;;
esac
command -v "${QEMU[0]}" > /dev/null || fail "${QEMU[0]} is not installed, see make deps"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
deb=${T410_KERNEL_DEB:-}
[ -n "$deb" ] || { fetch "$work"; deb=$(echo "$work"/*.deb); }
mkdir "$work/kernel" "$work/out"
dpkg-deb -x "$deb" "$work/kernel"
[ -e "$work/kernel/lib/modules" ] || { mkdir -p "$work/kernel/lib" && mv "$work/kernel/usr/lib/modules" "$work/kernel/lib/"; }
version=$(ls "$work/kernel/lib/modules")
make_initrd "$work/kernel" "$version" "$work"
# Built here, where it takes less time
make -s -C "$here/../.." "build/$ARCH/tests/live/"{weigh,iowho,reader,exporter,t410trace-file}
printf '%q ' "$here/../live/run.sh" "$program" "$@" > "$work/out/command"
mv "$work/kernel/lib" "$work/out/lib"
truncate -s 1G "$work/disk"
timeout --foreground -k 10 "${T410_KERNEL_LIMIT:-1800}" "${QEMU[@]}" -accel tcg,thread=multi -smp 2 -m 2G -display none \
	-monitor none -no-reboot -serial "file:$work/console" -kernel "$work/kernel/boot/vmlinuz-$version" \
	-initrd "$work/initrd" -append "console=$TTY loglevel=4 panic=-1 net.ifnames=0" \
	-virtfs local,path=/,mount_tag=root,security_model=none,readonly=on,multidevs=remap \
	-virtfs "local,path=$work/out,mount_tag=out,security_model=none" \
	-drive "if=none,id=disk,file=$work/disk,format=raw,cache=unsafe" -device virtio-blk-pci,drive=disk < /dev/null ||
	fail "QEMU ended with $?: $(tail -n 3 "$work/console" 2> /dev/null)"
release=$(cut -d . -f 1,2 <<< "$version")
sed -E "s#^(ok|not ok|skip) #\1 debian-$release/#" "$work/out/log"
[ -s "$work/out/status" ] || fail "the machine ended without a result: $(tail -n 3 "$work/console")"
exit "$(< "$work/out/status")"
