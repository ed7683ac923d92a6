#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Check that the project's EL2 objects use no symbol of the hypervisor that hyp/el2-symbols does not list, and have no
# initialised data: EL2 of Linux 6.12 does not map the section .data.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

set_kernel ''
list=$repo/hyp/el2-symbols
mapfile -t objects < <(find "$build/drivers/hyptrace/hyp" -name "*.nvhe.o" 2>/dev/null)
[[ -n ${objects[*]} ]] || die "there are no EL2 objects in $build/drivers/hyptrace/hyp: build the kernel first"
[[ -f $list ]] || die "$list is missing"

nm=${cross}nm
if [[ -n $llvm ]]; then
	cc=$(<"$build/.cc")
	nm=llvm-nm-${cc##*-}
fi

extra=$(comm -23 \
	<("$nm" -u "${objects[@]}" | awk 'NF == 2 && $1 == "U" { print $2 }' | sort -u) \
	<({
		"$nm" --defined-only "${objects[@]}" | awk 'NF == 3 && $2 ~ /[A-Z]/ { print $3 }'
		sed 's/#.*//' "$list" | awk 'NF { print $1 }'
	} | sort -u))
[[ -z $extra ]] || die "EL2 objects use symbols that hyp/el2-symbols does not list: ${extra//$'\n'/ }." \
	"Do not use them, or add them to the list with a reason"

# With LTO the objects are bitcode, which has no sections. The same sources are checked in the kernels without LTO.
! grep -qx CONFIG_LTO_CLANG=y "$build/.config" || exit 0
with_data=$("${cross}objdump" -h "${objects[@]}" | awk '
	/file format/ { file = $1 }
	$2 == ".data" && $3 !~ /^0+$/ { print file }')
[[ -z $with_data ]] || die "EL2 objects have variables with an initial value other than 0: ${with_data//$'\n'/ }." \
	"EL2 of Linux 6.12 cannot access them: let 0 be the initial value"
