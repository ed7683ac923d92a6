#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What can be told of the sources without running them, on the host: run.sh [NAME-OF-CHECK...]. The checkers of the
# kernel come from a kernel tree of the test bed's cache (see tests/vm/lib.sh), which is fetched if it is not there.

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../vm/series.sh"
. "$(dirname "${BASH_SOURCE[0]}")/checkpatch.sh"
. "$(dirname "${BASH_SOURCE[0]}")/library.sh"
. "$(dirname "${BASH_SOURCE[0]}")/completion.sh"
. "$(dirname "${BASH_SOURCE[0]}")/documents.sh"

# The series that is fetched for its checkers where the cache has no kernel tree.
checkers=6.12
max_lines=600
max_patch_lines=300

cd "$repo"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$repo/tests/lint/series.sh"

# Everything that is, or is about to be, in the repository.
mapfile -t files < <(git ls-files -co --exclude-standard | while read -r file; do
	[[ ! -f $file ]] || echo "$file"
done | sort)

# those GLOB...: the files that match one.
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

# Those that are made, not written.
is_generated()
{
	[[ $1 == uapi/linux/hyptrace_netlink.h || $1 == driver/netlink/netlink_gen.[ch] ]]
}

mapfile -t c_files < <(those 'driver/*.[ch]' 'hyp/*.[ch]' 'uapi/*.h' 'tools/*.[ch]' 'tests/*.[ch]')
mapfile -t scripts < <(for file in "${files[@]}"; do
	read -r first <"$file" 2>/dev/null || continue
	case $file:$first in
	*.sh:* | *.bash:* | *.bats:* | *:'#!'*sh | *:'#!'*sh\ * | *:'#!'*bats*) echo "$file" ;;
	esac
done)

# tree_with FILE: the newest kernel tree of the cache that has the file, in $kernel_tree.
tree_with()
{
	local series
	kernel_tree=
	for series in $(series_list "$cache/src/" ''); do
		[[ ! -f $cache/src/$series/$1 || ! -f $cache/src/$series/Makefile ]] || kernel_tree=$cache/src/$series
	done
	[[ -n $kernel_tree ]]
}

# Any tree has the checkers. That of the series above is preferred: all machines have it.
has_tree()
{
	kernel_tree=$cache/src/$checkers
	[[ -f $kernel_tree/Makefile ]] || tree_with scripts/checkpatch.pl || "$vm/fetch.sh" "$checkers" || return
	[[ -f $kernel_tree/scripts/checkpatch.pl ]] || kernel_tree=$cache/src/$checkers
}

# found PATTERN FILE...: print the lines; true if there are none.
found()
{
	! grep -nE "$@"
}

# The kernel's style.
check_checkpatch()
{
	has_tree && checkpatch_all "$kernel_tree/scripts/checkpatch.pl" "$work/links" "${c_files[@]}"
}

# Comments that another file's author reads.
check_kernel_doc()
{
	local file said
	has_tree || return 1
	said=$(for file in "${c_files[@]}"; do
		case $file in
		driver/* | hyp/* | tools/lib/*) "$kernel_tree/scripts/kernel-doc" -none -Wall "$file" 2>&1 || true ;;
		esac
	# it takes any macro with ...TRACE_EVENT... in its body for a tracepoint, and prints the body
	done | grep -v 'Unrecognized tracepoint format' | grep -E '^(Warning|Error)|: (warning|error): ' | sort -u)
	[[ -z $said ]] || { echo "$said" && return 1; }
}

check_generated()
{
	local generator=tools/net/ynl/pyynl/ynl_gen_c.py
	tree_with "$generator" || { "$vm/fetch.sh" newest && tree_with "$generator"; } ||
		echo "note: no kernel tree with a generator is at hand: only the sums were checked"
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
		# @test "name" { is no shell until bats has rewritten it
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
	((${#list[@]})) || { echo "there is no bats file" && return 1; }
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

# builds FOLDER: its makefile builds it without a warning.
builds()
{
	[[ -f $1/Makefile ]] || { echo "$1/Makefile is missing" && return 1; }
	rsync -a --exclude=/.git --exclude='*.o' --exclude='*.a' "$repo/" "$work/copy/"
	make -s -C "$work/copy/$1" clean >/dev/null 2>&1 || true
	make -s -C "$work/copy/$1" -j"$(nproc)" CC="gcc -Wall -Wextra -Werror"
}

check_unit_tests_build()
{
	builds tests/unit
}

check_spdx()
{
	local file bad=0
	for file in "${files[@]}"; do
		case $file in
		COPYING) continue ;;
		# inputs of fuzzers and recorded outputs are data
		tests/*/corpus/* | tests/*/data/*) continue ;;
		esac
		head -n 6 "$file" | grep -q 'SPDX-License-Identifier: ' || { echo "$file has no licence line" && bad=1; }
	done
	return "$bad"
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
	local file bad=0
	for file in "${files[@]}"; do
		# in a patch a blank is an empty line
		[[ $file != *.patch ]] || continue
		grep -Iq . "$file" || continue
		! grep -nHE '[[:blank:]]+$' "$file" || bad=1
		[[ -z $(tail -c 1 "$file") ]] || { echo "$file does not end with a line's end" && bad=1; }
	done
	return "$bad"
}

check_lengths()
{
	local file lines max bad=0
	for file in "${files[@]}"; do
		is_generated "$file" && continue
		case $file in
		COPYING) continue ;;
		hyp/linux/*.patch) max=$((max_patch_lines - 1)) ;;
		*) max=$max_lines ;;
		esac
		lines=$(wc -l <"$file")
		((lines <= max)) || { echo "$file has $lines lines, more than $max" && bad=1; }
	done
	return "$bad"
}

# includes PATTERN [ALLOWED] GLOB: no file includes what matches, but for what is allowed.
includes()
{
	local list
	mapfile -t list < <(those "$3")
	! grep -nHE "#include [\"<][^\">]*$1" "${list[@]}" | grep -vE "${2:-^$}"
}

# The arrows of the design point one way.
check_includes()
{
	includes '(driver|tools|tests)/' '' 'hyp/*.[ch]' &&
		includes '(tools|tests)/' '' 'driver/*.[ch]' &&
		includes 'hyp/' 'hyp/(abi|events|ring)[.]h' 'driver/*.[ch]' &&
		includes '(driver|hyp|tests)/' '' 'tools/*.[ch]' &&
		includes '(driver|hyp|tools|tests)/' '' 'uapi/*.h'
}

# A check is a function; its title is its name.
mapfile -t checks < <(declare -F | sed -n 's/^declare -f check_//p')
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
