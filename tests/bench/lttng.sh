#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# LTTng-UST's writer on the payload of hyp_enter: lttng.sh KIB EVENTS prints ns per event, first with a clock that
# costs nothing, then with its own. Its buffers overwrite, in sub-buffers of 4 KiB. 77 says that it is not installed.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)

if ! pkg-config --atleast-version=2.13 lttng-ust 2>/dev/null || [[ ! $(command -v lttng-sessiond) ]]; then
	echo "${0##*/}: LTTng-UST 2.13 or later (liblttng-ust-dev) and lttng-tools are not installed" >&2
	exit 77
fi

work=$(mktemp -d)
session=hyptrace-bench-$$
cleanup()
{
	lttng --quiet destroy "$session" || true
	# a daemon that was there before is not ours
	if [[ -s $work/pid ]]; then
		kill "$(<"$work/pid")"
		tail --pid="$(<"$work/pid")" -f /dev/null
	fi
	rm -rf "$work"
}

read -ra flags < <(pkg-config --cflags --libs lttng-ust)
compile=("${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -O2 -Wall -I"$here")
"${compile[@]}" -o "$work/lttng" "$here/lttng.c" "${flags[@]}"
"${compile[@]}" -shared -fPIC -o "$work/clock.so" "$here/lttng-clock.c" "${flags[@]}"

trap cleanup EXIT
{
	lttng-sessiond --daemonize --no-kernel --pidfile "$work/pid" || [[ ! -s $work/pid ]]
	lttng create "$session" --snapshot --output="$work/trace"
	lttng enable-channel --session="$session" --userspace --overwrite --subbuf-size=4096 \
		--num-subbuf="$(($1 / 4))" bench
	lttng enable-event --session="$session" --userspace --channel=bench hyptrace_bench:hyp_enter
	lttng start "$session"
} >"$work/log" 2>&1 || { cat "$work/log" >&2 && exit 1; }

export LTTNG_UST_REGISTER_TIMEOUT=-1
LTTNG_UST_CLOCK_PLUGIN=$work/clock.so "$work/lttng" "$2"
"$work/lttng" "$2"
