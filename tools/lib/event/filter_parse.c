// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse the text of a filter, and resolve its comparisons for an event:
 *
 *	any		= all { "||" all }
 *	all		= one { "&&" one }
 *	one		= "(" any ")" | comparison
 *	comparison	= field operator value
 *
 * Each comparison gets the next number, and continues with another one when it is true and when
 * it is false. As long as what follows is not known, it accepts or rejects the event. "&&"
 * lets what its left side accepts continue with its right side, "||" what its left side rejects.
 */
#include <stdarg.h>

#include "filter.h"
#include "meaning.h"

/* Parentheses inside parentheses, at most */
#define DEPTH_MAX	16

/* Numbers of errnos are at most this. */
#define ERRNO_MAX	4095

/* The field whose values are times in nanoseconds */
#define DURATION	"duration"

#define BLANKS		" \t\n"

struct parser {
	struct filter_program	*program;
	const char		*text;
	const char		*pos;
	struct filter_span	last;		/* what was parsed last, to name it in a message */
	unsigned int		depth;
	size_t			*at;
	struct hyptrace_error	*err;
};

/* Store an error at a place in the text. Return -EINVAL. */
static __attribute__((format(printf, 3, 4))) int fail(const struct parser *p, const char *where,
						      const char *fmt, ...)
{
	char why[HYPTRACE_ERROR_TEXT];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	*p->at = where - p->text;
	return hyptrace_error_set(p->err, EINVAL, "%s", why);
}

/* The same; @fmt quotes a part of the text. */
static __attribute__((format(printf, 3, 0))) int
fail_quoting(const struct parser *p, const char *where, const char *fmt, struct filter_span span)
{
	return fail(p, where, fmt, filter_quoted(&span), span.text);
}

static bool begins_name(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

static struct filter_span name_at(const char *text)
{
	struct filter_span name = { text, 0 };

	while (hyptrace_is_word(text[name.len]))
		name.len++;
	return name;
}

/* Return what a message quotes of the text from @text on. */
static struct filter_span word_at(const char *text)
{
	struct filter_span word = name_at(text);

	if (!word.len)
		word.len = text[0] && (text[1] == text[0] || text[1] == '=') ? 2 : 1;
	return word;
}

static void skip_blanks(struct parser *p)
{
	p->pos += strspn(p->pos, BLANKS);
}

/* Accept a text after blanks, and remember it. */
static bool accept(struct parser *p, const char *text)
{
	size_t len = strlen(text);

	skip_blanks(p);
	if (strncmp(p->pos, text, len))
		return false;
	p->last = (struct filter_span){ p->pos, len };
	p->pos += len;
	return true;
}

static int parse_operator(struct parser *p, struct filter_comparison *c)
{
	/* those of two characters first */
	static const struct {
		const char	*text;
		uint32_t	op;
	} operators[] = {
		{ "==", HYPTRACE_FILTER_OP_EQ },
		{ "!=", HYPTRACE_FILTER_OP_NE },
		{ "<=", HYPTRACE_FILTER_OP_LE },
		{ ">=", HYPTRACE_FILTER_OP_GE },
		{ "<", HYPTRACE_FILTER_OP_LT },
		{ ">", HYPTRACE_FILTER_OP_GT },
		{ "&", HYPTRACE_FILTER_OP_AND },
	};
	unsigned int i;

	skip_blanks(p);
	for (i = 0; i < COUNT(operators); i++) {
		if (!strncmp(p->pos, "&&", 2) || !accept(p, operators[i].text))
			continue;
		c->op = operators[i].op;
		return 0;
	}
	if (*p->pos == '=')
		return fail(p, p->pos, "\"=\" is no operator: use \"==\"");
	return fail_quoting(p, p->pos,
			    "an operator is missing after \"%.*s\": use ==, !=, <, <=, >, >= or &",
			    c->field);
}

/* Return the nanoseconds of a unit of time; 0 if it is none. */
static uint64_t unit_nsec(const struct filter_span *unit)
{
	static const struct {
		const char	*name;
		uint64_t	nsec;
	} units[] = {
		{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 },
	};
	unsigned int i;

	for (i = 0; i < COUNT(units); i++)
		if (hyptrace_filter_is(unit, units[i].name))
			return units[i].nsec;
	return 0;
}

/* Parse the unit of time after a number with @decimals. A blank may be before it, as in output. */
static int parse_unit(struct parser *p, struct filter_comparison *c,
		      const struct filter_span *decimals)
{
	const char *at = p->pos + (hyptrace_is_word(*p->pos) ? 0 : strspn(p->pos, BLANKS));
	struct filter_span unit = name_at(at);
	uint64_t nsec = unit_nsec(&unit), part = nsec, fraction = 0;
	size_t i;

	if (!nsec && hyptrace_is_word(*p->pos))
		return fail_quoting(p, at, "unknown unit \"%.*s\": use ns, us, ms or s", unit);
	if (!nsec && decimals->text)
		return fail(p, decimals->text, "only a time with a unit can have a fraction");
	if (!nsec)
		return 0;
	for (i = 0; i < decimals->len; i++) {
		part /= 10;
		if (!part && decimals->text[i + 1] != '0')
			return fail(p, decimals->text, "a time consists of whole nanoseconds");
		fraction += part * (decimals->text[i + 1] - '0');
	}
	if (c->number > (UINT64_MAX - fraction) / nsec)
		return fail(p, c->value.text, "the time in nanoseconds exceeds 64 bits");
	c->number = c->number * nsec + fraction;
	c->has_unit = true;
	p->pos = at + unit.len;
	return 0;
}

static int parse_number(struct parser *p, struct filter_comparison *c)
{
	struct filter_span decimals = {};
	bool hex = p->pos[0] == '0' && (p->pos[1] == 'x' || p->pos[1] == 'X');
	char *end;

	if (hex && !isxdigit((unsigned char)p->pos[2]))
		return fail(p, p->pos + 2, "a hexadecimal digit is missing after \"%.2s\"",
			    p->pos);
	errno = 0;
	c->number = strtoull(p->pos, &end, hex ? 16 : 10);
	if (errno)
		return fail(p, c->value.text, "the number exceeds 64 bits");
	p->pos = end;
	if (*p->pos == '.' && !hex && isdigit((unsigned char)p->pos[1])) {
		decimals = (struct filter_span){ p->pos, strspn(p->pos + 1, "0123456789") };
		p->pos += 1 + decimals.len;
	}
	return parse_unit(p, c, &decimals);
}

static int parse_value(struct parser *p, struct filter_comparison *c)
{
	int ret = 0;

	skip_blanks(p);
	c->value.text = p->pos;
	c->negative = *p->pos == '-';
	p->pos += c->negative;
	if (isdigit((unsigned char)*p->pos)) {
		ret = parse_number(p, c);
	} else if (begins_name(*p->pos)) {
		c->name = name_at(p->pos);
		p->pos += c->name.len;
	} else if (c->negative) {
		ret = fail(p, p->pos,
			   "a number or the name of an errno is missing after \"-\"");
	} else if (*p->pos == '"' || *p->pos == '\'') {
		ret = fail(p, p->pos, "a value has no quotes");
	} else if (*p->pos) {
		ret = fail_quoting(p, p->pos, "a value is missing before \"%.*s\"",
				   word_at(p->pos));
	} else {
		ret = fail_quoting(p, p->pos, "a value is missing after \"%.*s\"", p->last);
	}
	c->value.len = p->pos - c->value.text;
	return ret;
}

/* There is no comparison where one must be. */
static int fail_comparison(struct parser *p)
{
	if (!*p->pos && !p->last.len)
		return fail(p, p->pos, "the filter is empty");
	if (!*p->pos)
		return fail_quoting(p, p->pos, "a comparison is missing after \"%.*s\"", p->last);
	if (*p->pos == '!')
		return fail(p, p->pos, "\"!\" is no operator: use the opposite comparison");
	if (*p->pos == ')' || *p->pos == '&' || *p->pos == '|')
		return fail_quoting(p, p->pos, "a comparison is missing before \"%.*s\"",
				    word_at(p->pos));
	return fail_quoting(p, p->pos, "a comparison begins with a field, not with \"%.*s\"",
			    word_at(p->pos));
}

static int parse_comparison(struct parser *p)
{
	struct filter_program *program = p->program;
	struct filter_comparison *c;
	int ret;

	if (!begins_name(*p->pos))
		return fail_comparison(p);
	if (program->nr == HYPTRACE_FILTER_TERMS_MAX)
		return fail(p, p->pos, "a filter has at most %d comparisons",
			    HYPTRACE_FILTER_TERMS_MAX);
	c = &program->comparisons[program->nr++];
	*c = (struct filter_comparison){
		.field = name_at(p->pos),
		.on_true = HYPTRACE_FILTER_ACCEPT,
		.on_false = HYPTRACE_FILTER_REJECT,
	};
	p->pos += c->field.len;
	ret = parse_operator(p, c);
	return ret ? ret : parse_value(p, c);
}

static int parse_any(struct parser *p);

static int parse_one(struct parser *p)
{
	const char *open;
	int ret;

	if (!accept(p, "("))
		return parse_comparison(p);
	open = p->last.text;
	if (p->depth == DEPTH_MAX)
		return fail(p, open, "parentheses are nested more than %d deep", DEPTH_MAX);
	p->depth++;
	ret = parse_any(p);
	p->depth--;
	if (ret)
		return ret;
	if (accept(p, ")"))
		return 0;
	if (!*p->pos)
		return fail(p, open, "\")\" is missing for this \"(\"");
	return fail_quoting(p, p->pos, "\"&&\", \"||\" or \")\" is missing before \"%.*s\"",
			    word_at(p->pos));
}

/*
 * Parse what an operator joins: in the comparisons of the operands so far, replace the end @end by
 * the next comparison.
 */
static int parse_joined(struct parser *p, int (*parse)(struct parser *p), const char *operator,
			uint32_t end)
{
	struct filter_program *program = p->program;
	unsigned int first = program->nr, i;
	int ret = parse(p);

	while (!ret && accept(p, operator)) {
		for (i = first; i < program->nr; i++) {
			struct filter_comparison *c = &program->comparisons[i];

			if (c->on_true == end)
				c->on_true = program->nr;
			if (c->on_false == end)
				c->on_false = program->nr;
		}
		ret = parse(p);
	}
	return ret;
}

static int parse_all(struct parser *p)
{
	return parse_joined(p, parse_one, "&&", HYPTRACE_FILTER_ACCEPT);
}

static int parse_any(struct parser *p)
{
	return parse_joined(p, parse_all, "||", HYPTRACE_FILTER_REJECT);
}

/* Parse a filter into a program, which must be empty. */
int hyptrace_filter_compile(struct filter_program *program, const char *text, size_t *at,
			    struct hyptrace_error *err)
{
	struct parser p = {
		.program = program,
		.text = text,
		.pos = text,
		.at = at,
		.err = err,
	};
	int ret;

	ret = parse_any(&p);
	if (ret || !*p.pos)
		return ret;
	if (*p.pos == ')')
		return fail(&p, p.pos, "\"(\" is missing for this \")\"");
	if (*p.pos == '|')
		return fail(&p, p.pos, "\"|\" is no operator: use \"||\"");
	if (strchr("=!<>", *p.pos))
		return fail(&p, p.pos, "a comparison has one operator: leave this out");
	return fail_quoting(&p, p.pos, "\"&&\" or \"||\" is missing before \"%.*s\"",
			    word_at(p.pos));
}

/* Resolve a comparison: find the field of an event, and the value by its name. */

/* Append a suggestion to an error, if there is one. */
static enum filter_fault suggest(struct hyptrace_error *err, const char *near)
{
	const size_t len = strlen(err->text);

	if (!near)
		return FILTER_FAULT_VALUE;
	snprintf(err->text + len, sizeof(err->text) - len, "; did you mean \"%s\"?", near);
	return FILTER_FAULT_NEAR;
}

const struct hyptrace_field *hyptrace_filter_field(const struct hyptrace_event *event,
						   const struct filter_span *name)
{
	unsigned int i;

	for (i = 0; i < event->nr_fields; i++)
		if (hyptrace_filter_is(name, event->fields[i]->name))
			return event->fields[i];
	return NULL;
}

static uint64_t all_bits(const struct hyptrace_field *field)
{
	return UINT64_MAX >> (64 - CHAR_BIT * field->size);
}

static enum filter_fault fail_range(const struct filter_comparison *c,
				    const struct hyptrace_field *field, struct hyptrace_error *err)
{
	const uint64_t max = all_bits(field) >> field->is_signed;
	const int64_t min = field->is_signed ? ~(int64_t)max : 0;

	if (c->op == HYPTRACE_FILTER_OP_AND)
		hyptrace_error_set(err, EINVAL, "a mask of \"%s\" has at most %u bits", field->name,
				   CHAR_BIT * field->size);
	else
		hyptrace_error_set(err, EINVAL,
				   "the values of \"%s\" are from %" PRId64 " to %" PRIu64,
				   field->name, min, max);
	return FILTER_FAULT_RANGE;
}

/* Is a number less than all values of the field, or greater than all? A mask has any bits. */
static bool is_out_of_range(const struct filter_comparison *c, const struct hyptrace_field *field,
			    uint64_t number)
{
	if (c->negative && number)
		return !field->is_signed || number - 1 > all_bits(field) >> 1;
	return number > all_bits(field) >> (field->is_signed && c->op != HYPTRACE_FILTER_OP_AND);
}

/*
 * Replace a comparison with a number that 64 bits with the field's sign cannot hold. It is always
 * true or always false, and so is a comparison with the least of all numbers.
 */
static void make_constant(struct filter_value *to, bool is_signed, bool is_less)
{
	bool is_true = to->op == HYPTRACE_FILTER_OP_NE;

	if (is_less)
		is_true |= to->op == HYPTRACE_FILTER_OP_GT || to->op == HYPTRACE_FILTER_OP_GE;
	else
		is_true |= to->op == HYPTRACE_FILTER_OP_LT || to->op == HYPTRACE_FILTER_OP_LE;
	to->op = is_true ? HYPTRACE_FILTER_OP_GE : HYPTRACE_FILTER_OP_LT;
	to->value = is_signed ? (uint64_t)INT64_MIN : 0;
}

static enum filter_fault resolve_number(const struct filter_comparison *c, uint64_t number,
					const struct hyptrace_field *field,
					struct filter_value *to, struct hyptrace_error *err)
{
	const bool is_less = c->negative && number;
	const bool fits = field->is_signed ? number <= INT64_MAX : !is_less;

	to->value = c->negative ? -number : number;
	if (!is_out_of_range(c, field, number))
		return FILTER_FAULT_NONE;
	if (!fits && c->op != HYPTRACE_FILTER_OP_AND)
		make_constant(to, field->is_signed, is_less);
	return fail_range(c, field, err);
}

/* Return the number of an errno by its name without a minus; 0 if there is none. */
static uint64_t find_errno(const struct filter_span *span)
{
	/* second names of an errno */
	static const struct {
		const char	*name;
		uint64_t	number;
	} others[] = {
		{ "EWOULDBLOCK", 11 }, { "EDEADLOCK", 35 }, { "ENOTSUP", 95 },
	};
	const char *name;
	uint64_t number;
	unsigned int i;

	for (i = 0; i < COUNT(others); i++)
		if (hyptrace_filter_is(span, others[i].name))
			return others[i].number;
	for (number = 1; number <= ERRNO_MAX; number++) {
		name = hyptrace_errno_name(-(int64_t)number);
		if (name && hyptrace_filter_is(span, name + 1))
			return number;
	}
	return 0;
}

static enum filter_fault fail_errno(const struct filter_comparison *c, struct hyptrace_error *err)
{
	const char *near = NULL, *name;
	int64_t number;

	for (number = 1; number <= ERRNO_MAX; number++) {
		name = hyptrace_errno_name(-number);
		if (name)
			near = hyptrace_nearest_of(c->value.text, c->value.len, near, name);
	}
	hyptrace_error_set(err, EINVAL, "there is no errno \"%.*s\"", filter_quoted(&c->name),
			   c->name.text);
	return suggest(err, near);
}

static enum filter_fault fail_value(const struct filter_comparison *c,
				    const struct hyptrace_field *field, struct hyptrace_error *err)
{
	const char *near = NULL;
	unsigned int i;

	if (!field->nr_symbols && !(field->is_signed && find_errno(&c->name))) {
		hyptrace_error_set(err, EINVAL, "the values of \"%s\" have no names: use a number",
				   field->name);
		return FILTER_FAULT_UNNAMED;
	}
	for (i = 0; i < field->nr_symbols; i++)
		near = hyptrace_nearest_of(c->name.text, c->name.len, near,
					   field->symbols[i]->name);
	if (field->nr_symbols)
		hyptrace_error_set(err, EINVAL, "the field \"%s\" has no value \"%.*s\"",
				   field->name, filter_quoted(&c->name), c->name.text);
	else
		hyptrace_error_set(err, EINVAL, "the name of an errno has a minus: use \"-%.*s\"",
				   filter_quoted(&c->name), c->name.text);
	return suggest(err, near);
}

static enum filter_fault resolve_value(const struct filter_comparison *c,
				       const struct hyptrace_field *field,
				       struct filter_value *to, struct hyptrace_error *err)
{
	uint64_t number;
	unsigned int i;

	if (c->has_unit && strcmp(field->name, DURATION)) {
		hyptrace_error_set(err, EINVAL, "\"%s\" is not a time: use a number without a unit",
				   field->name);
		return FILTER_FAULT_VALUE;
	}
	if (!c->name.len)
		return resolve_number(c, c->number, field, to, err);
	if (c->negative) {
		number = find_errno(&c->name);
		return number ? resolve_number(c, number, field, to, err) : fail_errno(c, err);
	}
	for (i = 0; i < field->nr_symbols; i++) {
		if (!hyptrace_filter_is(&c->name, field->symbols[i]->name))
			continue;
		to->value = field->symbols[i]->value;
		return FILTER_FAULT_NONE;
	}
	return fail_value(c, field, err);
}

enum filter_fault hyptrace_filter_resolve(const struct filter_comparison *comparison,
					  const struct hyptrace_event *event,
					  struct filter_value *value, const char **at,
					  struct hyptrace_error *err)
{
	const struct hyptrace_field *field = hyptrace_filter_field(event, &comparison->field);
	enum filter_fault fault;

	*value = (struct filter_value){ .op = comparison->op };
	*at = comparison->field.text;
	if (!field)
		return FILTER_FAULT_FIELD;
	if (!hyptrace_field_is_number(field, event->size)) {
		hyptrace_error_set(err, EINVAL, "the field \"%s\" is not a number", field->name);
		return FILTER_FAULT_VALUE;
	}
	*at = comparison->value.text;
	fault = resolve_value(comparison, field, value, err);
	if (fault > FILTER_FAULT_RANGE)
		return fault;
	value->field = (struct hyptrace_field){
		.offset = field->offset,
		.size = field->size,
		.is_signed = field->is_signed,
	};
	return fault;
}
