# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Add the project to a kernel tree of the cache: the link drivers/hyptrace and the hooks. To be sourced after lib.sh.
#
# TREE.pristine keeps the original files that have hooks, so new hooks are added to these. A file is replaced only if it
# changes, so that make rebuilds little. It is never written in place: hard links must keep the old contents.

: "${cache:?source lib.sh first}" "${repo:?}"

. "${vm:?}/series.sh"

# what the hooks generate
tree_header=arch/arm64/include/asm/hyptrace_tree.h

# replace FROM TO: replace TO with a copy of FROM, unless they are equal.
replace()
{
	cmp -s "$1" "$2" && return
	mkdir -p "${2%/*}"
	cp "$1" "$2.new"
	mv "$2.new" "$2"
}

# tree_restore TREE: restore all original files.
tree_restore()
{
	local file
	[[ -d $1.pristine ]] || return 0
	(cd "$1.pristine" && find . -type f) | while read -r file; do
		replace "$1.pristine/$file" "$1/$file"
	done
}

# tree_patch TREE: add the hooks to the original files.
tree_patch()
{
	local file work=$1.work
	need spatch
	[[ -d $1.pristine || ! -e $1/$tree_header ]] || die "$1 has a file $tree_header of its own"
	mkdir -p "$1.pristine"
	"$vm/hooks.py" files | while read -r file; do
		[[ -f $1/$file && ! -f $1.pristine/$file ]] || continue
		mkdir -p "$(dirname "$1.pristine/$file")"
		cp "$1/$file" "$1.pristine/$file"
	done
	rm -rf "$work"
	cp -a "$1.pristine" "$work"
	"$vm/hooks.py" apply "$work" "$cache/hooks" >"$cache/log/hooks" ||
		die "hyptrace does not support the kernel in $1 yet: see above"
	(cd "$work" && find . -type f) | while read -r file; do
		replace "$work/$file" "$1/$file"
	done
	rm -rf "$work"
}

# tree_copy KSRC TREE: update the copy of a user's tree, without the objects that were built there.
tree_copy()
{
	local file
	need rsync
	mkdir -p "$2" "$2.pristine"
	if grep -qs hyptrace "$1/drivers/Makefile" || [[ -e $1/$tree_header ]]; then
		die "$1 has the hooks already: remove them with \"make patch-tree KSRC=$1 UNDO=1\", or build that tree by hand"
	fi
	(cd "$2.pristine" && find . -type f) | while read -r file; do
		replace "$1/$file" "$2.pristine/$file"
	done
	(cd "$2.pristine" && find . -type f -printf '/%P\n') >"$2.touched"
	rsync -a --delete --exclude-from="$2.touched" --exclude=/.git --exclude=/drivers/hyptrace --exclude=/.config \
		--exclude="/$tree_header" --exclude=/include/config --exclude=/include/generated --exclude='/arch/*/include/generated' \
		--exclude='*.o' --exclude='*.ko' --exclude='*.cmd' "$1/" "$2/"
}

# tree_link TREE: let drivers/hyptrace link to this clone. If it was another clone, remove the objects of its sources.
tree_link()
{
	local build
	[[ $(readlink "$1/drivers/hyptrace") != "$repo" ]] || return 0
	ln -sfn "$repo" "$1/drivers/hyptrace"
	for build in "$cache/build/${1##*/}" "$cache/build/${1##*/}"-*; do
		rm -rf "$build/drivers/hyptrace" "$build/hyptrace-tests"
		rm -f "$build"/arch/arm64/kvm/hyp/nvhe/*.o "$build"/arch/arm64/kvm/*.o
	done
}
