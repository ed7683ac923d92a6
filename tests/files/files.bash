# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# For report.bats and views.bats: the command, and the files that it reads.
#
# shellcheck disable=SC2034 # the tests use what is set here

bats_require_minimum_version 1.5.0

setup()
{
	cd "$BATS_TEST_TMPDIR" || return
	hyptrace=${HYPTRACE:-hyptrace}
	host_trace=$BATS_TEST_DIRNAME/host_trace.py
}

hyptrace()
{
	command "$hyptrace" "$@"
}

# made OPTION...: make t.dat
made()
{
	"$MAKE_FILE" "$@" t.dat >made
}

# host OPTION...: make t.dat as trace-cmd records a host
host()
{
	"$host_trace" "$@" t.dat
}

# report OPTION...: print the lines of t.dat
report()
{
	hyptrace report -q "$@" t.dat
}
