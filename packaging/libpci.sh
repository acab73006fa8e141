#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# libpci.sh ARCH DIR: a static libpci for the sysroot DIR. Debian has the shared one
# only, so it is built here from Debian's own source package, without what a program on any
# machine cannot have: names by DNS, udev's database, libkmod. The mirror is the one this
# machine is configured for, the keys are those it trusts, the package state is our own.
#
# libpci is GPL-2.0-or-later: programs with it in them are under the GPL.
set -eu
arch=$1 dir=$(cd "$2" && pwd)
case $arch in
arm64) triplet=aarch64-linux-gnu ;;
amd64) triplet=x86_64-linux-gnu ;;
*) echo "libpci.sh: $arch: only arm64 and amd64 are supported" >&2; exit 1 ;;
esac
keys=/usr/share/keyrings/debian-archive-keyring.gpg
work=$dir.libpci

fail() {
	[ ! -s "$work/log" ] || tail -n 5 "$work/log" >&2
	echo "libpci.sh: $1; whole log in $work/log" >&2
	exit 1
}

for tool in apt-get dpkg-source make "$triplet-gcc"; do
	command -v $tool > /dev/null || {
		echo "libpci.sh: this needs $tool (make deps installs it on Debian); on other systems put libpci.a and pci/*.h into $dir/usr" >&2
		exit 1
	}
done
rm -rf "$work"
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/sources" "$work/src"
: > "$work/status"
# shellcheck disable=SC1091
release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
# shellcheck disable=SC2016  # apt fills these in
mirror=$(apt-get indextargets --no-release-info --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
	awk -v release="$release" '$2 == release && $3 == "main" && !found { found = $1 } END { print found }')
[ -n "$mirror" ] || fail "apt of this machine has no mirror of $release configured"
# most machines are not configured for source packages
{
	printf 'Types: deb-src\nURIs: %s\nSuites: %s\nComponents: main\n' "$mirror" "$release"
	[ ! -r $keys ] || echo "Signed-By: $keys"
} > "$work/sources/source.sources"
set -- -q -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$work/sources" \
	-o "Dir::State::Lists=$work/lists" -o "Dir::State::Status=$work/status" -o "Dir::Cache=$work/cache" \
	-o Acquire::Languages=none -o "APT::Sandbox::User=$(id -un)" -o APT::Update::Error-Mode=any

echo "building static libpci for $arch"
apt-get "$@" update > "$work/log" 2>&1 || fail "no package lists"
# apt checks the signature of the lists and by them each file
(cd "$work/src" && apt-get "$@" --only-source source pciutils) > "$work/log" 2>&1 || fail "the download failed"
mv "$work"/src/pciutils-*/ "$work/pciutils"
make -C "$work/pciutils" "CROSS_COMPILE=$triplet-" "HOST=$triplet" SHARED=no ZLIB=yes DNS=no LIBKMOD=no HWDB=no \
	PREFIX=/usr IDSDIR=/usr/share/misc OPT="-O2 -isystem $dir/usr/include -isystem $dir/usr/include/$triplet" \
	lib/libpci.a > "$work/log" 2>&1 || fail "the build failed"
mkdir -p "$dir/usr/include/pci" "$dir/usr/lib/$triplet"
for header in config header pci types; do cp "$work/pciutils/lib/$header.h" "$dir/usr/include/pci/"; done
# last: its presence says that all is there
cp "$work/pciutils/lib/libpci.a" "$dir/usr/lib/$triplet/libpci.a"
rm -rf "$work"
