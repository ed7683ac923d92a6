#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Compile sources, and print their objects: compile.sh FOLDER SOURCE... -- COMPILER OPTION... Tests share the objects that
# they compile with the same options. An object is older than FOLDER/headers if it must be compiled again.

set -e
folder=$1 sources=()
shift
while [[ $1 != -- ]]; do
	sources+=("$1")
	shift
done
shift
objects=$folder/objects-$(printf '%s\n' "$@" | cksum | cut -d ' ' -f 1)
mkdir -p "$objects"
for source in "${sources[@]}"; do
	object=$objects/${source//\//_}.o
	if [[ ! $object -nt $source || ! $object -nt $folder/headers ]]; then
		# another test may compile it at the same time
		"$@" -c -o "$object.$$" "$source"
		mv "$object.$$" "$object"
	fi
	echo "$object"
done
