# shellcheck shell=bash
# shellcheck disable=SC2154 # work and repo are of run.sh
# SPDX-License-Identifier: GPL-2.0-only
# Checks for users of libhyptrace: its header, its exported names, and builds with several compilers. Sourced by
# run.sh, which sets $repo and $work.

soname=libhyptrace.so.$(sed -n 's/^#define HYPTRACE_LIB_VERSION_MAJOR[[:space:]]*//p' "$repo/tools/lib/hyptrace.h")

# exports ARCHIVE LIBRARY: check that both define only names of the library, and export exactly those that its headers
# declare
exports()
{
	local name visibility declared names bad=0
	names=" $(grep -ohE '\bhyptrace_\w+\(' tools/lib/hyptrace{,_control,_file,_model}.h | tr '(\n' '  ') "
	while read -r visibility name; do
		declared=HIDDEN
		[[ $names != *" $name "* ]] || declared=DEFAULT
		[[ $name == hyptrace_* ]] || { echo "$1 defines $name" && bad=1; }
		[[ $visibility == "$declared" ]] || { echo "$1: $name is $visibility, not $declared" && bad=1; }
	done < <(readelf -sW "$1" | awk '$4 ~ /FUNC|OBJECT/ && $5 != "LOCAL" && $7 != "UND" { print $6, $8 }')
	# the shared library has the same names as the archive, in a version
	diff <(nm -D --defined-only "$2" | sed -n 's/.* [TDRB] \(.*\)@@HYPTRACE_[0-9.]*$/\1/p' | sort) \
		<(readelf -sW "$1" | awk '$4 ~ /FUNC|OBJECT/ && $5 != "LOCAL" && $6 == "DEFAULT" && $7 != "UND" { print $8 }' |
			sort -u) || { echo "the names of $2 (<) and of $1 (>) differ" && bad=1; }
	return "$bad"
}

# The makefile must build the tools with each compiler, as a user runs it.
check_tools_build()
{
	local compiler bad=0
	need clang
	for compiler in gcc clang; do
		make -s -C tools -j"$(nproc)" CC="$compiler" O="$work/$compiler" || return
		exports "$work/$compiler/lib/libhyptrace.a" "$work/$compiler/lib/$soname" || bad=1
	done
	return "$bad"
}

# The rooms of the command use each other as the list "arrows" says. No LTO: it hides who calls whom.
check_rooms()
{
	make -s -C tools -j"$(nproc)" O="$work/rooms/tools" CFLAGS=-O0 || return
	tests/lint/rooms.sh "$work/rooms" tests/lint/arrows tools/hyptrace tools/lib &&
		tests/lint/rooms.sh "$work/rooms" tests/lint/arrows-lib tools/lib
}

# The command needs nothing of the library but what every program has: the exported functions. Its private headers are
# not among the folders that the command is built with.
check_border()
{
	local objects
	make -s -C tools -j"$(nproc)" O="$work/rooms/tools" CFLAGS=-O0 || return
	mapfile -t objects < <(find "$work/rooms/tools/hyptrace" -name '*.o')
	# shellcheck disable=SC2046 # they are several words
	gcc -o "$work/bordered" "${objects[@]}" "$work/rooms/tools/lib/$soname" \
		$(pkg-config --libs libtracefs 2>/dev/null) -ldl || return
	LD_LIBRARY_PATH="$work/rooms/tools/lib" "$work/bordered" --version >/dev/null
}

# No files call each other in a circle, but those in the list "circles".
check_circles()
{
	make -s -C tools -j"$(nproc)" O="$work/rooms/tools" CFLAGS=-O0 || return
	tests/lint/circles.sh "$work/rooms" tools/hyptrace tools/lib
}

# example SOURCE LANGUAGE COMPILER FLAG...: it builds against the installed library, with the flags of pkg-config.
example()
{
	local source=$1 language=$2 compiler=$3
	shift 3
	# shellcheck disable=SC2046 # they are several words
	"$compiler" -Wall -Wextra -Werror -o "$work/example" -x "$language" "$source" -x none \
		$(pkg-config "$@" --cflags --libs hyptrace) || { echo "$source: $compiler $*" && return 1; }
}

# What is installed is enough for a program in C or C++, shared or static, and the program runs with it.
check_installed_library()
{
	local compiler source said bad=0
	need clang
	need g++
	make -s -C tools -j"$(nproc)" O="$work/gcc" prefix="$work/prefix" install >/dev/null || return
	export PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig LD_LIBRARY_PATH=$work/prefix/lib
	[[ $(pkg-config --modversion hyptrace) == "$("$work/prefix/bin/hyptrace" --version | sed 's/.* //')" ]] ||
		{ echo "hyptrace.pc and the command have different versions" && bad=1; }
	for source in tools/examples/*.c; do
		for compiler in c:gcc c:clang c++:g++ c++:clang++; do
			example "$source" "${compiler%%:*}" "${compiler#*:}" || bad=1
			readelf -d "$work/example" | grep -q "NEEDED.*\[$soname\]" ||
				{ echo "$source is not linked with $soname" && bad=1; }
			# whether a driver is loaded or not: it says why it ends
			said=$("$work/example" no-such-remote 2>&1) || true
			[[ $said == "$work/example: "* ]] || { echo "$source does not run: $said" && bad=1; }
		done
	done
	# static: only the archive is there
	rm "$work"/prefix/lib/libhyptrace.so*
	for source in tools/examples/*.c; do
		example "$source" c gcc --static && example "$source" c++ g++ --static || bad=1
	done
	return "$bad"
}

# abi_of FILE: write what programs that are linked with the library rely on.
abi_of()
{
	make -s -C tools -j"$(nproc)" O="$work/abi" CFLAGS="-g -Og -ffile-prefix-map=$repo=." \
		"$work/abi/lib/$soname" || return
	# structs that no public header has are the library's own, and may change
	mkdir -p "$work/headers/linux"
	cp tools/lib/hyptrace{,_control,_file,_model}.h "$work/headers"
	cp uapi/linux/*.h "$work/headers/linux"
	abidw --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed --no-architecture \
		--no-parameter-names --headers-dir "$work/headers" --drop-private-types \
		--exported-interfaces-only --out-file "$1" "$work/abi/lib/$soname"
}

# The library keeps its binary interface, or the file that describes it is updated on purpose: run.sh --update-abi.
check_abi()
{
	need abidw
	abi_of "$work/libhyptrace.abi" || return
	abidiff tests/abi/libhyptrace.abi "$work/libhyptrace.abi" || {
		echo "the binary interface of libhyptrace has changed. If programs that are linked with it still work,"
		echo "run tests/lint/run.sh --update-abi; else restore it, or raise HYPTRACE_LIB_VERSION_MAJOR as well"
		return 1
	}
}

update_abi()
{
	need abidw
	abi_of "$work/libhyptrace.abi" &&
		sed '1a <!-- SPDX-License-Identifier: GPL-2.0-only -->' "$work/libhyptrace.abi" >tests/abi/libhyptrace.abi
}

# Each public header must compile on its own, in C and in C++.
check_headers_alone()
{
	local header kind compiler bad=0
	need clang
	need g++
	for header in uapi/linux/*.h tools/lib/hyptrace{,_control,_file,_model}.h; do
		for kind in c:gcc:c99 c:clang:c99 c++:g++:c++98 c++:g++:c++20 c++:clang++:c++98 c++:clang++:c++20; do
			compiler=${kind#*:}
			echo "#include <${header##*/lib/}>" | sed 's|<uapi/|<|' | "${compiler%:*}" -x "${kind%%:*}" \
				-std="${kind##*:}" -Wall -Wextra -Werror -fsyntax-only -Iuapi -Itools/lib \
				-idirafter uapi/compat - || bad=1
		done
	done
	return "$bad"
}
