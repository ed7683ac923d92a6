// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exit where no memory is left.
 */
#include <stdio.h>
#include <stdlib.h>

#include "die.h"

void die_no_memory(void)
{
	fputs("hyptrace: out of memory\n", stderr);
	exit(EXIT_REFUSED);
}
