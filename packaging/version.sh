#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# version.sh: "VERSION COMMIT TIME" of this tree, from git or, in an unpacked release, from the file
# .version that "make dist" put there. VERSION is that of include/version.h where the tag vVERSION is.
# Before it there is ~N, so that packages of both sort before the release, and after it +N: N counts commits.
# COMMIT is - where it is not known, and ends in + if files were changed. TIME is that of the commit.
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n 's/^#define T410TRACE_VERSION "\(.*\)"/\1/p' include/version.h)
if [ -r .version ]; then
	cat .version
elif [ -e .git ] && commit=$(git describe --always --abbrev=10 --exclude='*' --dirty=+ 2> /dev/null); then
	if ! after=$(git rev-list --count "v$version..HEAD" 2> /dev/null); then
		version=$version~$(git rev-list --count HEAD).$commit
	elif [ "$after" != 0 ]; then
		version=$version+$after.$commit
	elif [ "$commit" != "${commit%+}" ]; then
		version=$version+
	fi
	echo "$version $commit $(git log -1 --format=%ct)"
else
	echo "$version - 0"
fi
