#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# run.sh [PART...]: build and run the tests: those of "make check", the parts named, or "all".
#
# Every test prints a line "ok NAME", "not ok NAME: reason" or "skip NAME: reason".
# A part that fails without saying so, or says nothing at all, is a failure. A skip
# that is not listed in tests/allowed-skips is a failure too. The last line is the
# tally.
#
# Environment: T410_TEST_LIMIT  seconds after which a unit test hangs (default: 1200)
#              T                patterns: only the unit tests test_PATTERN
#              QUICK            style looks at what is not committed yet, not at all
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

# What is quick and fails most often comes first.
PARTS=(style accuracy emulation unit live build asan valgrind hardware machine)
# What "all" has beyond them, and "make check" does not
LONG=(pages large drivers kernel riscv64)
declare -A WHAT=(
	[style]="sources: format, licences, layers, sizes, documents (15 s)"
	[build]="builds: gcc and clang, amd64 and arm64, no warnings (2 min)"
	[unit]="unit tests (2 min)"
	[programs]="unit tests without those of whole commands; a part of unit (20 s)"
	[asan]="unit tests with address and undefined behaviour sanitizers (3 min)"
	[valgrind]="unit tests under valgrind (3 min)"
	[accuracy]="how right the attribution is, on invented traces (15 s)"
	[live]="the scheduler side on this machine's kernel (8 min)"
	[pages]="pages of reports in Debian's chromium; not in make check (1 min)"
	[emulation]="the virtual T410's register models, without booting it (5 s)"
	[hardware]="the virtual T410 itself: drivers, counters, shapes (3 min; +2 min the first time)"
	[kernel]="live tests on this Debian release's own kernel, booted; not in make check (4 min)"
	[riscv64]="the program for riscv64, on Debian's kernel for it, booted; not in make check (1 min, and what builds it)"
	[machine]="t410trace in the virtual T410, all shapes; Debian's programs in it (9 min)"
	[large]="t410trace in a virtual T410 with 64 CPUs; not in make check (5 min)"
	[drivers]="t410trace with other makers' drivers and PMUs in the virtual machine, the self-test; not in make check (8 min)"
)
# Lines are enough for a trace of calls, and take a fifth of the time away.
ASAN_FLAGS="-O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"
export T410_TEST_LIMIT=${T410_TEST_LIMIT:-1200}
# The jobs of "make -j check" are not for the makes started here: they would warn, and a warning
# of a build is a failure.
MAKEFLAGS=$(sed -E 's/(^| )(-j[0-9]*|--jobserver-[a-z]+=[^ ]*)//g' <<< "${MAKEFLAGS:-}")
export MAKEFLAGS
logs=build/test-logs
passed=0 failed=0 skipped=0

# limited COMMAND...: end it when it hangs, with status 124
limited() { timeout --foreground -k 10 "$T410_TEST_LIMIT" "$@"; }

# unit_program FOLDER PROGRAM PREFIX...: run one with PREFIX; its results are FOLDER/NAME.out
unit_program() {
	local program=$2 name=${2##*/} out status
	out=$1/$name
	shift 2
	# TAP of cmocka: "ok 1 - name", "not ok 1 - name"
	CMOCKA_MESSAGE_OUTPUT=TAP limited "$@" "$program" 2> "$out.err" |
		sed -nE "s/^(ok|not ok) [0-9]+ - (.*)/\1 $name: \2/p" > "$out.out"
	status=${PIPESTATUS[0]}
	if [ "$status" != 0 ]; then
		echo "not ok $name: exit status $status, see below"
		cat "$out.err"
	elif [ ! -s "$out.out" ]; then
		echo "not ok $name: it ran no test"
	fi >> "$out.out"
}

# The machines that unit tests make up are thousands of small files: in memory they take a tenth of
# the time. Nothing of them is executed there.
memory_folder() {
	if [ "$(stat -f -c %T /dev/shm 2> /dev/null)" = tmpfs ] && [ -w /dev/shm ]; then
		echo /dev/shm
	else
		echo /tmp
	fi
}

# unit_programs PART VARIANT FLAGS PREFIX...: build the unit tests and run each with PREFIX, as
# many at a time as there are CPUs; what they say comes one after the other, by name
unit_programs() {
	local folder=$logs/$1 variant=$2 flags=$3 t programs=()
	local -x TMPDIR=${TMPDIR:-$(memory_folder)}
	shift 3
	make -s -j"$(nproc)" VARIANT="$variant" ${flags:+CFLAGS="$flags"} unit-programs || {
		echo "not ok unit programs: they do not build"
		return 1
	}
	# by their sources: a program whose source is gone may still lie there
	for t in $(chosen); do programs+=("build/$(native)$variant/${t%.c}"); done
	[ ${#programs[@]} -gt 0 ] || {
		echo "not ok unit programs: no test fits T=\"$T\""
		return 1
	}
	rm -rf "$folder"
	mkdir -p "$folder"
	export -f unit_program limited
	# xargs, not "&": what a shell without job control starts with "&" is deaf to Ctrl-C
	printf '%s\n' "${programs[@]}" |
		xargs -P "$(nproc)" -I PROGRAM bash -c 'unit_program "$@"' run.sh "$folder" PROGRAM "$@" ||
		echo "not ok unit programs: not all could be run"
	for t in "${programs[@]##*/}"; do
		cat "$folder/$t.out" || echo "not ok $t: it did not run"
	done
}

# chosen: the sources of unit tests that T asks for, or all
chosen() {
	local pattern
	set -f
	# shellcheck disable=SC2086  # patterns are words
	set -- ${T:-*}
	set +f
	for pattern; do compgen -G "tests/unit/test_$pattern.c"; done | sort -u
}

native() { case $(uname -m) in aarch64) echo arm64 ;; *) echo amd64 ;; esac; }

part_style() { tests/style.sh ${QUICK:+--changed}; }
part_programs() { unit_programs programs "" "" env; }
part_build() { tests/build.sh; }
# script FILE ARG...: one that dies or hangs is a failure, whatever comes after it
script() { limited "$@" || echo "not ok ${1##*/}: ended with status $?"; }
# scripts FOLDER: each line of the standard input is one. They mostly wait: as many at a time as there
# are CPUs; what they say comes one after the other
scripts() {
	local folder=$1 script
	rm -rf "$folder"
	mkdir -p "$folder"
	export -f script limited
	# shellcheck disable=SC2016  # for the shell of each
	tee "$folder/list" | xargs -P "$(nproc)" -I LINE bash -c \
		'read -ra words <<< "$2"; script "${words[@]}" > "$1/${words[0]##*/}.out" 2>&1' run.sh "$folder" LINE
	while read -r script _; do
		cat "$folder/${script##*/}.out" || echo "not ok ${script##*/}: it did not run"
	done < "$folder/list"
}
part_unit() {
	unit_programs unit "" "" env
	[ -z "${T:-}" ] || return 0
	script tests/unit/test_list_golden.sh ./t410trace | sed -E 's/^ok: /ok list: /; s/^FAILED: /not ok list: /'
	scripts "$logs/scripts" <<- END
		tests/unit/test_platforms.py ./t410trace
		tests/unit/test_counts_join.py ./t410trace
		tests/unit/test_neighbours.py ./t410trace
		tests/unit/test_by_job.py ./t410trace
		tests/unit/test_csv.py ./t410trace
		tests/unit/test_perfetto.py ./t410trace
		tests/unit/test_page.py ./t410trace
		tests/unit/test_terminal.py ./t410trace build/$(native)/tests/unit/make_accounts
		tests/unit/test_top_screen.py ./t410trace
		tests/unit/test_topology.py ./t410trace
		tests/unit/test_foreign_devices.py ./t410trace
		tests/unit/test_job_commands.py ./t410trace build/$(native)/tests/unit/make_accounts
		tests/unit/test_slurm_epilog.py
		tests/unit/test_options.py ./t410trace
		tests/unit/test_serve.py ./t410trace
		tests/unit/test_metrics.py ./t410trace
		tests/unit/test_peak.py ./t410trace
		tests/unit/test_esp_commands.py ./t410trace
		tests/unit/test_job_schema.py
		tests/unit/test_trace_schema.py ./t410trace
		tests/unit/test_source_schema.py ./t410trace
		tests/unit/test_run.py
		tests/unit/test_rooms.py
		tests/unit/test_live_runner.py
		tests/unit/test_paired.py
	END
}
part_asan() { unit_programs asan -asan "$ASAN_FLAGS" env ASAN_OPTIONS=detect_leaks=1; }
part_valgrind() {
	unit_programs valgrind "" "" valgrind -q --error-exitcode=9 --leak-check=full \
		--suppressions=tests/valgrind.supp --trace-children=no
}
part_accuracy() {
	tests/accuracy/selftest.py && make -s -j"$(nproc)" && tests/accuracy/accuracy.py check ./t410trace
}
part_live() { make -s -j"$(nproc)" && tests/live/run.sh ./t410trace; }
part_emulation() {
	# The programs count checks themselves and name the ones that fail.
	if tests/machine/plugin/tests/run; then echo "ok emulation"; else echo "not ok emulation: see above"; fi
	script tests/machine/test_judge.py
	script tests/machine/test_judge_stat.py
	script tests/machine/test_judge_devices.py
	script tests/machine/test_judge_shapes.py
	script tests/machine/test_judge_drivers.py
	script tests/machine/test_judge_esp.py
	script tests/machine/test_judge_slurm.py
	script tests/machine/test_judge_ticks.py
	script tests/machine/test_judge_view.py
	script tests/machine/test_judge_again.py
	script tests/machine/test_judge_real.py
	script tests/machine/test_judge_large.py
	script tests/machine/test_checks.py
	script tests/machine/test_boot.py
	script tests/machine/test_wait.py
}
part_pages() {
	packaging/deps.sh chromium chromium-driver python3-selenium fonts-dejavu-core &&
		make -s -j"$(nproc)" all "build/$(native)/tests/unit/make_accounts" &&
		script tests/pages/check.py ./t410trace build/pages "build/$(native)/tests/unit/make_accounts"
}
part_hardware() { tests/machine/checks/check.sh; }
part_kernel() { make -s -j"$(nproc)" && tests/kernel/run.sh ./t410trace; }
part_riscv64() {
	local emulator=qemu-system-riscv linker=
	# Debian 12's linker dies of Debian 13's libraries
	# shellcheck disable=SC1091
	[ "$(. /etc/os-release && echo "${VERSION_ID:-13}")" -ge 13 ] || emulator=qemu-system-misc linker=lld-19
	# shellcheck disable=SC2086
	packaging/deps.sh gcc-riscv64-linux-gnu libc6-dev-riscv64-cross $emulator $linker || return
	make -s -j"$(nproc)" ARCH=riscv64 && tests/kernel/riscv64.sh
}
part_machine() {
	local failed=0
	make -s -j"$(nproc)" && make -s -j"$(nproc)" ARCH=arm64 LINK=shared || return
	tests/machine/run.sh || failed=1
	T410_RESULTS=${T410_RESULTS:+$T410_RESULTS/real} tests/machine/real.sh --short || failed=1
	return $failed
}

part_large() {
	make -s -j"$(nproc)" && make -s -j"$(nproc)" ARCH=arm64 LINK=shared || return
	tests/machine/large.sh
}

part_drivers() {
	local failed=0
	make -s -j"$(nproc)" && make -s -j"$(nproc)" ARCH=arm64 LINK=shared || return
	tests/machine/run.sh --more || failed=1
	T410_RESULTS=${T410_RESULTS:+$T410_RESULTS/selftest} tests/machine/selftest.sh || failed=1
	return $failed
}

# tally LOG PART STATUS: count a part's lines
tally() {
	local ok again bad skip line
	ok=$(grep -c '^ok ' "$1")
	again=$(grep -c '^ok .*: at a second try$' "$1")
	bad=$(grep -c '^not ok ' "$1")
	skip=$(grep -c '^skip ' "$1")
	if [ $((ok + bad + skip)) = 0 ] || { [ "$3" != 0 ] && [ "$bad" = 0 ]; }; then
		echo "not ok $2: ended with status $3 after $ok results" | tee -a "$1"
		bad=$((bad + 1))
	fi
	while IFS= read -r line; do
		line=${line#skip }
		grep -v '^#' tests/allowed-skips | grep -qxF -- "${line%%:*}" && continue
		echo "not ok ${line%%:*}: this skip is not in tests/allowed-skips"
		skip=$((skip - 1)) bad=$((bad + 1))
	done < <(grep '^skip ' "$1")
	passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
	[ "$again" = 0 ] && again='' || again=", $again at a second try"
	printf '   %s: %d passed%s, %d failed, %d skipped\n' "$2" "$ok" "$again" "$bad" "$skip" | tee -a "$1"
}

[ $# -gt 0 ] || set -- "${PARTS[@]}"
[ "$*" != all ] || set -- "${PARTS[@]}" "${LONG[@]}"
for part in "$@"; do
	[ -n "${WHAT[$part]:-}" ] || { echo "run.sh: no part \"$part\"; parts are: ${PARTS[*]} ${LONG[*]} programs all" >&2; exit 2; }
done
# The first build of a new tree has compiled everything: it is judged, and not made once more.
[ -e "build/$(native)/t410trace" ] || [ "$1" != style ] || export FROM_NOTHING=1
mkdir -p "$logs"
case $# in
"${#PARTS[@]}") echo "running the tests, about 30 minutes; parts: make check-PART ($*)" ;;
$((${#PARTS[@]} + ${#LONG[@]}))) echo "running all tests; parts: make check-PART ($*)" ;;
esac
for part in "$@"; do
	echo "== $part: ${WHAT[$part]}"
	start=$SECONDS
	"part_$part" 2>&1 | tee "$logs/$part.log" | grep -v '^ok '
	tally "$logs/$part.log" "$part" "${PIPESTATUS[0]}"
	echo "   $((SECONDS - start)) s, log in $logs/$part.log"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
