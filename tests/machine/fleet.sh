# shellcheck shell=bash disable=SC2154  # run.sh sources this; its variables
# SPDX-License-Identifier: GPL-2.0-only
# Part of run.sh: the second and the third machine of a cluster, which run beside the first one. See
# guest_fleet.sh. In the folder "fleet" of all three are signs, "end" at the end.

FLEET_PORT=$((20000 + $$ % 10000))	# of the network: one for each run
FLEET=()				# processes of both machines, and of what switches one off

# fleet_begin FOLDER OPTION...: boots them, with these options of the machine
fleet_begin() {
	local folder=$1 number
	shift
	rm -rf "$folder/fleet"
	mkdir "$folder/fleet"
	FLEET=()
	for number in 2 3; do
		setpriv --pdeathsig TERM "$MACHINE" "$@" --net "$FLEET_PORT:$number" -- sh guest.sh "fleet_node$number" \
			> "$folder/machine-fleet-$number.log" 2>&1 < /dev/null &
		FLEET+=($!)
	done
	fleet_switch "$folder/fleet" "$!" &
	FLEET+=($!)
}

# fleet_switch FOLDER MACHINE: switches the third machine off when the first one asks for that
fleet_switch() {
	until [ -e "$1/kill.3" ]; do
		[ -d "$1" ] && [ ! -e "$1/end" ] || return 0
		sleep 0.5
	done
	# its clock is that of QEMU's parent, which ends with it
	pkill -KILL -P "$(pgrep -P "$2" -x timeout)" && : > "$1/killed.3"
}

# fleet_end FOLDER: when the first one has ended; says what went wrong with the second. The third one
# has been killed.
fleet_end() {
	: > "$1/fleet/end"
	wait "${FLEET[0]}" || problems+=("the second machine ended with status $?: $(tail -n 1 "$1/machine-fleet-2.log")")
	wait "${FLEET[1]}" "${FLEET[2]}" || true
	sed 's/^/# /' "$1"/machine-fleet-[23].log
}
