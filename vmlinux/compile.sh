#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# compile.sh DIR: compile the BPF objects against the vmlinux.h in DIR; prints their
# paths. Used by generate.sh, see there.
set -eu
out=$1/objects
mkdir -p "$out"
for f in bpf/*.bpf.c; do
	clang -O2 -g -target bpf -mcpu=v3 -fms-extensions -Wno-microsoft-anon-tag -I"$1" -Ibpf -Iinclude \
		-idirafter "/usr/include/$(gcc -print-multiarch)" -c "$f" -o "$out/$(basename "$f" .c).o" >&2
done
# the linker wants the definitions of maps.bpf.c first; lookup.bpf.c is an object of its own
others=$(find "$out" -name '*.bpf.o' ! -name maps.bpf.o ! -name lookup.bpf.o | sort)
# shellcheck disable=SC2086  # a list of files
bpftool gen object "$out/all.o" "$out/maps.bpf.o" $others
echo "$out/all.o $out/lookup.bpf.o"
