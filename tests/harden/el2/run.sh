#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The short form of what attacks EL2 as a host program: a tenth of these parts of "make harden". Other parts have short forms
# among the kselftests. SEED= chooses what they do. The last line is "N passed, N failed".

TIMES=10 SEED=${SEED:-1} exec "$(dirname "${BASH_SOURCE[0]}")/../run.sh" el2 silence
