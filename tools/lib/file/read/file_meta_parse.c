// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse what a trace file says about the remote and about its recording: the text of file_meta.c.
 * For file_read.c. The text may be damaged: an error names its line.
 *
 * Unknown lines, and values after those that are known, are skipped: later versions may add them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/file_meta.h"
#include "internal.h"

/* Lists in a file have at most so many elements, and all lists together. */
#define LIST_MAX	65536
#define ELEMENTS_MAX	65536
#define NAME_MAX_BYTES	256
/* Bytes of a print format at most */
#define PRINT_FMT_MAX	(64U << 10)
/* An event whose print format is not well formed has this one: its fields are printed. */
#define NO_FORMAT	"0"

/* A text that is parsed */
struct parser {
	const char			*at;	/* what follows in the line */
	const char			*end;	/* end of the line */
	const char			*next;	/* the next line */
	const char			*last;	/* end of the text */
	unsigned int			line;	/* number of the line, from 1 on */
	unsigned int			nr;	/* elements of all lists so far */
	uint64_t			field_bytes;	/* bytes of the fields of the last event */
	struct hyptrace_file_meta	*meta;	/* where the values go */
	struct hyptrace_error		*err;	/* the reason if it fails */
};

static int fail(const struct parser *p, const char *what)
{
	return hyptrace_error_set(p->err, EBADMSG, "line %u of its description: %s", p->line,
				  what);
}

static bool next_line(struct parser *p)
{
	const char *end;

	if (p->next == p->last)
		return false;
	end = memchr(p->next, '\n', p->last - p->next);
	p->at = p->next;
	p->end = end ? end : p->last;
	p->next = end ? end + 1 : p->last;
	p->line++;
	return true;
}

static void skip_blanks(struct parser *p)
{
	while (p->at < p->end && *p->at == ' ')
		p->at++;
}

/* Does the line begin with the keyword? If so, its values follow. */
static bool is_keyword(struct parser *p, const char *keyword)
{
	size_t len = strlen(keyword);

	if ((size_t)(p->end - p->at) < len || memcmp(p->at, keyword, len) ||
	    (p->at + len < p->end && p->at[len] != ' '))
		return false;
	p->at += len;
	return true;
}

static int get_number(struct parser *p, uint64_t max, uint64_t *value)
{
	const char *from;

	skip_blanks(p);
	*value = 0;
	for (from = p->at; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++) {
		unsigned int digit = *p->at - '0';

		if (*value > (UINT64_MAX - digit) / 10)
			return fail(p, "a number is too large");
		*value = *value * 10 + digit;
	}
	if (p->at == from || (p->at < p->end && *p->at != ' '))
		return fail(p, "a number is missing");
	return *value <= max ? 0 : fail(p, "a number is too large");
}

static int get_u32(struct parser *p, uint32_t *value)
{
	uint64_t number;
	int ret = get_number(p, UINT32_MAX, &number);

	*value = number;
	return ret;
}

static int get_bool(struct parser *p, bool *value)
{
	uint64_t number;
	int ret = get_number(p, 1, &number);

	*value = number;
	return ret;
}

static int get_signed(struct parser *p, int64_t *value)
{
	bool negative;
	uint64_t number;
	int ret;

	skip_blanks(p);
	negative = p->at < p->end && *p->at == '-';
	p->at += negative;
	ret = get_number(p, INT64_MAX, &number);
	*value = negative ? -(int64_t)number : (int64_t)number;
	return ret;
}

/* Take the character after a backslash. Return it, 0 if it is none of put_string(). */
static char get_escape(struct parser *p)
{
	unsigned int value = 0, i;

	if (p->at < p->end && (*p->at == '"' || *p->at == '\\'))
		return *p->at++;
	for (i = 0; i < 3 && p->at < p->end && *p->at >= '0' && *p->at <= '7'; i++)
		value = value * 8 + *p->at++ - '0';
	return i == 3 && value <= UINT8_MAX ? (char)value : 0;
}

/* Get a string. The caller frees it, also after a failure. */
static int get_string(struct parser *p, char **text)
{
	char *to;

	free(*text);
	*text = NULL;
	skip_blanks(p);
	if (p->at == p->end || *p->at++ != '"')
		return fail(p, "a text is missing");
	to = malloc(p->end - p->at + 1);
	if (!to)
		return hyptrace_error_memory(p->err);
	*text = to;
	while (p->at < p->end && *p->at != '"') {
		char c = *p->at++;

		if (c == '\\')
			c = get_escape(p);
		if (!c)
			return fail(p, "a text has a bad character");
		*to++ = c;
	}
	*to = '\0';
	if (p->at == p->end)
		return fail(p, "a text has no end");
	p->at++;
	/* the line may be much longer */
	to = realloc(*text, to - *text + 1);
	if (to)
		*text = to;
	return 0;
}

/* Get a name: of the characters that a name in C has, and of some others. */
static int get_name(struct parser *p, char **name, const char *others)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
	const char *at;
	int ret = get_string(p, name);

	if (ret)
		return ret;
	for (at = *name; *at; at++)
		if (!strchr(letters, *at) && !strchr(others, *at))
			return fail(p, "a name has a bad character");
	if (at == *name || at - *name > NAME_MAX_BYTES)
		return fail(p, "a name is empty or too long");
	return 0;
}

static int get_fixed_name(struct parser *p, char *to, size_t size)
{
	char *name = NULL;
	int ret = get_name(p, &name, "-.:");

	if (!ret && strlen(name) >= size)
		ret = fail(p, "a name is too long");
	if (!ret)
		memcpy(to, name, strlen(name) + 1);
	free(name);
	return ret;
}

/*
 * Append an element of @size bytes, filled with 0, to a list that ends with NULL. Its room is
 * always a power of two, or 0.
 */
static void *append(struct parser *p, void *list, unsigned int *nr, size_t size)
{
	void ***at = list, **longer, *element;

	if (*nr >= LIST_MAX || ++p->nr > ELEMENTS_MAX) {
		fail(p, "a list is too long");
		return NULL;
	}
	if (!(*nr & (*nr + 1))) {
		longer = reallocarray(*at, 2 * (*nr + 1), sizeof(void *));
		if (!longer)
			goto no_memory;
		longer[*nr] = NULL;
		*at = longer;
	}
	element = calloc(1, size);
	if (!element)
		goto no_memory;
	(*at)[(*nr)++] = element;
	(*at)[*nr] = NULL;
	return element;

no_memory:
	hyptrace_error_memory(p->err);
	return NULL;
}

static int error_of(const struct parser *p)
{
	return -p->err->errnum;
}

static int get_cpu(struct parser *p, struct hyptrace_file_cpu ***cpus, unsigned int *nr)
{
	struct hyptrace_file_cpu *cpu = append(p, cpus, nr, sizeof(*cpu));
	int ret;

	if (!cpu)
		return error_of(p);
	ret = get_u32(p, &cpu->id) ?: get_bool(p, &cpu->has_counts) ?:
	      get_number(p, UINT64_MAX, &cpu->events) ?:
	      get_number(p, UINT64_MAX, &cpu->lost) ?:
	      get_number(p, UINT64_MAX, &cpu->filtered);
	if (!ret && *nr > 1 && (*cpus)[*nr - 2]->id >= cpu->id)
		ret = fail(p, "the CPUs are not in order");
	return ret;
}

static int get_event(struct parser *p)
{
	struct hyptrace_file_meta *meta = p->meta;
	struct hyptrace_event *event = append(p, &meta->info.events, &meta->info.nr_events,
					      sizeof(*event));
	int ret;

	if (!event)
		return error_of(p);
	p->field_bytes = 0;
	if (meta->info.remote)
		snprintf(event->remote, sizeof(event->remote), "%s", meta->info.remote);
	ret = get_u32(p, &event->id) ?: get_u32(p, &event->size) ?:
	      get_fixed_name(p, event->name, sizeof(event->name)) ?:
	      get_string(p, &event->print_fmt);
	if (!ret && event->id > UINT16_MAX)
		ret = fail(p, "an event's number is too large");
	if (!ret && strlen(event->print_fmt) > PRINT_FMT_MAX)
		ret = fail(p, "a print format is too long");
	if (!ret && event->size < sizeof(uint16_t))
		ret = fail(p, "an event has no room for its number");
	return ret;
}

static int get_field(struct parser *p)
{
	struct hyptrace_file_meta *meta = p->meta;
	const unsigned int nr = meta->info.nr_events;
	struct hyptrace_event *event = nr ? meta->info.events[nr - 1] : NULL;
	struct hyptrace_field *field;
	int ret;

	if (!event)
		return fail(p, "a field has no event");
	field = append(p, &event->fields, &event->nr_fields, sizeof(*field));
	if (!field)
		return error_of(p);
	ret = get_u32(p, &field->offset) ?: get_u32(p, &field->size) ?:
	      get_bool(p, &field->is_signed) ?: get_name(p, &field->type, " *[]") ?:
	      get_name(p, &field->name, "");
	if (!ret && (field->offset > event->size || field->size > event->size - field->offset))
		ret = fail(p, "a field is not inside its event");
	/* fields do not overlap, so each byte of an event is copied and printed once */
	p->field_bytes += field->size;
	if (!ret && p->field_bytes > event->size)
		ret = fail(p, "the fields of an event have more bytes than the event");
	return ret;
}

static int get_symbol(struct parser *p)
{
	struct hyptrace_file_meta *meta = p->meta;
	const unsigned int nr = meta->info.nr_events;
	struct hyptrace_event *event = nr ? meta->info.events[nr - 1] : NULL;
	struct hyptrace_field *field;
	struct hyptrace_symbol *symbol;

	if (!event || !event->nr_fields)
		return fail(p, "the name of a value has no field");
	field = event->fields[event->nr_fields - 1];
	symbol = append(p, &field->symbols, &field->nr_symbols, sizeof(*symbol));
	if (!symbol)
		return error_of(p);
	return get_number(p, UINT64_MAX, &symbol->value) ?: get_string(p, &symbol->name);
}

static int get_hypercall(struct parser *p)
{
	struct hyptrace_file_meta *meta = p->meta;
	struct hyptrace_hypercall *call = append(p, &meta->info.calls, &meta->info.nr_calls,
						 sizeof(*call));
	int ret;

	if (!call)
		return error_of(p);
	if (meta->info.remote)
		snprintf(call->remote, sizeof(call->remote), "%s", meta->info.remote);
	ret = get_u32(p, &call->id) ?: get_bool(p, &call->known_args) ?:
	      get_bool(p, &call->returns) ?: get_name(p, &call->name, "-.:");
	return ret || call->id < LIST_MAX ? ret : fail(p, "a hypercall's number is too large");
}

static int get_arg(struct parser *p)
{
	struct hyptrace_file_meta *meta = p->meta;
	const unsigned int nr = meta->info.nr_calls;
	struct hyptrace_hypercall *call = nr ? meta->info.calls[nr - 1] : NULL;
	struct hyptrace_hypercall_arg *arg;

	if (!call)
		return fail(p, "an argument has no hypercall");
	arg = append(p, &call->args, &call->nr_args, sizeof(*arg));
	if (!arg)
		return error_of(p);
	return get_name(p, &arg->type, " *[]()") ?: get_name(p, &arg->name, "");
}

static int get_remote(struct parser *p)
{
	char **name = &p->meta->info.remote;
	int ret = get_name(p, name, "-.:");

	return ret || strlen(*name) <= HYPTRACE_REMOTE_NAME_MAX ? ret :
	       fail(p, "a name is too long");
}

static int get_note(struct parser *p)
{
	struct hyptrace_file_info *info = &p->meta->info;

	/* get_string() replaces the element */
	if (!append(p, &info->notes, &info->nr_notes, 1))
		return error_of(p);
	return get_string(p, &info->notes[info->nr_notes - 1]);
}

static int get_line(struct parser *p)
{
	struct hyptrace_file_meta *meta = p->meta;
	struct hyptrace_file_info *info = &meta->info;
	uint64_t state;
	int ret;

	if (is_keyword(p, "symbol"))
		return get_symbol(p);
	if (is_keyword(p, "field"))
		return get_field(p);
	if (is_keyword(p, "event"))
		return get_event(p);
	if (is_keyword(p, "hypercall"))
		return get_hypercall(p);
	if (is_keyword(p, "arg"))
		return get_arg(p);
	if (is_keyword(p, "cpu"))
		return get_cpu(p, &meta->info.cpus, &meta->info.nr_cpus);
	if (is_keyword(p, "host-cpu"))
		return get_cpu(p, &meta->host_cpus, &meta->nr_host_cpus);
	if (is_keyword(p, "remote"))
		return get_remote(p);
	if (is_keyword(p, "clock"))
		return get_string(p, &info->clock);
	if (is_keyword(p, "recorder"))
		return get_string(p, &info->recorder);
	if (is_keyword(p, "command"))
		return get_string(p, &info->command);
	if (is_keyword(p, "uname"))
		return get_string(p, &info->uname);
	if (is_keyword(p, "note"))
		return get_note(p);
	if (is_keyword(p, "begin"))
		return get_number(p, UINT64_MAX, &info->begin);
	if (is_keyword(p, "offset"))
		return get_signed(p, &info->offset);
	if (!is_keyword(p, "complete"))
		return 0;
	ret = get_number(p, 2, &state);
	meta->complete = state == 1;
	meta->placed = state == 2;
	return ret;
}

/* libtraceevent gets the events as format files. */
static int check_events(const struct hyptrace_file_meta *meta, struct hyptrace_error *err)
{
	unsigned int i;

	for (i = 0; i < meta->info.nr_events; i++) {
		char *text = hyptrace_format_file(meta->info.events[i], NULL);
		char *fmt = meta->info.events[i]->print_fmt;
		enum format_check check;

		if (!text)
			return hyptrace_error_memory(err);
		check = hyptrace_format_check(text);
		free(text);
		if (check == FORMAT_FIELDS)
			strcpy(fmt, *fmt ? NO_FORMAT : "");
		if (check == FORMAT_BAD)
			return hyptrace_error_set(err, EBADMSG, "its description: the event %s is not valid",
						  meta->info.events[i]->name);
	}
	return 0;
}

int hyptrace_file_meta_parse(const char *text, size_t len, struct hyptrace_file_meta *meta,
			     struct hyptrace_error *err)
{
	static const char begin[] = HYPTRACE_FILE_META_BEGIN;
	struct hyptrace_error own;
	struct parser p = {
		.next = text, .last = text + len, .meta = meta, .err = err ? err : &own,
	};
	int ret;

	if (len < strlen(begin) || memcmp(text, begin, strlen(begin)))
		return hyptrace_error_set(err, EBADMSG, "it has no description that this version can read");
	while (next_line(&p)) {
		if (is_keyword(&p, "end"))
			return check_events(meta, p.err);
		if (memchr(p.at, '\0', p.end - p.at))
			return fail(&p, "it is not a text");
		ret = get_line(&p);
		if (ret)
			return ret;
	}
	return fail(&p, "the end is missing");
}
