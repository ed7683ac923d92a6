// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events of the host that hyptrace record --host names, as trace-cmd takes them:
 * "kvm:kvm_exit", "kvm" (a system) or "kvm_exit" (in any system), with globs. For record_host.c.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include <tracefs.h>

#include "lib/internal.h"
#include "output/die.h"
#include "output/message.h"
#include "record_host.h"

/* Its events are those of tracers: they cannot be enabled. */
#define TRACERS		"ftrace"

/* Does a word name an event? */
static bool is_named(const char *word, const char *system, const char *event)
{
	const char *colon = strchr(word, ':');
	char *pattern;
	bool found;

	if (!colon)
		return !fnmatch(word, system, 0) || !fnmatch(word, event, 0);
	pattern = strndup(word, colon - word);
	if (!pattern)
		die_no_memory();
	found = !fnmatch(pattern, system, 0) && !fnmatch(colon + 1, event, 0);
	free(pattern);
	return found;
}

static void add_event(struct record_host *host, const char *system, const char *event)
{
	struct hyptrace_file_host *file = &host->file;
	const unsigned int nr = file->nr_formats;

	file->formats = reallocarray(file->formats, nr + 1, sizeof(*file->formats));
	host->names = reallocarray(host->names, nr + 1, sizeof(*host->names));
	if (!file->formats || !host->names ||
	    asprintf(&host->names[nr], "%s/%s", system, event) < 0)
		die_no_memory();
	file->formats[nr].system = strdup(system);
	file->formats[nr].text = NULL;
	if (!file->formats[nr].system)
		die_no_memory();
	file->nr_formats++;
}

/* Add the events of a system that words name, and note which words have named one. */
static void choose_of_system(struct record_host *host, const char *system, bool *used)
{
	char **events = tracefs_system_events(NULL, system), **event;
	bool named;
	unsigned int i;

	for (event = events; event && *event; event++) {
		named = false;
		for (i = 0; i < host->words.nr; i++) {
			if (!is_named(host->words.words[i], system, *event))
				continue;
			used[i] = true;
			named = true;
		}
		if (named)
			add_event(host, system, *event);
	}
	tracefs_list_free(events);
}

/* Say that no event has a name, and which one or which system was probably meant. */
static int fail_unknown(char **systems, const char *word)
{
	const char *colon = strchr(word, ':'), *name = colon ? colon + 1 : word;
	char **system, **event, **events, *meant = NULL;
	struct hyptrace_nearest near;

	hyptrace_nearest_begin(&near, name, strlen(name));
	for (system = systems; *system && !strpbrk(word, "*?["); system++) {
		if (!strcmp(*system, TRACERS))
			continue;
		events = tracefs_system_events(NULL, *system);
		near.found = NULL;
		if (!colon)
			hyptrace_nearest_try(&near, *system);
		for (event = events; event && *event; event++)
			hyptrace_nearest_try(&near, *event);
		if (near.found) {
			free(meant);
			if (asprintf(&meant, near.found == *system ? "%s" : "%s:%s", *system,
				     near.found) < 0)
				die_no_memory();
		}
		tracefs_list_free(events);
	}
	cmd_fail("cannot record the host: tracefs has no event \"%s\"%s%s%s", word,
		 meant ? "; did you mean \"" : "", meant ? meant : "", meant ? "\"?" : "");
	free(meant);
	return EXIT_REFUSED;
}

/**
 * record_host_choose - find the events that --host names
 * @host:	the host's tracing; out: the names of the events, and their systems
 *
 * Return: an exit code.
 */
int record_host_choose(struct record_host *host)
{
	char **systems = tracefs_event_systems(NULL), **system;
	bool *used = calloc(host->words.nr + 1, sizeof(*used));
	int code = EXIT_DONE;
	unsigned int i;

	if (!used)
		die_no_memory();
	for (system = systems; system && *system; system++)
		if (strcmp(*system, TRACERS))
			choose_of_system(host, *system, used);
	if (!systems)
		code = cmd_fail("cannot record the host: %s%s", errno == ENOENT ?
				"this kernel has no tracefs, or it is not mounted" :
				"cannot read the events of tracefs: ",
				errno == ENOENT ? "" : strerror(errno));
	for (i = 0; i < host->words.nr && !code; i++)
		if (!used[i])
			code = fail_unknown(systems, host->words.words[i]);
	tracefs_list_free(systems);
	free(used);
	return code;
}

/**
 * record_host_read_formats - read the formats of the events
 * @host:	the host's tracing, with its instance
 *
 * Return: an exit code.
 */
int record_host_read_formats(struct record_host *host)
{
	char *name, *text;
	unsigned int i;

	for (i = 0; i < host->file.nr_formats; i++) {
		if (asprintf(&name, "events/%s/format", host->names[i]) < 0)
			die_no_memory();
		text = tracefs_instance_file_read(host->instance, name, NULL);
		free(name);
		if (text)
			host->file.formats[i].text = record_host_renumber_format(text);
		free(text);
		if (!host->file.formats[i].text)
			return cmd_fail("cannot record the host: cannot read the format of \"%s\"",
					host->names[i]);
	}
	return EXIT_DONE;
}
