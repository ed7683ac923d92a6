#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Does a test find each defect that other tracers have had? SEED= and TIMES= change nothing here: all are put in.

exec "$(dirname "${BASH_SOURCE[0]}")/../mutate/defects.sh"
