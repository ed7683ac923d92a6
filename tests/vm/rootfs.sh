#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Make the guest's root file system from Debian packages, in the cache. A change of this file, of packages.guest or of
# guest-boot makes a new one. rootfs.sh --path prints its path. With guest_machine=amd64 in the environment it is for a
# kernel in user mode instead of for arm64.
#
# It is Debian 13 on any host: the tools need its kernel headers, those of 6.12, and its mirror also has the kernel
# sources.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/apt.sh"

suite=trixie
hash=$(cat "${BASH_SOURCE[0]}" "$vm/packages.guest" "$vm/guest-boot" | sha256sum | cut -c 1-12)
machine=${guest_machine:-arm64}
root=$cache/rootfs/$hash-$machine

make_root()
{
	local new=$1 packages mirror mode=root link target
	packages=$(sed 's/#.*//' "$vm/packages.guest" | xargs | tr ' ' ,)
	mirror=$(apt_mirror)
	((EUID == 0)) || mode=unshare
	# Unpack with tar, so that the files belong to the user.
	mmdebstrap --mode=$mode --variant=extract --architectures="$machine" --include="$packages" "$suite" - \
		"deb [signed-by=$keyring] $mirror $suite main" |
		tar -x -C "$new" --exclude='./dev/*' --exclude='./usr/share/doc/*' --exclude='./usr/share/man/*' \
			--exclude='./usr/share/locale/*'

	# Do what the scripts of the packages would do: --variant=extract does not run them.
	mkdir -p "$new/mnt" "$new/opt"
	ln -sf gawk "$new/usr/bin/awk"
	printf '%s:x:%s:%s::%s:%s\n' root 0 0 /root /bin/bash nobody 65534 65534 /nonexistent /usr/sbin/nologin \
		>"$new/etc/passwd"
	printf '%s:x:%s:\n' root 0 nogroup 65534 >"$new/etc/group"
	mkdir "$new/usr/lib/guest-dev"
	ln -s /proc/self/fd "$new/usr/lib/guest-dev/fd"
	ln -s fd/0 "$new/usr/lib/guest-dev/stdin"
	ln -s fd/1 "$new/usr/lib/guest-dev/stdout"
	ln -s fd/2 "$new/usr/lib/guest-dev/stderr"
	install -m 755 "$vm/guest-boot" "$new/usr/sbin/init"

	# Make all links relative: an absolute link in a sysroot would lead to a file of the host.
	find "$new" -type l -lname '/*' ! -path '*/guest-dev/*' -printf '%p %l\n' | while read -r link target; do
		ln -sfn "$(realpath -ms --relative-to="${link%/*}" "$new$target")" "$link"
	done
}

if [[ ${1:-} == --path ]]; then
	[[ -d $root ]] || die "there is no root file system yet: run \"make rootfs\""
	echo "$root"
	exit
fi

lock root
[[ ! -d $root ]] || exit 0
need mmdebstrap
mkdir -p "$cache/rootfs"
new=$(mktemp -d "$cache/rootfs/new.XXXXXX")
trap 'rm -rf "$new"' EXIT
step "making the guest's root" make_root "$new"
chmod 755 "$new"
mv "$new" "$root"
