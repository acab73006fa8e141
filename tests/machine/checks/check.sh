#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# check.sh [PART...]: does the virtual T410 behave like what it stands for? All parts,
# or those named. Prints "ok NAME", "not ok NAME: reason", "skip NAME: reason".
set -uo pipefail
export PYTHONDONTWRITEBYTECODE=1
HERE=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
RUN=$HERE/../run
SCENARIOS=$HERE/../traffic/scenarios
OUT=$(mktemp -d)
trap 'rm -rf "$OUT"' EXIT
NO_NETWORK=126
DEAD_PROXY=http://127.0.0.1:9	# for apt: no network
STATUS=42		# of the command in each boot: it has to come back
BOOTS=3			# at most, when nothing is wrong but what depends on how busy the host is
TIMEOUT=600		# of a boot that hangs; one takes a minute at most on a busy host

PARTS=(log statuses t410 rates steady conflict disk shapes grace)

judge() { "$HERE/judge.py" "$@"; }

# boot NAME SCENARIO OPTIONS PART...: lists PMUs and PCI functions and goes through these parts, then
# the verdicts. Sets BOOTED if the command ran. A busy host makes the clock of further boots slow, and
# nothing else.
boot() {
	local name=$1 scenario=$2 options=$3 n said=()
	shift 3
	for ((n = 1; n <= BOOTS; n++)); do
		said+=("$OUT/$name.said$n")
		rm -rf "${OUT:?}/$name"
		boot_once "$name" "$scenario" "$options" "$@" > "$OUT/$name.said$n"
		if grep -q '^not ok ' "$OUT/$name.said$n" || ! grep -q '^again ' "$OUT/$name.said$n"; then break; fi
		sed -n "s/^again /# boot $n: not ok /p" "$OUT/$name.said$n"
		options="$options --steady"
	done
	judge sum "${said[@]}"
}

# boot_once NAME SCENARIO OPTIONS PART...: with lines "again NAME: reason", see judge.py. BESIDE: a script
# of this folder that runs after the parts, without its ".sh"
boot_once() {
	local name=$1 scenario=$2 options=() part pattern status=0
	read -ra options <<< "$3"
	shift 3
	BOOTED=
	mkdir "$OUT/$name"
	{
		echo "list-pmus > pmus; list-pci > pci"
		for part in "$@"; do echo "sh $part.sh > $part.out 2>&1"; done
		[ -z "${BESIDE:-}" ] || echo "sh $BESIDE.sh > $BESIDE.out 2>&1"
		echo "echo to stdout; echo to stderr >&2; exit $STATUS"
	} > "$OUT/$name/all.sh"
	for part in "$@"; do
		judge script "$part" > "$OUT/$name/$part.sh"
		while IFS= read -r pattern; do
			[ -z "$pattern" ] || options+=(--expect-log "$pattern")
		done < <(judge log "$part")
	done
	[ -z "${BESIDE:-}" ] || cp "$HERE/$BESIDE.sh" "$OUT/$name/"
	"$RUN" --dir "$OUT/$name" --traffic "$scenario" --timeout $TIMEOUT "${options[@]}" -- sh all.sh \
		> "$OUT/$name/stdout" 2> "$OUT/$name/stderr" || status=$?
	# also the verdict on the kernel's log
	if [ $status = $STATUS ] && [ "$(< "$OUT/$name/stdout")" = "to stdout" ] &&
		[ "$(tail -n 1 "$OUT/$name/stderr")" = "to stderr" ]; then
		echo "ok $name-run"
	else
		echo "not ok $name-run: status $status: $(tr '\n' ' ' < "$OUT/$name/stderr" | cut -c1-600)"
	fi
	[ $# = 0 ] || judge judge "$OUT/$name" "$scenario" "$@"
	[ ! -s "$OUT/$name/pmus" ] || BOOTED=1
}

# listing NAME BOOT FILE GOLDEN [BASE]. With GOLDEN=1 in the environment, what the guest has
# listed becomes the new golden file; its comments stay. With BASE, GOLDEN.diff is how GOLDEN differs
# from that file.
listing() {
	local got=$OUT/$2/$3 golden=$HERE/golden/$4 base=${5:+$HERE/golden/$5}
	if [ -n "$base" ]; then
		patch -s -o "$OUT/$4" "$base" "$golden.diff" || echo "not ok $1: $4.diff does not fit $5"
		golden=$OUT/$4
	fi
	if [ -n "${GOLDEN:-}" ] && [ -s "$got" ]; then
		{
			grep '^#' "$golden"
			cat "$got"
		} > "$OUT/new"
		cp "$OUT/new" "$golden"
		[ -z "$base" ] || diff "$base" "$golden" > "$HERE/golden/$4.diff"
	fi
	judge same "$1" "$got" "$golden"
}

part_t410() {
	boot t410 "$SCENARIOS/default.conf" "" exact perf hotplug sriov
	listing t410-sysfs t410 pmus sysfs-t410
	listing t410-pci t410 pci pci-t410
	# QEMU's own bridge has no such capability
	grep ' socket ' "$OUT/t410/pci" | sed -E 's/^(\S+) .* (bus .*)/\1 \2/' > "$OUT/t410/map"
	judge same pcie-map "$OUT/t410/map" "$HERE/golden/pcie-map"
}

part_rates() { boot rates "$HERE/rates.conf" "" rates; }

# Rates go by the guest's clock there, however slow that is; and no CPU waits for another
part_steady() {
	BESIDE=turns boot steady "$HERE/rates.conf" "--steady" rates | sed 's/ok rates-/ok steady-/'
	judge turns steady-turns "$OUT/steady/turns.out"
}

part_conflict() {
	boot conflict "$HERE/rates.conf" "" conflict
	if [ -s "$OUT/t410/pmus" ] && [ -s "$OUT/rates/pmus" ] && [ -n "$BOOTED" ]; then
		# byte for byte: type numbers too
		if cmp -s "$OUT/t410/pmus" "$OUT/rates/pmus" && cmp -s "$OUT/rates/pmus" "$OUT/conflict/pmus" &&
			cmp -s "$OUT/t410/pci" "$OUT/rates/pci" && cmp -s "$OUT/rates/pci" "$OUT/conflict/pci"; then
			echo "ok three-boots-identical"
		else
			echo "not ok three-boots-identical: $(diff "$OUT/t410/pmus" "$OUT/conflict/pmus" | head -n 3 | tr '\n' ' ')"
		fi
	fi
}

part_disk() { boot disk "$HERE/disk.conf" "--disk 64 --disk 16" disk; }

part_shapes() {
	boot one-socket "$SCENARIOS/default.conf" "--sockets 1 --peer none" one-socket
	listing one-socket-sysfs one-socket pmus sysfs-t410-1-none
	# the other end of NVLink-C2C does not matter to the counters of 32 bits
	boot narrow "$SCENARIOS/default.conf" "--width 32 --peer cpu" width
	listing cpu-peer-sysfs narrow pmus sysfs-t410-cpu sysfs-t410
}

part_grace() {
	boot grace "$SCENARIOS/grace.conf" "--shape grace" grace
	listing grace-sysfs grace pmus sysfs-grace
	listing grace-pci grace pci pci-grace
}

# expect_status NAME STATUS ARGUMENT...: of a run
expect_status() {
	local name=$1 want=$2 status=0
	shift 2
	"$RUN" "$@" > "$OUT/$name.stdout" 2> "$OUT/$name.stderr" || status=$?
	if [ $status = "$want" ]; then
		echo "ok $name"
	else
		echo "not ok $name: status $status, not $want: $(tail -n 2 "$OUT/$name.stderr" | tr '\n' ' ')"
	fi
}

# With all in the cache: no network needed, and nothing to be made
part_warm() {
	local made
	http_proxy=$DEAD_PROXY expect_status warm-offline 0 prepare
	made=$(sed -n 's/^machine: making: //p' "$OUT/warm-offline.stderr" | tr '\n' ' ')
	if [ -z "$made" ]; then echo "ok warm-nothing-made"; else echo "not ok warm-nothing-made: $made"; fi
}

# With all but Slurm's packages in the cache: without a network only its scenario is skipped, and
# it is said what is missing before anything boots
part_slurm_offline() {
	local cache=${T410_MACHINE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/t410trace-machine} part=$OUT/part kind said
	mkdir -p "$part"
	for kind in kernel kernel.conf qemu emulation programs tables initrd userland; do ln -s "$cache/$kind" "$part/"; done
	http_proxy=$DEAD_PROXY T410_MACHINE_DIR=$part expect_status offline-without-slurm 0 prepare
	http_proxy=$DEAD_PROXY T410_MACHINE_DIR=$part expect_status offline-slurm 126 prepare --userland slurm
	# never booted: any file will do
	said=$(http_proxy=$DEAD_PROXY T410_MACHINE_DIR=$part T410TRACE=$RUN "$HERE/../run.sh" slurm 2>&1)
	case $said in
	"skip slurm: "*"no network, and not in the cache: slurmctld "*"0 passed, 0 failed, 1 skipped") echo "ok offline-slurm-skipped" ;;
	*) echo "not ok offline-slurm-skipped: $(tr '\n' ' ' <<< "$said")" ;;
	esac
}

part_statuses() {
	expect_status usage-nothing 2
	expect_status usage-option 2 --nonsense 1 -- true
	expect_status usage-number 2 --sockets 3 -- true
	expect_status usage-prepare 2 prepare --userland nonsense
	expect_status usage-disks 2 --disk 1 --disk 1 --disk 1 --disk 1 --disk 1 -- true
	expect_status no-disk 125 --traffic "$HERE/disk.conf" -- true
	expect_status timeout 124 --timeout 3 -- sleep 100
	part_warm
	part_slurm_offline
	# nothing in the cache, and a mirror that cannot be reached
	mkdir -p "$OUT/empty"
	http_proxy=$DEAD_PROXY T410_MACHINE_DIR=$OUT/empty expect_status no-network 126 prepare
}

# Is a kernel log like this complained about? In a shell of its own: the parts of
# "run" end it when something is wrong. LOG_CPUS: CPUs of a socket.
# shellcheck disable=SC2034  # read by those parts
log_verdict() { # LINE [EXPECTED]
	mkdir -p "$OUT/log/guest"
	printf '%s\n' '<6>[    1.000000] all is well' "$1" > "$OUT/log/guest/kernel.log"
	(
		MACHINE_SRC=$HERE/..
		for part in common options klog; do
			# shellcheck source=/dev/null
			. "$HERE/../lib/$part.sh"
		done
		CPUS=${LOG_CPUS:-$CPUS}
		[ $# = 1 ] || EXPECTED_LOG=("$2")
		judge_log "$OUT/log"
	) > "$OUT/log/said" 2>&1
}

part_log() {
	local line bad=()
	while IFS= read -r line; do
		! log_verdict "$line" || bad+=("missed: $line")
	done <<-'END'
	<4>[    2.000000] WARNING: kernel/events/core.c:1 at x+0x1/0x2
	<1>[    2.000000] BUG: kernel NULL pointer dereference
	<0>[    2.000000] Internal error: Oops: 0000000096000004 [#1]
	<3>[    2.000000] arm-cs-arch-pmu arm-cs-arch-pmu.3.auto: only one BDF is supported
	<4>[    2.000000] nvidia-t410-cmem-latency-pmu NVDA2021:00: anything
	<3>[    2.000000] some other driver: an error
	<6>[    2.000000] nvidia_cspmu: Failed to do something
	<27>[    2.000000] a program: an error
	END
	while IFS= read -r line; do
		log_verdict "$line" || bad+=("complained about: $line")
	done <<-'END'
	<4>[    2.000000] a warning of something else
	<6>[    2.000000] pci 0002:80:00.0: [10de:7e10] type 01 class 0x060400
	<12>[    2.000000] a program: words
	END
	log_verdict '<3>[    2.000000] nvidia_cspmu: only one BDF' 'only one BDF' || bad+=("complained about an expected line")
	! log_verdict '<6>[    2.000000] nothing' 'only one BDF' || bad+=("an expected line may be missing")
	! log_verdict "$(yes '<6>[    2.000000] drip' | head -n 200)" || bad+=("missed a flood")
	LOG_CPUS=64 log_verdict "$(yes '<6>[    2.000000] CPU1' | head -n 200)" || bad+=("complained about a line for each CPU")
	! LOG_CPUS=64 log_verdict "$(yes '<6>[    2.000000] CPU1' | head -n 300)" || bad+=("missed a flood of many CPUs")
	if [ ${#bad[@]} = 0 ]; then echo "ok kernel-log-verdicts"; else echo "not ok kernel-log-verdicts: ${bad[*]}"; fi
}

[ $# -gt 0 ] || set -- "${PARTS[@]}"
for part in "$@"; do
	declare -F "part_$part" > /dev/null || {
		echo "check.sh: no part \"$part\"; parts are: ${PARTS[*]}" >&2
		exit 2
	}
done
status=0
"$RUN" prepare 2> "$OUT/prepare" || status=$?
case $status in
0) ;;
"$NO_NETWORK")
	echo "skip machine: $(tail -n 1 "$OUT/prepare")"
	exit 0
	;;
*)
	echo "not ok prepare: status $status: $(tail -n 1 "$OUT/prepare")"
	exit 1
	;;
esac
for part in "$@"; do "part_$part"; done
