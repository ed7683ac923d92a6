// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parts of sentences: names, numbers, results, durations. For sentence_calls.c and
 * sentence_guest.c.
 */
#include "names.h"
#include "sentence.h"

#define NSEC_PER_USEC	1000
#define NSEC_PER_MSEC	1000000
#define NSEC_PER_SEC	1000000000

char *hyptrace_sentence_value(char *to, const char *name, uint64_t value)
{
	return name ? hyptrace_sentence_text(to, name) : hyptrace_sentence_hex(to, value);
}

char *hyptrace_sentence_symbol(const struct sentence *s, const uint64_t *values,
			       enum sentence_field field, char *to)
{
	const struct sentence_symbol *symbol;

	symbol = s->symbols[field] ? sentence_find_symbol(s->symbols[field], values[field]) : NULL;
	if (symbol && symbol->text)
		return hyptrace_digits_text(to, symbol->text, symbol->len);
	return hyptrace_sentence_hex(to, values[field]);
}

/* Get the name of an errno, for struct sentence_kind. Return the name, or NULL. */
const char *hyptrace_sentence_errno(const struct sentence *s, const uint64_t *values)
{
	(void)s;
	return hyptrace_errno_name(values[FIELD_RET]);
}

char *hyptrace_sentence_result(const struct sentence *s, const uint64_t *values, int64_t value,
			       char *to)
{
	const char *name = s->kind->result(s, values);

	to = hyptrace_sentence_text(to, " = ");
	if (name)
		return hyptrace_sentence_text(to, name);
	if (value < -SENTENCE_RESULT_MAX || value > SENTENCE_RESULT_MAX)
		return hyptrace_sentence_hex(to, value);
	return hyptrace_sentence_signed(to, value);
}

/* "1.204" */
static inline char *put_parts(char *to, uint64_t whole, uint32_t part)
{
	to = hyptrace_digits_decimal(to, whole);
	*to++ = '.';
	*to++ = '0' + part / 100;
	return hyptrace_digits_pair(to, part % 100);
}

/* Print a time as " <1.204 us", for hyptrace_sentence_duration(). */
char *hyptrace_sentence_time(char *to, uint64_t nsec)
{
	to = hyptrace_sentence_text(to, " <");
	if (nsec < NSEC_PER_USEC) {
		to = hyptrace_digits_decimal(to, nsec);
		return hyptrace_sentence_text(to, " ns");
	}
	if (nsec < NSEC_PER_MSEC) {
		to = put_parts(to, nsec / NSEC_PER_USEC, nsec % NSEC_PER_USEC);
		return hyptrace_sentence_text(to, " us");
	}
	if (nsec < NSEC_PER_SEC) {
		to = put_parts(to, nsec / NSEC_PER_MSEC,
			       nsec % NSEC_PER_MSEC / (NSEC_PER_MSEC / 1000));
		return hyptrace_sentence_text(to, " ms");
	}
	to = put_parts(to, nsec / NSEC_PER_SEC, nsec % NSEC_PER_SEC / (NSEC_PER_SEC / 1000));
	return hyptrace_sentence_text(to, " s");
}
