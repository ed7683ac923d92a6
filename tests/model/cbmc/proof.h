/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the proofs of this folder share: any value, assumptions, claims. CBMC, which cbmc.sh runs,
 * looks for values with which the assumptions hold, and a claim does not, or the code under proof
 * reads or writes outside of an object, overflows, or shifts too far.
 */
#ifndef HYPTRACE_PROOF_H
#define HYPTRACE_PROOF_H

#define assume(x)	__CPROVER_assume(x)
#define claim(x)	__CPROVER_assert(x, #x)
/* Give an object any value. */
#define any(x)		__CPROVER_havoc_object(&(x))

u64 nondet_u64(void);
u32 nondet_u32(void);

/* Nothing here has another CPU. */
__thread struct hyptrace_ring *hyptrace_host_ring;

struct hyptrace_ring *hyptrace_ring_of(u64 cpu)
{
	(void)cpu;
	return NULL;
}

u32 hyptrace_nr_cpus(void)
{
	return 0;
}

#endif /* HYPTRACE_PROOF_H */
