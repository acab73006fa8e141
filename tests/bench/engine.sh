#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# engine.sh FOLDER: what estimating, replaying, long intervals and keeping accounts cost, as tables. The programs are in
# FOLDER; "make bench-engine" builds them. Like bench.sh, it judges no figure.
set -eu

if [ $# != 1 ] || [ ! -x "$1/estimate" ] || [ ! -x "$1/replay" ] || [ ! -x "$1/accounts" ] || [ ! -x "$1/store" ] || [ ! -x "$1/memory" ] || [ ! -x "$1/large" ]; then
	echo "usage: engine.sh FOLDER" >&2
	exit 2
fi
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

"$1/estimate"
echo
"$1/jobs"
echo
"$1/replay" "$files"
echo
"$1/large" "$files"
echo
"$1/memory"
echo
"$1/top"
echo
"$1/accounts"
echo
"$1/store" "$files"
echo
