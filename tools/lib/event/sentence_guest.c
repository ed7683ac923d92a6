// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sentences of guests, of memory, and of what EL2 does for both. For sentence.c.
 */
#include "sentence.h"

/* Operation of tlbi on the entries of all VMIDs */
#define TLBI_VM_CONTEXT	5

/* "vcpu=141" */
static char *put_vcpu(const uint64_t *v, char *to)
{
	return hyptrace_sentence_signed(hyptrace_sentence_text(to, "vcpu="), v[FIELD_VCPU]);
}

/* "vcpu=141 vm=0x1000.0" */
static char *put_vm(const uint64_t *v, char *to)
{
	to = hyptrace_sentence_key(put_vcpu(v, to), " vm=", v[FIELD_HANDLE]);
	*to++ = '.';
	return hyptrace_digits_decimal(to, v[FIELD_INDEX]);
}

static char *put_guest_enter(const struct sentence *s, const uint64_t *v, char *to)
{
	(void)s;
	return put_vm(v, to);
}

static bool is_abort(uint64_t esr)
{
	uint64_t class = sentence_esr_class(esr);

	return class == CLASS_INSTRUCTION_ABORT || class == CLASS_DATA_ABORT;
}

static char *put_guest_exit(const struct sentence *s, const uint64_t *v, char *to)
{
	uint64_t esr = v[FIELD_ESR];

	to = put_vm(v, to);
	*to++ = ' ';
	to = hyptrace_sentence_symbol(s, v, FIELD_CODE, to);
	if (v[FIELD_CODE] == EXIT_TRAP) {
		*to++ = ' ';
		to = hyptrace_sentence_symbol(s, v, FIELD_EC, to);
	}
	/* esr is 0 after an interrupt, and both are 0 if the guest is protected */
	if (is_abort(esr))
		to = hyptrace_sentence_key(to, " ipa=", v[FIELD_IPA]);
	else if (esr)
		to = hyptrace_sentence_key(to, " esr=", esr);
	if (esr || v[FIELD_PC])
		to = hyptrace_sentence_key(to, " pc=", v[FIELD_PC]);
	return hyptrace_sentence_duration(to, v[FIELD_DURATION], " since entry>");
}

static char *put_guest_fixup(const struct sentence *s, const uint64_t *v, char *to)
{
	to = put_vcpu(v, to);
	*to++ = ' ';
	to = hyptrace_sentence_symbol(s, v, FIELD_EC, to);
	to = hyptrace_sentence_text(to, v[FIELD_HANDLED] ? " handled" : " passed on");
	return hyptrace_sentence_duration(to, v[FIELD_DURATION], ">");
}

static char *put_illegal_trap(const struct sentence *s, const uint64_t *v, char *to)
{
	uint64_t esr = v[FIELD_ESR], class = sentence_esr_class(esr);

	to = put_vcpu(v, to);
	*to++ = ' ';
	to = hyptrace_sentence_value(to, hyptrace_sentence_class(s->names, class), class);
	return hyptrace_sentence_key(to, " esr=", esr);
}

/* " +512" */
static char *put_nr(const uint64_t *v, char *to)
{
	return hyptrace_digits_decimal(hyptrace_sentence_text(to, " +"), v[FIELD_NR]);
}

static char *put_mem_transition(const struct sentence *s, const uint64_t *v, char *to)
{
	/* the handles of VMs are not 0 */
	const bool has_vm = v[FIELD_HANDLE];
	/* before EL2 has translated a page of a guest, the pfn is 0 */
	const bool has_pfn = v[FIELD_PFN] || !v[FIELD_RET] || !has_vm;

	to = hyptrace_sentence_symbol(s, v, FIELD_OP, to);
	*to++ = ' ';
	to = hyptrace_sentence_symbol(s, v, FIELD_FROM, to);
	to = hyptrace_sentence_text(to, " -> ");
	to = hyptrace_sentence_symbol(s, v, FIELD_TO, to);
	if (has_pfn) {
		to = hyptrace_sentence_key(to, " pfn=", v[FIELD_PFN]);
		to = put_nr(v, to);
	}
	if (has_vm) {
		to = hyptrace_sentence_key(to, " vm=", v[FIELD_HANDLE]);
		to = hyptrace_sentence_key(to, " gfn=", v[FIELD_GFN]);
	}
	if (!has_pfn)
		to = put_nr(v, to);
	return hyptrace_sentence_result(s, v, v[FIELD_RET], to);
}

static char *put_tlbi(const struct sentence *s, const uint64_t *v, char *to)
{
	to = hyptrace_sentence_symbol(s, v, FIELD_OP, to);
	if (v[FIELD_OP] == TLBI_VM_CONTEXT)
		return to;
	to = hyptrace_sentence_text(to, " vmid=");
	to = hyptrace_digits_decimal(to, v[FIELD_VMID]);
	/* the operation is for all addresses */
	if (!v[FIELD_NR])
		return to;
	return put_nr(v, hyptrace_sentence_key(to, " ipa=", v[FIELD_IPA]));
}

static char *put_hyp_pool(const struct sentence *s, const uint64_t *v, char *to)
{
	to = hyptrace_sentence_symbol(s, v, FIELD_OP, to);
	to = hyptrace_sentence_text(to, " order=");
	to = hyptrace_digits_decimal(to, v[FIELD_ORDER]);
	to = hyptrace_sentence_text(to, " left=");
	to = hyptrace_digits_decimal(to, v[FIELD_LEFT]);
	return hyptrace_sentence_key(to, " pool=", v[FIELD_POOL]);
}

#define NEEDS_VM	(NEEDS(VCPU) | NEEDS(HANDLE) | NEEDS(INDEX))

const struct sentence_kind hyptrace_sentence_guests[] = {
	{ "guest_enter", NEEDS_VM, put_guest_enter, NULL, NULL },
	{
		"guest_exit",
		NEEDS_VM | NEEDS(CODE) | NEEDS(EC) | NEEDS(DURATION) | NEEDS(ESR) | NEEDS(PC) |
		NEEDS(IPA),
		put_guest_exit, NULL, NULL,
	},
	{
		"guest_fixup", NEEDS(HANDLED) | NEEDS(EC) | NEEDS(VCPU) | NEEDS(DURATION),
		put_guest_fixup, NULL, NULL,
	},
	{ "vcpu_load", NEEDS_VM, put_guest_enter, NULL, NULL },
	{ "vcpu_put", NEEDS_VM, put_guest_enter, NULL, NULL },
	{ "vcpu_illegal_trap", NEEDS(VCPU) | NEEDS(ESR), put_illegal_trap, NULL, NULL },
	{
		"mem_transition",
		NEEDS(OP) | NEEDS(FROM) | NEEDS(TO) | NEEDS(HANDLE) | NEEDS(RET) | NEEDS(PFN) |
		NEEDS(NR) | NEEDS(GFN),
		put_mem_transition, hyptrace_sentence_errno, NULL,
	},
	{ "tlbi", NEEDS(OP) | NEEDS(VMID) | NEEDS(IPA) | NEEDS(NR), put_tlbi, NULL, NULL },
	{
		"hyp_pool", NEEDS(OP) | NEEDS(ORDER) | NEEDS(LEFT) | NEEDS(POOL),
		put_hyp_pool, NULL, NULL,
	},
	{ 0 }
};
