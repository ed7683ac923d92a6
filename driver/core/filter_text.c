// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse the text of a filter for an event, in the grammar of hyptrace-filters(7):
 *
 *	any		= all { "||" all }
 *	all		= one { "&&" one }
 *	one		= "(" any ")" | field operator value
 *
 * User space sends terms, and never a text alone. This is for the command line: see boot.c.
 */
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "internal.h"

#define DEPTH_MAX	16	/* parentheses inside parentheses, at most */
#define NUMBER_MAX	20	/* digits of a number, at most */

struct parser {
	const char			*at;
	const char			*why;
	const struct hyptrace_event	*event;
	struct hyptrace_filter_request	*to;
	unsigned int			depth;
};

static int fail(struct parser *p, const char *why)
{
	p->why = why;
	return -EINVAL;
}

static size_t name_length(const char *at)
{
	size_t length = 0;

	while (isalnum(at[length]) || at[length] == '_')
		length++;
	return length;
}

static bool accept(struct parser *p, const char *text)
{
	const char *at = skip_spaces(p->at);

	if (!strstarts(at, text))
		return false;
	p->at = at + strlen(text);
	return true;
}

static const struct hyptrace_field *parse_field(struct parser *p)
{
	size_t length = name_length(p->at);
	unsigned int i;

	for (i = 0; i < p->event->nr_fields; i++) {
		const struct hyptrace_field *field = &p->event->fields[i];

		if (strlen(field->name) == length && !strncmp(field->name, p->at, length)) {
			p->at += length;
			return field;
		}
	}
	return NULL;
}

static int parse_operator(struct parser *p, u8 *op)
{
	/* those of two characters first */
	static const struct {
		const char	*text;
		u8		op;
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

	for (i = 0; i < ARRAY_SIZE(operators); i++) {
		if (strstarts(skip_spaces(p->at), "&&") || !accept(p, operators[i].text))
			continue;
		*op = operators[i].op;
		return 0;
	}
	return fail(p, "an operator is missing: use ==, !=, <, <=, >, >= or &");
}

/* The nanoseconds of a unit of time, after which @p continues; 0 if it is none */
static u64 parse_unit(struct parser *p)
{
	static const struct {
		const char	*name;
		u64		ns;
	} units[] = {
		{ "ns", 1 }, { "us", NSEC_PER_USEC }, { "ms", NSEC_PER_MSEC },
		{ "s", NSEC_PER_SEC },
	};
	const char *at = skip_spaces(p->at);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(units); i++) {
		size_t length = strlen(units[i].name);

		if (name_length(at) != length || strncmp(at, units[i].name, length))
			continue;
		p->at = at + length;
		return units[i].ns;
	}
	return 0;
}

static int parse_number(struct parser *p, const struct hyptrace_field *field, u64 *number)
{
	const char *decimals = NULL;
	char text[NUMBER_MAX + 1];
	u64 unit, part;
	size_t length;

	length = name_length(p->at);
	if (!strstarts(p->at, "0x") && !strstarts(p->at, "0X"))
		for (length = 0; isdigit(p->at[length]); length++)
			;
	strscpy(text, p->at, min(length + 1, sizeof(text)));
	if (length > NUMBER_MAX || kstrtoull(text, text[1] == 'x' || text[1] == 'X' ? 16 : 10,
					     number))
		return fail(p, "this is no number of 64 bits");
	p->at += length;
	if (*p->at == '.' && isdigit(p->at[1]))
		for (decimals = ++p->at; isdigit(*p->at); p->at++)
			;
	unit = parse_unit(p);
	if (unit && strcmp(field->name, "duration"))
		return fail(p, "only the field duration takes a unit of time");
	if (!unit)
		return decimals ? fail(p, "only a time with a unit can have a fraction") : 0;
	if (*number > U64_MAX / unit - 1)
		return fail(p, "the time in nanoseconds exceeds 64 bits");
	*number *= unit;
	for (part = unit / 10; decimals && isdigit(*decimals); part /= 10)
		*number += part * (*decimals++ - '0');
	return 0;
}

#define ERRNO(name)	{ #name, name }

/* The number of an errno by its name after a minus; 0 if there is none */
static u64 find_errno(const char *name, size_t length)
{
	static const struct {
		const char	*name;
		u8		number;
	} errnos[] = {
		ERRNO(EPERM), ERRNO(ENOENT), ERRNO(ESRCH), ERRNO(EINTR), ERRNO(EIO), ERRNO(ENXIO),
		ERRNO(E2BIG), ERRNO(ENOEXEC), ERRNO(EBADF), ERRNO(ECHILD), ERRNO(EAGAIN),
		ERRNO(ENOMEM), ERRNO(EACCES), ERRNO(EFAULT), ERRNO(ENOTBLK), ERRNO(EBUSY),
		ERRNO(EEXIST), ERRNO(EXDEV), ERRNO(ENODEV), ERRNO(ENOTDIR), ERRNO(EISDIR),
		ERRNO(EINVAL), ERRNO(ENFILE), ERRNO(EMFILE), ERRNO(ENOTTY), ERRNO(ETXTBSY),
		ERRNO(EFBIG), ERRNO(ENOSPC), ERRNO(ESPIPE), ERRNO(EROFS), ERRNO(EMLINK),
		ERRNO(EPIPE), ERRNO(EDOM), ERRNO(ERANGE), ERRNO(EDEADLK), ERRNO(ENAMETOOLONG),
		ERRNO(ENOLCK), ERRNO(ENOSYS), ERRNO(ENOTEMPTY), ERRNO(ELOOP), ERRNO(EWOULDBLOCK),
		ERRNO(ENOMSG), ERRNO(EIDRM), ERRNO(ECHRNG), ERRNO(EL2NSYNC), ERRNO(EL3HLT),
		ERRNO(EL3RST), ERRNO(ELNRNG), ERRNO(EUNATCH), ERRNO(ENOCSI), ERRNO(EL2HLT),
		ERRNO(EBADE), ERRNO(EBADR), ERRNO(EXFULL), ERRNO(ENOANO), ERRNO(EBADRQC),
		ERRNO(EBADSLT), ERRNO(EDEADLOCK), ERRNO(EBFONT), ERRNO(ENOSTR), ERRNO(ENODATA),
		ERRNO(ETIME), ERRNO(ENOSR), ERRNO(ENONET), ERRNO(ENOPKG), ERRNO(EREMOTE),
		ERRNO(ENOLINK), ERRNO(EADV), ERRNO(ESRMNT), ERRNO(ECOMM), ERRNO(EPROTO),
		ERRNO(EMULTIHOP), ERRNO(EDOTDOT), ERRNO(EBADMSG), ERRNO(EOVERFLOW),
		ERRNO(ENOTUNIQ), ERRNO(EBADFD), ERRNO(EREMCHG), ERRNO(ELIBACC), ERRNO(ELIBBAD),
		ERRNO(ELIBSCN), ERRNO(ELIBMAX), ERRNO(ELIBEXEC), ERRNO(EILSEQ), ERRNO(ERESTART),
		ERRNO(ESTRPIPE), ERRNO(EUSERS), ERRNO(ENOTSOCK), ERRNO(EDESTADDRREQ),
		ERRNO(EMSGSIZE), ERRNO(EPROTOTYPE), ERRNO(ENOPROTOOPT), ERRNO(EPROTONOSUPPORT),
		ERRNO(ESOCKTNOSUPPORT), ERRNO(EOPNOTSUPP), ERRNO(EPFNOSUPPORT),
		ERRNO(EAFNOSUPPORT), ERRNO(EADDRINUSE), ERRNO(EADDRNOTAVAIL), ERRNO(ENETDOWN),
		ERRNO(ENETUNREACH), ERRNO(ENETRESET), ERRNO(ECONNABORTED), ERRNO(ECONNRESET),
		ERRNO(ENOBUFS), ERRNO(EISCONN), ERRNO(ENOTCONN), ERRNO(ESHUTDOWN),
		ERRNO(ETOOMANYREFS), ERRNO(ETIMEDOUT), ERRNO(ECONNREFUSED), ERRNO(EHOSTDOWN),
		ERRNO(EHOSTUNREACH), ERRNO(EALREADY), ERRNO(EINPROGRESS), ERRNO(ESTALE),
		ERRNO(EUCLEAN), ERRNO(ENOTNAM), ERRNO(ENAVAIL), ERRNO(EISNAM), ERRNO(EREMOTEIO),
		ERRNO(EDQUOT), ERRNO(ENOMEDIUM), ERRNO(EMEDIUMTYPE), ERRNO(ECANCELED),
		ERRNO(ENOKEY), ERRNO(EKEYEXPIRED), ERRNO(EKEYREVOKED), ERRNO(EKEYREJECTED),
		ERRNO(EOWNERDEAD), ERRNO(ENOTRECOVERABLE), ERRNO(ERFKILL), ERRNO(EHWPOISON),
		{ "ENOTSUP", EOPNOTSUPP },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(errnos); i++) {
		if (strlen(errnos[i].name) == length && !strncmp(errnos[i].name, name, length))
			return errnos[i].number;
	}
	return 0;
}

static int parse_name(struct parser *p, const struct hyptrace_field *field, u64 *value)
{
	const char *at = hyptrace_symbols_of(p->event->print_fmt, field->name);
	size_t length = name_length(p->at);
	struct hyptrace_symbol symbol;

	while (at) {
		at = hyptrace_symbol_next(at, &symbol);
		if (!at || symbol.length != length || strncmp(symbol.name, p->at, length))
			continue;
		*value = symbol.value;
		p->at += length;
		return 0;
	}
	return fail(p, "the field has no value of this name");
}

static int parse_value(struct parser *p, const struct hyptrace_field *field, u8 op, u64 *value)
{
	const char *begin = skip_spaces(p->at);
	const bool negative = accept(p, "-");
	size_t length;
	int err = 0;

	p->at = skip_spaces(p->at);
	length = name_length(p->at);
	if (!length)
		return fail(p, "a value is missing");
	if (!negative && !isdigit(*p->at))
		return parse_name(p, field, value);
	if (isdigit(*p->at)) {
		err = parse_number(p, field, value);
	} else {
		*value = find_errno(p->at, length);
		if (!*value)
			return fail(p, "this is no errno: use its number");
		p->at += length;
	}
	/* A sign is for fields that have one. A mask has any bit. */
	if (!err && (!field->is_signed ? negative && *value :
		     (negative || op != HYPTRACE_FILTER_OP_AND) &&
		     *value > (u64)S64_MAX + negative))
		err = fail(p, "the field has no such value");
	if (negative)
		*value = -*value;
	if (err)
		p->at = begin;
	return err;
}

static int parse_term(struct parser *p)
{
	struct hyptrace_term_request *term;
	const struct hyptrace_field *field;

	if (!isalpha(*p->at) && *p->at != '_')
		return fail(p, "a comparison begins with a field");
	if (p->to->nr_terms == HYPTRACE_FILTER_TERMS_MAX)
		return fail(p, "a filter has at most 8 comparisons");
	field = parse_field(p);
	if (!field) {
		fail(p, "no event of the list has this field");
		return -ENOENT;
	}
	term = &p->to->terms[p->to->nr_terms++];
	*term = (struct hyptrace_term_request){
		.field = field->name,
		.on_true = HYPTRACE_FILTER_ACCEPT,
		.on_false = HYPTRACE_FILTER_REJECT,
	};
	return parse_operator(p, &term->op) ?: parse_value(p, field, term->op, &term->value);
}

static int parse_any(struct parser *p);

static int parse_one(struct parser *p)
{
	int err;

	if (!accept(p, "(")) {
		p->at = skip_spaces(p->at);
		return parse_term(p);
	}
	if (p->depth == DEPTH_MAX)
		return fail(p, "there are too many parentheses inside parentheses");
	p->depth++;
	err = parse_any(p);
	p->depth--;
	if (err)
		return err;
	return accept(p, ")") ? 0 : fail(p, "a parenthesis is not closed before this");
}

/* From term @first on, replace the end @from by the next term. */
static void continue_at_next(struct hyptrace_filter_request *to, unsigned int first, u8 from)
{
	unsigned int i;

	for (i = first; i < to->nr_terms; i++) {
		if (to->terms[i].on_true == from)
			to->terms[i].on_true = to->nr_terms;
		if (to->terms[i].on_false == from)
			to->terms[i].on_false = to->nr_terms;
	}
}

static int parse_all(struct parser *p)
{
	unsigned int first = p->to->nr_terms;
	int err = parse_one(p);

	while (!err && accept(p, "&&")) {
		continue_at_next(p->to, first, HYPTRACE_FILTER_ACCEPT);
		err = parse_one(p);
	}
	return err;
}

static int parse_any(struct parser *p)
{
	unsigned int first = p->to->nr_terms;
	int err = parse_all(p);

	while (!err && accept(p, "||")) {
		continue_at_next(p->to, first, HYPTRACE_FILTER_REJECT);
		err = parse_all(p);
	}
	return err;
}

/**
 * hyptrace_filter_parse - parse the text of a filter for an event
 * @text:	the text
 * @event:	the event; what its values are called is in its print format
 * @to:		out: the filter, without the attributes of its terms; it has @text
 * @at:		out: what the filter is wrong at
 * @why:	out: why
 * Return: 0; -ENOENT if the event lacks a field, or -EINVAL.
 */
int hyptrace_filter_parse(const char *text, const struct hyptrace_event *event,
			  struct hyptrace_filter_request *to, const char **at, const char **why)
{
	struct parser p = { .at = text, .event = event, .to = to };
	int err;

	*to = (struct hyptrace_filter_request){ .text = text };
	err = parse_any(&p);
	if (!err && *skip_spaces(p.at))
		err = fail(&p, "&& or || is missing before this");
	*at = skip_spaces(p.at);
	*why = p.why;
	return err;
}
