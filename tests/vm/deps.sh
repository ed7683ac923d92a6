#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Install what building and testing needs on Debian 12 or 13, as root or by sudo: only what is missing, and it says
# what.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

packages=(
	# the kernel
	make gcc libc6-dev bison flex bc patch xz-utils cpio rsync kmod libssl-dev libelf-dev ccache
	# the machine and its root file system
	qemu-system-arm mmdebstrap debian-archive-keyring
	# the tools and the tests on the host
	pkg-config libnl-genl-3-dev libtraceevent-dev libtracefs-dev libcmocka-dev bats shellcheck
	perl python3-yaml python3-jsonschema git
)
# an arm64 host compiles for itself
[[ $(dpkg --print-architecture) == arm64 ]] || packages+=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross)
# mmdebstrap makes a root without being root in a user namespace
((EUID == 0)) || packages+=(uidmap)

missing=()
for package in "${packages[@]}"; do
	[[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
done
((${#missing[@]})) || exit 0

sudo=()
if ((EUID)); then
	command -v sudo >/dev/null || die "these packages are missing: ${missing[*]}. Install them as root," \
		"or install sudo"
	sudo=(sudo)
fi
say "installing: ${missing[*]}"
apt=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q)
if ! apt-cache show "${missing[@]}" >/dev/null 2>&1; then
	"${apt[@]}" update
fi
"${apt[@]}" install -y --no-install-recommends "${missing[@]}" ||
	die "apt-get could not install them: see above; perhaps \"apt-get update\" helps"
