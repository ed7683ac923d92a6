#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Time LTTng-UST's writer with the payload of hyp_enter: lttng.sh KIB EVENTS. Prints ns per event, first with a clock that
# costs almost nothing, then with LTTng's own clock. The buffers overwrite, and have sub-buffers of 4 KiB. The exit code is
# 77 if LTTng is not installed.

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
	lttng --no-sessiond --quiet destroy "$session" >/dev/null 2>&1 || true
	# do not stop a daemon that was running before
	if [[ -s $work/pid ]] && kill "$(<"$work/pid")"; then
		timeout 10 tail --pid="$(<"$work/pid")" -f /dev/null || true
	fi
	rm -rf "$work"
}
trap cleanup EXIT

read -ra flags < <(pkg-config --cflags --libs lttng-ust)
compile=("${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -O2 -Wall -I"$here")
"${compile[@]}" -o "$work/lttng" "$here/lttng.c" "${flags[@]}"
"${compile[@]}" -shared -fPIC -o "$work/clock.so" "$here/lttng-clock.c" "${flags[@]}"

# A daemon that is already running will do.
lttng-sessiond --daemonize --no-kernel --pidfile "$work/pid" 2>"$work/log" || [[ ! -s $work/pid ]]
control()
{
	lttng --no-sessiond "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2 && exit 1; }
}
control create "$session" --snapshot --output="$work/trace"
control enable-channel --session="$session" --userspace --overwrite --subbuf-size=4096 --num-subbuf="$(($1 / 4))" bench
control enable-event --session="$session" --userspace --channel=bench hyptrace_bench:hyp_enter
control start "$session"

export LTTNG_UST_REGISTER_TIMEOUT=-1
LTTNG_UST_CLOCK_PLUGIN=$work/clock.so "$work/lttng" "$2"
"$work/lttng" "$2"
