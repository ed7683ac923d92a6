// SPDX-License-Identifier: GPL-2.0-only
/* Buffers that collect output for few writes, and strings for a terminal, JSON and CSV. */
#include <pthread.h>

#include "die.h"
#include "out.h"

/* Bytes of an escaped character in text, such as \x1b */
#define PLAIN_MAX	4

/* Bytes of a buffer at first: an export has one for each CPU or event */
#define OUT_FIRST	1024

#define EACH(byte)	(UINT64_C(0x0101010101010101) * (byte))
#define HIGH		EACH(0x80)

void out_init(struct out *out, int fd)
{
	*out = (struct out){ .fd = fd };
}

void out_init_memory(struct out *out)
{
	*out = (struct out){ .fd = -1, .grows = true };
}

void out_free(struct out *out)
{
	free(out->buf);
	out->buf = NULL;
	out->size = 0;
	out->len = 0;
}

/* The thread that writes now */
static pthread_t writer;
static volatile sig_atomic_t is_writing;

/* Of a signal handler: the write of another thread is interrupted, too. */
void out_interrupt(void)
{
	if (is_writing && !pthread_equal(writer, pthread_self()))
		pthread_kill(writer, SIGALRM);
}

void out_flush(struct out *out)
{
	size_t done = 0;

	if (out->grows)
		return;
	if (out->before && out->len)
		out->before(out->before_arg);
	while (done < out->len && !out->error) {
		ssize_t n;

		writer = pthread_self();
		is_writing = 1;
		n = write(out->fd, out->buf + done, out->len - done);
		is_writing = 0;
		if (n >= 0)
			done += n;
		else if (errno != EINTR)
			out->error = errno;
		else if (out->abandon && *out->abandon)
			/* end as if the reader had closed the pipe */
			out->error = EPIPE;
	}
	out->len = 0;
}

void out_make_room(struct out *out, size_t size)
{
	if (out->size >= OUT_BUFFER)
		out_flush(out);
	if (size <= out->size - out->len)
		return;
	while (size > out->size - out->len)
		out->size = out->size ? 2 * out->size : OUT_FIRST;
	out->buf = xreallocarray(out->buf, out->size, 1);
}

/* A closed pipe is no failure: its reader has seen enough. */
bool out_has_failed(const struct out *out)
{
	return out->error && out->error != EPIPE;
}

void out_write(struct out *out, const void *data, size_t len)
{
	const char *at = data;

	while (len) {
		size_t room = out->size - out->len;
		size_t part = len < room ? len : room;

		if (!room) {
			out_make_room(out, 1);
			continue;
		}
		memcpy(out->buf + out->len, at, part);
		out->len += part;
		at += part;
		len -= part;
	}
}

void out_puts(struct out *out, const char *text)
{
	out_write(out, text, strlen(text));
}

void out_spaces(struct out *out, size_t nr)
{
	while (nr--)
		out_putc(out, ' ');
}

void out_printf(struct out *out, const char *fmt, ...)
{
	auto_free char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	out_puts(out, text);
}

/* Strings */

static bool is_printable(char c)
{
	return c >= ' ' && c <= '~';
}

static char *put_hex(char *to, unsigned char c)
{
	static const char digits[] = "0123456789abcdef";

	*to++ = digits[c >> 4];
	*to++ = digits[c & 0xf];
	return to;
}

static char *put_plain(char *to, char c)
{
	if (!is_printable(c))
		return put_hex(stpcpy(to, "\\x"), c);
	*to++ = c;
	return to;
}

void text_put_plain(struct out *out, const char *s)
{
	const char *end;

	for (;;) {
		for (end = s; is_printable(*end); end++)
			;
		out_write(out, s, end - s);
		if (!*end)
			return;
		out_put_to(out, put_plain(out_room(out, PLAIN_MAX), *end));
		s = end + 1;
	}
}

char *text_copy_plain(const char *s)
{
	char *copy = xmalloc(PLAIN_MAX * strlen(s) + 1), *to = copy;

	for (; *s; s++)
		to = put_plain(to, *s);
	*to = '\0';
	return copy;
}

/*
 * Set the high bit of each of eight bytes that is not printable, a quote, or @special. Those after
 * such a byte may be wrong, since the differences borrow.
 */
static inline uint64_t find_special(uint64_t word, char special)
{
	return word | (word + EACH(1)) | (word - EACH(' ')) | ((word ^ EACH('"')) - EACH(1)) |
	       ((word ^ EACH(special)) - EACH(1));
}

/* Are all bytes printable, and none a quote or @special? */
static inline bool is_plain(const char *text, size_t len, char special)
{
	uint64_t word, found = 0;
	size_t at;

	if (len < sizeof(word)) {
		while (len && is_printable(*text) && *text != '"' && *text != special) {
			text++;
			len--;
		}
		return !len;
	}
	for (at = 0; at < len - sizeof(word); at += sizeof(word)) {
		memcpy(&word, text + at, sizeof(word));
		found |= find_special(word, special);
	}
	memcpy(&word, text + len - sizeof(word), sizeof(word));
	return !((found | find_special(word, special)) & HIGH);
}

static char *put_json_char(char *to, char c)
{
	static const char names[] = "btn\0fr";	/* letters of the codes 8 to 13 */

	if (is_printable(c)) {
		if (c == '"' || c == '\\')
			*to++ = '\\';
		*to++ = c;
		return to;
	}
	*to++ = '\\';
	if (c >= '\b' && c <= '\r' && names[c - '\b']) {
		*to++ = names[c - '\b'];
		return to;
	}
	return put_hex(stpcpy(to, "u00"), c);
}

char *text_json(char *to, const char *text, size_t len)
{
	*to++ = '"';
	if (len && is_plain(text, len, '\\')) {
		memcpy(to, text, len);
		to += len;
	} else {
		while (len--)
			to = put_json_char(to, *text++);
	}
	*to++ = '"';
	return to;
}

void text_put_json(struct out *out, const char *s)
{
	const size_t len = strlen(s);

	out_put_to(out, text_json(out_room(out, len * TEXT_FACTOR + TEXT_MORE), s, len));
}

void text_new_line(struct out *out, unsigned int depth)
{
	out_putc(out, '\n');
	out_spaces(out, depth * TEXT_INDENT);
}

void text_indent_json(struct out *out, const char *json, size_t len, unsigned int depth)
{
	const char *end = json + len;
	bool in_string = false;

	for (; json < end; json++) {
		const bool opens = *json == '{' || *json == '[';
		const bool closes = *json == '}' || *json == ']';

		if (in_string && *json == '\\')
			out_putc(out, *json++);
		else if (*json == '"')
			in_string = !in_string;
		else if (!in_string && closes && json[-1] != '{' && json[-1] != '[')
			text_new_line(out, --depth);
		else if (!in_string && closes)
			depth--;
		out_putc(out, *json);
		if (in_string)
			continue;
		if (opens && ++depth && json[1] != '}' && json[1] != ']')
			text_new_line(out, depth);
		else if (*json == ',')
			text_new_line(out, depth);
		else if (*json == ':')
			out_putc(out, ' ');
	}
}

/* Bytes that are not printable ASCII become \xNN: readers of CSV refuse what is not UTF-8. */
char *text_csv(char *to, const char *text, size_t len)
{
	char *from = to;
	bool quote = false;

	if (len && is_plain(text, len, ',')) {
		memcpy(to, text, len);
		return to + len;
	}
	*to++ = '"';
	for (; len--; text++) {
		quote |= *text == '"' || *text == ',';
		if (*text == '"')
			*to++ = '"';
		to = put_plain(to, *text);
	}
	if (quote) {
		*to++ = '"';
		return to;
	}
	memmove(from, from + 1, to - from - 1);
	return to - 1;
}

char *text_copy_csv(const char *s)
{
	size_t len = strlen(s);
	char *copy = xmalloc(len * TEXT_FACTOR + TEXT_MORE);

	*text_csv(copy, s, len) = '\0';
	return copy;
}

FILE *text_open(char **text)
{
	/* only written: the texts end with a NUL */
	static __thread size_t len;

	return or_die(open_memstream(text, &len));
}

void text_close(FILE *f, char **text)
{
	/*
	 * A write that failed has set the error flag; nothing but memory can be missing. fclose()
	 * does not say so if there is none for the end.
	 */
	bool failed = ferror(f);

	if (fclose(f) || failed || !*text)
		die_no_memory();
}
