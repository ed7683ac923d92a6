/* SPDX-License-Identifier: GPL-2.0-only */
/* What test_fail_nth.c lets fail: system calls of the device, and requests of the family. */
#ifndef __FAIL_NTH_H
#define __FAIL_NTH_H

#include <stdbool.h>
#include <stddef.h>

#include "nl.h"

#define FAIL_MAX_ERRORS	4

struct fail_op;

/**
 * struct fail_nth - what the operations of a test use
 * @nl:		a socket without faults
 * @own:	the socket of the operation, a new one for each try
 * @remote:	name
 * @op:		the operation
 * @fd:		a descriptor of the device, or -1
 * @pipes:	a pipe, or an epoll set and -1; or -1
 * @map:	a mapping of @map_size bytes, or NULL
 */
struct fail_nth {
	struct nl		*nl;
	struct nl		own;
	const char		*remote;
	const struct fail_op	*op;
	int			fd;
	int			pipes[2];
	void			*map;
	size_t			map_size;
};

/**
 * struct fail_op - an operation
 * @name:	for messages
 * @prepare:	do all that comes before it. Return 0 or a negative errno
 * @act:	do it, with nothing else that may fail. Return a negative errno if it fails
 * @check:	check what it has left behind. Return NULL, or what is wrong; may be NULL
 * @errors:	how it may fail, up to a 0. An answer of the kernel can get lost: if it fails by
 *		EFAULT or ENOBUFS, it may have been done all the same
 * @takes:	it takes events, perhaps not all of them
 * @request:	of a request of the family
 */
struct fail_op {
	const char	*name;
	int		(*prepare)(struct fail_nth *f);
	int		(*act)(struct fail_nth *f);
	const char	*(*check)(struct fail_nth *f, int ret);
	int		errors[FAIL_MAX_ERRORS];
	bool		takes;
	const void	*request;
};

/* The last one has no name. */
extern const struct fail_op fail_device_ops[];

#endif /* __FAIL_NTH_H */
