#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# rpm.sh [FOLDER]: rpm packages, source and binary, of the tree as it is, in FOLDER (build/rpm). On a
# system without rpm's database of packages, Debian, what the build requires is not looked up there.
# Environment: DYGRAPHS, DYGRAPHS_LICENCE, as for make
set -eu
cd "$(dirname "$0")/.."
out=${1:-build/rpm}
nodeps=
if command -v dpkg-query > /dev/null; then
	packaging/deps.sh rpm >&2
	nodeps=--nodeps
fi
# shellcheck disable=SC2046  # three words
set -- $(packaging/version.sh)
mkdir -p "$out/SOURCES" "$out/SPECS" "$out/dygraphs"
out=$(cd "$out" && pwd)
rm -rf "$out/BUILD" "$out/RPMS" "$out/SRPMS"
packaging/dist.sh "$out/SOURCES" > /dev/null
folder=${DYGRAPHS:-/usr/share/javascript/dygraphs}
install -m 644 "$folder/dygraph.min.js" "$folder/dygraph.min.css" "$out/dygraphs/"
install -m 644 "${DYGRAPHS_LICENCE:-/usr/share/doc/libjs-dygraphs/copyright}" "$out/dygraphs/LICENSE"
tar --mtime="@$3" --owner=0 --group=0 --numeric-owner --mode=u+rw,go+r,go-w,a+X --sort=name -C "$out" -cf - dygraphs | gzip -9n > "$out/SOURCES/dygraphs.tar.gz"
sed -e "s/@VERSION@/$1/" -e "s/@COMMIT@/$2/" -e "s/@DATE@/$(LC_ALL=C date -u -d "@$3" '+%a %b %d %Y')/" \
	packaging/rpm/t410trace.spec > "$out/SPECS/t410trace.spec"
SOURCE_DATE_EPOCH=$3 rpmbuild -ba $nodeps --define "_topdir $out" --define "packager $(sed -n 's/^Maintainer: //p' packaging/debian/control)" "$out/SPECS/t410trace.spec" > "$out/log" 2>&1 || {
	tail -n 20 "$out/log" >&2
	echo "rpm.sh: rpmbuild failed, see $out/log" >&2
	exit 1
}
rm -rf "$out/BUILD"
find "$out/RPMS" "$out/SRPMS" -name '*.rpm'
