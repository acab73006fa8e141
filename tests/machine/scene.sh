#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# scene.sh: what the documents show ("make scene"): docs/examples/scene.rec, and the output of commands
# that no recording has, from a virtual T410 with the traffic of scene-guest.sh.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/machine/machine.sh
. "$HERE/machine.sh"
share=$(mktemp -d)
trap 'rm -rf "$share"' EXIT
machine_take "$ROOT/build/arm64-shared/t410trace" "$share"
cp "$HERE/scene-guest.sh" "$share/"
machine_ready "$share/log" || { echo "scene.sh: $MACHINE_PROBLEM" >&2; exit 1; }
"$MACHINE" --steady --disk 64 --traffic "$HERE/scene.conf" --dir "$share" -- sh scene-guest.sh
cp "$share"/out/* "$ROOT/docs/examples/"
