#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Check that the project's EL2 objects use no symbol of the hypervisor that hyp/el2-symbols does not list.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

set_kernel ''
list=$repo/hyp/el2-symbols
objects=("$build"/drivers/hyptrace/hyp/*.nvhe.o)
[[ -f ${objects[0]} ]] || die "there are no EL2 objects in $build/drivers/hyptrace/hyp: build the kernel first"
[[ -f $list ]] || die "$list is missing"

extra=$(comm -23 \
	<("${cross}nm" -u "${objects[@]}" | awk 'NF == 2 && $1 == "U" { print $2 }' | sort -u) \
	<({
		"${cross}nm" --defined-only "${objects[@]}" | awk 'NF == 3 && $2 ~ /[A-Z]/ { print $3 }'
		sed 's/#.*//' "$list" | awk 'NF { print $1 }'
	} | sort -u))
[[ -z $extra ]] || die "EL2 objects use symbols that hyp/el2-symbols does not list: ${extra//$'\n'/ }." \
	"Do not use them, or add them to the list with a reason"
