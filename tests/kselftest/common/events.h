/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events with their fields by name, as the driver describes them. For the tests that compare
 * events with what has happened.
 */
#ifndef __EVENTS_H
#define __EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "nl.h"

#define EVENT_MAX_FIELDS	12
#define EVENT_MAX_PAYLOAD	80

/* Has an EXPECT of this test failed? */
#ifdef HARNESS_HAS_PASSED
#define has_failed(metadata)	(!(metadata)->passed)
#else
#define has_failed(metadata)	((metadata)->exit_code)
#endif

/* An event of a remote, and where its fields are */
struct event_type {
	const char	*name;
	int		id;
	unsigned int	nr_fields;
	struct {
		char		name[16];
		uint32_t	offset;
		uint32_t	size;
		bool		is_signed;
	} fields[EVENT_MAX_FIELDS];
};

/* An event that was recorded; @nr: its place among those of its CPU */
struct event {
	uint64_t		time;
	uint64_t		nr;
	const struct event_type	*type;
	unsigned int		cpu;
	uint8_t			payload[EVENT_MAX_PAYLOAD];
};

int event_types(struct nl *nl, const char *remote, const char *const *names,
		struct event_type *types, unsigned int nr);
ssize_t events_read(const char *remote, unsigned int cpu, const struct event_type *types,
		    unsigned int nr_types, struct event *events, size_t room);
ssize_t events_read_all(const char *remote, unsigned int nr_cpus, const struct event_type *types,
			unsigned int nr_types, struct event *events, size_t room);
int64_t event_field(const struct event *event, const char *field);

#endif /* __EVENTS_H */
