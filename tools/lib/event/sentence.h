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

#include "common/digits.h"
#include "common/place.h"
#include "internal.h"

/* Bytes of a sentence at most; names of more than SENTENCE_NAME_MAX bytes are not used */
#define SENTENCE_MAX		1024
#define SENTENCE_NAME_MAX	64

/* Results without a name are decimal from -SENTENCE_RESULT_MAX to this, else hexadecimal. */
#define SENTENCE_RESULT_MAX	4095

/* Arguments that host_hcall has */
#define SENTENCE_ARGS		4

/*
 * The fields of all known events: FIELD(id, name, is_signed). A field has the same meaning in each
 * of them.
 */
#define SENTENCE_FIELDS									\
	FIELD(A, a, false) FIELD(B, b, false)						\
	FIELD(C, c, false) FIELD(D, d, false)						\
	FIELD(ADDR, addr, false) FIELD(ARG, arg, false)					\
	FIELD(ARG1, arg1, false) FIELD(ARG2, arg2, false)				\
	FIELD(ARG3, arg3, false) FIELD(ARG4, arg4, false)				\
	FIELD(CODE, code, false) FIELD(DURATION, duration, false)			\
	FIELD(EC, ec, false) FIELD(ERR, err, true)					\
	FIELD(ESR, esr, false) FIELD(FMT_ID, fmt_id, false)				\
	FIELD(FORWARDED, forwarded, false) FIELD(FROM, from, false)			\
	FIELD(FUNC, func, false) FIELD(FUNC_ID, func_id, false)				\
	FIELD(GFN, gfn, false) FIELD(HANDLE, handle, false)				\
	FIELD(HANDLED, handled, false) FIELD(ID, id, false)				\
	FIELD(INDEX, index, false) FIELD(INVALID, invalid, false)			\
	FIELD(IPA, ipa, false) FIELD(LEFT, left, false)					\
	FIELD(NR, nr, false) FIELD(OP, op, false)					\
	FIELD(ORDER, order, false) FIELD(PC, pc, false)					\
	FIELD(PFN, pfn, false) FIELD(POOL, pool, false)					\
	FIELD(RES_A1, res_a1, false) FIELD(RES_A2, res_a2, false)			\
	FIELD(RES_A3, res_a3, false) FIELD(RES_A4, res_a4, false)			\
	FIELD(RET, ret, true) FIELD(TO, to, false)					\
	FIELD(VCPU, vcpu, true) FIELD(VMID, vmid, false)

enum sentence_field {
#define FIELD(id, name, is_signed)	FIELD_##id,
	SENTENCE_FIELDS
#undef FIELD
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

/* The name of a value; DIGITS_SLACK bytes after it are readable */
struct sentence_symbol {
	uint64_t	value;
	const char	*text;		/* NULL: there is no name */
	size_t		len;
};

/* The names of a field's values */
struct sentence_symbols {
	unsigned int		bits;	/* table has 1 << bits places */
	/* a value is at the place of its hash, or at one of the next */
	struct sentence_symbol	table[];
};

static inline const struct sentence_symbol *
sentence_find_symbol(const struct sentence_symbols *symbols, uint64_t value)
{
	size_t at = value * UINT64_C(0x9e3779b97f4a7c15) >> (64 - symbols->bits);

	while (symbols->table[at].text && symbols->table[at].value != value)
		at = (at + 1) & ((1UL << symbols->bits) - 1);
	return &symbols->table[at];
}

struct sentence_call {
	const struct hyptrace_hypercall	*call;	/* NULL: unknown */
	bool				runs_guest;
	struct sentence_arg		args[SENTENCE_ARGS];
};

/* Names of values, for all events of a remote */
struct sentence_names {
	/* the exception classes; NULL if they have no names */
	struct sentence_symbols		*classes;
	struct sentence_call		*calls;	/* the hypercalls by their ids */
	unsigned int			nr_calls;
};

struct sentence {
	const struct sentence_kind	*kind;
	const struct sentence_names	*names;
	/* the fields that it needs, by enum sentence_field; NULL for all others */
	const struct hyptrace_field	*fields[NR_FIELDS];
	/* the names of their values; NULL if they have none */
	struct sentence_symbols		*symbols[NR_FIELDS];
	unsigned int			nr_places;
	/* so many of them are those of unsigned fields, which are first */
	unsigned int			nr_unsigned;
	struct sentence_place {
		struct place		place;
		uint8_t			field;
	} places[NR_FIELDS];	/* where the fields are in the payload */
	uint32_t			size;
};

/* An event that has a sentence */
struct sentence_kind {
	const char	*event;
	uint64_t	fields;	/* the fields that it needs: a bit for each enum sentence_field */
	/* print the sentence of the values; return its end */
	char		*(*put)(const struct sentence *s, const uint64_t *values, char *to);
	/* get the name of the value of FIELD_RET or FIELD_ERR; NULL if it has none; may be NULL */
	const char	*(*result)(const struct sentence *s, const uint64_t *values);
	/* has the call a result, which is known? NULL: always */
	bool		(*has_result)(const struct sentence *s, const uint64_t *values);
};

/* sentence.c */
const struct hyptrace_field *
hyptrace_sentence_find_classes(struct hyptrace_event *const *events, unsigned int nr);
struct sentence *hyptrace_sentence_new(const struct hyptrace_event *event,
				       const struct sentence_names *names);
void hyptrace_sentence_free(struct sentence *s);
char *hyptrace_sentence_put(const struct sentence *s, const void *data, char *to);
bool hyptrace_sentence_has_value(const struct sentence *s, const struct hyptrace_field *field,
				 const void *data);
bool hyptrace_sentence_names(const struct sentence *s, const struct hyptrace_field *field);
const char *hyptrace_sentence_name(const struct sentence *s, const struct hyptrace_field *field,
				   const void *data);
bool hyptrace_sentence_returns(const struct sentence *s, uint64_t id);
const struct hyptrace_field *hyptrace_sentence_result_field(const struct sentence *s);
bool hyptrace_sentence_has_result(const struct sentence *s, const void *data);
const struct hyptrace_hypercall *hyptrace_sentence_call(const struct sentence *s,
							const void *data);
bool hyptrace_sentence_get_result(const struct sentence *s, const void *data, int64_t *result);
const char *hyptrace_sentence_error(const struct sentence *s, const void *data);

/* sentence_symbols.c: names of values */
struct sentence_symbols *hyptrace_sentence_symbols_new(const struct hyptrace_field *field);
struct sentence_symbols *hyptrace_sentence_symbols_alloc(unsigned int nr);
bool hyptrace_sentence_symbols_add(struct sentence_symbols *symbols, uint64_t value,
				   const char *name);
void hyptrace_sentence_symbols_free(struct sentence_symbols *symbols);

/* sentence_names.c: names that depend on the remote */
int hyptrace_sentence_set_calls(struct sentence_names *names,
				struct hyptrace_hypercall *const *calls, unsigned int nr);
bool hyptrace_sentence_is_plain(const char *text);
bool hyptrace_sentence_is_name(const char *text);
const struct sentence_call *hyptrace_sentence_find_call(const struct sentence_names *names,
							uint64_t id);
const char *hyptrace_sentence_class(const struct sentence_names *names, uint64_t class);

static inline char *hyptrace_sentence_text(char *to, const char *text)
{
	size_t len = strlen(text);

	memcpy(to, text, len);
	return to + len;
}

static inline char *hyptrace_sentence_hex(char *to, uint64_t value)
{
	*to++ = '0';
	*to++ = 'x';
	return hyptrace_digits_hex(to, value, 'a');
}

static inline char *hyptrace_sentence_key(char *to, const char *key, uint64_t value)
{
	return hyptrace_sentence_hex(hyptrace_sentence_text(to, key), value);
}

static inline char *hyptrace_sentence_signed(char *to, int64_t value)
{
	if (value >= 0)
		return hyptrace_digits_decimal(to, value);
	*to++ = '-';
	return hyptrace_digits_decimal(to, -(uint64_t)value);
}

/* sentence_text.c: parts of sentences */
char *hyptrace_sentence_value(char *to, const char *name, uint64_t value);
char *hyptrace_sentence_symbol(const struct sentence *s, const uint64_t *values,
			       enum sentence_field field, char *to);
const char *hyptrace_sentence_errno(const struct sentence *s, const uint64_t *values);
char *hyptrace_sentence_result(const struct sentence *s, const uint64_t *values, int64_t value,
			       char *to);
char *hyptrace_sentence_time(char *to, uint64_t nsec);

static inline char *hyptrace_sentence_duration(char *to, uint64_t nsec, const char *after)
{
	return hyptrace_sentence_text(hyptrace_sentence_time(to, nsec), after);
}

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
