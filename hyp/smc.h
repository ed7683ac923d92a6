/* SPDX-License-Identifier: GPL-2.0-only */
/* Records calls to the firmware. EL2 files include it last, in kernels without such a wrapper. */
#ifndef __HYPTRACE_SMC_H
#define __HYPTRACE_SMC_H

#include <linux/arm-smccc.h>

#include "hooks.h"

#undef arm_smccc_1_1_smc
#define arm_smccc_1_1_smc(...)						\
	do {								\
		hyptrace_smc_exit();					\
		__arm_smccc_1_1(SMCCC_SMC_INST, __VA_ARGS__);		\
		hyptrace_smc_enter();					\
	} while (0)

#endif /* __HYPTRACE_SMC_H */
