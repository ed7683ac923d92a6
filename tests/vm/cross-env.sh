# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Set CC and the variables of pkg-config to build programs for the guest, with its root as the sysroot. rootfs.sh must
# have run before. To be sourced.
#
# Debian's cross compiler searches its own libc before that of the sysroot, so CC names each folder.

SYSROOT=$("$(dirname "${BASH_SOURCE[0]}")/rootfs.sh" --path) || return 1
ARCH=arm64
CROSS_COMPILE=aarch64-linux-gnu-
CC="${CROSS_COMPILE}gcc --sysroot=$SYSROOT -nostdinc -isystem $("${CROSS_COMPILE}gcc" -print-file-name=include)"
CC+=" -isystem $SYSROOT/usr/include/aarch64-linux-gnu -isystem $SYSROOT/usr/include"
CC+=" -B$SYSROOT/usr/lib/aarch64-linux-gnu/ -L$SYSROOT/usr/lib/aarch64-linux-gnu"
AR=${CROSS_COMPILE}ar
PKG_CONFIG_LIBDIR=$SYSROOT/usr/lib/aarch64-linux-gnu/pkgconfig:$SYSROOT/usr/share/pkgconfig
PKG_CONFIG_SYSROOT_DIR=$SYSROOT
unset PKG_CONFIG_PATH
export SYSROOT ARCH CROSS_COMPILE CC AR PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR
