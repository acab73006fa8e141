#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# style.sh [--changed]: what a machine can see of the house style, in all files or in those that are
# not committed yet.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
MAX_LINES=800
MAX_FUNCTION=80

# judge NAME: ok if standard input is empty, else its first lines are the reason
judge() {
	local found
	found=$(head -n 20)
	if [ -z "$found" ]; then
		echo "ok $1"
	else
		echo "not ok $1: $(head -n 1 <<< "$found")"
		tail -n +2 <<< "$found"
	fi
}

[ "${1:-}" = --changed ] && CHANGED=1
# Files of the project; a tree without git (a release) is searched instead.
files() {
	[ -z "${CHANGED:-}" ] || {
		git diff --name-only --diff-filter=d HEAD -- "$@"
		git ls-files -o --exclude-standard -- "$@"
		return
	}
	all_files "$@"
}
all_files() { git ls-files -co --exclude-standard -- "$@" 2> /dev/null || find . -type f -path "${1/\*/\*}"; }
ours() { files '*.c' '*.h' | grep -v '^vmlinux/'; }

licences() {
	local f want
	files '*.c' '*.h' '*.sh' '*.py' '*.mk' '*.in' '*.conf' '*.md' '*.js' '*.css' Makefile .clang-format .ci/run tests/check-report \
		tests/machine/run tests/machine/plugin/tests/run 'tests/machine/guest/bin/*' tests/machine/guest/init | while read -r f; do
		case $f in
		bpf/* | tests/machine/* | *.bpf.c) want='GPL-2.0-only' ;;
		*) want='GPL-2.0-only OR BSD-2-Clause' ;;
		esac
		head -n 3 "$f" | grep -qE "SPDX-License-Identifier: $want( \*/| -->)?$" || echo "$f does not say $want"
	done
}

# References go down, in what is included and in what is linked; the engine is pure: no system calls,
# no clock, no environment.
layers() {
	make -s -j"$(nproc)" > "$built" 2>&1 || echo "the program does not build"
	tests/rooms.py "build/$1" 2>&1
	grep -rnE --include='*.[ch]' '#include <(unistd|time|sys/|bpf/|fcntl|dirent)|getenv|printf\(stderr' user/{engine,tables,model}
}

# run.sh starts them by name.
unrunnable() {
	files 'tests/cli/test_*.py' 'tests/machine/test_*.py' | while read -r f; do
		[ -x "$f" ] || echo "$f cannot be run: chmod +x"
		grep -qE "^\s+(script )?$f( |\$)" tests/run.sh || echo "$f is not run: tests/run.sh does not name it"
	done
}

long_files() { ours | xargs -r wc -l | awk -v max=$MAX_LINES '$2 != "total" && $1 > max { print $2 " has " $1 " lines" }'; }

long_functions() {
	ours | xargs -r awk -v max=$MAX_FUNCTION '
		/^\{/ { start = FNR }
		/^\}/ { if (start && FNR - start > max) print FILENAME ":" start ": a function of " FNR - start " lines"; start = 0 }'
}

# Prose is wrapped; tables, code and the targets of links are as long as they have to be.
MAX_COLUMNS=100
long_prose() {
	local f
	files '*.md' | while read -r f; do
		LC_ALL=C.UTF-8 sed -E '/^```/,/^```/s/.*//; s/^( *\||    ).*//; s/\]\([^)]*\)/]/g' "$f" |
			LC_ALL=C.UTF-8 grep -nE "^.{$((MAX_COLUMNS + 1)),}" |
			sed "s|^\([0-9]*\):.*|$f:\1: a line of more than $MAX_COLUMNS columns|"
	done
}

# The scripts of the guest are one program: the later of two functions of a name would be both.
twice() { grep -hoE '^[a-z0-9_]+\(\)' tests/machine/guest*.sh | sort | uniq -d | sed 's/$/ is defined twice in tests\/machine\/guest*.sh/'; }

# Only commands talk to the user.
printing() { grep -rnE --include='*.c' '\b(puts|printf|fprintf ?\((stderr|stdout))' user/{base,tables,model,platform,engine} | grep -vE 'sn?printf|vsnprintf|asprintf|format\(printf'; }

unchanged() { # FILE COMMAND...: the file is what the command prints
	local f=$1
	shift
	"$@" 2> /dev/null | cmp -s - "$f" || echo "$f is not up to date: make docs"
}

documents() {
	make -s -j"$(nproc)" "build/$1/gendoc" t410trace > /dev/null 2>&1 || echo "gendoc does not build"
	unchanged man/t410trace.1 "build/$1/gendoc" man < man/t410trace.1.in
	unchanged completion/t410trace "build/$1/gendoc" completion bash
	unchanged completion/_t410trace "build/$1/gendoc" completion zsh
	unchanged completion/t410trace.fish "build/$1/gendoc" completion fish
	unchanged docs/RECORDING.md "build/$1/gendoc" recording < docs/RECORDING.md
	unchanged docs/flow.svg docs/flow.py
	docs/examples.py --check ./t410trace README.md docs/*.md
	# only what man complains about, not the page
	for page in man/*.1; do { MANWIDTH=80 man --warnings -l "$page" > /dev/null; } 2>&1; done
	grep -q 'make demo' README.md || echo "README.md does not show make demo"
	grep -q 'make check' README.md || echo "README.md does not show make check"
}

native=amd64
[ "$(uname -m)" != aarch64 ] || native=arm64

# Versions differ in what they make of the same rules. Debian 12 has this one.
if command -v clang-format-14 > /dev/null; then
	ours | xargs -r clang-format-14 --dry-run -Werror 2>&1 | grep error: | judge "clang-format"
else
	echo "skip clang-format: there is no clang-format-14"
fi
licences | judge "licences"
built=$(mktemp)
trap 'rm -f "$built"' EXIT
layers "$native" | judge "references go down"
[ -z "${FROM_NOTHING:-}" ] || grep -i -A3 warning "$built" | judge "build gcc"
printing | judge "only commands print"
long_files | judge "files of at most $MAX_LINES lines"
long_functions | judge "functions of at most $MAX_FUNCTION lines"
ours | xargs -r grep -nE '\b(TODO|FIXME|XXX)\b' | judge "nothing left behind"
files '*.sh' .ci/run completion/t410trace tests/machine/run tests/machine/plugin/tests/run 'tests/machine/guest/bin/*' tests/machine/guest/init | xargs -r shellcheck -x -S warning 2>&1 | judge "shellcheck"
unrunnable | judge "tests are run"
long_prose | judge "documents of at most $MAX_COLUMNS columns"
twice | judge "functions of the guest have names of their own"
documents "$native" | judge "documents are up to date"
exit 0
