#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# deps.sh [--list | --clangs | PACKAGE...]: install the Debian packages that building and testing need
# and that are missing, and PACKAGE. Needs root or sudo only if something is missing. --clangs: only
# list the numbers N of the packages clang-N that this release has, from 13 on, the oldest first.
#
# Debian 12, 13 and testing have all of these names. Not all have the optional ones, which are
# installed where they exist: tests/style.sh wants this clang-format and no other.
set -eu
case $(uname -m) in
aarch64) emulator="qemu-system-arm qemu-efi-aarch64" ;;
*) emulator=qemu-system-x86 ;;
esac
build="clang bpftool libbpf-dev libelf-dev zlib1g-dev libjansson-dev libcap-dev libpci-dev libsqlite3-dev
	libmicrohttpd-dev libncurses-dev uthash-dev libjs-dygraphs gcc make libc6-dev"
cross="gcc-aarch64-linux-gnu libc6-dev-arm64-cross dpkg-dev"
test="ccache libcmocka-dev systemd iproute2 mount python3 python3-jsonschema valgrind shellcheck man-db procps
	libclang-rt-dev tmux prometheus python3-yaml stunnel4 openssl
	build-essential debhelper dh-apparmor"
bench="linux-perf libbpf-tools"
# the emulator is for "make check-kernel"; the virtual T410 brings its own
machine="$emulator busybox-static acpica-tools flex bison bc libssl-dev cpio xz-utils kmod dwarves
	debian-archive-keyring"
optional="clang-format-14"
# shellcheck disable=SC2086  # lists of words, here and below
required=$(printf '%s ' $build $cross $test $bench $machine)

if [ "${1:-}" = --list ]; then
	echo "$required$optional"
	exit 0
fi
if [ "${1:-}" = --clangs ]; then
	apt-cache -q search --names-only '^clang-[0-9]+$' | sed -n 's/^clang-\([0-9]*\) .*/\1/p' | sort -n |
		while read -r n; do [ "$n" -lt 13 ] || echo "$n"; done
	exit
fi
required=$required$*
command -v dpkg-query > /dev/null || {
	echo "deps.sh: not a Debian system: please install by hand what these packages hold (README.md," >&2
	echo "\"Build\", names those of other systems as far as \"make\" needs them):" >&2
	echo "$required$optional" >&2
	exit 1
}

# not_installed PACKAGE...: those of them
not_installed() {
	for p; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2> /dev/null)" = installed ] || printf ' %s' "$p"
	done
}

# known PACKAGE...: those that this release has, by apt's lists
known() {
	for p; do
		[ -z "$(apt-cache -q show "$p" 2> /dev/null)" ] || printf ' %s' "$p"
	done
}

# shellcheck disable=SC2046,SC2086
missing=$(not_installed $required $(known $optional))
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
# Fresh systems have no lists: what is optional is asked for once they are there.
# shellcheck disable=SC2046,SC2086
{
	$sudo apt-get -q update &&
		$sudo env DEBIAN_FRONTEND=noninteractive apt-get -y -q --no-install-recommends install \
			$(not_installed $required $(known $optional))
} > "$log" 2>&1 || {
	tail -n 15 "$log" >&2
	echo "deps.sh: apt-get failed, see $log" >&2
	exit 1
}
rm -f "$log"
# Tests start it themselves; what Debian starts at once is not wanted on this machine.
for p in prometheus redis-server; do
	case " $missing " in
	*" $p "*) [ ! -d /run/systemd/system ] || $sudo systemctl disable -q --now "$p" ;;
	esac
done
