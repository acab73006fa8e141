#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# later.sh TO DEB...: in the folder TO, the same packages as of a later version that brings other
# settings.
set -eu

to=$1
shift
mkdir -p "$to"
for deb; do
	tree=$to/tree
	dpkg-deb -R "$deb" "$tree"
	sed -i 's/^Version: .*/&+later/' "$tree/DEBIAN/control"
	settings=$tree/etc/t410trace/serve.conf
	[ ! -e "$settings" ] || echo '# of a later version' >> "$settings"
	dpkg-deb --root-owner-group -b "$tree" "$to/${deb##*/}"
	rm -r "$tree"
done
