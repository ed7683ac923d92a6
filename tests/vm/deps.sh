#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Install what building and testing needs on Debian 12 or 13, as root or by sudo: only what is missing, and it says
# what.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

read -ra packages < <(sed 's/#.*//' "$vm/packages" | xargs)
if [[ $(dpkg --print-architecture) == arm64 ]]; then
	# it compiles for itself, and is the machine for stock kernels
	packages=("${packages[@]/#gcc-aarch64*/gcc}")
	packages=("${packages[@]/#qemu-system-x86*/qemu-system-arm}")
	packages=("${packages[@]/#libc6-dev-arm64*/libc6-dev}")
fi
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
