# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# For run.sh and plants.sh: the seeds of a target, and the options of libFuzzer. They set $here and $bin.

# Most of the time would be for the stacks of allocations.
export ASAN_OPTIONS=${ASAN_OPTIONS:-malloc_context_size=0:quarantine_size_mb=2}

# Each input of the target "verbs" ends with bytes that choose the verb and its options; these choose the first one.
tail_of_verbs='\0\0\0\0'

# put_seeds TARGET FOLDER FILE...: decompress files of corpus/ to the folder
put_seeds()
{
	local target=$1 folder=$2 file seed
	mkdir -p "$folder"
	for file in "${@:3}"; do
		seed=$folder/$(basename "${file%.zst}")
		zstd -q -d "$file" -o "$seed" || return
		# shellcheck disable=SC2059 # the format is the bytes
		[[ $target != verbs ]] || printf "$tail_of_verbs" >>"$seed"
	done
}

# fuzz_once TARGET SEED RUNS [OPTION]... FOLDER...: a process of libFuzzer. The targets themselves look at the time of the CPU:
# the limit here is for what does not end. A file is changed once before it is tried, as most with five changes are refused at
# their first header. The children of "verbs" look at their memory themselves: libFuzzer's thread for that would hold a lock of
# ASan's while it starts, and the first child would wait for it without end.
fuzz_once()
{
	local limits=(-malloc_limit_mb=100)
	[[ $1 != verbs ]] || limits+=(-rss_limit_mb=0)
	"${bin:?}/$1" -seed="$2" -runs="$3" -max_len=131072 -timeout=60 -mutate_depth=1 "${limits[@]}" \
		-close_fd_mask=1 -print_final_stats=1 -verbosity=1 "${@:4}"
}
