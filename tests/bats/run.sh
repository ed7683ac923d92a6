#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In the machine: run all tests, or those of the named files: run.sh [[FOLDER/]FILE.bats]... watch/ has the verbs that show
# what EL2 does, command/ has what the command does besides. The tests in remote/ and memory/ run once for each remote, or
# only for the one that REMOTE names. Those in memory/ need a larger machine and run only if they are named. The last line
# is "N passed, N failed".
#
# If HYPTRACE_REFUSED is set, there is no hypervisor to trace: only the remote "test" is tested. If HYPTRACE_EL2_ONLY is
# set, what needs no hypervisor is left out.
#
# Tests with the tag slow run only if FULL is set, those with the tag any_remote not on the hypervisor unless it is.
#
# BATS_SHARE=K/N runs only every Nth file, from the Kth on, so that N machines share the work.

set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")" || exit
# shellcheck disable=SC2206 # words
remotes=(${REMOTE:-test hypervisor})
files=()
for file; do
	[[ $file == */* ]] || file=$(echo */"$file")
	files+=("$file")
done
# what does not depend on who writes the rings, or what kselftests test on the hypervisor
anywhere=(command/{completion,usage}.bats
	remote/{clear,columns,debugfs,enable,filter,list,mark,monitor,output,show,size,state,time}.bats)
# in the order of their names, so that shares take about the same time
((${#files[@]})) || mapfile -t files < <(printf '%s\n' {command,watch}/*.bats | sort -t / -k 2 && printf '%s\n' remote/*.bats)
if [[ -n ${HYPTRACE_REFUSED:-} ]]; then
	remotes=("${REMOTE:-test}")
	(($#)) || files=(command/{completion,usage}.bats remote/*.bats)
elif [[ -n ${HYPTRACE_EL2_ONLY:-} ]]; then
	remotes=(hypervisor)
	for number in "${!files[@]}"; do
		[[ " ${anywhere[*]} " != *" ${files[number]} "* ]] || unset "files[number]"
	done
	files=("${files[@]}")
fi
if [[ -n ${BATS_SHARE:-} ]]; then
	for number in "${!files[@]}"; do
		((number % ${BATS_SHARE#*/} == ${BATS_SHARE%/*} - 1)) || unset "files[number]"
	done
fi

chosen=()
[[ -n ${FULL:-} ]] || chosen=(--filter-tags "!slow${HYPTRACE_EL2_ONLY:+,!any_remote}")
passed=0 failed=0
# suite TITLE FILE
suite()
{
	local line number planned='' run=0 said start=$SECONDS
	said=$(mktemp)
	while IFS= read -r line; do
		case $line in
		ok\ *)
			((++passed, ++run))
			number=${line#ok }
			line="ok $1: ${number#* }"
			;;
		not\ ok\ *)
			((++failed, ++run))
			number=${line#not ok }
			line="not ok $1: ${number#* }"
			;;
		1..[0-9]*)
			planned=${line#1..}
			continue
			;;
		esac
		printf '%s\n' "$line"
	done < <(
		timeout "${BATS_FILE_TIMEOUT:-900}" bats --tap --timing "${chosen[@]}" "$2" 2>&1
		echo $? >"$said"
	)
	# a file that was killed, or could not be run
	if [[ $planned != "$run" ]]; then
		((++failed))
		echo "not ok $1: $run of ${planned:-its} tests were run, and bats ended with $(<"$said")"
	fi
	rm "$said"
	echo "# time: $((SECONDS - start)) $1"
}

for file in "${files[@]}"; do
	name=${file##*/}
	name=${name%.bats}
	case $file in
	remote/* | memory/*)
		for REMOTE in "${remotes[@]}"; do
			export REMOTE
			suite "$name of $REMOTE" "$file"
		done
		;;
	*)
		unset REMOTE
		suite "$name" "$file"
		;;
	esac
done
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
