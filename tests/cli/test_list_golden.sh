#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# test_list_golden.sh T410TRACE: compare what "t410trace list" prints about copies
# of sysfs with what it should print.
set -u

if [ $# -ne 1 ]; then
	echo "usage: test_list_golden.sh T410TRACE" >&2
	exit 2
fi
trace=$1
tests=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# check NAME STATUS GOLDEN ARGUMENTS...: compare the exit status and standard output.
check() {
	name=$1 status=$2 golden=$3
	shift 3
	"$trace" list "$@" >"$work/out" 2>"$work/err"
	got=$?
	if [ "$got" -eq "$status" ] && diff -u "$golden" "$work/out"; then
		echo "ok list: $name"
	else
		echo "not ok list: $name: exit status $got, not $status, or other output"
		cat "$work/err"
		failed=1
	fi
}

# check_json NAME DIGESTS SYSFS: the same for JSON, of which there are digests only.
check_json() {
	"$trace" list --json --sysfs "$3" >"$work/out" 2>"$work/err"
	got=$?
	if [ "$got" -eq 0 ] && "$tests/cli/list_digest.py" "$2" "$3" <"$work/out"; then
		echo "ok list: $1"
	else
		echo "not ok list: $1: exit status $got, not 0, or other output"
		cat "$work/err"
		failed=1
	fi
}

# quiet NAME: the run before must not have written to standard error.
quiet() {
	if [ -s "$work/err" ]; then
		echo "not ok list: $1: something on standard error:"
		cat "$work/err"
		failed=1
	fi
}

# says NAME TEXT: the run before must have this on standard error, however it is wrapped.
says() {
	if ! tr -s ' \n' '  ' <"$work/err" | grep -qF -- "$2"; then
		echo "not ok list: $1: standard error lacks \"$2\":"
		cat "$work/err"
		failed=1
	fi
}

"$tests/fixtures/mk-sysfs.sh" "$tests/fixtures/t410-sysfs.txt" "$work/t410" || exit 1
check "T410 as text" 0 "$tests/golden/list-t410.txt" --sysfs "$work/t410"
quiet "T410 as text"
check_json "T410 as JSON" "$tests/golden/list-t410.digests" "$work/t410"
quiet "T410 as JSON"
check "one PMU" 0 "$tests/golden/list-t410-pcie.txt" nvidia_pcie_pmu_1_rc_2 --sysfs "$work/t410"
"$trace" list pcie_tgt --json --sysfs "$work/t410" | grep -o '"kind": "[a-z_]*"' | sort | uniq -c |
	tr -d ' ' >"$work/kinds"
if [ "$(cat "$work/kinds")" = '12"kind":"pcie_tgt"' ]; then
	echo "ok list: one family as JSON"
else
	echo "not ok list: one family as JSON: $(tr '\n' ' ' <"$work/kinds")"
	failed=1
fi
check "a PMU that is not there" 1 /dev/null pcie7 --sysfs "$work/t410"
says "a PMU that is not there" "there are ucf, pcie, pcie_tgt, cmem_latency,"

"$tests/fixtures/mk-sysfs.sh" "$tests/fixtures/grace-sysfs.txt" "$work/grace" || exit 1
check "Grace as text" 0 "$tests/golden/list-grace.txt" --sysfs "$work/grace"
quiet "Grace as text"
check_json "Grace as JSON" "$tests/golden/list-grace.digests" "$work/grace"
quiet "Grace as JSON"

# The T410 with damage: what is hurt is told, everything else is as before.
devices=$work/t410/bus/event_source/devices
rm "$devices/nvidia_ucf_pmu_1/type"
printf '\n' >"$devices/nvidia_pcie_pmu_0_rc_2/cpumask"
printf 'event=junk=1\n' >"$devices/nvidia_cmem_latency_pmu_1/events/rd_req"
printf '2cf2136b\n' >"$devices/nvidia_ucf_pmu_0/identifier"
printf '0,2,4,6,8,10,12,14,16,18,20,22,24\n' >"$devices/nvidia_nvdlink_pmu_0/associated_cpus"
mkdir -p "$devices/nvidia_uncore_pmu_0/events" "$devices/nvidia_uncore_pmu_0/format"
printf '99\n' >"$devices/nvidia_uncore_pmu_0/type"
printf '0\n' | tee "$devices/nvidia_uncore_pmu_0/cpumask" \
	>"$devices/nvidia_uncore_pmu_0/associated_cpus"
printf 'event=0x100000000\n' >"$devices/nvidia_uncore_pmu_0/events/cycles"
printf 'config:0-32\n' >"$devices/nvidia_uncore_pmu_0/format/event"
printf 'config1:0-31\n' >"$devices/nvidia_uncore_pmu_0/format/filter"
check "damaged T410 as text" 0 "$tests/golden/list-damaged.txt" --sysfs "$work/t410"
quiet "damaged T410 as text"

mkdir "$work/empty"
check "no PMU" 1 /dev/null --sysfs "$work/empty"
says "no PMU" "no uncore PMU that is known in $work/empty/bus/event_source/devices"
says "no PMU" "nvidia_ucf_pmu_<n>, nvidia_scf_pmu_<n>"
says "no PMU" "nvidia_t410_c2c_pmu (CONFIG_NVIDIA_TEGRA410_C2C_PMU)"
says "no PMU" '`make demo`'
check "no tree" 1 /dev/null --sysfs "$work/none"
says "no tree" "$work/none"
check "unknown option" 2 /dev/null --nonsense
check "unexpected argument" 2 /dev/null ucf nonsense
says "unexpected argument" "unexpected argument \"nonsense\""

exit $failed
