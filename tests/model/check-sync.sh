#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Fail when a function that a model stands for has changed since somebody looked: check-sync.sh [--update]. A model
# says so in lines "models: FILE:NAME SHA256", not-modelled does of what other tests stand for; --update rewrites the
# sums, once the model is right again. What a litmus test takes from the code needs no such line. Each function of the
# files below must be named in one of these ways, or as "private:" in not-modelled. Prints "ok" and "not ok" lines.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1

root=../..
whole_files=(hyp/{clock,load,resize,ring,trace}.c hyp/ring.h tools/lib/snapshot.c)

update=
case ${1:-} in
"") ;;
--update) update=y ;;
*)
	echo "usage: ${0##*/} [--update]" >&2
	exit 1
	;;
esac

# named FILE: "FILE:NAME SHA256" of its lines
named()
{
	sed -n 's/^ *\*\? *models: //p' "$1"
}

code=0
for model in *.pml *.litmus.in not-modelled; do
	grep -q 'models: ' "$model" || continue
	stale=()
	# shellcheck disable=SC2046 # names without spaces
	while read -r what now && read -r _ sum <&3; do
		if [[ $now == - ]]; then
			echo "not ok - $model: $what is not there any more"
			code=1
		elif [[ -n $update ]]; then
			sed -i "s|models: $what\( .*\)\?\$|models: $what $now|" "$model"
		elif [[ $sum != "$now" ]]; then
			stale+=("$what")
		fi
	done < <(./csource.py "$root" $(named "$model" | cut -d ' ' -f 1)) 3< <(named "$model")
	if ((${#stale[@]})); then
		echo "not ok - $model: see whether it still says what ${stale[*]} now does, then check-sync.sh --update"
		code=1
	else
		echo "ok - $model is as the code"
	fi
done

# shellcheck disable=SC2046 # names without spaces
if ./csource.py "$root" $(sed -n 's/^private: //p' not-modelled) | sed -n 's/\(.*\) -$/not ok - not-modelled: \1 is not there any more/p' | grep .; then
	code=1
fi
while read -r what; do
	grep -qE "(models:|private:|@) ${what//./\\.}( |\$)" ./*.pml ./*.litmus.in not-modelled && continue
	echo "not ok - $what is in no model: name it in one, or in not-modelled with the test that stands for it"
	code=1
done < <(./csource.py "$root" "${whole_files[@]/%/:}" | cut -d ' ' -f 1)
exit "$code"
