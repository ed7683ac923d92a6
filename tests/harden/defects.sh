#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Does a test find each defect that other tracers have had? SEED= and TIMES= change nothing here: all are put in.

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"

if has_um; then
	"$repo/tests/um/build.sh"
fi
exec "$repo/tests/mutate/defects.sh"
