# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# The kernel tree's checkpatch over C files, less the messages that say nothing about a place. To be sourced by run.sh.

# FILES (globs) | types of message that are no fault there, below the reason. All lines that match a file add up.
checkpatch_ignored=(
	# kzalloc_obj() came after 6.12, which is supported.
	'driver/device/chardev.c|ALLOC_WITH_SIZEOF'
	# The number of an ioctl names its place in the table and checks its size.
	'driver/device/chardev.c|MACRO_ARG_REUSE'
	# The argument is the name of a member.
	'driver/core/announce.c|MACRO_ARG_PRECEDENCE,MACRO_ARG_REUSE'
	# Generated.
	'driver/netlink/netlink_gen.[ch] uapi/linux/hyptrace_netlink.h|LONG_LINE'
	# One source for several kernels is what it is for.
	'driver/compat.h|LINUX_VERSION_CODE,CONSTANT_COMPARISON'
	# What each lock protects stands at the top, with the order of locks.
	'driver/core/core.h driver/device/device.h|UNCOMMENTED_DEFINITION'
	# The list of events is included again and again, each time with another meaning of its macros: some arguments
	# stay unused then, and declarations are no statement. An event is written as a table.
	'hyp/events.h|OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT,COMPLEX_MACRO'
	'hyp/h*.[ch] hyp/trace.c driver/remotes/hyp_events.h driver/core/remote_event.h|MACRO_ARG_UNUSED,MACRO_ARG_REUSE,COMPLEX_MACRO'
	'hyp/h*.[ch] hyp/trace.c driver/remotes/hyp_events.h driver/core/remote_event.h|MULTISTATEMENT_MACRO_USE_DO_WHILE,SPACING'
	'hyp/h*.[ch] hyp/trace.c driver/remotes/hyp_events.h driver/core/remote_event.h|TRAILING_SEMICOLON,NEW_TYPEDEFS'
	# The kernel's names for programs of the host; the partners of barriers are where these are used.
	'hyp/env*.h|MACRO_ARG_REUSE,MEMORY_BARRIER,NR_CPUS,NEW_TYPEDEFS,PREFER_KERNEL_TYPES'
	'hyp/env_host.h|PREFER_DEFINED_ATTRIBUTE_MACRO'
	'tests/bench/mainline.h|MEMORY_BARRIER,EXPORT_SYMBOL,MACRO_ARG_UNUSED'
	# User space has no BIT().
	'uapi/* hyp/abi.h|BIT_MACRO'
	# Constants for a page size.
	'hyp/abi.h|MACRO_ARG_REUSE'
	# Programs are written in C's own words: uint64_t, PRIu64, __attribute__, and ARRAY_SIZE, BIT and strcpy() by
	# hand; what a signal handler writes or the kernel maps is volatile.
	'tools/* tests/*|PREFER_KERNEL_TYPES,CAMELCASE,PREFER_DEFINED_ATTRIBUTE_MACRO,ARRAY_SIZE,BIT_MACRO,STRCPY,VOLATILE'
	# Strings that people see are not split; "usage" and "number" are words, not only names of functions.
	'tools/* tests/*|LONG_LINE_STRING,EMBEDDED_FUNCTION_NAME'
	# It takes the "void" of "fn(void) __attribute__((noreturn))" for an argument without a name.
	'tools/*.h|FUNCTION_ARGUMENTS'
	# Expected output, a string a line; argv as main() has it; the list of events once more, and macros of a model.
	'tests/unit/*|SPLIT_STRING,STATIC_CONST_CHAR_ARRAY,MULTIPLE_ASSIGNMENTS'
	'tests/unit/*|COMPLEX_MACRO,SPACING,TRAILING_SEMICOLON,MACRO_ARG_REUSE'
	'tests/unit/test_tools_print.c|MACRO_ARG_UNUSED,MULTISTATEMENT_MACRO_USE_DO_WHILE,NEW_TYPEDEFS'
	# What the linker wraps is declared in no header, and is made by macros.
	'tests/unit/fail_alloc.c|AVOID_EXTERNS,MULTISTATEMENT_MACRO_USE_DO_WHILE,LEADING_SPACE'
	'tests/unit/test_tools_device.c|AVOID_EXTERNS'
	'tests/kselftest/*|MACRO_ARG_REUSE'
	# Functions that the compiler calls by itself have no header.
	'tests/vm/big-endian-libgcc.c|AVOID_EXTERNS,MACRO_ARG_REUSE'
	# The guest's code is assembly in strings.
	'tests/vm/workload.c|LEADING_SPACE,AVOID_EXTERNS'
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
