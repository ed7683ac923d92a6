/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A libkdumpfile whose dumps have a page of any kind, then the pages of an image from BASE on. The
 * linker redirects the calls that load it, and those that ask what kind of file there is.
 */
#ifndef FAKE_KDUMPFILE_H
#define FAKE_KDUMPFILE_H

#include <stdbool.h>
#include <stdint.h>

#include <sys/types.h>

#include <libkdumpfile/kdumpfile.h>

struct _kdump_bmp {
	uint64_t	from;		/* the numbers of the first page that it has */
	uint64_t	to;		/* ... and of the one after the last one */
	unsigned int	users;
};

/**
 * struct fake_kdumpfile - what the library has, and what it was asked for
 * @missing:	a function that it does not have; "": there is no library
 * @refused:	an attribute that it does not have
 * @line:	of VMCOREINFO; NULL: none
 * @has_no_memory, @cannot_open: it cannot open a dump
 * @is_short:	it reads a byte less
 * @policy:	whether it maps files
 * @page_size:	of the dump; 0: it does not know
 * @map:	the pages of the dump
 * @nr_open:	dumps that are open
 * @mode, @no_stat: what fstat() finds and returns
 * @magic, @no_statfs: what fstatfs() finds and returns
 */
struct fake_kdumpfile {
	const char		*missing;
	const char		*refused;
	const char		*line;
	bool			has_no_memory;
	bool			cannot_open;
	bool			is_short;
	kdump_num_t		policy;
	kdump_num_t		page_size;
	struct _kdump_bmp	map;
	int			nr_open;
	mode_t			mode;
	int			no_stat;
	long			magic;
	int			no_statfs;
};

extern struct fake_kdumpfile lib;
/* Names; the last one is NULL. */
extern const char *const fake_kdumpfile_functions[];

#endif /* FAKE_KDUMPFILE_H */
