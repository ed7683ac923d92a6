/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of values that the driver does not name: errnos, error codes of firmware, fault status
 * codes. For sentence*.c.
 */
#ifndef HYPTRACE_NAMES_H
#define HYPTRACE_NAMES_H

#include <stdint.h>

/* The meaning of a fault status code of ESR_EL2 */
struct fault_status {
	const char	*name;	/* what has failed */
	int8_t		level;	/* level of the page table, or NO_LEVEL */
};

#define NO_LEVEL	INT8_MIN

/* names.c; the names of errors begin with a minus if the kernel writes them with one */
const char *hyptrace_errno_name(int64_t value);
const char *hyptrace_psci_error_name(int64_t value);
const char *hyptrace_ffa_error_name(int64_t value);
const char *hyptrace_smccc_error_name(int64_t value);
struct fault_status hyptrace_fault_status(unsigned int code);

#endif /* HYPTRACE_NAMES_H */
