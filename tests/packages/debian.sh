# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash disable=SC2154  # variables of packages.sh
# The parts debs, deb-12 and deb-13 of tests/packages.sh.

# build_twice: in two folders
build_twice() {
	local deb
	packaging/deb.sh build/deb && packaging/deb.sh "$work/again" || return
	for deb in build/deb/t410trace*_"$version"_*.deb; do
		cmp "$deb" "$work/again/${deb##*/}" || return
	done
}

# contents: each package has its own, and nothing is above /usr but settings
contents() {
	local main
	main=$(dpkg-deb -c build/deb/t410trace_"$version"_*.deb) || return
	! grep -E '(slurm-|t410trace-gpu|epilog)' <<< "$main" | grep -v 'docs/' || return
	! grep -vE ' \./(usr|etc)?/?$| \./(usr|etc)/' <<< "$main" || return
	grep -q 'usr/bin/t410trace$' <<< "$main"
}

verdict_of_lintian() {
	lintian --allow-root --fail-on error build/deb/t410trace_"$version"_*.changes
}

profile() { apparmor_parser -Q -K packaging/apparmor/t410trace-serve; }
enforced() { apparmor_parser -r -W packaging/apparmor/t410trace-serve; }

part_debs() {
	try "debs build" build_twice || return
	try "debs contents" contents
	try "debs lintian" verdict_of_lintian
	try "debs AppArmor profile" profile
	if [ -d /sys/kernel/security/apparmor ]; then
		try "debs AppArmor enforced" enforced
	else
		echo "skip packages debs AppArmor enforced: the kernel has no AppArmor; the profile was parsed"
	fi
}

# have_debs: of this tree, and of the commit before
have_debs() {
	ls build/deb/t410trace_"$version"_*.deb || packaging/deb.sh || return
	if ! ls "$before"/build/deb/t410trace_*.deb; then
		tree_before && "$before/packaging/deb.sh" || return
	fi
	[ "$(cd "$before" && packaging/version.sh | cut -d ' ' -f 1)" != "$version" ]
}

# hand_over ROOT: what steps need there, also a package whose settings are others
hand_over() {
	have_debs || return
	mkdir -p "$1/root/new" "$1/root/before"
	cp build/deb/t410trace*_"$version"_*.deb "$1/root/new/" &&
		cp "$before"/build/deb/t410trace*.deb "$1/root/before/" &&
		cp tests/packages/steps.sh "$1/root/" || return
	rm -f "$1"/root/*/*-dbgsym*
	# no systemd runs there
	sed -n '/^## Rollback/,/^## Backup/s/^    //p' docs/OPERATION.md | grep -v ^systemctl \
		> "$1/root/rollback"
	tests/packages/later.sh "$1/root/later" "$1"/root/new/t410trace_*.deb
}

# age ROOT: its accounts become those of the version of the store before
age() {
	python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
assert db.execute("PRAGMA user_version").fetchone()[0] == 9, "which column is new?"
db.execute("ALTER TABLE jobs DROP COLUMN gpus")
db.executescript("PRAGMA user_version = 8; PRAGMA journal_mode = DELETE")' \
		"$1/var/lib/t410trace/accounts.db"
}

# files ROOT: all but what dpkg, apt and systemd note for themselves
files() {
	find "$1" -xdev -path "$1/root" -prune -o -printf '%P\n' | LC_ALL=C sort |
		grep -vE '^(var/(lib/(dpkg|apt|systemd)|log|cache)|tmp)' |
		grep -vE '^etc/((passwd|group|shadow|gshadow)-|\.pwd\.lock)'
}

# step NAME: of steps.sh, in the system of debian()
step() { try "$part $1" inside "$root" "sh steps.sh ${1// /_} $tree $job"; }

# debian PART RELEASE
debian() {
	local part=$1 root=$work/$1 name
	try "$part system" system "$2" "$root" && try "$part packages" hand_over "$root" || return
	step dependencies || return
	files "$root" > "$logs/packages-$part.before"
	step install && step accounts || return
	try "$part older accounts" age "$root"
	for name in upgrade units "upgraded daemon" "manual page" "changed settings" rollback remove \
		"purge beside a daemon"; do
		step "$name"
	done
	files "$root" > "$logs/packages-$part.after"
	try "$part nothing left" diff "$logs/packages-$part.before" "$logs/packages-$part.after"
	[ "${KEEP:-}" = 1 ] || remove "$root"
}
