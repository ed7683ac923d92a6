#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Count the instructions of the test whether an event is enabled, mainline's and ours, in the EL2 objects of the kernel that
# the environment chooses. Prints a line "NAME PEER OURS" with the largest number of all places. disabled.sh --list prints a
# line "FUNCTION BIT INSTRUCTIONS" for each of our places instead; the bit is the event's id. The exit code is 1 if one of
# our places is anything but an address, one load, one test and one branch.

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"

set_kernel ''

# places SYMBOL-PATTERN: print "FUNCTION BIT INSTRUCTIONS" for each place that loads a word of this name. BIT is - for a test
# of the whole word, and ? for anything else. The address (adrp, and an add if the load has another offset) counts for the
# first load that uses it. Relocations mark all of this, except loads from an address that an add has completed.
places()
{
	"${cross}objdump" -dr --no-show-raw-insn "$build"/arch/arm64/kvm/hyp/nvhe/*.nvhe.o \
		"$tree_hyp"/*.nvhe.o | awk -v symbol="$1" '
		function number(register) { return substr(register, 2) + 0 }
		function address(operand) { gsub(/[][,!]/, "", operand); return number(operand) }
		function forget() { delete partial; delete complete; delete paid; loaded = "" }
		function place(bit, more) {
			print name, bit, 1 + more + cost
			loaded = ""
		}
		/^[0-9a-f]+ <.*>:$/ { forget(); name = $2; gsub(/[<>:]/, "", name); last = "" }
		$2 ~ /^R_AARCH64_/ {
			if ($3 !~ symbol)
				next
			if ($2 ~ /ADR_PREL_PG_HI21/) {
				partial[to] = 1
				paid[to] = 0
				delete complete[to]
			} else if ($2 ~ /ADD_ABS_LO12_NC/) {
				complete[to] = 1
				paid[to] = paid[from] ? paid[from] : -1
				paid[from] = 1
			} else if ($2 ~ /LDST(32|64)_ABS_LO12_NC/ && insn !~ /^st/) {
				load(1)
			}
			next
		}
		function load(address_insns) {
			loaded = to
			cost = paid[from] > 0 ? 0 : paid[from] < 0 ? 2 : 1
			paid[from] = 1
		}
		!/^ *[0-9a-f]+:/ { next }
		{
			insn = $2
			to = number($3)
			from = address($4)
		}
		insn == "ldr" && complete[from] { load(2); next }
		loaded != "" && insn ~ /^tbn?z$/ && to == loaded { bit = $4; gsub(/[#,]/, "", bit); place(bit, 1); next }
		loaded != "" && insn ~ /^cbn?z$/ && to == loaded { place("-", 1); next }
		loaded != "" && $0 ~ ("[wx]" loaded "[^0-9]|[wx]" loaded "$") { place("?", 0) }
		# Calls leave only some registers as they are.
		insn == "bl" || insn == "blr" { for (r = 0; r < 19; r++) { delete complete[r]; delete partial[r] } }
		insn !~ /^(st|cb|tb|b|cmp|tst|msr)/ && $0 !~ /\[sp/ { delete complete[to]; delete partial[to] }'
}

tree_hyp=$build/drivers/hyptrace/hyp
ours=$(places '^hyptrace_events_on')
if [[ ${1:-} == --list ]]; then
	sort <<<"$ours"
	exit
fi
if strange=$(grep ' ? ' <<<"$ours"); then
	die "not one load, one test and one branch: $strange"
fi

# largest: print the largest number of the places on stdin, or - if there are none
largest()
{
	awk '$3 > largest { largest = $3 } END { print largest ? largest : "-" }'
}

echo "el2_insns_disabled $(places '^hyp_event_id_' | largest) $(largest <<<"$ours")"
