# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Search a kernel's console for complaints, and for the mode of the hypervisor. To be sourced.

complaints=(
	'WARNING:' 'BUG:' 'Oops' 'Kernel panic' 'Unable to handle' 'Internal error' 'Call trace:'
	'[Hh]yp panic' 'HYP panic' 'hyp panic'
	'detected stalls' 'self-detected stall' 'blocked for more than' 'soft lockup'
	'possible (circular|recursive|irq)' 'inconsistent lock state' 'bad unlock balance' 'held lock freed'
	'lock held when returning' 'non-static key' 'suspicious RCU' 'suspiciously returned' 'scheduling while atomic'
	'sleeping function called' 'UBSAN:' 'KASAN:' 'KCSAN:' 'ODEBUG:' 'refcount_t:' 'corruption'
	'unreferenced object' 'new suspected memory leaks' 'page allocation failure'
	# but for rings and what EL2 has of them (core/buffer.c, remotes/kernel_load.c and writer_load.c): tests have it keep some
	'driver/(device|netlink|core/[^b]|core/b[^u]).* allocated at module unload'
	'driver/remotes/([^kw]|kernel[^_]|kernel_[^l]|writer[^_]|writer_[^l]).* allocated at module unload'
)

# console_text FILE: print it without two reports:
# - the frame that Linux 6.12 puts around "allocated at module unload", which has a line of its own: that decides;
# - what CONFIG_DEBUG_PREEMPT finds in tracefs' own ring_buffer_poll_remote() (7.3.4), which wakes a waiting reader with
#   preemption on: two of its lines are complaints.
console_text()
{
	awk '
		/WARNING: .* at lib\/alloc_tag\.c:/ { framed = 1; next }
		framed && /Call trace:/ { framed = 0; next }
		/BUG: using smp_processor_id\(\) in preemptible/ { printf "%s%s%s", bug, trace, other; trace = other = ""; bug = $0 "\n"; next }
		!bug { print; next }
		!trace && /Call trace:/ { trace = $0 "\n"; next }
		{ other = other $0 "\n" }
		asked { printf "%s%s", /\]  ring_buffer_poll_remote\+0x/ ? "" : bug trace, other; bug = trace = other = asked = "" }
		/\]  debug_smp_processor_id\+0x/ { asked = 1 }
		END { printf "%s%s%s", bug, trace, other }' "$1"
}

# console_complaints FILE: print the lines in which a kernel complains. Succeed if there are any.
console_complaints()
{
	local IFS='|'
	grep -aE "${complaints[*]}" <(console_text "$1")
}

# console_around_complaint FILE: print the first complaint, with some lines before it and many after it.
console_around_complaint()
{
	local IFS='|'
	grep -aE -m 1 -B 20 -A 80 "${complaints[*]}" <(console_text "$1")
}

# console_protected FILE: succeed if the hypervisor has started in protected mode.
console_protected()
{
	grep -aqE 'Protected (nVHE|hVHE) mode initialized successfully' "$1"
}
