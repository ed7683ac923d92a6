#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Install the packages that building and testing need on Debian 12 or 13, as root or with sudo. Print the missing
# packages and install only these.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

read -ra packages < <(sed 's/#.*//' "$vm/packages" | xargs)
if [[ $(dpkg --print-architecture) == arm64 ]]; then
	# An arm64 host needs no cross compiler, and QEMU for arm64 also runs its stock kernels.
	packages=("${packages[@]/#gcc-aarch64*/gcc}")
	packages=("${packages[@]/#qemu-system-x86*/qemu-system-arm}")
	packages=("${packages[@]/#libc6-dev-arm64*/libc6-dev}")
fi
# If there is none yet, the version is chosen below.
packages=("${packages[@]/%-\*/-$(llvm_version)}")
# Without root, mmdebstrap needs a user namespace.
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
apt=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q)
if ! apt-cache show "${missing[@]}" >/dev/null 2>&1; then
	"${apt[@]}" update
fi
archived=$(apt-cache --names-only search '^clang-[0-9]+$' | sed -nE 's/^clang-([0-9]+) .*/\1/p' | llvm_choose)
missing=("${missing[@]/%-/-$archived}")
say "installing: ${missing[*]}"
"${apt[@]}" install -y --no-install-recommends "${missing[@]}" ||
	die "apt-get could not install ${missing[*]}: see above, and try \"apt-get update\""
