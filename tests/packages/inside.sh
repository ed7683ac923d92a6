#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The part of run.sh that runs as root in the fresh Debian: inside.sh install|initramfs|purge KERNEL ARCHITECTURE. /mnt/deb
# has the packages.

# shellcheck source=tests/packages/result.sh
. /mnt/result.sh

part=$1 kernel=$2 machine=$3

# Print the names of all files, except those that apt, dpkg and logs leave.
all_files()
{
	find / \( -path /proc -o -path /dev -o -path /sys -o -path /run -o -path /mnt -o -path /tmp -o -path /var/cache -o -path /var/log \
		-o -path /var/lib/apt -o -path /var/lib/dpkg \) -prune -o -print | sort
}

install_packages()
{
	apt-get -q update && apt-get -q -y --no-install-recommends install \
		/mnt/deb/{hyptrace,libhyptrace1,libhyptrace-dev}_*_"$machine".deb /mnt/deb/hyptrace-dkms_*_all.deb
}

is_version()
{
	[[ "hyptrace $(dpkg-query -W -f '${Version}' "$1")" == "$(hyptrace --version)" ]]
}

has_completion()
{
	# shellcheck source=/dev/null
	. /usr/share/bash-completion/completions/hyptrace && complete -p hyptrace
}

is_not_enabled()
{
	[[ $(systemctl --root=/ is-enabled hyptrace-metrics.timer) == disabled ]]
}

# The program of README.md builds with the packages, and runs.
example_runs()
{
	local said
	# shellcheck disable=SC2046 # they are several words
	gcc -o /tmp/example /mnt/example.c $(pkg-config --cflags --libs hyptrace) || return
	readelf -d /tmp/example | grep 'NEEDED.*\[libhyptrace.so.1\]' || return
	said=$(/tmp/example 2>&1)
	[[ $said == "example: cannot trace: "* ]]
}

dkms_installed()
{
	dkms status -m hyptrace -k "$kernel" | grep ': installed' && modinfo -k "$kernel" hyptrace hyptrace_test
}

test_install()
{
	local page
	depmod "$kernel"
	all_files >/mnt/before
	result "apt installs the packages and what they depend on" install_packages
	result "the command has the version of its package" is_version hyptrace
	for page in 'hyptrace' 'hyptrace-stat' '3 hyptrace_open' '4 hyptrace' '5 hyptrace.dat' '7 hyptrace-events'; do
		# shellcheck disable=SC2086 # a section and a name
		result "man finds $page" man -w $page
	done
	result "bash has the completion" has_completion
	result "the group hyptrace is there" getent group hyptrace
	result "the udev rule is correct" udevadm verify /usr/lib/udev/rules.d/60-hyptrace.rules
	result "the service and its timer are correct" systemd-analyze verify hyptrace-metrics.service hyptrace-metrics.timer
	result "the timer is not enabled" is_not_enabled
	result "the program of README.md builds with libhyptrace-dev" example_runs
	result "DKMS has built and installed the modules for $kernel" dkms_installed
}

make_initramfs()
{
	install -m 755 /mnt/init /init
	cp /mnt/result.sh /result.sh
	(cd / && find . \( -path ./proc -o -path ./dev -o -path ./sys -o -path ./mnt -o -path ./tmp -o -path ./var -o -path ./boot \
		-o -path './usr/lib/gcc*' -o -path ./usr/libexec -o -path ./usr/include -o -path ./usr/src -o -path './usr/lib/linux-kbuild*' \
		-o -path './usr/share/[!h]*' -o -name '*.a' -o -path './usr/bin/*-linux-gnu-*' -o -path './usr/lib/*/perl*' \) -prune \
		-o -print0 | cpio --quiet --null -o -H newc >/mnt/initramfs.cpio) || return
	rm /init /result.sh
}

left_behind()
{
	all_files >/mnt/after
	diff /mnt/before /mnt/after
}

case $part in
install) test_install ;;
initramfs) result "the initramfs from what is installed" make_initramfs ;;
purge)
	# a third module, as for kernels that trace their hypervisor themselves; their headers may be gone before the package
	for module in /var/lib/dkms/hyptrace/*/"$kernel"/*/module/hyptrace_test.ko* /lib/modules/"$kernel"/updates/dkms/hyptrace_test.ko*; do
		cp "$module" "${module/_test/_kernel}"
	done
	result "there are three modules" modinfo /lib/modules/"$kernel"/updates/dkms/hyptrace_kernel.ko*
	result "apt removes the packages" apt-get -q -y --autoremove purge hyptrace libhyptrace1 libhyptrace-dev hyptrace-dkms
	result "no file is left" left_behind
	;;
esac
echo "$passed passed, $failed failed"
