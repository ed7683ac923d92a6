# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Check how the test bed chooses by kernel series, and what it refuses. The checks use fake archives, and need
# no kernel. Sourced by run.sh.

: "${work:?set work to a temporary folder}"

# expect GLOB TITLE: check that standard input matches
expect()
{
	local got
	got=$(cat)
	# shellcheck disable=SC2053 # it is a glob
	[[ $got == $1 ]] || { printf '%s: "%s" instead of "%s"\n' "$2" "$got" "$1" && return 1; }
}

# A series without a file of its own uses that of the newest older series. There is none before the first.
check_series_without_file()
{
	local series pair found
	for series in 6.9 6.12 7.2 7.10; do
		touch "$work/debug-$series"
	done
	for pair in 6.1:none 6.9:6.9 6.11:6.9 7.1:6.12 7.2:7.2 7.9:7.2 7.11:7.10 10.0:7.10; do
		found=$(series_file "$work/debug-" "${pair%:*}" '')
		expect "${pair#*:}" "Linux ${pair%:*}" <<<"$(basename "${found:-debug-none}" | cut -d - -f 2)" || return
	done
}

# archive_of [SERIES...]: make a fake apt that offers the sources of these series, and lists one more only by
# name. Without SERIES it fails.
archive_of()
{
	local bin=$work/bin
	mkdir -p "$bin"
	cat >"$bin/apt-get" <<-END
		#!/bin/sh
		[ "\$1" != indextargets ] || { . /etc/os-release; echo "http://example.invalid \$VERSION_CODENAME"; exit; }
		exit $((!$#))
	END
	cat >"$bin/apt-cache" <<-END
		#!/bin/sh
		for word; do last=\$word; done
		case "\$*" in
		*pkgnames*) printf 'linux-source-%s\n' 99.9 $* ;;
		*madison*) case " $* " in *" \${last##*-} "*) echo "\$last | \${last##*-}.1-1 | nowhere" ;; esac ;;
		esac
	END
	chmod +x "$bin"/*
}

# The newest series is that of the archive, or that of the cache if the archive does not answer.
check_newest_series()
{
	local series
	for series in 6.12 7.9 7.10; do
		mkdir -p "$work/cache/src/$series"
		touch "$work/cache/src/$series/Makefile"
	done
	mkdir -p "$work/cache/src/8.1" "$work/cache/src/7.10.pristine"
	newest()
	{
		PATH=$work/bin:$PATH HYPTRACE_CACHE=$work/cache HYPTRACE_LOCKED='' tests/vm/fetch.sh "$@" 2>"$work/err"
	}
	archive_of 6.12 7.8 7.11 7.9
	newest --newest | expect 7.11 "of the archive" || return
	archive_of 6.12 7.12
	newest --newest | expect 7.11 "that was asked for within an hour" || return
	touch -d '2 hours ago' "$work/cache/newest"
	newest --newest | expect 7.12 "of the archive after an hour" || return
	rm "$work/cache/newest"
	archive_of 6.12 7.8 7.11 7.9
	# A series that the archive no longer has: the message lists those that it has.
	! newest 7.2 || return
	expect "*no linux-source-7.2*It has: 6.12 7.8 7.9 7.11.*" "a series that is gone" <"$work/err" || return
	archive_of
	newest --newest | expect 7.10 "of the cache" || return
	expect "*cannot be asked*Linux 7.10*" "the message" <"$work/err"
}
