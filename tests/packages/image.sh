# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash disable=SC2154  # variables of packages.sh
# The parts image and pod of tests/packages.sh.

# storage ARGUMENT...: buildah, whose images are in a folder of the test
storage() { $storage "$@"; }
storage="buildah --root $work/images --runroot $work/images.run --storage-driver vfs"

# image_twice: the same to the byte
image_twice() {
	local arch
	packaging/image.sh && packaging/image.sh "$work/image" || return
	for arch in amd64 arm64; do
		cmp build/image/t410trace-$arch.tar "$work/image/t410trace-$arch.tar" || return
	done
}

# unpacked ARCHIVE ROOT: an image's files, and its architecture in ROOT.arch
unpacked() {
	local container
	container=$(storage from --arch "$(basename "$1" .tar | sed 's/.*-//')" "oci-archive:$PWD/$1") ||
		return
	rm -rf "$2"
	mkdir -p "$2"
	cp -a "$(storage mount "$container")/." "$2" &&
		storage inspect --format '{{.OCIv1.Architecture}}' "$container" > "$2.arch" &&
		storage rm "$container"
}

# image_files ARCH: nothing but the program and licences, and it is for this architecture
image_files() {
	local root=$work/image-$1
	unpacked "build/image/t410trace-$1.tar" "$root" && grep -q "^$1\$" "$root.arch" &&
		[ "$(find "$root" -type f ! -path '*/doc/*' -printf '%m %P\n')" = "755 usr/bin/t410trace" ]
}

# emulated ARCH ARGUMENT...: t410trace of an image; it sees its own root and this kernel's folders
emulated() {
	local root=$work/image-$1 machine=aarch64
	[ "$1" = arm64 ] || machine=x86_64
	shift
	mkdir -p "$root/proc" "$root/sys"
	cp "/usr/bin/qemu-$machine-static" "$root/emulator"
	# shellcheck disable=SC2016  # for the shell in the namespace
	unshare --mount --propagation private sh -c 'root=$1 && shift &&
		mount --rbind /proc "$root/proc" && mount --rbind /sys "$root/sys" &&
		exec chroot "$root" /emulator /usr/bin/t410trace "$@"' sh "$root" "$@"
}

# image_elsewhere ARCH: it runs, and tells what an emulator of commands lacks
image_elsewhere() {
	local said status
	emulated "$1" --version || return
	said=$(emulated "$1" check 2>&1)
	status=$?
	echo "$said"
	[ $status = 1 ] && grep -q '^t410trace cannot work here, missing: .*bpf' <<< "$said"
}

# pushed: both images under one name, by the commands of INSTALL.md; a folder takes the place of a
# registry
pushed() {
	local folder=$work/pushed
	bash -ec "$(sed -n 's/^    \(buildah manifest .*\)/\1/p' docs/INSTALL.md |
		sed "s#^buildah#$storage#; s#docker://.*#oci:$folder#")" || return
	[ "$(grep -ho '"platform":{"architecture":"[a-z0-9]*"' "$folder"/blobs/sha256/* |
		cut -d '"' -f 6 | sort | xargs)" = "amd64 arm64" ]
}

part_image() {
	local other=arm64 arch
	[ $native = amd64 ] || other=amd64
	try "image build" image_twice || return
	for arch in amd64 arm64; do try "image $arch" image_files $arch; done
	try "image $other emulated" image_elsewhere $other
	try "image pushed" pushed
}

have_image() { ls build/image/t410trace-$native.tar || packaging/image.sh; }

part_pod() {
	try "pod image" have_image && try "pod files" image_files $native || return
	tests/kubernetes.py run "$work/image-$native" "$work/pod" ||
		echo "not ok packages pod: kubernetes.py ended with $?"
}
