# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Roots of Debian 13 in the cache, with packages that are configured, unlike those of rootfs.sh: commands run inside of
# them. They are for this machine's architecture. Source lib.sh and apt.sh first.

: "${cache:?source lib.sh first}"

debian_suite=trixie

debian_make()
{
	local new=$1 variant=$2 machines=$3 mode=root mirror
	shift 3
	mirror=$(apt_mirror)
	((EUID == 0)) || mode=unshare
	# apt's own user does not exist in a user namespace
	mmdebstrap --mode=$mode --variant="$variant" --architectures="$machines" --include="$(tr ' ' , <<<"$*")" \
		--aptopt='APT::Sandbox::User "root"' "$debian_suite" - \
		"deb [signed-by=${keyring:?}] $mirror $debian_suite main" | tar -x -C "$new" --exclude='./dev/*'
}

# debian_root NAME VARIANT ARCHITECTURES PACKAGE...: make a root unless it is there, and set $debian_root to its folder. The
# first architecture is this machine's; VARIANT is one of mmdebstrap's.
debian_root()
{
	local new=$cache/debian/.new
	debian_root=$cache/debian/$1-$(hash_of "$debian_suite ${*:2}")
	lock debian
	[[ ! -d $debian_root ]] || return 0
	need mmdebstrap
	rm -rf "$new" "$cache/debian/$1"-*
	mkdir -p "$new"
	step "making a Debian root: $1" debian_make "$new" "${@:2}"
	chmod 755 "$new"
	mv "$new" "$debian_root"
}

# debian_inside ROOT FOLDER COMMAND...: run the command in the root, with FOLDER as /mnt
debian_inside()
{
	local id=()
	((EUID == 0)) || id=(--map-root-user --map-auto)
	# shellcheck disable=SC2016 # the inner shell expands them
	unshare "${id[@]}" --mount bash -c 'set -e
		cd "$1"
		mount --rbind /dev dev
		mount --rbind /proc proc
		mount --bind "$2" mnt
		shift 2
		exec chroot . /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
			DEBIAN_FRONTEND=noninteractive "$@"' - "$@"
}
