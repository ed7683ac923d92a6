# shellcheck shell=bash
# shellcheck disable=SC2154 # vm is of run.sh
# SPDX-License-Identifier: GPL-2.0-only
# A check of tests/vm/console.sh, which decides whether a kernel has complained. Sourced by run.sh.

# asks_for_cpu CALLER [LINE]: print a console on which this function has asked for the CPU with preemption on, and the line meanwhile
asks_for_cpu()
{
	printf '[    3.1] %s\r\n' 'before' 'BUG: using smp_processor_id() in preemptible [00000000] code: hyptrace/317' \
		'caller is debug_smp_processor_id+0x1c/0x24' "${2:-CPU: 1 UID: 0}" 'Call trace:' ' show_stack+0x14/0x1c (C)' \
		' debug_smp_processor_id+0x1c/0x24' " $1+0x91c/0xc90" ' vfs_write+0x184/0x61c' 'after'
}

# complains CONSOLE: how many lines of this text are complaints
complains()
{
	(. "$vm/console.sh" && console_complaints <(echo "$1") | wc -l)
}

check_console()
{
	local known other
	known=$(asks_for_cpu ring_buffer_poll_remote)
	other=$(asks_for_cpu hyptrace_ring_swap)
	[[ $(complains "$known") == 0 && $(complains "$other") == 2 && $(complains "$known"$'\n'"$other") == 2 &&
		$(complains "$other"$'\n'"$known") == 2 && $(complains "$(head -n 4 <<<"$known")") == 1 &&
		$(complains "$(head -n 2 <<<"$known")"$'\n'"$known") == 1 &&
		$(complains "$(asks_for_cpu ring_buffer_poll_remote 'BUG: KASAN: use-after-free')") == 1 &&
		$(complains "$known"$'\n''[    4.0] BUG: KASAN: use-after-free') == 1 ]]
}
