#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# package.sh: Debian's package t410trace of the tree as it is, installed on this machine and purged.
# What that writes is in memory, above the machine's own files, and gone at the end.
# tests/packages.sh does more, in fresh systems. Prints "ok", "not ok" or "skip".
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
log=$PWD/build/test-logs/package.log
mkdir -p "${log%/*}"
above=$(mktemp -d)
trap 'rmdir "$above"' EXIT

build() {
	local names
	names=$(packaging/deb.sh build/deb-check) || return
	package=$(grep '/t410trace_' <<< "$names")
}

# on_top COMMAND: in a copy of this machine's files that is written when it is changed. No service is
# there, and the package's settings are not those of a t410trace that is installed.
on_top() {
	# shellcheck disable=SC2016  # for the shell in the namespace
	unshare --mount --propagation private sh -euc '
		mount -t tmpfs tmpfs "$1"
		mkdir "$1/new" "$1/work" "$1/root"
		mount -t overlay overlay -o "lowerdir=/,upperdir=$1/new,workdir=$1/work" "$1/root"
		for folder in dev proc; do mount --rbind /$folder "$1/root/$folder"; done
		rm -rf "$1/root/etc/t410trace" "$1/root/var/lib/t410trace" "$1/root/var/spool/t410trace"
		cp "$2" "$1/root/package.deb"
		exec chroot "$1/root" sh -euxc "$3"' sh "$above" "$package" "$1"
}

# shellcheck disable=SC2016  # for the shell there
commands='
	dpkg -i /package.deb
	/usr/bin/t410trace --version
	stat -c "%A %U %G" /var/lib/t410trace | grep -x "drwxr-s--- root t410trace"
	[ -z "$(dpkg -V t410trace)" ]
	dpkg -P t410trace
	for file in usr/bin usr/share etc var/lib; do [ ! -e /$file/t410trace ]; done
	! getent group t410trace'

# try NAME COMMAND...
try() {
	local name=$1
	shift
	if "$@" >> "$log" 2>&1; then
		echo "ok $name"
	else
		echo "not ok $name: see $log"
		tail -n 10 "$log"
		return 1
	fi
}

: > "$log"
package=
try "package build" build || exit 0
if [ "$(id -u)" = 0 ]; then
	try "package install and purge" on_top "$commands"
else
	echo "skip package install and purge: not root"
fi
exit 0
