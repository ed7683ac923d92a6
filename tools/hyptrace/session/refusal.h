/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why a module could not be loaded. For list and all verbs that need a remote.
 */
#ifndef REFUSAL_H
#define REFUSAL_H

#include <stdbool.h>
#include <stddef.h>

bool refusal_read(const char *module, char *text, size_t size);

#endif /* REFUSAL_H */
