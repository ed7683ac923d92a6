#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Check the sources on the host without running them: run.sh [NAME-OF-CHECK... | --update-abi]. The kernel's checkers
# are taken from a kernel tree in the cache of the test bed (see tests/vm/lib.sh). If the cache has none, it is fetched.

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../vm/series.sh"
. "$(dirname "${BASH_SOURCE[0]}")/checkpatch.sh"
. "$(dirname "${BASH_SOURCE[0]}")/library.sh"
. "$(dirname "${BASH_SOURCE[0]}")/completion.sh"
. "$(dirname "${BASH_SOURCE[0]}")/documents.sh"
. "$(dirname "${BASH_SOURCE[0]}")/console.sh"

# The kernel series whose checkers are used
checkers=6.12
max_lines=600
# The generator takes the specification of the netlink family from one file.
max_spec_lines=900

cd "$repo"
# Always the same folder: ccache then knows the compilers' options.
work=$repo/tests/lint/build
rm -rf "$work"
mkdir "$work"
. "$repo/tests/lint/series.sh"
. "$repo/tests/lint/hooks.sh"
. "$repo/tests/lint/bounds.sh"
. "$repo/tests/lint/syzkaller.sh"

# All files that are in the repository, or are going to be added.
mapfile -t files < <(git ls-files -co --exclude-standard | while read -r file; do
	[[ ! -f $file ]] || echo "$file"
done | sort)

# those GLOB...: print the files that match a glob
those()
{
	local file glob
	for file in "${files[@]}"; do
		for glob in "$@"; do
			# shellcheck disable=SC2053 # it is a glob
			[[ $file == $glob ]] && echo "$file" && break
		done
	done
}

# is_generated FILE
is_generated()
{
	[[ $1 == uapi/linux/hyptrace_netlink.h || $1 == driver/netlink/netlink_gen.[ch] || $1 == tests/abi/*.abi ||
		$1 == tools/man/man3/*.3 ]]
}

mapfile -t c_files < <(those 'driver/*.[ch]' 'hyp/*.[ch]' 'uapi/*.h' 'tools/*.[ch]' 'tests/*.[ch]')
mapfile -t scripts < <(for file in "${files[@]}"; do
	read -r first <"$file" 2>/dev/null || continue
	case $file:$first in
	*.sh:* | *.bash:* | *.bats:* | *:'#!'*sh | *:'#!'*sh\ * | *:'#!'*bats*) echo "$file" ;;
	esac
done)

# tree_with FILE: set $kernel_tree to the newest kernel tree of the cache that has the file
tree_with()
{
	local series
	kernel_tree=
	for series in $(series_list "$cache/src/" ''); do
		[[ ! -f $cache/src/$series/$1 || ! -f $cache/src/$series/Makefile ]] || kernel_tree=$cache/src/$series
	done
	[[ -n $kernel_tree ]]
}

# Set $kernel_tree to the tree of the series above, whose checkpatch and kernel-doc check the files: those of other
# series find other things.
has_tree()
{
	kernel_tree=$cache/src/$checkers
	[[ -f $kernel_tree/Makefile ]] || "$vm/fetch.sh" "$checkers"
}

# found PATTERN FILE...: print the lines that match; true if there are none
found()
{
	! grep -nE "$@"
}

check_checkpatch()
{
	has_tree && checkpatch_all "$kernel_tree/scripts/checkpatch.pl" "$work/links" "${c_files[@]}"
}

check_kernel_doc()
{
	local list said
	has_tree || return 1
	mapfile -t list < <(those 'driver/*.[ch]' 'hyp/*.[ch]' 'tools/lib/*.[ch]')
	said=$("$kernel_tree/scripts/kernel-doc" -none -Wall "${list[@]}" 2>&1 |
	# kernel-doc mistakes any macro with ...TRACE_EVENT... in its body for a tracepoint, and prints the body
		grep -v 'Unrecognized tracepoint format' | grep -E '^(Warning|Error)|: (warning|error): ' | sort -u)
	[[ -z $said ]] || { echo "$said" && return 1; }
}

check_generated()
{
	local generator=tools/net/ynl/pyynl/ynl_gen_c.py
	tree_with "$generator" || { "$vm/fetch.sh" newest && tree_with "$generator"; } ||
		echo "note: there is no kernel tree with a generator: only the sums were checked"
	tests/generate.sh --check ${kernel_tree:+"$kernel_tree"}
}

check_shellcheck()
{
	need shellcheck
	shellcheck -x "${scripts[@]}"
}

check_bash_syntax()
{
	local file bad=0
	for file in "${scripts[@]}"; do
		# bats rewrites @test "name" { before the shell reads it
		sed 's/^@test .* {$/test_function() {/' "$file" >"$work/script"
		bash -n "$work/script" 2>&1 | sed "s|$work/script|$file|" | grep . && bad=1
	done
	return "$bad"
}

check_bats_syntax()
{
	local list
	need bats
	mapfile -t list < <(those 'tests/*.bats')
	((${#list[@]})) || { echo "there is no bats file in tests" && return 1; }
	bats --count "${list[@]}" >/dev/null
}

check_man_pages()
{
	local list
	need mandoc
	mapfile -t list < <(those 'tools/man/*.[1-8]')
	((${#list[@]})) || { echo "there is no man page in tools/man" && return 1; }
	mandoc -Tlint -W warning "${list[@]}"
}

# The pages of the library are made of its kernel-doc. The kernel-doc of another series may word them otherwise.
check_library_man_pages()
{
	has_tree && tests/man3.py --check "$kernel_tree"
}

# The other programs of the benchmarks need a kernel or LTTng.
check_benchmark_builds()
{
	tests/bench/writer.sh --build
}

check_spdx()
{
	local file list=() said
	for file in "${files[@]}"; do
		case $file in
		COPYING) continue ;;
		# the generator takes one file
		uapi/hyptrace.yaml) continue ;;
		# inputs of fuzzers and recorded outputs are data
		tests/*/corpus/* | tests/*/data/*) continue ;;
		# a picture has it in a file beside it, as REUSE has it
		*.png) file+=.license ;;
		esac
		list+=("$file")
	done
	said=$(awk 'FNR <= 6 && /SPDX-License-Identifier: / { has[FILENAME] }
		END { for (i = 1; i < ARGC; i++) if (!(ARGV[i] in has)) print ARGV[i] " has no SPDX-License-Identifier in its first lines" }' \
		"${list[@]}")
	[[ -z $said ]] || { echo "$said" && return 1; }
}

check_hosts_and_homes()
{
	found '(deb|security|snapshot|archive|ftp[.a-z]*|mirrors?[.a-z]*)[.]debian[.]org' "${files[@]}" &&
		found '(^|[[:space:]=:"(])/(home|root|Users)/[.A-Za-z]' "${files[@]}"
}

check_left_over()
{
	found '\b(T[O]DO|F[I]XME|X[X]X|H[A]CK)\b' "${files[@]}"
}

check_white_space()
{
	local list said
	# in a patch a line with one blank is an empty context line
	mapfile -t list < <(those '*' | grep -v '[.]patch$' | xargs -d '\n' grep -Il .)
	said=$(grep -nHE '[[:blank:]]+$' "${list[@]}" || true
		perl -ne 'print "$ARGV does not end with a newline\n" if eof && !/\n\z/' "${list[@]}")
	[[ -z $said ]] || { echo "$said" && return 1; }
}

check_lengths()
{
	local file lines max bad=0
	while read -r lines file; do
		[[ $file != total ]] || continue
		case $file in
		COPYING) continue ;;
		# the generator takes one file
		uapi/hyptrace.yaml) continue ;;
		uapi/*.yaml) max=$max_spec_lines ;;
		*) max=$max_lines ;;
		esac
		((lines <= max)) || is_generated "$file" ||
			{ echo "$file has $lines lines: split it, the limit is $max" && bad=1; }
	done < <(wc -l "${files[@]}")
	return "$bad"
}

# includes PATTERN ALLOWED GLOB: check that no file includes a header that matches PATTERN but not ALLOWED
includes()
{
	local list
	mapfile -t list < <(those "$3")
	! grep -nHE "#include [\"<][^\">]*$1" "${list[@]}" | grep -vE "${2:-^$}"
}

# Each folder may include only headers of the folders that it depends on.
check_includes()
{
	includes '(driver|tools|tests)/' '' 'hyp/*.[ch]' &&
		includes '(tools|tests)/' '' 'driver/*.[ch]' &&
		includes 'hyp/' 'hyp/(abi|function/function_abi|events|hcall)[.]h' 'driver/*.[ch]' &&
		includes '(driver|hyp|tests)/' '' 'tools/*.[ch]' &&
		includes '(driver|hyp|tools|tests)/' '' 'uapi/*.h'
}

# A CPU that speculates must not use a number of the host, or of a process, as an index that is too large.
check_nospec()
{
	tests/lint/nospec.py
}

# The driver builds on each 6.12.y: 6.12.0 has these guards, or driver/compat.h defines them.
check_guards()
{
	local own list
	own=$(sed -n 's/^DEFINE_[A-Z_]*GUARD[A-Z_01]*(\([a-z_]*\),.*/|\1/p' driver/compat.h | tr -d '\n')
	mapfile -t list < <(those 'driver/*.[ch]')
	! grep -noE 'guard\([a-z]\w*' "${list[@]}" |
		grep -vE "\\((mutex|rwsem_read|rwsem_write|spinlock|spinlock_irq|spinlock_irqsave|irqsave|rcu$own)\$"
}

# compiles ARGUMENT...: compile a call of hyptrace_printk() with these arguments
compiles()
{
	printf '#include "hooks.h"\nvoid f(u64 x, s32 y, const void *p);\nvoid f(u64 x, s32 y, const void *p) { %s }\n' \
		"(void)x; (void)y; (void)p; hyptrace_printk($1);" >"$work/printk.c"
	gcc -std=gnu11 -Wall -Werror -DHYPTRACE_ENV_HOST -Ihyp -fsyntax-only \
		"$work/printk.c" 2>"$work/printk.said"
}

# hyptrace_printk() takes up to four numbers, and no pointer: the host must not learn addresses of EL2.
check_printk_takes_numbers_only()
{
	local arguments bad=0
	for arguments in '"none"' '"one %d", y' '"four %llu %d %llu %x", x, y, 0ULL, 0x10'; do
		compiles "$arguments" || { cat "$work/printk.said" && bad=1; }
	done
	for arguments in '"%p", p' '"%s", (const char *)p' '"%llx", (const char *)p' '"%d %d %d %d %d", y, y, y, y, 0' \
		'"%d %d %d %d %d %d %d %d %d", y, y, y, y, y, y, y, y, 0' '"%d", x'; do
		! compiles "$arguments" || { echo "hyptrace_printk($arguments) compiles" && bad=1; }
	done
	return "$bad"
}

# Only FULL=1 uses some of the patches that put a bug in a copy of the tree.
check_patches_of_bugs()
{
	local patch bad=0
	for patch in tests/{mutate/defects,fuzz/plants}/*.patch; do
		git apply --check "$patch" || bad=1
	done
	return "$bad"
}

if [[ ${1:-} == --update-abi ]]; then
	update_abi
	exit
fi

# Each function check_NAME is a check; the output shows NAME with blanks.
mapfile -t checks < <(declare -F | sed -n 's/^declare -f check_//p')
# FULL=1 also checks what takes long, and what other checks refuse. QUICK=1 leaves out what builds all tools.
slow=''
[[ -n ${FULL:-} ]] || slow+=" installed_library hooks_missing hooks_interrupted hooks_and_odd_files"
[[ -n ${FULL:-} ]] || slow+=" bounds_of_what_is_new syzkaller_of_what_is_new "
[[ -z ${QUICK:-} ]] || slow+=" tools_build installed_library abi benchmark_builds rooms circles "
for check in "${!checks[@]}"; do
	[[ $slow != *" ${checks[check]} "* ]] || unset "checks[check]"
done
((!$#)) || checks=("$@")

passed=0 failed=0
for check in "${checks[@]}"; do
	declare -F "check_$check" >/dev/null || die "there is no check \"$check\""
	if ("check_$check") >"$work/said" 2>&1 </dev/null; then
		passed=$((passed + 1))
		echo "ok - lint: ${check//_/ }"
		grep '^note: ' "$work/said" || true
	else
		failed=$((failed + 1))
		echo "not ok - lint: ${check//_/ }"
		sed 's/^/    /' "$work/said"
	fi
done
echo "$passed passed, $failed failed"
((failed == 0))
