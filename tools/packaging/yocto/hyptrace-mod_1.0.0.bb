# SPDX-License-Identifier: GPL-2.0-only
# The modules hyptrace and hyptrace_test, and hyptrace_kernel if the kernel traces its hypervisor itself, for a kernel
# without the hooks. A kernel with the hooks ("make patch-tree") builds its modules itself: then leave this recipe out.
SUMMARY = "Tracer for the pKVM hypervisor: kernel modules"
LICENSE = "GPL-2.0-only"
LIC_FILES_CHKSUM = "file://COPYING;md5=eb723b61539feef013de476e68b5c50a"

inherit externalsrc module
EXTERNALSRC = "${THISDIR}/../../.."
EXTERNALSRC_BUILD = "${EXTERNALSRC}"

MAKE_TARGETS = "-C ${STAGING_KERNEL_DIR} M=${S} CONFIG_HYPTRACE_PKVM=n modules"
MODULES_INSTALL_TARGET = "-C ${STAGING_KERNEL_DIR} M=${S} CONFIG_HYPTRACE_PKVM=n modules_install"

RPROVIDES:${PN} += "kernel-module-hyptrace"
RRECOMMENDS:${PN} = "hyptrace"
