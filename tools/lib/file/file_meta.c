// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a trace file says about the remote and about its recording: a text, which depends on no byte
 * order, and which "strings" shows. hyptrace.dat(5) describes its lines, and the table below says
 * for the writer and for the reader what their values are.
 *
 * It is written when a recording begins, and again when it ends. Both have the same length, so
 * counts have all their digits. The text that is read may be damaged: an error names its line.
 * Unknown lines, and values after those that are known, are skipped: later versions may add them.
 */
#include "file_meta.h"
#include "internal.h"

/* Lists in a file have at most so many elements, and all lists together. */
#define LIST_MAX	65536
#define ELEMENTS_MAX	65536
/* Bytes of a name and of a print format at most */
#define NAME_MAX_BYTES	256
#define PRINT_FMT_MAX	(64U << 10)
/* An event whose print format is not well formed has this one: its fields are printed. */
#define NO_FORMAT	"0"

/* Bytes of all notes, and of the line that fills up what they leave */
#define NOTES_SIZE	4096
#define ROOM		"room"

enum value_type {
	VALUE_NONE,
	VALUE_NUMBER,		/* uint64_t */
	VALUE_COUNT,		/* the same, with all its digits */
	VALUE_SIGNED,		/* int64_t */
	VALUE_U32,
	VALUE_BOOL,
	VALUE_TEXT,		/* char * */
	VALUE_NAME,		/* the same */
	VALUE_ARRAY,		/* a name in an array */
};

struct file_meta_value {
	enum value_type	type;
	size_t		offset;	/* where it is kept */
	uint32_t	max;	/* bytes of a name, or the largest number; 0 for that of the type */
	const char	*others;	/* characters of a name that a name in C does not have */
};

/* What lines describe, and others after them describe further */
enum owner {
	OWNER_META,
	OWNER_EVENT,
	OWNER_FIELD,
	OWNER_CALL,
	NR_OWNERS
};

struct parser {
	const char		*at;	/* what follows in the line */
	const char		*end;	/* end of the line */
	const char		*next;	/* the next line */
	const char		*last;	/* end of the text */
	unsigned int		line;	/* number of the line, from 1 on */
	unsigned int		nr;	/* elements of all lists so far */
	uint64_t		field_bytes;	/* bytes of the fields of the last event */
	void			*owners[NR_OWNERS];	/* the last ones, or NULL */
	const void		*before;	/* the element before the last one, or NULL */
	struct hyptrace_error	*err;	/* the reason if it fails */
};

/* A kind of lines. If it has a @size, each line is an element of a list of its owner. */
struct file_meta_line {
	const char	*keyword;
	enum owner	of;
	enum owner	is;	/* if it owns other lines */
	const char	*orphan;	/* says that there is no owner */
	size_t		list;	/* where the owner has the list, and its length */
	size_t		nr;
	size_t		size;	/* of an element */
	/* returns what is wrong, or NULL */
	const char	*(*check)(struct parser *p, const void *element);
	struct file_meta_value	values[6];	/* and VALUE_NONE */
};

static const char *check_cpu(struct parser *p, const void *element)
{
	const struct hyptrace_file_cpu *cpu = element, *before = p->before;

	return before && before->id >= cpu->id ? "the CPUs are not in order" : NULL;
}

static const char *check_event(struct parser *p, const void *element)
{
	const struct hyptrace_event *event = element;

	p->owners[OWNER_FIELD] = NULL;
	p->field_bytes = 0;
	if (strlen(event->print_fmt) > PRINT_FMT_MAX)
		return "a print format is too long";
	return event->size < sizeof(uint16_t) ? "an event has no room for its number" : NULL;
}

static const char *check_field(struct parser *p, const void *element)
{
	const struct hyptrace_event *event = p->owners[OWNER_EVENT];
	const struct hyptrace_field *field = element;

	if (field->offset > event->size || field->size > event->size - field->offset)
		return "a field is not inside its event";
	/* fields do not overlap, so each byte of an event is copied and printed once */
	p->field_bytes += field->size;
	return p->field_bytes > event->size ?
	       "the fields of an event have more bytes than the event" : NULL;
}

#define AT(type, member)	offsetof(struct hyptrace_##type, member)
#define VALUE(type_, of, member)	{ .type = VALUE_##type_, .offset = AT(of, member) }
#define LIST(list_, nr_, type)	.list = list_, .nr = nr_, .size = sizeof(struct hyptrace_##type)
#define CPU_VALUES {							\
	{ VALUE_U32, AT(file_cpu, id), FILE_CPU_LIMIT - 1, NULL }, \
	VALUE(BOOL, file_cpu, has_counts), VALUE(COUNT, file_cpu, events), \
	VALUE(COUNT, file_cpu, lost), VALUE(COUNT, file_cpu, filtered), \
}

/* In the order of the text */
static const struct file_meta_line lines[] = {
	{ "remote", .values = {
		{ VALUE_NAME, AT(file_meta, info.remote), HYPTRACE_REMOTE_NAME_MAX, "-.:" } } },
	{ "clock", .values = { VALUE(TEXT, file_meta, info.clock) } },
	{ "recorder", .values = { VALUE(TEXT, file_meta, info.recorder) } },
	{ "command", .values = { VALUE(TEXT, file_meta, info.command) } },
	{ "uname", .values = { VALUE(TEXT, file_meta, info.uname) } },
	{ "boot", .values = { VALUE(TEXT, file_meta, info.boot) } },
	{ "begin", .values = { VALUE(NUMBER, file_meta, info.begin) } },
	{ "offset", .values = { VALUE(SIGNED, file_meta, info.offset) } },
	{ "complete", .values = { { VALUE_U32, AT(file_meta, state), FILE_PLACED, NULL } } },
	{ "cpu", LIST(AT(file_meta, info.cpus), AT(file_meta, info.nr_cpus), file_cpu),
	  .check = check_cpu, .values = CPU_VALUES },
	{ "host-cpu", LIST(AT(file_meta, host_cpus), AT(file_meta, nr_host_cpus), file_cpu),
	  .check = check_cpu, .values = CPU_VALUES },
	{ "event", .is = OWNER_EVENT, .check = check_event,
	  LIST(AT(file_meta, info.events), AT(file_meta, info.nr_events), event), .values = {
		{ VALUE_U32, AT(event, id), UINT16_MAX, NULL }, VALUE(U32, event, size),
		{ VALUE_ARRAY, AT(event, name), HYPTRACE_EVENT_NAME_MAX, "-.:" },
		VALUE(TEXT, event, print_fmt) } },
	{ "missing", OWNER_EVENT, .orphan = "nothing is missing without an event",
	  .values = { VALUE(BOOL, event, missing) } },
	{ "incomplete", OWNER_EVENT, .orphan = "nothing is incomplete without an event",
	  .values = { VALUE(BOOL, event, incomplete) } },
	{ "field", OWNER_EVENT, OWNER_FIELD, "a field has no event",
	  LIST(AT(event, fields), AT(event, nr_fields), field), .check = check_field, .values = {
		VALUE(U32, field, offset), VALUE(U32, field, size),
		VALUE(BOOL, field, is_signed),
		{ VALUE_NAME, AT(field, type), NAME_MAX_BYTES, " *[]" },
		{ VALUE_NAME, AT(field, name), NAME_MAX_BYTES, "" } } },
	{ "symbol", OWNER_FIELD, .orphan = "the name of a value has no field",
	  LIST(AT(field, symbols), AT(field, nr_symbols), symbol), .values = {
		VALUE(NUMBER, symbol, value), VALUE(TEXT, symbol, name) } },
	{ "hypercall", .is = OWNER_CALL,
	  LIST(AT(file_meta, info.calls), AT(file_meta, info.nr_calls), hypercall), .values = {
		{ VALUE_U32, AT(hypercall, id), LIST_MAX - 1, NULL },
		VALUE(BOOL, hypercall, known_args), VALUE(BOOL, hypercall, returns),
		{ VALUE_NAME, AT(hypercall, name), NAME_MAX_BYTES, "-.:" } } },
	{ "arg", OWNER_CALL, .orphan = "an argument has no hypercall",
	  LIST(AT(hypercall, args), AT(hypercall, nr_args), hypercall_arg), .values = {
		{ VALUE_NAME, AT(hypercall_arg, type), NAME_MAX_BYTES, " *[]()" },
		{ VALUE_NAME, AT(hypercall_arg, name), NAME_MAX_BYTES, "" } } },
	{ 0 }
};

/* Return false if there is no memory. */
bool hyptrace_file_make_cpus(struct hyptrace_file_cpu ***cpus, unsigned int *nr_cpus,
			     unsigned int nr)
{
	while (*nr_cpus < nr && hyptrace_list_add(cpus, nr_cpus, sizeof(***cpus)))
		;
	return *nr_cpus == nr;
}

void hyptrace_file_meta_free(struct hyptrace_file_meta *meta)
{
	unsigned int i;

	free(meta->info.remote);
	free(meta->info.clock);
	free(meta->info.recorder);
	free(meta->info.command);
	free(meta->info.uname);
	free(meta->info.boot);
	free(meta->info.compression);
	for (i = 0; i < meta->info.nr_notes; i++)
		free(meta->info.notes[i]);
	free(meta->info.notes);
	for (i = 0; i < meta->info.nr_cpus; i++)
		free(meta->info.cpus[i]);
	free(meta->info.cpus);
	for (i = 0; i < meta->nr_host_cpus; i++)
		free(meta->host_cpus[i]);
	free(meta->host_cpus);
	hyptrace_free_events(meta->info.events);
	hyptrace_free_hypercalls(meta->info.calls);
	memset(meta, 0, sizeof(*meta));
}

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
	size_t len;

	/* most lines are symbols, which many keywords come before */
	if (*p->at != *keyword)
		return false;
	len = strlen(keyword);
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
	return 0;
}

/* Get a name: of the characters that a name in C has, and of some others. */
static int get_name(struct parser *p, char **name, const struct file_meta_value *value)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
	const char *at;
	int ret = get_string(p, name);

	if (ret)
		return ret;
	for (at = *name; *at; at++)
		if (!strchr(letters, *at) && !strchr(value->others, *at))
			return fail(p, "a name has a bad character");
	if (at == *name || (size_t)(at - *name) > value->max)
		return fail(p, "a name is empty or too long");
	return 0;
}

static int get_value(struct parser *p, const struct file_meta_value *value, void *to)
{
	static const uint64_t max_of[] = {
		[VALUE_NUMBER] = UINT64_MAX, [VALUE_COUNT] = UINT64_MAX, [VALUE_SIGNED] = INT64_MAX,
		[VALUE_U32] = UINT32_MAX, [VALUE_BOOL] = 1,
	};
	auto_free char *name = NULL;
	bool is_negative = false;
	uint64_t number;
	int ret;

	if (value->type == VALUE_TEXT)
		return get_string(p, to);
	if (value->type == VALUE_NAME)
		return get_name(p, to, value);
	if (value->type == VALUE_ARRAY) {
		ret = get_name(p, &name, value);
		if (!ret)
			memcpy(to, name, strlen(name) + 1);
		return ret;
	}
	if (value->type == VALUE_SIGNED) {
		skip_blanks(p);
		is_negative = p->at < p->end && *p->at == '-';
		p->at += is_negative;
	}
	ret = get_number(p, value->max ? value->max : max_of[value->type], &number);
	if (value->type == VALUE_U32)
		*(uint32_t *)to = number;
	else if (value->type == VALUE_BOOL)
		*(bool *)to = number;
	else
		*(uint64_t *)to = is_negative ? -number : number;
	return ret;
}

static void *append(struct parser *p, void *list, unsigned int *nr, size_t size)
{
	void *element;

	if (*nr >= LIST_MAX || ++p->nr > ELEMENTS_MAX)
		return hyptrace_error_null(fail(p, "a list is too long"));
	element = hyptrace_list_add(list, nr, size);
	return element ? element : hyptrace_error_null(hyptrace_error_memory(p->err));
}

static int get_line(struct parser *p)
{
	const struct file_meta_line *line = lines;
	struct hyptrace_file_meta *meta = p->owners[OWNER_META];
	const struct file_meta_value *value;
	char *owner, *element;
	const char *wrong = NULL;
	unsigned int *nr;
	int ret = 0;

	if (is_keyword(p, "note")) {
		/* get_string() replaces the element */
		if (!append(p, &meta->info.notes, &meta->info.nr_notes, 1))
			return -p->err->errnum;
		return get_string(p, &meta->info.notes[meta->info.nr_notes - 1]);
	}
	/* an unknown keyword gets the last line, which has no values */
	while (line->keyword && !is_keyword(p, line->keyword))
		line++;
	owner = p->owners[line->of];
	element = owner;
	if (!owner)
		return fail(p, line->orphan);
	if (line->size) {
		nr = (unsigned int *)(owner + line->nr);
		p->before = *nr ? (*(char ***)(owner + line->list))[*nr - 1] : NULL;
		element = append(p, owner + line->list, nr, line->size);
		if (!element)
			return -p->err->errnum;
	}
	if (line->is)
		p->owners[line->is] = element;
	for (value = line->values; value->type && !ret; value++)
		ret = get_value(p, value, element + value->offset);
	if (!ret && line->check)
		wrong = line->check(p, element);
	return wrong ? fail(p, wrong) : ret;
}

/* libtraceevent gets the events as format files. */
static int check_events(const struct hyptrace_file_meta *meta, struct hyptrace_error *err)
{
	const char *remote = meta->info.remote ? meta->info.remote : "";
	unsigned int i;

	for (i = 0; i < meta->info.nr_calls; i++)
		snprintf(meta->info.calls[i]->remote, sizeof(meta->info.calls[i]->remote), "%s",
			 remote);
	for (i = 0; i < meta->info.nr_events; i++) {
		auto_free char *text = hyptrace_format_file(meta->info.events[i]);
		struct hyptrace_event *event = meta->info.events[i];
		char *fmt = event->print_fmt;
		enum format_check check;

		snprintf(event->remote, sizeof(event->remote), "%s", remote);
		if (!text)
			return hyptrace_error_memory(err);
		check = hyptrace_format_check(text);
		if (check == FORMAT_FIELDS)
			strcpy(fmt, *fmt ? NO_FORMAT : "");
		if (check == FORMAT_BAD)
			return hyptrace_error_set(err, EBADMSG, "its description: the event %s is not valid",
						  event->name);
	}
	return 0;
}

int hyptrace_file_meta_parse(const char *text, size_t len, struct hyptrace_file_meta *meta,
			     struct hyptrace_error *err)
{
	static const char begin[] = HYPTRACE_FILE_META_BEGIN;
	struct parser p = {
		.next = text, .last = text + len, .owners[OWNER_META] = meta, .err = err,
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

static void put_string(FILE *f, const char *text)
{
	fputs(" \"", f);
	for (; *text; text++) {
		unsigned char c = *text;

		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c < ' ' || c == 0x7f)
			fprintf(f, "\\%03o", c);
		else
			fputc(c, f);
	}
	fputc('"', f);
}

static void put_value(FILE *f, enum value_type type, const void *from)
{
	if (type == VALUE_NUMBER)
		fprintf(f, " %" PRIu64, *(const uint64_t *)from);
	else if (type == VALUE_COUNT)
		fprintf(f, " %020" PRIu64, *(const uint64_t *)from);
	else if (type == VALUE_SIGNED)
		fprintf(f, " %" PRId64, *(const int64_t *)from);
	else if (type == VALUE_U32)
		fprintf(f, " %" PRIu32, *(const uint32_t *)from);
	else if (type == VALUE_BOOL)
		fprintf(f, " %d", *(const bool *)from);
	else
		put_string(f, type == VALUE_ARRAY ? from : *(const char *const *)from);
}

static void put_lines(FILE *f, enum owner of, const char *owner);

static void put_line(FILE *f, const struct file_meta_line *line, const char *element)
{
	const struct file_meta_value *value = line->values;

	/* a text may be unknown, and few events have a flag */
	if (!line->size && (value->type == VALUE_TEXT || value->type == VALUE_NAME) &&
	    !*(const char *const *)(element + value->offset))
		return;
	if (!line->size && value->type == VALUE_BOOL && !*(const bool *)(element + value->offset))
		return;
	fputs(line->keyword, f);
	for (; value->type; value++)
		put_value(f, value->type, element + value->offset);
	fputc('\n', f);
	if (line->is)
		put_lines(f, line->is, element);
}

/* Put all lines that describe something further. */
static void put_lines(FILE *f, enum owner of, const char *owner)
{
	const struct file_meta_line *line;
	unsigned int i;

	for (line = lines; line->keyword; line++) {
		if (line->of != of)
			continue;
		if (!line->size)
			put_line(f, line, owner);
		for (i = 0; line->size && i < *(const unsigned int *)(owner + line->nr); i++)
			put_line(f, line, (*(char *const *const *)(owner + line->list))[i]);
	}
}

/* Notes are added while the file is recorded: they have the same room from the beginning. */
static void put_notes(FILE *f, const struct hyptrace_file_info *info)
{
	const long end = ftell(f) + NOTES_SIZE - strlen(ROOM "\n");
	unsigned int i;
	long at;

	for (i = 0; i < info->nr_notes; i++) {
		at = ftell(f);
		fputs("note", f);
		put_string(f, info->notes[i]);
		fputc('\n', f);
		/* the next line replaces one that has no room */
		if (ftell(f) > end)
			fseek(f, at, SEEK_SET);
	}
	fprintf(f, ROOM "%*s\n", (int)(end - ftell(f)), "");
}

/* Write the text. Return the text, which the caller frees; NULL if there is no memory. */
char *hyptrace_file_meta_text(const struct hyptrace_file_meta *meta, size_t *len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, len);

	if (!f)
		return NULL;
	fputs(HYPTRACE_FILE_META_BEGIN, f);
	put_lines(f, OWNER_META, (const char *)meta);
	put_notes(f, &meta->info);
	fputs("end\n", f);
	return hyptrace_end_text(f, &text);
}
