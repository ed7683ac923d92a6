// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tests of the printer, with the tables of the static command.
 */
#include "test_tools_printer.c"
