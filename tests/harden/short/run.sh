#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The short form of what attacks EL2 as a host program: a tenth of these two parts of "make harden". The short forms of faults,
# host and user are kselftests, that of files is fuzz/run.sh; defects has none. SEED= chooses what they do. The last line is
# "N passed, N failed".

TIMES=10 SEED=${SEED:-1} exec "$(dirname "${BASH_SOURCE[0]}")/../run.sh" el2 silence
