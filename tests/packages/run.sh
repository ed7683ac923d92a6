#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Build the Debian packages, check them by lintian, and install them in a fresh Debian 13, where DKMS builds the modules for
# Debian's stock kernel. Boot that kernel with what is installed, and remove all of it. Then check the recipes for Yocto.

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../vm/apt.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../vm/debian.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../vm/console.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../modules/stock.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../modules/boot.sh"
. "$(dirname "${BASH_SOURCE[0]}")/result.sh"

here=$repo/tests/packages
work=$cache/packages/$(hash_of "$repo")
# tests of the packages, not of who builds them
export DEBFULLNAME=hyptrace DEBEMAIL=hyptrace@debian.org
# what a user's machine has anyway; the libraries come as dependencies of the packages
fresh=(bash-completion cpio dkms gcc libc6-dev make man-db pkgconf systemd udev)

# field ARCHITECTURE PACKAGE FIELD: print that field of a package
field()
{
	dpkg-deb -f "$(echo "$work/deb/$2_"*"_$1.deb")" "$3"
}

# names ARCHITECTURE PACKAGE: print the names of the packages that it depends on
names()
{
	field "$1" "$2" Depends | tr , '\n' | sed 's/^ *//; s/ .*//' | sort
}

same_depends()
{
	local package
	for package in hyptrace libhyptrace1 libhyptrace-dev; do
		diff <(names amd64 $package) <(names arm64 $package) || return
		field arm64 "$package" Architecture | grep -qx arm64 || return
	done
	names arm64 hyptrace | grep -qx libtracefs1
}

is_for_arm64()
{
	local file=$work/arm64
	rm -rf "$file"
	dpkg-deb -x "$work"/deb/hyptrace_*_arm64.deb "$file" && dpkg-deb -x "$work"/deb/libhyptrace1_*_arm64.deb "$file" &&
		readelf -h "$file/usr/bin/hyptrace" | grep -q 'Machine:.*AArch64' &&
		readelf -d "$file/usr/lib/aarch64-linux-gnu/libhyptrace.so.1" | grep -q 'SONAME.*\[libhyptrace.so.1\]'
}

lints()
{
	debian_inside "$build_root" "$work/deb" sh -c 'lintian --allow-root --fail-on error,warning /mnt/*.changes'
}

# add_up FILE: add the results of other tests, whose last line is "N passed, N failed"
add_up()
{
	cat "$1"
	if [[ $(tail -n 1 "$1") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		((passed += BASH_REMATCH[1], failed += BASH_REMATCH[2])) || true
	else
		result "$1 ends with a summary" false
	fi
}

logs_no_warnings()
{
	! console_complaints "$1"
}

mkdir -p "$work"
result "the packages build for amd64 and arm64" env DEB_OUT="$work/deb.new" "$repo/tools/packaging/deb.sh"
rm -rf "$work/deb"
mv "$work/deb.new" "$work/deb"
build_root=$("$repo/tools/packaging/deb.sh" --root)
result "lintian finds no errors and no warnings" lints
result "the packages for arm64 depend on the same packages as those for amd64" same_depends
result "the packages for arm64 have programs for arm64" is_for_arm64

lock stock
stock_make_root
version=$(stock_kernel 6.12)
debian_root fresh apt "$stock_machine" "${fresh[@]}" "linux-headers-$version-$stock_flavour"
rm -rf "$work/root" "$work/out"
step "copying the fresh Debian" cp -a "$debian_root" "$work/root"
mkdir "$work/out"
cp -r "$work/deb" "$here/init" "$here/inside.sh" "$here/result.sh" "$work/out/"
cp /etc/resolv.conf "$work/root/etc/"
awk '/^```/ { in_c = $0 == "```c"; next } in_c' "$repo/README.md" >"$work/out/example.c"
for part in install initramfs; do
	debian_inside "$work/root" "$work/out" /mnt/inside.sh "$part" "$version-$stock_flavour" "$stock_machine" \
		>"$work/out/$part" 2>&1 || true
	add_up "$work/out/$part"
done
stock_boot "$version" "$work/out" >"$work/out/boot" || true
add_up "$work/out/boot"
result "the stock kernel $version logs no warnings" logs_no_warnings "$work/out/console"
debian_inside "$work/root" "$work/out" /mnt/inside.sh purge "$version-$stock_flavour" "$stock_machine" \
	>"$work/out/purge" 2>&1 || true
add_up "$work/out/purge"
rm -rf "$work/root" "$work/out/initramfs.cpio"

"$here/yocto.py" >"$work/out/yocto" 2>&1 || true
add_up "$work/out/yocto"
echo "$passed passed, $failed failed"
((failed == 0))
