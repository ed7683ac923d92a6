# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# To be sourced: CC and pkg-config that build programs for the guest, against its root. Needs rootfs.sh to have run.
#
# Debian's cross compiler looks into its own libc before the sysroot's, so it is told every folder.

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
