# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# The kernel tree's checkpatch over C files, less the messages that say nothing about a place. To be sourced by run.sh.

# FILES (globs) | types of message that are no fault there, below the reason. All lines that match a file add up.
checkpatch_ignored=(
	# kzalloc_obj() came after 6.12, which is supported.
	'driver/*|ALLOC_WITH_SIZEOF'
	# The number of an ioctl names its place in the table and checks its size.
	'driver/chardev.c|MACRO_ARG_REUSE'
	# The list of events is included again and again, each macro with another meaning: those that a reading does
	# not need stay unused, a list of declarations cannot be a statement, and an event is written as a table.
	'hyp/events.h|OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT,COMPLEX_MACRO,SPACING'
	'hyp/abi.h hyp/hooks.h hyp/hcall.c hyp/trace.c driver/hyp_events.h driver/remote_event.h|MACRO_ARG_UNUSED,COMPLEX_MACRO,MACRO_ARG_REUSE,MACRO_ARG_PRECEDENCE,MULTISTATEMENT_MACRO_USE_DO_WHILE,TRAILING_SEMICOLON,SPACING,NEW_TYPEDEFS,MULTISTATEMENT_MACRO'
	# This file is the kernel's names, for programs of the host: macros that take statements, types, barriers
	# (their partners are where they are used), sizes of arrays by NR_CPUS.
	'hyp/env.h hyp/env_*.h|MACRO_ARG_UNUSED,MACRO_ARG_REUSE,MEMORY_BARRIER,NR_CPUS,NEW_TYPEDEFS,COMPLEX_MACRO,PREFER_DEFINED_ATTRIBUTE_MACRO,PREFER_KERNEL_TYPES,VOLATILE'
	# One source for several kernels is what it is for.
	'driver/compat.h|LINUX_VERSION_CODE,CONSTANT_COMPARISON'
	# The comment is the lock's place in the order of locks, at the top of the file.
	'driver/internal.h|UNCOMMENTED_DEFINITION'
	# A header of user space has no BIT(), and no types and attributes of the kernel's.
	'uapi/* hyp/abi.h|BIT_MACRO,PREFER_DEFINED_ATTRIBUTE_MACRO,PREFER_KERNEL_TYPES'
	# Programs are written in C's own words: uint64_t, PRIu64, __attribute__; sizeof x / sizeof *x; a volatile
	# sig_atomic_t is what a signal handler may write; strings are those of libc, and those that people see are not
	# split; "usage" and "number" are words of English, not only names of functions.
	'tools/* tests/*|PREFER_KERNEL_TYPES,PREFER_DEFINED_ATTRIBUTE_MACRO,CAMELCASE,BIT_MACRO,ARRAY_SIZE,VOLATILE,STRCPY,STRLCPY,STRNCPY,SSCANF_TO_KSTRTO,NAKED_SSCANF,PREFER_SCNPRINTF,AVOID_EXTERNS,CONSIDER_KSTRTO,MACRO_ARG_REUSE,PREFER_FALLTHROUGH,LONG_LINE_STRING,EMBEDDED_FUNCTION_NAME'
	# It takes "void" in "fn(void) __attribute__((noreturn))" for an argument without a name.
	'tools/*.h tests/*.h|FUNCTION_ARGUMENTS'
	# The list of events once more, and a table of operations made by macros; arrays of arguments as main() has them;
	# expected output, a string a line.
	'tests/unit/*|SPACING,TRAILING_SEMICOLON,COMPLEX_MACRO,MACRO_ARG_UNUSED,NEW_TYPEDEFS,MULTIPLE_ASSIGNMENTS,STATIC_CONST_CHAR_ARRAY,SPLIT_STRING'
	# Assembly in strings is aligned.
	'tests/vm/workload.c|LEADING_SPACE'
	# The harness of the kernel's own selftests: TEST_F() and so on are followed by a block.
	'tests/kselftest/*|SPACING,COMPLEX_MACRO,NEW_TYPEDEFS,BRACES'
	# Generated.
	'uapi/linux/hyptrace_netlink.h driver/netlink_gen.[ch]|LONG_LINE,LONG_LINE_COMMENT,OPEN_BRACE'
)

# checkpatch_types FILE: what is to be ignored in it.
checkpatch_types()
{
	local entry glob types=
	for entry in "${checkpatch_ignored[@]}"; do
		set -f
		for glob in ${entry%%|*}; do
			# shellcheck disable=SC2053 # it is a glob
			[[ $1 == $glob ]] && types+=,${entry#*|} && break
		done
		set +f
	done
	echo "${types#,}"
}

# checkpatch_all CHECKPATCH FOLDER FILE...: print what it says; true if that is nothing. It leaves a file in the folder
# that it works in, which is therefore one with links to ours.
checkpatch_all()
{
	local script=$1 folder=$2 file types said
	declare -A group=()	# "-" ignores nothing
	shift 2
	mkdir -p "$folder"
	for file in driver hyp uapi tools tests; do
		ln -sfn "$PWD/$file" "$folder/$file"
	done
	for file in "$@"; do
		types=$(checkpatch_types "$file")
		types=${types:--}
		group[$types]+=" $file"
	done
	said=$(for types in "${!group[@]}"; do
		# shellcheck disable=SC2086 # names of our own, without blanks
		(cd "$folder" && perl "$script" --root="${script%/scripts/*}" --strict --no-tree --terse --show-types --no-summary --color=never \
			--ignore "$types" -f ${group[$types]} </dev/null) || true
	done)
	[[ -z $said ]] || { sort <<<"$said" && return 1; }
}
