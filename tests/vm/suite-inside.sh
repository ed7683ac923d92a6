#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In the machine: run the named suites. SUITE:TEST runs one test of a suite. Each suite ends with the line
# "N passed, N failed"; the last line of this script is their sum. FIRST_FAILURE=1 ends after the first one that has failed.

# A program that opens no files of a locale starts faster.
export LANG=C
if [[ -c /dev/kvm ]]; then
	# Under emulation, the static command starts in less than half the time.
	PATH=/usr/local/libexec/static:$PATH
	# Each open of a file of the host is a round trip. Move what tests start most to memory.
	touch -c /usr/bin/{bash,cat,cut,diff,env,gawk,grep,head,jq,mkdir,mktemp,rm,sed,seq,sleep,sort,tail,timeout,tr,wc} \
		/usr/lib/*/lib{acl,c,gmp,jq,m,mpfr,onig,pcre2-8,readline,selinux,sigsegv,tinfo}.so.? /usr/lib/*/ld-linux-* \
		/etc/ld.so.cache /usr/libexec/bats-core/* /usr/lib/bats-core/*
fi
passed=0 failed=0
cd /mnt/repo/tests || exit
# check_keys: say whether the emulator executes the code of KVM's notifiers: a test that hangs may hang for that reason.
check_keys()
{
	local missed
	[[ -c /dev/kvm ]] || return
	missed=$(</sys/module/hyptrace_keys/parameters/missed)
	[[ $missed == 0 ]] || echo "# ${missed:-unknown} calls of KVM's notifiers of preemption were missed: the emulator executes old code"
}

# unload: a kernel that knows who allocates what says what a module has left behind (CONFIG_MEM_ALLOC_PROFILING).
unload()
{
	[[ ! -e /proc/allocinfo ]] || modprobe -qr hyptrace_test hyptrace_pkvm hyptrace
}

# complains: whether the kernel has complained, also of that
complains()
{
	unload
	. "$(dirname "${BASH_SOURCE[0]}")/console.sh"
	console_complaints <(dmesg)
}

# The module keeps the static key of these notifiers switched on.
[[ ! -c /dev/kvm ]] || modprobe hyptrace_keys
check_keys
for suite in "$@"; do
	echo "== $suite"
	last='' test=''
	[[ $suite != *:* ]] || test=${suite#*:}
	while IFS= read -r line; do
		printf '%s\n' "$line"
		last=$line
	done < <("./${suite%%:*}/run.sh" ${test:+"$test"} 2>&1)
	if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		((passed += BASH_REMATCH[1], failed += BASH_REMATCH[2]))
	else
		echo "not ok # $suite could not run: its last line is not \"N passed, N failed\""
		((failed++))
	fi
	[[ -z ${FIRST_FAILURE:-} ]] || { ((!failed)) && ! complains; } || break
done
check_keys
unload
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
