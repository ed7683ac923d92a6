# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# TAP, the Test Anything Protocol: read the output of programs, and write it from scripts. To be sourced.

passed=0 failed=0

# Regular expressions for the SKIP lines that are expected. Give the reason beside each.
declared_skips=(
	# What the test is about came with Linux 7.
	'# SKIP .*before Linux 7'
	# EL2 of Android allocates memory in another way.
	'# SKIP .*from a heap'
	# ... and takes TLB invalidations of the host only before it protects itself.
	'# SKIP .*refuses .*tlb_flush.* once pKVM is initialised'
)
# Only kernels of Android had them before Linux 7.
[[ $(uname -r) != [1-6].* ]] || declared_skips+=('# SKIP .*no protected guests')
if grep -q hostfs /proc/filesystems; then
	# A kernel in user mode has no CPU hotplug: the machine runs these tests.
	declared_skips+=('# SKIP .*no CPU can go offline')
else
	# ... and this one is configured for faults.
	declared_skips+=('# SKIP .*this kernel cannot inject faults')
fi

# tap NAME COMMAND...: run a program that prints TAP, show its output, and count the results. These count as failed: a
# skipped test that is not in declared_skips, a program that reports fewer tests than planned, or ends with an error.
tap()
{
	local name=$1 line code plan='' seen=0 bad=0 skip declared start=$SECONDS
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
				echo "not ok # $name: the test above was skipped, but declared_skips does not have it"
				((++bad, ++failed))
			fi
			;;
		"ok "*) ((++seen, ++passed)) ;;
		"# === ended "*) code=${line##* } ;;
		esac
	done < <(code=0; timeout -k 5 "${TEST_TIMEOUT:-600}" "$@" 2>&1 || code=$?; echo "# === ended $code")
	if [[ -z $plan ]]; then
		echo "not ok # $name printed no plan (1..N)"
		((++failed))
	elif ((plan != seen)); then
		echo "not ok # $name planned $plan tests and reported $seen"
		((++failed))
	elif ((plan == 0)); then
		echo "not ok # $name has no tests"
		((++failed))
	elif ((code && !bad)); then
		echo "not ok # $name reported no failure but ended with $code"
		((++failed))
	fi
	echo "# time: $((SECONDS - start)) $name"
}

# Print the last line of a suite.
tap_total()
{
	echo "$passed passed, $failed failed"
	((failed == 0 && passed > 0))
}

# For scripts that write TAP: first "plan N", then N times "ok", "not_ok" or "check TITLE COMMAND...".
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

# check TITLE COMMAND...: report ok if the command succeeds. Its output becomes TAP comments.
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

# refused COMMAND...: succeed if the command fails without being killed by a signal
refused()
{
	local code=0
	"$@" || code=$?
	((code > 0 && code < 128))
}
