#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Build the modules as a user without a kernel tree would: out of tree, against the headers of Debian's stock 6.12,
# with W=1 and no warning. The headers are unpacked into the cache, nothing is installed.

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../vm/apt.sh"

series=6.12
headers=$cache/headers/$series
log=$cache/log/modules
passed=0 failed=0

result()
{
	if [[ $1 == ok ]]; then
		((++passed))
	else
		((++failed))
	fi
	echo "$1 $2"
}

# The packages that the headers for this machine consist of, as built for this release: its compiler and libc fit.
fetch_headers()
{
	local release machine suite package common work=$cache/headers/.new
	release=$(. /etc/os-release && echo "$VERSION_CODENAME")
	machine=$(dpkg --print-architecture)
	suite=$release
	[[ $release == trixie ]] || suite=$release-backports
	apt_setup "$suite"
	package=$(apt_names "linux-headers-$series" | grep -E "^linux-headers-[0-9.]+\+deb[0-9]+-$machine\$" | tail -n 1)
	[[ -n $package ]] || die "$suite has no headers of a stock kernel $series; it has:" \
		"$(apt_names linux-headers- | grep -E -- "[0-9]-$machine\$" | tr '\n' ' ')"
	common=${package%-"$machine"}-common
	rm -rf "$work"
	apt_fetch "$work/deb" "$package" "$common" "$(apt-cache "${apt_options[@]}" depends "$package" |
		awk '$1 == "Depends:" && $2 ~ /^linux-kbuild-/ { print $2 }')"
	for package in "$work"/deb/*.deb; do
		dpkg-deb -x "$package" "$work/root"
	done
	# the headers' makefiles name each other by absolute paths
	mkdir -p "$cache/headers"
	rm -rf "$headers"
	mv "$work/root" "$headers"
	rm -rf "$work"
	grep -rlE '/usr/(src|lib)/linux-' "$headers/usr/src" --include=Makefile --include='*.mk' |
		xargs -r sed -i -E "s,(^|[^A-Za-z0-9])(/usr/(src|lib)/linux-),\1$headers\2,g"
	find "$headers" -type l -lname '/usr/*' -printf '%p %l\n' | while read -r link target; do
		ln -sfn "$headers$target" "$link"
	done
}

lock headers
[[ -d $headers ]] || fetch_headers
kdir=$(echo "$headers"/usr/src/linux-headers-*-"$(dpkg --print-architecture)")
[[ -f $kdir/Makefile ]] || die "the headers in $headers have no Makefile: remove that folder and try again"

work=$cache/modules/$(hash_of "$repo")
rm -rf "$work"
mkdir -p "$work"
rsync -a --exclude-from="$repo/.gitignore" "$repo"/{Kbuild,Makefile,driver,hyp,uapi} "$work/"

code=0
make -C "$work" modules KDIR="$kdir" W=1 KCFLAGS=-Werror -j"$(nproc)" >"$log" 2>&1 || code=$?
cat "$log"
for module in hyptrace hyptrace_test; do
	if [[ $code == 0 && -f $work/$module.ko ]]; then
		result ok "$module.ko builds against the stock kernel ${kdir##*/linux-headers-}"
	else
		result "not ok" "$module.ko builds against the stock kernel ${kdir##*/linux-headers-}"
	fi
done
if [[ ! -f $work/hyptrace.ko ]]; then
	:
elif /sbin/modinfo -F depends "$work/hyptrace_test.ko" | grep -q hyptrace; then
	result ok "hyptrace_test.ko finds the core that it needs"
else
	result "not ok" "hyptrace_test.ko finds the core that it needs"
fi
if grep -qi 'warning' "$log"; then
	result "not ok" "no warning with W=1"
else
	result ok "no warning with W=1"
fi
echo "$passed passed, $failed failed"
((failed == 0))
