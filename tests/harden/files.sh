#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Hostile files: half a million mutations of recorded files, guided by coverage, under ASan and UBSan: fuzz/run.sh. TIMES=200 is a
# million. SEED= and TIMES=: see run.sh.

RUNS=$((500000 * ${TIMES:-100} / 100)) SEED=${SEED:-1} exec "$(dirname "${BASH_SOURCE[0]}")/../fuzz/run.sh"
