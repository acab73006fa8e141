#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# deb.sh [FOLDER [ARCH]]: Debian packages of the tree as it is, for this machine, in FOLDER (build/deb). They
# are built in a copy, with packaging/debian as its debian/. What is said is in FOLDER/log; the
# names of the packages are printed.
# With ARCH they are for tests: of the programs that "make ARCH=... LINK=shared" has built for another
# architecture, and they do not say which libraries these need.
set -eu
cd "$(dirname "$0")/.."
top=$PWD
out=${1:-build/deb} arch=${2:-}
packaging/deps.sh build-essential debhelper dh-apparmor >&2
# shellcheck disable=SC2046  # three words
set -- $(packaging/version.sh)
work=$out/t410trace-$1
# also packages of before: INSTALL.md installs all that is there
rm -rf "$out"/t410trace[-_]*
mkdir -p "$out"
archive=$(packaging/dist.sh "$out")
tar -xzf "$archive" -C "$out"
rm "$archive"
cp -r "$work/packaging/debian" "$work/debian"
[ -z "$arch" ] || cp "build/$arch-shared/t410trace" "build/$arch-shared/t410trace-gpu" "$work/"
cat > "$work/debian/changelog" << END
t410trace ($1) unstable; urgency=medium

  * Commit $2; /usr/share/doc/t410trace/CHANGELOG.md is for users.

 -- $(sed -n 's/^Maintainer: //p' packaging/debian/control)  $(LC_ALL=C date -u -R -d "@$3")
END
# shellcheck disable=SC2086  # options; programs that are there already are not cleaned away
(cd "$work" && DEB_BUILD_OPTIONS="parallel=$(nproc)${arch:+ nocheck noautodbgsym}" dpkg-buildpackage -b -us -uc \
	${arch:+-a$arch -d -nc}) > "$out/log" 2>&1 || {
	tail -n 20 "$out/log" >&2
	echo "deb.sh: dpkg-buildpackage failed, see $top/$out/log" >&2
	exit 1
}
rm -rf "$work"
ls "$out"/t410trace*_"$1"_*.deb
