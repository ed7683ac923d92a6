/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Included before each file that plants.sh builds: is this bug the one that is there?
 */
#ifndef PLANT_H
#define PLANT_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline bool is_planted(const char *name)
{
	const char *planted = getenv("PLANTED");

	return planted && !strcmp(planted, name);
}

#define PLANTED(name)	is_planted(name)

#endif /* PLANT_H */
