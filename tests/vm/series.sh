# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Find files that are named after a kernel series, such as tests/vm/config/7.2. To be sourced after lib.sh.

# series_up_to SERIES: read series from stdin, print the newest one that is not newer than SERIES, or nothing.
series_up_to()
{
	local line
	while read -r line; do
		[[ $(printf '%s\n' "$line" "$1" | sort -V | tail -n 1) != "$1" ]] || printf '%s\n' "$line"
	done | sort -V | tail -n 1
}

# series_list PREFIX SUFFIX: print each series for which a file PREFIX<series>SUFFIX exists, the oldest first.
series_list()
{
	local file
	for file in "$1"*"$2"; do
		file=${file#"$1"} file=${file%"$2"}
		[[ ! $file =~ ^[0-9]+\.[0-9]+$ ]] || printf '%s\n' "$file"
	done | sort -V
}

# series_file PREFIX SERIES SUFFIX: print the file of that series, or of the newest series before it. Print nothing if
# there is none.
series_file()
{
	local found
	found=$(series_list "$1" "$3" | series_up_to "$2")
	[[ -z $found ]] || printf '%s\n' "$1$found$3"
}
