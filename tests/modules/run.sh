#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Build the modules as a user without a kernel tree does: out of tree, with the headers of Debian's stock kernels
# for this machine, with W=1 and without warnings. Then boot these kernels and run the kselftests on the remote
# "test". The kernels are 6.12 and the newest one. If a kernel in user mode runs all of them, these run few, or all with
# FULL=1.

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../vm/apt.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../vm/console.sh"
. "$(dirname "${BASH_SOURCE[0]}")/stock.sh"
. "$(dirname "${BASH_SOURCE[0]}")/boot.sh"

here=$repo/tests/modules
work=$cache/modules/$(hash_of "$repo")
passed=0 failed=0

# result TITLE COMMAND...: ok if the command succeeds
result()
{
	if "${@:2}"; then
		((++passed))
		echo "ok $1"
	else
		((++failed))
		echo "not ok $1"
	fi
}

has_no_warning()
{
	! grep -i warning "$1" | grep -vE 'the (compiler|pahole version) differs'
}

needs_core()
{
	/sbin/modinfo -F depends "$1/hyptrace_test.ko" | grep hyptrace >/dev/null
}

# build VERSION FOLDER: build a copy of the sources in FOLDER
build()
{
	local code=0
	rm -rf "$2"
	mkdir -p "$2"
	rsync -a --exclude-from="$repo/.gitignore" "$repo"/{Kbuild,Makefile,driver,hyp,uapi} "$2/"
	stock_inside "$2" make -C /out modules KDIR="/usr/src/linux-headers-$1-$stock_flavour" W=1 KCFLAGS=-Werror \
		-j"$(nproc)" >"$2/log" 2>&1 || code=$?
	cat "$2/log"
	result "hyptrace.ko and hyptrace_test.ko build against the stock kernel $1" \
		test "$code" = 0 -a -f "$2/hyptrace.ko" -a -f "$2/hyptrace_test.ko"
	result "hyptrace_test.ko depends on hyptrace.ko" needs_core "$2"
	result "no warning with W=1" has_no_warning "$2/log"
	[[ -f $2/hyptrace.ko ]] || return 0
	result "the parts of the driver include and call only what the list \"arrows\" allows" "$repo/tests/lint/rooms.sh" "$2" \
		"$here/arrows" driver hyp
	result "no files of the driver call each other in a circle" "$repo/tests/lint/circles.sh" "$2" driver hyp
	build_test_modules "$1" "$2"
}

# build_test_modules VERSION FOLDER: build the remotes that only tests use
build_test_modules()
{
	rsync -a "$repo/tests/kselftest/modules/" "$2/tests/"
	stock_inside "$2" make -C "/usr/src/linux-headers-$1-$stock_flavour" M=/out/tests HYPTRACE=/out \
		KBUILD_EXTRA_SYMBOLS=/out/Module.symvers -j"$(nproc)" modules >"$2/tests.log" 2>&1 || cat "$2/tests.log"
	result "the test modules build" cp "$2"/tests/hyptrace_{faulty,bad}.ko "$2/"
}

# Build the kselftest programs once for all kernels.
build_tests()
{
	mkdir -p "$work/tests"
	stock_inside "$work/tests" make -s -C /repo/tests/kselftest -j"$(nproc)" O=/out/build DESTDIR=/out/root \
		KSELFTEST=/tree/tools/testing/selftests CC=gcc install
}

# initramfs VERSION FOLDER: make it from the root's, the modules, the test programs and the tests
initramfs()
{
	local new=$2/initramfs file
	local modules=$new/usr/lib/modules/$1-$stock_flavour
	rm -rf "$new"
	mkdir -p "$modules/updates" "$new/repo/tests" "$new/usr/local"
	for file in modules.builtin modules.builtin.modinfo modules.order; do
		cp "$stock_root/usr/lib/modules/$1-$stock_flavour/$file" "$modules/" 2>/dev/null || : >"$modules/$file"
	done
	cp "$2"/*.ko "$modules/updates/"
	/sbin/depmod -b "$new/usr" "$1-$stock_flavour"
	cp -r "$work/tests/root/usr/local/." "$new/usr/local/"
	cp -r "$repo/tests/kselftest" "$new/repo/tests/"
	install -m 755 "$here/init" "$new/init"
	(cd "$new" && find . | cpio --quiet -o -H newc | cat "$stock_root/stock.cpio" - >"$2/initramfs.cpio")
	rm -rf "$new"
}

# run_tests VERSION FOLDER [TESTS]: boot the kernel with these tests, or all, and add up the results
run_tests()
{
	local last start=$SECONDS
	result "the initramfs for the stock kernel $1" initramfs "$1" "$2"
	stock_boot "$1" "$2" "${3:-}" | tee "$2/tap"
	last=$(tail -n 1 "$2/tap")
	if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		((passed += BASH_REMATCH[1], failed += BASH_REMATCH[2])) || true
	else
		result "the tests on the stock kernel $1 end with a summary" false
		tail -n 20 "$2/console"
	fi
	result "the stock kernel $1 logs no warnings" logs_no_warnings "$2/console"
	say "the kselftests on the stock kernel $1: $((SECONDS - start)) s"
}

logs_no_warnings()
{
	! console_complaints "$1"
}

lock stock
stock_make_root
set_kernel 6.12
"$vm/fetch.sh" "$series"
step "building the kselftest programs for this machine" build_tests
versions=()
for wanted in 6.12 newest; do
	version=$(stock_kernel "$wanted")
	[[ " ${versions[*]} " == *" $version "* ]] || versions+=("$version")
done
tests=''
# what differs from kernel to kernel
[[ -n ${FULL:-} ]] || ! has_um || tests=test_modules.sh,test_control,test_read,test_mmap,test_splice,test_poll,test_unrest
for version in "${versions[@]}"; do
	build "$version" "$work/$version"
	[[ ! -f $work/$version/hyptrace_test.ko ]] || run_tests "$version" "$work/$version" "$tests"
done
echo "$passed passed, $failed failed"
((failed == 0))
