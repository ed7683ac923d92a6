#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Regenerates what is made from uapi/hyptrace.yaml, with a kernel tree's own generator. For developers and for CI.
#
#   tests/generate.sh KERNEL-TREE           write driver/netlink_gen.[ch] and uapi/linux/hyptrace_netlink.h
#   tests/generate.sh --check KERNEL-TREE   fail if those that are committed differ
#
# The generator changes with the kernel: the committed files are those of a 7.2 tree.

set -euo pipefail

die()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

check=
if [[ ${1:-} == --check ]]; then
	check=1
	shift
fi
[[ $# -eq 1 ]] || die "usage: ${0##*/} [--check] KERNEL-TREE"

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
generator=$1/tools/net/ynl/pyynl/ynl_gen_c.py
schema=$1/Documentation/netlink/genetlink.yaml
[[ -f $generator && -f $schema ]] || die "no YNL generator in $1 (a 7.2 tree has it)"
python3 -c 'import yaml, jsonschema' 2>/dev/null ||
	die "the Python modules yaml and jsonschema are missing (packages python3-yaml and python3-jsonschema)"

# The generator takes paths relative to the folder with MAINTAINERS, and
# the schema from the folder above the specification's.
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p "$stage/Documentation/netlink/specs" "$stage/new"
touch "$stage/MAINTAINERS"
cp "$schema" "$stage/Documentation/netlink/"
cp "$repo/uapi/hyptrace.yaml" "$stage/Documentation/netlink/specs/"

generate()
{
	python3 "$generator" --spec "$stage/Documentation/netlink/specs/hyptrace.yaml" "${@:2}" \
		-o "$stage/new/$1" || die "the generator failed on $1"
}

declare -A committed=(
	[hyptrace_netlink.h]=uapi/linux/hyptrace_netlink.h
	[netlink_gen.h]=driver/netlink_gen.h
	[netlink_gen.c]=driver/netlink_gen.c
)

generate hyptrace_netlink.h --mode uapi --header
generate netlink_gen.h --mode kernel --header
generate netlink_gen.c --mode kernel --source

bad=0
for name in "${!committed[@]}"; do
	target=$repo/${committed[$name]}
	if [[ -z $check ]]; then
		install -m 644 "$stage/new/$name" "$target"
	elif ! diff -u "$target" "$stage/new/$name"; then
		printf '%s is not up to date: run tests/generate.sh\n' "${committed[$name]}" >&2
		bad=1
	fi
done
exit "$bad"
