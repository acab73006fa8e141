#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# dist.sh [FOLDER]: the archive FOLDER/t410trace-VERSION.tar.gz (FOLDER: build/dist) of all files that git
# has or would take, as they are now. Its name is printed. In an unpacked archive, all files but what
# make has built.
set -eu
cd "$(dirname "$0")/.."
out=${1:-build/dist}
# shellcheck disable=SC2046  # three words
set -- $(packaging/version.sh)
name=t410trace-$1
mkdir -p "$out"
list=$(mktemp)
trap 'rm -f "$list" "$list.all" "$out/.version"' EXIT
if [ -e .git ]; then
	# git refuses a tree of somebody else
	git ls-files -co --exclude-standard > "$list.all"
	while read -r file; do [ ! -e "$file" ] || echo "$file"; done < "$list.all"
else
	find . -path ./build -prune -o -path ./t410trace -prune -o -path ./t410trace-gpu -prune -o -path ./.version \
		-prune -o -name __pycache__ -prune -o -type f -print | sed 's|^\./||'
fi > "$list"
LC_ALL=C sort -o "$list" "$list"
echo "$*" > "$out/.version"
# Neither users, rights nor times of this tree are in it.
tar --mtime="@$3" --owner=0 --group=0 --numeric-owner --mode=u+rw,go+r,go-w,a+X --format=gnu --transform="s|^|$name/|" \
	-cf - -T "$list" -C "$out" .version | gzip -9n > "$out/$name.tar.gz.tmp"
mv "$out/$name.tar.gz.tmp" "$out/$name.tar.gz"
echo "$out/$name.tar.gz"
