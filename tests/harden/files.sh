#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Hostile files: mutations of recorded files, dumps and images, guided by coverage, under ASan and UBSan, for the readers, all
# exports and all verbs that read files: fuzz/run.sh. Then bugs are planted, and the fuzzer must find them. TIMES=2500 is a
# million. SEED= and TIMES=: see run.sh.

RUNS=$((40000 * ${TIMES:-100} / 100)) SEED=${SEED:-1} PLANTS=1 exec "$(dirname "${BASH_SOURCE[0]}")/../fuzz/run.sh"
