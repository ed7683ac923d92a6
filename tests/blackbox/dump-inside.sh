#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run inside the machine: record events, and let dump.sh dump the memory, without hyptrace and with it.

set -euo pipefail

# dumped NAME: wait until dump.sh has dumped the memory
dumped()
{
	: >"/mnt/share/$1.wanted"
	until [[ -e /mnt/share/$1.done ]]; do sleep 0.1; done
}

dumped without
modprobe hyptrace_pkvm
hyptrace load --size 64K
hyptrace enable hyp_enter hyp_exit host_hcall
hyptrace start
workload --psci 2000 --mmio 2000 >/dev/null
hyptrace stop
# some of them are read, and more overwritten
hyptrace stream --cpu 0 --count 10 --no-start >/dev/null
hyptrace start
workload --psci 100 --mmio 100 >/dev/null
hyptrace stop
hyptrace show >/mnt/share/shown 2>/mnt/share/counts
hyptrace list -j >/mnt/share/list
dumped with
