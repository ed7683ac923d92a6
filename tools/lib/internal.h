/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of libhyptrace share. Each of them includes it, for headers of C, too. */
#ifndef HYPTRACE_INTERNAL_H
#define HYPTRACE_INTERNAL_H

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <time.h>

#include "common/cleanup.h"
#include "hyptrace.h"

struct hyptrace_file_info;
struct nlmsghdr;
struct tep_handle;

#define NSEC_PER_SEC	UINT64_C(1000000000)
#define NSEC_PER_MSEC	UINT64_C(1000000)
#define NSEC_PER_USEC	UINT64_C(1000)

static inline uint64_t hyptrace_now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

/* Map a part of a file, or memory; NULL if that is not possible. */
static inline void *hyptrace_map(size_t size, int protection, int flags, int fd, off_t offset)
{
	void *map = mmap(NULL, size, protection, flags, fd, offset);

	return map == MAP_FAILED ? NULL : map;
}

static inline void *hyptrace_map_memory(size_t size, int flags)
{
	return hyptrace_map(size, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
}

/* Return false with errno if not all of it can be written. */
static inline bool hyptrace_write_all(int fd, const char *data, size_t size)
{
	ssize_t n;

	for (; size; data += n, size -= n) {
		n = TEMP_FAILURE_RETRY(write(fd, data, size));
		if (n < 0)
			return false;
	}
	return true;
}

/* Close what open_memstream() has opened. Return its text; NULL if there was no memory. */
static inline char *hyptrace_end_text(FILE *f, char **text)
{
	if (!fclose(f))
		return *text;
	free(*text);
	return NULL;
}

/* Can a name in C have the character? */
static inline bool hyptrace_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Is a text of @len bytes this word? */
static inline bool hyptrace_is(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && !memcmp(text, word, len);
}

/*
 * Append an element of @size bytes, filled with 0, to a list of pointers that ends with NULL. Its
 * room is always a power of two, or 0. Return NULL if there is no memory.
 */
static inline void *hyptrace_list_add(void *list, unsigned int *nr, size_t size)
{
	void ***at = list, **longer = *at, *element = calloc(1, size);

	if (element && !(*nr & (*nr + 1)))
		longer = reallocarray(*at, 2 * (*nr + 1), sizeof(*longer));
	if (!element || !longer) {
		free(element);
		return NULL;
	}
	longer[*nr] = element;
	longer[++*nr] = NULL;
	*at = longer;
	return element;
}

/* error.c: %m is the text of @errnum. hyptrace_nearest_of() takes a word of @len bytes. */
int hyptrace_error_set(struct hyptrace_error *err, int errnum, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int hyptrace_error_memory(struct hyptrace_error *err);
/* For functions that return a pointer: the argument is the call of a function above. */
#define hyptrace_error_null(ret)	((void)(ret), NULL)
void hyptrace_error_subject(struct hyptrace_error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
const char *hyptrace_nearest_of(const char *word, size_t len, const char *best, const char *name);

/* netlink.c: connections */

/* Called for each message of an answer, and with NULL when a dump restarts */
typedef int (*hyptrace_nl_fn)(const struct nlmsghdr *answer, void *arg);

struct hyptrace_request {
	struct nlmsghdr		*msg;
	hyptrace_nl_fn		fn;
	void			*arg;		/* of @fn */
	struct hyptrace_error	*err;
};

struct nlattr *hyptrace_request_attr(const struct hyptrace_request *r, int attr);
struct nl_msg *hyptrace_answer_new(void);
int hyptrace_answer_send(const struct hyptrace_request *r, struct nl_msg *answer, int ret);

typedef struct hyptrace_reader *(*hyptrace_open_fn)(void *arg, int cpu,
						    struct hyptrace_error *err);

/* What answers in place of the driver, and offers readers of rings of its own; some may be NULL */
struct hyptrace_backend {
	/* as hyptrace_nl_send() */
	int (*request)(void *arg, const struct hyptrace_request *r, int cmd);
	hyptrace_open_fn open;
	hyptrace_open_fn map;	/* in place of open: a mapped observer */
	int (*hold)(struct hyptrace_reader *reader, const uint16_t *ids, unsigned int nr,
		    bool tracing, struct hyptrace_error *err);
	void (*detach)(struct hyptrace_reader *reader);
	/* what a file says of the machine: @uname, @offset, for free() */
	void (*identify)(void *arg, struct hyptrace_file_info *info);
	void (*close)(void *arg);
};

struct hyptrace {
	struct nl_sock			*sock;
	struct nl_cb			*cb;
	int				family;
	const struct hyptrace_backend	*backend;	/* NULL: the driver */
	void				*backend_arg;
};

/* format.c: events that the kernel has described */
struct hyptrace_formats *hyptrace_formats_make(struct tep_handle *tep, bool is_foreign,
					       struct hyptrace_event *const *events,
					       unsigned int nr, struct hyptrace_error *err);

/* filter.c: what the driver gets of a filter */

/* In place of the next comparison: the event meets the filter, or does not */
#define HYPTRACE_FILTER_ACCEPT		0xff
#define HYPTRACE_FILTER_REJECT		0xfe

/* A comparison; the value is in two's complement */
struct hyptrace_filter_term {
	char		field[HYPTRACE_EVENT_NAME_MAX + 1];
	uint32_t	op;		/* enum hyptrace_filter_op */
	uint64_t	value;
	uint32_t	on_true;	/* number of the next one, or one of the above */
	uint32_t	on_false;
};

struct hyptrace_filter {
	char				*text;
	unsigned int			nr;	/* of the terms; the first is evaluated first */
	/* for the first event, and for each of them if the filter fits all */
	struct hyptrace_filter_term	terms[HYPTRACE_FILTER_TERMS_MAX];
	const struct hyptrace_formats	*formats;	/* see hyptrace_filter_new(); or NULL */
	unsigned int			nr_ids;
	struct filter_values		*by_id[];	/* NULL for an event that never matches */
};

/* format_check.c: what may libtraceevent parse of an event's description in a file? */
enum format_check {
	FORMAT_BAD,	/* nothing */
	FORMAT_FIELDS,	/* all but the print format */
	FORMAT_GOOD,
};

enum format_check hyptrace_format_check(const char *text);

/* field.c */
char *hyptrace_format_file(const struct hyptrace_event *event);

/* decode.c: the records of a sub-buffer */
struct hyptrace_decoder {
	const char	*data;
	uint32_t	size;		/* bytes of data */
	uint32_t	next;		/* where the next record starts */
	uint64_t	ts;		/* time of the previous record */
	uint64_t	lost;		/* lost events that no record has reported */
	uint64_t	latest;		/* a later time is damage; 0 if any time is good */
};

int hyptrace_decoder_load(struct hyptrace_decoder *dec, const void *subbuf, size_t size,
			  struct hyptrace_error *err);
int hyptrace_decoder_next(struct hyptrace_decoder *dec, struct hyptrace_record *rec,
			  struct hyptrace_error *err);
uint64_t hyptrace_decoder_lost(struct hyptrace_decoder *dec);
void hyptrace_decoder_lose(struct hyptrace_decoder *dec, uint64_t nr);
unsigned int hyptrace_decoder_run(struct hyptrace_decoder *dec,
				  const struct hyptrace_stream_event *like, uint64_t limit,
				  struct hyptrace_stream_event *events, unsigned int max);

/* device.c: an open and attached /dev/hyptrace */
struct hyptrace_reader {
	int				fd;
	uint32_t			subbuf_size;
	const struct trace_buffer_meta	*meta;	/* NULL if the ring is not mapped */
	size_t				meta_size;
	const void			*data;	/* the mapped sub-buffers */
	size_t				data_size;
	const struct hyptrace_backend	*backend;	/* NULL: the driver */
	void				*backend_arg;
	bool				is_image;	/* a dump: nobody reads it, or changes it */
};

const void *hyptrace_reader_subbuf(const struct hyptrace_reader *reader, uint32_t id);

#endif /* HYPTRACE_INTERNAL_H */
