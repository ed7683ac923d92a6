// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the formats of events know besides their texts: the names of values, and the hypercalls.
 */
#include "format.h"

/**
 * hyptrace_formats_has_sentence - check whether an event is printed as a sentence
 * @fmts:	the formats
 * @event:	the event, from hyptrace_formats_event()
 *
 * Return: true if it is; false if it is printed in its print format.
 */
bool hyptrace_formats_has_sentence(const struct hyptrace_formats *fmts,
				   const struct hyptrace_event *event)
{
	return fmts->by_id[event->id].sentence;
}

/**
 * hyptrace_formats_name - get the name of a field's value
 * @fmts:	the formats
 * @event:	the event, from hyptrace_formats_event()
 * @field:	the field, one of @event
 * @rec:	a record of @event
 *
 * Return: the name, such as "-EPERM" for a field ret; NULL if the value has none.
 */
const char *hyptrace_formats_name(const struct hyptrace_formats *fmts,
				  const struct hyptrace_event *event,
				  const struct hyptrace_field *field,
				  const struct hyptrace_record *rec)
{
	const struct sentence *sentence = fmts->by_id[event->id].sentence;
	const char *name = NULL;
	uint64_t value;

	if (hyptrace_field_value(field, rec, &value))
		return NULL;
	if (sentence && !hyptrace_sentence_has_value(sentence, field, rec->data))
		return NULL;
	if (sentence)
		name = hyptrace_sentence_name(sentence, field, rec->data);
	return name ? name : hyptrace_symbol_name(field, value);
}

/**
 * hyptrace_formats_name_depends - check whether the name of a value depends on the whole event
 * @fmts:	the formats
 * @event:	the event, from hyptrace_formats_event()
 * @field:	the field, one of @event
 *
 * Return: true if hyptrace_formats_name() may give a value another name than
 * hyptrace_symbol_name().
 */
bool hyptrace_formats_name_depends(const struct hyptrace_formats *fmts,
				   const struct hyptrace_event *event,
				   const struct hyptrace_field *field)
{
	const struct sentence *sentence = fmts->by_id[event->id].sentence;

	return sentence && hyptrace_sentence_names(sentence, field);
}

/**
 * hyptrace_formats_hypercall - get the hypercall that an event describes
 * @fmts:	the formats
 * @event:	the event, from hyptrace_formats_event()
 * @rec:	a record of @event
 *
 * Return: the hypercall, one of hyptrace_formats_set_hypercalls(); else NULL.
 */
const struct hyptrace_hypercall *hyptrace_formats_hypercall(const struct hyptrace_formats *fmts,
							    const struct hyptrace_event *event,
							    const struct hyptrace_record *rec)
{
	const struct sentence *sentence = fmts->by_id[event->id].sentence;

	return sentence ? hyptrace_sentence_call(sentence, rec->data) : NULL;
}

/**
 * hyptrace_formats_result - get the field that has a value only if a hypercall returns something
 * @fmts:	the formats
 * @event:	the event, from hyptrace_formats_event()
 *
 * Return: the field; NULL if the event is not that of a hypercall.
 */
const struct hyptrace_field *hyptrace_formats_result(const struct hyptrace_formats *fmts,
						     const struct hyptrace_event *event)
{
	const struct sentence *sentence = fmts->by_id[event->id].meaning;

	return sentence ? hyptrace_sentence_result_field(sentence) : NULL;
}

/**
 * hyptrace_formats_has_result - is there a value in the field of hyptrace_formats_result()?
 * @fmts:	the formats
 * @event:	the event, from hyptrace_formats_event()
 * @rec:	a record of @event
 *
 * Return: false if the hypercall was invalid or returns nothing; true for other events.
 */
bool hyptrace_formats_has_result(const struct hyptrace_formats *fmts,
				 const struct hyptrace_event *event,
				 const struct hyptrace_record *rec)
{
	const struct sentence *sentence = fmts->by_id[event->id].meaning;

	return !sentence || hyptrace_sentence_has_result(sentence, rec->data);
}
