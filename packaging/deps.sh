#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# deps.sh [--list]: install the Debian packages that building and testing need and
# that are missing. Needs root or sudo only if something is missing.
set -eu
build="clang bpftool libbpf-dev libelf-dev zlib1g-dev libjansson-dev libcap-dev libpci-dev libsqlite3-dev libmicrohttpd-dev uthash-dev gcc make libc6-dev"
cross="gcc-aarch64-linux-gnu libc6-dev-arm64-cross dpkg-dev"
test="libcmocka-dev systemd iproute2 mount python3 python3-jsonschema valgrind clang-format shellcheck man-db procps libclang-rt-14-dev prometheus python3-yaml"
bench="linux-perf libbpf-tools"
machine="qemu-system-x86 busybox-static qemu-system-arm qemu-efi-aarch64 acpica-tools flex bison bc libssl-dev cpio xz-utils kmod dwarves debian-archive-keyring"

if [ "${1:-}" = --list ]; then
	echo "$build $cross $test $bench $machine"
	exit 0
fi
command -v dpkg-query > /dev/null || {
	echo "deps.sh: not a Debian system: please install by hand what these packages hold:" >&2
	echo "$build $cross $test $bench $machine" >&2
	exit 1
}
missing=
for p in $build $cross $test $bench $machine; do
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2> /dev/null)" = installed ] || missing="$missing $p"
done
[ -n "$missing" ] || exit 0

sudo=
if [ "$(id -u)" != 0 ]; then
	command -v sudo > /dev/null || {
		echo "deps.sh: please install as root:$missing" >&2
		exit 1
	}
	sudo=sudo
fi
echo "installing:$missing"
log=$(mktemp)
# shellcheck disable=SC2086  # a list of words
{
	$sudo apt-get -q update &&
		$sudo env DEBIAN_FRONTEND=noninteractive apt-get -y -q --no-install-recommends install $missing
} > "$log" 2>&1 || {
	tail -n 15 "$log" >&2
	echo "deps.sh: apt-get failed, see $log" >&2
	exit 1
}
rm -f "$log"
# Tests start it themselves; what Debian starts at once is not wanted on this machine.
case " $missing " in
*" prometheus "*) [ ! -d /run/systemd/system ] || $sudo systemctl disable -q --now prometheus ;;
esac
