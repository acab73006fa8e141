#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# static-lib.sh LIB ARCH DIR: the static library LIB ("pci", "microhttpd" or "elf") for the sysroot DIR.
# They are built here from Debian's own source packages, because Debian has no static libpci, its
# static libmicrohttpd wants GnuTLS, which has no static library, and since Debian 13 its static libelf
# lacks functions that it calls. What a program on any machine cannot have or does not use is left out:
# names by DNS, udev's database, libkmod; HTTPS, digests, uploads; sections compressed with zstd. The
# mirror is the one this machine is configured for, the keys are those it trusts, the package state
# is our own.
#
# libpci is GPL-2.0-or-later: programs with it in them are under the GPL. libmicrohttpd is
# LGPL-2.1-or-later, libelf GPL-2.0-or-later or LGPL-3.0-or-later, whose terms that fulfils.
set -eu
lib=$1 arch=$2 dir=$(cd "$3" && pwd)
case $lib in
pci) source=pciutils ;;
microhttpd) source=libmicrohttpd ;;
elf) source=elfutils ;;
*) echo "static-lib.sh: $lib: only pci, microhttpd and elf are known" >&2; exit 1 ;;
esac
case $arch in
arm64) triplet=aarch64-linux-gnu ;;
amd64) triplet=x86_64-linux-gnu ;;
riscv64) triplet=riscv64-linux-gnu ;;
*) echo "static-lib.sh: $arch: only arm64, amd64 and riscv64 are supported" >&2; exit 1 ;;
esac
keys=/usr/share/keyrings/debian-archive-keyring.gpg
work=$dir.lib$lib

fail() {
	[ ! -s "$work/log" ] || tail -n 5 "$work/log" >&2
	echo "static-lib.sh: lib$lib: $1; whole log in $work/log" >&2
	exit 1
}

for tool in apt-get dpkg-source make "$triplet-gcc"; do
	command -v $tool > /dev/null || {
		echo "static-lib.sh: this needs $tool (make deps installs it on Debian); on other systems put a static lib$lib.a and its headers into $dir/usr" >&2
		exit 1
	}
done
rm -rf "$work"
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/sources" "$work/unpacked"
: > "$work/status"
where=$("$(dirname "$0")/mirror.sh")
[ -n "$where" ] || fail "apt of this machine has no mirror of its release configured"
mirror=${where% *} release=${where#* }
# most machines are not configured for source packages
{
	printf 'Types: deb-src\nURIs: %s\nSuites: %s\nComponents: main\n' "$mirror" "$release"
	[ ! -r $keys ] || echo "Signed-By: $keys"
} > "$work/sources/source.sources"
set -- -q -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$work/sources" \
	-o "Dir::State::Lists=$work/lists" -o "Dir::State::Status=$work/status" -o "Dir::Cache=$work/cache" \
	-o Acquire::Languages=none -o "APT::Sandbox::User=$(id -un)" -o APT::Update::Error-Mode=any

echo "building static lib$lib for $arch"
apt-get "$@" update > "$work/log" 2>&1 || fail "the source package $source cannot be had: no lists of packages"
# apt checks the signature of the lists and by them each file
(cd "$work/unpacked" && apt-get "$@" --only-source source "$source") > "$work/log" 2>&1 || fail "the source package $source cannot be had"
mv "$work/unpacked/$source"-*/ "$work/$source"
flags="-O2 -isystem $dir/usr/include -isystem $dir/usr/include/$triplet"

build_pci() {
	make -C "$work/pciutils" "CROSS_COMPILE=$triplet-" "HOST=$triplet" SHARED=no ZLIB=yes DNS=no LIBKMOD=no HWDB=no \
		PREFIX=/usr IDSDIR=/usr/share/misc OPT="$flags" lib/libpci.a
}

# --host makes configure take the cross compiler; without --build it would guess a machine
build_microhttpd() (
	cd "$work/libmicrohttpd" &&
		./configure "--host=$triplet" "--build=$(gcc -dumpmachine)" --disable-shared --enable-static \
			--disable-https --disable-doc --disable-examples --disable-curl --disable-bauth --disable-dauth \
			--disable-postprocessor --disable-nls "CC=$triplet-gcc" "CFLAGS=$flags" &&
		make -C src/microhttpd libmicrohttpd.la
)

# Its functions are spread over two archives, of which Debian ships one. zlib is there, but linked
# with a C library that may be newer than the one configure tries it with. The second archive has a
# crc32() of its own, which returns 32 bits where zlib's has a long: linked in its place, it is wrong
# on RISC-V, which extends the sign. Nothing of libelf calls it.
build_elf() (
	cd "$work/elfutils" &&
		./configure "--host=$triplet" "--build=$(gcc -dumpmachine)" --enable-static --disable-nls \
			--disable-debuginfod --disable-libdebuginfod --without-zstd --without-bzlib --without-lzma \
			ac_cv_search_gzdirect=-lz "CC=$triplet-gcc" "CFLAGS=$flags" &&
		make -C lib libeu.a && make -C libelf libelf.a &&
		rm -f lib/crc32*.o &&
		${AR:-ar} q libelf/libelf.a lib/*.o
)

"build_$lib" > "$work/log" 2>&1 || fail "the build failed"
case $lib in
pci) made=$work/pciutils/lib/libpci.a ;;
microhttpd) made=$work/libmicrohttpd/src/microhttpd/.libs/libmicrohttpd.a ;;
elf) made=$work/elfutils/libelf/libelf.a ;;
esac
# functions NAME ARCHIVE: names of what it defines, in a file
functions() { "$triplet-nm" -g --defined-only "$2" 2> /dev/null | awk 'NF == 3 { print $3 }' | sort -u > "$work/$1"; }
# of two functions of one name the linker takes the one that it sees first
functions ours "$made"
functions zlib "$dir/usr/lib/$triplet/libz.a"
same=$(comm -12 "$work/ours" "$work/zlib")
[ -s "$work/zlib" ] || fail "the names of zlib's functions cannot be read"
[ -z "$same" ] || fail "it defines what zlib defines, too: $same"

mkdir -p "$dir/usr/include/pci" "$dir/usr/lib/$triplet"
case $lib in
pci) for header in config header pci types; do cp "$work/pciutils/lib/$header.h" "$dir/usr/include/pci/"; done ;;
microhttpd) cp "$work/libmicrohttpd/src/include/microhttpd.h" "$dir/usr/include/" ;;
esac
# the library last: its presence says that all is there
cp "$made" "$dir/usr/lib/$triplet/lib$lib.a"
rm -rf "$work"
