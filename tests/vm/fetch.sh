#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Fetch and unpack Debian's source of a kernel series into the cache: fetch.sh [SERIES]. Done once; to get a newer
# one, remove the folder src/SERIES from the cache.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/apt.sh"

series=${1:-${KERNEL:-6.12}}
package=linux-source-$series
tree=$cache/src/$series

lock sources
[[ ! -f $tree/Makefile ]] || exit 0

need patch
need xz
# Debian 13 has 6.12 itself and newer series among its backports, for as long as these last.
apt_setup trixie trixie-backports
version=$(apt_version "$package")
if [[ -z $version ]]; then
	die "Debian has no $package any more. It has: $(apt_names linux-source- | tr '\n' ' ')." \
	    "Choose one with KERNEL=, or another tree with KSRC="
fi

work=$cache/src/.new
rm -rf "$work"
apt_fetch "$work/deb" "$package=$version"
step "opening $package" dpkg-deb -x "$work"/deb/*.deb "$work/package"
mkdir "$work/tree"
step "unpacking $package" tar -xJf "$work/package/usr/src/$package.tar.xz" -C "$work/tree" --strip-components=1
mv "$work/tree" "$tree"
rm -rf "$work"
say "Linux source $version is in $tree"
