# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# packages.sh: Debian packages, with apt state of our own. The mirror is the one this
# machine is configured for; only the suite is another, and mostly the architecture.

# Never taken from the package lists: the keys must already be trusted here.
readonly DEBIAN_KEYS=/usr/share/keyrings/debian-archive-keyring.gpg
# pahole: without it the kernel is configured differently and modules do not fit
readonly TOOLS=(iasl gcc make aarch64-linux-gnu-gcc pahole flex bison bc cpio xz depmod python3
	apt-get dpkg-deb flock setsid setpriv renice)

check_tools() {
	local tool missing=()
	for tool in "${TOOLS[@]}"; do
		command -v "$tool" > /dev/null || [ -x "/usr/sbin/$tool" ] || missing+=("$tool")
	done
	[ -r "$DEBIAN_KEYS" ] || missing+=("$DEBIAN_KEYS")
	[ ${#missing[@]} = 0 ] || die "missing on this machine: ${missing[*]}; make deps installs them"
}

# use_suite SUITE [ARCH]: from now on apt_private works on packages of that suite; on
# those of arm64 unless told otherwise
use_suite() {
	APT_STATE=$MACHINE_DIR/apt/$1${2:+-$2}
	APT_ARCH=${2:-arm64}
	APT_SUITES=$1
	# these two hold only what differs from another suite
	case $1 in
	*-backports) APT_SUITES+=" ${1%-backports}" ;;
	experimental) APT_SUITES+=" sid" ;;
	esac
}

# Everything of the machine's apt configuration stays (proxies, logins), except
# what is said here. The empty status file makes dependencies complete: for apt
# nothing is installed.
apt_private() { # COMMAND ARG...
	local tool=$1
	shift
	"$tool" -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$APT_STATE/sources" \
		-o "Dir::State::Lists=$APT_STATE/lists" -o "Dir::State::Status=$APT_STATE/status" \
		-o "Dir::Cache=$APT_STATE/cache" -o "APT::Architecture=$APT_ARCH" -o "APT::Architectures=$APT_ARCH" \
		-o Acquire::Languages=none -o Acquire::Retries=2 -o Acquire::http::Timeout=20 \
		-o "APT::Sandbox::User=$(id -un)" -o APT::Install-Recommends=false "$@"
}

write_sources() {
	local mirror release
	read -r mirror release < <("$MACHINE_SRC/../../packaging/mirror.sh") && [ -n "$release" ] ||
		die "apt of this machine has no Debian mirror configured"
	mkdir -p "$APT_STATE"/{sources,lists/partial,cache/archives/partial}
	: > "$APT_STATE/status"
	cat > "$APT_STATE/sources/machine.sources" <<-END
	Types: deb
	URIs: $mirror
	Suites: $APT_SUITES
	Components: main
	Architectures: $APT_ARCH
	Signed-By: $DEBIAN_KEYS
	END
}

# network_trouble LOG: apt failed because nothing could be reached. Not so if a
# signature was wrong: that must never pass for a test that is merely skipped.
network_trouble() {
	! grep -qE 'NO_PUBKEY|BADSIG|EXPKEYSIG|not signed|Hash Sum mismatch' "$1" &&
		grep -qiE 'could not (resolve|connect)|cannot initiate|temporary failure|unable to connect|network is unreachable|connection (failed|refused|timed out)|no route to host' "$1"
}

# fetch_lists: the suite in use; 1 if that failed, NETWORK_DOWN says why
fetch_lists() {
	local log=$MACHINE_DIR/logs/lists-${APT_STATE##*/}.log
	mkdir -p "$MACHINE_DIR/logs"
	write_sources
	# by default apt calls it a success when it could fetch nothing
	apt_private apt-get -q -o APT::Update::Error-Mode=any update > "$log" 2>&1 && return 0
	NETWORK_DOWN=
	! network_trouble "$log" || NETWORK_DOWN=1
	say "no package lists of $APT_SUITES: $(grep -E '^[EW]:' "$log" | head -n 1), see $log"
	return 1
}

# "name version" of each package of the suites in use
available_packages() {
	apt_private apt-cache dumpavail | awk '$1 == "Package:" { name = $2 } $1 == "Version:" { print name, $2 }' | sort -u
}

# apt_fetch FOLDER WHAT apt-get-ARGUMENT...: packages into FOLDER. Lists that have
# become old name files that the mirror has dropped: renewed once.
apt_fetch() {
	local folder=$1 what=$2 log=$MACHINE_DIR/logs/fetch.log try
	shift 2
	mkdir -p "$folder/partial" "$MACHINE_DIR/logs"
	for try in 1 2; do
		[ -n "$(compgen -G "$APT_STATE/lists/*_Packages*")" ] || try=2
		[ $try = 1 ] || fetch_lists || break
		(cd "$folder" && apt_private apt-get -q -y -o "Dir::Cache::Archives=$folder" "$@") > "$log" 2>&1 && return 0
		! network_trouble "$log" || NETWORK_DOWN=1
		[ -z "${NETWORK_DOWN:-}" ] || break
	done
	[ -z "${NETWORK_DOWN:-}" ] || die_no_network "$what"
	[ ! -s "$log" ] || tail -n 5 "$log" >&2
	die "download failed: $what, see $log (is the version gone? run prepare --refresh)"
}

# fetch_packages FOLDER PACKAGE=VERSION...: those not yet in FOLDER; a file gets
# there only when apt has checked it
fetch_packages() {
	local folder=$1 package missing=()
	shift
	for package in "$@"; do
		compgen -G "$folder/${package%%=*}_*.deb" > /dev/null || missing+=("$package")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	rm -rf "$folder/new"
	apt_fetch "$folder/new" "${missing[*]}" download "${missing[@]}"
	mv "$folder"/new/*.deb "$folder/"
	rm -rf "$folder/new"
}
