/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The printer: text or JSON from the same calls. For all verbs.
 *
 *	printer_array(p, NULL);
 *	printer_object(p, NULL);
 *	printer_heading(p, "name", "test");	test
 *	printer_str(p, "state", "loaded");	  state  loaded
 *	printer_table(p, "cpus", &columns);
 *	printer_row(p);				  CPU  READ
 *	printer_uint(p, "cpu", 0);		    0   123
 *	printer_uint(p, "read", 123);
 *	printer_end(p);		(and so on)
 *
 * In JSON @key is the key; it is NULL within an array and at the top. In text it is
 * the label, unless printer_labels() gives another, or names the column.
 */
#ifndef PRINTER_H
#define PRINTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct column;
struct columns;
struct out;

/* The name of a value in text */
struct printer_label {
	const char	*key;
	const char	*label;
};

enum printer_style {
	STYLE_PLAIN,
	STYLE_NAME,
	STYLE_GOOD,
	STYLE_BAD,
};

enum printer_format {
	PRINTER_TEXT,
	PRINTER_CSV,	/* only tables */
	PRINTER_JSON,
	PRINTER_PRETTY,
};

struct printer *printer_new(struct out *out, enum printer_format format, bool color);
void printer_free(struct printer *p);
enum printer_format printer_format(const struct printer *p);
#define printer_is_text(p)	(printer_format(p) == PRINTER_TEXT)
#define printer_is_csv(p)	(printer_format(p) == PRINTER_CSV)
#define printer_is_json(p)	(printer_format(p) >= PRINTER_JSON)

void printer_object(struct printer *p, const char *key);
void printer_array(struct printer *p, const char *key);
/* Labels of an object's values, up to one without a key; others are labelled with their keys. */
void printer_labels(struct printer *p, const struct printer_label *labels);
/* The columns must stay valid until the end of the table. */
void printer_table(struct printer *p, const char *key, const struct columns *columns);
void printer_row(struct printer *p);
/* An object of a stream: text has the line, JSON the values that follow. */
void printer_line(struct printer *p, enum printer_style style, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void printer_end(struct printer *p);

/* The name of an object, before its other values: the heading in text */
void printer_heading(struct printer *p, const char *key, const char *value);
/* NULL is none */
void printer_str(struct printer *p, const char *key, const char *value);
void printer_styled(struct printer *p, const char *key, enum printer_style style,
		    const char *value);
/* true or false in JSON, "yes" or "no" in text */
void printer_bool(struct printer *p, const char *key, bool value);
/* JSON readers use doubles: a number that @is_large or exceeds 2^53 is a string there. */
void printer_integer(struct printer *p, const char *key, uint64_t value, bool is_signed,
		     bool is_large);
/* Usually small */
#define printer_uint(p, key, value)	printer_integer(p, key, value, false, false)
#define printer_int(p, key, value)	printer_integer(p, key, value, true, false)
/* May need 64 bits: always strings in JSON */
#define printer_u64(p, key, value)	printer_integer(p, key, value, false, true)
#define printer_s64(p, key, value)	printer_integer(p, key, value, true, true)
/* None if it is not known */
void printer_uint_if(struct printer *p, const char *key, bool is_known, uint64_t value);
/* The digits of a number that is not an integer */
void printer_number(struct printer *p, const char *key, const char *text);
/* Bytes in JSON, with a unit in text */
void printer_size(struct printer *p, const char *key, uint64_t bytes);
/* null in JSON, "-" in text */
void printer_none(struct printer *p, const char *key);
/* A value that is JSON already, without blanks; only for printers of JSON */
void printer_json(struct printer *p, const char *key, const char *json, size_t len);

/* Print a row of the table that is open. */
void columns_print(const struct columns *columns, struct printer *p, const void *row);
/* Print a table: @rows is an array of pointers. */
void columns_print_all(const struct columns *columns, struct printer *p, const char *key,
		       const void *rows, unsigned int nr);
/* Print a value of a row, or all of them, into the object that is open. */
void column_print(const struct column *column, struct printer *p, const void *row);
void columns_print_values(const struct columns *columns, struct printer *p, const void *row);

#endif /* PRINTER_H */
