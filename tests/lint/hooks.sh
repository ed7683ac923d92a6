# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Check the rules in hyp/linux and patch-tree on the files of the kernel trees in the cache. Sourced by run.sh.

: "${work:?set work to a temporary folder}" "${cache:?source lib.sh first}" "${kernel_tree=}"

# original_tree SERIES FOLDER: make a git tree of the files that have hooks, without the hooks
original_tree()
{
	local from=$cache/src/$1.pristine file
	[[ -d $from ]] || from=$cache/src/$1
	mkdir -p "$2"
	tests/vm/hooks.py files | while read -r file; do
		[[ -f $from/$file ]] || from=$cache/src/$1
		[[ ! -f $from/$file ]] || install -D -m 644 "$from/$file" "$2/$file"
		from=$cache/src/$1.pristine
	done
	cp "$cache/src/$1/Makefile" "$cache/src/$1/Kconfig" "$2/"
	# as that of the kernel
	echo '.*' >"$2/.gitignore"
	git -C "$2" init -q
	git -C "$2" add -A
	git -C "$2" -c user.name=t -c user.email=t commit -q -m original
}

# patch_tree EXIT_CODE TREE [OPTION]: run patch-tree, with its output in $work/out
patch_tree()
{
	local code=0
	KSRC='' tests/vm/patch-tree.sh ${3:+"$3"} "$2" >"$work/out" 2>&1 || code=$?
	((code == $1)) || { echo "patch-tree ${3:-} ended with $code instead of $1:" && cat "$work/out" && return 1; }
}

# is_clean TREE: check that git sees no change, and none of our files is left
is_clean()
{
	[[ -z $(git -C "$1" status --porcelain) && ! -e $1/.hyptrace && ! -e $1/drivers/hyptrace ]] ||
		{ echo "$1 is not what it was:" && git -C "$1" status --short && return 1; }
}

# All hooks have a place in each kernel of the cache. patch-tree, again, and UNDO=1 leave the tree as it was.
check_hooks_in_trees()
{
	local series tree
	for series in $(series_list "$cache/src/" ''); do
		tree=$work/trees/$series
		original_tree "$series" "$tree"
		patch_tree 0 "$tree" --check || return
		! grep "NOT FOUND" "$work/out" || return
		is_clean "$tree" || return
		patch_tree 0 "$tree" || return
		grep -q '^guest_enter: arch/arm64/kvm/hyp/nvhe/switch.c:[0-9]* in __kvm_vcpu_run$' "$work/out" ||
			{ echo "patch-tree does not say where guest_enter is:" && cat "$work/out" && return 1; }
		! grep -r __at_ "$tree" --include='*.[ch]' || return
		patch_tree 0 "$tree" || return
		patch_tree 0 "$tree" --undo || return
		is_clean "$tree" || return
	done
	[[ -d $work/trees ]] || { echo "there is no kernel tree in $cache/src" && return 1; }
}

# patch-tree keeps changes of the user, and refuses to take out hooks that were changed.
check_hooks_and_changes()
{
	local tree=$work/changes file=arch/arm64/kvm/hyp/nvhe/tlb.c header=arch/arm64/include/asm/hyptrace_tree.h option
	has_tree || return
	original_tree "${kernel_tree##*/}" "$tree"
	patch_tree 2 "$tree" --undo || return
	patch_tree 0 "$tree" || return
	echo '/* mine */' >>"$tree/$file"
	patch_tree 0 "$tree" || return
	sed -i 's/hyptrace_tlbi(VMID, /&/; s/hyptrace_tlbi(VMID, mmu/hyptrace_tlbi(VMID, my_mmu/' "$tree/$file"
	cp "$tree/$file" "$work/edited.c"
	patch_tree 2 "$tree" --undo || return
	grep -q 'was changed at the hooks' "$work/out" || { cat "$work/out" && return 1; }
	patch_tree 2 "$tree" || return
	cmp "$tree/$file" "$work/edited.c" || return
	sed -i 's/my_mmu/mmu/' "$tree/$file"
	patch_tree 0 "$tree" --undo || return
	[[ $(git -C "$tree" diff -U0 | grep '^[-+][^-+]') == '+/* mine */' ]] ||
		{ echo "undo has not kept the user's change:" && git -C "$tree" diff && return 1; }

	# git has put the files without hooks back, one with a change of another version.
	patch_tree 0 "$tree" || return
	git -C "$tree" checkout -q .
	sed -i 's/enter_vmid_context(mmu, &cxt, false);/& \/\/ newer/' "$tree/$file"
	cp "$tree/$file" "$work/edited.c"
	patch_tree 0 "$tree" || return
	git -C "$tree" checkout -q .
	cp "$work/edited.c" "$tree/$file"
	patch_tree 0 "$tree" --undo || return
	cmp "$tree/$file" "$work/edited.c" || return
	git -C "$tree" checkout -q .
	is_clean "$tree" || return

	# A link of somebody else: nothing is changed.
	ln -s /nowhere "$tree/drivers/hyptrace"
	patch_tree 2 "$tree" || return
	[[ $(readlink "$tree/drivers/hyptrace") == /nowhere ]] || return
	rm "$tree/drivers/hyptrace"
	is_clean "$tree" || return

	# A file of the kernel's own where the header would be: nothing is changed.
	mkdir -p "$tree/${header%/*}"
	echo theirs >"$tree/$header"
	for option in '' --check; do
		patch_tree 2 "$tree" $option || return
		expect "*has a file $header already: nothing was changed*" "a header that is there" <"$work/out" || return
	done
	[[ $(<"$tree/$header") == theirs ]] || return
	rm "$tree/$header"
	is_clean "$tree" || return

	# A required hook without a place: nothing is changed.
	sed -i 's/__guest_enter(vcpu)/__enter(vcpu)/' "$tree/arch/arm64/kvm/hyp/nvhe/switch.c"
	git -C "$tree" -c user.name=t -c user.email=t commit -q -a -m other
	patch_tree 2 "$tree" || return
	expect '*guest_enter: NOT FOUND in *switch.c: __kvm_vcpu_run() calls __guest_enter(). It is required*nothing was changed*' \
		"a required hook" <"$work/out" || return
	is_clean "$tree" || return

	# One that is not required: its event is missing.
	git -C "$tree" checkout -q HEAD~ .
	sed -i 's/enter_vmid_context/enter_context/' "$tree/$file"
	patch_tree 0 "$tree" || return
	expect '*tlb_ipa: NOT FOUND in *tlb.c: *It is missing: this kernel has no event tlbi*' "a hook for an event" <"$work/out" || return
	grep -q '^#define HYPTRACE_TREE_LACKS(what) what(tlbi)$' "$tree/$header"
}

# Files that are not as usual: undo brings them back byte for byte, or patch-tree refuses them.
check_hooks_and_odd_files()
{
	local tree=$work/odd file=arch/arm64/kvm/hyp/nvhe/tlb.c
	has_tree || return
	original_tree "${kernel_tree##*/}" "$tree"
	truncate -s -1 "$tree/$file"
	tail -n 1 "$tree/$file" >"$work/last"
	mv "$tree/$file" "$tree/${file%.c}-real.c"
	ln -s tlb-real.c "$tree/$file"
	git -C "$tree" add -A
	git -C "$tree" -c user.name=t -c user.email=t commit -q -m odd
	patch_tree 0 "$tree" || return
	[[ -L $tree/$file && $(tail -n 1 "$tree/$file") == "$(<"$work/last")" ]] ||
		{ echo "patch-tree has lost a link or the last line of a file" && return 1; }
	patch_tree 0 "$tree" --undo || return
	is_clean "$tree" || return

	sed -i 's/$/\r/' "$tree/$file" || return
	cp "$tree/$file" "$work/crlf.c"
	patch_tree 2 "$tree" || return
	expect '*tlb.c has carriage returns*' "carriage returns" <"$work/out" || return
	cmp "$tree/$file" "$work/crlf.c" || return

	# What a tree says of its files is not trusted.
	git -C "$tree" checkout -q .
	for file in ../outside "$work/outside" link/outside; do
		ln -sfn .. "$tree/link"
		printf '{"%s": ["a", "b", "c"]}' "$file" >"$tree/.hyptrace"
		patch_tree 2 "$tree" --check || return
		patch_tree 2 "$tree" --undo || return
		expect '*is not a file of this tree*' "a file outside" <"$work/out" || return
		[[ ! -e $work/outside ]] || { echo "patch-tree has made $work/outside" && return 1; }
	done
	echo '{' >"$tree/.hyptrace"
	patch_tree 2 "$tree" --undo || return
	expect '*is damaged*' "a damaged state" <"$work/out"
}

# patch-tree and undo continue, wherever they were interrupted.
check_hooks_interrupted()
{
	tests/lint/hooks_interrupted.py
}

# What a tree of Android has differently, and what no rule knows.
check_hooks_and_other_code()
{
	local tree=$work/other file=arch/arm64/kvm/hyp/nvhe
	has_tree || return
	original_tree "${kernel_tree##*/}" "$tree"
	file=$tree/arch/arm64/kvm/hyp/nvhe
	sed -i 's/^\tcase ESR_ELx_EC_SMC64:/\tcase ESR_ELx_EC_SVE:\n\t\t__deactivate_cptr_traps(NULL);\n\t\tisb();\n\t\tbreak;\n&/' \
		"$file/hyp-main.c"
	printf '\nstatic int take_from_guest(u64 phys)\n{\n\treturn host_stage2_set_owner_locked(phys, 1, 0);\n}\n' \
		>>"$file/mem_protect.c"
	cat >>"$file/mem_protect.c" <<-'EOF2'

	int __pkvm_guest_relinquish_to_host(struct pkvm_hyp_vcpu *vcpu, u64 ipa, u64 *ppa)
	{
		struct pkvm_hyp_vm *vm = pkvm_hyp_vcpu_to_hyp_vm(vcpu);
		kvm_pte_t pte;
		u64 phys = 0;
		int ret = kvm_pgtable_get_leaf(&vm->pgt, ipa, &pte, NULL);

		if (ret)
			goto end;
		phys = kvm_pte_to_phys(pte);
	end:
		guest_unlock_component(vm);
		return ret;
	}
	EOF2
	patch_tree 0 "$tree" || return
	expect '*enter_fp: *hyp-main.c:*guest_relinquish: *mem_protect.c:*guest_others: NOT FOUND in *: a rule for each function*' \
		"hooks of Android" <"$work/out" || return
	grep -q '^#define HYPTRACE_TREE_LACKS(what) what(guest_memory)$' "$tree/arch/arm64/include/asm/hyptrace_tree.h"
}

# EL2 compiles without each hook that is not required.
check_hooks_missing()
{
	local build
	has_tree || return
	# also that of clang
	for build in "$cache/build/${kernel_tree##*/}"{,-llvm*}; do
		[[ ! -d $build/arch/arm64/kvm/hyp/nvhe ]] || break
	done
	[[ -d $build/arch/arm64/kvm/hyp/nvhe ]] ||
		{ echo "note: no kernel was built in $cache: no hook was left out of EL2" && return; }
	original_tree "${kernel_tree##*/}" "$work/missing"
	tests/lint/hooks_missing.py "$work/missing" "$build"
}

# The place of each hook, taken out of the tree: the hook is named.
check_hooks_taken_out()
{
	has_tree || return
	original_tree "${kernel_tree##*/}" "$work/taken"
	tests/lint/hooks.py "$work/taken"
}
