#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# generate.sh BTF OUT COMPILE...: write the minimal vmlinux.h for one architecture.
#
# BTF      type information of a kernel: /sys/kernel/btf/vmlinux, or a vmlinux file
# OUT      the header to write
# COMPILE  command that compiles the BPF objects against the header in folder $1 and
#          prints their paths
#
# The header holds just the types and members that the BPF programs use. Offsets
# do not matter: every access is relocated when the program is loaded (CO-RE), so
# padding is dropped and the header can be read and reviewed.
set -eu
btf=$1 out=$2
shift 2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

mkdir "$tmp/full"
bpftool btf dump file "$btf" format c > "$tmp/full/vmlinux.h"
objects=$("$@" "$tmp/full")
# shellcheck disable=SC2086  # a list of files
bpftool gen min_core_btf "$btf" "$tmp/min.btf" $objects
bpftool btf dump file "$tmp/min.btf" format c > "$tmp/min.h"
{
	cat <<'END'
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kernel types the BPF programs use; made by "make vmlinux", not by hand.
 * Members only, no padding: CO-RE finds the offsets when a program is loaded.
 */
END
	# types.h has the fixed-width types already, and bpf.h contexts of programs and numbers of helpers
	sed -e '/^struct __sk_buff {$/,/^};$/d' -e '/^enum bpf_func_id {$/,/^};$/d' "$tmp/min.h" |
		grep -vE '^	(long|int|short|char): [0-9]+;$|^	: 0;$|^typedef .* __[us](8|16|32|64);$' |
		sed 's/^#define __VMLINUX_H__$/&\n\n#include <linux\/bpf.h>\n#include <stdbool.h>/' |
		cat -s
} > "$tmp/out.h"
mv "$tmp/out.h" "$out"
