# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash disable=SC2154  # variables of packages.sh
# The part commands of tests/packages.sh.

# commands: the lines of INSTALL.md that are commands, with their remarks, and those of README.md
# that it has not. What others need comes first.
commands() {
	{
		sed -nE 's/^    ([^ ].*)/\1/p' docs/INSTALL.md
		sed -n '/^## Install/,/^## Accuracy/s/^    //p' README.md
	} | awk '{ command = $0; sub(/  +#.*/, "", command) }
		seen[command]++ { next }
		command ~ /deps( |$|\.sh)/ { print; next }
		{ rest = rest $0 "\n" }
		END { printf "%s", rest }'
}

# reader_system ROOT: what README.md wants to be there, and sudo; apt asks nobody
reader_system() {
	system bookworm "$1" &&
		inside "$1" "apt-get -y -q --no-install-recommends install git gcc make sudo" &&
		echo 'APT::Get::Assume-Yes "true";' > "$1/etc/apt/apt.conf.d/90yes" &&
		git clone -q --no-hardlinks . "$1/root/t410trace"
}

# command_in ROOT COMMAND REMARK: it in the tree there; what its remark names must be there then
command_in() {
	{
		echo 'cd t410trace'
		# /usr/local/bin is in the PATH of people
		echo 'export CCACHE_DIR=/mnt CCACHE_NOHASHDIR=1 PATH=/usr/lib/ccache:/usr/local/bin:$PATH'
		case $2 in
		# a machine may lack what it says to be missing
		"t410trace check") echo "$2 || [ \$? = 1 ]" ;;
		# a folder takes the place of a registry
		*docker://*) echo "${2%docker://*}oci:/root/pushed" ;;
		*) echo "$2" ;;
		esac
		grep -oE '(^| )(\./|build/)[^ ]*' <<< "$3" |
			sed 's/[,;:]*$//; s/VERSION/*/; s/^ */ls -d /'
	} > "$1/root/command"
	cat "$1/root/command"
	MNT=$CCACHE_DIR inside "$1" "bash -e command"
}

part_commands() {
	local root=$work/commands line command
	try "commands system" reader_system "$root" || return
	while IFS= read -r line; do
		command=$(sed -E 's/ {2,}#.*//' <<< "$line")
		if [[ $command == *--selftest ]]; then
			echo "# not run: $command: this machine may have no counters"
		elif [[ $command == buildah* && ! -e $root/root/t410trace/build/image/t410trace-arm64.tar ]]; then
			echo "# not run: $command: there is no image"
		else
			try "commands $command" command_in "$root" "$command" "${line#"$command"}"
		fi
	done < <(commands)
	[ "${KEEP:-}" = 1 ] || remove "$root"
}
