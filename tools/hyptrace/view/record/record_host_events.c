// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events of the host that hyptrace record --host names, as trace-cmd takes them:
 * "kvm:kvm_exit", "kvm" (a system) or "kvm_exit" (in any system), with globs.
 *
 * In a trace file, an id stands for one event. The ids of the kernel and those of a remote both
 * begin with small numbers, so those of the kernel are moved up.
 */
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include <traceevent/kbuffer.h>
#include <tracefs.h>

#include "output/die.h"
#include "record.h"

/* All ids of remotes are lower. */
#define ID_OFFSET	16384

/* Its events are those of tracers: they cannot be enabled. */
#define TRACERS		"ftrace"

static bool is_named(const char *word, const char *system, const char *event)
{
	auto_free char *pattern = NULL;
	const char *colon = strchr(word, ':');

	if (!colon)
		return !fnmatch(word, system, 0) || !fnmatch(word, event, 0);
	pattern = xstrndup(word, colon - word);
	return !fnmatch(pattern, system, 0) && !fnmatch(colon + 1, event, 0);
}

static void add_event(struct record_host *host, const char *system, const char *event)
{
	const unsigned int nr = host->nr_events++;

	host->systems = xreallocarray(host->systems, nr + 1, sizeof(*host->systems));
	host->names = xreallocarray(host->names, nr + 1, sizeof(*host->names));
	host->formats = xreallocarray(host->formats, nr + 1, sizeof(*host->formats));
	host->systems[nr] = xstrdup(system);
	host->names[nr] = xstrdup(event);
	host->formats[nr] = NULL;
}

static int list_events(struct record_host *host)
{
	char **systems = tracefs_event_systems(NULL), **system, **events, **event;

	if (!systems && errno == ENOENT)
		return cmd_fail("cannot record the host: this kernel has no tracefs, or it is not mounted");
	if (!systems)
		return cmd_fail("cannot record the host: cannot read the events of tracefs: %s",
				strerror(errno));
	for (system = systems; *system; system++) {
		events = strcmp(*system, TRACERS) ? tracefs_system_events(NULL, *system) : NULL;
		for (event = events; event && *event; event++)
			add_event(host, *system, *event);
		tracefs_list_free(events);
	}
	tracefs_list_free(systems);
	return EXIT_DONE;
}

/* Say that no event has a name, and which one or which system was probably meant. */
static int fail_unknown(const struct record_host *host, const char *word)
{
	const char *colon = strchr(word, ':'), *name = colon ? colon + 1 : word;
	const char *best = NULL, *system = NULL, *near;
	unsigned int i;

	for (i = 0; i < host->nr_events && !strpbrk(word, "*?["); i++) {
		near = colon ? best : hyptrace_nearest(name, best, host->systems[i]);
		if (near != best)
			system = NULL;
		best = hyptrace_nearest(name, near, host->names[i]);
		if (best != near)
			system = host->systems[i];
	}
	if (!best)
		return cmd_fail("cannot record the host: tracefs has no event \"%s\"", word);
	return cmd_fail("cannot record the host: tracefs has no event \"%s\"; did you mean \"%s%s%s\"?",
			word, system ?: "", system ? ":" : "", best);
}

int record_host_choose(struct record_host *host)
{
	const struct words *words = &host->words;
	int code = list_events(host);
	unsigned int i, j, nr = 0;
	auto_free bool *named = xcalloc(host->nr_events + 1, sizeof(*named));

	for (i = 0; i < words->nr && !code; i++) {
		bool found = false;

		for (j = 0; j < host->nr_events; j++) {
			if (!is_named(words->words[i], host->systems[j], host->names[j]))
				continue;
			named[j] = true;
			found = true;
		}
		if (!found)
			code = fail_unknown(host, words->words[i]);
	}
	for (j = 0; j < host->nr_events; j++) {
		if (!named[j]) {
			free(host->systems[j]);
			free(host->names[j]);
			continue;
		}
		host->systems[nr] = host->systems[j];
		host->names[nr++] = host->names[j];
	}
	host->nr_events = nr;
	return code;
}

/* For free(); NULL if the format has no id, or a large one */
static char *renumber_format(const char *format)
{
	static const char begin[] = "\nID: ";
	const char *at = strstr(format, begin);
	unsigned long id;
	char *end;

	if (!at || !isdigit((unsigned char)at[strlen(begin)]))
		return NULL;
	at += strlen(begin);
	id = strtoul(at, &end, 10);
	if (id > UINT16_MAX - ID_OFFSET)
		return NULL;
	return xasprintf("%.*s%lu%s", (int)(at - format), format, id + ID_OFFSET, end);
}

int record_host_read_formats(struct record_host *host)
{
	unsigned int i;

	for (i = 0; i < host->nr_events; i++) {
		auto_free char *text = tracefs_event_file_read(host->instance, host->systems[i],
							       host->names[i], "format", NULL);

		if (text)
			host->formats[i] = renumber_format(text);
		if (!host->formats[i])
			return cmd_fail("cannot record the host: cannot read the format of \"%s/%s\"",
					host->systems[i], host->names[i]);
	}
	return EXIT_DONE;
}

/* Give the events of a sub-buffer the ids that they have in the file. Return their number. */
uint64_t record_host_renumber(struct record_host *host, void *subbuf)
{
	unsigned long long ts;
	uint64_t events = 0;
	uint16_t id;
	void *data;

	kbuffer_load_subbuffer(host->kbuf, subbuf);
	for (data = kbuffer_read_event(host->kbuf, &ts); data;
	     data = kbuffer_next_event(host->kbuf, &ts)) {
		memcpy(&id, data, sizeof(id));
		id += ID_OFFSET;
		memcpy(data, &id, sizeof(id));
		events++;
	}
	return events;
}
