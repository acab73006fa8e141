# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-only
# products.sh: everything a boot needs, built if its inputs changed. (SC2034: the
# folders are used by other parts.)

# make_emulation OUT: the QEMU plugin, and the host's side of the traffic
make_emulation() {
	logged "$MACHINE_DIR/logs/plugin.log" "building the plugin" gcc -O2 -Wall -Wextra -fPIC -shared \
		-fvisibility=hidden -o "$1/libt410.so" "$MACHINE_SRC"/plugin/*.c
	logged "$MACHINE_DIR/logs/t410ctl.log" "building t410ctl" gcc -O2 -Wall -Wextra -I"$MACHINE_SRC/plugin" \
		-o "$1/t410ctl" "$MACHINE_SRC"/traffic/*.c
}

# make_programs OUT: what guest/ has in C; static, as the initrd has no libc
make_programs() {
	local file
	for file in "$MACHINE_SRC"/guest/*.c; do
		logged "$MACHINE_DIR/logs/programs.log" "building ${file##*/}" "${CROSS}gcc" -O2 -Wall -Wextra -static \
			-pthread -I"$MACHINE_SRC/plugin" -o "$1/$(basename "$file" .c)" "$file"
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

# userland_suite, userland_list: what guest/$USERLAND_NAME.list says: the suite, if not the
# kernel's; package names, with the kernel's version where that is asked for
userland_suite() {
	local suite
	suite=$(sed -n 's/^suite=//p' "$MACHINE_SRC/guest/$USERLAND_NAME.list")
	echo "${suite:-$KERNEL_SUITE}"
}

userland_list() {
	awk -v kernel="$KERNEL_VERSION" '!/^(#|suite=)/ && NF { sub(/=KERNEL$/, "=" kernel, $1); print $1 }' \
		"$MACHINE_SRC/guest/$USERLAND_NAME.list"
}

# make_userland OUT KEY: usr/ of Debian's programs and what they depend on; the
# names of programs that replace those of busybox; busybox itself
make_userland() {
	local out=$1 packages=$MACHINE_DIR/packages/userland-$2 names package folder program
	mapfile -t names < <(userland_list)
	use_suite "$(userland_suite)"
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
	rm -rf "$out/tree"
	# the guest may mount something there
	mkdir -p "$out/usr/local"
	awk '!/^(#|suite=)/ { for (i = 2; i <= NF; i++) print $i }' "$MACHINE_SRC/guest/$USERLAND_NAME.list" > "$out/usr/programs"
}

# prepare REFRESH: sets KERNEL, USERLAND, EMULATION, PROGRAMS, TABLES, INITRD
prepare() {
	local key
	check_tools
	check_qemu
	lock_cache
	mkdir -p "$MACHINE_DIR"/{logs,runs}
	choose_kernel "$1"
	product kernel "$KERNEL_VERSION-$(hash_of "$MACHINE_SRC/lib/kernel.sh")" make_kernel
	KERNEL=$PRODUCT
	key=$KERNEL_VERSION-$(hash_of "$MACHINE_SRC/guest/$USERLAND_NAME.list")
	product "$USERLAND_NAME" "$key" make_userland "$key"
	USERLAND=$PRODUCT
	product emulation "$(hash_of "$MACHINE_SRC"/{plugin,traffic}/*.[ch])" make_emulation
	EMULATION=$PRODUCT
	product programs "$(hash_of "$MACHINE_SRC"/guest/*.[ch] "$MACHINE_SRC"/plugin/{port,shm}.h)" make_programs
	PROGRAMS=$PRODUCT
	hardware
	product tables "$SHAPE-$PEER${IRQ:+-irq}-$(hash_of "$MACHINE_SRC"/acpi/*.py -- "$EMULATION" "${HARDWARE[@]}")" make_tables
	TABLES=$PRODUCT
	product initrd "$(hash_of "$MACHINE_SRC"/guest/{init,bin/*} "$MACHINE_SRC/lib/products.sh" -- \
		"$KERNEL" "$PROGRAMS" "$TABLES" "$USERLAND")" make_initrd
	INITRD=$PRODUCT/initrd
	unlock_cache
}
