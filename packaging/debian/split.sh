#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# split.sh PACKAGE PATTERN...: move what "make install" put into debian/t410trace to another package
set -eu
package=$1
shift
cd debian/t410trace
for pattern; do
	# shellcheck disable=SC2086  # a pattern
	for file in $pattern; do
		[ -e "$file" ] || continue
		mkdir -p "../$package/${file%/*}"
		mv "$file" "../$package/$file"
		rmdir --ignore-fail-on-non-empty "${file%/*}"
	done
done
