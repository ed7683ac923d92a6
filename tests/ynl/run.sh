#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In the machine: the kernel tree's own netlink client. Ends with "N passed, N failed".

set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../kselftest/tap.sh"

tap test_ynl.sh bash "$here/test_ynl.sh"
tap_total
