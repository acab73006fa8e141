#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# fresh.sh [RELEASE...]: is what README.md promises true of a Debian release that has just been
# installed, with git, gcc and make? For each release (bookworm, trixie and testing) debootstrap makes
# a folder with such a system, the project is cloned into it, as committed, and "make" runs there.
#
# What the commands say is in build/test-logs/fresh-RELEASE-*.log; here are a line "ok" or "not ok" for
# each, with its time and tally, and a tally of all. Needs root, network, 8 GB in build/.
#
# Environment: PARTS  "short" (default): demo, unit and live tests, all clangs, five scenarios of the
#                     virtual T410;
#                     "all": make demo, make check and make check-clangs; or names of make check's parts
#              KEEP   1: the folders stay, in build/fresh
#
# Whatever is mounted is mounted in a namespace of the processes inside: when they end, nothing is left.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
logs=$PWD/build/test-logs
SCENARIOS=(conservation tenants stat_counts grace_conservation systemd)
passed=0 failed=0

stop() {
	echo "fresh.sh: $*" >&2
	exit 2
}

# inside ROOT COMMAND: in a system of its own, but for the kernel's folders: live tests want all of them
inside() {
	# shellcheck disable=SC2016  # for the shell in the namespace
	# "ip -n" wants the root folder to be where something is mounted
	unshare --mount --propagation private bash -c '
		mount --bind "$1" "$1" || exit 125
		for folder in dev proc sys; do mount --rbind /$folder "$1/$folder" || exit 125; done
		mountpoint -q "$1/sys/fs/bpf" || mount -t bpf bpf "$1/sys/fs/bpf"
		mountpoint -q "$1/sys/kernel/tracing" || mount -t tracefs tracefs "$1/sys/kernel/tracing"
		mount -t tmpfs tmpfs "$1/run" || exit 125
		exec chroot "$1" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C \
			${http_proxy:+http_proxy="$http_proxy"} sh -c "cd /root/t410trace && $2"' inside "$1" "$2" < /dev/null
}

# remove ROOT: an earlier system; never what something is mounted in
remove() {
	! grep -qF " $1/" /proc/self/mountinfo || stop "something is mounted in $1"
	rm -rf --one-file-system "${1:?}"
}

# install RELEASE ROOT: apt's own settings of downloads are those of this machine
install() {
	local mirror
	mirror=$(packaging/mirror.sh | cut -d ' ' -f 1)
	[ -n "$mirror" ] || stop "apt of this machine has no Debian mirror configured"
	debootstrap --variant=minbase --include=git,gcc,make,ca-certificates "$1" "$2" "$mirror" &&
		apt-config dump | grep -E '^Acquire::(Check-|https?:|Retries)' > "$2/etc/apt/apt.conf.d/90machine"
	[ -x "$2/usr/bin/git" ] && git clone -q --no-hardlinks . "$2/root/t410trace"
}

# try RELEASE NAME COMMAND...: a line with what came of it
try() {
	local name=$1/$2 log=$logs/fresh-$1-$2.log start=$SECONDS status=0 took
	shift 2
	"$@" > "$log" 2>&1 || status=$?
	took="$((SECONDS - start)) s$(sed -n 's/^\([0-9]* passed, .*\)/, \1/p' "$log" | tail -n 1)"
	if [ $status = 0 ]; then
		echo "ok $name ($took)"
		passed=$((passed + 1))
		return 0
	fi
	echo "not ok $name: status $status ($took), see $log:"
	grep -h '^not ok' "$log" | head -n 10
	tail -n 3 "$log"
	failed=$((failed + 1))
	return 1
}

# release NAME
release() {
	local root=$PWD/build/fresh/$1 part
	remove "$root"
	mkdir -p "$root"
	if try "$1" install install "$1" "$root"; then
		case ${PARTS:-short} in
		short)
			try "$1" demo inside "$root" "make demo"
			try "$1" unit inside "$root" "make check-unit"
			try "$1" live inside "$root" "make check-live"
			try "$1" clangs inside "$root" "make check-clangs"
			try "$1" machine inside "$root" "tests/machine/run.sh ${SCENARIOS[*]}"
			;;
		all)
			try "$1" demo inside "$root" "make demo"
			try "$1" check inside "$root" "make check"
			try "$1" clangs inside "$root" "make check-clangs"
			;;
		*)
			try "$1" deps inside "$root" "make deps"
			for part in $PARTS; do try "$1" "$part" inside "$root" "make check-$part"; done
			;;
		esac
	fi
	[ "${KEEP:-}" = 1 ] || remove "$root"
}

[ "$(id -u)" = 0 ] || stop "debootstrap and chroot need root"
packaging/deps.sh debootstrap || exit 1
[ $# -gt 0 ] || set -- bookworm trixie testing
[ -z "$(git status --porcelain)" ] || echo "# only what is committed is tested"
mkdir -p "$logs"
for name; do release "$name"; done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
