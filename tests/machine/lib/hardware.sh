# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-only
# hardware.sh: the machine as QEMU's command line. (SC2034: used by other parts.)

# The plugin calls functions inside of QEMU whose declarations it repeats, and no
# version promises to keep them. Tried: 7.2 (Debian 12) works; 10.0.2 (Debian 12's
# backports) does not load it, as it wants another version of the plugin interface.
# So every host uses Debian 12's.
readonly QEMU_LIST=$MACHINE_SRC/qemu.list
readonly QEMU_VERSION=7.2
readonly FIRST_DISK=8	# its place on QEMU's own PCI bus; the first ones are taken by folders

# use_qemu: sets QEMU and FIRMWARE, from the packages that make_qemu has unpacked
use_qemu() {
	local version
	QEMU=${T410_MACHINE_QEMU:-$QEMU_ROOT/qemu}
	FIRMWARE=$QEMU_ROOT/usr/share/qemu-efi-aarch64/QEMU_EFI.fd
	version=$("$QEMU" --version | sed -nE '1s/.*version ([0-9]+\.[0-9]+).*/\1/p')
	[ "$version" = $QEMU_VERSION ] ||
		die "QEMU is ${version:-unknown}; the plugin needs $QEMU_VERSION, the one of Debian 12 (tried and refused: 10.0)"
}

readonly TURN_US=500		# of an emulated CPU with --steady

# hardware: sets HARDWARE from the options: no kernel, no folders, no console
hardware() {
	local socket first
	# neoverse-n1: the newest core this QEMU has whose kernel support is complete
	# With caches the one PMU of the cores is that of the module t410_cache.
	HARDWARE=(-M "virt,gic-version=3" -cpu "neoverse-n1${CACHE:+,pmu=off}"
		-m "$((MEM * SOCKETS))M"
		-smp "$((CPUS * SOCKETS)),sockets=$SOCKETS,cores=$CPUS,threads=1"
		-bios "$FIRMWARE" -nodefaults -no-reboot -display none -monitor none)
	# each socket is a NUMA node: the drivers find a unit's CPUs by that
	for ((socket = 0; socket < SOCKETS; socket++)); do
		first=$((socket * CPUS))
		HARDWARE+=(-object "memory-backend-ram,id=ram$socket,size=${MEM}M"
			-numa "node,nodeid=$socket,cpus=$first-$((first + CPUS - 1)),memdev=ram$socket")
	done
}

# expected_pmus: how many units drivers will find, for the guest to wait for
expected_pmus() {
	local per_socket
	case $SHAPE in
	grace) per_socket=5 ;;
	kunpeng) per_socket=8 ;;	# memory controllers
	ampereone) per_socket=10 ;;	# and two root ports
	cmn) per_socket=1 ;;
	*) per_socket=17 ;;		# 6 root complexes with 2 units each, UCF, CMEM, 3 links
	esac
	# without a peer a link has nothing to count and its driver refuses it: that of
	# NVLink-C2C may be missing, that of NV-CLink is the other socket
	[ "$SHAPE-$PEER" != t410-none ] || per_socket=$((per_socket - 1))
	[ "$SHAPE-$SOCKETS" != t410-1 ] || per_socket=$((per_socket - 1))
	echo $((per_socket * SOCKETS))
}

# plugin_argument RUN: what QEMU's -plugin gets
plugin_argument() {
	local argument=$EMULATION/libt410.so,shm=$1/shm,tables=$TABLES/tables.bin,pci=$TABLES/pci.txt,sockets=$SOCKETS
	argument+=,shape=$SHAPE,peer=$PEER
	[ -z "$WIDTH" ] || argument+=,width=$WIDTH
	[ -z "$STEADY" ] || argument+=,turn=$TURN_US
	[ -z "$CACHE" ] || argument+=,cache=$CACHE,truth=$1/guest/truth
	[ -z "$TRACE" ] || argument+=,log=$TRACE
	echo "$argument"
}

# shared_folder TAG FOLDER [OPTIONS]: adds to BOOT
shared_folder() {
	BOOT+=(-fsdev "local,id=fs-$1,path=$2,security_model=none,multidevs=remap${3:+,$3}"
		-device "virtio-9p-pci,fsdev=fs-$1,mount_tag=$1")
}

# disks RUN: adds to BOOT. Only reads and writes: discarding is no traffic, and nobody needs
# what is on them after the run.
disks() {
	local i place
	for i in "${!DISKS[@]}"; do
		truncate -s "${DISKS[i]}M" "$1/disk$i"
		printf -v place %x $((FIRST_DISK + i))
		BOOT+=(-drive "if=none,id=disk$i,file=$1/disk$i,format=raw,cache=unsafe"
			-device "virtio-blk-pci,drive=disk$i,addr=$place,discard=off,write-zeroes=off")
	done
}

# network: adds to BOOT. All machines of a port hear each other, and nothing leaves this host.
network() {
	[ -z "$NET" ] || BOOT+=(-netdev "socket,id=net,mcast=230.0.0.1:${NET%:*},localaddr=127.0.0.1"
		-device "virtio-net-pci,netdev=net,mac=52:54:00:00:00:0${NET#*:},romfile=")
}

# timing: adds to BOOT what the guest's clock goes by. An instruction is taken to last a
# nanosecond: about what a core of today's hosts emulates.
timing() {
	if [ -n "$STEADY" ]; then
		BOOT+=(-accel "tcg,thread=single" -icount "shift=0,sleep=on")
	else
		BOOT+=(-accel "tcg,thread=multi")
	fi
}

# boot_arguments RUN: sets BOOT, all of QEMU's arguments for a run in that folder
boot_arguments() {
	hardware
	# loglevel: warnings to the console while booting, for machines that never get
	# to run a command. The log holds minutes of a driver that complains at every tick.
	BOOT=("${HARDWARE[@]}" -plugin "$(plugin_argument "$1")" -kernel "$KERNEL/vmlinuz" -initrd "$INITRD"
		-append "console=ttyAMA0 loglevel=5 log_buf_len=4M panic=-1 machine.pmus=$(expected_pmus) machine.shape=$SHAPE machine.disks=${#DISKS[@]} machine.net=${NET#*:}${BOOT_WORDS:+ $BOOT_WORDS}"
		-serial "file:$1/console.log")
	timing
	disks "$1"
	network
	shared_folder machine "$1/guest"
	shared_folder userland "$USERLAND/usr" readonly=on
	# the guest cannot ask which folders there are without an error in its log
	[ -z "$HOST_FOLDER" ] || {
		shared_folder host "$HOST_FOLDER"
		touch "$1/guest/host"
	}
}
