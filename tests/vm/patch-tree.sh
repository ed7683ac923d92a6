#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Add the project to a user's kernel tree: the link drivers/hyptrace and the patch for its series. patch-tree.sh TREE

KSRC=${1:-}
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/tree.sh"

[[ -n $KSRC ]] || die "no kernel tree is given: add KSRC=PATH"
set_kernel ''
patch=$(series_patch)
if grep -q hyptrace "$ksrc/drivers/Makefile"; then
	die "$ksrc has the hooks already: if they are older than $patch, remove them first with patch -R"
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
