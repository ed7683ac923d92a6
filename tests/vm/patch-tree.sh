#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Add the project to a user's kernel tree: the link drivers/hyptrace and the hooks that hyp/linux describes.
#
#   patch-tree.sh TREE           add the hooks, or update them
#   patch-tree.sh --check TREE   say where each hook belongs, and change nothing
#   patch-tree.sh --undo TREE    take out all that was added
#
# The exit code is 2 if a required hook has no place in the tree, or if what was added was changed since.

verb="patch"
while [[ ${1:-} == --* ]]; do
	case $1 in
	--check | --undo)
		[[ $verb == patch ]] || { echo "${0##*/}: --check and --undo exclude each other" >&2 && exit 1; }
		verb=${1#--}
		;;
	*) echo "${0##*/}: unknown option $1: --check or --undo" >&2 && exit 1 ;;
	esac
	shift
done
KSRC=${1:-}
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[[ -n $KSRC ]] || die "no kernel tree is given: add KSRC=PATH"
set_kernel ''
need spatch
need diff3
exec "$vm/hooks.py" "$verb" "$ksrc"
