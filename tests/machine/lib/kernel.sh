# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# kernel.sh: which Debian kernel, and from it the image and the modules.

readonly OLDEST_KERNEL=7.1	# the first with all drivers of the T410
readonly SUITES=(sid trixie-backports testing experimental)
readonly CROSS=aarch64-linux-gnu-

# Of the kernel's own, for folders shared with the host; in load order
readonly SHARE_MODULES=(fs/netfs/netfs net/9p/9pnet net/9p/9pnet_virtio fs/9p/9p)
# In the guest, but not loaded: a driver that does nothing but allow SR-IOV, and what lets packages be
# installed into /usr, which is the host's
readonly SPARE_MODULES=(drivers/pci/pci-pf-stub fs/overlayfs/overlay)
# For machines with a disk; in load order
readonly DISK_MODULES=(drivers/block/virtio_blk lib/crc/crc16 fs/mbcache fs/jbd2/jbd2 fs/ext4/ext4)
# For machines on a network: its card, and a server and a client of NFS; in load order
readonly NET_MODULES=(net/core/failover drivers/net/net_failover drivers/net/virtio_net net/sunrpc/sunrpc
	net/sunrpc/auth_gss/auth_rpcgss fs/nfs_common/grace fs/lockd/lockd fs/nfs_common/nfs_acl fs/nfsd/nfsd
	net/dns_resolver/dns_resolver fs/nfs/nfs fs/nfs/nfsv4)
# The drivers under test; in load order. Debian has their source, but not built.
# Our own (guest/module) are loaded by tests: t410_cache with the cache model, t410_shapes for PMUs
# that other vendors' machines have, nvidia for nodes of GPUs
readonly OWN_MODULES=(t410_cache t410_shapes nvidia)
readonly DRIVERS=(arm_cspmu_module nvidia_cspmu nvidia_t410_cmem_latency_pmu nvidia_t410_c2c_pmu)
# Those of other shapes' PMUs, which only they load. That of Kunpeng is in Debian's image.
readonly AMPEREONE_DRIVERS=(ampere_cspmu dwc_pcie_pmu)
readonly CMN_MODULES=(drivers/perf/arm-cmn)

# package_set RELEASE VERSION < AVAILABLE: all packages of this kernel, the source
# package first; fails if some are missing (a suite may be half updated). Debian
# moved the image and the modules to packages of their own with 7.2.
package_set() {
	local release=$1 version=$2 list name set=()
	list=$(cat)
	has() { grep -qxF "$1 $version" <<< "$list"; }
	[[ $release =~ ^([0-9]+\.[0-9]+) ]] || return 1
	for name in "linux-source-${BASH_REMATCH[1]}" "linux-headers-$release"; do
		has "$name" || return 1
		set+=("$name")
	done
	if has "linux-modules-$release" && has "linux-binary-unsigned-$release"; then
		set+=("linux-modules-$release" "linux-binary-unsigned-$release")
		! has "linux-base-$release" || set+=("linux-base-$release")
	elif has "linux-image-$release-unsigned"; then
		set+=("linux-image-$release-unsigned")
	else
		return 1
	fi
	echo "${set[*]}"
}

# newest_kernel: "release version packages..." of the suite in use. The plain arm64
# flavour, so a digit or a Debian suffix comes before "-arm64", not "cloud" or "rt".
newest_kernel() {
	local available name version set
	available=$(available_packages)
	while read -r name version; do
		name=${name#linux-headers-}
		dpkg --compare-versions "$version" ge $OLDEST_KERNEL || return 1
		set=$(package_set "$name" "$version" <<< "$available") || continue
		echo "$name $version $set"
		return 0
	done < <(grep -E '^linux-headers-[0-9][^ ]*[0-9]-arm64 ' <<< "$available" | sort -k2,2Vr)
	return 1
}

# choose_kernel [REFRESH]: KERNEL_*, from the last choice if there is one. It is
# made once, so that a machine without network keeps working.
choose_kernel() {
	local suite found reached='' conf=$MACHINE_DIR/kernel.conf
	if [ -z "$1" ] && [ -r "$conf" ]; then
		# shellcheck source=/dev/null
		. "$conf"
		return 0
	fi
	for suite in "${SUITES[@]}"; do
		use_suite "$suite"
		fetch_lists || continue
		reached=1
		if found=$(newest_kernel); then
			read -r KERNEL_RELEASE KERNEL_VERSION KERNEL_PACKAGES <<< "$found"
			KERNEL_SUITE=$suite
			declare -p KERNEL_RELEASE KERNEL_VERSION KERNEL_PACKAGES KERNEL_SUITE |
				sed 's/^declare -- //' > "$conf"
			step "choice of Linux $KERNEL_VERSION from $suite"
			return 0
		fi
		say "no complete arm64 kernel of at least $OLDEST_KERNEL in $suite"
	done
	[ -n "$reached" ] || [ -z "$NETWORK_DOWN" ] || die_no_network "package lists of ${SUITES[*]}"
	die "no usable kernel in ${SUITES[*]}"
}

# first_file FOLDER FIND-ARGUMENT...: the path of the first match
first_file() {
	local folder=$1 found
	shift
	found=$(find "$folder" -type f "$@" -print -quit)
	[ -n "$found" ] || die "the packages of Linux $KERNEL_VERSION have no $*"
	echo "$found"
}

# unpack_source DEB NAME FOLDER: without the parts that neither modules_prepare nor
# our drivers read; that is more than half of the files.
unpack_source() {
	dpkg-deb --fsys-tarfile "$1" | tar -xO "./usr/src/$2.tar.xz" | xz -dc -T0 | tar -x -C "$3" --strip-components=1 \
		--exclude='*/Documentation/*.rst' --exclude='*/tools/testing/*' --exclude='*.dts*' \
		--exclude='*/sound/*.[ch]' --exclude='*/net/*/*.c' --exclude='*/fs/*/*.c' \
		--exclude='*/drivers/[a-oq-z]*/*.[ch]' --wildcards
}

# copy_module NAME UNPACKED MODULES: one of Debian's own, uncompressed
copy_module() {
	local file
	file=$(first_file "$2" -path "*/kernel/$1.ko*")
	case $file in
	*.xz) xz -dc "$file" > "$3/${1##*/}.ko" ;;
	*.zst) zstd -qdc "$file" > "$3/${1##*/}.ko" ;;
	*) cp "$file" "$3/" ;;
	esac
}

# build_drivers SOURCE CONFIG SYMVERS OUT: the drivers, from unmodified files.
# Debian ships a prepared tree, but its helper programs are arm64 ones or need a
# newer libc than this host has; so the tree is prepared here, with Debian's
# configuration and symbol versions. KERNELRELEASE because the version magic of a
# module must have Debian's suffix, which is not in the source.
build_drivers() {
	local source=$1 out=$4 driver
	local make=(make -C "$source" ARCH=arm64 "CROSS_COMPILE=$CROSS" "KERNELRELEASE=$KERNEL_RELEASE"
		"-j$(($(nproc) + 1))")
	cp "$2" "$source/.config"
	logged "$MACHINE_DIR/logs/kernel-prepare.log" "preparing the kernel source" \
		"${make[@]}" olddefconfig modules_prepare
	cp "$3" "$source/Module.symvers"
	step "kernel source prepared"
	mkdir "$out/drivers"
	cp "$source"/drivers/perf/arm_cspmu/{arm_cspmu.[ch],{nvidia,ampere}_cspmu.c} "$source"/drivers/perf/{nvidia_t410_*,dwc_pcie_pmu}.c \
		"$MACHINE_SRC"/guest/module/*.c "$MACHINE_SRC/plugin/port.h" "$out/drivers/"
	{
		printf 'obj-m += %s.o\n' "${DRIVERS[@]}" "${AMPEREONE_DRIVERS[@]}" "${OWN_MODULES[@]}"
		# as in the kernel's own Makefile: this module's name is not that of its file
		echo 'arm_cspmu_module-y := arm_cspmu.o'
	} > "$out/drivers/Kbuild"
	logged "$MACHINE_DIR/logs/drivers.log" "building the drivers" "${make[@]}" "M=$out/drivers" modules
	for driver in "${DRIVERS[@]}" "${AMPEREONE_DRIVERS[@]}" "${OWN_MODULES[@]}"; do
		"${CROSS}strip" -g -o "$out/modules/$driver.ko" "$out/drivers/$driver.ko"
	done
	find "$out/drivers" -type f ! -name '*.[ch]' -delete
	step "drivers built"
}

# make_kernel OUT: vmlinuz, vmlinux.btf, modules/ with the load order, drivers/ (source)
make_kernel() {
	local out=$1 packages=$MACHINE_DIR/packages/kernel-$KERNEL_VERSION names name config
	local unpacked=$1/unpacked source=$1/source
	use_suite "$KERNEL_SUITE"
	read -ra names <<< "$KERNEL_PACKAGES"
	fetch_packages "$packages" "${names[@]/%/=$KERNEL_VERSION}"
	step "kernel packages"
	mkdir -p "$unpacked" "$source" "$out/modules"
	for name in "${names[@]:1}"; do dpkg-deb -x "$packages/${name}"_*.deb "$unpacked"; done
	cp "$(first_file "$unpacked" -name 'vmlinuz*')" "$out/vmlinuz"
	cp "$(first_file "$unpacked" -path "*/linux-headers-$KERNEL_RELEASE/vmlinux")" "$out/vmlinux.btf"
	for name in "${SHARE_MODULES[@]}" "${SPARE_MODULES[@]}" "${DISK_MODULES[@]}" "${NET_MODULES[@]}" "${CMN_MODULES[@]}"; do
		copy_module "$name" "$unpacked" "$out/modules"
	done
	unpack_source "$packages/${names[0]}"_*.deb "${names[0]}" "$source"
	step "kernel unpacked"
	config=$(first_file "$unpacked" \( -path "*/modules/$KERNEL_RELEASE/config" -o -name "config-$KERNEL_RELEASE" \))
	build_drivers "$source" "$config" "$(first_file "$unpacked" -name Module.symvers)" "$out"
	printf '%s.ko\n' "${SHARE_MODULES[@]##*/}" "${DRIVERS[@]}" > "$out/modules/order"
	printf '%s.ko\n' "${DISK_MODULES[@]##*/}" > "$out/modules/order-disk"
	printf '%s.ko\n' "${NET_MODULES[@]##*/}" > "$out/modules/order-net"
	printf '%s.ko\n' "${AMPEREONE_DRIVERS[@]}" > "$out/modules/order-ampereone"
	printf '%s.ko\n' "${CMN_MODULES[@]##*/}" > "$out/modules/order-cmn"
	rm -rf "$unpacked" "$source"
}
