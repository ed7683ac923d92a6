# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Add the project to a kernel tree of the cache: the link drivers/hyptrace and the patch for its series. To be sourced
# after lib.sh.
#
# TREE.pristine keeps the original files that the patch changes, so a new patch starts from these. A file is replaced
# only if it changes, so that make rebuilds little. It is never written in place: hard links must keep the old contents.

: "${cache:?source lib.sh first}" "${repo:?}"

. "${vm:?}/series.sh"
. "$vm/hooks.sh"

# Print the patch for the series: its own, or that of the newest series before it. PATCH names another one.
series_patch()
{
	local patch=${PATCH:-}
	if [[ -z $patch ]]; then
		patch=$(series_file "$repo/hyp/linux/" "${series:?}" .patch)
		[[ -n $patch ]] || die "there is no patch for Linux $series or a series before it, only" \
			"$(cd "$repo" && printf '%s ' hyp/linux/*.patch): name another one with PATCH="
	fi
	[[ -f $patch ]] || die "PATCH=$patch: there is no such file"
	printf '%s\n' "$patch"
}

# say_patch PATCH: print which patch is used, if the series has none of its own.
say_patch()
{
	[[ -n ${PATCH:-} || $1 == */"$series.patch" ]] ||
		say "Linux $series has no patch of its own: using ${1#"$repo/"}, the newest one for an older series"
}

# patched_files TREE PATCH WORK: apply the patch in WORK, which has copies of the files that it changes. Check that each
# hook is in the function that it is meant for.
patched_files()
{
	local said
	# All context lines of a hunk must match (-F 0), because the patch has only few.
	said=$(LC_ALL=C patch -f -F 0 -p1 -d "$3" --no-backup-if-mismatch -r - <"$2" 2>&1) || {
		{ hooks_rejected "$2" <<<"$said" | grep . || printf '%s\n' "$said"; } >&2
		die "${2#"$repo/"} does not apply to Linux $series in $1, see above: hyptrace does not support that kernel yet." \
			"It has patches for $(series_list "$repo/hyp/linux/" .patch | xargs). Nothing was changed"
	}
	hooks_check "$2" "$3" || die "${2#"$repo/"} applies to Linux $series in $1, but the hooks above are not in the" \
		"functions that ${2##*/} is meant for (see $(basename "${2%.patch}").hooks). Nothing was changed"
}

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

# tree_patch TREE PATCH: apply the patch to the original files.
tree_patch()
{
	local file work=$1.work
	mkdir -p "$1.pristine"
	hooks_files "$2" | while read -r file; do
		[[ -f $1/$file ]] || die "${2#"$repo/"} changes $file, which Linux $series in $1" \
			"does not have: hyptrace does not support that kernel yet"
		[[ -f $1.pristine/$file ]] && continue
		mkdir -p "$(dirname "$1.pristine/$file")"
		cp "$1/$file" "$1.pristine/$file"
	done
	rm -rf "$work"
	cp -a "$1.pristine" "$work"
	patched_files "$1" "$2" "$work"
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
	if grep -qs hyptrace "$1/drivers/Makefile"; then
		die "$1 has the hooks already: remove the patch with patch -R, or build that tree by hand"
	fi
	(cd "$2.pristine" && find . -type f) | while read -r file; do
		replace "$1/$file" "$2.pristine/$file"
	done
	(cd "$2.pristine" && find . -type f -printf '/%P\n') >"$2.touched"
	rsync -a --delete --exclude-from="$2.touched" --exclude=/.git --exclude=/drivers/hyptrace --exclude=/.config \
		--exclude=/include/config --exclude=/include/generated --exclude='/arch/*/include/generated' \
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
