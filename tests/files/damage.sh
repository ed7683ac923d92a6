#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each verb that reads files says the same of the same damage, in the same words and with the same exit code:
# damage.sh HYPTRACE FILE, a file of two CPUs that is not compressed. Prints what differs.

set -uo pipefail
hyptrace=$(realpath "$1")
good=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit
failed=0

# The verbs, with "FILE" for the file; those after "data:" read all sub-buffers
headers=("report -q -n 1 FILE")
data=("report -q FILE" "export -q -f jsonl -o - FILE" "export -q -f perfetto -o - FILE" "stat -q -i FILE" "strace -q -i FILE"
	"dump FILE" "dump -i FILE" "dump --subbufs FILE" "page -q 0x80100 FILE" "leaks -q FILE" "who -q -i FILE 0x80100"
	"who -q --leaks -i FILE" "catch -q -i FILE hyp_exit" "top -b -i FILE")

# same KIND VERB...: all verbs say what the first one says of the file, and exit with 2
same()
{
	local kind=$1 verb code said first=
	shift
	for verb; do
		# shellcheck disable=SC2086 # a verb has several words
		said=$("$hyptrace" ${verb/FILE/$kind.dat} 2>&1 >/dev/null)
		code=$?
		# the summary has words of the verb; several places may be found in any order
		said=$(grep -F "\"$kind.dat\": " <<<"$said" | sort)
		: "${first:=$said}"
		[[ $code == 2 && $said == "$first" && $said == 'hyptrace: '*"\"$kind.dat\": "* ]] && continue
		echo "$kind: $verb: code $code: \"$said\" is not \"$first\""
		failed=1
	done
}

# fine KIND VERB...: no verb says anything of the file, or refuses it
fine()
{
	local kind=$1 verb code said
	shift
	for verb; do
		# shellcheck disable=SC2086 # a verb has several words
		said=$("$hyptrace" ${verb/FILE/$kind.dat} 2>&1 >/dev/null)
		code=$?
		said=$(grep -F "\"$kind.dat\"" <<<"$said")
		[[ $code != 2 && -z $said ]] && continue
		echo "$kind: $verb: code $code: \"$said\""
		failed=1
	done
}

offset=$("$hyptrace" dump -j "$good" | jq '.cpus[0].offset')
size=$(stat -c %s "$good")

# put NAME OFFSET BYTES: damage a copy
put()
{
	cp "$good" "$1.dat"
	# shellcheck disable=SC2059 # the bytes are a format
	printf "$3" | dd of="$1.dat" bs=1 seek="$2" conv=notrunc status=none
}

ones='\xff\xff\xff\xff\xff\xff\xff\xff'
head -c 300 "$good" >cut-header.dat
: >empty.dat
echo "no trace file" >other.dat
mkdir folder.dat
put header 30 "$ones"
# the description begins with "hyptrace 1", and its next line has a text; a file of trace-cmd has none
description=$("$hyptrace" dump "$good" | sed -n 's/^ *\([0-9]*\) .*description of the remote.*/\1/p')
put version $((description + 9)) 9
put quote $((description + 20)) ' '
put undescribed "$description" x
for kind in cut-header empty other folder missing header version quote; do
	same "$kind" "${headers[@]}" "${data[@]}"
done
fine undescribed "${headers[@]}" "${data[@]}"

head -c $((offset + (size - offset) * 3 / 4 + 1000)) "$good" >cut.dat
head -c $((offset + 5000)) "$good" >cut-early.dat
put commit $((offset + 3 * 4096 + 8)) "$ones"
put record $((offset + 3 * 4096 + 16)) '\0\0\0\0\0\0\0\0'
# 584 years, of a sub-buffer before another one and of the last one
put time $((offset + 3 * 4096)) "$ones"
put time-last $((size - 4096)) "$ones"
for kind in cut cut-early commit record time time-last; do
	same "$kind" "${data[@]}"
done
exit "$failed"
