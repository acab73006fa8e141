# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash disable=SC2154  # variables of packages.sh
# The part rpm of tests/packages.sh. No package of another distribution is there, so what packages
# require is not looked up; Debian's rpm runs their scripts in a system of Debian.
RPMS=(t410trace t410trace-gpu t410trace-slurm)

rpm_build() {
	packaging/rpm.sh build/rpm && tree_before && "$before/packaging/rpm.sh"
}

rpm_verdict() {
	local said
	said=$(rpmlint build/rpm/RPMS/*/*.rpm build/rpm/SRPMS/*.rpm build/rpm/SPECS/*.spec)
	echo "$said"
	grep -q 'packages and .* specfiles checked' <<< "$said" || return
	# sites sign what they publish
	! grep ' E: ' <<< "$said" | grep -v ' no-signature$'
}

# rpm_in ROOT ARGUMENT...
rpm_in() {
	# shellcheck disable=SC2016  # for the shell in the namespace
	unshare --mount --propagation private sh -c 'root=$1 && shift &&
		mount --rbind /proc "$root/proc" && exec rpm --root "$root" "$@"' sh "$@"
}

rpm_install() {
	rpm_in "$1" --nodeps -i "$before"/build/rpm/RPMS/*/*.rpm &&
		rpm_in "$1" -V --nodeps "${RPMS[@]}" && "$1/usr/bin/t410trace" --version &&
		rpm_in "$1" -q --requires t410trace | grep -E '^(config|lib)' || return
	# what scripts have made
	grep '^t410trace:' "$1/etc/group" &&
		[ "$(chroot "$1" stat -c '%A %U %G' /var/lib/t410trace)" = "drwxr-s--- root t410trace" ]
}

# Settings and accounts of the operator stay
rpm_upgrade() {
	local said
	echo '# of the operator' >> "$1/etc/t410trace/serve.conf"
	echo kept > "$1/var/lib/t410trace/accounts.db"
	rpm_in "$1" --nodeps -U build/rpm/RPMS/*/*.rpm || return
	[ "$(rpm_in "$1" -q "${RPMS[@]}" | grep -cF -- "-$version-")" = 3 ] &&
		grep '^# of the operator' "$1/etc/t410trace/serve.conf" &&
		grep kept "$1/var/lib/t410trace/accounts.db" || return
	said=$(rpm_in "$1" -V --nodeps "${RPMS[@]}")
	echo "$said"
	[ "$(grep -c . <<< "$said")" = 1 ] && grep -qE '^S.* c /etc/t410trace/serve.conf$' <<< "$said"
}

rpm_erase() {
	rpm_in "$1" --nodeps -e "${RPMS[@]}" &&
		grep '^# of the operator' "$1/etc/t410trace/serve.conf.rpmsave" &&
		grep kept "$1/var/lib/t410trace/accounts.db" || return
	diff <(find "$1/etc" "$1/usr" "$1/var" -name '*t410trace*' -printf '%P\n' | sort) - << END
lib/t410trace
spool/t410trace
t410trace
END
}

rpm_system() {
	system bookworm "$1" &&
		inside "$1" "apt-get -y -q --no-install-recommends install systemd"
}

part_rpm() {
	local root=$work/rpm name
	try "rpm build" rpm_build || return
	try "rpm rpmlint" rpm_verdict
	try "rpm system" rpm_system "$root" || return
	for name in install upgrade erase; do try "rpm $name" "rpm_$name" "$root" || return; done
	[ "${KEEP:-}" = 1 ] || remove "$root"
}
