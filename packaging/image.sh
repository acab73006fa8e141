#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# image.sh [FOLDER]: the image of packaging/kubernetes/Containerfile for amd64 and arm64, as archives of
# OCI FOLDER/t410trace-ARCH.tar (build/image), by buildah. Its programs are static, and it has
# no base: nothing is fetched.
set -eu
cd "$(dirname "$0")/.."
mkdir -p "${1:-build/image}"
out=$(cd "${1:-build/image}" && pwd)
command -v buildah > /dev/null || packaging/deps.sh buildah >&2
# shellcheck disable=SC2046  # three words
set -- $(packaging/version.sh)
version=$(echo "$1" | sed 's/+$/-changed/; s/[~+]/-/g') commit=$2 time=$3
case $(uname -m) in
aarch64) native=arm64 ;;
*) native=amd64 ;;
esac
for arch in amd64 arm64; do
	# a program for this machine has a folder of its own, beside that of "make"
	variant=
	[ $arch != $native ] || variant=-static
	${MAKE:-make} -s -j"$(nproc)" ARCH=$arch VARIANT=$variant
	install -D -m 755 build/$arch$variant/t410trace "$out/context/$arch/t410trace"
done
for file in LICENSE LICENSES/*; do install -D -m 644 "$file" "$out/context/$file"; done
for arch in amd64 arm64; do
	rm -rf "$out/oci"
	# nothing stays in the storage of this machine
	buildah --root "$out/storage" --runroot "$out/storage.run" --storage-driver vfs build --platform linux/$arch \
		--timestamp "$time" --label org.opencontainers.image.version="$version" \
		--label org.opencontainers.image.revision="$commit" -f packaging/kubernetes/Containerfile \
		-t "oci:$out/oci:t410trace:$version" "$out/context"
	# buildah's own archives have the time of now in them
	tar --mtime="@$time" --owner=0 --group=0 --numeric-owner --mode=u+rw,go+r,go-w --sort=name -C "$out/oci" \
		-cf "$out/t410trace-$arch.tar" blobs index.json oci-layout
done
rm -rf "$out/context" "$out/oci" "$out/storage" "$out/storage.run"
