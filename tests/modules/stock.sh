# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Debian's stock kernels for this machine's architecture, their headers, and the compiler that built them. They
# are in a root folder of their own in the cache; the host's own packages do not change. Source lib.sh and apt.sh
# first.
#
# The root is Debian 13 on every host: the kernels were built with its compiler, and their kbuild programs need
# its libc.

: "${cache:?source lib.sh first}" "${repo:?}"

stock_suite=trixie
stock_packages=(base-files bash dash coreutils diffutils findutils gawk grep kmod mount procps sed util-linux
	make gcc libc6-dev libelf1t64 libssl3t64 perl pahole pkgconf libtracefs-dev libtraceevent-dev)
stock_machine=$(dpkg --print-architecture)
# the smallest flavour that Debian builds
stock_flavour=cloud-$stock_machine
stock_root=$cache/stock/$(sha256sum <"${BASH_SOURCE[0]}" | cut -c 1-12)

# Files that only the compiler needs: the machine does not get them.
stock_compiler=(./usr/lib/gcc ./usr/libexec ./usr/include ./usr/src ./usr/lib/modules ./usr/lib/linux-kbuild-*
	./usr/share/perl* ./usr/lib/*/perl* './usr/lib/*/*.a' './usr/bin/*-linux-gnu-*' ./boot ./var ./out ./dev ./proc)

make_stock_root()
{
	local new=$1 mode=root mirror
	mirror=$(apt_mirror)
	((EUID == 0)) || mode=unshare
	# through tar, so that the files belong to the user
	mmdebstrap --mode=$mode --variant=extract --include="$(tr ' ' , <<<"${stock_packages[*]}")" "$stock_suite" - \
		"deb [signed-by=${keyring:?}] $mirror $stock_suite main" |
		tar -x -C "$new" --exclude='./dev/*' --exclude='./usr/share/doc/*' --exclude='./usr/share/man/*' \
			--exclude='./usr/share/locale/*'
	# what the packages' maintainer scripts would have done
	ln -sf gawk "$new/usr/bin/awk"
	printf '%s:x:%s:%s::%s:%s\n' root 0 0 /root /bin/bash nobody 65534 65534 /nonexistent /usr/sbin/nologin \
		>"$new/etc/passwd"
	printf '%s:x:%s:\n' root 0 nogroup 65534 >"$new/etc/group"
	mkdir -p "$new"/{dev,proc,sys,tmp,out,repo,tree,usr/src,usr/lib/modules}
}

make_stock_archive()
{
	local path prune=()
	for path in "${stock_compiler[@]}"; do
		prune+=(-path "$path" -prune -o)
	done
	(cd "$1" && find . "${prune[@]}" -print0 | cpio --quiet --null -o -H newc >stock.cpio.new && mv stock.cpio.new stock.cpio)
}

# stock_make_root: make $stock_root, and in it stock.cpio, the part that goes into a machine's initramfs
stock_make_root()
{
	local new
	[[ ! -d $stock_root ]] || return 0
	need mmdebstrap
	need cpio
	rm -rf "$cache/stock"
	mkdir -p "$cache/stock"
	new=$cache/stock/.new
	mkdir "$new"
	step "making the root for stock kernels" make_stock_root "$new"
	step "making the stock kernels' initramfs" make_stock_archive "$new"
	chmod 755 "$new"
	mv "$new" "$stock_root"
}

# stock_inside FOLDER COMMAND...: run the command in the root, with FOLDER as /out, the repository as /repo and
# the kernel tree as /tree
stock_inside()
{
	local id=()
	((EUID == 0)) || id=(--map-root-user)
	# shellcheck disable=SC2016 # the inner shell expands them
	unshare "${id[@]}" --mount bash -c 'set -e
		cd "$1"
		mount --rbind /dev dev
		mount --rbind /proc proc
		mount --bind "$2" out
		mount --bind "$3" repo
		mount --bind "$4" tree
		shift 4
		exec chroot . /usr/bin/env -i PATH=/usr/sbin:/usr/bin HOME=/ LC_ALL=C.UTF-8 "$@"' - \
		"$stock_root" "$1" "$repo" "${tree:?}" "${@:2}"
}

# archive_packages VERSION: print the packages of the version in the archive: the headers, then one kernel image
archive_packages()
{
	local package image='' found=()
	for package in "linux-binary-unsigned-$1-$stock_flavour" "linux-binary-$1-$stock_flavour" \
		"linux-image-$1-$stock_flavour-unsigned" "linux-image-$1-$stock_flavour"; do
		if [[ -z $image && -n $(apt_version "$package") ]]; then
			image=$package
		fi
	done
	for package in "linux-headers-$1-"{"$stock_flavour",common} "linux-kbuild-$1" "linux-base-$1-$stock_flavour"; do
		[[ -z $(apt_version "$package") ]] || found+=("$package")
	done
	[[ -z $image ]] || printf '%s\n' "${found[@]}" "$image"
}

# versions_of SERIES: read names of packages from standard input, and print the versions of that series (of all
# with "newest"), newest first
versions_of()
{
	sed -nE "s/^linux-headers-([0-9.]+\+deb[0-9]+)-$stock_flavour\$/\1/p" | sort -rV |
		while read -r version; do
			[[ $1 != newest && $version != "$1".* ]] || printf '%s\n' "$version"
		done
}

# stock_from_archive SERIES: install the series' newest kernel of the archive into the root, and print its version
stock_from_archive()
{
	local version packages deb work=$cache/stock/.deb
	apt_setup "$stock_suite" "$stock_suite-backports"
	while read -r version; do
		mapfile -t packages < <(archive_packages "$version")
		((!${#packages[@]})) || break
	done < <(apt_names linux-headers- | versions_of "$1")
	((${#packages[@]})) || return
	if [[ ! -f $stock_root/kernels/$version ]]; then
		rm -rf "$work"
		apt_fetch "$work" "${packages[@]}"
		for deb in "$work"/*.deb; do
			dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$stock_root" --no-same-owner --keep-directory-symlink \
				--exclude='./usr/lib/modules/*/kernel/*' --exclude='./usr/share/doc/*'
		done
		rm -rf "$work"
		mkdir -p "$stock_root/kernels"
		cp "$(find "$stock_root/boot" "$stock_root/usr/lib/modules/$version-$stock_flavour" \
			-name "vmlinuz-$version-$stock_flavour" -o -path "*/$version-$stock_flavour/vmlinuz*" | head -n 1)" \
			"$stock_root/kernels/.new"
		mv "$stock_root/kernels/.new" "$stock_root/kernels/$version"
	fi
	printf '%s\n' "$version"
}

# stock_kernel SERIES: print the version of its newest kernel (of the newest series with "newest"). If the archive
# does not answer, choose among the kernels in the root. The image is $stock_root/kernels/VERSION.
stock_kernel()
{
	local version
	if ! version=$(stock_from_archive "$1") || [[ -z $version ]]; then
		version=$(cd "$stock_root" && for file in kernels/*; do
			echo "linux-headers-${file#*/}-$stock_flavour"
		done | versions_of "$1" | head -n 1)
		[[ -n $version ]] || die "neither the archive nor the cache has a stock kernel $1 for $stock_machine"
		say "the archive has no stock kernel $1 now: using $version from the cache"
	fi
	printf '%s\n' "$version"
}
