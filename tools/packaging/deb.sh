#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Build the Debian packages in a root of Debian 13 in the cache of the test bed, so that the packages of this machine do not
# matter. The environment chooses:
#   DEB_ARCH="amd64 arm64"    the architectures (default: both)
#   DEB_OUT=FOLDER            where the packages go (default: tools/packaging/build)
#   DEBFULLNAME=, DEBEMAIL=   the maintainer's name and address (default: those of the last commit)
# deb.sh --root prints the folder of that root, which has lintian, too.

tests=$(dirname "${BASH_SOURCE[0]}")/../../tests/vm
# shellcheck source=tests/vm/lib.sh
. "$tests/lib.sh"
# shellcheck source=tests/vm/apt.sh
. "$tests/apt.sh"
# shellcheck source=tests/vm/debian.sh
. "$tests/debian.sh"

debian=$repo/tools/packaging/debian
native=$(dpkg --print-architecture)
case $native in
amd64) foreign=arm64 ;;
arm64) foreign=amd64 ;;
*) die "packages can be built on amd64 and arm64, and this machine is $native" ;;
esac

# Print the -dev packages and pkgconf of Build-Depends, once for each architecture.
needed()
{
	local package
	sed -n '/^Build-Depends:/,/^$/p' "$debian/control" | grep -oE '(lib[a-z0-9-]+-dev|pkgconf)\b' | while read -r package; do
		echo "$package" "$package:$foreign"
	done
}

# stage FOLDER: copy what the packages are built from, with the version of the library
stage()
{
	local date maintainer version
	part() { sed -n "s/^#define HYPTRACE_LIB_VERSION_$1[[:space:]]*//p" "$repo/tools/lib/hyptrace.h"; }
	version=$(part MAJOR).$(part MINOR).$(part PATCH)
	date=$(git -C "$repo" log -1 --format=%cD 2>/dev/null) || date=$(date -R)
	maintainer=$(git -C "$repo" log -1 --format='%an <%ae>' 2>/dev/null) || maintainer="root <root@$(hostname)>"
	[[ -z ${DEBEMAIL:-} ]] || maintainer="${DEBFULLNAME:-hyptrace} <$DEBEMAIL>"
	mkdir -p "$1"
	rsync -a --exclude-from="$repo/.gitignore" "$repo"/{COPYING,Kbuild,driver,hyp,tools,uapi} "$1/"
	mv "$1/tools/packaging/debian" "$1/"
	sed -i "s/@maintainer@/$(printf %s "$maintainer" | sed 's,[\\/&],\\&,g')/" "$1/debian/control"
	printf 'hyptrace (%s) unstable; urgency=medium\n\n  * Version %s of hyptrace.\n\n -- %s  %s\n' \
		"$version" "$version" "$maintainer" "$date" >"$1/debian/changelog"
}

# build ARCHITECTURE KIND FOLDER: KIND is -b for all packages, or -B for those of the architecture
build()
{
	rm -rf "$3"
	stage "$3/hyptrace"
	# shellcheck disable=SC2016 # the inner shell expands them
	debian_inside "$debian_root" "$3" env DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$(nproc)" \
		sh -c 'cd /mnt/hyptrace && exec dpkg-buildpackage -us -uc "-a$1" "$2"' - "$1" "$2"
}

mapfile -t packages < <(needed | xargs -n 1)
((${#packages[@]} > 8)) || die "cannot read Build-Depends of $debian/control"
debian_root build buildd "$native,$foreign" debhelper dh-dkms lintian "crossbuild-essential-$foreign" "${packages[@]}"
if [[ ${1:-} == --root ]]; then
	echo "$debian_root"
	exit
fi

need rsync
to=${DEB_OUT:-$repo/tools/packaging/build}
mkdir -p "$to"
work=$(mktemp -d "$cache/debian/build.XXXXXX")
trap 'rm -rf "$work"' EXIT
kind=-b
for machine in ${DEB_ARCH:-$native $foreign}; do
	[[ $machine == "$native" || $machine == "$foreign" ]] || die "DEB_ARCH=$machine: it is neither $native nor $foreign"
	step "building the packages for $machine" build "$machine" $kind "$work/$machine"
	mv "$work/$machine"/*.{deb,changes,buildinfo} "$to/"
	kind=-B
done
say "the packages are in $to"
