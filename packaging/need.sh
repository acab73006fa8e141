#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# need.sh COMPILER...: is there what a build needs? The arguments are the compiler
# with the flags that lead it to its headers; DYGRAPHS is the folder of that library.
set -u
missing=
for tool in clang bpftool; do
	PATH=$PATH:/usr/sbin command -v "$tool" > /dev/null || missing="$missing $tool"
done
for header in bpf/libbpf.h libelf.h zlib.h jansson.h sys/capability.h pci/pci.h sqlite3.h microhttpd.h curses.h uthash.h; do
	echo "#include <$header>" | "$@" -E -x c - > /dev/null 2>&1 || missing="$missing $header"
done
for file in dygraph.min.js dygraph.min.css; do
	[ -r "$DYGRAPHS/$file" ] || missing="$missing $DYGRAPHS/$file"
done
[ -n "$missing" ] || exit 0
echo "missing for the build:$missing" >&2
echo "on Debian \"make deps\" installs it; packages: $(dirname "$0")/deps.sh --list" >&2
exit 1
