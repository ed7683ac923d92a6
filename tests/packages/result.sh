# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Count results. To be sourced.

passed=0 failed=0

# result TITLE COMMAND...: ok if the command succeeds; if not, print what it has said
result()
{
	local said code=0
	said=$("${@:2}" 2>&1) || code=$?
	if ((code)); then
		((++failed))
		echo "not ok $1"
		printf '%s\n' "$said" | tail -n 40 | sed 's/^/    /'
	else
		((++passed))
		echo "ok $1"
	fi
}
