# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Run the kernel tree's checkpatch over C files, without the messages that do not apply to a file. Sourced by
# run.sh.

# FILES (globs) | types of messages that do not apply there. A comment gives the reason. All lines that match a file apply.
checkpatch_ignored=(
	# kzalloc_obj() is newer than 6.12, which is supported.
	'driver/device/chardev.c|ALLOC_WITH_SIZEOF'
	# The macro uses the ioctl's number twice: as an index of the table, and to check the size.
	'driver/device/chardev.c|MACRO_ARG_REUSE'
	# The argument is the name of a member.
	'driver/core/internal.h|MACRO_ARG_PRECEDENCE,MACRO_ARG_REUSE'
	# Generated.
	'driver/netlink/netlink_gen.[ch] uapi/linux/hyptrace_netlink.h|LONG_LINE'
	# This file exists to support several kernel versions.
	'driver/compat.h|LINUX_VERSION_CODE,CONSTANT_COMPARISON'
	# A comment at the top explains each lock and the lock order.
	'driver/core/core.h driver/device/device.h|UNCOMMENTED_DEFINITION'
	# The list of events is included several times, each time with other definitions of its macros. Then some
	# arguments are unused, and a definition may be no statement. An event is written like a table.
	'hyp/events.h|OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT,COMPLEX_MACRO,SPACING,MACRO_ARG_UNUSED,LONG_LINE_STRING'
	# Lists of pairs, and of the arguments of a variadic macro.
	'hyp/names.h hyp/printk.h|COMPLEX_MACRO,MACRO_ARG_UNUSED,MACRO_ARG_REUSE'
	'hyp/h*.[ch] hyp/entry.h hyp/trace.c driver/remotes/hyp_events.h driver/remotes/kernel_events.h driver/core/remote_event.h|MACRO_ARG_UNUSED,MACRO_ARG_REUSE,COMPLEX_MACRO'
	'hyp/h*.[ch] hyp/entry.h hyp/trace.c driver/remotes/hyp_events.h driver/remotes/kernel_events.h driver/core/remote_event.h|MULTISTATEMENT_MACRO_USE_DO_WHILE,SPACING,MACRO_ARG_PRECEDENCE'
	'hyp/h*.[ch] hyp/entry.h hyp/trace.c driver/remotes/hyp_events.h driver/remotes/kernel_events.h driver/core/remote_event.h|TRAILING_SEMICOLON,NEW_TYPEDEFS'
	# These headers define the kernel's names for host programs. The comments on barriers are where the
	# barriers are used.
	'hyp/env*.h|MACRO_ARG_REUSE,MEMORY_BARRIER,NR_CPUS,NEW_TYPEDEFS,PREFER_KERNEL_TYPES'
	# For clang, two words that are volatile take one instruction.
	'hyp/env.h|VOLATILE'
	'hyp/env_host.h|PREFER_DEFINED_ATTRIBUTE_MACRO'
	'tests/bench/mainline.h|MEMORY_BARRIER,EXPORT_SYMBOL,MACRO_ARG_UNUSED'
	# To panic is what it is for; without it nothing is left.
	'hyp/fault.h|AVOID_BUG,MACRO_ARG_UNUSED'
	# User space has no BIT().
	'uapi/* hyp/abi.h|BIT_MACRO'
	# These macros are constants that depend on the page size.
	'hyp/abi.h hyp/abi_count.h|MACRO_ARG_REUSE'
	# Its arguments are names.
	'tools/lib/control/describe.c|MACRO_ARG_REUSE'
	# Programs use standard C: uint64_t, PRIu64, __attribute__, and their own ARRAY_SIZE, BIT and strcpy().
	# What a signal handler writes or the kernel maps is volatile.
	'tools/* tests/*|PREFER_KERNEL_TYPES,CAMELCASE,PREFER_DEFINED_ATTRIBUTE_MACRO,ARRAY_SIZE,BIT_MACRO,STRCPY,VOLATILE'
	# Messages are not split over lines. "usage" and "number" are words in messages, not only names of
	# functions.
	'tools/* tests/*|LONG_LINE_STRING,EMBEDDED_FUNCTION_NAME'
	# checkpatch mistakes the "void" of "fn(void) __attribute__((noreturn))" for an argument without a name.
	'tools/*.h|FUNCTION_ARGUMENTS'
	# Expected output has one string per line, argv has the type that main() has, the list of events is
	# included again, and the model has macros.
	'tests/unit/*|SPLIT_STRING,STATIC_CONST_CHAR_ARRAY,MULTIPLE_ASSIGNMENTS'
	'tests/unit/*|COMPLEX_MACRO,SPACING,TRAILING_SEMICOLON,MACRO_ARG_REUSE'
	'tests/unit/common/hyp_list.h|MACRO_ARG_UNUSED,MULTISTATEMENT_MACRO_USE_DO_WHILE,NEW_TYPEDEFS'
	# No header declares the functions that the linker wraps, and macros define them.
	'tests/unit/common/fail_alloc.c|AVOID_EXTERNS,MULTISTATEMENT_MACRO_USE_DO_WHILE,LEADING_SPACE'
	'tests/unit/stream/test_tools_device.c tests/unit/file/test_file_end.c tests/unit/file/test_file_bounds.c tests/unit/file/test_file_io.c tests/unit/file/test_file_errors.c tests/unit/file/test_file_disk.c tests/unit/file/test_file_memory.c|AVOID_EXTERNS'
	'tests/unit/file/test_file_power.c tests/unit/file/test_file_join.c tests/unit/dump/test_tools_dump_map.c tests/unit/dump/fake_kdumpfile.c tests/files/fake_driver.c tests/files/rings.c|AVOID_EXTERNS'
	'tests/unit/file/test_file_threads.c tests/unit/control/test_tools_notify.c tests/unit/stream/test_tools_tracefs_query.c tests/unit/stream/test_tools_tracefs_errors.c tests/unit/stream/test_tools_tracefs_pump.c|AVOID_EXTERNS'
	'tests/unit/file/test_file_outputs.c tests/unit/file/test_file_compress.c tests/unit/file/test_file_splice.c|AVOID_EXTERNS'
	# The list of events is included with other definitions of its macros, and the hypercalls are such a list.
	'tests/files/*|COMPLEX_MACRO,MACRO_ARG_UNUSED,MACRO_ARG_REUSE,MULTISTATEMENT_MACRO_USE_DO_WHILE,SPACING'
	'tests/files/*|TRAILING_SEMICOLON,NEW_TYPEDEFS'
	# gcc has no header with the hooks of its sanitizers. Types of zstd are not known as types.
	'tests/fuzz/*|AVOID_EXTERNS,OPEN_ENDED_LINE,LINE_SPACING'
	# The list of fields is used with two definitions of its macro.
	'tools/lib/event/sentence.[ch]|COMPLEX_MACRO,MACRO_ARG_UNUSED,SPACING,BRACKET_SPACE'
	# The list of functions is used with two definitions of a macro.
	'tools/hyptrace/view/top/top_terminal.c tools/lib/dump/memory.c|COMPLEX_MACRO,MACRO_ARG_REUSE'
	'tools/lib/dump/memory.c|MACRO_ARG_PRECEDENCE,MULTISTATEMENT_MACRO_USE_DO_WHILE,TRAILING_SEMICOLON'
	# These are the errnos of system calls, not of functions of the kernel.
	'tools/lib/file/write/*.c tests/unit/file/test_file_end.c|ENOSYS'
	# A table of all errnos.
	'driver/core/filter_text.c|ENOSYS'
	'tests/kselftest/*|MACRO_ARG_REUSE'
	# No header declares the functions that the compiler calls by itself.
	'tests/vm/big-endian-libgcc.c|AVOID_EXTERNS,MACRO_ARG_REUSE'
	# The guest's code is assembly in strings.
	'tests/vm/workload.c|LEADING_SPACE,AVOID_EXTERNS'
)

# checkpatch_types FILE: print the types of messages to ignore in it
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

# checkpatch_all CHECKPATCH FOLDER FILE...: print checkpatch's messages; true if there are none. checkpatch leaves
# a file in its working folder. So it runs in FOLDER, which gets links to the sources. The cache remembers files without
# messages by their contents.
checkpatch_all()
{
	# shellcheck disable=SC2154 # run.sh has the cache
	local script=$1 folder=$2 good=$cache/checkpatch file types said version key keys=()
	declare -A group=()	# "-" ignores nothing
	mkdir -p "$good"
	version=$(sha256sum <"$script")
	shift 2
	mkdir -p "$folder"
	for file in driver hyp uapi tools tests; do
		ln -sfn "$PWD/$file" "$folder/$file"
	done
	for file in "$@"; do
		types=$(checkpatch_types "$file")
		types=${types:--}
		key=$({ echo "$version $types $file" && cat "$file"; } | sha256sum | cut -c 1-40)
		[[ ! -e $good/$key ]] || continue
		keys+=("$good/$key")
		group[$types]+=" $file"
	done
	said=$(for types in "${!group[@]}"; do
		# shellcheck disable=SC2086 # names of our own, without blanks
		(cd "$folder" && perl "$script" --root="${script%/scripts/*}" --strict --no-tree --terse --show-types --no-summary --color=never \
			--ignore "$types" -f ${group[$types]} </dev/null) || true
	done)
	[[ -z $said ]] || { sort <<<"$said" && return 1; }
	((!${#keys[@]})) || touch "${keys[@]}"
}
