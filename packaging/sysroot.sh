#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# sysroot.sh ARCH DIR: libraries of another (or this) architecture, static and shared, with what
# the shared ones need themselves. Nothing is installed, see foreign.sh. DIR/.complete is made last.
set -eu
arch=$1 dir=$2
packages="libbpf-dev libelf-dev zlib1g-dev libjansson-dev libcap-dev libsqlite3-dev libpci-dev libmicrohttpd-dev
	libncurses-dev uthash-dev"
work=$dir.tmp

command -v apt-get > /dev/null || {
	echo "sysroot.sh: this needs apt-get (Debian); on other systems unpack $packages for $arch into $dir" >&2
	exit 1
}
case $arch in
arm64) triplet=aarch64-linux-gnu ;;
amd64) triplet=x86_64-linux-gnu ;;
# with a C library of their own: the compiler's is older than what these were built with
riscv64) triplet=riscv64-linux-gnu packages="$packages libc6-dev" ;;
*) echo "sysroot.sh: $arch: only arm64, amd64 and riscv64 are supported" >&2; exit 1 ;;
esac
rm -rf "$work"
mkdir -p "$work/debs" "$work/root"
"$(dirname "$0")/foreign.sh" "$arch" "$work"
work=$(cd "$work" && pwd)
export APT_CONFIG="$work/apt.conf"

# libraries: of all that would be installed, what has shared libraries. The compiler has a C library
# to link with; only the one to run with is missing.
libraries() {
	# shellcheck disable=SC2086  # a list of words
	apt-get -q --simulate install $packages |
		awk '$1 == "Inst" && $2 ~ /^(lib|zlib)/ && $2 !~ /-(dev|bin|data|common)$/ { print $2 }'
}

echo "fetching libraries for $arch"
# shellcheck disable=SC2086  # a list of words
{
	apt-get -q update &&
		libraries > "$work/names" &&
		(cd "$work/debs" && xargs apt-get -q download $packages < "$work/names")
} > "$work/log" 2>&1 || {
	tail -n 5 "$work/log" >&2
	echo "sysroot.sh: the download failed; whole log in $work/log" >&2
	exit 1
}
for deb in "$work"/debs/*.deb; do dpkg-deb -x "$deb" "$work/root"; done
lib=$work/root/usr/lib/$triplet
# some are outside of /usr in Debian 12, with links to there
[ ! -d "$work/root/lib/$triplet" ] || cp -a "$work/root/lib/$triplet/." "$lib/"
for link in "$lib"/*.so*; do
	case $(readlink "$link") in
	/*) ln -sf "$(basename "$(readlink "$link")")" "$link" ;;
	esac
done
# scripts of the linker name files of a machine where they are installed: here they are beside them
for script in $(grep -lI '^GROUP' "$lib"/*.so); do sed -E -i 's#/(usr/)?lib/([a-z0-9-]+/)?##g' "$script"; done
# it wants GnuTLS, which has no static library; static-lib.sh makes another
rm -f "$lib/libmicrohttpd.a"
# Debian 13's lacks functions that it calls; the same
[ "$arch" != riscv64 ] || rm -f "$lib/libelf.a"
touch "$work/root/.complete"
rm -rf "$dir"
mv "$work/root" "$dir"
rm -rf "$work"
