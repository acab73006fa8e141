#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# packages.sh [RELEASE...]: the packages of the tree as it is, and those of the commit before. In a fresh
# system of each release (bookworm and trixie) they are installed, upgraded, taken back, removed and
# purged, with accounts that a daemon keeps meanwhile. Prints a line "ok" or "not ok" for each step; what
# commands say is in build/test-logs/packages-*.log. Needs root and network.
#
# Environment: KEEP    1: the systems stay, in build/fresh, and are taken again
#              BEFORE  the commit before (default: HEAD^)
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tests/roots.sh
logs=$PWD/build/test-logs
# no other test has jobs of these numbers
job=$((3000000000 + $$))
# debhelper gives builds another home
CCACHE_DIR=$(ccache -k cache_dir 2> /dev/null)
export CCACHE_DIR

# try NAME COMMAND...: a line with what came of it. The command has a group of processes of its own, which
# ends with this script.
child=
try() {
	local name=packages\ $1 log=$logs/packages-${1//[ \/]/-}.log status
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
	else
		echo "not ok $name: status $status, see $log"
		tail -n 5 "$log"
		return 1
	fi
}

# clean: whatever ended the script, nothing is left but packages and logs
clean() {
	local root
	# once is enough
	trap '' INT TERM HUP
	[ -z "$child" ] || { kill -KILL -- -"$child" && sleep 1; }
	find "$tree" -depth -type d -exec rmdir {} \; 2> /dev/null
	if [ "${KEEP:-}" = 1 ]; then return; fi
	for root in $roots; do remove "$PWD/build/fresh/packages-$root"; done
	rm -rf build/packages
}

# build_twice: in two folders
build_twice() {
	local deb
	packaging/deb.sh build/deb && packaging/deb.sh "$again" || return
	for deb in build/deb/t410trace*_"$version"_*.deb; do cmp "$deb" "$again/${deb##*/}" || return; done
}

# build_before: of the commit before
build_before() {
	rm -rf "$before"
	git clone -q --no-hardlinks . "$before" && git -C "$before" checkout -q "$(git rev-parse "${BEFORE:-HEAD^}")" && "$before/packaging/deb.sh" &&
		[ "$(cd "$before" && packaging/version.sh | cut -d ' ' -f 1)" != "$version" ]
}

# contents: each package has its own, and nothing is above /usr but settings
contents() {
	local main
	main=$(dpkg-deb -c build/deb/t410trace_"$version"_*.deb) || return
	! grep -E '(slurm-|t410trace-gpu|epilog)' <<< "$main" | grep -v 'docs/' || return
	! grep -vE ' \./(usr|etc)?/?$| \./(usr|etc)/' <<< "$main" || return
	grep -q 'usr/bin/t410trace$' <<< "$main"
}

verdict_of_lintian() { lintian --allow-root --fail-on error build/deb/t410trace_"$version"_*.changes; }

# rpm_packages: built, judged, and installed by Debian's rpm in a folder of its own, without scripts. No
# package of another distribution is there, so nothing is looked up.
rpm_packages() {
	local root=$PWD/build/packages/rpm-root said
	packaging/rpm.sh build/rpm || return
	said=$(rpmlint build/rpm/RPMS/*/*.rpm build/rpm/SRPMS/*.rpm build/rpm/SPECS/*.spec)
	echo "$said"
	# sites sign what they publish
	! grep ' E: ' <<< "$said" | grep -v ' no-signature$' || return
	rm -rf "$root"
	mkdir -p "$root"
	rpm --root "$root" --nodeps --noscripts -i build/rpm/RPMS/*/*.rpm && rpm --root "$root" -V --nodeps t410trace t410trace-gpu \
		t410trace-slurm && "$root/usr/bin/t410trace" --version || return
	rpm --root "$root" -q --requires t410trace | grep -E '^(config|lib)'
	rpm --root "$root" --nodeps --noscripts -e t410trace t410trace-gpu t410trace-slurm &&
		[ -z "$(find "$root" -name '*t410trace*')" ]
}

storage="buildah --root $PWD/build/packages/images --runroot $PWD/build/packages/images.run --storage-driver vfs"

# image: for both architectures; programs of the other one run in an emulator of commands
image() {
	local arch root other=arm64
	[ "$(uname -m)" != aarch64 ] || other=amd64
	packaging/image.sh && packaging/image.sh build/packages/image || return
	for arch in amd64 arm64; do
		cmp build/image/t410trace-$arch.tar build/packages/image/t410trace-$arch.tar || return
		root=$PWD/build/packages/image-$arch
		unpacked "build/image/t410trace-$arch.tar" "$root" && grep -q "^$arch\$" "$root.arch" || return
		[ "$(find "$root" -type f -name 't410trace*' -printf '%m %P\n')" = "755 usr/bin/t410trace" ] || return
	done
	emulated $other --version || return
	# it tells what an emulator of commands lacks
	emulated $other check
	[ $? = 1 ] && grep -q '^t410trace cannot work here, missing: .*bpf' "$logs/packages-image.check"
}

# pushed: both images under one name, by the commands of INSTALL.md; a folder takes the place of a registry
pushed() {
	local folder=$PWD/build/packages/pushed commands
	commands=$(sed -n 's/^    \(buildah manifest .*\)/\1/p' docs/INSTALL.md | sed "s#^buildah#$storage#; s#docker://.*#oci:$folder#")
	bash -ec "$commands" && [ "$(grep -ho '"platform":{"architecture":"[a-z0-9]*"' "$folder"/blobs/sha256/* | cut -d '"' -f 6 | sort | xargs)" = "amd64 arm64" ]
}

# unpacked ARCHIVE ROOT: an image's files, and its architecture in ROOT.arch
unpacked() {
	local container
	container=$($storage from --arch "$(basename "$1" .tar | sed 's/.*-//')" "oci-archive:$PWD/$1") || return
	rm -rf "$2"
	mkdir -p "$2"
	cp -a "$($storage mount "$container")/." "$2" && $storage inspect --format '{{.OCIv1.Architecture}}' "$container" > "$2.arch"
	$storage rm "$container"
}

# emulated ARCH ARGUMENT...: t410trace of an image, which sees its own root and this kernel's folders
emulated() {
	local root=$PWD/build/packages/image-$1 machine=aarch64
	[ "$1" = arm64 ] || machine=x86_64
	shift
	mkdir -p "$root/proc" "$root/sys"
	cp "/usr/bin/qemu-$machine-static" "$root/emulator"
	# shellcheck disable=SC2016  # for the shell in the namespace
	unshare --mount --propagation private sh -c 'root=$1 && shift && mount --rbind /proc "$root/proc" && mount --rbind /sys "$root/sys" &&
		exec chroot "$root" /emulator /usr/bin/t410trace "$@"' sh "$root" "$@" 2>&1 | tee "$logs/packages-image.${1#--}"
	return "${PIPESTATUS[0]}"
}

# pod: the container of the manifest, from the image for this machine
pod() {
	local arch=amd64
	[ "$(uname -m)" != aarch64 ] || arch=arm64
	tests/kubernetes.py run "build/packages/image-$arch" build/packages/pod
}

profile() { apparmor_parser -Q -K packaging/apparmor/t410trace-serve; }

# files ROOT: all but what dpkg, apt and systemd note for themselves
files() {
	find "$1" -xdev -path "$1/root" -prune -o -printf '%P\n' | LC_ALL=C sort |
		grep -vE '^(var/(lib/(dpkg|apt|systemd)|log|cache)|tmp|etc/(passwd|group|shadow|gshadow)-|etc/\.pwd\.lock)'
}

# The commands below run in a system. Its daemon has a job of Slurm for a while.
tree=$(findmnt -n -o TARGET -t cgroup2 | head -n 1)/t410packages-$$
daemon="
	group=$tree/slurmstepd.scope/job_$job
	t410trace serve & daemon=\$!
	sleep 2; mkdir -p \$group/step_0
	sh -c \"echo \\\$\\\$ > \$group/step_0/cgroup.procs; i=0; while [ \\\$i -lt 300000 ]; do i=\\\$((i + 1)); done\"
	sleep 2; rmdir \$group/step_0 \$group $tree/slurmstepd.scope $tree
	sleep 2; kill \$daemon; wait \$daemon"
account="t410trace job --json slurm:$job | grep -q '\"slurm\"'"
apt="apt-get -y -q --no-install-recommends -o Dpkg::Options::=--force-confold"

# changed_settings ROOT: an upgrade to a package whose settings are others, too, keeps those of the operator
changed_settings() {
	local later=$1/root/later
	dpkg-deb -R "$1"/root/new/t410trace_*.deb "$later" && echo '# of a later package' >> "$later/etc/t410trace/serve.conf" &&
		sed -i 's/^Version: .*/&+later/' "$later/DEBIAN/control" && dpkg-deb --root-owner-group -b "$later" "$later.deb" &&
		inside "$1" "$apt install ./later.deb && grep 'counters = no' /etc/t410trace/serve.conf &&
			grep '^# of a later' /etc/t410trace/serve.conf.dpkg-dist"
}

# release NAME
release() {
	local root=$PWD/build/fresh/packages-$1 name=$1
	if [ "${KEEP:-}" != 1 ] || [ ! -e "$root/root/ready" ]; then
		remove "$root"
		mkdir -p "${root%/*}"
		try "$name debootstrap" make_root "$name" "$root" ca-certificates || return
		touch "$root/root/ready"
	fi
	mkdir -p "$root/root/new" "$root/root/before"
	cp build/deb/t410trace*_"$version"_*.deb "$root/root/new/"
	cp "$before"/build/deb/t410trace*.deb "$root/root/before/"
	rm -f "$root"/root/*/*-dbgsym*
	try "$name dependencies" inside "$root" "apt-get -q update &&
		$apt install systemd man-db && $apt satisfy \"\$(dpkg-deb -f before/t410trace_*.deb Depends)\" \"\$(dpkg-deb -f new/t410trace_*.deb Depends)\"" ||
		return
	files "$root" > "$logs/packages-$name.before"
	try "$name install" inside "$root" "$apt install ./before/*.deb && t410trace --version && t410trace check;
		[ \$? -le 1 ] && ls -ld /var/lib/t410trace && for u in \$(dpkg -L t410trace t410trace-gpu t410trace-slurm |
		sed -nE 's|.*/systemd/system/(.*)|\\1|p'); do systemctl --root=/ is-enabled \$u; done > units; ! grep enabled units"
	try "$name accounts" inside "$root" "printf 'counters = no\ninterval = 300ms\nlisten = 127.0.0.1:0\nschedulers = slurm\n' \
		> /etc/t410trace/serve.conf; $daemon && $account && t410trace jobs --json > jobs"
	# as the version of the store before has left them
	try "$name older store" python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
assert db.execute("PRAGMA user_version").fetchone()[0] == 9, "which column is new?"
db.executescript("ALTER TABLE jobs DROP COLUMN gpus; PRAGMA user_version = 8; PRAGMA journal_mode = DELETE")' \
		"$root/var/lib/t410trace/accounts.db"
	try "$name upgrade" inside "$root" "$apt install ./new/*.deb && t410trace --version && [ -s /var/lib/t410trace/accounts.db ] &&
		grep -q 'counters = no' /etc/t410trace/serve.conf && ! dpkg --verify t410trace t410trace-gpu | grep -v serve.conf"
	try "$name units" inside "$root" "systemd-analyze verify /usr/lib/systemd/system/t410trace*.* 2> said; cat said
		systemd-analyze security --offline=yes t410trace.service | tail -n 1; ! grep t410trace said"
	try "$name upgraded daemon" inside "$root" "($daemon) && $account && ls /var/lib/t410trace/accounts.db.v8 && [ \"\$(t410trace jobs --json | grep -o '\"start_time\"' | wc -l)\" = 2 ]"
	try "$name manual page" inside "$root" "man -w t410trace t410trace-gpu && zcat /usr/share/man/man1/t410trace.1.gz | grep -q /etc/t410trace/"
	try "$name changed settings" changed_settings "$root"
	try "$name rollback" inside "$root" "$apt --allow-downgrades install ./before/*.deb; for old in /var/lib/t410trace/accounts.db.v[0-9]*; do
		[ ! -e \$old ] || { rm -f /var/lib/t410trace/accounts.db-*; mv \$old /var/lib/t410trace/accounts.db; }; done; $account && ($daemon) && $account"
	try "$name remove" inside "$root" "apt-get -y -q remove 't410trace*' && ! command -v t410trace &&
		[ -s /var/lib/t410trace/accounts.db ] && grep 'counters = no' /etc/t410trace/serve.conf"
	try "$name purge beside a daemon" inside "$root" "$apt install ./new/*.deb && (t410trace serve & daemon=\$!; sleep 2
		apt-get -y -q purge 't410trace*'; status=\$?; kill \$daemon; wait \$daemon; exit \$status) &&
		! getent group t410trace && ! ls -d /var/lib/t410trace"
	files "$root" > "$logs/packages-$name.after"
	try "$name nothing left" diff "$logs/packages-$name.before" "$logs/packages-$name.after"
	[ "${KEEP:-}" = 1 ] || remove "$root"
}

[ "$(id -u)" = 0 ] || stop "debootstrap and chroot need root"
packaging/deps.sh debootstrap lintian apparmor rpmlint buildah runc curl qemu-user-static || exit 1
[ $# -gt 0 ] || set -- bookworm trixie
read -r version _ < <(packaging/version.sh)
roots=$*
trap clean EXIT
trap 'exit 1' INT TERM HUP
before=$PWD/build/packages/before again=$PWD/build/packages/again
mkdir -p "$logs" "$again"
try "build" build_twice || exit 0
try "build of the commit before" build_before || exit 0
try "contents" contents
try "lintian" verdict_of_lintian
try "AppArmor profile" profile
if [ -d /sys/kernel/security/apparmor ]; then
	try "AppArmor enforced" apparmor_parser -r -W packaging/apparmor/t410trace-serve
else
	echo "skip packages AppArmor enforced: the kernel has no AppArmor; the profile was parsed"
fi
for name; do release "$name"; done
try "rpm" rpm_packages
if try "image" image > "$logs/packages-image.line"; then
	cat "$logs/packages-image.line"
	try "image pushed" pushed
	pod
elif grep -q '^static-lib.sh: .*cannot be had' "$logs/packages-image.log"; then
	echo "skip packages image: its programs need source packages"
else
	cat "$logs/packages-image.line"
fi
if command -v npm > /dev/null; then
	tests/kubernetes.py types build/packages/types
else
	echo "skip packages manifest: no npm, which fetches the types of Kubernetes' API"
fi
exit 0
