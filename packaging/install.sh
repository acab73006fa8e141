#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# install.sh install|uninstall: put the files of t410trace where they belong, or remove them again.
# "make install" and "make uninstall" call it with these variables: PROGRAM, GPU (empty for none) and
# LICENCE (of dygraphs, which is in the program) are files; PREFIX, SYSCONFDIR, DOCDIR and DESTDIR are
# folders, in whose names there may be blanks.
#
# Settings that differ from the packaged ones stay, whatever is asked for.
set -eu
action=$1
cd "$(dirname "$0")/.."
usr=$DESTDIR$PREFIX
etc=$DESTDIR$SYSCONFDIR/t410trace
doc=$DESTDIR$DOCDIR
share=$usr/share/t410trace

# as the replacement of sed
quoted() { printf '%s\n' "$1" | sed 's/[\\&#]/\\&/g'; }
prefix=$(quoted "$PREFIX")
sysconfdir=$(quoted "$SYSCONFDIR")

# placed FILE: its text with the paths of this installation. Programs in units and settings of shells
# want quotes, as there may be blanks in a path.
placed() {
	sed -E -e "s#=/usr/local/((bin|share)/t410trace[a-z./-]*)#=\"$prefix/\\1\"#" \
		-e "s#/usr/local/(bin|share|lib)/#$prefix/\\1/#g" \
		-e "s#/etc/t410trace([/\`. ])#$sysconfdir/t410trace\\1#g" "$1"
}

# file MODE SOURCE TARGET
file() {
	case $action in
	install) install -D -m "$1" "$2" "$3" ;;
	uninstall) rm -f "$3" ;;
	esac
}

# text MODE SOURCE TARGET: a file that names others
text() {
	file "$@"
	[ $action = uninstall ] || placed "$2" > "$3"
}

# settings SOURCE TARGET
settings() {
	case $action in
	install) [ -e "$2" ] || text 644 "$1" "$2" ;;
	uninstall) if placed "$1" | cmp -s - "$2"; then rm -f "$2"; fi ;;
	esac
}

case $action in
install | uninstall) ;;
*) echo "install.sh: $action: only install and uninstall are known" >&2 && exit 2 ;;
esac

file 755 "$PROGRAM" "$usr/bin/t410trace"
[ -z "$GPU" ] || file 755 "$GPU" "$usr/bin/t410trace-gpu"
for page in man/*.1; do text 644 "$page" "$usr/share/man/man1/${page#man/}"; done
file 644 completion/t410trace "$usr/share/bash-completion/completions/t410trace"
file 644 completion/_t410trace "$usr/share/zsh/site-functions/_t410trace"
file 644 completion/t410trace.fish "$usr/share/fish/vendor_completions.d/t410trace.fish"
for schema in share/*.schema.json; do file 644 "$schema" "$share/${schema#share/}"; done
for rules in share/prometheus/*.rules.yml; do file 644 "$rules" "$share/${rules##*/}"; done
file 644 share/grafana/t410trace.json "$share/grafana-dashboard.json"
for script in packaging/slurm/*.sh; do text 755 "$script" "$share/slurm-${script##*/}"; done
text 755 packaging/collect/collect.sh "$share/collect.sh"
file 644 include/esp/monitors.h "$usr/include/t410trace/esp/monitors.h"
for unit in packaging/systemd/*; do text 644 "$unit" "$usr/lib/systemd/system/${unit##*/}"; done
for folder in sysusers.d tmpfiles.d; do
	text 644 packaging/$folder/t410trace.conf "$usr/lib/$folder/t410trace.conf"
done
text 644 packaging/apparmor/t410trace-serve "$DESTDIR$SYSCONFDIR/apparmor.d/t410trace-serve"
settings packaging/serve.conf "$etc/serve.conf"
settings packaging/slurm/epilog.conf "$etc/epilog.conf"
settings packaging/collect/collect.conf "$etc/collect.conf"

for page in README.md CHANGELOG.md docs/*.md; do text 644 "$page" "$doc/$page"; done
for page in docs/*.svg docs/pictures/* docs/examples/source.* docs/examples/platform.json LICENSE LICENSES/*; do
	file 644 "$page" "$doc/$page"
done
[ ! -r "$LICENCE" ] || file 644 "$LICENCE" "$doc/LICENSES/dygraphs"

# Folders of its own; others may have files in them, too.
if [ $action = uninstall ]; then
	for folder in "$share" "$usr/include/t410trace/esp" "$usr/include/t410trace" "$doc/docs/pictures" \
		"$doc/docs/examples" "$doc/docs" "$doc/LICENSES" "$doc" "$etc"; do
		[ ! -d "$folder" ] || rmdir --ignore-fail-on-non-empty "$folder"
	done
fi
