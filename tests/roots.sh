# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# Systems in folders, by debootstrap; for tests/fresh.sh and tests/packages.sh. Needs root.
# Whatever is mounted is mounted in a namespace of the processes inside: when they end, nothing is left.

stop() {
	echo "${0##*/}: $*" >&2
	exit 2
}

# inside ROOT COMMAND: in a system of its own, but for the kernel's folders: live tests want all of
# them. With MNT that folder is its /mnt.
inside() {
	# shellcheck disable=SC2016  # for the shell in the namespace
	# "ip -n" wants the root folder to be where something is mounted
	unshare --mount --propagation private bash -c '
		mount --bind "$1" "$1" || exit 125
		for folder in dev proc sys; do mount --rbind /$folder "$1/$folder" || exit 125; done
		mountpoint -q "$1/sys/fs/bpf" || mount -t bpf bpf "$1/sys/fs/bpf"
		mountpoint -q "$1/sys/kernel/tracing" || mount -t tracefs tracefs "$1/sys/kernel/tracing"
		mount -t tmpfs tmpfs "$1/run" || exit 125
		[ -z "$3" ] || mount --bind "$3" "$1/mnt" || exit 125
		exec chroot "$1" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C \
			DEBIAN_FRONTEND=noninteractive ${http_proxy:+http_proxy="$http_proxy"} sh -c "cd /root && $2"' \
		inside "$1" "$2" "${MNT:-}" < /dev/null
}

# remove ROOT: an earlier system; never what something is mounted in
remove() {
	! grep -qF " $1/" /proc/self/mountinfo || stop "something is mounted in $1"
	rm -rf --one-file-system "${1:?}"
}

# make_root RELEASE ROOT PACKAGE,...: apt's own settings of downloads are those of this machine
make_root() {
	local mirror
	mirror=$(packaging/mirror.sh | cut -d ' ' -f 1)
	[ -n "$mirror" ] || stop "apt of this machine has no Debian mirror configured"
	debootstrap --variant=minbase --include="$3" "$1" "$2" "$mirror" &&
		apt-config dump | grep -E '^Acquire::(Check-|https?:|Retries)' > "$2/etc/apt/apt.conf.d/90machine"
	[ -x "$2/usr/bin/env" ]
}
