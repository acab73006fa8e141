#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# embed.sh FILE: print a script or style of a library as a page can have it inside. The address of
# its licence gives way to where the licence stands in the page, and no browser is told of a map
# that is not there. An address that is left, or the end of a script element, is an error.
set -eu
text=$(sed -E -e 's|https?://[^ ]*LICENSE[^ ]*|see the licence on this page|' \
	-e 's|//# sourceMappingURL=.*||' -e 's|/\*# sourceMappingURL=.*\*/||' "$1")
if printf '%s\n' "$text" | grep -qiE 'https?://|sourceMappingURL|</(script|style)'; then
	echo "embed.sh: $1 has an address or an end of a script in it: another version?" >&2
	exit 1
fi
printf '%s\n' "$text"
