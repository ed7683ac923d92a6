// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sentences of what the host asks for: hypercalls, calls of firmware, and memory aborts. For
 * sentence.c.
 */
#include "names.h"
#include "sentence.h"

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

static bool is_psci(uint64_t func)
{
	return psci_number(func) <= PSCI_LAST - PSCI_FIRST;
}

static bool is_ffa(uint64_t func)
{
	func &= ~(uint64_t)SMC_64;
	return func >= FFA_FIRST && func <= FFA_LAST;
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

	return func & SMC_64 || value >= -SENTENCE_RESULT_MAX ? value : (uint32_t)ret;
}

/* host_hcall */

static bool returns(const struct sentence *s, const uint64_t *v)
{
	return !v[FIELD_INVALID] && hyptrace_sentence_returns(s, v[FIELD_ID]);
}

/* Why a guest has exited, as the field code of guest_exit names it */
static const char *const exits[] = { "irq", "serror", "trap", "illegal" };

static const char *name_of_hcall_result(const struct sentence *s, const uint64_t *v)
{
	const uint64_t ret = v[FIELD_RET];
	const struct sentence_call *found;

	if (!returns(s, v))
		return NULL;
	if (ret >= sizeof(exits) / sizeof(exits[0]))
		return hyptrace_errno_name(ret);
	found = hyptrace_sentence_find_call(s->names, v[FIELD_ID]);
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
		return hyptrace_sentence_hex(to, value >> unused);
	if (arg->is_signed)
		return hyptrace_sentence_signed(to, (int64_t)value >> unused);
	return hyptrace_digits_decimal(to, value >> unused);
}

/* Print up to @nr arguments without names. */
static char *put_raw_args(char *to, const uint64_t *args, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		to = hyptrace_sentence_key(to, i ? ", " : "", args[i]);
	return to;
}

static char *put_args(char *to, const struct sentence_call *found, const uint64_t *args)
{
	const struct hyptrace_hypercall *call = found->call;
	unsigned int i;

	for (i = 0; i < call->nr_args && i < SENTENCE_ARGS; i++) {
		to = hyptrace_sentence_text(to, i ? ", " : "");
		to = hyptrace_sentence_text(to, call->args[i]->name);
		*to++ = '=';
		to = put_arg(to, &found->args[i], args[i]);
	}
	return to;
}

static char *put_host_hcall(const struct sentence *s, const uint64_t *v, char *to)
{
	const struct sentence_call *found = hyptrace_sentence_find_call(s->names, v[FIELD_ID]);

	if (found)
		to = hyptrace_sentence_text(to, found->call->name);
	else
		to = hyptrace_sentence_symbol(s, v, FIELD_ID, to);
	*to++ = '(';
	if (found && found->call->known_args)
		to = put_args(to, found, &v[FIELD_ARG1]);
	else
		to = put_raw_args(to, &v[FIELD_ARG1], SENTENCE_ARGS);
	*to++ = ')';
	if (v[FIELD_INVALID])
		to = hyptrace_sentence_text(to, " invalid");
	else if (returns(s, v))
		to = hyptrace_sentence_result(s, v, v[FIELD_RET], to);
	return hyptrace_sentence_duration(to, v[FIELD_DURATION], ">");
}

/* host_smc */

static const char *name_of_smc_result(const struct sentence *s, const uint64_t *v)
{
	uint64_t func = v[FIELD_ID];
	int64_t ret = smc_result(func, v[FIELD_RET]);

	if (is_psci(func))
		return hyptrace_psci_error_name(ret);
	/* FF-A answers with another call */
	if (is_ffa(func) && ret != NOT_SUPPORTED)
		return hyptrace_symbol_name(s->fields[FIELD_ID], (uint32_t)ret);
	if (ret == NOT_SUPPORTED || (func & SMC_OWNER) == SMC_OWNER_ARCH)
		return hyptrace_smccc_error_name(ret);
	return NULL;
}

static bool is_valid(const struct sentence *s, const uint64_t *v)
{
	(void)s;
	return !v[FIELD_INVALID];
}

static char *put_host_smc(const struct sentence *s, const uint64_t *v, char *to)
{
	to = hyptrace_sentence_symbol(s, v, FIELD_ID, to);
	*to++ = '(';
	to = put_raw_args(to, &v[FIELD_ARG1], 3);
	*to++ = ')';
	if (v[FIELD_INVALID])
		to = hyptrace_sentence_text(to, " invalid");
	else
		to = hyptrace_sentence_result(s, v, smc_number(v[FIELD_ID], v[FIELD_RET]),
					      to);
	if (v[FIELD_FORWARDED])
		to = hyptrace_sentence_text(to, " forwarded");
	return hyptrace_sentence_duration(to, v[FIELD_DURATION], ">");
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

static const char *name_of_psci_result(const struct sentence *s, const uint64_t *v)
{
	(void)s;
	return hyptrace_psci_error_name(smc_result(v[FIELD_FUNC], v[FIELD_RET]));
}

/*
 * CPU_OFF, CPU_ON and SYSTEM_SUSPEND are recorded before EL2 calls the firmware. Those that have
 * succeeded are not recorded again, so the result is always 0.
 */
static bool is_after_call(const struct sentence *s, const uint64_t *v)
{
	uint64_t number = psci_number(v[FIELD_FUNC]);

	(void)s;
	return v[FIELD_RET] || (number != PSCI_CPU_OFF && number != PSCI_CPU_ON &&
				number != PSCI_SYSTEM_SUSPEND);
}

static char *put_psci_arg(const struct sentence *s, const uint64_t *v, char *to)
{
	uint64_t number = psci_number(v[FIELD_FUNC]), arg = v[FIELD_ARG];
	const char *name = "arg";

	if (number < sizeof(psci_args) / sizeof(psci_args[0]))
		name = psci_args[number];
	if (!name)
		return to;
	to = hyptrace_sentence_text(to, name);
	*to++ = '=';
	if (number != PSCI_FEATURES)
		return hyptrace_sentence_hex(to, arg);
	return hyptrace_sentence_value(to, hyptrace_symbol_name(s->fields[FIELD_FUNC], arg), arg);
}

static char *put_psci_call(const struct sentence *s, const uint64_t *v, char *to)
{
	to = hyptrace_sentence_symbol(s, v, FIELD_FUNC, to);
	*to++ = '(';
	to = put_psci_arg(s, v, to);
	*to++ = ')';
	if (!is_after_call(s, v))
		return to;
	to = hyptrace_sentence_result(s, v, smc_number(v[FIELD_FUNC], v[FIELD_RET]), to);
	return hyptrace_sentence_duration(to, v[FIELD_DURATION], ">");
}

/* host_ffa_call */

static const char *name_of_ffa_error(const struct sentence *s, const uint64_t *v)
{
	(void)s;
	return hyptrace_ffa_error_name(v[FIELD_ERR]);
}

/* The result of a version is in x0, which the event does not have. */
static bool has_ffa_error(const struct sentence *s, const uint64_t *v)
{
	(void)s;
	return v[FIELD_HANDLED] && v[FIELD_FUNC_ID] != FFA_VERSION;
}

static char *put_host_ffa_call(const struct sentence *s, const uint64_t *v, char *to)
{
	to = hyptrace_sentence_symbol(s, v, FIELD_FUNC_ID, to);
	if (!v[FIELD_HANDLED])
		return hyptrace_sentence_text(to, " passed on");
	to = hyptrace_sentence_text(to, " handled");
	if (!has_ffa_error(s, v))
		return to;
	to = hyptrace_sentence_result(s, v, v[FIELD_ERR], to);
	if (v[FIELD_ERR])
		return to;
	to = hyptrace_sentence_text(to, " (");
	to = put_raw_args(to, &v[FIELD_RES_A1], 4);
	*to++ = ')';
	return to;
}

/* host_mem_abort */

static char *put_host_mem_abort(const struct sentence *s, const uint64_t *v, char *to)
{
	uint64_t esr = v[FIELD_ESR], class = sentence_esr_class(esr);
	struct fault_status fault = hyptrace_fault_status(esr & ESR_FAULT_STATUS);

	to = hyptrace_sentence_value(to, hyptrace_sentence_class(s->names, class), class);
	if (class == CLASS_DATA_ABORT)
		to = hyptrace_sentence_text(to, esr & ESR_WRITE ? " write" : " read");
	*to++ = ' ';
	if (fault.name)
		to = hyptrace_sentence_text(to, fault.name);
	else
		to = hyptrace_sentence_key(to, "fault ", esr & ESR_FAULT_STATUS);
	if (fault.level != NO_LEVEL) {
		to = hyptrace_sentence_text(to, " level ");
		to = hyptrace_sentence_signed(to, fault.level);
	}
	to = hyptrace_sentence_key(to, " addr=", v[FIELD_ADDR]);
	to = hyptrace_sentence_result(s, v, v[FIELD_RET], to);
	return hyptrace_sentence_duration(to, v[FIELD_DURATION], ">");
}

const struct sentence_kind hyptrace_sentence_calls[] = {
	{
		"host_hcall",
		NEEDS(INVALID) | NEEDS(ID) | NEEDS(ARG1) | NEEDS(ARG2) | NEEDS(ARG3) |
		NEEDS(ARG4) | NEEDS(DURATION) | NEEDS(RET),
		put_host_hcall, name_of_hcall_result, returns,
	}, {
		"host_smc",
		NEEDS(FORWARDED) | NEEDS(INVALID) | NEEDS(ID) | NEEDS(ARG1) | NEEDS(ARG2) |
		NEEDS(ARG3) | NEEDS(DURATION) | NEEDS(RET),
		put_host_smc, name_of_smc_result, is_valid,
	}, {
		"psci_call",
		NEEDS(FUNC) | NEEDS(ARG) | NEEDS(DURATION) | NEEDS(RET),
		put_psci_call, name_of_psci_result, is_after_call,
	}, {
		"host_ffa_call",
		NEEDS(HANDLED) | NEEDS(ERR) | NEEDS(FUNC_ID) | NEEDS(RES_A1) | NEEDS(RES_A2) |
		NEEDS(RES_A3) | NEEDS(RES_A4),
		put_host_ffa_call, name_of_ffa_error, has_ffa_error,
	}, {
		"host_mem_abort",
		NEEDS(RET) | NEEDS(ESR) | NEEDS(ADDR) | NEEDS(DURATION),
		put_host_mem_abort, hyptrace_sentence_errno, NULL,
	},
	{ 0 }
};
