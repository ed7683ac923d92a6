#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run inside the machine: test the driver with the netlink client of the kernel tree. The last line is "N passed,
# N failed".

set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../kselftest/tap.sh"

tap test_ynl.sh bash "$here/test_ynl.sh"
tap_total
