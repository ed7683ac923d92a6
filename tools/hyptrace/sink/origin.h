/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the events of an export are from: so those of many machines can be told apart.
 */
#ifndef ORIGIN_H
#define ORIGIN_H

struct hyptrace_file_info;

/* No text is NULL; what is not known is empty. */
struct origin {
	char	*uname;		/* has the next four */
	char	*system;
	char	*machine;	/* its name in the network */
	char	*kernel;	/* its release */
	char	*version;
	char	*arch;
	char	*boot;		/* UUID of the boot */
	char	*csv;		/* values of ORIGIN_COLUMNS */
	char	*json;		/* members of an object, for what is known */
};

/* The last columns of a table, and their types in SQL */
#define ORIGIN_COLUMNS	"machine,boot,kernel"
#define ORIGIN_SQL	"machine VARCHAR, boot VARCHAR, kernel VARCHAR"

struct origin *origin_new(const struct hyptrace_file_info *info);
void origin_free(struct origin *origin);

#endif /* ORIGIN_H */
