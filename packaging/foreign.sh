#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# foreign.sh ARCH DIR: a package state in DIR, and DIR/apt.conf, with which apt-get (APT_CONFIG) finds
# packages of another architecture. They come from the package sources this machine already uses, with
# its keys: nothing is installed and the machine's own list of architectures stays as it is.
set -eu
arch=$1
mkdir -p "$2/lists/partial" "$2/cache/archives/partial" "$2/sources"
dir=$(cd "$2" && pwd)
: > "$dir/status"
cat > "$dir/apt.conf" << END
Dir::State::Lists "$dir/lists";
Dir::State::Status "$dir/status";
Dir::Cache "$dir/cache";
APT::Architecture "$arch";
APT::Architectures { "$arch"; };
APT::Sandbox::User "$(id -un)";
APT::Install-Recommends "false";
Acquire::Languages "none";
END

# Debian has riscv64 since its release 13: an older machine takes that one's, from its own mirror
# shellcheck disable=SC1091
if [ "$arch" = riscv64 ] && [ "$(. /etc/os-release && echo "${VERSION_ID:-13}")" -lt 13 ]; then
	where=$("$(dirname "$0")/mirror.sh")
	[ -n "$where" ] || { echo "foreign.sh: apt of this machine has no mirror of its release configured" >&2; exit 1; }
	printf 'Types: deb\nURIs: %s\nSuites: trixie\nComponents: main\nSigned-By: %s\n' "${where% *}" \
		/usr/share/keyrings/debian-archive-keyring.gpg > "$dir/sources/trixie.sources"
	cat >> "$dir/apt.conf" << END
Dir::Etc::SourceList "/dev/null";
Dir::Etc::SourceParts "$dir/sources";
END
fi
