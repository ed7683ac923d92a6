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
say_patch "$patch"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for file in $(hooks_files "$patch"); do
	[[ -f $ksrc/$file ]] || die "$patch changes $file, which $ksrc does not have; nothing was changed"
	mkdir -p "$work/${file%/*}"
	cp -a "$ksrc/$file" "$work/$file"
done
patched_files "$ksrc" "$patch" "$work"
patch -p1 -F 0 -d "$ksrc" --no-backup-if-mismatch <"$patch"
ln -sfn "$repo" "$ksrc/drivers/hyptrace"
say "$ksrc has the hooks of ${patch##*/}, and drivers/hyptrace. Configure it with CONFIG_HYPTRACE=m and CONFIG_HYPTRACE_PKVM=m"
