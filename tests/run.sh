#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# run.sh [PART...]: build and run the tests: those of "make check", the parts named, or "all".
#
# Every test prints a line "ok NAME", "not ok NAME: reason" or "skip NAME: reason";
# tests/results.py judges what each part has printed. The last line is the tally.
#
# "make check" runs the fast parts first, one after the other. The rest runs in three lanes side by
# side: builds and then the virtual T410, unit programs, live tests. The emulated CPUs of the virtual
# T410 get a processor before everything else (tests/machine/lib/boot.sh), and live tests mostly wait.
# When they have ended, the live tests of "bpf" run, and those whose figures the lanes disturbed.
#
# Environment: T410_TEST_LIMIT  seconds after which a unit test hangs (default: 1200)
#              T                patterns: only the unit tests test_PATTERN
#              QUICK            style looks at what is not committed yet, not at all
#              T410_ALL         all unit programs under valgrind, also those that did not change
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
# Whatever ends this ends all that it has started.
[ -n "${ENDING:-}" ] || ENDING=1 exec tests/ending.py tests/run.sh "$@"

FAST="style accuracy emulation"
LANES=("build hardware machine" "unit asan valgrind" live)
QUIET=bpf
LAST=alone
# shellcheck disable=SC2206  # lists of words
PARTS=($FAST ${LANES[@]} $QUIET)
# What "all" has beyond them, and "make check" does not
LONG=(clangs pages packages large drivers fleet operation kernel riscv64)
declare -A WHAT=(
	[style]="sources: format, licences, layers, sizes, documents (15 s)"
	[build]="builds: gcc and clang, amd64 and arm64, no warnings; Debian's package (2 min)"
	[bpf]="the BPF programs by the oldest and the newest clang, on this kernel (40 s)"
	[clangs]="the same by all clangs of this Debian release; not in make check (2 min)"
	[unit]="unit tests (2 min)"
	[programs]="unit tests without those of whole commands; a part of unit (20 s)"
	[asan]="unit tests and commands with address and undefined behaviour sanitizers (4 min)"
	[valgrind]="unit tests under valgrind (3 min)"
	[accuracy]="how right the attribution is, on invented traces (15 s)"
	[live]="the scheduler side on this machine's kernel (8 min)"
	[alone]="live tests whose figures the other parts disturbed, without them"
	[pages]="pages of reports in Debian's chromium; not in make check (1 min)"
	[packages]="packages in fresh systems, commands of INSTALL.md, completion in each shell; not in make check (12 min)"
	[emulation]="the virtual T410's register models, without booting it (5 s)"
	[hardware]="the virtual T410 itself: drivers, counters, shapes (3 min; +2 min the first time)"
	[fleet]="jobs on three nodes of a Slurm cluster in the virtual T410, 1,000 jobs that end at once; not in make check (9 min)"
	[operation]="packages under systemd and AppArmor, and what docs/OPERATION.md says, in the virtual T410; not in make check (4 min)"
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
# Each compiler by its name is ccache's: what was compiled in this or another tree of the project is
# not compiled again, and its warnings are repeated. Where the tree lies is of no importance.
if [ -d /usr/lib/ccache ]; then
	export PATH=/usr/lib/ccache:$PATH CCACHE_NOHASHDIR=1
fi
logs=build/test-logs
lane=${LANE:-}
unset LANE

# limited COMMAND...: end it when it hangs, with status 124
limited() { timeout --foreground -k 10 "$T410_TEST_LIMIT" "$@"; }

# unit_program FOLDER PROGRAM PREFIX...: run one with PREFIX; FOLDER gets NAME.tap, NAME.err, NAME.status.
# With KNOWN, a folder, what passed before is not run again: its results are there.
unit_program() {
	local program=$2 out=$1/${2##*/} known=
	shift 2
	if [ -n "${KNOWN:-}" ]; then
		objcopy --strip-debug --remove-section=.note.gnu.build-id "$program" "$out.bin" 2> /dev/null ||
			cp "$program" "$out.bin"
		known=$KNOWN/${out##*/}-$(sha256sum < "$out.bin" | cut -c 1-32)
		rm "$out.bin"
		if cp "$known" "$out.tap" 2> /dev/null; then
			: > "$out.err"
			echo 0 | tee "$out.known" > "$out.status"
			return
		fi
	fi
	CMOCKA_MESSAGE_OUTPUT=TAP limited "$@" "$program" > "$out.tap" 2> "$out.err"
	echo $? > "$out.status"
	if [ -n "$known" ] && [ "$(< "$out.status")" = 0 ]; then cp "$out.tap" "$known.$$" && mv "$known.$$" "$known"; fi
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
# many at a time as there are CPUs; their results come by name
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
	tests/results.py tap "$folder" "${programs[@]##*/}" ||
		echo "not ok unit programs: their results cannot be read"
	[ -z "${KNOWN:-}" ] || echo "# $(find "$folder" -name '*.known' | wc -l) of ${#programs[@]} programs did not change"
}

# chosen: the sources of unit tests that T asks for, or all
chosen() {
	local pattern
	set -f
	# shellcheck disable=SC2086  # patterns are words
	set -- ${T:-*}
	set +f
	for pattern; do find tests/unit -name "test_$pattern.c"; done | sort -u
}

native() { case $(uname -m) in aarch64) echo arm64 ;; *) echo amd64 ;; esac; }

part_style() { tests/style.sh ${QUICK:+--changed}; }
part_programs() { unit_programs programs "" "" env; }
part_build() { tests/build.sh; }
part_bpf() { tests/clangs.sh; }
part_clangs() { tests/clangs.sh --all; }
# script FILE ARG...: one that dies or hangs is a failure, whatever comes after it
script() { limited "$@" || echo "not ok ${1##*/}: ended with status $?"; }
# scripts FOLDER: each line of the standard input is one. They mostly wait: as many at a time as there
# are CPUs; their results come in order
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
		grep -qE '^(ok|not ok|skip) ' "$folder/${script##*/}.out" ||
			echo "not ok ${script##*/}: it has no results"
	done < "$folder/list"
}
part_unit() {
	unit_programs unit "" "" env
	[ -z "${T:-}" ] || return 0
	scripts "$logs/scripts" <<- END
		tests/cli/test_list_golden.sh ./t410trace
		tests/cli/test_platforms.py ./t410trace
		tests/cli/test_counts_join.py ./t410trace
		tests/cli/test_neighbours.py ./t410trace
		tests/cli/test_by_job.py ./t410trace
		tests/cli/test_csv.py ./t410trace
		tests/cli/test_shares.py ./t410trace
		tests/cli/test_io_noted.py ./t410trace
		tests/cli/test_perfetto.py ./t410trace
		tests/cli/test_page.py ./t410trace
		tests/cli/test_terminal.py ./t410trace build/$(native)/tests/unit/make_accounts
		tests/cli/test_top_screen.py ./t410trace
		tests/cli/test_topology.py ./t410trace
		tests/cli/test_check.py ./t410trace
		tests/cli/test_foreign_devices.py ./t410trace
		tests/cli/test_device_users.py ./t410trace
		tests/cli/test_job_commands.py ./t410trace build/$(native)/tests/unit/make_accounts
		tests/cli/test_job_merge.py ./t410trace
		tests/cli/test_slurm_epilog.py
		tests/cli/test_slurm_merge.py ./t410trace
		tests/cli/test_collect.py
		tests/cli/test_options.py ./t410trace
		tests/cli/test_outputs.py ./t410trace
		tests/cli/test_serve.py ./t410trace
		tests/cli/test_make.py
		tests/cli/test_metrics.py ./t410trace
		tests/cli/test_fleet_rules.py
		tests/cli/test_peak.py ./t410trace
		tests/cli/test_esp_commands.py ./t410trace
		tests/cli/test_gpu_helper.py ./t410trace-gpu
		tests/cli/test_job_schema.py
		tests/cli/test_trace_schema.py ./t410trace
		tests/cli/test_source_schema.py ./t410trace
		tests/cli/test_run.py
		tests/cli/test_rooms.py
		tests/cli/test_live_runner.py
		tests/cli/test_paired.py
	END
}
part_asan() {
	local folder=$logs/asan-scripts program make_accounts report
	program=build/$(native)-asan/t410trace
	make_accounts=${program%/*}/tests/unit/make_accounts
	unit_programs asan -asan "$ASAN_FLAGS" env ASAN_OPTIONS=detect_leaks=1
	[ -z "${T:-}" ] || return 0
	# Whole commands, top in a terminal and the daemon. A status that no test expects, and a report
	# in a file, because not every test looks at the status of all that it runs.
	local -x UBSAN_OPTIONS=exitcode=99 LSAN_OPTIONS="suppressions=$PWD/tests/lsan.supp:print_suppressions=0"
	local -x ASAN_OPTIONS="detect_leaks=1:exitcode=99:verify_asan_link_order=0:log_path=$PWD/$folder/report"
	scripts "$folder" <<- END
		tests/cli/test_counts_join.py $program
		tests/cli/test_by_job.py $program
		tests/cli/test_csv.py $program
		tests/cli/test_perfetto.py $program
		tests/cli/test_top_screen.py $program
		tests/cli/test_foreign_devices.py $program
		tests/cli/test_device_users.py $program
		tests/cli/test_job_commands.py $program $make_accounts
		tests/cli/test_job_merge.py $program
		tests/cli/test_serve.py $program
		tests/cli/test_esp_commands.py $program
		tests/cli/test_gpu_helper.py $program-gpu
		tests/live/run.sh $program serve/restart serve/history
	END
	for report in "$folder"/report.*; do
		[ ! -e "$report" ] || { echo "not ok asan: a command, see below" && cat "$report"; }
	done
}
# Programs that are the same to the byte, but for debugging information, and read the same files have
# passed before and pass: this part looks at what has changed. "make check-all" runs all of them.
part_valgrind() {
	local -x KNOWN=
	local files
	if [ -z "${T410_ALL:-}" ]; then
		files=$({ valgrind --version && cat tests/valgrind.supp && find tests/golden tests/fixtures share -type f |
			sort | xargs cat; } | sha256sum | cut -c 1-16)
		KNOWN=${XDG_CACHE_HOME:-$HOME/.cache}/t410trace-check/valgrind-$files
		mkdir -p "$KNOWN"
		# of programs that nobody has any more
		find "${KNOWN%/*}" -type f -mtime +30 -delete
	fi
	unit_programs valgrind "" "" valgrind -q --error-exitcode=9 --leak-check=full \
		--suppressions=tests/valgrind.supp --trace-children=no
}
part_accuracy() {
	tests/accuracy/selftest.py && make -s -j"$(nproc)" && tests/accuracy/accuracy.py check ./t410trace
}
# Beside other parts a figure that is off says nothing: part_alone has the last word on it
disturbed=$logs/disturbed
part_live() { make -s -j"$(nproc)" && tests/live/run.sh ${lane:+--disturbed "$disturbed"} ./t410trace; }
part_alone() { tests/live/run.sh --these "$disturbed" ./t410trace; }
part_emulation() {
	# The programs count checks themselves and name the ones that fail.
	if tests/machine/plugin/tests/run | sed "s/^/# /"; then echo "ok emulation"; else echo "not ok emulation: see above"; fi
	scripts "$logs/judges" <<- END
		tests/machine/test_judge.py
		tests/machine/test_judge_stat.py
		tests/machine/test_judge_devices.py
		tests/machine/test_judge_gpus.py
		tests/machine/test_judge_shapes.py
		tests/machine/test_judge_drivers.py
		tests/machine/test_judge_esp.py
		tests/machine/test_judge_slurm.py
		tests/machine/test_judge_fleet.py
		tests/machine/test_judge_operation.py
		tests/machine/test_judge_ticks.py
		tests/machine/test_judge_view.py
		tests/machine/test_judge_again.py
		tests/machine/test_judge_real.py
		tests/machine/test_judge_large.py
		tests/machine/test_checks.py
		tests/machine/test_boot.py
		tests/machine/test_demo.py
		tests/machine/test_wait.py
	END
}
part_pages() {
	packaging/deps.sh chromium chromium-driver python3-selenium fonts-dejavu-core &&
		make -s -j"$(nproc)" all "build/$(native)/tests/unit/make_accounts" &&
		script tests/pages/check.py ./t410trace build/pages "build/$(native)/tests/unit/make_accounts"
}
part_packages() {
	packaging/deps.sh zsh fish || return
	script tests/cli/test_completion.py
	# as long as builds and systems take where neither compilers nor packages are at hand
	T410_TEST_LIMIT=5400 script tests/packages.sh
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
	# its tables are for people
	T410_RESULTS=${T410_RESULTS:+$T410_RESULTS/real} tests/machine/real.sh --short |
		sed -E '/^(ok|not ok|skip) /!s/^/# /' || failed=1
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

part_operation() {
	make -s -j"$(nproc)" ARCH=arm64 LINK=shared || return
	tests/machine/run.sh packages operation
}
part_fleet() {
	local failed=0
	make -s -j"$(nproc)" && make -s -j"$(nproc)" ARCH=arm64 LINK=shared || return
	tests/machine/run.sh fleet || failed=1
	script tests/cli/test_slurm_merge.py ./t410trace 1000 || failed=1
	return $failed
}

# cpu_seconds: of all that this shell has started and waited for
cpu_seconds() { awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print int(($14 + $15) / hz) }' "/proc/$$/stat"; }

# run_part PART: its log is judged, its tally is in PART.tally. Beside other parts it is printed at its
# end, as one piece
run_part() {
	local part=$1 start=$SECONDS cpu log=$logs/$1.log status
	cpu=$(cpu_seconds)
	if [ -z "$lane" ]; then
		echo "== $part: ${WHAT[$part]}"
		"part_$part" 2>&1 | tee "$log" | grep -v '^ok '
		status=${PIPESTATUS[0]}
		tests/results.py tally "$part" "$status" "$log" | tee "$logs/$part.tally"
		echo "   $((SECONDS - start)) s, $(($(cpu_seconds) - cpu)) s of CPU, log in $log"
	else
		flock "$logs" echo "-- $part begins"
		"part_$part" > "$log" 2>&1
		status=$?
		tests/results.py tally "$part" "$status" "$log" > "$logs/$part.tally"
		{
			echo "== $part: ${WHAT[$part]}"
			grep -v '^ok ' "$log"
			echo "   $((SECONDS - start)) s, $(($(cpu_seconds) - cpu)) s of CPU, log in $log"
		} | flock "$logs" cat
	fi
}

# lanes PARTS...: each word is a lane. By xargs, so that all hear Ctrl-C
lanes() {
	printf '%s\n' "$@" | LANE=1 xargs -P $# -I PARTS bash -c 'exec "$0" $1' "$0" PARTS
}

for name in T410_UPDATE_GOLDEN GOLDEN; do
	# also to nothing, which is enough for a program
	[ -z "${!name+set}" ] || { echo "run.sh: $name is set: golden files would be written, not compared; unset it" >&2; exit 2; }
done
case $* in
'' | all) whole=1 ;;
*) whole= ;;
esac
parts=("$@")
[ $# -gt 0 ] || parts=("${PARTS[@]}")
[ "$*" != all ] || { parts=("${PARTS[@]}" "${LONG[@]}") && export T410_ALL=1; }
for part in "${parts[@]}"; do
	[ -n "${WHAT[$part]:-}" ] || { echo "run.sh: no part \"$part\"; parts are: ${PARTS[*]} ${LONG[*]} programs all" >&2; exit 2; }
done
mkdir -p "$logs"
if [ -n "$lane" ]; then
	for part in "${parts[@]}"; do run_part "$part"; done
	exit 0
fi
# The first build of a new tree has compiled everything: it is judged, and not made once more.
[ -e "build/$(native)/t410trace" ] || [ "${parts[0]}" != style ] || export FROM_NOTHING=1
rm -f "$logs"/*.tally "$disturbed"
if [ -n "$whole" ]; then
	echo "running the tests, 20 to 30 minutes; parts: make check-PART (${parts[*]})"
	for part in $FAST; do run_part "$part"; done
	lanes "${LANES[@]}"
	run_part $QUIET
	[ ! -s "$disturbed" ] || { run_part $LAST; parts+=("$LAST"); }
	[ -z "${T410_ALL:-}" ] || for part in "${LONG[@]}"; do run_part "$part"; done
else
	for part in "${parts[@]}"; do run_part "$part"; done
fi
passed=0 failed=0 skipped=0
for part in "${parts[@]}"; do
	read -r ok bad skip < <(sed -nE 's/^   .*: ([0-9]+) passed.*, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' "$logs/$part.tally")
	passed=$((passed + ${ok:-0})) failed=$((failed + ${bad:-1})) skipped=$((skipped + ${skip:-0}))
	[ -n "${ok:-}" ] || echo "not ok $part: it did not run"
	ok=
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
