#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# clangs.sh [--all]: what the oldest and the newest clang of this Debian release make of the BPF
# programs, or all from 13 on: without a warning, for this machine and for arm64, and on this kernel,
# whose verifier sees what the compiler does. Needs root. Only what has to do with BPF is built again.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tests/builds.sh
said=$(mktemp -d)
trap 'rm -rf "$log" "$said"' EXIT
# These load all programs: beside the ledger's those of weights, ticks, disks and packets, and the one
# that finds tasks from a pid namespace.
LIVE=(ledger/ weights/ticks io/udp namespaces/nobody)
native=amd64
[ "$(uname -m)" != aarch64 ] || native=arm64

# try NUMBER
try() {
	local clang=clang-$1 variant=-clang-$1
	local folder=build/$native$variant arm64=build/arm64$variant
	build "$clang arm64" "$arm64/t410trace.bpf.o" ARCH=arm64 LINK=shared VARIANT="$variant" CLANG="$clang" \
		"$arm64"/t410{trace,lookup}.bpf.o
	build "$clang" "$folder/t410trace" VARIANT="$variant" CLANG="$clang" REUSE="build/$native" \
		"$folder/t410trace" "$folder"/tests/live/{weigh,iowho,reader} \
		"$folder/tests/unit/platform/bpf/test_old_kernels" || return
	# A compiler that was not used would be right every time.
	grep -aqi "clang $1\." "$folder/t410trace" || echo "not ok $clang: another one has compiled it"
	CMOCKA_MESSAGE_OUTPUT=TAP "$folder/tests/unit/platform/bpf/test_old_kernels" \
		> "$said/old_kernels.tap" 2> "$said/old_kernels.err"
	echo $? > "$said/old_kernels.status"
	{
		tests/results.py tap "$said" old_kernels || echo "not ok old kernels: status $?"
		tests/live/run.sh "$folder/t410trace" "${LIVE[@]}" || echo "not ok live: status $?"
	} | sed -E "s/^(ok|not ok|skip) /&$clang /"
}

mapfile -t numbers < <(packaging/deps.sh --clangs)
[ ${#numbers[@]} -gt 0 ] || { echo "not ok clangs: this system has none from 13 on"; exit 1; }
[ "${1:-}" = --all ] || mapfile -t numbers < <(printf '%s\n' "${numbers[0]}" "${numbers[-1]}" | uniq)
packaging/deps.sh "${numbers[@]/#/clang-}" | sed 's/^/# /' && make -s -j"$(nproc)" || exit
for number in "${numbers[@]}"; do try "$number"; done
exit 0
