// SPDX-License-Identifier: GPL-2.0-only
/*
 * Check the description of an event before libtraceevent parses it. For files, which may be
 * damaged: libtraceevent's parser may crash if a print format is not well formed.
 *
 * The grammar is what the kernel's formats have: a string, and expressions of C with helpers such
 * as __print_symbolic(). An event with another format is printed field by field.
 */
#include "internal.h"

/* The parser of libtraceevent, and this one, call themselves for each of these levels. */
#define LEVELS_MAX	100
/* libtraceevent also calls itself for each operator */
#define OPERATORS_MAX	1000
/* Each name of a field is looked for among the fields. */
#define FIELDS_MAX	256
#define REFERENCES_MAX	1024

/* A print format that is checked */
struct check {
	const char	*at;	/* what follows */
	const char	*fields;	/* the text that declares the fields */
	const char	*fields_end;	/* its end */
	unsigned int	level;	/* calls within calls */
	unsigned int	operators;	/* operators so far */
	unsigned int	references;	/* names of fields so far */
};

static bool check_expression(struct check *c);

static void skip_blanks(struct check *c)
{
	c->at += strspn(c->at, " \t\n");
}

static bool take(struct check *c, const char *text)
{
	skip_blanks(c);
	if (strncmp(c->at, text, strlen(text)))
		return false;
	c->at += strlen(text);
	return true;
}

/* Take a name or a number; return its length. */
static size_t take_word(struct check *c, const char **word)
{
	size_t len = 0;

	skip_blanks(c);
	while (hyptrace_is_word(c->at[len]))
		len++;
	*word = c->at;
	c->at += len;
	return len;
}

static bool take_name(struct check *c)
{
	const char *word;

	return take_word(c, &word) && !isdigit((unsigned char)*word);
}

/* Take the name of a field. libtraceevent may crash if there is no such field. */
static bool take_field(struct check *c)
{
	const char *word, *at, *end = c->fields_end;
	size_t len = take_word(c, &word);

	if (!len || ++c->references > REFERENCES_MAX)
		return false;
	/* "type name;" or "type name[2];" */
	for (at = c->fields; (at = memmem(at, end - at, word, len)); at++)
		if (strchr(" *", at[-1]) && (at[len] == ';' || at[len] == '['))
			return true;
	return false;
}

/*
 * A string, or several of them; or a character. For libtraceevent a control character and a comma
 * end a string, and it parses the rest.
 */
static bool check_quoted(struct check *c, char quote)
{
	bool any = false;

	for (skip_blanks(c); *c->at == quote; skip_blanks(c)) {
		for (c->at++; *c->at && *c->at != quote; c->at++)
			if (iscntrl((unsigned char)*c->at) || (*c->at == '\\' && !*++c->at))
				return false;
		if (!*c->at++)
			return false;
		any = true;
	}
	return any;
}

/* { value, "name" }, ... */
static bool check_names(struct check *c)
{
	do {
		if (!take(c, "{"))
			return false;
		/* a value is an expression of numbers */
		if (!check_expression(c) || !take(c, ",") || !check_quoted(c, '"') ||
		    !take(c, "}"))
			return false;
	} while (take(c, ","));
	return true;
}

/* What the arguments of a helper are */
enum helper_kind {
	HELPER_NAME,		/* the name of a field */
	HELPER_TWO,		/* expressions */
	HELPER_THREE,
	HELPER_SYMBOLS,		/* an expression, and names of values */
	HELPER_FLAGS,		/* an expression, a string, and names */
};

static const struct {
	const char		*name;
	enum helper_kind	kind;
} helpers[] = {
	{ "__get_str", HELPER_NAME },
	{ "__get_rel_str", HELPER_NAME },
	{ "__get_bitmask", HELPER_NAME },
	{ "__get_rel_bitmask", HELPER_NAME },
	{ "__get_dynamic_array", HELPER_NAME },
	{ "__get_dynamic_array_len", HELPER_NAME },
	{ "__get_rel_dynamic_array", HELPER_NAME },
	{ "__get_rel_dynamic_array_len", HELPER_NAME },
	{ "__builtin_expect", HELPER_TWO },
	{ "__print_hex", HELPER_TWO },
	{ "__print_hex_str", HELPER_TWO },
	{ "__print_array", HELPER_THREE },
	{ "__print_symbolic", HELPER_SYMBOLS },
	{ "__print_flags", HELPER_FLAGS },
};

static bool check_arguments(struct check *c, enum helper_kind kind)
{
	if (kind == HELPER_NAME)
		return take_field(c);
	if (!check_expression(c) || !take(c, ","))
		return false;
	if (kind == HELPER_SYMBOLS)
		return check_names(c);
	if (kind == HELPER_FLAGS)
		return check_quoted(c, '"') && take(c, ",") && check_names(c);
	return check_expression(c) &&
	       (kind == HELPER_TWO || (take(c, ",") && check_expression(c)));
}

/* REC->field, REC->field[1], or a name of the kernel that libtraceevent does not know */
static bool check_word(struct check *c)
{
	const char *word;
	size_t len = take_word(c, &word);
	unsigned int i;

	if (!len)
		return false;
	if (hyptrace_is(word, len, "REC")) {
		if (!take(c, "->") || !take_field(c))
			return false;
		return !take(c, "[") || (check_expression(c) && take(c, "]"));
	}
	if (!take(c, "("))
		return true;
	for (i = 0; i < COUNT(helpers); i++)
		if (hyptrace_is(word, len, helpers[i].name))
			return check_arguments(c, helpers[i].kind) && take(c, ")");
	return false;
}

/* A cast such as (unsigned long), (void *); @c is after the "(" */
static bool take_cast(struct check *c)
{
	static const char *const types[] = {
		"unsigned", "signed", "long", "int", "short", "char", "void", "const", "bool",
		"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "size_t", "pid_t",
		"struct", "dev_t", "sector_t", "gfp_t", "__u8", "__u16", "__u32", "__u64",
	};
	struct check own = *c;
	const char *word;
	bool known = true;
	unsigned int words = 0, i;
	size_t len;

	for (; known; words++) {
		len = take_word(&own, &word);
		if (!len)
			break;
		for (i = 0, known = false; i < COUNT(types); i++)
			known |= hyptrace_is(word, len, types[i]);
		/* the name of a struct */
		if (hyptrace_is(word, len, "struct") && !take_name(&own))
			return false;
	}
	while (take(&own, "*"))
		;
	if (!words || !known || !take(&own, ")"))
		return false;
	c->at = own.at;
	return true;
}

static bool check_primary(struct check *c)
{
	while (take(c, "!") || take(c, "~") || take(c, "-") || take(c, "&"))
		if (++c->operators > OPERATORS_MAX)
			return false;
	if (*c->at == '"' || *c->at == '\'')
		return check_quoted(c, *c->at);
	if (!take(c, "("))
		return check_word(c);
	if (take_cast(c))
		return ++c->operators <= OPERATORS_MAX && check_primary(c);
	return check_expression(c) && take(c, ")");
}

static bool take_operator(struct check *c)
{
	static const char *const operators[] = {
		"<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "<", ">", "&", "|", "^", "+", "-",
		"*",
	};
	unsigned int i;

	for (i = 0; i < COUNT(operators); i++)
		if (take(c, operators[i]))
			return true;
	return false;
}

/*
 * What follows "/" or "%": a number, and nothing that libtraceevent would evaluate before them. It
 * evaluates constants when it parses them, and would divide by zero.
 */
static bool check_divisor(struct check *c)
{
	const char *word;

	if (!take_word(c, &word) || !strtoull(word, NULL, 0))
		return false;
	skip_blanks(c);
	return !*c->at || !strchr("*/%", *c->at);
}

static bool check_expression(struct check *c)
{
	bool good;

	if (++c->level > LEVELS_MAX || ++c->operators > OPERATORS_MAX)
		return false;
	good = check_primary(c);
	while (good) {
		const bool divides = take(c, "/") || take(c, "%");

		if (!divides && !take_operator(c))
			break;
		good = ++c->operators <= OPERATORS_MAX &&
		       (divides ? check_divisor(c) : check_primary(c));
	}
	if (good && take(c, "?"))
		good = check_expression(c) && take(c, ":") && check_expression(c);
	c->level--;
	return good;
}

static bool take_number(struct check *c)
{
	const char *from;

	take(c, "-");
	for (from = c->at; isdigit((unsigned char)*c->at); c->at++)
		;
	return c->at > from && c->at - from < 10;
}

/* Take a number; if @expected is not NULL, only this one. */
static bool take_value(struct check *c, const char *name, const char *expected)
{
	if (!take(c, name))
		return false;
	return expected ? take(c, expected) && take(c, ";") : take_number(c) && take(c, ";");
}

/* unsigned short name[2];	offset:0;	size:2;	signed:0; */
static bool check_field(struct check *c)
{
	static const char type[] = "common_type";
	const char *from, *begin = c->at, *end = begin + strcspn(begin, ";"), *name;
	bool is_type;

	for (from = c->at; from < end; from++)
		if (!hyptrace_is_word(*from) && !strchr(" *[]", *from))
			return false;
	/* a type and a name at least, and brackets in pairs after a word */
	if (!take_name(c) || c->at >= end || (end[-1] != ']' && !hyptrace_is_word(end[-1])))
		return false;
	for (; c->at < end; c->at++)
		if (*c->at == '[' &&
		    (!memchr(c->at, ']', end - c->at) || !hyptrace_is_word(c->at[-1])))
			return false;
	/* libtraceevent takes the first word behind brackets for the name, and needs no blank */
	name = memchr(begin, ']', end - begin);
	if (name && ++name < end && (*name++ != ' ' || memchr(name, ' ', end - name)))
		return false;
	/* libtraceevent reads the number of any event where one event has it */
	is_type = memmem(begin, end - begin, type, strlen(type));
	if (!take(c, ";") || !take_value(c, "offset:", is_type ? "0" : NULL) ||
	    !take_value(c, "size:", is_type ? "2" : NULL))
		return false;
	return !take(c, "signed:") || (take_number(c) && take(c, ";"));
}

enum format_check hyptrace_format_check(const char *text)
{
	struct check c = { .at = text };
	unsigned int fields = 0;
	const char *word;

	if (!take(&c, "name:") || !take_word(&c, &word) || !take(&c, "ID:") || !take_number(&c) ||
	    !take(&c, "format:"))
		return FORMAT_BAD;
	c.fields = c.at;
	while (take(&c, "field:"))
		if (++fields > FIELDS_MAX || !check_field(&c))
			return FORMAT_BAD;
	c.fields_end = c.at;
	if (!take(&c, "print fmt:"))
		return FORMAT_BAD;
	if (!check_quoted(&c, '"'))
		return FORMAT_FIELDS;
	for (; take(&c, ","); c.operators = 0)
		if (!check_expression(&c))
			return FORMAT_FIELDS;
	return *c.at ? FORMAT_FIELDS : FORMAT_GOOD;
}
