# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-only
# options.sh: options of "run" and "run shell". (SC2034: other parts use them.)

# The machine's size and shape. These are also what "prepare" makes ready.
SHAPE=t410			# t410, grace, ampereone, kunpeng or cmn
SOCKETS=2
CPUS=2				# per socket
MEM=1024			# MiB per socket
PEER=gpu			# other end of NVLink-C2C: gpu (two), gpu0, gpu1, cpu or none
WIDTH=				# bits of the CoreSight counters; empty: 64
IRQ=1				# they have an overflow interrupt
STEADY=				# the guest's clock counts instructions
CACHE=				# KiB of the caches, L2:LLC; empty: memory traffic is declared only
DISKS=()			# sizes in MiB
NET=				# PORT:NUMBER: its network, and which machine of that it is
BOOT_WORDS=			# for the kernel's command line
USERLAND_NAME=userland		# guest/NAME.list: Debian's programs in the guest

HOST_FOLDER=			# at /host in the guest
SCENARIOS=$MACHINE_SRC/traffic/scenarios
TRAFFIC=			# a scenario; empty: that of the shape
TIMEOUT=300
TRACE=
EXPECTED_LOG=()			# kernel log lines that must appear
ALLOWED_LOG=()			# ... that may appear
COMMAND=()

options_help() {
	cat <<-'END'
	--dir FOLDER           host folder, read-write at /host, where COMMAND starts
	--traffic FILE         scenario (default: traffic/scenarios/SHAPE.conf, T410: default.conf)
	--timeout S            for the whole run (300)
	--sockets N            1 or 2 (2)
	--cpus N, --mem MIB    per socket (2, 1024)
	--shape SHAPE          t410, grace, ampereone, kunpeng or cmn (t410)
	--width BITS           width of the CoreSight counters, 16 to 64 (64)
	--no-irq               ... without an overflow interrupt
	--steady               the guest's clock counts its instructions: a busy host makes it slow, not jerky
	--peer KIND            other end of NVLink-C2C: gpu (two), gpu0, gpu1, cpu or none (gpu)
	--expect-log PATTERN   kernel log complaint that must appear (grep -E; repeatable)
	--allow-log PATTERN    kernel log complaint that may appear
	--disk MIB             an empty disk, 0000:00:08.0 and on, disk0 and on in traffic files (repeatable, 4 at most)
	--net PORT:N           a card in the network of this port of the host's loopback, as machine N (1 to 9)
	--cache L2:LLC         run the guest's loads and stores through caches of so many KiB
	--trace FILE           write every register access of the PMUs to FILE
	--kernel WORDS         more for the kernel's command line
	--userland NAME        Debian's programs in the guest: userland, slurm, systemd or real (userland)
	--verbose              say where the time goes
	END
}

# number OPTION VALUE MIN MAX
number() {
	[[ $2 =~ ^[0-9]{1,6}$ ]] && [ "$2" -ge "$3" ] && [ "$2" -le "$4" ] ||
		die_usage "$1: a number from $3 to $4 is needed, not \"$2\""
}

# one_of OPTION VALUE CHOICE...
one_of() {
	local option=$1 value=$2 choice
	shift 2
	for choice in "$@"; do
		[ "$choice" != "$value" ] || return 0
	done
	die_usage "$option: one of \"$*\" is needed, not \"$value\""
}

set_option() { # NAME VALUE
	case $1 in
	--dir) HOST_FOLDER=$(cd "$2" 2> /dev/null && pwd) || die_usage "--dir: no folder $2" ;;
	--traffic)
		[ -r "$2" ] || die_usage "--traffic: cannot read $2"
		TRAFFIC=$2
		;;
	--timeout) number "$1" "$2" 1 86400 && TIMEOUT=$2 ;;
	--sockets) number "$1" "$2" 1 2 && SOCKETS=$2 ;;
	--cpus) number "$1" "$2" 1 256 && CPUS=$2 ;;
	--mem) number "$1" "$2" 256 65536 && MEM=$2 ;;
	--shape) one_of "$1" "$2" t410 grace ampereone kunpeng cmn && SHAPE=$2 ;;
	--width) number "$1" "$2" 16 64 && WIDTH=$2 ;;
	--peer) one_of "$1" "$2" gpu gpu0 gpu1 cpu none && PEER=$2 ;;
	--expect-log) EXPECTED_LOG+=("$2") ;;
	--allow-log) ALLOWED_LOG+=("$2") ;;
	--disk)
		number "$1" "$2" 1 65536
		[ ${#DISKS[@]} -lt 4 ] || die_usage "--disk: four are enough"
		DISKS+=("$2")
		;;
	--userland) one_of "$1" "$2" userland slurm systemd real && USERLAND_NAME=$2 ;;
	--net)
		[[ $2 =~ ^[0-9]{4,5}:[1-9]$ ]] || die_usage "--net: a port and a number are needed, as 20000:1, not \"$2\""
		NET=$2
		;;
	--cache)
		[[ $2 =~ ^[0-9]{1,6}:[0-9]{1,6}$ ]] || die_usage "--cache: two sizes are needed, as 64:512, not \"$2\""
		CACHE=$2
		;;
	--kernel) BOOT_WORDS=$2 ;;
	--trace) TRACE=$(readlink -f "$2") ;;
	*) die_usage "unknown option $1" ;;
	esac
}

parse_options() {
	while [ $# -gt 0 ]; do
		case $1 in
		--)
			shift
			COMMAND=("$@")
			break
			;;
		--verbose)
			VERBOSE=1
			shift
			;;
		--no-irq)
			IRQ=
			shift
			;;
		--steady)
			STEADY=1
			shift
			;;
		-*)
			[ $# -gt 1 ] || die_usage "$1 needs a value"
			set_option "$1" "$2"
			shift 2
			;;
		*) die_usage "\"--\" is needed before the command" ;;
		esac
	done
	[ "$PEER-$SOCKETS" != cpu-1 ] || die_usage "--peer cpu: that CPU is the second socket's"
}

# The scenario to start with: kinds of flows belong to a shape
scenario() {
	if [ -n "$TRAFFIC" ]; then
		echo "$TRAFFIC"
	elif [ "$SHAPE" = t410 ]; then
		echo "$SCENARIOS/default.conf"
	else
		echo "$SCENARIOS/$SHAPE.conf"
	fi
}
