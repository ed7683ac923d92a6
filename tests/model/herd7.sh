#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Install herd7 into the cache, together with the C library that it was built for, and print the path of a program
# that runs it. Debian has the package from forky on; the host's own packages do not change. Called by litmus.sh.
# To update herd7, remove the folder herd7 from the cache.

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../vm/apt.sh"

suite=forky
dir=$cache/herd7

# Write a wrapper that uses herd7's own C library: the one of this machine may be too old.
write_wrapper()
{
	local loader lib
	loader=$(find "$1/root" -name 'ld-linux*.so.*' | head -n 1)
	lib=$(dirname "$(find "$1/root" -name libc.so.6 | head -n 1)")
	[[ -n $loader && -x $1/root/usr/bin/herd7 ]] || die "there is no herd7 in Debian's package herdtools7"
	cat >"$1/herd7" <<-EOF
		#!/bin/sh
		exec "$dir${loader#"$1"}" --library-path "$dir${lib#"$1"}" "$dir/root/usr/bin/herd7" \
			-set-libdir "$dir/root/usr/share/herdtools7/herd" "\$@"
	EOF
	chmod +x "$1/herd7"
}

lock herd7
if [[ ! -x $dir/herd7 ]]; then
	work=$cache/.herd7.new
	rm -rf "$work"
	apt_setup "$suite"
	[[ -n $(apt_version herdtools7) ]] || die "Debian $suite has no herdtools7 for $(dpkg --print-architecture)"
	apt_fetch "$work/deb" herdtools7 libc6 libgmp10
	for deb in "$work"/deb/*.deb; do
		step "unpacking $(basename "$deb" | cut -d _ -f 1)" dpkg-deb -x "$deb" "$work/root"
	done
	rm -rf "$work/deb"
	write_wrapper "$work"
	rm -rf "$dir"
	mv "$work" "$dir"
fi
"$dir/herd7" -version >&2 || die "herd7 of Debian $suite does not run on this machine"
echo "$dir/herd7"
