/* SPDX-License-Identifier: GPL-2.0-only */
/* What an event means, its names, and its sentence, printed in place of its print format. */
#ifndef HYPTRACE_MEANING_H
#define HYPTRACE_MEANING_H

#include "common/digits.h"
#include "common/place.h"
#include "hyptrace_model.h"
#include "internal.h"

/* Bytes of a sentence at most; names of more than SENTENCE_NAME_MAX bytes are not used */
#define SENTENCE_MAX		1024
#define SENTENCE_NAME_MAX	64

/* Arguments that host_hcall has */
#define SENTENCE_ARGS		4

/* Exit code of KVM: the guest was trapped */
#define EXIT_TRAP	2

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
	struct sentence_symbols		*classes;	/* exception classes; NULL without names */
	const struct hyptrace_field	*class_field;	/* names them */
	struct sentence_call		*calls;	/* the hypercalls by their ids */
	unsigned int			nr_calls;
};

struct meaning {
	struct hyptrace_meaning		public;		/* the first member */
	const struct sentence_names	*values;
	const struct sentence_kind	*sentence;	/* NULL if the event has none */
	struct sentence_symbols		*names;		/* names of the event by its key; or NULL */
	struct sentence_symbols		*symbols[HYPTRACE_NR_ROLES];	/* of the sentence */
	unsigned int			nr_places;
	unsigned int			nr_unsigned;	/* places of unsigned fields: the first */
	struct sentence_place {
		struct place		place;
		uint8_t			role;
	} places[HYPTRACE_NR_ROLES];	/* where its fields are in the payload */
};

/* The sentence of a kind of events; @v are the values of the roles that it needs */
struct sentence_kind {
	uint64_t	needs;	/* a bit for each role */
	/* print the sentence of the values; return its end */
	char		*(*put)(const struct meaning *s, const uint64_t *v, char *to);
	/* get the name of the result; NULL if it has none; may be NULL */
	const char	*(*result)(const struct meaning *s, const uint64_t *v);
	/* has the call a result, which is known? NULL: always */
	bool		(*has_result)(const struct meaning *s, const uint64_t *v);
};

/* Bit of a role; and its value, in functions of struct sentence_kind */
#define NEEDS(role)	(UINT64_C(1) << HYPTRACE_ROLE_##role)
#define NEEDS_VM	(NEEDS(VCPU) | NEEDS(VM) | NEEDS(INDEX))
#define V(role)		(v[HYPTRACE_ROLE_##role])

/* model.c */
bool hyptrace_names_set_classes(struct sentence_names *names, struct hyptrace_event *const *events,
				unsigned int nr);
struct meaning *hyptrace_meaning_new(const struct hyptrace_event *event,
				     const struct sentence_names *values, bool has_sentence);
void hyptrace_meaning_free(struct meaning *meaning);

/* model_names.c; false if there is no memory: the caller then frees the names */
bool hyptrace_meaning_make_names(struct meaning *meaning);
bool hyptrace_meaning_returns(const struct meaning *meaning, uint64_t id);

/* sentence.c and sentence_printk.c */
extern const struct sentence_kind hyptrace_sentences[HYPTRACE_NR_KINDS];
char *hyptrace_put_printk(const struct meaning *s, const uint64_t *v, char *to);

/* What a fault status code of ESR_EL2 says */
struct fault_status {
	const char	*name;	/* what has failed; NULL if the architecture does not define it */
	int8_t		level;	/* level of the page table, or NO_LEVEL */
};

#define NO_LEVEL	INT8_MIN

/* Each has its own error codes. */
enum firmware { FIRMWARE_PSCI, FIRMWARE_FFA, FIRMWARE_SMCCC };

/* names.c; NULL if there is no name */
const char *hyptrace_errno_name(int64_t value);	/* begins with a minus, as in "-EPERM" */
const char *hyptrace_firmware_error_name(enum firmware firmware, int64_t value);
struct fault_status hyptrace_fault_status(unsigned int code);
struct sentence_symbols *hyptrace_symbols_new(const struct hyptrace_field *field);
struct sentence_symbols *hyptrace_symbols_alloc(unsigned int nr);
bool hyptrace_symbols_add(struct sentence_symbols *symbols, uint64_t value, const char *name);
void hyptrace_symbols_free(struct sentence_symbols *symbols);
int hyptrace_names_set_calls(struct sentence_names *names,
			     struct hyptrace_hypercall *const *calls, unsigned int nr);
bool hyptrace_is_plain(const char *text, size_t len);
bool hyptrace_is_name(const char *text);
const struct sentence_call *hyptrace_find_call(const struct sentence_names *names, uint64_t id);
const char *hyptrace_class_name(const struct sentence_names *names, uint64_t class);

/* Get the values that the sentence needs, by their roles. */
static inline void hyptrace_meaning_values(const struct meaning *own, const void *data,
					   uint64_t *values)
{
	const struct sentence_place *place = own->places, *end = place + own->nr_unsigned;
	uint64_t small = 0;

	/* eight bytes are read for each field */
	if (own->public.size < sizeof(small))
		data = memcpy(&small, data, own->public.size);
	for (; place < end; place++)
		values[place->role] = hyptrace_place_unsigned(&place->place, data);
	for (end = own->places + own->nr_places; place < end; place++)
		values[place->role] = hyptrace_place_signed(&place->place, data);
}

static inline char *put_text(char *to, const char *text)
{
	size_t len = strlen(text);

	memcpy(to, text, len);
	return to + len;
}

static inline char *put_hex(char *to, uint64_t value)
{
	*to++ = '0';
	*to++ = 'x';
	return hyptrace_digits_hex(to, value);
}

static inline char *put_key(char *to, const char *key, uint64_t value)
{
	return put_hex(put_text(to, key), value);
}

/* The exception class in ESR_EL2 */
static inline uint64_t esr_class(uint64_t esr)
{
	return esr >> 26 & 0x3f;
}

#endif /* HYPTRACE_MEANING_H */
