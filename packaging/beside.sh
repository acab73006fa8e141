#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# beside.sh PROGRAM LIBRARIES OUT: copies the loader and the shared libraries that PROGRAM needs, and
# those that they need, from the folder LIBRARIES into the folder OUT.
set -eu
program=$1 libraries=$2 out=$3
rm -rf "$out"
mkdir -p "$out"

# needed FILE...: names of libraries
needed() { readelf -d "$@" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; }

# add NAME: with all that it needs itself
add() {
	[ ! -e "$out/$1" ] || return 0
	[ -e "$libraries/$1" ] || {
		echo "beside.sh: no $1 in $libraries, which $program needs" >&2
		exit 1
	}
	cp -L "$libraries/$1" "$out/$1"
	for name in $(needed "$libraries/$1"); do add "$name"; done
}

add "$(basename "$(readelf -l "$program" | sed -n 's/.*program interpreter: \(.*\)\]/\1/p')")"
for name in $(needed "$program"); do add "$name"; done
