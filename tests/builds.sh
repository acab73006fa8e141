#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Builds as results; included by build.sh and clangs.sh, in the folder of the repository.
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# build NAME FILE ARGUMENTS...: FILE from nothing: its folder is removed first
build() {
	rm -rf "${2%/*}"
	link "$@"
}

# link NAME FILE ARGUMENTS...: the same of objects that are there. What make prints besides commands
# is a warning. A static program needs two source packages (packaging/static-lib.sh), which not every
# mirror has.
link() {
	local name=$1 file=$2
	shift 2
	if make -s -j"$(nproc)" "$@" > "$log" 2>&1; then
		if grep -qi warning "$log"; then
			echo "not ok $name: warnings"
			grep -i -A3 warning "$log" | head -n 20
		elif [ ! -e "$file" ]; then
			echo "not ok $name: no $file"
		else
			echo "ok $name"
			return 0
		fi
	elif grep -q '^static-lib.sh: .*cannot be had' "$log"; then
		echo "skip $name: $(grep -m 1 '^static-lib.sh: ' "$log")"
	else
		echo "not ok $name: failed"
		tail -n 20 "$log"
	fi
	return 1
}
