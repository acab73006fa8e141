#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run.sh [--more | SCENARIO...]: tests in the virtual T410: the scenarios of "make check", those
# named, or with --more all others.
#
# Environment: T410TRACE  the arm64 program to test (build/arm64-shared/t410trace); libraries are
#                         taken from the folder lib beside it, if there is one
#              T410_RESULTS  folder to keep the results in (default: removed afterwards)
#
# All scenarios of a shape of the machine run in one boot; with their results, judge.py
# prints "ok NAME" or "not ok NAME: reason". Scenarios of which only estimates failed, which
# depend on how busy the host is, run once more in a machine whose clock counts instructions, and a
# third time when the programs in the guest saw that they got no processor, or do not say. Without a
# virtual machine the one line is "skip machine: reason"; "skip slurm: reason" is said when only
# Slurm's packages are missing; so with systemd's.
set -uo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/machine/machine.sh
. "$HERE/machine.sh"
# shellcheck source=tests/machine/fleet.sh
. "$HERE/fleet.sh"
T410TRACE=${T410TRACE:-$ROOT/build/arm64-shared/t410trace}
TIMEOUT=2400	# of a boot that hangs; all scenarios take a tenth of this on two busy cores
RUNS=3		# of a scenario at most
CLOCK=()	# what the machine's clock goes by, as options

skip() {
	echo "skip machine: $1"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
}

fail() {
	echo "not ok machine: $1"
	echo "0 passed, 1 failed, 0 skipped"
	exit 1
}

# Lines "SHAPE TRAFFIC NAME [more | alone]"; one that is alone runs only if it is named. A shape may say
# what the other end of NVLink-C2C is: "t410,none", that there are disks: "t410,disks", that it is a
# node of a cluster: "t410,slurm", or the first of three: "t410,fleet", that systemd is its first process:
# "t410,systemd", with packages to install or CPUs that are left alone: "t410,packages" and
# "t410,operation"; that our module makes PMUs: "t410,shapes"; or that it is an ESP: "t410,esp"
scenarios=$("$HERE/judge.py" --list) || fail "judge.py does not run"
names=$(cut -d ' ' -f 3 <<< "$scenarios")
# shellcheck disable=SC2046  # a list
[ "${1:-}" != --more ] || set -- $(awk '$4 == "more" { print $3 }' <<< "$scenarios")
for name; do
	grep -qxF -- "$name" <<< "$names" || { printf 'run.sh: no scenario "%s"; they are:\n%s\n' "$name" "$names" >&2; exit 2; }
done
# shellcheck disable=SC2046  # a list
[ $# -gt 0 ] || set -- $(awk '$4 == "" { print $3 }' <<< "$scenarios")
[ -f "$T410TRACE" ] || fail "no $T410TRACE: run \"make ARCH=arm64 LINK=shared\" first"

machine_share
machine_ready "$share/prepare.log"
case $? in
0) ;;
"$MACHINE_NO_NETWORK") skip "$MACHINE_PROBLEM" ;;
*) fail "$MACHINE_PROBLEM" ;;
esac

# The packages of these guests are others: without them all else can be tested
skipped=0
for shapes in "slurm|fleet" "systemd|packages|operation"; do
	userland=${shapes%%|*}
	of_it=$(awk -v it=",($shapes)\$" '$1 ~ it { print $3 }' <<< "$scenarios")
	wanted=$(printf '%s\n' "$@" | grep -xF -- "$of_it") || continue
	machine_ready "$share/prepare-$userland.log" --userland "$userland"
	case $? in
	0) ;;
	"$MACHINE_NO_NETWORK")
		skipped=$((skipped + $(wc -l <<< "$wanted")))
		while read -r name; do echo "skip $name: $MACHINE_PROBLEM"; done <<< "$wanted"
		mapfile -t others < <(printf '%s\n' "$@" | grep -vxF -- "$of_it")
		set -- "${others[@]}"
		[ $# -gt 0 ] || {
			echo "0 passed, 0 failed, $skipped skipped"
			exit 0
		}
		;;
	*) fail "$MACHINE_PROBLEM" ;;
	esac
done

# make_packages FOLDER: Debian's, for the guest, and in FOLDER/later the same as a later version with other settings
make_packages() {
	rm -rf "$1/later"
	"$ROOT/packaging/deb.sh" "$1" arm64 && "$ROOT/tests/packages/later.sh" "$1/later" "$1"/*.deb
}

# boot FOLDER SHAPE TRAFFIC SCENARIO...: in a machine of this shape
boot() {
	local folder=$1 log shape=$2 traffic=$3 options=() status
	log=$1/machine-$2-$(basename "$3" .conf).log
	shift 3
	options=(--timeout "$TIMEOUT" --traffic "$HERE/$traffic" --dir "$folder" --shape "${shape%,*}" "${CLOCK[@]}")
	case $shape in
	# perf and t410trace want the same counters there, which the driver may remark on
	*,disks) options+=(--disk 256 --disk 128 --allow-log "only one BDF") ;;
	# no PMU of the cores but our module's
	*,shapes) options+=(--cache 64:512) ;;
	# one socket, and two CPU tiles
	*,esp) options+=(--sockets 1) ;;
	*,slurm) options+=(--userland slurm) ;;
	*,fleet)
		options+=(--userland slurm)
		fleet_begin "$folder" "${options[@]}"
		options+=(--net "$FLEET_PORT:1")
		;;
	# it would like a module of the kernel that this machine has no use for
	*,systemd | *,packages | *,operation)
		options+=(--userland systemd --allow-log "systemd.*Failed to find module 'autofs4'")
		[ "$shape" != t410,operation ] || options+=(--kernel "isolcpus=3 nohz_full=3")
		[ "$shape" != t410,packages ] || make_packages "$folder/debs" > "$folder/debs.log" 2>&1 || {
			problems+=("no packages, see $folder/debs.log: $(tail -n 1 "$folder/debs.log")")
			return
		}
		;;
	*,*) options+=(--peer "${shape#*,}") ;;
	esac
	[ "$shape" != t410,none ] || options+=(--expect-log "No GPU is enabled" --expect-log "c2c-pmu failed with error -22")
	"$MACHINE" "${options[@]}" -- sh guest.sh "$@" > "$log" 2>&1
	status=$?
	[ "$shape" != t410,fleet ] || fleet_end "$folder"
	sed 's/^/# /' "$log"
	# The machine's own opinion: it looks for complaints of the kernel, too.
	[ $status = 0 ] || problems+=("the virtual machine ($shape, $traffic) ended with status $status: $(tail -n 1 "$log")")
}

# boots FOLDER SCENARIO...: those of a shape and traffic in one machine; results in FOLDER/out
boots() {
	local folder=$1 shape traffic name wanted
	shift
	rm -rf "$folder/out"
	mkdir -p "$folder/out"
	machine_take "$T410TRACE" "$folder"
	cp -r "$HERE"/{shapes,esp} "$folder/"
	cp "$T410TRACE-gpu" "$folder/t410trace-gpu"
	mkdir -p "$folder/gpu"
	aarch64-linux-gnu-gcc -Wall -Wextra -shared -fPIC -o "$folder/gpu/libnvidia-ml.so.1" "$ROOT/tests/gpu/nvml.c"
	# What ncurses has to know of a terminal, in every Debian
	mkdir -p "$folder/terminfo/x"
	cp -L /lib/terminfo/x/xterm "$folder/terminfo/x/"
	cp "$HERE"/guest*.sh "$ROOT"/packaging/slurm/*.sh "$ROOT/packaging/collect/collect.sh" \
		"$ROOT"/packaging/systemd/t410trace{.service,.socket,-collect.service,-collect.timer} "$folder/"
	while read -r shape traffic; do
		wanted=()
		for name; do
			grep -qxE -- "$shape $traffic $name( more| alone)?" <<< "$scenarios" && wanted+=("$name")
		done
		[ ${#wanted[@]} = 0 ] || boot "$folder" "$shape" "$traffic" "${wanted[@]}" < /dev/null
	done < <(cut -d ' ' -f 1,2 <<< "$scenarios" | sort -ru)
}

problems=()
runs=("$share/out")
boots "$share" "$@"
# Estimates depend on how busy the host is: what failed of them is run again
while [ ${#problems[@]} = 0 ] && [ ${#runs[@]} -lt $RUNS ]; do
	mapfile -t reasons < <("$HERE/judge.py" --again "${runs[@]}" -- "$@")
	[ ${#reasons[@]} != 0 ] || break
	n=$((${#runs[@]} + 1))
	printf "# run $n, of the estimates in %s\n" "${reasons[@]}"
	# A busy host makes this clock slow, and nothing else. What a reading costs is no time by it, and
	# machines that talk to each other need the same time.
	case ${reasons[*]} in
	*stat_budget:* | *fleet:*) CLOCK=() ;;
	*) CLOCK=(--steady) ;;
	esac
	boots "$share/run$n" "${reasons[@]%%:*}"
	runs+=("$share/run$n/out")
done
"$HERE/judge.py" "${runs[@]}" -- "$@" > "$share/verdict"
judged=$?
sed -i "\$s/, 0 skipped\$/, $skipped skipped/" "$share/verdict"
if [ ${#problems[@]} != 0 ]; then
	sed -i '$d' "$share/verdict"
	cat "$share/verdict"
	fail "$(IFS=';'; echo "${problems[*]}")"
fi
cat "$share/verdict"
exit $judged
