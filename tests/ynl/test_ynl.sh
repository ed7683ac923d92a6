#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run inside the machine: the kernel tree's YNL command line controls the driver. It is not our code and knows the
# driver only by our specification. suite.sh has put it into /mnt/share/ynl. HYPTRACE_REFUSED: see
# tests/kselftest/run.sh.
# shellcheck disable=SC2016 # jq expands the variables in single quotes

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
page=$(python3 -c 'import mmap; print(mmap.PAGESIZE)')
cpus=$(nproc --all)

# ynl ARGUMENT...: run the client, with its answer in $answer
ynl()
{
	answer=$(python3 "$cli" --spec "$spec" --no-schema --output-json "$@" 2>&1)
}

# has EXPRESSION [NAME VALUE]...: the answer must satisfy the jq expression
has()
{
	local expression=$1 arguments=()
	shift
	while (($#)); do
		arguments+=(--arg "$1" "$2")
		shift 2
	done
	jq -e "${arguments[@]}" "$expression" <<<"$answer" >/dev/null && return
	echo "the answer does not satisfy: $expression"
	echo "$answer"
	return 1
}

run()
{
	ynl "$@" && return
	echo "$answer"
	return 1
}

# refuses WORD... OPERATION JSON: the client must fail, and must print each WORD of the kernel's message and the
# attribute
refuses()
{
	local word words=("${@:1:$#-2}")
	if ynl --do "${*: -2:1}" --json "${*: -1}"; then
		echo "the request was not refused: $answer"
		return 1
	fi
	for word in "${words[@]}"; do
		[[ $answer == *"$word"* ]] && continue
		echo "the message has no \"$word\": $answer"
		return 1
	done
}

remotes_dumped()
{
	run --dump remote-get && has 'map(.name) | sort == ($names | split(" ") | sort)' names "${remotes[*]}" &&
		has 'all(.[]; .state == "unloaded" and .mode == "overwrite" and ."subbuf-size" == ($page | tonumber) and
			."nr-cpus" == ($cpus | tonumber) and .clock == "boot" and .readers == 0)' cpus "$cpus" page "$page"
}

cpus_dumped()
{
	local remote
	run --dump cpu-get && has 'length == ($n | tonumber)' n $((cpus * ${#remotes[@]})) || return
	for remote in "${remotes[@]}"; do
		has 'map(select(.remote == $name)) | map(.id) == [range($cpus | tonumber)] and
			all(.[]; .state == "detached" and .online == 1 and .written == 0)' \
			cpus "$cpus" name "$remote" || return
	done
}

events_dumped()
{
	local remote
	run --dump event-get || return
	for remote in "${remotes[@]}"; do
		has 'map(select(.remote == $name)) | (["hyp_enter", "hyp_exit", "selftest"] - map(.name) == []) and
			all(.[]; .enabled == 0 and (.field | length > 0))' name "$remote" || return
	done
	has 'length >= 3 * ($n | tonumber)' n ${#remotes[@]}
}

# The remote "test" has none. The dump can also be limited to one remote.
hypercalls_dumped()
{
	run --dump hypercall-get --json '{"remote": "test"}' && has '. == []' && run --dump hypercall-get || return
	[[ ${remotes[*]} == *hypervisor* ]] || { has '. == []' && return; }
	has 'all(.[]; .remote == "hypervisor") and (map(.id) | length == (unique | length)) and
		(.[] | select(.name == "__pkvm_host_share_hyp") | .args == [{"name": "pfn", "type": "u64"}] and
			has("returns") and (has("raw") | not)) and
		(.[] | select(.name == "__kvm_flush_vm_context") | (has("args") or has("returns")) | not)'
}

# Request one object of each kind, and load, trace and reset a remote, all in one run of the client.
one_of_each()
{
	run --multi remote-get "{\"name\": \"$1\"}" \
		--multi cpu-get "{\"remote\": \"$1\", \"id\": 0}" \
		--multi event-get "{\"remote\": \"$1\", \"name\": \"hyp_enter\"}" \
		--multi load "{\"remote\": \"$1\", \"size\": 65536, \"mode\": \"discard\"}" \
		--multi event-set "{\"remote\": \"$1\", \"names\": [\"selftest\"], \"enabled\": 1}" \
		--multi start "{\"remote\": \"$1\"}" \
		--multi mark "{\"remote\": \"$1\", \"cpu\": 1, \"value\": 7, \"count\": 12}" \
		--multi cpu-get "{\"remote\": \"$1\", \"id\": 1}" \
		--multi remote-get "{\"name\": \"$1\"}" \
		--multi reset "{\"remote\": \"$1\"}" \
		--multi remote-get "{\"name\": \"$1\"}" || return
	replies=$answer
}

# reply INDEX EXPRESSION NAME: the answer to the request with that index must satisfy the expression
reply()
{
	answer=$replies
	has ".[$1] | $2" name "$3"
}

event_described()
{
	reply 2 '.field | map(.name) == ["reason", "vcpu"]' "$1" &&
		reply 2 '.field[0] | .offset == 2 and .size == 1 and .signed == 0' "$1" &&
		reply 2 '.field[1] | .offset == 4 and .size == 4 and .signed == 1' "$1" &&
		reply 2 '.field[0].symbol | map({(.name): .value}) | add | .smc == 0 and .guest_exit == 5' "$1" &&
		reply 2 '.["print-fmt"] | startswith("\"reason=%s vcpu=%d\"")' "$1"
}

traced()
{
	reply 7 '.state == "attached" and .written == 12 and .unread == 12 and ."nr-subbufs" == 17' "$1" &&
		reply 8 '.state == "tracing" and .mode == "discard"' "$1" &&
		reply 10 '.state == "unloaded" and .mode == "overwrite"' "$1"
}

# A filter with two terms: of the ids 7 to 18 it accepts 7 and 18.
filtered()
{
	local first='{"field": "id", "op": "lt", "value": 8, "on-true": 255, "on-false": 1}'
	local second='{"field": "id", "op": "eq", "value": 18, "on-true": 255, "on-false": 254}'
	run --multi event-set "{\"remote\": \"$1\", \"names\": [\"selftest\"], \"enabled\": 1,
			\"filter\": {\"text\": \"id < 8 || id == 18\", \"term\": [$first, $second]}}" \
		--multi start "{\"remote\": \"$1\"}" \
		--multi mark "{\"remote\": \"$1\", \"cpu\": 1, \"value\": 7, \"count\": 12}" \
		--multi cpu-get "{\"remote\": \"$1\", \"id\": 1}" \
		--multi event-get "{\"remote\": \"$1\", \"name\": \"selftest\"}" \
		--multi reset "{\"remote\": \"$1\"}" || return
	replies=$answer
	reply 3 '.written == 2 and .filtered == 10' "$1" &&
		reply 4 '.filter == {"text": "id < 8 || id == 18"}' "$1"
}

# Join the multicast group by its name in the specification. The test cannot know when the client has joined, so
# it causes notifications all the time.
notified()
{
	local news
	while ctl load test && sleep 0.3 && ctl unload test; do
		:
	done &
	news=$!
	run --subscribe notify --sleep 2
	kill "$news"
	wait "$news" 2>/dev/null
	ctl unload test
	# The client prints a list, or from 7.2 on one object after another.
	answer=$(jq -s flatten <<<"$answer")
	has 'any(.[]; .name == "remote-ntf" and .msg.state == "loaded") and
		any(.[]; .name == "remote-ntf" and .msg.state == "unloaded")'
}

modprobe -a "${modules[@]}"
for remote in "${remotes[@]}"; do
	ctl reset "$remote"
done
plan $((7 + 6 * ${#remotes[@]}))
check "remotes, all" remotes_dumped
check "CPUs of all remotes" cpus_dumped
check "events of all remotes" events_dumped
check "hypercalls" hypercalls_dumped
for remote in "${remotes[@]}"; do
	replies='[]'
	# not with check, which runs in a subshell: the replies would be lost
	if one_of_each "$remote"; then
		ok "requests to $remote"
	else
		not_ok "requests to $remote"
	fi
	check "remote $remote" reply 0 '.name == $name and .state == "unloaded"' "$remote"
	check "CPU of $remote" reply 1 '.remote == $name and .id == 0' "$remote"
	check "event of $remote" event_described "$remote"
	check "load, enable, start, mark and reset $remote" traced "$remote"
	check "filter of $remote" filtered "$remote"
done
check "unknown remote" refuses 'no such remote "no-such"' "'bad-attr': '.name'" remote-get '{"name": "no-such"}'
check "missing attribute" refuses "'miss-type': 'id'" cpu-get '{"remote": "test"}'
check "notifications" notified
