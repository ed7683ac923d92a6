// SPDX-License-Identifier: GPL-2.0-only
/*
 * The version of the library that a program runs with.
 */
#include "internal.h"

#define TEXT_OF(value)	#value
#define TEXT(value)	TEXT_OF(value)

/**
 * hyptrace_lib_version - get the version of the library
 *
 * Return: the version, such as "0.1.0"; that of the header is HYPTRACE_LIB_VERSION.
 */
const char *hyptrace_lib_version(void)
{
	return TEXT(HYPTRACE_LIB_VERSION_MAJOR) "." TEXT(HYPTRACE_LIB_VERSION_MINOR) "."
	       TEXT(HYPTRACE_LIB_VERSION_PATCH);
}
