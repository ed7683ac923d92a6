// SPDX-License-Identifier: GPL-2.0-only
/* The events of a file without a description: from formats that trace-cmd took from tracefs. */
#include <event-parse.h>

#include "file.h"

/*
 * Bytes of a format, of all formats and of another text at most. The formats of a kernel have some
 * 4 MiB; what libtraceevent makes of them takes a multiple. Events beyond these limits are unknown.
 */
#define FORMAT_MAX	(64U << 10)
#define FORMATS_MAX	(5U << 20)
#define TEXT_MAX	(24U << 20)

#define EVENTS_MAX	16384
#define FTRACE		"ftrace"
/* The system of all events of remotes */
#define REMOTES		"hyptrace"

/* libtraceevent takes up to 200 bytes for a name, and a kernel has some 100,000 functions. */
#define FUNCTIONS_MAX	(160U << 10)
#define NAMES_MAX	(32U << 10)
#define NAME_MAX_BYTES	512
/* Bytes of all names of a kind at most */
#define NAMES_TEXT_MAX	(8U << 20)
/* A shorter format has no line end that libtraceevent could cut off. */
#define PRINTK_MIN	4

/* Give a format to libtraceevent, but not what it might crash on. */
static void add_format(struct tep_handle *tep, char *text, const char *system)
{
	static const char begin[] = "print fmt:", none[] = " 0\n";
	enum format_check check = hyptrace_format_check(text);
	char *fmt;

	if (check == FORMAT_BAD)
		return;
	/* without its print format, the event is still known */
	if (check == FORMAT_FIELDS) {
		fmt = strstr(text, begin) + strlen(begin);
		if (strlen(fmt) < strlen(none))
			return;
		strcpy(fmt, none);
	}
	tep_parse_event(tep, text, strlen(text), system);
}

/* Read the formats of a system, or skip them: beside the host's events, those of a remote. */
static void read_system(struct hyptrace_file *f, struct file_cursor *c, const char *system,
			uint32_t nr, uint64_t *left)
{
	const bool skip = !f->tep || (f->is_host && !strcmp(system, REMOTES));
	uint64_t size;
	char *text;

	for (; nr && !c->ret; nr--) {
		size = hyptrace_cursor_u64(c);
		if (skip || size > FORMAT_MAX || size > *left) {
			hyptrace_cursor_skip(c, size);
			continue;
		}
		*left -= size;
		text = hyptrace_cursor_text(c, size, FORMAT_MAX);
		if (text && !c->ret && tep_get_events_count(f->tep) < EVENTS_MAX)
			add_format(f->tep, text, system);
		free(text);
	}
}

/* By hand: libtraceevent trusts the texts of functions, processes and trace_printk(). */

/* What can still be given to libtraceevent */
struct budget {
	unsigned int	names;
	size_t		bytes;	/* bytes of them */
};

/* Take a name from the budget, and another one that may be NULL. Return false if it is too long. */
static bool spend(struct budget *left, const char *name, const char *other)
{
	size_t len = strlen(name) + (other ? strlen(other) : 0);

	if (!left->names || len > NAME_MAX_BYTES || len > left->bytes)
		return false;
	left->names--;
	left->bytes -= len;
	return true;
}

/* " T name [module]" */
static void add_function(struct tep_handle *tep, struct budget *left, char *text, uint64_t address)
{
	char *name, *module, *end;

	if (text[0] != ' ' || !isalpha((unsigned char)text[1]) || text[2] != ' ')
		return;
	name = text + 3;
	name += strspn(name, " \t");
	end = name + strcspn(name, " \t");
	module = *end ? end + strspn(end, " \t[") : NULL;
	*end = '\0';
	if (module)
		module[strcspn(module, "]")] = '\0';
	if (*name && spend(left, name, module))
		tep_register_function(tep, name, address, module);
}

/* " : \"format\n\"" */
static void add_printk(struct tep_handle *tep, struct budget *left, char *text, uint64_t address)
{
	size_t len;

	if (strncmp(text, " : ", 3))
		return;
	text += 3;
	if (*text == '"')
		text++;
	len = strlen(text);
	if (len && text[len - 1] == '"')
		text[--len] = '\0';
	if (len >= PRINTK_MIN && spend(left, text, NULL))
		tep_register_print_string(tep, text, address);
}

/* Take the names of a text. A line begins with an address or, of a process, with its number. */
static void add_names(struct tep_handle *tep, char *text, enum file_option id)
{
	struct budget left = {
		id == OPTION_KALLSYMS ? FUNCTIONS_MAX : NAMES_MAX, NAMES_TEXT_MAX
	};
	uint64_t number;
	char *line, *end;

	while ((line = strsep(&text, "\n"))) {
		number = strtoull(line, &end, id == OPTION_CMDLINES ? 10 : 16);
		if (end == line)
			continue;
		if (id == OPTION_KALLSYMS)
			add_function(tep, &left, end, number);
		else if (id == OPTION_PRINTK)
			add_printk(tep, &left, end, number);
		else if (*end == ' ' && number <= INT32_MAX && spend(&left, end + 1, NULL))
			tep_register_comm(tep, end + 1, number);
	}
}

/* Read a section, or skip it before there is a handle of libtraceevent. */
void hyptrace_section_read(struct hyptrace_file *f, struct file_cursor *c, enum file_option id)
{
	uint32_t most = FILE_COUNT_MAX, formats = FILE_COUNT_MAX, systems;
	char name[FILE_NAME_MAX], *text;
	uint64_t left = FORMATS_MAX, size;

	switch (id) {
	case OPTION_FTRACE_EVENTS:
		read_system(f, c, FTRACE, hyptrace_cursor_count(c, &formats), &left);
		break;
	case OPTION_EVENT_FORMATS:
		for (systems = hyptrace_cursor_count(c, &most); systems && !c->ret; systems--) {
			hyptrace_cursor_string(c, name, sizeof(name));
			read_system(f, c, name, hyptrace_cursor_count(c, &formats), &left);
		}
		break;
	default:
		/* only the size of the names of processes has 64 bits */
		size = id == OPTION_CMDLINES ? hyptrace_cursor_u64(c) :
						       hyptrace_cursor_u32(c);
		text = f->tep ? hyptrace_cursor_text(c, size, TEXT_MAX) : NULL;
		if (text)
			add_names(f->tep, text, id);
		else
			hyptrace_cursor_skip(c, size);
		free(text);
	}
}

static bool is_far(const struct tep_format_field *field)
{
	return field->offset < 0 || field->size < 0 || field->offset > UINT16_MAX ||
	       field->size > UINT16_MAX;
}

static bool add_field(struct hyptrace_event *event, const struct tep_format_field *from)
{
	struct hyptrace_field *field = hyptrace_list_add(&event->fields, &event->nr_fields,
							 sizeof(*field));

	if (!field)
		return false;
	field->name = strdup(from->name);
	field->type = strdup(from->type);
	field->offset = is_far(from) ? 0 : from->offset;
	field->size = is_far(from) ? 0 : from->size;
	field->is_signed = from->flags & TEP_FIELD_IS_SIGNED;
	/* a number, or what says where the bytes are */
	if (!(from->flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_STRING)) ||
	    from->flags & TEP_FIELD_IS_DYNAMIC)
		event->size = MAX(event->size, field->offset + field->size);
	return field->name && field->type;
}

static bool add_fields(struct hyptrace_event *event, struct tep_event *tep)
{
	const struct tep_format_field *const lists[] = {
		tep->format.common_fields, tep->format.fields,
	};
	const struct tep_format_field *from;
	unsigned int i;

	for (i = 0; i < 2; i++)
		for (from = lists[i]; from; from = from->next) {
			/* libtraceevent would read it */
			if (is_far(from))
				tep->flags |= TEP_EVENT_FL_FAILED;
			if ((i || strcmp(from->name, "common_type")) && !add_field(event, from))
				return false;
		}
	return true;
}

/* The names of a field's values are in its print format. */
static bool add_symbols(struct hyptrace_event *event, const struct tep_print_arg *arg)
{
	const struct tep_print_flag_sym *from;
	struct hyptrace_symbol *symbol;
	struct hyptrace_field *field;

	if (arg->type != TEP_PRINT_SYMBOL || !arg->symbol.field ||
	    arg->symbol.field->type != TEP_PRINT_FIELD)
		return true;
	field = (struct hyptrace_field *)hyptrace_event_field(event, arg->symbol.field->field.name);
	if (!field || field->symbols)
		return true;
	for (from = arg->symbol.symbols; from; from = from->next) {
		if (!isdigit((unsigned char)from->value[0]))
			continue;
		symbol = hyptrace_list_add(&field->symbols, &field->nr_symbols, sizeof(*symbol));
		if (!symbol)
			return false;
		symbol->value = strtoull(from->value, NULL, 0);
		symbol->name = strdup(from->str);
		if (!symbol->name)
			return false;
	}
	return true;
}

static bool add_event(struct hyptrace_file_meta *meta, struct tep_event *from)
{
	const struct tep_print_arg *arg;
	struct hyptrace_event *event;

	event = hyptrace_list_add(&meta->info.events, &meta->info.nr_events, sizeof(*event));
	if (!event)
		return false;
	snprintf(event->remote, sizeof(event->remote), "%s", from->system ? from->system : "");
	snprintf(event->name, sizeof(event->name), "%s", from->name);
	event->id = from->id;
	event->size = sizeof(uint16_t);
	event->print_fmt = strdup(from->print_fmt.format ? from->print_fmt.format : "");
	if (!event->print_fmt || !add_fields(event, from))
		return false;
	for (arg = from->print_fmt.args; arg; arg = arg->next)
		if (!add_symbols(event, arg))
			return false;
	return true;
}

struct hyptrace_formats *hyptrace_file_read_formats(struct hyptrace_file *f,
						    struct hyptrace_error *err)
{
	struct tep_handle *tep = tep_alloc();
	struct file_cursor c;
	unsigned int i;
	int nr, ret = 0;

	if (!tep)
		return hyptrace_error_null(hyptrace_error_memory(err));
	/* return values report failures: libtraceevent must not print to stderr */
	tep_set_loglevel(TEP_LOG_NONE);
	/* the records are converted before libtraceevent sees them */
	tep_set_file_bigendian(tep, tep_is_local_bigendian(tep));
	tep_set_long_size(tep, f->long_size);
	tep_set_page_size(tep, f->meta.info.subbuf_size);
	f->tep = tep;
	for (i = OPTION_FTRACE_EVENTS; i < NR_FILE_SECTIONS && !ret; i++) {
		if (!f->sections[i].size)
			continue;
		hyptrace_section_open(f, &c, &f->sections[i], "formats of events", err);
		if (!c.ret)
			hyptrace_section_read(f, &c, i);
		free(c.mem);
		/* if others are damaged, events print less, but are still there */
		if (c.ret != -EBADMSG || i == OPTION_EVENT_FORMATS)
			ret = c.ret;
	}
	for (nr = 0; !ret && nr < tep_get_events_count(tep); nr++)
		if (!add_event(&f->meta, tep_get_event(tep, nr)))
			ret = hyptrace_error_memory(err);
	if (!ret)
		return hyptrace_formats_make(tep, true, f->meta.info.events,
					     f->meta.info.nr_events, err);
	tep_free(tep);
	return NULL;
}
