#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Put the project into somebody's kernel tree: the link drivers/hyptrace and the series patch. patch-tree.sh TREE

KSRC=${1:-}
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/tree.sh"

[[ -n $KSRC ]] || die "which kernel tree? Say KSRC=PATH"
set_kernel ''
patch=$(series_patch)
if grep -q hyptrace "$ksrc/drivers/Makefile"; then
	die "$ksrc has the hooks already: take them out first (patch -R) if they are older than $patch"
fi
patch -p1 -d "$ksrc" --dry-run <"$patch" >/dev/null || die "$patch does not apply to $ksrc; nothing was changed." \
	"\"patch -p1 --dry-run -d $ksrc <$patch\" shows where"
patch -p1 -d "$ksrc" --no-backup-if-mismatch <"$patch"
ln -sfn "$repo" "$ksrc/drivers/hyptrace"
say "$ksrc has the hooks of Linux $series, and drivers/hyptrace. Configure it with CONFIG_HYPTRACE=m and CONFIG_HYPTRACE_PKVM=m"
