// SPDX-License-Identifier: GPL-2.0-only
/*
 * Let libtraceevent print an event, also one of the host in a file of trace-cmd. For format.c.
 *
 * libtraceevent trusts the records, which may be damaged: so it gets a copy of a record, with zeros
 * behind it, and only if what the record says about itself is true. It gets no formats that read as
 * far as a number in the record says, or that divide by such a number.
 */
#include "format.h"

/* A text ends in the zeros behind the record, and so does a number that is cut off. */
#define ZEROS		64
#define RECORD_MAX	(64 << 10)
#define LEVELS_MAX	64

static bool is_safe(const struct tep_event *event, const struct tep_print_arg *arg,
		    unsigned int level);

static bool is_positive(const struct tep_print_arg *arg)
{
	return arg && arg->type == TEP_PRINT_ATOM && strtoll(arg->atom.atom, NULL, 0) > 0;
}

/* Is the argument a field that says where its bytes are, which is_whole() has checked? */
static bool is_dynamic(const struct tep_event *event, const char *name)
{
	const struct tep_format_field *field = tep_find_any_field((struct tep_event *)event, name);

	return field && field->flags & TEP_FIELD_IS_DYNAMIC;
}

/* Are the bytes and their number those of one field, or is the number one of the format? */
static bool is_safe_array(const struct tep_print_arg *field, const struct tep_print_arg *size)
{
	if (is_positive(size))
		return strtoll(size->atom.atom, NULL, 0) <= ZEROS &&
		       (field->type == TEP_PRINT_FIELD || field->type == TEP_PRINT_DYNAMIC_ARRAY);
	return size->type == TEP_PRINT_DYNAMIC_ARRAY_LEN &&
	       field->type == TEP_PRINT_DYNAMIC_ARRAY && !field->dynarray.index &&
	       field->dynarray.field == size->dynarray.field;
}

static bool is_safe_operation(const struct tep_event *event, const struct tep_print_arg *arg,
			      unsigned int level)
{
	if (!arg->op.op || !arg->op.right || strchr(arg->op.op, '['))
		return false;
	if (strchr("/%", arg->op.op[0]) && !is_positive(arg->op.right))
		return false;
	return is_safe(event, arg->op.left, level) && is_safe(event, arg->op.right, level);
}

static bool is_safe(const struct tep_event *event, const struct tep_print_arg *arg,
		    unsigned int level)
{
	if (!arg)
		return true;
	if (level++ > LEVELS_MAX)
		return false;
	switch (arg->type) {
	case TEP_PRINT_OP:
		return is_safe_operation(event, arg, level);
	case TEP_PRINT_HEX:
	case TEP_PRINT_HEX_STR:
		return is_safe_array(arg->hex.field, arg->hex.size);
	case TEP_PRINT_INT_ARRAY:
		/* a length in elements of several bytes is not checked */
		return is_safe_array(arg->int_array.field, arg->int_array.count) &&
		       is_positive(arg->int_array.el_size) &&
		       strtoll(arg->int_array.el_size->atom.atom, NULL, 0) == 1;
	case TEP_PRINT_TYPE:
		return is_safe(event, arg->typecast.item, level);
	case TEP_PRINT_FLAGS:
		return is_safe(event, arg->flags.field, level);
	case TEP_PRINT_SYMBOL:
		return is_safe(event, arg->symbol.field, level);
	case TEP_PRINT_STRING:
		return is_dynamic(event, arg->string.string);
	case TEP_PRINT_NULL:
	case TEP_PRINT_ATOM:
	case TEP_PRINT_FIELD:
	case TEP_PRINT_DYNAMIC_ARRAY_LEN:
		return true;
	default:
		/* functions, masks, and elements of arrays by their index */
		return arg->type == TEP_PRINT_DYNAMIC_ARRAY && !arg->dynarray.index;
	}
}

/* Return the event if libtraceevent can print it, else NULL. */
struct tep_event *hyptrace_safe_event(struct tep_event *event)
{
	const struct tep_print_arg *arg;

	if (!event || event->flags & TEP_EVENT_FL_FAILED)
		return NULL;
	for (arg = event->print_fmt.args; arg; arg = arg->next)
		if (!is_safe(event, arg, 0))
			return NULL;
	return event;
}

/* Are all fields inside the record? libtraceevent reads an array up to its declared size. */
static bool is_whole(const struct hyptrace_event *event, const struct hyptrace_record *rec)
{
	unsigned int i;
	uint32_t size;

	for (i = 0; i < event->nr_fields; i++)
		if (!hyptrace_field_bytes(event->fields[i], rec, &size) ||
		    event->fields[i]->size > rec->size - event->fields[i]->offset)
			return false;
	return rec->size <= RECORD_MAX;
}

bool hyptrace_foreign_print(struct tep_handle *tep, struct trace_seq *s,
			    struct tep_event *tep_event, const struct hyptrace_event *event,
			    const struct hyptrace_record *rec)
{
	struct tep_record record = { .ts = rec->ts, .size = rec->size };
	char *copy;

	if (!tep_event || !is_whole(event, rec))
		return false;
	copy = malloc(rec->size + ZEROS);
	if (!copy)
		return false;
	memcpy(copy, rec->data, rec->size);
	memset(copy + rec->size, 0, ZEROS);
	record.data = copy;
	tep_print_event(tep, s, &record, "%s", TEP_PRINT_INFO);
	free(copy);
	/* trace_printk() has them */
	while (s->len && s->buffer[s->len - 1] == '\n')
		s->len--;
	return true;
}
