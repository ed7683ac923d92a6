#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In the machine: a client that is not ours, the kernel tree's YNL command line, speaks with the driver by nothing but
# our specification. suite.sh has put it into /mnt/share/ynl.
# HYPTRACE_REFUSED: see tests/kselftest/run.sh.
# shellcheck disable=SC2016 # it is jq that expands what is in single quotes

set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../kselftest/tap.sh"

export PATH=/usr/local/libexec/hyptrace-kselftest:$PATH PYTHONDONTWRITEBYTECODE=1
spec=$here/../../uapi/hyptrace.yaml
cli=/mnt/share/ynl/pyynl/cli.py
[[ -f $cli ]] || cli=/mnt/share/ynl/cli.py

remotes=(test) modules=(hyptrace_test)
if [[ -z ${HYPTRACE_REFUSED:-} ]]; then
	remotes+=(hypervisor)
	modules+=(hyptrace_pkvm)
fi
cpus=$(nproc --all)

# ynl ARGUMENT...: its answer is in $answer
ynl()
{
	answer=$(python3 "$cli" --spec "$spec" --no-schema --output-json "$@" 2>&1)
}

# has EXPRESSION [NAME VALUE]...: the answer satisfies it
has()
{
	local expression=$1 arguments=()
	shift
	while (($#)); do
		arguments+=(--arg "$1" "$2")
		shift 2
	done
	jq -e "${arguments[@]}" "$expression" <<<"$answer" >/dev/null && return
	echo "not so: $expression"
	echo "$answer"
	return 1
}

dump()
{
	ynl --dump "$@" || { echo "$answer"; return 1; }
}

do_()
{
	ynl --do "$1" --json "$2" || { echo "$answer"; return 1; }
}

# refuses WORD OPERATION JSON: the client fails, with the kernel's message in its own words
refuses()
{
	if ynl --do "$2" --json "$3"; then
		echo "not refused: $answer"
		return 1
	fi
	[[ $answer == *"$1"* ]] && return
	echo "it does not say \"$1\": $answer"
	return 1
}

remotes_dumped()
{
	dump remote-get && has 'map(.name) | sort == ($names | split(" ") | sort)' names "${remotes[*]}" &&
		has 'all(.[]; .state == "unloaded" and .mode == "overwrite" and ."subbuf-size" == 4096 and
			."nr-cpus" == ($cpus | tonumber) and .clock == "boot")' cpus "$cpus"
}

one_remote()
{
	do_ remote-get "{\"name\": \"$1\"}" && has '.name == $name and .readers == 0' name "$1"
}

cpus_dumped()
{
	dump cpu-get --json "{\"remote\": \"$1\"}" &&
		has 'map(.id) == [range($cpus | tonumber)] and all(.[]; .remote == $name and .written == 0)' \
			cpus "$cpus" name "$1"
}

all_cpus_dumped()
{
	dump cpu-get && has 'length == ($n | tonumber)' n $((cpus * ${#remotes[@]}))
}

events_dumped()
{
	dump event-get --json "{\"remote\": \"$1\"}" &&
		has '["hyp_enter", "hyp_exit", "selftest"] - map(.name) == []' &&
		has 'all(.[]; .remote == $name and .enabled == 0 and (.field | length > 0))' name "$1"
}

one_event()
{
	do_ event-get "{\"remote\": \"$1\", \"name\": \"hyp_enter\"}" &&
		has '.field | map(.name) == ["reason", "vcpu"]' &&
		has '.field[0] | .offset == 2 and .size == 1 and .signed == 0' &&
		has '.field[1] | .offset == 4 and .size == 4 and .signed == 1' &&
		has '.field[0].symbol | map({(.name): .value}) | add | .smc == 0 and .guest_exit == 5' &&
		has '.["print-fmt"] | startswith("\"reason=%s vcpu=%d\"")'
}

traced()
{
	do_ load "{\"remote\": \"$1\", \"size\": 65536, \"mode\": \"discard\"}" &&
		do_ event-set "{\"remote\": \"$1\", \"names\": [\"selftest\"], \"enabled\": 1}" &&
		do_ start "{\"remote\": \"$1\"}" &&
		do_ mark "{\"remote\": \"$1\", \"cpu\": 1, \"value\": 7, \"count\": 12}" &&
		do_ cpu-get "{\"remote\": \"$1\", \"id\": 1}" &&
		has '.state == "attached" and .written == 12 and .unread == 12 and ."nr-subbufs" == 17' &&
		do_ remote-get "{\"name\": \"$1\"}" && has '.state == "tracing" and .mode == "discard"' &&
		do_ reset "{\"remote\": \"$1\"}" &&
		do_ remote-get "{\"name\": \"$1\"}" && has '.state == "unloaded" and .mode == "overwrite"'
}

# The group, by its name in the specification
notified()
{
	local option=--sleep said
	said=$({ sleep 4; ctl load test; ctl unload test; } & 
		python3 "$cli" --spec "$spec" --no-schema --output-json --subscribe notify "$option" 10 2>&1)
	answer=$said
	[[ $said == *'"remote-ntf"'* && $said == *'"loaded"'* && $said == *'"unloaded"'* ]] && return
	echo "$said"
	return 1
}

modprobe -a "${modules[@]}"
for remote in "${remotes[@]}"; do
	ctl reset "$remote"
done
plan $((7 + 5 * ${#remotes[@]}))
check "remotes, all" remotes_dumped
check "CPUs of all remotes" all_cpus_dumped
for remote in "${remotes[@]}"; do
	check "remote $remote" one_remote "$remote"
	check "CPUs of $remote" cpus_dumped "$remote"
	check "events of $remote" events_dumped "$remote"
	check "event of $remote" one_event "$remote"
	check "load, enable, start, mark and reset $remote" traced "$remote"
done
check "unknown remote" refuses 'no such remote \"no-such\"' remote-get '{"name": "no-such"}'
check "missing attribute" refuses 'the attribute \"id\" is missing' cpu-get '{"remote": "test"}'
check "unknown event" refuses 'no such event \"no_such\"' event-get '{"remote": "test", "name": "no_such"}'
check "unknown CPU" refuses 'CPU 4711 does not exist' cpu-get '{"remote": "test", "id": 4711}'
check "notifications" notified
