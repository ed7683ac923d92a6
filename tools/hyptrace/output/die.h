/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exit codes of the command. For all its files.
 */
#ifndef DIE_H
#define DIE_H

enum exit_code {
	EXIT_DONE	= 0,
	EXIT_USAGE	= 1,
	EXIT_REFUSED	= 2,	/* by the kernel or the system */
	EXIT_FOUND	= 3,	/* leaks has found some */
};

void die_no_memory(void) __attribute__((noreturn));

#endif /* DIE_H */
