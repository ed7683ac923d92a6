// SPDX-License-Identifier: GPL-2.0-only
/*
 * Start a trace that is described in words, on the kernel's command line or as the parameter of a
 * module:
 *
 *	EVENT[,EVENT...][:size=2M][:mode=discard][:stop=EVENT][:after=N][:filter=FILTER]
 *
 * A wrong word is named in the log, and the rest is done. Called when a remote is registered.
 */
#include <linux/bits.h>
#include <linux/cleanup.h>
#include <linux/glob.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "internal.h"

struct boot {
	struct hyptrace_remote		*remote;
	u64				events;
	u64				size;
	enum hyptrace_mode		mode;
	const struct hyptrace_event	*stop;
	u32				after;
	const char			*filter;
	/* why an event does not use the filter, and at which place of it that is */
	const char			*why;
	const char			*at;
	bool				is_wrong;	/* not just for lack of a field */
};

static void warn(const struct boot *boot, const char *word, const char *why)
{
	pr_warn("hyptrace: remote \"%s\": \"%s\" in the words of the boot is ignored: %s\n",
		boot->remote->name, word, why);
}

/* The functions below return NULL, or why the value is wrong. */
static const char *set_size(struct boot *boot, char *value)
{
	char *end;
	u64 size = memparse(value, &end);

	if (end == value || *end || !size)
		return "a size is a number, perhaps with K, M or G";
	boot->size = size;
	return NULL;
}

static const char *set_mode(struct boot *boot, char *value)
{
	if (!strcmp(value, "overwrite"))
		boot->mode = HYPTRACE_MODE_OVERWRITE;
	else if (!strcmp(value, "discard"))
		boot->mode = HYPTRACE_MODE_DISCARD;
	else
		return "a mode is overwrite or discard";
	return NULL;
}

static const char *set_stop(struct boot *boot, char *value)
{
	boot->stop = hyptrace_event_find(boot->remote, value);
	if (!boot->stop)
		return "there is no such event";
	if (!(boot->remote->desc->missing & BIT_ULL(boot->stop->id)))
		return NULL;
	boot->stop = NULL;
	return "it is not in this kernel";
}

static const char *set_after(struct boot *boot, char *value)
{
	const unsigned int base = strncasecmp(value, "0x", 2) ? 10 : 16;

	return kstrtou32(value, base, &boot->after) ? "it takes a number of sub-buffers" : NULL;
}

static const char *set_filter(struct boot *boot, char *value)
{
	if (!*value)
		return "a filter is missing";
	boot->filter = value;
	return NULL;
}

static const struct {
	const char	*name;
	const char	*(*set)(struct boot *boot, char *value);
} options[] = {
	{ "size", set_size }, { "mode", set_mode }, { "stop", set_stop },
	{ "after", set_after }, { "filter", set_filter },
};

/* @given has a bit per option that was given before. */
static void read_option(struct boot *boot, char *word, unsigned long *given)
{
	char *value = strchr(word, '=');
	const char *why = "there is no such option";
	unsigned int i;

	if (value)
		*value = '\0';
	for (i = 0; value && i < ARRAY_SIZE(options); i++) {
		if (strcmp(word, options[i].name))
			continue;
		why = *given & BIT(i) ? "it was given before" : options[i].set(boot, value + 1);
		*given |= BIT(i);
		break;
	}
	if (value)
		*value = '=';
	if (why)
		warn(boot, word, why);
}

/* Does a name or a glob mean the event? Kernels that lack globs take "*" at the end only. */
static bool means(const char *name, const char *event)
{
	const size_t length = strcspn(name, "*");

	if (!strcmp(name, event))
		return true;
	if (IS_ENABLED(CONFIG_GLOB))
		return glob_match(name, event);
	return !strcmp(name + length, "*") && !strncmp(name, event, length);
}

static void read_event(struct boot *boot, const char *name)
{
	const struct hyptrace_remote *remote = boot->remote;
	u64 found = 0;
	unsigned int i;

	for (i = 0; i < remote->nr_events; i++) {
		const struct hyptrace_event *event = remote->events[i];

		/* All functions of EL2 are not what is meant by all events. */
		if (!strcmp(name, "all") ? event->id != remote->desc->follower :
					   means(name, event->name))
			found |= BIT_ULL(event->id);
	}
	if (!found)
		warn(boot, name, "there is no such event");
	else if (!(found & ~remote->desc->missing))
		warn(boot, name, "it is not in this kernel");
	boot->events |= found & ~remote->desc->missing;
}

static void read_words(struct boot *boot, char *words)
{
	char *events = strsep(&words, ":"), *word;
	unsigned long given = 0;

	while ((word = strsep(&words, ":")))
		read_option(boot, word, &given);
	if (!*events && !boot->stop)
		pr_warn("hyptrace: remote \"%s\" is not traced: the words of the boot name no event\n",
			boot->remote->name);
	while ((word = strsep(&events, ","))) {
		if (*word)
			read_event(boot, word);
	}
	if (boot->after && !boot->stop) {
		warn(boot, "after", "it needs stop=EVENT");
		boot->after = 0;
	}
}

/* Enable an event, with the filter if the event has the fields. */
static void set_event(struct boot *boot, const struct hyptrace_event *event, bool *is_filtered)
{
	struct hyptrace_event_request request = {
		.events = BIT_ULL(event->id), .enable = true,
	};
	const char *at = NULL, *why = NULL;
	struct hyptrace_filter_request filter;
	struct netlink_ext_ack extack = {};
	int err = -ENOENT;

	if (boot->filter)
		err = hyptrace_filter_parse(boot->filter, event, &filter, &at, &why);
	if (!err) {
		request.filter = &filter;
		*is_filtered = true;
	} else if (!boot->why || (err == -EINVAL && !boot->is_wrong)) {
		boot->is_wrong = err == -EINVAL;
		boot->why = why;
		boot->at = at;
	}
	/* Without its filter, it would stop the recording at the first such event. */
	if (event == boot->stop && err != -EINVAL) {
		request.trigger = HYPTRACE_TRIGGER_STOP;
		request.after = boot->after;
	}
	if (hyptrace_events_set(boot->remote, &request, &extack))
		warn(boot, event->name, extack._msg ?: "the remote cannot enable it");
}

static void set_events(struct boot *boot)
{
	const struct hyptrace_remote *remote = boot->remote;
	bool is_filtered = false;
	unsigned int i;

	for (i = 0; i < remote->nr_events; i++) {
		const struct hyptrace_event *event = remote->events[i];

		if (boot->events & BIT_ULL(event->id) || event == boot->stop)
			set_event(boot, event, &is_filtered);
	}
	if (boot->filter && (!is_filtered || boot->is_wrong))
		warn(boot, *boot->at ? boot->at : boot->filter, boot->why);
}

static void start(struct boot *boot)
{
	struct netlink_ext_ack extack = {};
	int err;

	err = hyptrace_remote_load(boot->remote, boot->size, boot->mode, &extack);
	if (err) {
		pr_warn("hyptrace: remote \"%s\": cannot load rings of %llu bytes: %s\n",
			boot->remote->name, boot->size, extack._msg ?: "the remote refuses them");
		err = hyptrace_remote_load(boot->remote,
					   hyptrace_remote_default_size(boot->remote->desc),
					   boot->mode, &extack);
	}
	err = err ?: hyptrace_remote_start(boot->remote, &extack);
	if (err)
		pr_warn("hyptrace: remote \"%s\" is not traced: %s\n", boot->remote->name,
			extack._msg ?: "the remote refuses it");
	if (err && boot->remote->state == HYPTRACE_STATE_LOADED)
		hyptrace_remote_unload(boot->remote, &extack);
}

/**
 * hyptrace_remote_boot - start a trace that is described in words
 * @remote:	no mutex held; just registered
 * @words:	see above
 */
void hyptrace_remote_boot(struct hyptrace_remote *remote, const char *words)
{
	char *copy __free(kfree) = kstrdup(words, GFP_KERNEL);
	struct boot boot = {
		.remote = remote,
		.size = hyptrace_remote_default_size(remote->desc),
		.mode = HYPTRACE_DEFAULT_MODE,
	};
	int err = copy ? hyptrace_remote_begin_change(remote) : -ENOMEM;

	if (err) {
		pr_warn("hyptrace: remote \"%s\" is not traced: %s\n", remote->name,
			err == -ENOMEM ? "not enough free memory" : "it was interrupted");
		return;
	}
	read_words(&boot, copy);
	if (boot.events || boot.stop) {
		set_events(&boot);
		start(&boot);
	}
	hyptrace_remote_end_change(remote);
}
