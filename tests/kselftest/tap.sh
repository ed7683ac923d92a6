# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# The test anything protocol, both ways. To be sourced.

passed=0 failed=0

# Tests that may say that they skip something, and why that is right: a regular expression for each.
declared_skips=()

# tap NAME COMMAND...: run a program that speaks TAP, show all it says, and count. What it skips has failed, unless that
# was declared, and so has a program that breaks off, or says too little.
tap()
{
	local name=$1 line code plan='' seen=0 bad=0 skip declared
	shift
	echo "# === $name"
	while IFS= read -r line; do
		printf '%s\n' "$line"
		case $line in
		1..*) plan=${line#1..} plan=${plan%% *} ;;
		"not ok "*) ((++seen, ++bad, ++failed)) ;;
		"ok "*"# SKIP"*)
			((++seen))
			declared=
			for skip in "${declared_skips[@]}"; do
				[[ ! $line =~ $skip ]] || declared=1
			done
			if [[ -n $declared ]]; then
				((++passed))
			else
				echo "not ok # $name: skipping this was not declared"
				((++bad, ++failed))
			fi
			;;
		"ok "*) ((++seen, ++passed)) ;;
		"# === ended "*) code=${line##* } ;;
		esac
	done < <(code=0; timeout -k 5 "${TEST_TIMEOUT:-600}" "$@" 2>&1 || code=$?; echo "# === ended $code")
	if [[ -z $plan ]]; then
		echo "not ok # $name did not say how many tests there are"
		((++failed))
	elif ((plan != seen)); then
		echo "not ok # $name announced $plan tests and reported $seen"
		((++failed))
	elif ((plan == 0)); then
		echo "not ok # $name has no tests"
		((++failed))
	elif ((code && !bad)); then
		echo "not ok # $name reported no failure but ended with $code"
		((++failed))
	fi
}

# What a suite ends with
tap_total()
{
	echo "$passed passed, $failed failed"
	((failed == 0 && passed > 0))
}

# The other way: plan N, then N times ok or not_ok, or check TITLE COMMAND...
number=0

plan()
{
	echo "TAP version 13"
	echo "1..$1"
}

ok()
{
	echo "ok $((++number)) $*"
}

not_ok()
{
	echo "not ok $((++number)) $*"
}

# check TITLE COMMAND...: ok if it succeeds; what it says becomes a comment
check()
{
	local title=$1 code=0 said
	shift
	said=$("$@" 2>&1) || code=$?
	[[ -z $said ]] || printf '%s\n' "$said" | sed 's/^/# /'
	if ((code == 0)); then
		ok "$title"
	else
		not_ok "$title"
	fi
}

# refused COMMAND...: it must fail, and not by a signal
refused()
{
	local code=0
	"$@" || code=$?
	((code > 0 && code < 128))
}
