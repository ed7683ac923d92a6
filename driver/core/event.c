// SPDX-License-Identifier: GPL-2.0-only
/* Check, find and enable events, and find the names of values. Called by core and netlink/. */
#include <linux/bits.h>
#include <linux/ctype.h>
#include <linux/kstrtox.h>
#include <linux/string.h>

#include "internal.h"

#define pr_bad(desc, fmt, ...) \
	pr_err("hyptrace: remote \"%s\": " fmt "\n", (desc)->name, ##__VA_ARGS__)

static bool is_identifier(const char *name, size_t max)
{
	size_t i;

	if (!name || isdigit(name[0]))
		return false;
	for (i = 0; name[i]; i++) {
		if (i == max || !(isalnum(name[i]) || name[i] == '_'))
			return false;
	}
	return i;
}

static bool fields_fit(const struct hyptrace_event *event)
{
	unsigned int i;

	if (event->nr_fields && !event->fields)
		return false;
	for (i = 0; i < event->nr_fields; i++) {
		const struct hyptrace_field *field = &event->fields[i];

		if (!is_identifier(field->name, HYPTRACE_EVENT_NAME_MAX) || !field->type)
			return false;
		/* The event id is at offset 0. */
		if (field->offset < sizeof(u16) || !field->size ||
		    field->offset + field->size > event->size)
			return false;
	}
	return true;
}

/**
 * hyptrace_event_check - check the events of a remote before its registration
 * @desc:	the remote
 * @events:	out: the events; it has room for @desc->nr_events
 * Return: 0, or -EINVAL after a message in the log that gives the reason.
 */
int hyptrace_event_check(const struct hyptrace_remote_desc *desc,
			 const struct hyptrace_event **events)
{
	unsigned int i, j;
	u64 ids = 0;

	for (i = 0; i < desc->nr_events; i++) {
		const struct hyptrace_event *event;

		event = desc->events && desc->events[i] ? desc->events[i]() : NULL;
		if (!event) {
			pr_bad(desc, "event %u has no description", i);
			return -EINVAL;
		}
		if (!is_identifier(event->name, HYPTRACE_EVENT_NAME_MAX)) {
			pr_bad(desc,
			       "the name of event %u is not an identifier of up to %u characters",
			       i, HYPTRACE_EVENT_NAME_MAX);
			return -EINVAL;
		}
		if (event->id >= HYPTRACE_MAX_EVENT_ID) {
			pr_bad(desc, "event \"%s\" has id %u, not 0 to %u", event->name,
			       event->id, HYPTRACE_MAX_EVENT_ID - 1);
			return -EINVAL;
		}
		if (ids & BIT_ULL(event->id)) {
			pr_bad(desc, "event \"%s\" has the id %u of another event",
			       event->name, event->id);
			return -EINVAL;
		}
		if (event->size < sizeof(u16) || event->size > HYPTRACE_SUBBUF_DATA_SIZE / 2) {
			pr_bad(desc, "the payload of event \"%s\" has %u bytes, not %zu to %lu",
			       event->name, event->size, sizeof(u16),
			       HYPTRACE_SUBBUF_DATA_SIZE / 2);
			return -EINVAL;
		}
		if (!event->print_fmt || !fields_fit(event)) {
			pr_bad(desc, "event \"%s\" lacks a print format, or has a bad field",
			       event->name);
			return -EINVAL;
		}
		for (j = 0; j < i; j++) {
			if (!strcmp(events[j]->name, event->name)) {
				pr_bad(desc, "two events have the name \"%s\"", event->name);
				return -EINVAL;
			}
		}
		ids |= BIT_ULL(event->id);
		events[i] = event;
	}
	return 0;
}

/**
 * hyptrace_event_find - find an event by its name
 * @remote:	control mutex held, and not unregistered
 * @name:	exact name
 * Return: the event, or NULL.
 */
const struct hyptrace_event *hyptrace_event_find(const struct hyptrace_remote *remote,
						 const char *name)
{
	unsigned int i;

	for (i = 0; i < remote->nr_events; i++) {
		if (!strcmp(remote->events[i]->name, name))
			return remote->events[i];
	}
	return NULL;
}

/**
 * hyptrace_event_by_id - find an event by its id
 * @remote:	control mutex held, and not unregistered
 * @id:		any number
 * Return: the event, or NULL.
 */
const struct hyptrace_event *hyptrace_event_by_id(const struct hyptrace_remote *remote, u32 id)
{
	unsigned int i;

	for (i = 0; i < remote->nr_events; i++) {
		if (remote->events[i]->id == id)
			return remote->events[i];
	}
	return NULL;
}

/* If @mask has the event, make the writer enable or disable it, as in @enabled. */
static int set_one(struct hyptrace_remote *remote, const struct hyptrace_event *event, u64 mask,
		   u64 enabled)
{
	const struct hyptrace_remote_desc *desc = remote->desc;

	if (!(mask & BIT_ULL(event->id)))
		return 0;
	return desc->ops->enable_event(event->id, enabled & BIT_ULL(event->id), desc->priv);
}

/* All events, or none after an error. */
static int set_all(struct hyptrace_remote *remote, u64 mask, u64 enabled,
		   const struct hyptrace_event **failed)
{
	unsigned int i;
	int err;

	for (i = 0; i < remote->nr_events; i++) {
		err = set_one(remote, remote->events[i], mask, enabled);
		if (err)
			goto err_restore;
	}
	return 0;

err_restore:
	*failed = remote->events[i];
	while (i--)
		set_one(remote, remote->events[i], mask, ~enabled);
	return err;
}

static int check_missing(const struct hyptrace_remote *remote, u64 events,
			 struct netlink_ext_ack *extack)
{
	unsigned int i;

	for (i = 0; i < remote->nr_events; i++) {
		if (!(events & remote->desc->missing & BIT_ULL(remote->events[i]->id)))
			continue;
		NL_SET_ERR_MSG_FMT(extack, "\"%.32s\" is not in this kernel: see %s",
				   remote->events[i]->name,
				   remote->events[i]->id == remote->desc->follower ?
				   "CONFIG_HYPTRACE_EL2_FUNCTIONS" : "patch-tree");
		return -EOPNOTSUPP;
	}
	return 0;
}

/**
 * hyptrace_events_replace - replace the set of enabled events
 * @remote:	control mutex held
 * @enabled:	bit per id of an event that is to be enabled
 * @extack:	names the event that failed; may be NULL
 * Return: 0; -EOPNOTSUPP if the writer cannot record one, or a callback's error: nothing changed.
 */
int hyptrace_events_replace(struct hyptrace_remote *remote, u64 enabled,
			    struct netlink_ext_ack *extack)
{
	u64 change = enabled ^ remote->enabled;
	const struct hyptrace_event *failed;
	unsigned int i;
	int err;

	err = check_missing(remote, change & enabled, extack);
	if (err)
		return err;
	err = set_all(remote, change, enabled, &failed);
	if (err) {
		NL_SET_ERR_MSG_FMT(extack, "the remote failed to %s \"%.32s\" (error %d)",
				   enabled & BIT_ULL(failed->id) ? "enable" : "disable",
				   failed->name, -err);
		return err;
	}
	remote->enabled = enabled;
	for (i = 0; i < remote->nr_events; i++) {
		if (change & BIT_ULL(remote->events[i]->id))
			hyptrace_announce(event_changed, remote, remote->events[i]);
	}
	return 0;
}

/**
 * hyptrace_symbols_of - find the names of a field's values in a print format
 * @print_fmt:	may contain __print_symbolic(REC->field, { value, "name" }, ...)
 * @field:	name of the field
 * Return: the position to pass to hyptrace_symbol_next(), or NULL if there are no names.
 */
const char *hyptrace_symbols_of(const char *print_fmt, const char *field)
{
	static const char call[] = "__print_symbolic";
	size_t length = strlen(field);
	const char *at = print_fmt, *arg;

	/* Some formats have thousands of characters. strstr() would compare at each of them. */
	for (; (at = strchr(at, '(')); at++) {
		if (at < print_fmt + sizeof(call) - 1 ||
		    strncmp(at - sizeof(call) + 1, call, sizeof(call) - 1))
			continue;
		arg = skip_spaces(at + 1);
		if (!strncmp(arg, "REC->", 5) && !strncmp(arg + 5, field, length)) {
			const char *end = skip_spaces(arg + 5 + length);

			if (*end == ',')
				return end;
		}
	}
	return NULL;
}

/**
 * hyptrace_symbol_next - parse the next pair of { value, "name" }
 * @at:		position from hyptrace_symbols_of() or the previous call
 * @symbol:	out: the pair
 * Return: the position for the next call, or NULL if there are no more pairs.
 */
const char *hyptrace_symbol_next(const char *at, struct hyptrace_symbol *symbol)
{
	char number[24];
	size_t length;
	long long negative;

	if (*at != ',')
		return NULL;
	at = skip_spaces(at + 1);
	if (*at != '{')
		return NULL;
	at = skip_spaces(at + 1);

	length = strspn(at, "-0123456789abcdefxABCDEFX");
	if (!length || length >= sizeof(number))
		return NULL;
	memcpy(number, at, length);
	number[length] = '\0';
	if (kstrtoull(number, 0, &symbol->value)) {
		if (kstrtoll(number, 0, &negative))
			return NULL;
		symbol->value = negative;
	}
	at += length;
	at = skip_spaces(at + strspn(at, "uUlL"));

	if (*at != ',')
		return NULL;
	at = skip_spaces(at + 1);
	if (*at != '"')
		return NULL;
	symbol->name = ++at;
	symbol->length = strcspn(at, "\"");
	at += symbol->length;
	if (*at != '"')
		return NULL;
	at = skip_spaces(at + 1);
	return *at == '}' ? skip_spaces(at + 1) : NULL;
}
