#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# packages.sh [PART...]: what people install, made of the tree as it is; all parts, or those named:
#
#   debs      Debian's packages: equal twice, what is in them, lintian, the profile of AppArmor
#   deb-12, deb-13  in a fresh system: install, upgrade from the commit before, the way back,
#             removal and purge, with accounts that a daemon keeps meanwhile
#   commands  what INSTALL.md and README.md say to do, in a fresh Debian 12, as committed
#   rpm       packages of rpm: rpmlint; install, upgrade and removal by Debian's rpm
#   image     for both architectures; equal twice, run, pushed under one name
#   pod       the container of Kubernetes' manifest, from the image
#   manifest  by the types of Kubernetes' API
#
# Prints when each step begins and a line "ok" or "not ok" for it; what commands say is in
# build/test-logs/packages-*.log. A part that fails does not keep others from running. Needs root
# and network.
#
# Environment: KEEP    1: systems and packages stay, in build/packages, and are taken again
#              BEFORE  the commit before (default: HEAD^)
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tests/roots.sh
logs=$PWD/build/test-logs work=$PWD/build/packages
before=$work/before
# no other test has jobs of these numbers
job=$((3000000000 + $$))
tree=$(findmnt -n -o TARGET -t cgroup2 | head -n 1)/t410packages-$$
native=amd64
[ "$(uname -m)" != aarch64 ] || native=arm64
# debhelper gives builds another home
CCACHE_DIR=$(ccache -k cache_dir 2> /dev/null)
export CCACHE_DIR CCACHE_NOHASHDIR=1 PATH=/usr/lib/ccache:$PATH
. tests/packages/debian.sh
. tests/packages/commands.sh
. tests/packages/rpm.sh
. tests/packages/image.sh
PARTS=(debs deb-12 deb-13 commands rpm image pod manifest)

# try NAME COMMAND...: a line with what came of it. The command has a group of processes of its own,
# which ends with this script. Not every mirror has source packages, which static programs need.
child=
try() {
	local name=packages\ $1 log=$logs/packages-${1//[^A-Za-z0-9.]/-}.log status
	echo "# at $SECONDS s: $1"
	shift
	set -m
	"$@" > "$log" 2>&1 < /dev/null &
	child=$!
	set +m
	wait $child
	status=$?
	child=
	if [ $status = 0 ]; then
		echo "ok $name"
	elif grep -q '^static-lib.sh: .*cannot be had' "$log"; then
		echo "skip $name: $(grep -m 1 '^static-lib.sh: ' "$log")"
		return 1
	else
		echo "not ok $name: status $status, see $log"
		tail -n 5 "$log"
		return 1
	fi
}

# clean: whatever ended the script, nothing is left but packages and logs
clean() {
	# once is enough
	trap '' INT TERM HUP
	[ -z "$child" ] || { kill -KILL -- -"$child" && sleep 1; }
	find "$tree" -depth -type d -exec rmdir {} \; 2> /dev/null
	[ "${KEEP:-}" = 1 ] || remove "$work"
}

# system RELEASE ROOT: a fresh one, copied from what debootstrap makes once
system() {
	local base=$work/base-$1
	if [ ! -e "$base/root/ready" ]; then
		remove "$base" && make_root "$1" "$base" ca-certificates &&
			inside "$base" "apt-get -q update" && touch "$base/root/ready" || return
	fi
	remove "$2" && cp -a "$base" "$2"
}

# tree_before: that of the commit before
tree_before() {
	[ ! -e "$before/Makefile" ] || return 0
	git clone -q --no-hardlinks . "$before" &&
		git -C "$before" checkout -q "$commit_before"
}

part_manifest() {
	if command -v npm > /dev/null; then
		tests/kubernetes.py types "$work/types" ||
			echo "not ok packages manifest: kubernetes.py ended with $?"
	else
		echo "skip packages manifest: no npm, which fetches the types of Kubernetes' API"
	fi
}

[ "$(id -u)" = 0 ] || stop "debootstrap and chroot need root"
[ $# -gt 0 ] || set -- "${PARTS[@]}"
for part; do
	[[ " ${PARTS[*]} " == *" $part "* ]] || stop "no part \"$part\"; parts are: ${PARTS[*]}"
done
packaging/deps.sh debootstrap lintian apparmor rpm rpmlint buildah runc curl qemu-user-static |
	sed 's/^/# /' || exit 1
read -r version _ < <(packaging/version.sh)
commit_before=$(git rev-parse "${BEFORE:-HEAD^}") || exit 1
trap clean EXIT
trap 'exit 1' INT TERM HUP
mkdir -p "$logs" "$work"
for part; do
	case $part in
	deb-12) debian "$part" bookworm ;;
	deb-13) debian "$part" trixie ;;
	*) "part_$part" ;;
	esac
done
exit 0
