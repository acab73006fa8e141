# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# machine.sh: what run.sh and riscv64.sh share: a kernel of Debian is booted in QEMU, with a folder for
# its results, $work/out, and a tree of files that it can only read. They call the functions in their
# order here.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ -n "${ENDING:-}" ] || ENDING=1 exec "$here/../ending.py" "$0" "$@"
MODULES="virtio_pci virtio_blk virtio_net 9pnet_virtio 9p overlay ext4"

fail() {
	echo "not ok ${0##*/}: $*"
	exit 1
}

# begin LABEL: names of tests begin with it; $work is a folder that goes away in the end
begin() {
	label=$1
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	mkdir "$work/out"
}

# unpack DEB: a kernel's package, into $work/kernel; sets $version
unpack() {
	mkdir "$work/kernel"
	dpkg-deb -x "$1" "$work/kernel"
	[ -e "$work/kernel/lib/modules" ] || { mkdir -p "$work/kernel/lib" && mv "$work/kernel/usr/lib/modules" "$work/kernel/lib/"; }
	version=$(ls "$work/kernel/lib/modules")
}

# make_initrd BUSYBOX INIT: these, and the modules that are needed to see the folder and the tree
make_initrd() {
	local root=$work/root module file
	mkdir -p "$root/bin" "$root/modules"
	cp "$1" "$root/bin/"
	cp "$here/$2" "$root/init"
	depmod -b "$work/kernel" "$version"
	for module in $MODULES; do
		modprobe -d "$work/kernel" -S "$version" --show-depends "$module" 2> /dev/null | sed -n 's/^insmod \([^ ]*\).*/\1/p'
	done | awk '!seen[$0]++' > "$work/modules"
	[ -s "$work/modules" ] || fail "the kernel has no modules"
	while read -r file; do
		cp "$file" "$root/modules/"
		echo "${file##*/}"
	done < "$work/modules" > "$root/modules/order"
	(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) > "$work/initrd"
}

# boot KERNEL TREE CONSOLE QEMU...: until the machine switches itself off, with a status in the folder.
# CONSOLE may have more options of the kernel behind it.
boot() {
	local kernel=$1 tree=$2 console=$3
	shift 3
	mv "$work/kernel/lib" "$work/out/lib"
	truncate -s 1G "$work/disk"
	timeout --foreground -k 10 "${T410_KERNEL_LIMIT:-1800}" "$@" -accel tcg,thread=multi -smp 2 -m 2G -display none \
		-monitor none -no-reboot -serial "file:$work/console" -kernel "$kernel" \
		-initrd "$work/initrd" -append "console=$console loglevel=4 panic=-1 net.ifnames=0" \
		-virtfs "local,path=$tree,mount_tag=root,security_model=none,readonly=on,multidevs=remap" \
		-virtfs "local,path=$work/out,mount_tag=out,security_model=none" \
		-drive "if=none,id=disk,file=$work/disk,format=raw,cache=unsafe" -device virtio-blk-pci,drive=disk < /dev/null ||
		unfinished "QEMU ended with $?"
	[ -s "$work/out/status" ] || unfinished "the machine ended without a result"
}

# unfinished WHY: with the lines of the tests that had ended
unfinished() {
	[ ! -e "$work/out/log" ] || named "$work/out/log" | grep -E '^(ok|not ok|skip) ' || true
	fail "$1: $(tail -n 3 "$work/console" 2> /dev/null)"
}

# named FILE: lines of tests, with the kernel before their names
named() { sed -E "s#^(ok|not ok|skip) #\1 $label-${version%.*}/#" "$1"; }
