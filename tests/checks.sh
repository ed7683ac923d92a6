# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Checks of a script, and how many of them have passed and failed. To be sourced. $work is a folder that is removed at the
# end.

passed=0 failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# check NAME COMMAND...: the test passes if the command does. If not, print what it says.
check()
{
	if ("${@:2}") >"$work/said" 2>&1; then
		echo "ok - $1"
		((++passed))
	else
		echo "not ok - $1"
		sed 's/^/# /' "$work/said" | head -n 40
		((++failed))
	fi
}

# checked: print the last line, and succeed if no check has failed
checked()
{
	echo "$passed passed, $failed failed"
	((failed == 0))
}
