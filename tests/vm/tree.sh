# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Put the project into a kernel tree of the cache: the link drivers/hyptrace and the series patch. To be sourced
# after lib.sh.
#
# TREE.pristine holds the files that the patch touches as they were, so a new patch starts from these. A file is
# replaced, never written, and only if it changes: make rebuilds little, and hard links stay apart.

: "${cache:?source lib.sh first}"

# The series patch, or a sentence about what there is.
series_patch()
{
	local patch=${PATCH:-$repo/hyp/linux/$series.patch}
	[[ -f $patch ]] || die "there is no patch for Linux $series: $patch is missing. There is:" \
		"$(cd "$repo" && printf '%s ' hyp/linux/*.patch). Name another one with PATCH="
	printf '%s\n' "$patch"
}

patch_files()
{
	sed -n 's,^+++ b/\([^[:space:]]*\).*,\1,p' "$1"
}

# replace FROM TO: unless they are equal.
replace()
{
	cmp -s "$1" "$2" && return
	mkdir -p "${2%/*}"
	cp "$1" "$2.new"
	mv "$2.new" "$2"
}

# tree_restore TREE: every file as it came.
tree_restore()
{
	local file
	[[ -d $1.pristine ]] || return 0
	(cd "$1.pristine" && find . -type f) | while read -r file; do
		replace "$1.pristine/$file" "$1/$file"
	done
}

# tree_patch TREE PATCH
tree_patch()
{
	local file work=$1.work
	mkdir -p "$1.pristine"
	patch_files "$2" | while read -r file; do
		[[ -f $1/$file ]] || die "$2 changes $file, which $1 does not have"
		[[ -f $1.pristine/$file ]] && continue
		mkdir -p "$(dirname "$1.pristine/$file")"
		cp "$1/$file" "$1.pristine/$file"
	done
	rm -rf "$work"
	cp -a "$1.pristine" "$work"
	patch -s -p1 -d "$work" --no-backup-if-mismatch <"$2" || die "$2 does not apply to $1"
	(cd "$work" && find . -type f) | while read -r file; do
		replace "$work/$file" "$1/$file"
	done
	rm -rf "$work"
}

# tree_copy KSRC TREE: bring a copy up to date with somebody's tree, without what was built in that.
tree_copy()
{
	local file
	need rsync
	mkdir -p "$2" "$2.pristine"
	if grep -qs hyptrace "$1/drivers/Makefile"; then
		die "$1 is patched already: take the patch out (patch -R), or build that tree by hand"
	fi
	(cd "$2.pristine" && find . -type f) | while read -r file; do
		replace "$1/$file" "$2.pristine/$file"
	done
	(cd "$2.pristine" && find . -type f -printf '/%P\n') >"$2.touched"
	rsync -a --delete --exclude-from="$2.touched" --exclude=/.git --exclude=/drivers/hyptrace --exclude=/.config \
		--exclude=/include/config --exclude=/include/generated --exclude='/arch/*/include/generated' \
		--exclude='*.o' --exclude='*.ko' --exclude='*.cmd' "$1/" "$2/"
}

# tree_link TREE: the project of this clone. What another clone's sources made there is stale.
tree_link()
{
	local build
	[[ $(readlink "$1/drivers/hyptrace") != "$repo" ]] || return 0
	ln -sfn "$repo" "$1/drivers/hyptrace"
	for build in "$cache/build/${1##*/}" "$cache/build/${1##*/}"-*; do
		rm -rf "$build/drivers/hyptrace"
		rm -f "$build"/arch/arm64/kvm/hyp/nvhe/*.o "$build"/arch/arm64/kvm/*.o
	done
}
