#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# top: its screens, its keys, and the terminal after each way out, in a pseudo-terminal of tmux.

load ../helper

export REMOTE=hypervisor LANG=C.UTF-8

tm()
{
	tmux -L top -f "$BATS_TEST_TMPDIR/tmux.conf" "$@"
}

# terminal WIDTH HEIGHT: start a shell in a terminal of this size.
terminal()
{
	printf '%s\n' 'set -g status off' 'set -g default-terminal screen' 'set -s escape-time 0' \
		>"$BATS_TEST_TMPDIR/tmux.conf"
	tm new-session -d -s top -x "$1" -y "$2" 'bash --norc --noprofile' 3>&-
	keep_settings
}

# The number of the last command that stores settings: the screen may still show what the one before it has printed.
stores=0

# settings FILE: print the command that stores the settings of the terminal, as a program finds them.
settings()
{
	printf "%s" "stty -a >'$BATS_TEST_TMPDIR/$1'; stty -g >>'$BATS_TEST_TMPDIR/$1'; echo sto''red $stores."
}

has_stored()
{
	shows "stored $stores."
}

# The machine has no program "clear".
clear="printf '\\e[H\\e[J'"

# keep_settings: store what the settings of the terminal must be after top.
keep_settings()
{
	stores=$((stores + 1))
	shell "$clear; $(settings before)"
	within "$patience" has_stored
}

# shell COMMAND: type a command into the shell.
shell()
{
	tm send-keys -t top -l "$1" ';' send-keys -t top Enter
}

# shell_top COMMAND: have the shell clear the screen, run top, print its exit code, and store the settings that it
# finds.
shell_top()
{
	stores=$((stores + 1))
	shell "$clear; $1; echo code=\$?; $(settings after)"
}

key()
{
	tm send-keys -t top "$1"
}

screen()
{
	tm capture-pane -p -t top
}

shows()
{
	[[ $(screen) == *"$1"* ]]
}

shows_not()
{
	! shows "$1"
}

# matches REGEX: succeed if a line of the screen does, masked.
matches()
{
	local line
	while IFS= read -r line; do
		[[ ! $line =~ $1 ]] || return 0
	done < <(screen | masked)
	return 1
}

# masked: replace numbers and times by N, but not in a name such as EL2, and several blanks by one.
masked()
{
	sed -E 's/\b[0-9]+(\.[0-9]+)?( [mun]?s\b|%)?/N/g; s/ +/ /g; s/ $//'
}

# look: set $line to the lines of the screen, masked. The first one has the number 1.
look()
{
	line=()
	mapfile -t -O 1 line < <(screen | masked)
}

# modes: print whether the full screen, the cursor and the mode of the keypad are on, as tmux knows.
modes()
{
	tm display-message -p -t top '#{alternate_on} #{cursor_flag} #{keypad_flag}'
}

# sums: print the whole seconds that the sums are of.
sums()
{
	screen | sed -n 's/.*sums of \([0-9]*\)\..*/\1/p'
}

sums_reach()
{
	(($(sums) >= $1))
}

sums_below()
{
	(($(sums) < $1))
}

# reset_below SECONDS: press r, and succeed if the sums are of less. On a slow machine they may be of more before they
# are seen: then press it again.
reset_below()
{
	key r
	sleep 0.4
	sums_below "$1"
}

# shows_by WHAT: succeed if the rows are these, and the first interval has ended.
shows_by()
{
	look
	[[ ${line[1]} == *"by $1, "* && ${line[3]} =~ EL2\ counts|events\ read ]]
}

is_full_screen()
{
	[[ $(modes) == 1* ]]
}

# top_begin OPTION...: start top in the terminal, and wait for its first interval.
top_begin()
{
	shell_top "hyptrace top $*"
	within "$patience" matches 'EL2 counts:|events read'
}

# is_back CODE: top has ended or was stopped with that code, and the terminal is as before.
is_back()
{
	within "$patience" has_stored
	shows "code=$1"
	same "$(modes)" "0 1 0"
	diff "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
}

# is_restored CODE: top has ended with that code, and the terminal and EL2 are as before.
is_restored()
{
	is_back "$1"
	same "$(ht list -j | jq -r '.[0].events[] | select(.enabled or .counted).name')" ""
	same "$(of .state)" unloaded
}

counted()
{
	ht list -j | jq -r '[.[0].events[] | select(.counted) | .name] | join(" ")'
}

is_counted()
{
	same "$(counted)" "$1" 2>/dev/null
}

has_enabled()
{
	enabled | grep -qw "$1"
}

# work: run guests until the test ends, when nobody else needs the CPU.
work()
{
	# shellcheck disable=SC2016 # the inner shell has no variables
	nice -n 19 bash -c 'while :; do workload --cpu 0 --mmio 300 --psci 200 --sysreg 100; sleep 0.2; done' >/dev/null 2>&1 3>&- &
}

top_pid()
{
	pgrep -x hyptrace
}

teardown()
{
	# bats prints that if the test has failed
	screen 2>/dev/null || true
	tm kill-server 2>/dev/null || true
	tidy
	pkill -x workload || true
}

# bats test_tags=slow
@test "screens at 80x24 and 200x50" {
	work
	terminal 80 24
	top_begin
	# a bar for some seconds; the blocks are those of UTF-8
	within "$patience" matches '^guest_exit N N N N N .*[▁▂▃▄▅▆▇█]$'
	look
	same "${line[1]}" "hyptrace top: hypervisor, by reason, sums of N"
	same "${line[2]}" "All CPUs: N host, N EL2, N guest, N unknown"
	same "${line[3]}" "EL2 counts: no event is recorded or lost."
	same "${line[4]}" "NAME SAMPLES/S *TIME% MEAN MAX TOTAL LAST MINUTE"
	same "${line[24]}" "h help q quit < > sort g group p pause r reset Enter detail"
	is_full_screen
	key q
	is_restored 0

	tm resize-window -t top -x 200 -y 50
	keep_settings
	top_begin --by exit -d 300ms
	within "$patience" matches '^DABT_LOW N N N N N N N N .*[▁▂▃▄▅▆▇█]$'
	look
	same "${line[1]}" "hyptrace top: hypervisor, by exit, sums of N"
	same "${line[3]}" "N events read, N lost."
	same "${line[4]}" "NAME SAMPLES/S *TIME% MEAN MAX P99 SAMPLES TOTAL GUEST LAST MINUTE"
	same "${line[50]}" "h help q quit < > sort g group p pause r reset Enter detail"
	key q
	is_restored 0
}

# bats test_tags=slow
@test "without UTF-8 the bars are ASCII" {
	work
	terminal 80 24
	shell 'export LC_ALL=C'
	top_begin -d 500ms
	within "$patience" matches '^guest_exit N N N N N .*[-.:=+*%#]$'
	same "$(screen | LC_ALL=C grep -c '[^ -~]')" 0
	key q
	is_restored 0
}

@test "keys sort, group, pause, reset and help" {
	work
	terminal 80 24
	top_begin -d 500ms
	within "$patience" matches '^guest_exit'
	key '>'
	within "$patience" shows '*MEAN'
	key '<'
	key '<'
	within "$patience" shows '*SAMPLES/S'
	key Left
	within "$patience" shows '*NAME'
	same "$(screen | sed -n '5,20s/^\([a-z_]\+\) .*/\1/p' | LC_ALL=C sort -c && echo sorted)" sorted
	key Right
	within "$patience" shows '*SAMPLES/S'
	key 1
	within "$patience" matches '^CPU N: N host, N EL2, N guest, N unknown'
	same "$(screen | grep -c '^CPU [01]: ')" 2
	key 1
	within "$patience" shows 'All CPUs:'
	key h
	within "$patience" shows 'hyptrace top: keys'
	key x
	within "$patience" shows 'by reason'

	key p
	within "$patience" shows '[PAUSED]'
	before=$(screen)
	# longer than some intervals
	sleep 1.5
	same "$(screen)" "$before" "a paused screen"
	key p
	within "$patience" shows_not '[PAUSED]'

	within "$patience" sums_reach 2
	within "$patience" reset_below 2

	for by in hcall exit vcpu vm cpu memory lock reason; do
		key g
		within "$patience" shows_by "$by"
	done
	is_counted hyp_enter
	key q
	is_restored 0
}

# bats test_tags=slow
@test "a row is shown with its histogram and its slowest samples, which needs events" {
	work
	terminal 100 40
	top_begin -d 500ms -k name --by hcall
	is_counted "hyp_enter host_hcall" || is_counted "host_hcall hyp_enter"
	within "$patience" shows __kvm_vcpu_run
	key Enter
	within "$patience" shows 'no row is selected: use Up and Down'
	select_row __kvm_vcpu_run
	key Enter
	within "$patience" shows 'by hcall: __kvm_vcpu_run'
	within "$patience" shows 'HISTOGRAM: counted by EL2'
	within "$patience" has_enabled host_hcall
	within "$patience" matches '^ +N CPU N host_hcall: .*__kvm_vcpu_run'
	same "$(counted)" ""
	# the slowest sample is the first
	screen | sed -n '/SLOWEST/,$ s/^ *\([0-9.]*\) \([mun]\?s\)  CPU.*/\1 \2/p' | awk '
		{ ns = $1 * ($2 == "us" ? 1e3 : $2 == "ms" ? 1e6 : $2 == "s" ? 1e9 : 1) }
		NR > 1 && ns > last { exit 1 } { last = ns } END { exit NR == 0 }'
	key Escape
	within "$patience" shows 'EL2 counts'
	same "$(enabled)" ""
	within "$patience" is_counted "$(counted)"
	[[ $(counted) == *host_hcall* ]]
	key q
	is_restored 0
}

# select_row NAME: press the key Down until this row is selected.
select_row()
{
	selected=
	until [[ $selected == "$1" ]]; do
		key Down
		within "$patience" selects_other "$selected"
	done
}

# selects_other NAME: succeed if another row is selected. Sets $selected to its name. Its line is in reverse, as are the
# heads of the columns: tmux does not repeat that from line to line, so start below these.
selects_other()
{
	local name
	name=$(tm capture-pane -p -e -S 4 -t top | sed -nE $'s/.*\033\\[7m(\033\\[[0-9]+m)*([a-z_0-9]+) .*/\\2/p')
	[[ -n $name && $name != "$1" ]] || return 1
	selected=$name
}

# bats test_tags=slow
@test "a group whose events somebody else reads is refused, and the rows stay" {
	terminal 120 30
	stream_begin hyp_enter
	top_begin -d 500ms --by hcall
	key g
	within "$patience" shows 'cannot read CPU'
	within "$patience" shows 'by hcall'
	key x
	within "$patience" shows_not 'cannot read CPU'
	stream_end
	key q
	is_restored 0
}

# bats test_tags=slow
@test "filters that top itself holds at EL2 are no gaps of its next rows" {
	work
	terminal 120 30
	top_begin -d 300ms --by exit -F "'code < 100'"
	within "$patience" shows_by exit
	ht list -j | jq -e '.[0].events[] | select(.name == "guest_exit") | .filter == "code < 100"'
	for by in vcpu vm; do
		key g
		within "$patience" shows_by "$by"
		shows_not 'has the filter'
		ht list -j | jq -e '.[0].events[] | select(.name == "guest_exit") | .filter == "code < 100"'
	done
	key q
	is_restored 0
}

# bats test_tags=slow
@test "the terminal is as before after SIGINT, SIGTERM, SIGHUP and an error" {
	terminal 80 24
	top_begin -d 500ms
	is_full_screen
	key C-c
	is_restored 0
	for signal in TERM HUP INT; do
		top_begin --by exit -d 300ms
		is_full_screen
		kill -"$signal" "$(top_pid)"
		is_restored 0
	done
	stream_begin hyp_enter
	shell_top 'hyptrace top --by exit'
	within "$patience" has_stored
	shows 'cannot read CPU'
	stream_end
	is_restored 2
	shell_top 'TERM=nonsense hyptrace top'
	is_restored 2
	shows 'there is no description of "nonsense"'
}

# bats test_tags=slow
@test "SIGTSTP gives the terminal back, and fg continues" {
	terminal 80 24
	top_begin
	for _ in 1 2; do
		key C-z
		is_back 148
		shows Stopped
		shell_top fg
		within "$patience" shows 'by reason, '
		within "$patience" is_full_screen
	done
	# a stop that a program cannot see
	kill -STOP "$(top_pid)"
	within "$patience" has_stored
	shows Stopped
	shell_top fg
	within "$patience" shows 'by reason, '
	key '>'
	within "$patience" shows '*MEAN'
	key q
	is_restored 0
}

# bats test_tags=slow
@test "the screen has the size of the terminal, also when that changes while it is drawn" {
	work
	terminal 80 24
	top_begin -d 100ms
	for size in 60x15 20x5 200x50 81x25 5x3 132x40 80x24; do
		tm resize-window -t top -x "${size%x*}" -y "${size#*x}"
		sleep 0.2
	done
	for size in 200x50 60x15 20x5; do
		tm resize-window -t top -x "${size%x*}" -y "${size#*x}"
		within "$patience" fits "${size#*x}"
	done
	tm resize-window -t top -x 80 -y 24
	within "$patience" fits 24
	same "${line[4]}" "NAME SAMPLES/S *TIME% MEAN MAX TOTAL LAST MINUTE"
	key q
	is_restored 0
}

# fits HEIGHT: the first line is the title, and the last one that of keys, if there is room for it.
fits()
{
	look
	[[ ${#line[@]} == "$1" && ${line[1]} == hyptrace* ]] &&
		{ (($1 < 8)) || [[ ${line[$1]} == "h help q quit"* ]]; }
}

@test "batch mode prints the work of the guest, and JSON is that of stat" {
	cd "$BATS_TEST_TMPDIR"
	ht set --size 8M
	hyptrace -r "$REMOTE" top -b --by exit -k samples -d 300ms >blocks 3>&- &
	top=$!
	within "$patience" has_lines 4 blocks
	taskset -c 0 workload --cpu 0 --mmio 300 --psci 200 --sysreg 100 >/dev/null
	kill -INT "$top"
	ended "$top"
	same "$code" 0 "exit code of top"
	# the last block has the sums
	tac blocks | sed -n '/^NAME/q; p' >rows
	cat blocks
	same "$(awk '$1 == "DABT_LOW"' rows | grep -cw 300)" 1
	same "$(awk '$1 == "HVC64"' rows | grep -cw 200)" 1
	same "$(awk '$1 == "SYS64"' rows | grep -cw 100)" 1
	tac blocks | grep -m 1 'events read' | grep -q ' 0 lost'
	same "$(enabled)" ""

	hyptrace top -b -n 3 -d 200ms >blocks
	same "$(grep -c '^hyptrace top: ' blocks)" 3
	same "$(grep -c '^$' blocks)" 3
	hyptrace top -j -n 2 -d 200ms >lines
	same "$(wc -l <lines)" 2
	jq -s -e 'all(.[]; .by == "reason" and .wall > 0 and (.cpus | length > 0))' lines
	same "$(counted)" ""
}
