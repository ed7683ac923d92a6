# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Check that somebody has written down why each loop, wait and panic of EL2 is safe. Sourced by run.sh.

: "${work:?set work to a temporary folder}"

# What can hang or crash EL2 is in the list "bounds", with a reason.
check_bounds()
{
	tests/lint/bounds.py
}

# bounds_copy: copy what bounds.py reads to $work/bounds
bounds_copy()
{
	rm -rf "$work/bounds"
	mkdir -p "$work/bounds/uapi/linux" "$work/bounds/tests/lint"
	cp -r hyp "$work/bounds/"
	cp uapi/linux/hyptrace_record.h "$work/bounds/uapi/linux/"
	cp tests/lint/bounds "$work/bounds/tests/lint/"
}

# bounds_reports PATTERN: check that bounds.py refuses $work/bounds with one line only, which matches PATTERN; restore it
bounds_reports()
{
	local code=0
	tests/lint/bounds.py "$work/bounds" >"$work/bounds.said" || code=$?
	# shellcheck disable=SC2053 # it is a glob
	[[ $code == 1 && $(<"$work/bounds.said") == $1 ]] ||
		{ echo "instead of \"$1\", with exit code 1, bounds.py has said, with $code:" && cat "$work/bounds.said" && return 1; }
	bounds_copy
}

# bounds_adds FILE CODE PATTERN: add a function with this code to a file: bounds.py must report it
bounds_adds()
{
	printf '\nvoid added(u32 nr, u32 *flag)\n{\n%s\n}\n' "$2" >>"$work/bounds/$1"
	bounds_reports "$1: added: $3: say in tests/lint/bounds why it cannot hang or crash EL2"
}

# bounds.py reports what is new, and what is listed but gone.
check_bounds_of_what_is_new()
{
	local list=$work/bounds/tests/lint/bounds

	bounds_copy
	bounds_adds hyp/seal.c 'while (!READ_ONCE(*flag));' 'while (!READ_ONCE(\*flag))' || return
	bounds_adds hyp/seal.h 'do { (*flag)--; } while (*flag);' 'do while (\*flag)' || return
	bounds_adds hyp/ring.h 'for (u32 i = 0; i < nr; i++) *flag += i;' 'for (u32 i = 0; i < nr; i++)' || return
	bounds_adds hyp/ring.c 'for (i = 0; i < MAX; i++) { if (*flag) i = 0; }' 'for (i = 0; i < MAX; i++)' || return
	bounds_adds hyp/ring.c 'for (i = 0; i < MAX; i++) get(&i);' 'for (i = 0; i < MAX; i++)' || return
	bounds_adds hyp/load.c $'again:\n\tif (*flag)\n\t\tgoto again;' 'goto again' || return
	bounds_adds hyp/load.c 'added(nr, flag);' recursion || return
	bounds_adds hyp/load.c 'smp_cond_load_relaxed(flag, VAL);' smp_cond_load_relaxed || return
	bounds_adds hyp/load.c 'asm("wfe");' wfe || return
	# shellcheck disable=SC1003 # not an escaped quote
	bounds_adds hyp/load.c 'asm("1:\n\tldr w0, [%0]\n\tcbnz w0, 1b" : : "r" (flag));' 'asm: cbnz w0, 1b' || return
	bounds_adds hyp/load.c 'BUG_ON(nr);' BUG_ON || return
	bounds_adds hyp/load.c 'if (WARN_ON_ONCE(nr)) return;' WARN_ON_ONCE || return
	bounds_adds hyp/load.c 'hyp_panic();' hyp_panic || return
	bounds_adds hyp/load.c 'unreachable();' unreachable || return

	printf '\n#define ADDED(flag) \\\n\tdo {\t\\\n\t\twhile (*(flag))\t\\\n\t\t\t;\t\\\n\t} while (0)\n' >>"$work/bounds/hyp/ring.h"
	bounds_reports 'hyp/ring.h: ADDED: while (\*(flag)): say in *' || return
	printf '\n//# hook added tlb.c -: somewhere\n@@ @@\n+while (busy())\n+\tcpu_wait();\n' >>"$work/bounds/hyp/linux/tlb.cocci"
	bounds_reports 'hyp/linux/tlb.cocci: added: while (busy()): say in *' || return
	printf '\nhook added tlb.c -: somewhere\nappend\n\tBUG();\n' >>"$work/bounds/hyp/linux/files.hooks"
	bounds_reports 'hyp/linux/files.hooks: added: BUG: say in *' || return
	printf '\nSYM_CODE_START(added)\n1:\twfe\n\tb\t1b\nSYM_CODE_END(added)\n' >>"$work/bounds/hyp/function/function_entry.S"
	bounds_reports 'hyp/function/function_entry.S: added: wfe: say in *hyp/function/function_entry.S: added: while (b?1b): say in *' || return
	printf '\nvoid added(void)\n{\n\thyptrace_guard(&lock);\n}\n' >>"$work/bounds/hyp/ring.c"
	bounds_reports 'hyp/ring.c: -: hyptrace_guard: 10 times in the code, 9 times in tests/lint/bounds' || return

	# What is not in the code any more, and a bound that has changed
	sed -i 's/^\twhile (left-- && ring->nr_unwiped/\tif (left-- \&\& ring->nr_unwiped/' "$work/bounds/hyp/ring.c"
	bounds_reports 'hyp/ring.c: wipe_old_times: while (left-- && *): it is in tests/lint/bounds, but no longer in the code' || return
	sed -i 's/looks < MAX_LOOKS/looks < UINT_MAX/' "$work/bounds/hyp/calls.c"
	bounds_reports 'hyp/calls.c: *looks < MAX_LOOKS*no longer in the code*looks < UINT_MAX*: say in *' || return

	# The list itself
	sed -i '/^hyp\/filter.h/,/^$/{ /^\t\t/d }' "$list"
	bounds_reports 'tests/lint/bounds: there is no reason for hyp/filter.h hyptrace_filter_decide *' || return
	sed -i '/^\tsmp_cond_load_acquire$/,+2d' "$list"
	bounds_reports 'hyp/lock.c: hyptrace_lock_wait: smp_cond_load_acquire: say in *'
}
