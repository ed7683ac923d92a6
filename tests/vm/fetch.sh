#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Fetch Debian's source of a kernel series and unpack it into the cache, unless it is there. To get a newer version,
# remove the folder src/SERIES from the cache.
#
#   fetch.sh [SERIES]    fetch this series, or the newest one with "newest"
#   fetch.sh --newest    print the newest series of the archive, or of the cache if the archive cannot be reached; what the
#                        archive has said is good for an hour

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/apt.sh"

# Debian 13 has 6.12, and newer series as backports until newer ones replace them.
suites=(trixie trixie-backports)

archive_series()
{
	apt_names linux-source- | sed -nE 's/^linux-source-([0-9]+\.[0-9]+)$/\1/p' | while read -r line; do
		[[ -z $(apt_version "linux-source-$line") ]] || printf '%s\n' "$line"
	done
}

cached_series()
{
	local folder
	for folder in "$cache"/src/*/; do
		folder=$(basename "$folder")
		[[ ! $folder =~ ^[0-9]+\.[0-9]+$ || ! -f $cache/src/$folder/Makefile ]] || printf '%s\n' "$folder"
	done | sort -V
}

newest_series()
{
	local found said=$cache/newest
	if [[ -n $(find "$said" -mmin -60 2>/dev/null) ]]; then
		cat "$said"
		return
	fi
	found=$(apt_setup "${suites[@]}" && archive_series | sort -V | tail -n 1) || found=
	if [[ -z $found ]]; then
		found=$(cached_series | tail -n 1)
		[[ -n $found ]] || die "the archive cannot be asked for kernel sources, and the cache has none:" \
			"check the network and \"apt-get update\""
		say "the archive cannot be asked for kernel sources: using the newest series in the cache, Linux $found"
	else
		printf '%s\n' "$found" >"$said.$$"
		mv "$said.$$" "$said"
	fi
	printf '%s\n' "$found"
}

lock sources
if [[ ${1:-} == --newest ]]; then
	newest_series
	exit
fi
series=${1:-${KERNEL:-6.12}}
[[ $series != newest ]] || series=$(newest_series)
package=linux-source-$series
tree=$cache/src/$series

[[ ! -f $tree/Makefile ]] || exit 0

need patch
need xz
apt_setup "${suites[@]}"
version=$(apt_version "$package")
if [[ -z $version ]]; then
	die "Debian has no $package, or no longer. It has: $(archive_series | xargs)." \
	    "Choose one of these with KERNEL=, or another tree with KSRC="
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
