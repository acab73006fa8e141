# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-only
# products.sh: everything a boot needs, built if its inputs changed. (SC2034: the
# folders are used by other parts.)

# list_suite LIST, list_packages LIST: what a list of packages says: the suite, if not the
# kernel's; names, with the kernel's version where that is asked for
list_suite() {
	local suite
	suite=$(sed -n 's/^suite=//p' "$1")
	echo "${suite:-$KERNEL_SUITE}"
}

list_packages() {
	awk -v kernel="${KERNEL_VERSION:-}" '!/^(#|suite=)/ && NF { sub(/=KERNEL$/, "=" kernel, $1); print $1 }' "$1"
}

# make_qemu OUT KEY: the emulator, with its own C library and loader, for hosts with another one
make_qemu() {
	local out=$1 packages=$MACHINE_DIR/packages/qemu-$2 names package loader
	mapfile -t names < <(list_packages "$QEMU_LIST")
	use_suite "$(list_suite "$QEMU_LIST")" "$(dpkg --print-architecture)"
	if [ ! -e "$packages/complete" ]; then
		apt_fetch "$packages" "${names[*]}" --download-only install "${names[@]}"
		touch "$packages/complete"
	fi
	for package in "$packages"/*.deb; do dpkg-deb -x "$package" "$out"; done
	rm -rf "${out:?}"/{etc,var,usr/share/{doc,man,locale,info,bug,lintian,AAVMF,iso-codes},usr/bin/qemu-system-arm}
	# not the link in lib64, which leads to the loader of this host
	loader=$(cd "$out" && echo lib/*-linux-gnu/ld-linux-*.so.?)
	cat > "$out/qemu" <<-END
	#!/bin/sh
	root=\$(dirname "\$0")
	for folder in "\$root"/lib/*-linux-gnu "\$root"/usr/lib/*-linux-gnu; do
		libraries=\${libraries:+\$libraries:}\$folder
	done
	exec "\$root/$loader" --library-path "\$libraries" "\$root/usr/bin/qemu-system-aarch64" "\$@"
	END
	chmod +x "$out/qemu"
}

# make_emulation OUT: the QEMU plugin, for the C library of QEMU, and the host's side of the traffic
make_emulation() {
	logged "$MACHINE_DIR/logs/plugin.log" "building the plugin" gcc "--sysroot=$QEMU_ROOT" -O2 -Wall -Wextra -fPIC \
		-shared -fvisibility=hidden -o "$1/libt410.so" "$MACHINE_SRC"/plugin/*.c
	logged "$MACHINE_DIR/logs/t410ctl.log" "building t410ctl" gcc -O2 -Wall -Wextra -I"$MACHINE_SRC/plugin" \
		-o "$1/t410ctl" "$MACHINE_SRC"/traffic/*.c
}

# make_programs OUT: what guest/ has in C; static, as the initrd has no libc
make_programs() {
	local file
	for file in "$MACHINE_SRC"/guest/*.c; do
		logged "$MACHINE_DIR/logs/programs.log" "building ${file##*/}" "${CROSS}gcc" -O2 -Wall -Wextra -static \
			-pthread -I"$MACHINE_SRC/plugin" -I"$MACHINE_SRC/../../include" -I"$MACHINE_SRC/esp" -o "$1/$(basename "$file" .c)" "$file"
	done
}

# make_tables OUT: the firmware tables. They build upon QEMU's own, which depend on
# the machine's size; so QEMU is started once to write those down.
make_tables() {
	local out=$1 log=$MACHINE_DIR/logs/tables.log interrupts=()
	[ -n "$IRQ" ] || interrupts=(--no-irq)
	mkdir "$out/dump"
	hardware
	logged "$log" "writing QEMU's tables" timeout 60 "$QEMU" "${HARDWARE[@]}" -serial null -S \
		-plugin "$EMULATION/libt410.so,dump=$out/dump"
	(cd "$out/dump" && logged "$log" "disassembling QEMU's tables" iasl -d DSDT.dat)
	logged "$log" "generating the tables" python3 "$MACHINE_SRC/acpi/gen.py" "$out/dump" "$out" \
		--shape "$SHAPE" --sockets "$SOCKETS" --peer "$PEER" "${interrupts[@]}"
	rm -rf "$out/dump"
}

# make_initrd OUT: replaced firmware tables first, which the kernel wants in an
# uncompressed archive, then the guest's root folder
make_initrd() {
	local out=$1 root=$1/root
	mkdir -p "$root"/{bin,modules,usr}
	cp "$USERLAND/busybox" "$PROGRAMS"/* "$MACHINE_SRC"/guest/bin/* "$root/bin/"
	cp "$KERNEL/modules"/* "$root/modules/"
	cp "$MACHINE_SRC/guest/init" "$root/init"
	chmod +x "$root/init" "$root"/bin/*
	# Debian's programs are seen at /usr and look for their loader here
	ln -s usr/lib "$root/lib"
	cp "$TABLES/acpi.cpio" "$out/initrd"
	(cd "$root" && find . | sort | cpio -o -H newc --quiet | gzip -1) >> "$out/initrd"
	rm -rf "$root"
}

# make_userland OUT KEY: usr/ of Debian's programs and what they depend on; the
# names of programs that replace those of busybox; busybox itself
make_userland() {
	local out=$1 packages=$MACHINE_DIR/packages/userland-$2 names package folder program
	local list=$MACHINE_SRC/guest/$USERLAND_NAME.list
	mapfile -t names < <(list_packages "$list")
	use_suite "$(list_suite "$list")"
	if [ ! -e "$packages/complete" ]; then
		apt_fetch "$packages" "${names[*]}" --download-only install "${names[@]}"
		touch "$packages/complete"
	fi
	step "$USERLAND_NAME packages"
	mkdir -p "$out/tree/usr"
	for package in "$packages"/*.deb; do dpkg-deb -x "$package" "$out/tree"; done
	cp "$(first_file "$out/tree" -path '*/bin/busybox')" "$out/busybox"
	# packages of older suites have these folders beside /usr
	for folder in bin sbin lib; do
		[ ! -d "$out/tree/$folder" ] || [ -L "$out/tree/$folder" ] || cp -a "$out/tree/$folder" "$out/tree/usr/"
	done
	# Debian's choice between versions of Slurm, made when a package is installed
	for program in "$out"/tree/usr/sbin/*-wlm; do
		[ ! -e "$program" ] || ln -s "${program##*/}" "${program%-wlm}"
	done
	rm -rf "$out/tree"/usr/share/{doc,man,locale,info,bug,lintian}
	mv "$out/tree/usr" "$out/usr"
	# the guest has a folder /etc of its own, and AppArmor is nothing without these settings
	[ ! -d "$out/tree/etc/apparmor.d" ] || mv "$out/tree/etc/apparmor.d" "$out/usr/share/"
	rm -rf "$out/tree"
	# the guest may mount something there
	mkdir -p "$out/usr/local"
	awk '!/^(#|suite=)/ { for (i = 2; i <= NF; i++) print $i }' "$list" > "$out/usr/programs"
}

# use_emulation: sets QEMU_ROOT, EMULATION and what use_qemu does
use_emulation() {
	local key
	key=$(hash_of "$QEMU_LIST")
	product qemu "$key-$(hash_of "$MACHINE_SRC/lib/products.sh")" make_qemu "$key"
	QEMU_ROOT=$PRODUCT
	use_qemu
	product emulation "$(hash_of "$QEMU_LIST" "$MACHINE_SRC"/{plugin,traffic}/*.[ch])" make_emulation
	EMULATION=$PRODUCT
}

# prepare REFRESH: sets KERNEL, USERLAND, EMULATION, PROGRAMS, TABLES, INITRD
prepare() {
	local key
	check_tools
	lock_cache
	mkdir -p "$MACHINE_DIR"/{logs,runs}
	choose_kernel "$1"
	product kernel "$KERNEL_VERSION-$(hash_of "$MACHINE_SRC"/{lib/kernel.sh,plugin/port.h,guest/module/*.c})" make_kernel
	KERNEL=$PRODUCT
	key=$KERNEL_VERSION-$(hash_of "$MACHINE_SRC/guest/$USERLAND_NAME.list")
	product "$USERLAND_NAME" "$key" make_userland "$key"
	USERLAND=$PRODUCT
	use_emulation
	product programs "$(hash_of "$MACHINE_SRC"/guest/*.[ch] "$MACHINE_SRC"/plugin/{port,shm}.h \
		"$MACHINE_SRC"/esp/*.h "$MACHINE_SRC"/../../include/esp/*.h)" make_programs
	PROGRAMS=$PRODUCT
	hardware
	product tables "$SHAPE-$PEER${IRQ:+-irq}-$(hash_of "$MACHINE_SRC"/acpi/*.py -- "$EMULATION" "${HARDWARE[@]}")" make_tables
	TABLES=$PRODUCT
	product initrd "$(hash_of "$MACHINE_SRC"/guest/{init,bin/*} "$MACHINE_SRC/lib/products.sh" -- \
		"$KERNEL" "$PROGRAMS" "$TABLES" "$USERLAND")" make_initrd
	INITRD=$PRODUCT/initrd
	unlock_cache
}
