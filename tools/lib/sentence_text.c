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

/**
 * hyptrace_sentence_text - print a text
 * @to:		destination
 * @text:	the text
 *
 * Return: the end of the text.
 */
char *hyptrace_sentence_text(char *to, const char *text)
{
	size_t len = strlen(text);

	memcpy(to, text, len);
	return to + len;
}

/**
 * hyptrace_sentence_hex - print a number in hexadecimal
 * @to:		destination
 * @value:	the number
 *
 * Return: the end of the text.
 */
char *hyptrace_sentence_hex(char *to, uint64_t value)
{
	*to++ = '0';
	*to++ = 'x';
	return hyptrace_digits_hex(to, value, 'a');
}

/**
 * hyptrace_sentence_signed - print a number in decimal
 * @to:		destination
 * @value:	the number
 *
 * Return: the end of the text.
 */
char *hyptrace_sentence_signed(char *to, int64_t value)
{
	if (value >= 0)
		return hyptrace_digits_decimal(to, value);
	*to++ = '-';
	return hyptrace_digits_decimal(to, -(uint64_t)value);
}

/**
 * hyptrace_sentence_key - print a key and a number in hexadecimal
 * @to:		destination
 * @key:	the key, such as " pfn="
 * @value:	the number
 *
 * Return: the end of the text.
 */
char *hyptrace_sentence_key(char *to, const char *key, uint64_t value)
{
	return hyptrace_sentence_hex(hyptrace_sentence_text(to, key), value);
}

/**
 * hyptrace_sentence_value - print the name of a value
 * @to:		destination
 * @name:	the name; NULL if it has none
 * @value:	the value, to print it instead
 *
 * Return: the end of the text.
 */
char *hyptrace_sentence_value(char *to, const char *name, uint64_t value)
{
	return name ? hyptrace_sentence_text(to, name) : hyptrace_sentence_hex(to, value);
}

/**
 * hyptrace_sentence_symbol - print the value of a field by its name
 * @s:		the sentence
 * @values:	its values
 * @field:	the field
 * @to:		destination
 *
 * Return: the end of the text.
 */
char *hyptrace_sentence_symbol(const struct sentence *s, const uint64_t *values,
			       enum sentence_field field, char *to)
{
	return hyptrace_sentence_value(to, hyptrace_symbol_name(s->fields[field], values[field]),
				       values[field]);
}

/**
 * hyptrace_sentence_errno - get the name of an errno, for struct sentence_kind
 * @s:		the sentence
 * @values:	its values
 *
 * Return: the name, or NULL.
 */
const char *hyptrace_sentence_errno(const struct sentence *s, const uint64_t *values)
{
	(void)s;
	return hyptrace_errno_name(values[FIELD_RET]);
}

/**
 * hyptrace_sentence_result - print what a call has returned
 * @s:		the sentence
 * @values:	its values
 * @value:	the result, to print it if it has no name
 * @to:		destination
 *
 * Return: the end of the text.
 */
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

/**
 * hyptrace_sentence_duration - print a duration as "<1.204 us>"
 * @to:		destination
 * @nsec:	the duration; its last digits are cut off, so that no value is rounded up to
 *		the next unit
 * @after:	text after it, such as ">"
 *
 * Return: the end of the text.
 */
char *hyptrace_sentence_duration(char *to, uint64_t nsec, const char *after)
{
	static const struct {
		uint64_t	nsec;
		const char	*name;
	} units[] = {
		{ NSEC_PER_SEC, " s" }, { NSEC_PER_MSEC, " ms" }, { NSEC_PER_USEC, " us" },
		{ 1, " ns" },
	};
	uint32_t part, i = 0;

	while (nsec < units[i].nsec && units[i].nsec > 1)
		i++;
	to = hyptrace_sentence_text(to, " <");
	to = hyptrace_digits_decimal(to, nsec / units[i].nsec);
	if (units[i].nsec > 1) {
		part = nsec % units[i].nsec / (units[i].nsec / 1000);
		*to++ = '.';
		*to++ = '0' + part / 100;
		to = hyptrace_digits_pair(to, part % 100);
	}
	return hyptrace_sentence_text(hyptrace_sentence_text(to, units[i].name), after);
}
