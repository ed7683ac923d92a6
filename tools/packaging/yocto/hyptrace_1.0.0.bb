# SPDX-License-Identifier: GPL-2.0-only
# The command hyptrace and its library, from the tree that this recipe is in. Add to a layer or to local.conf:
#	BBFILES += "/path/of/hyptrace/tools/packaging/yocto/*.bb"
SUMMARY = "Tracer for the pKVM hypervisor of arm64 Linux and Android"
LICENSE = "GPL-2.0-only"
LIC_FILES_CHKSUM = "file://COPYING;md5=eb723b61539feef013de476e68b5c50a"

DEPENDS = "libnl libtraceevent libtracefs ncurses zstd"

inherit externalsrc pkgconfig useradd
EXTERNALSRC = "${THISDIR}/../../.."
EXTERNALSRC_BUILD = "${WORKDIR}/build"

EXTRA_OEMAKE = "-C ${S}/tools O=${B} prefix=${prefix} libdir=${libdir} includedir=${includedir} mandir=${mandir}"

do_compile() {
	oe_runmake
}

do_install() {
	oe_runmake install DESTDIR=${D}
}

USERADD_PACKAGES = "${PN}"
GROUPADD_PARAM:${PN} = "--system hyptrace"

PACKAGES =+ "libhyptrace"
FILES:libhyptrace = "${libdir}/libhyptrace.so.*"
FILES:${PN} += "${prefix}/lib/udev ${prefix}/lib/sysusers.d ${prefix}/lib/systemd ${datadir}"
RRECOMMENDS:${PN} = "ncurses-libncursesw"
