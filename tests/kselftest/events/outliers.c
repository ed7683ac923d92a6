// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make many short hypercalls on this CPU, and a few long ones at random places among them, through
 * the module hyptrace_calls:
 *
 *	outliers NUMBER LONG [SEED [delay]]
 *
 * All of them invalidate a range of the TLB, __kvm_tlb_flush_vmid_range(). EL2 does that page by
 * page, so that many pages take long. x4, which EL2 does not read, has the number of the call.
 *
 * With "delay", they invalidate entries of the TLB in any way, and the function that does it waits
 * in the long ones. EL2 refuses that without CONFIG_HYPTRACE_FAULTS.
 *
 * It prints "ready", or "refused", once KVM and the module make no hypercalls any more, waits for a
 * line of standard input, makes the calls, prints the numbers of the long ones, with "delay" also
 * the functions that wait, and "done", and waits for the end of standard input.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "calls.h"

#include "../../../hyp/abi.h"
#include "cpus.h"

/* Pages to invalidate */
#define PAGES_SHORT	1
#define PAGES_LONG	2000

#define CALL		"__kvm_tlb_flush_vmid_range"

/* Choose which calls are long: each set of so many calls has the same chance. */
static bool is_long(size_t left, size_t nr_long)
{
	return drand48() * left < nr_long;
}

static int make(const struct calls *calls, size_t nr, size_t nr_long)
{
	const struct calls_known *known = calls_find(calls, CALL);
	struct calls_one list[CALLS_BATCH];
	size_t i, n, made = 0;
	int err;

	while (made < nr) {
		n = nr - made < CALLS_BATCH ? nr - made : CALLS_BATCH;
		for (i = 0; i < n; i++, made++) {
			list[i] = calls_hvc(calls, CALL, known->x[1], known->x[2], PAGES_SHORT);
			list[i].x[4] = made;
			if (!is_long(nr - made, nr_long))
				continue;
			list[i].x[3] = PAGES_LONG;
			nr_long--;
			printf("%zu\n", made);
		}
		err = calls_make(calls, list, n);
		if (err)
			return err;
		for (i = 0; i < n; i++)
			if (list[i].ret[0])
				return -1;
	}
	return 0;
}

/* Choose a hypercall. The function that invalidates TLB entries has the same name. */
static const char *any_call(const struct calls *calls)
{
	static const char *const names[] = {
		"__kvm_tlb_flush_vmid", "__kvm_tlb_flush_vmid_ipa", "__kvm_tlb_flush_vmid_ipa_nsh",
		CALL, "__kvm_flush_cpu_context",
	};
	const struct calls_known *known;
	const char *name;

	do {
		name = names[lrand48() % (sizeof(names) / sizeof(*names))];
		known = calls_find(calls, name);
	} while (!known || known->flags & (CALLS_REFUSED | CALLS_UNSAFE));
	return name;
}

/* Have EL2 wait at this point, or at none. */
static struct calls_one delay_at(const struct calls *calls, uint64_t point)
{
	return calls_hvc(calls, "__hyptrace", HYPTRACE_OP_WRITE, point, HYPTRACE_WRITE_FAULT);
}

static bool is_refused(const struct calls *calls, bool is_delay)
{
	const struct calls_known *known = calls_find(calls, CALL);
	struct calls_one call;

	if (!is_delay)
		return !known || known->flags & CALLS_REFUSED;
	call = delay_at(calls, HYPTRACE_FAULT_NONE);
	return calls_make(calls, &call, 1) || call.ret[0] || call.ret[1];
}

static int make_delayed(const struct calls *calls, size_t nr, size_t nr_long)
{
	struct calls_one list[2], *call;
	const struct calls_known *known;
	size_t made;
	int err;

	for (made = 0; made < nr; made++) {
		known = calls_find(calls, any_call(calls));
		call = list;
		if (is_long(nr - made, nr_long)) {
			*call++ = delay_at(calls, HYPTRACE_FAULT_TLBI);
			nr_long--;
			printf("%zu %s\n", made, known->name);
		}
		*call = calls_hvc(calls, known->name, known->x[1], known->x[2], PAGES_SHORT);
		call->x[4] = made;
		err = calls_make(calls, list, call + 1 - list);
		if (err)
			return err;
		if (call->ret[0] || (call > list && list[0].ret[1]))
			return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	size_t nr = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;
	size_t nr_long = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
	bool is_delay = argc > 4;
	struct calls calls = {};
	int err = 0;

	srand48(argc > 3 ? strtol(argv[3], NULL, 0) : 1);
	if (!nr || nr_long > nr) {
		fputs("usage: outliers NUMBER LONG [SEED [delay]]\n", stderr);
		return 1;
	}
	if (pin_to(sched_getcpu()) || calls_open(&calls)) {
		perror("outliers");
		return 2;
	}
	if (is_refused(&calls, is_delay)) {
		puts("refused");
		nr = 0;
	} else {
		puts("ready");
	}
	fflush(stdout);
	if (getchar() != EOF && nr)
		err = (is_delay ? make_delayed : make)(&calls, nr, nr_long);
	puts("done");
	fflush(stdout);
	while (getchar() != EOF)
		;
	if (calls_close(&calls) || err) {
		fputs("outliers: the calls could not be made\n", stderr);
		return 2;
	}
	return 0;
}
