# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Set CC and the variables of pkg-config to build programs for the guest, with its root as the sysroot. rootfs.sh must
# have run before. To be sourced.
#
# Debian's cross compiler searches its own libc before that of the sysroot, so CC names each folder.

ARCH=arm64
CROSS_COMPILE=aarch64-linux-gnu-
if [[ ${guest_machine:-arm64} == amd64 ]]; then
	ARCH=x86_64
	CROSS_COMPILE=x86_64-linux-gnu-
fi
export guest_machine
SYSROOT=$("$(dirname "${BASH_SOURCE[0]}")/rootfs.sh" --path) || return 1
libraries=$SYSROOT/usr/lib/${CROSS_COMPILE%-}
CC="${CROSS_COMPILE}gcc --sysroot=$SYSROOT -nostdinc -isystem $("${CROSS_COMPILE}gcc" -print-file-name=include)"
CC+=" -isystem $SYSROOT/usr/include/${CROSS_COMPILE%-} -isystem $SYSROOT/usr/include"
CC+=" -B$libraries/ -L$libraries"
[[ -z $(command -v ccache) ]] || CC="ccache $CC"
AR=${CROSS_COMPILE}ar
PKG_CONFIG_LIBDIR=$libraries/pkgconfig:$SYSROOT/usr/share/pkgconfig
PKG_CONFIG_SYSROOT_DIR=$SYSROOT
unset PKG_CONFIG_PATH
export SYSROOT ARCH CROSS_COMPILE CC AR PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR
