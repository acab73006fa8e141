# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-only
# common.sh: messages, exit statuses, and products that are built once. (SC2034: used
# by other parts.)

# Statuses that no command of a test uses; 124 is what timeout(1) says.
readonly STATUS_TIMEOUT=124 STATUS_FAILED=125 STATUS_NO_NETWORK=126
readonly UNUSED_DAYS=30
VERBOSE=

say() { printf 'machine: %s\n' "$*" >&2; }

die() {
	say "$*"
	exit $STATUS_FAILED
}

die_usage() {
	say "$* (run --help)"
	exit 2
}

# Callers report tests as skipped on this status, with the line printed here.
die_no_network() {
	say "no network, and not in the cache: $*"
	exit $STATUS_NO_NETWORK
}

# step WHAT: with --verbose, say what ended here and how long it took
step_start=${EPOCHREALTIME/./}
step() {
	local now=${EPOCHREALTIME/./}
	local ms=$(((now - step_start) / 1000))
	[ -z "$VERBOSE" ] || say "$(printf '%-36s %3d.%03d s' "$1" $((ms / 1000)) $((ms % 1000)))"
	step_start=$now
}

# hash_of FILE... [-- WORD...]: a short name for these contents
hash_of() {
	local files=()
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		files+=("$1")
		shift
	done
	{
		[ ${#files[@]} = 0 ] || sha256sum -- "${files[@]}" | cut -d' ' -f1
		printf '%s\n' "$@"
	} | sha256sum | cut -c1-16
}

# product KIND KEY MAKER ARG...: sets PRODUCT to the folder of that kind and key.
# MAKER fills a new folder (its first argument) if there is none yet. The folder
# gets its name when it is complete, so that an interrupted build leaves nothing
# that looks finished, and a key holds all inputs, so that nothing gets stale.
product() {
	local kind=$1 key=$2 maker=$3 new=$MACHINE_DIR/$1/new
	shift 3
	PRODUCT=$MACHINE_DIR/$kind/$key
	if [ -d "$PRODUCT" ]; then
		touch "$PRODUCT"
		return 0
	fi
	say "making: $kind"
	rm -rf "$new"
	mkdir -p "$new"
	"$maker" "$new" "$@"
	mv "$new" "$MACHINE_DIR/$kind/$key"
	# those of other kernels and versions of our sources, once nobody wants them
	find "$MACHINE_DIR/$kind" -mindepth 1 -maxdepth 1 -mtime +$UNUSED_DAYS -exec rm -rf {} +
	step "$kind"
}

# logged LOG WHAT COMMAND...: run quietly; if it fails, show the end of its output
logged() {
	local log=$1 what=$2
	shift 2
	"$@" > "$log" 2>&1 < /dev/null && return 0
	tail -n 15 "$log" >&2
	die "$what failed, all of it in $log"
}

# Only one process builds; descriptor 9 holds the lock until it is closed.
lock_cache() {
	mkdir -p "$MACHINE_DIR" 2> /dev/null || die "cannot make the cache folder $MACHINE_DIR"
	exec 9> "$MACHINE_DIR/lock"
	flock -n 9 || {
		say "another process is preparing the machine, waiting for it"
		flock 9
	}
}

unlock_cache() { exec 9>&-; }

remove_products() {
	rm -rf "${MACHINE_DIR:?}"/{kernel,qemu,emulation,programs,tables,initrd,userland,slurm,systemd,real,runs,logs}
}
