/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events that are printed as sentences instead of in their print formats. For format.c.
 *
 * An event has a sentence if its name is known and if it has all fields that the sentence
 * needs: hyptrace_sentence_new() looks that up once.
 */
#ifndef HYPTRACE_SENTENCE_H
#define HYPTRACE_SENTENCE_H

#include <assert.h>

#include "digits.h"
#include "internal.h"

/* Bytes of a sentence at most; names of more than SENTENCE_NAME_MAX bytes are not used */
#define SENTENCE_MAX		1024
#define SENTENCE_NAME_MAX	64

/* Results without a name are decimal from -SENTENCE_RESULT_MAX to this, else hexadecimal. */
#define SENTENCE_RESULT_MAX	4095

/* Arguments that host_hcall has */
#define SENTENCE_ARGS		4

/* The fields of all known events; a field has the same meaning in each of them */
enum sentence_field {
	FIELD_A,
	FIELD_B,
	FIELD_C,
	FIELD_D,
	FIELD_ADDR,
	FIELD_ARG,
	FIELD_ARG1,
	FIELD_ARG2,
	FIELD_ARG3,
	FIELD_ARG4,
	FIELD_CODE,
	FIELD_DURATION,
	FIELD_EC,
	FIELD_ERR,
	FIELD_ESR,
	FIELD_FMT_ID,
	FIELD_FORWARDED,
	FIELD_FROM,
	FIELD_FUNC,
	FIELD_FUNC_ID,
	FIELD_GFN,
	FIELD_HANDLE,
	FIELD_HANDLED,
	FIELD_ID,
	FIELD_INDEX,
	FIELD_INVALID,
	FIELD_IPA,
	FIELD_LEFT,
	FIELD_NR,
	FIELD_OP,
	FIELD_ORDER,
	FIELD_PC,
	FIELD_PFN,
	FIELD_POOL,
	FIELD_RES_A1,
	FIELD_RES_A2,
	FIELD_RES_A3,
	FIELD_RES_A4,
	FIELD_RET,
	FIELD_TO,
	FIELD_VCPU,
	FIELD_VMID,
	NR_FIELDS
};

static_assert(NR_FIELDS <= 64, "struct sentence_kind has a bit for each field");
static_assert(FIELD_D - FIELD_A == 3 && FIELD_ARG4 - FIELD_ARG1 == 3 &&
	      FIELD_RES_A4 - FIELD_RES_A1 == 3, "functions take these fields as arrays");

/* How to print an argument of a hypercall */
struct sentence_arg {
	uint8_t		bits;		/* only these low bits have a meaning */
	bool		is_signed;
	bool		is_count;	/* print it in decimal */
};

struct sentence_call {
	const struct hyptrace_hypercall	*call;	/* NULL: unknown */
	struct sentence_arg		args[SENTENCE_ARGS];
};

/**
 * struct sentence_names - names of values, for all events of a remote
 * @classes:	the field whose symbols are the exception classes; NULL if there is none
 * @calls:	the hypercalls by their ids
 * @nr_calls:	number of @calls
 */
struct sentence_names {
	const struct hyptrace_field	*classes;
	struct sentence_call		*calls;
	unsigned int			nr_calls;
};

/**
 * struct sentence - the sentence of an event
 * @kind:	what differs between the events
 * @names:	names of values
 * @fields:	the fields that it needs, by enum sentence_field; NULL for all others
 */
struct sentence {
	const struct sentence_kind	*kind;
	const struct sentence_names	*names;
	const struct hyptrace_field	*fields[NR_FIELDS];
};

/**
 * struct sentence_kind - an event that has a sentence
 * @event:	its name
 * @fields:	the fields that it needs: a bit for each enum sentence_field
 * @put:	print the sentence of the values; return its end
 * @result:	get the name of the value of FIELD_RET or FIELD_ERR; NULL if it has none;
 *		may be NULL
 */
struct sentence_kind {
	const char	*event;
	uint64_t	fields;
	char		*(*put)(const struct sentence *s, const uint64_t *values, char *to);
	const char	*(*result)(const struct sentence *s, const uint64_t *values);
};

/* sentence.c */
const struct hyptrace_field *
hyptrace_sentence_find_classes(struct hyptrace_event *const *events, unsigned int nr);
struct sentence *hyptrace_sentence_new(const struct hyptrace_event *event,
				       const struct sentence_names *names);
char *hyptrace_sentence_put(const struct sentence *s, const void *data, char *to);
bool hyptrace_sentence_has_value(const struct sentence *s, const struct hyptrace_field *field,
				 const void *data);
const char *hyptrace_sentence_name(const struct sentence *s, const struct hyptrace_field *field,
				   const void *data);
const struct hyptrace_hypercall *hyptrace_sentence_call(const struct sentence *s,
							const void *data);

/* sentence_names.c: names that depend on the remote */
int hyptrace_sentence_set_calls(struct sentence_names *names,
				struct hyptrace_hypercall *const *calls, unsigned int nr);
bool hyptrace_sentence_is_plain(const char *text);
bool hyptrace_sentence_is_name(const char *text);
const struct sentence_call *hyptrace_sentence_find_call(const struct sentence_names *names,
							uint64_t id);
const char *hyptrace_sentence_class(const struct sentence_names *names, uint64_t class);

/* sentence_text.c: parts of sentences */
char *hyptrace_sentence_text(char *to, const char *text);
char *hyptrace_sentence_hex(char *to, uint64_t value);
char *hyptrace_sentence_signed(char *to, int64_t value);
char *hyptrace_sentence_key(char *to, const char *key, uint64_t value);
char *hyptrace_sentence_value(char *to, const char *name, uint64_t value);
char *hyptrace_sentence_symbol(const struct sentence *s, const uint64_t *values,
			       enum sentence_field field, char *to);
const char *hyptrace_sentence_errno(const struct sentence *s, const uint64_t *values);
char *hyptrace_sentence_result(const struct sentence *s, const uint64_t *values, int64_t value,
			       char *to);
char *hyptrace_sentence_duration(char *to, uint64_t nsec, const char *after);

/* sentence_calls.c: calls of the host; sentence_guest.c: guests, memory; sentence_printk.c */
extern const struct sentence_kind hyptrace_sentence_calls[], hyptrace_sentence_guests[];
extern const struct sentence_kind hyptrace_sentence_printk;

/* Exit code of KVM: the guest was trapped */
#define EXIT_TRAP	2

/* The exception class in ESR_EL2, and those of the aborts of a lower exception level */
#define CLASS_INSTRUCTION_ABORT	0x20
#define CLASS_DATA_ABORT	0x24

static inline uint64_t sentence_esr_class(uint64_t esr)
{
	return esr >> 26 & 0x3f;
}

/* Bit of a field in struct sentence_kind */
#define NEEDS(field)	(UINT64_C(1) << FIELD_##field)

#endif /* HYPTRACE_SENTENCE_H */
