#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# sysroot.sh ARCH DIR: static libraries of another (or this) architecture for a
# static build. They come from the package sources this machine already uses, with
# its keys, through a package state of our own: nothing is installed and the
# machine's own list of architectures stays as it is.
set -eu
arch=$1 dir=$2
packages="libbpf-dev libelf-dev zlib1g-dev libjansson-dev libcap-dev libsqlite3-dev uthash-dev"
work=$dir.tmp

command -v apt-get > /dev/null || {
	echo "sysroot.sh: this needs apt-get (Debian); on other systems unpack $packages for $arch into $dir" >&2
	exit 1
}
rm -rf "$work"
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/debs" "$work/root"
: > "$work/status"
work=$(cd "$work" && pwd)
set -- -q -o "Dir::State::Lists=$work/lists" -o "Dir::State::Status=$work/status" \
	-o "Dir::Cache=$work/cache" -o "APT::Architecture=$arch" -o "APT::Architectures=$arch" \
	-o "Acquire::Languages=none" -o "APT::Sandbox::User=$(id -un)"

echo "fetching static libraries for $arch: $packages"
{
	apt-get "$@" update
	# shellcheck disable=SC2086  # a list of words
	(cd "$work/debs" && apt-get "$@" download $packages)
} > "$work/log" 2>&1 || {
	tail -n 5 "$work/log" >&2
	echo "sysroot.sh: the download failed; whole log in $work/log" >&2
	exit 1
}
for deb in "$work"/debs/*.deb; do dpkg-deb -x "$deb" "$work/root"; done
rm -rf "$dir"
mv "$work/root" "$dir"
rm -rf "$work"
