#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Have Prometheus's promtool check metrics: metrics.sh FILE. It is installed into the cache; the host's own packages do not
# change. To update it, remove the folder promtool from the cache.

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../vm/apt.sh"

dir=$cache/promtool
promtool=$dir/usr/bin/promtool

lock promtool
if [[ ! -x $promtool ]]; then
	work=$cache/.promtool.new
	rm -rf "$work"
	# promtool needs only the C library: that of this machine's own release
	apt_setup "$(. /etc/os-release && echo "$VERSION_CODENAME")"
	apt_fetch "$work" prometheus
	step "unpacking prometheus" dpkg-deb -x "$work"/prometheus_*.deb "$work/root"
	[[ -x $work/root/usr/bin/promtool ]] || die "there is no promtool in Debian's package prometheus"
	rm -rf "$dir" "$work/root/usr/share" "$work/root/usr/bin/prometheus"
	mv "$work/root" "$dir"
	rm -rf "$work"
fi
# promtool accepts an empty file
grep -q '^hyptrace_' "$1" || die "$1 has no metrics"
"$promtool" check metrics <"$1"
