# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# boot.sh: a run, from its folder to its exit status.
#
# The folder of a run: guest/ is /run/machine in the guest (command, stdout, stderr,
# kernel.log, status), beside it console.log, qemu.log, shm (the traffic) and pid.

readonly RUNS_KEPT=8

# The emulated CPUs get a processor before others that want one. One that has to wait takes
# the time for its own: programs in the guest seem to have worked meanwhile, and what they did
# comes late. In a session of its own: Linux weighs sessions first, then the processes of each.
# Only root may; without that right they take turns with everything else.
# shellcheck disable=SC2016  # for the shell that becomes the machine
readonly SERVED_FIRST='{ echo -20 > /proc/self/autogroup; renice -n -20 -p $$; } > /dev/null 2>&1; exec "$@"'

# A machine that hears nothing any more still ends
readonly KILL_AFTER=10

is_live() { [ -s "$1/pid" ] && kill -0 "$(< "$1/pid")" 2> /dev/null; }

# The last few finished runs stay for a look at their logs
remove_old_runs() {
	local run kept=0
	for run in $(printf '%s\n' "$MACHINE_DIR"/runs/[0-9]* | sort -r); do
		if [ -d "$run" ] && ! is_live "$run"; then
			kept=$((kept + 1))
			[ $kept -lt $RUNS_KEPT ] || rm -rf "$run"
		fi
	done
}

# new_run: sets RUN and BOOT, with the traffic loaded
new_run() {
	remove_old_runs
	RUN=$(mktemp -d "$MACHINE_DIR/runs/$(date +%Y%m%d-%H%M%S)-XXXX")
	mkdir "$RUN/guest"
	"$EMULATION/t410ctl" "$RUN/shm" load "$(scenario)" >&2 || die "the scenario $(scenario) is wrong"
	ln -sfn "$RUN" "$MACHINE_DIR/runs/last"
	boot_arguments "$RUN"
}

write_command() {
	if [ ${#COMMAND[@]} = 1 ]; then
		printf '%s\n' "${COMMAND[0]}"
	else
		printf '%s\n' "${COMMAND[*]@Q}"
	fi > "$RUN/guest/command"
}

# stop_machine SIGNAL: and end by it as well, so that whoever waits for us knows and does not go on
stop_machine() {
	kill "$MACHINE_PID" 2> /dev/null
	wait "$MACHINE_PID"
	trap - "$1"
	kill -s "$1" $$
}

run_command() {
	local status=0 streams=() signal
	new_run
	write_command
	: > "$RUN/guest/stdout"
	: > "$RUN/guest/stderr"
	# --pdeathsig: it does not outlive this shell, not even when that is killed
	setsid sh -c "$SERVED_FIRST" sh setpriv --pdeathsig TERM timeout --foreground -k $KILL_AFTER "$TIMEOUT" \
		"$QEMU" "${BOOT[@]}" < /dev/null > "$RUN/qemu.log" 2>&1 &
	MACHINE_PID=$!
	echo $MACHINE_PID > "$RUN/pid"
	for signal in HUP INT TERM; do
		# shellcheck disable=SC2064  # the signal that it is now
		trap "stop_machine $signal" $signal
	done
	# tail looks once more after the process has ended: nothing is lost
	tail -q -s 0.05 --pid=$MACHINE_PID -c +1 -f "$RUN/guest/stdout" &
	streams+=($!)
	tail -q -s 0.05 --pid=$MACHINE_PID -c +1 -f "$RUN/guest/stderr" >&2 &
	streams+=($!)
	wait $MACHINE_PID || status=$?
	wait "${streams[@]}" || true
	trap - HUP INT TERM
	rm -f "$RUN/pid" "$RUN"/disk[0-9]
	step "boot, command, power off"
	result $status
}

# result STATUS_OF_QEMU: the status of this run
result() {
	local complains=0
	judge_log "$RUN" || complains=$?
	if [ ! -s "$RUN/guest/status" ]; then
		if [ "$1" = $STATUS_TIMEOUT ]; then
			say "stopped after $TIMEOUT s, see $RUN/console.log"
			return $STATUS_TIMEOUT
		fi
		say "the machine ended without a result (QEMU: $1), see $RUN/console.log:"
		cat "$RUN/qemu.log" "$RUN/console.log" 2> /dev/null | tail -n 10 >&2
		return $STATUS_FAILED
	fi
	if [ "$(< "$RUN/guest/pmus")" != "$(expected_pmus) of $(expected_pmus)" ]; then
		say "drivers found $(< "$RUN/guest/pmus") PMUs, see $RUN/guest/kernel.log"
		complains=1
	fi
	[ $complains = 0 ] || return $STATUS_FAILED
	return "$(< "$RUN/guest/status")"
}

# guest_terminal FOLDER: what the guest must know of the terminal here to draw on it: the name, the
# size, and the description, which is xterm's where this system has none of the name
guest_terminal() {
	local term=${TERM:-xterm} file
	for file in ~/.terminfo /etc/terminfo /lib/terminfo /usr/share/terminfo; do
		file+=/${term:0:1}/$term
		[ ! -r "$file" ] || break
	done
	[ -r "$file" ] || term=xterm file=/lib/terminfo/x/xterm
	mkdir -p "$1/terminfo/${term:0:1}"
	cp -L "$file" "$1/terminfo/${term:0:1}/"
	echo "$term $(stty size 2> /dev/null || echo 24 80)" > "$1/shell"
}

run_shell() {
	new_run
	guest_terminal "$RUN/guest"
	echo $BASHPID > "$RUN/pid"
	say "a shell in the guest; exit ends it"
	"$QEMU" "${BOOT[@]}" -device virtio-serial-pci -chardev stdio,id=terminal,signal=off \
		-device virtconsole,chardev=terminal || true
	rm -f "$RUN/pid" "$RUN"/disk[0-9]
	result 0
}

# ctl on the newest run, or on the one that T410_MACHINE_RUN names; also after its
# end, for its totals
verb_ctl() {
	local run=${T410_MACHINE_RUN:-$MACHINE_DIR/runs/last}
	[ $# -gt 0 ] || die_usage "ctl: what?"
	[ -e "$run/shm" ] || die "no run has taken place yet in $MACHINE_DIR"
	use_emulation
	"$EMULATION/t410ctl" "$run/shm" "$@"
}
