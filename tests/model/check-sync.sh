#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Fail if a function has changed since its model was last checked: check-sync.sh [--update]. A model lists the
# functions that it stands for in lines "models: FILE:NAME SHA256". The file not-modelled lists in the same way
# functions that other tests cover. Litmus tests take their accesses from the code and need no such lines.
# --update rewrites the sums: run it once the model matches the code again. Each function of the files below must
# be in a model, or in not-modelled as "models:" or "private:". Prints "ok" and "not ok" lines.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1

root=../..
whole_files=(hyp/{clock,filter,load,resize,ring,select,trace,trigger}.c hyp/{filter,ring,trigger}.h tools/lib/ring/snapshot.c)

update=
case ${1:-} in
"") ;;
--update) update=y ;;
*)
	echo "usage: ${0##*/} [--update]" >&2
	exit 1
	;;
esac

# named FILE: print "FILE:NAME SHA256" of each of its "models:" lines
named()
{
	sed -n 's/^ *\*\? *models: //p' "$1"
}

code=0
for model in spin/*.pml litmus/*.litmus.in not-modelled; do
	grep -q 'models: ' "$model" || continue
	stale=()
	# shellcheck disable=SC2046 # names without spaces
	while read -r what now && read -r _ sum <&3; do
		if [[ $now == - ]]; then
			echo "not ok - $model: the code has no $what any more: remove the line"
			code=1
		elif [[ -n $update ]]; then
			sed -i "s|models: $what\( .*\)\?\$|models: $what $now|" "$model"
		elif [[ $sum != "$now" ]]; then
			stale+=("$what")
		fi
	done < <(./csource.py "$root" $(named "$model" | cut -d ' ' -f 1)) 3< <(named "$model")
	if ((${#stale[@]})); then
		echo "not ok - $model: the code of ${stale[*]} has changed: correct the model, then run check-sync.sh --update"
		code=1
	else
		echo "ok - $model matches the code"
	fi
done

# shellcheck disable=SC2046 # names without spaces
if ./csource.py "$root" $(sed -n 's/^private: //p' not-modelled) | sed -n 's/\(.*\) -$/not ok - not-modelled: the code has no \1 any more: remove the line/p' | grep .; then
	code=1
fi
while read -r what; do
	grep -qE "(models:|private:|@) ${what//./\\.}( |\$)" spin/*.pml litmus/*.litmus.in not-modelled && continue
	echo "not ok - $what is in no model: add it to one, or to not-modelled with the tests that cover it"
	code=1
done < <(./csource.py "$root" "${whole_files[@]/%/:}" | cut -d ' ' -f 1)
exit "$code"
