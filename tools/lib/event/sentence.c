// SPDX-License-Identifier: GPL-2.0-only
/* The sentences of events, and their parts: names, numbers, results, durations. */
#include "meaning.h"

/* The exception classes of the aborts of a lower exception level */
#define CLASS_INSTRUCTION_ABORT	0x20
#define CLASS_DATA_ABORT	0x24

/* Results without a name are decimal from -RESULT_MAX to this, else hexadecimal. */
#define RESULT_MAX	4095

static inline char *put_signed(char *to, int64_t value)
{
	if (value >= 0)
		return hyptrace_digits_decimal(to, value);
	*to++ = '-';
	return hyptrace_digits_decimal(to, -(uint64_t)value);
}

static inline char *put_decimal(char *to, const char *key, uint64_t value)
{
	return hyptrace_digits_decimal(put_text(to, key), value);
}

static char *put_value(char *to, const char *name, uint64_t value)
{
	return name ? put_text(to, name) : put_hex(to, value);
}

static char *put_symbol(const struct meaning *s, const uint64_t *v, enum hyptrace_role role,
			char *to)
{
	const struct sentence_symbol *symbol;

	symbol = s->symbols[role] ? sentence_find_symbol(s->symbols[role], v[role]) : NULL;
	return symbol && symbol->text ? hyptrace_digits_text(to, symbol->text, symbol->len) :
					put_hex(to, v[role]);
}

static const char *name_of_errno(const struct meaning *s, const uint64_t *v)
{
	(void)s;
	return hyptrace_errno_name(V(RESULT));
}

static char *put_result(const struct meaning *s, const uint64_t *v, int64_t value, char *to)
{
	const char *name = s->sentence->result(s, v);

	to = put_text(to, " = ");
	if (name)
		return put_text(to, name);
	return value < -RESULT_MAX || value > RESULT_MAX ? put_hex(to, value) :
							  put_signed(to, value);
}

/* "1.204 us" */
static char *put_thousandths(char *to, uint64_t value, const char *unit)
{
	const uint32_t part = value % 1000;

	to = hyptrace_digits_decimal(to, value / 1000);
	*to++ = '.';
	*to++ = '0' + part / 100;
	return put_text(hyptrace_digits_pair(to, part % 100), unit);
}

static char *put_time(char *to, uint64_t nsec)
{
	if (nsec < NSEC_PER_USEC)
		return put_text(hyptrace_digits_decimal(to, nsec), " ns");
	if (nsec < NSEC_PER_MSEC)
		return put_thousandths(to, nsec, " us");
	if (nsec < NSEC_PER_SEC)
		return put_thousandths(to, nsec / NSEC_PER_USEC, " ms");
	return put_thousandths(to, nsec / NSEC_PER_MSEC, " s");
}

/* " <1.204 us>" */
static inline char *put_duration(char *to, uint64_t nsec, const char *after)
{
	return put_text(put_time(put_text(to, " <"), nsec), after);
}

/* Function ids of the SMC calling convention */
#define SMC_64			0x40000000
#define SMC_OWNER		0x3f000000
#define SMC_OWNER_ARCH		0

/* PSCI and FF-A: first and last function id without SMC_64 */
#define PSCI_FIRST		0x84000000
#define PSCI_LAST		0x8400001f
#define FFA_FIRST		0x84000060
#define FFA_LAST		0x840000ff
#define FFA_VERSION		0x84000063

#define NOT_SUPPORTED		(-1)

/* PSCI functions, from PSCI_FIRST on */
#define PSCI_CPU_OFF		0x02
#define PSCI_CPU_ON		0x03
#define PSCI_FEATURES		0x0a
#define PSCI_SYSTEM_SUSPEND	0x0e

/* ESR_EL2 of an abort */
#define ESR_FAULT_STATUS	0x3f
#define ESR_WRITE		(1 << 6)

static uint64_t psci_number(uint64_t func)
{
	return (func & ~(uint64_t)SMC_64) - PSCI_FIRST;
}

/* A function of 32 bits sets only the low half of its result. */
static int64_t smc_result(uint64_t func, uint64_t ret)
{
	return func & SMC_64 ? (int64_t)ret : (int32_t)ret;
}

/* The result to print: a number of 32 bits is negative only if it may be an error. */
static int64_t smc_number(uint64_t func, uint64_t ret)
{
	int64_t value = smc_result(func, ret);

	return func & SMC_64 || value >= -RESULT_MAX ? value : (uint32_t)ret;
}

static const char *name_of_id(const struct meaning *s, uint64_t id)
{
	return hyptrace_symbol_name(s->public.places[HYPTRACE_ROLE_ID].field, id);
}

/* host_hcall */

static bool returns(const struct meaning *s, const uint64_t *v)
{
	return !V(INVALID) && hyptrace_meaning_returns(s, V(ID));
}

/* Why a guest has exited, as the field code of guest_exit names it */
static const char *const exits[] = { "irq", "serror", "trap", "illegal" };

static const char *name_of_hcall_result(const struct meaning *s, const uint64_t *v)
{
	const uint64_t ret = V(RESULT);
	const struct sentence_call *found;

	if (!returns(s, v))
		return NULL;
	if (ret >= COUNT(exits))
		return hyptrace_errno_name(ret);
	found = hyptrace_find_call(s->values, V(ID));
	return found && found->runs_guest ? exits[ret] : NULL;
}

static char *put_arg(char *to, const struct sentence_arg *arg, uint64_t value)
{
	unsigned int unused = 64 - arg->bits;

	/* any number but 0 is true */
	if (arg->bits == 1)
		value = !!value;
	value <<= unused;
	if (!arg->is_count)
		return put_hex(to, value >> unused);
	return arg->is_signed ? put_signed(to, (int64_t)value >> unused) :
				hyptrace_digits_decimal(to, value >> unused);
}

/* Print up to @nr arguments without names. */
static char *put_raw_args(char *to, const uint64_t *args, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		to = put_key(to, i ? ", " : "", args[i]);
	return to;
}

static char *put_args(char *to, const struct sentence_call *found, const uint64_t *args)
{
	const struct hyptrace_hypercall *call = found->call;
	unsigned int i;

	for (i = 0; i < call->nr_args && i < SENTENCE_ARGS; i++) {
		to = put_text(put_text(to, i ? ", " : ""), call->args[i]->name);
		to = put_arg(put_text(to, "="), &found->args[i], args[i]);
	}
	return to;
}

static char *put_host_hcall(const struct meaning *s, const uint64_t *v, char *to)
{
	const struct sentence_call *found = hyptrace_find_call(s->values, V(ID));

	to = found ? put_text(to, found->call->name) : put_symbol(s, v, HYPTRACE_ROLE_ID, to);
	*to++ = '(';
	to = found && found->call->known_args ? put_args(to, found, &V(ARG1)) :
						put_raw_args(to, &V(ARG1), SENTENCE_ARGS);
	*to++ = ')';
	if (V(INVALID))
		to = put_text(to, " invalid");
	else if (returns(s, v))
		to = put_result(s, v, V(RESULT), to);
	return put_duration(to, V(DURATION), ">");
}

/* host_smc */

static const char *name_of_smc_result(const struct meaning *s, const uint64_t *v)
{
	const uint64_t func = V(ID), func_32 = func & ~(uint64_t)SMC_64;
	int64_t ret = smc_result(func, V(RESULT));

	if (func_32 >= PSCI_FIRST && func_32 <= PSCI_LAST)
		return hyptrace_firmware_error_name(FIRMWARE_PSCI, ret);
	/* FF-A answers with another call */
	if (func_32 >= FFA_FIRST && func_32 <= FFA_LAST && ret != NOT_SUPPORTED)
		return name_of_id(s, (uint32_t)ret);
	return ret == NOT_SUPPORTED || (func & SMC_OWNER) == SMC_OWNER_ARCH ?
	       hyptrace_firmware_error_name(FIRMWARE_SMCCC, ret) : NULL;
}

static bool is_valid(const struct meaning *s, const uint64_t *v)
{
	(void)s;
	return !V(INVALID);
}

static char *put_host_smc(const struct meaning *s, const uint64_t *v, char *to)
{
	to = put_text(put_symbol(s, v, HYPTRACE_ROLE_ID, to), "(");
	to = put_text(put_raw_args(to, &V(ARG1), 3), ")");
	to = V(INVALID) ? put_text(to, " invalid") :
			  put_result(s, v, smc_number(V(ID), V(RESULT)), to);
	if (V(FORWARDED))
		to = put_text(to, " forwarded");
	return put_duration(to, V(DURATION), ">");
}

/* psci_call */

/* Names of the first argument, by function from PSCI_FIRST on; NULL: it has none */
static const char *const psci_args[] = {
	[0x01] = "state",	/* CPU_SUSPEND */
	[PSCI_CPU_ON] = "mpidr",
	[0x04] = "mpidr",	/* AFFINITY_INFO */
	[0x05] = "mpidr",	/* MIGRATE */
	[PSCI_FEATURES] = "func",
	[0x0c] = "entry",	/* CPU_DEFAULT_SUSPEND */
	[0x0d] = "mpidr",	/* NODE_HW_STATE */
	[PSCI_SYSTEM_SUSPEND] = "entry",
	[0x0f] = "mode",	/* SET_SUSPEND_MODE */
	[0x10] = "mpidr",	/* STAT_RESIDENCY */
	[0x11] = "mpidr",	/* STAT_COUNT */
	[0x12] = "type",	/* SYSTEM_RESET2 */
	[0x13] = "enable",	/* MEM_PROTECT */
	[0x14] = "base",	/* MEM_PROTECT_CHECK_RANGE */
	[0x15] = "type",	/* SYSTEM_OFF2 */
};

static const char *name_of_psci_result(const struct meaning *s, const uint64_t *v)
{
	(void)s;
	return hyptrace_firmware_error_name(FIRMWARE_PSCI, smc_result(V(ID), V(RESULT)));
}

/*
 * CPU_OFF, CPU_ON and SYSTEM_SUSPEND are recorded before EL2 calls the firmware. Those that have
 * succeeded are not recorded again, so the result is always 0.
 */
static bool is_after_call(const struct meaning *s, const uint64_t *v)
{
	uint64_t number = psci_number(V(ID));

	(void)s;
	return V(RESULT) || (number != PSCI_CPU_OFF && number != PSCI_CPU_ON &&
				number != PSCI_SYSTEM_SUSPEND);
}

static char *put_psci_arg(const struct meaning *s, const uint64_t *v, char *to)
{
	uint64_t number = psci_number(V(ID)), arg = V(ARG1);
	const char *name = number < COUNT(psci_args) ? psci_args[number] : "arg";

	if (!name)
		return to;
	to = put_text(put_text(to, name), "=");
	return put_value(to, number == PSCI_FEATURES ? name_of_id(s, arg) : NULL, arg);
}

static char *put_psci_call(const struct meaning *s, const uint64_t *v, char *to)
{
	to = put_text(put_symbol(s, v, HYPTRACE_ROLE_ID, to), "(");
	to = put_text(put_psci_arg(s, v, to), ")");
	if (!is_after_call(s, v))
		return to;
	to = put_result(s, v, smc_number(V(ID), V(RESULT)), to);
	return put_duration(to, V(DURATION), ">");
}

/* host_ffa_call */

static const char *name_of_ffa_error(const struct meaning *s, const uint64_t *v)
{
	(void)s;
	return hyptrace_firmware_error_name(FIRMWARE_FFA, V(RESULT));
}

/* The result of a version is in x0, which the event does not have. */
static bool has_ffa_error(const struct meaning *s, const uint64_t *v)
{
	(void)s;
	return V(HANDLED) && V(ID) != FFA_VERSION;
}

static char *put_host_ffa_call(const struct meaning *s, const uint64_t *v, char *to)
{
	to = put_symbol(s, v, HYPTRACE_ROLE_ID, to);
	if (!V(HANDLED))
		return put_text(to, " passed on");
	to = put_text(to, " handled");
	if (!has_ffa_error(s, v))
		return to;
	to = put_result(s, v, V(RESULT), to);
	return V(RESULT) ? to : put_text(put_raw_args(put_text(to, " ("), &V(RETURNED1), 4), ")");
}

/* host_mem_abort */

static char *put_host_mem_abort(const struct meaning *s, const uint64_t *v, char *to)
{
	uint64_t esr = V(ESR), class = esr_class(esr);
	struct fault_status fault = hyptrace_fault_status(esr & ESR_FAULT_STATUS);

	to = put_value(to, hyptrace_class_name(s->values, class), class);
	if (class == CLASS_DATA_ABORT)
		to = put_text(to, esr & ESR_WRITE ? " write" : " read");
	*to++ = ' ';
	to = fault.name ? put_text(to, fault.name) :
			  put_key(to, "fault ", esr & ESR_FAULT_STATUS);
	if (fault.level != NO_LEVEL)
		to = put_signed(put_text(to, " level "), fault.level);
	to = put_key(to, " addr=", V(ADDRESS));
	to = put_result(s, v, V(RESULT), to);
	return put_duration(to, V(DURATION), ">");
}

/* Operation of tlbi on the entries of all VMIDs */
#define TLBI_VM_CONTEXT	5

/* "vcpu=141" */
static char *put_vcpu(const uint64_t *v, char *to)
{
	return put_signed(put_text(to, "vcpu="), V(VCPU));
}

/* "vcpu=141 vm=0x1000.0" */
static char *put_vm(const struct meaning *s, const uint64_t *v, char *to)
{
	(void)s;
	return put_decimal(put_key(put_vcpu(v, to), " vm=", V(VM)), ".", V(INDEX));
}

static char *put_guest_exit(const struct meaning *s, const uint64_t *v, char *to)
{
	uint64_t esr = V(ESR), class = esr_class(esr);

	to = put_symbol(s, v, HYPTRACE_ROLE_CODE, put_text(put_vm(s, v, to), " "));
	if (V(CODE) == EXIT_TRAP)
		to = put_symbol(s, v, HYPTRACE_ROLE_CLASS, put_text(to, " "));
	/* esr is 0 after an interrupt, and both are 0 if the guest is protected */
	if (class == CLASS_INSTRUCTION_ABORT || class == CLASS_DATA_ABORT)
		to = put_key(to, " ipa=", V(IPA));
	else if (esr)
		to = put_key(to, " esr=", esr);
	if (esr || V(PC))
		to = put_key(to, " pc=", V(PC));
	return put_duration(to, V(DURATION), " since entry>");
}

static char *put_guest_fixup(const struct meaning *s, const uint64_t *v, char *to)
{
	to = put_symbol(s, v, HYPTRACE_ROLE_CLASS, put_text(put_vcpu(v, to), " "));
	to = put_text(to, V(HANDLED) ? " handled" : " passed on");
	return put_duration(to, V(DURATION), ">");
}

static char *put_illegal_trap(const struct meaning *s, const uint64_t *v, char *to)
{
	const uint64_t class = esr_class(V(ESR));

	to = put_text(put_vcpu(v, to), " ");
	to = put_value(to, hyptrace_class_name(s->values, class), class);
	return put_key(to, " esr=", V(ESR));
}

static char *put_mem_transition(const struct meaning *s, const uint64_t *v, char *to)
{
	/* the handles of VMs are not 0 */
	const bool has_vm = V(VM);
	/* before EL2 has translated a page of a guest, the pfn is 0 */
	const bool has_pfn = V(PAGE) || !V(RESULT) || !has_vm;

	to = put_text(put_symbol(s, v, HYPTRACE_ROLE_OP, to), " ");
	to = put_text(put_symbol(s, v, HYPTRACE_ROLE_FROM, to), " -> ");
	to = put_symbol(s, v, HYPTRACE_ROLE_TO, to);
	if (has_pfn)
		to = put_decimal(put_key(to, " pfn=", V(PAGE)), " +", V(COUNT));
	if (has_vm)
		to = put_key(put_key(to, " vm=", V(VM)), " gfn=", V(GUEST_PAGE));
	if (!has_pfn)
		to = put_decimal(to, " +", V(COUNT));
	return put_result(s, v, V(RESULT), to);
}

static char *put_tlbi(const struct meaning *s, const uint64_t *v, char *to)
{
	to = put_symbol(s, v, HYPTRACE_ROLE_OP, to);
	if (V(OP) == TLBI_VM_CONTEXT)
		return to;
	to = put_decimal(to, " vmid=", V(VMID));
	/* without a count, the operation is for all addresses */
	return V(COUNT) ? put_decimal(put_key(to, " ipa=", V(IPA)), " +", V(COUNT)) : to;
}

static char *put_hyp_pool(const struct meaning *s, const uint64_t *v, char *to)
{
	to = put_symbol(s, v, HYPTRACE_ROLE_OP, to);
	to = put_decimal(put_decimal(to, " order=", V(ORDER)), " left=", V(LEFT));
	return put_key(to, " pool=", V(POOL));
}

/* "__pkvm_host_share_hyp depth=2 <1.204 us, 640 ns ago>": it was recorded later */
static char *put_func(const struct meaning *s, const uint64_t *v, char *to)
{
	to = put_symbol(s, v, HYPTRACE_ROLE_ID, to);
	to = put_decimal(to, " depth=", V(DEPTH));
	return put_text(put_time(put_duration(to, V(DURATION), ", "), V(AGO)), " ago>");
}

static char *put_lock_wait(const struct meaning *s, const uint64_t *v, char *to)
{
	to = put_symbol(s, v, HYPTRACE_ROLE_LOCK, to);
	if ((int64_t)V(OWNER) >= 0)
		to = put_decimal(to, " held by CPU ", V(OWNER));
	return put_duration(to, V(DURATION), ">");
}

/* "host_hcall instructions=1204" */
static char *put_pmu(const struct meaning *s, const uint64_t *v, char *to)
{
	to = put_text(put_symbol(s, v, HYPTRACE_ROLE_EVENT, to), " ");
	return put_decimal(put_symbol(s, v, HYPTRACE_ROLE_COUNTER, to), "=", V(COUNTED));
}

const struct sentence_kind hyptrace_sentences[HYPTRACE_NR_KINDS] = {
	[HYPTRACE_KIND_HYPERCALL] = {
		NEEDS(INVALID) | NEEDS(ID) | NEEDS(ARG1) | NEEDS(ARG2) | NEEDS(ARG3) |
		NEEDS(ARG4) | NEEDS(DURATION) | NEEDS(RESULT),
		put_host_hcall, name_of_hcall_result, returns,
	},
	[HYPTRACE_KIND_SMC] = {
		NEEDS(FORWARDED) | NEEDS(INVALID) | NEEDS(ID) | NEEDS(ARG1) | NEEDS(ARG2) |
		NEEDS(ARG3) | NEEDS(DURATION) | NEEDS(RESULT),
		put_host_smc, name_of_smc_result, is_valid,
	},
	[HYPTRACE_KIND_PSCI] = {
		NEEDS(ID) | NEEDS(ARG1) | NEEDS(DURATION) | NEEDS(RESULT),
		put_psci_call, name_of_psci_result, is_after_call,
	},
	[HYPTRACE_KIND_FFA] = {
		NEEDS(HANDLED) | NEEDS(RESULT) | NEEDS(ID) | NEEDS(RETURNED1) | NEEDS(RETURNED2) |
		NEEDS(RETURNED3) | NEEDS(RETURNED4),
		put_host_ffa_call, name_of_ffa_error, has_ffa_error,
	},
	[HYPTRACE_KIND_MEM_ABORT] = {
		NEEDS(RESULT) | NEEDS(ESR) | NEEDS(ADDRESS) | NEEDS(DURATION),
		put_host_mem_abort, name_of_errno, NULL,
	},
	[HYPTRACE_KIND_GUEST_ENTER] = { NEEDS_VM, put_vm, NULL, NULL },
	[HYPTRACE_KIND_VCPU_LOAD] = { NEEDS_VM, put_vm, NULL, NULL },
	[HYPTRACE_KIND_VCPU_PUT] = { NEEDS_VM, put_vm, NULL, NULL },
	[HYPTRACE_KIND_GUEST_EXIT] = {
		NEEDS_VM | NEEDS(CODE) | NEEDS(CLASS) | NEEDS(DURATION) | NEEDS(ESR) | NEEDS(PC) |
		NEEDS(IPA),
		put_guest_exit, NULL, NULL,
	},
	[HYPTRACE_KIND_GUEST_FIXUP] = {
		NEEDS(HANDLED) | NEEDS(CLASS) | NEEDS(VCPU) | NEEDS(DURATION),
		put_guest_fixup, NULL, NULL,
	},
	[HYPTRACE_KIND_ILLEGAL_TRAP] = { NEEDS(VCPU) | NEEDS(ESR), put_illegal_trap, NULL, NULL },
	[HYPTRACE_KIND_TRANSITION] = {
		NEEDS(OP) | NEEDS(FROM) | NEEDS(TO) | NEEDS(VM) | NEEDS(RESULT) | NEEDS(PAGE) |
		NEEDS(COUNT) | NEEDS(GUEST_PAGE),
		put_mem_transition, name_of_errno, NULL,
	},
	[HYPTRACE_KIND_TLBI] = {
		NEEDS(OP) | NEEDS(VMID) | NEEDS(IPA) | NEEDS(COUNT), put_tlbi, NULL, NULL,
	},
	[HYPTRACE_KIND_POOL] = {
		NEEDS(OP) | NEEDS(ORDER) | NEEDS(LEFT) | NEEDS(POOL), put_hyp_pool, NULL, NULL,
	},
	[HYPTRACE_KIND_LOCK_WAIT] = {
		NEEDS(LOCK) | NEEDS(OWNER) | NEEDS(DURATION), put_lock_wait, NULL, NULL,
	},
	[HYPTRACE_KIND_PRINTK] = {
		NEEDS(FORMAT) | NEEDS(NUMBER1) | NEEDS(NUMBER2) | NEEDS(NUMBER3) | NEEDS(NUMBER4),
		hyptrace_put_printk, NULL, NULL,
	},
	[HYPTRACE_KIND_FUNCTION] = {
		NEEDS(ID) | NEEDS(DEPTH) | NEEDS(DURATION) | NEEDS(AGO), put_func, NULL, NULL,
	},
	[HYPTRACE_KIND_PMU] = {
		NEEDS(COUNTER) | NEEDS(EVENT) | NEEDS(COUNTED), put_pmu, NULL, NULL,
	},
};
