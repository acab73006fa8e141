#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# mirror.sh: "URI RELEASE" of the Debian mirror that apt of this machine is configured for; nothing
# if there is none. The release is called as it is there, "testing" or "forky".
set -eu
codename=
# shellcheck disable=SC1091
[ ! -r /etc/os-release ] || codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")

# targets OPTION...: "URI RELEASE CODENAME LABEL" of what apt is configured for
targets() {
	# shellcheck disable=SC2016  # apt fills these in
	apt-get indextargets "$@" --format '$(REPO_URI) $(RELEASE) $(CODENAME) $(LABEL) $(COMPONENT)' \
		'Created-By: Packages' | awk '$NF == "main"'
}

# Security updates and the like have another codename or label. Only lists tell; without them the
# release must be called by its codename.
{
	targets | awk -v codename="$codename" '$3 == codename && $4 == "Debian"'
	targets --no-release-info | awk -v codename="$codename" '$2 == codename'
} | awk 'NR == 1 { print $1, $2 }'
