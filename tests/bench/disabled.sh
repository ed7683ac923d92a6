#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Count the instructions of the test whether an event is enabled, mainline's and ours, in the EL2 objects of the kernel that
# the environment chooses. Prints a line "NAME PEER OURS".
#
# The test is straight-line code: the address of a word (adrp, and an add if the load has another offset), the load and a
# branch. Relocations mark the instructions for the address. Each test also has one load and one branch. Two tests may share
# an adrp.

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"

set_kernel ''

# per_test SYMBOL-PATTERN: print the instructions per test, the average of all places
per_test()
{
	"${cross}objdump" -dr "$build"/arch/arm64/kvm/hyp/nvhe/*.nvhe.o |
		awk -v symbol="$1" '
			$2 !~ /^R_AARCH64_/ || $3 !~ symbol { next }
			/ADR_PREL_PG_HI21/ { insns++ }
			/ADD_ABS_LO12_NC/ { insns += 3; places++ }
			/LDST(32|64)_ABS_LO12_NC/ { insns += 2; places++ }
			END {
				if (places)
					printf "%.2f\n", insns / places
				else
					print "-"
			}'
}

echo "el2_insns_disabled $(per_test '^hyp_event_id_') $(per_test '^hyptrace_events_on')"
