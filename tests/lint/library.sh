# shellcheck shell=bash
# shellcheck disable=SC2154 # work is of run.sh
# SPDX-License-Identifier: GPL-2.0-only
# What a program that uses libhyptrace depends on: its header, its names, the compilers that build it. To be sourced by
# run.sh, which has $repo and $work.

# exports ARCHIVE: it defines names of the library only, and shows those that hyptrace.h declares.
exports()
{
	local name visibility declared bad=0
	while read -r visibility name; do
		declared=HIDDEN
		! grep -qE "\b$name\(" tools/lib/hyptrace.h || declared=DEFAULT
		[[ $name == hyptrace_* ]] || { echo "$1 defines $name" && bad=1; }
		[[ $visibility == "$declared" ]] || { echo "$1: $name is $visibility, not $declared" && bad=1; }
	done < <(readelf -sW "$1" | awk '$4 ~ /FUNC|OBJECT/ && $5 != "LOCAL" && $7 != "UND" { print $6, $8 }')
	return "$bad"
}

# A program in C++ finds what was built as C.
links_as_cplusplus()
{
	printf '%s\n' '#include <hyptrace.h>' 'int main() { hyptrace_decoder_free(hyptrace_decoder_new()); }' |
		g++ -Wall -Wextra -Werror -Itools/lib -Iuapi -idirafter tools/lib/compat -o "$work/linked" -x c++ - \
			-x none "$1"
}

# The makefile as a user runs it, whatever the compiler.
check_tools_build()
{
	local compiler bad=0
	need clang
	for compiler in gcc clang; do
		make -s -C tools -j"$(nproc)" CC="$compiler" O="$work/$compiler" || return
		exports "$work/$compiler/lib/libhyptrace.a" || bad=1
		links_as_cplusplus "$work/$compiler/lib/libhyptrace.a" || bad=1
	done
	return "$bad"
}

# A user's program in C or C++ includes one header and nothing before it.
check_headers_alone()
{
	local header kind compiler bad=0
	need clang
	need g++
	for header in uapi/linux/*.h tools/lib/hyptrace.h; do
		for kind in c:gcc:c99 c:clang:c99 c++:g++:c++98 c++:g++:c++20 c++:clang++:c++98 c++:clang++:c++20; do
			compiler=${kind#*:}
			echo "#include <${header##*/lib/}>" | sed 's|<uapi/|<|' | "${compiler%:*}" -x "${kind%%:*}" \
				-std="${kind##*:}" -Wall -Wextra -Werror -fsyntax-only -Iuapi -Itools/lib \
				-idirafter tools/lib/compat - || bad=1
		done
	done
	return "$bad"
}
