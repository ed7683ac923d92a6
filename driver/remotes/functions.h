/* SPDX-License-Identifier: GPL-2.0-only */
/* Which functions of EL2 are traced: functions.c. Included by pkvm.c. */
#ifndef __HYPTRACE_FUNCTIONS_H
#define __HYPTRACE_FUNCTIONS_H

#include <linux/types.h>

struct hyptrace_el2;
struct hyptrace_term;

void hyptrace_functions_init(const struct hyptrace_el2 *el2, unsigned int nr);
int hyptrace_functions_enable(bool enable);
int hyptrace_functions_choose(const struct hyptrace_term *terms, unsigned int nr);
void hyptrace_functions_choose_again(void);

#endif /* __HYPTRACE_FUNCTIONS_H */
