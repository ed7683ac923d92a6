#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Install a program of a newer Debian into the cache, together with the C library that it was built for, and print the path
# of a wrapper that runs it; the host's own packages do not change: program.sh SUITE PACKAGE PROGRAM LIBRARY... [-- ARGUMENT...]
# LIBRARY are the packages of its libraries. The wrapper passes the ARGUMENTs first, in which ROOT is the folder of the
# packages. To update the program, remove its folder from the cache.

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../vm/apt.sh"

suite=$1 package=$2 program=$3 libraries=()
shift 3
while (($#)) && [[ $1 != -- ]]; do
	libraries+=("$1")
	shift
done
shift
dir=$cache/$program

# Write a wrapper that uses the program's own C library: the one of this machine may be too old.
write_wrapper()
{
	local loader lib
	loader=$(find "$1/root" -name 'ld-linux*.so.*' | head -n 1)
	lib=$(dirname "$(find "$1/root" -name libc.so.6 | head -n 1)")
	[[ -n $loader && -x $1/root/usr/bin/$program ]] || die "there is no $program in Debian's package $package"
	shift
	cat >"$work/$program" <<-EOF
		#!/bin/sh
		exec "$dir${loader#"$work"}" --library-path "$dir${lib#"$work"}:$dir/root/usr/lib" "$dir/root/usr/bin/$program" ${*//ROOT/"$dir/root"} "\$@"
	EOF
	chmod +x "$work/$program"
}

lock "$program"
if [[ ! -x $dir/$program ]]; then
	work=$cache/.$program.new
	rm -rf "$work"
	apt_setup "$suite"
	[[ -n $(apt_version "$package") ]] || die "Debian $suite has no $package for $(dpkg --print-architecture)"
	apt_fetch "$work/deb" "$package" libc6 "${libraries[@]}"
	for deb in "$work"/deb/*.deb; do
		step "unpacking $(basename "$deb" | cut -d _ -f 1)" dpkg-deb -x "$deb" "$work/root"
	done
	rm -rf "$work/deb"
	write_wrapper "$work" "$@"
	rm -rf "$dir"
	mv "$work" "$dir"
fi
"$dir/$program" -version >&2 || "$dir/$program" --version >&2 || die "$program of Debian $suite does not run on this machine"
echo "$dir/$program"
