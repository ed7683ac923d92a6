/* SPDX-License-Identifier: GPL-2.0-only */
/* What both sides know of the functions of EL2 that are traced: see function.h */
#ifndef __HYPTRACE_FUNCTION_ABI_H
#define __HYPTRACE_FUNCTION_ABI_H

/* Functions that can be traced at most */
#define HYPTRACE_MAX_FUNCTIONS	2048
/* Bytes of the stub of each */
#define HYPTRACE_STUB_BYTES	16
/* Where the event func has the id of the function */
#define HYPTRACE_FUNC_ID_OFFSET	2

#endif /* __HYPTRACE_FUNCTION_ABI_H */
