#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Generate C code from uapi/hyptrace.yaml with the generator of a kernel tree. For developers and for CI.
#
#   tests/generate.sh KERNEL-TREE             write driver/netlink/netlink_gen.[ch] and uapi/linux/hyptrace_netlink.h
#   tests/generate.sh --check [KERNEL-TREE]   fail if the committed files do not match the committed yaml
#
# tests/generate.sum has the sums of the input and the output, so --check needs no kernel tree. With a tree of a
# series that is listed below, --check also compares the text. A newer generator may format it differently: then
# --check only prints a note.

set -euo pipefail

# The generators of these series write the same text; that of 6.12 is too old.
oldest=7.2 newest=7.3

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
(($# == 1 || ($# == 0 && ${#check}))) || die "usage: ${0##*/} KERNEL-TREE, or --check [KERNEL-TREE]"

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
sums=$repo/tests/generate.sum
if [[ -n $check ]]; then
	(cd "$repo" && sha256sum --check --quiet --strict "$sums") ||
		die "these files do not match tests/generate.sum: run tests/generate.sh with a kernel tree of Linux $newest"
	(($#)) || exit 0
fi

generator=$1/tools/net/ynl/pyynl/ynl_gen_c.py
schema=$1/Documentation/netlink/genetlink.yaml
[[ -f $generator && -f $schema ]] || die "there is no YNL generator in $1: use a kernel tree of Linux $oldest or later"
series=$(awk '$1 == "VERSION" { v = $3 } $1 == "PATCHLEVEL" { print v "." $3; exit }' "$1/Makefile")
is_known=
[[ $(printf '%s\n' "$oldest" "$series" "$newest" | sort -V | sed -n 2p) != "$series" ]] || is_known=1
python3 -c 'import yaml, jsonschema' 2>/dev/null ||
	die "the Python modules yaml and jsonschema are missing : install the packages python3-yaml and python3-jsonschema"

# The generator finds paths relative to the folder with MAINTAINERS, and the schema in the folder above that of
# the specification.
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
	[netlink_gen.h]=driver/netlink/netlink_gen.h
	[netlink_gen.c]=driver/netlink/netlink_gen.c
)

generate hyptrace_netlink.h --mode uapi --header
generate netlink_gen.h --mode kernel --header
generate netlink_gen.c --mode kernel --source

bad=0
for name in "${!committed[@]}"; do
	target=$repo/${committed[$name]}
	if [[ -z $check ]]; then
		install -m 644 "$stage/new/$name" "$target"
	elif [[ -n $is_known ]]; then
		diff -u "$target" "$stage/new/$name" || bad=1
	elif ! cmp -s "$target" "$stage/new/$name"; then
		echo "note: the generator of Linux $series formats ${committed[$name]} differently"
	fi
done
((!bad)) || die "these files are not up to date: run tests/generate.sh with a kernel tree of Linux $newest"
[[ -z $check ]] || exit 0

cd "$repo"
{
	echo "# SPDX-License-Identifier: GPL-2.0-only"
	echo "# The input and output of tests/generate.sh, for sha256sum --check; made with Linux $series."
	printf '%s\n' uapi/hyptrace.yaml "${committed[@]}" | sort | xargs sha256sum
} >"$stage/sums"
install -m 644 "$stage/sums" "$sums"
