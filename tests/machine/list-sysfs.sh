#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Print the PMUs of sysfs as tests/fixtures/t410-sysfs.txt has them. Runs on a
# T410 or in the virtual one:
#
#	tests/machine/run --dir tests/machine -- sh /host/list-sysfs.sh
#
# Each line is a path relative to /sys, a tab, and the content of the file with
# backslash, tab and newline written as \\, \t and \n, or "-> " and the target
# of a symbolic link. Of PMUs other than NVIDIA's there is only the type file:
# they are there to be left alone.
#
# PMUs get their type numbers in the order in which the drivers happen to load.
# They are numbered from 32 in order of names here, so that two listings of one
# machine are equal.
set -eu
export LC_ALL=C
cd /sys/bus/event_source/devices

escape='
FNR == 1 { finish(); name = FILENAME; text = "" }
{ gsub(/\\/, "\\\\"); gsub(/\t/, "\\t"); text = text $0 "\\n" }
END { finish() }
function finish() { if (name != "") printf "%s\t%s\n", name, text }
'

type=32
for link in *; do
	dir=$(readlink -f "$link")
	dir=${dir#/sys/}
	printf 'bus/event_source/devices/%s\t-> %s\n' "$link" "$(readlink "$link")"
	printf '%s/type\t%d\\n\n' "$dir" "$type"
	type=$((type + 1))
	case $link in
	nvidia_*)
		(cd /sys && find "$dir" -name power -prune -o -type f ! -name uevent ! -name type \
			-print | sort | xargs awk "$escape")
		;;
	esac
done
