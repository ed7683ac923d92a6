# shellcheck shell=bash
# shellcheck disable=SC2154 # work is of run.sh
# SPDX-License-Identifier: GPL-2.0-only
# The documents describe what is built. To be sourced by run.sh, which has $work.

# The program in README.md builds.
check_readme_example()
{
	awk '/^```/ { in_c = $0 == "```c"; next } in_c' README.md >"$work/example.c"
	[[ -s $work/example.c ]] || { echo "README.md has no example in C" && return 1; }
	gcc -Wall -Wextra -Werror -fsyntax-only -Itools/lib -Iuapi -idirafter uapi/compat "$work/example.c"
}

# The manual page and README.md name each verb, and the page each option, that the command's help names.
check_verbs_documented()
{
	local verb option bad=0
	need mandoc
	make -s -C tools -j"$(nproc)" O="$work/rooms/tools" CFLAGS=-O0 || return
	export PATH=$work/rooms/tools/hyptrace:$PATH
	mandoc -Tascii tools/man/hyptrace.1 | sed 's/.\x08//g' >"$work/page"
	# a verb may have a page of its own, with its options
	for verb in $(hyptrace help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
		grep -qE "^     $verb( |\$)" "$work/page" || { echo "hyptrace.1 has no verb $verb" && bad=1; }
		grep -qE "^[|].*\`${verb}[\` ]|\`hyptrace $verb " README.md || { echo "README.md has no verb $verb" && bad=1; }
		cp "$work/page" "$work/pages"
		[[ ! -f tools/man/hyptrace-$verb.1 ]] || mandoc -Tascii "tools/man/hyptrace-$verb.1" | sed 's/.\x08//g' >>"$work/pages"
		for option in $(hyptrace help "$verb" | grep -oE '^ +(-., )? *--[a-z-]+' | grep -oE -- '--[a-z-]+'); do
			grep -q -- "$option\b" "$work/pages" || { echo "hyptrace.1 has no $option of $verb" && bad=1; }
		done
	done
	[[ -n $verb ]] || { echo "the help has no verb" && bad=1; }
	return "$bad"
}

# The manual pages have lines of at most 78 columns, as man prints them in a terminal of 80: examples are folded.
check_man_page_widths()
{
	local page bad=0
	need mandoc
	for page in tools/man/*.[1-8] tools/man/man3/*.3; do
		mandoc -Tascii -O width=78 "$page" | sed 's/.\x08//g' |
			awk -v page="$page" 'length > 78 { print page " is wider than 78 columns: " $0; bad = 1 } END { exit bad }' || bad=1
	done
	return "$bad"
}

# STATIC=1 makes the command one file that needs no shared library.
check_static_command()
{
	local command=$work/static/hyptrace/hyptrace
	# the linker warns of functions that a static libnl cannot use, and that hyptrace does not call
	make -s -C tools -j"$(nproc)" STATIC=1 O="$work/static" 2>"$work/linker" || { cat "$work/linker" && return 1; }
	! readelf -dW "$command" | grep NEEDED && "$command" --version
}
