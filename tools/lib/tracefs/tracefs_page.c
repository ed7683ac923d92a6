// SPDX-License-Identifier: GPL-2.0-only
/* Make sub-buffers of records or lines. What cannot be understood is a lost event. */
#include "tracefs.h"

#define WORD		sizeof(uint32_t)
#define DELTA_MAX	((UINT64_C(1) << HYPTRACE_DELTA_BITS) - 1)
/* Two words of a long time, two of a header, and the number of lost events after the data */
#define OVERHEAD	(4 * WORD + sizeof(uint64_t))

/* Write the sub-buffer, if it has anything to say. */
void hyptrace_tracefs_flush(struct tracefs_page *page)
{
	struct hyptrace_subbuf *subbuf = (void *)page->data;

	if (!page->used && !page->lost)
		return;
	subbuf->time_stamp = page->used ? page->begin : page->last;
	subbuf->commit = page->used;
	if (page->lost)
		subbuf->commit |= HYPTRACE_COMMIT_MISSED;
	if (page->lost && page->lost != HYPTRACE_LOST_UNKNOWN) {
		subbuf->commit |= HYPTRACE_COMMIT_STORED;
		memcpy(subbuf->data + page->used, &page->lost, sizeof(page->lost));
	}
	page->shared->at[page->shared->nr_begun % TRACEFS_UNREAD_MAX] = page->counts;
	__atomic_store_n(&page->shared->nr_begun, page->shared->nr_begun + 1, __ATOMIC_SEQ_CST);
	if (!page->has_failed)
		page->has_failed = !hyptrace_write_all(page->fd, page->data, page->size);
	__atomic_store_n(&page->shared->nr_written, page->shared->nr_begun, __ATOMIC_SEQ_CST);
	memset(page->data, 0, page->size);
	page->used = 0;
	page->lost = 0;
}

/* Events were lost after the last record; HYPTRACE_LOST_UNKNOWN: nobody knows how many. */
void hyptrace_tracefs_lose(struct tracefs_page *page, uint64_t nr)
{
	if (page->used)
		hyptrace_tracefs_flush(page);
	page->lost = page->lost > HYPTRACE_LOST_UNKNOWN - nr ? HYPTRACE_LOST_UNKNOWN :
							       page->lost + nr;
	if (nr != HYPTRACE_LOST_UNKNOWN)
		page->counts.lost += nr;
	page->shared->found = page->counts;
}

static void add(struct tracefs_page *page, const void *from, size_t size)
{
	memcpy(page->data + HYPTRACE_SUBBUF_HEADER + page->used, from, size);
	page->used += size;
}

/* Add a record with these fields. Times of a CPU do not go backwards. */
static void put(struct tracefs_page *page, uint64_t ts, const struct tracefs_event *event,
		char *payload)
{
	const uint32_t words = (event->size + WORD - 1) / WORD;
	const size_t room = page->size - HYPTRACE_SUBBUF_HEADER - OVERHEAD;
	uint32_t word[2];
	uint64_t delta;
	unsigned int i;

	memcpy(payload, &event->id, sizeof(event->id));
	for (i = 0; i < event->nr_fields; i++)
		if (event->fields[i].is_unknown)
			payload[event->fields[i].offset] = TRACEFS_REASON_UNKNOWN;
	ts = MAX(ts, page->last);
	if (page->used + words * WORD > room)
		hyptrace_tracefs_flush(page);
	if (!page->used) {
		page->begin = ts;
		page->last = ts;
	}
	delta = ts - page->last;
	page->last = ts;
	if (delta > DELTA_MAX) {
		/* of more than 2^59 ns, a bit is lost */
		word[0] = hyptrace_record_header(HYPTRACE_TYPE_TIME_EXTEND, delta & DELTA_MAX);
		word[1] = delta >> HYPTRACE_DELTA_BITS;
		add(page, word, sizeof(word));
		delta = 0;
	}
	word[0] = hyptrace_record_header(words <= HYPTRACE_TYPE_MAX_WORDS ? words :
					 HYPTRACE_TYPE_LENGTH_WORD, delta);
	word[1] = (words + 1) * WORD;
	add(page, word, words <= HYPTRACE_TYPE_MAX_WORDS ? WORD : 2 * WORD);
	add(page, payload, event->size);
	page->used += words * WORD - event->size;
	page->counts.events++;
	page->shared->found = page->counts;
	page->shared->last = ts;
}

/* Return false if the record makes no sense. */
static bool put_raw(const struct tracefs *t, struct tracefs_page *page, uint64_t ts,
		    const char *data, size_t size)
{
	char payload[TRACEFS_PAYLOAD_MAX] __attribute__((aligned(8))) = {};
	const struct tracefs_event *event;
	unsigned int i;
	uint16_t id;

	if (size < sizeof(id))
		return false;
	memcpy(&id, data, sizeof(id));
	for (i = 0; i < t->nr_events && t->events[i]->id != id; i++)
		;
	if (i == t->nr_events)
		return false;
	event = t->events[i];
	for (i = 0; i < event->nr_fields; i++) {
		const struct tracefs_field *field = &event->fields[i];

		if (field->size == TRACEFS_TEXT || field->is_unknown)
			continue;
		if (field->from + field->size > size)
			return false;
		memcpy(payload + field->offset, data + field->from, field->size);
	}
	put(page, ts, event, payload);
	return true;
}

/* Take the records, which are not rounded up. Return false if the page is damaged: a loss. */
bool hyptrace_tracefs_raw(const struct tracefs *t, struct tracefs_page *page, const void *data,
			  size_t size)
{
	const struct hyptrace_subbuf *subbuf = data;
	const char *at = (const char *)subbuf->data, *end;
	uint64_t ts, lost, commit;
	uint32_t word[2], type_len;

	if (size < HYPTRACE_SUBBUF_HEADER)
		goto damaged;
	ts = subbuf->time_stamp;
	commit = subbuf->commit;
	end = at + (commit & HYPTRACE_COMMIT_MASK);
	if ((commit & HYPTRACE_COMMIT_MASK) > size - HYPTRACE_SUBBUF_HEADER)
		goto damaged;
	if (commit & HYPTRACE_COMMIT_MISSED) {
		lost = HYPTRACE_LOST_UNKNOWN;
		if (commit & HYPTRACE_COMMIT_STORED &&
		    end + sizeof(lost) <= (const char *)data + size)
			memcpy(&lost, end, sizeof(lost));
		hyptrace_tracefs_lose(page, lost);
	}
	while (end - at >= (ptrdiff_t)sizeof(word)) {
		memcpy(word, at, sizeof(word));
		at += WORD;
		type_len = hyptrace_record_type_len(word[0]);
		ts += hyptrace_record_delta(word[0]);
		if (type_len == HYPTRACE_TYPE_PADDING)
			break;
		if (type_len == HYPTRACE_TYPE_TIME_EXTEND) {
			ts += (uint64_t)word[1] << HYPTRACE_DELTA_BITS;
			at += WORD;
			continue;
		}
		if (type_len || word[1] < WORD || word[1] > end - at)
			goto damaged;
		if (!put_raw(t, page, ts, at + WORD, word[1] - WORD))
			hyptrace_tracefs_lose(page, 1);
		at += word[1];
	}
	return true;
damaged:
	hyptrace_tracefs_lose(page, HYPTRACE_LOST_UNKNOWN);
	return false;
}

/* Take a number. Return false if there is none, or if it is more than @limit. */
static bool take_number(const char **at, unsigned int base, uint64_t limit, uint64_t *value)
{
	char *end;

	if (!isxdigit((unsigned char)**at))
		return false;
	errno = 0;
	*value = strtoull(*at, &end, base);
	if (end == *at || errno || *value > limit)
		return false;
	*at = end;
	return true;
}

static bool take_text(const char **at, const char *text, size_t len)
{
	if (strncmp(*at, text, len))
		return false;
	*at += len;
	return true;
}

static bool take_value(const char **at, const struct tracefs_piece *piece, uint64_t *value)
{
	const bool is_hex = piece->conversion == 'x' || piece->conversion == 'X';
	const bool is_negative = !is_hex && **at == '-';
	const size_t len = strcspn(*at, " \t\n");

	if (piece->conversion == 's') {
		/* the last name is for all that are not known */
		for (*value = 0; *value < TRACEFS_REASON_UNKNOWN; ++*value)
			if (hyptrace_is(*at, len, hyptrace_tracefs_reasons[*value]))
				break;
		*at += len;
		return true;
	}
	*at += is_negative;
	if (!take_number(at, is_hex ? 16 : 10, UINT64_MAX, value))
		return false;
	if (is_negative)
		*value = -*value;
	return true;
}

/* What follows the name of the event */
static bool parse_fields(const struct tracefs_event *event, const char *at, char *payload)
{
	const struct tracefs_piece *piece = event->pieces;
	uint64_t value;
	size_t len;

	if (!event->nr_pieces) {
		len = strlen(at);
		if (event->nr_fields && event->fields[0].size == TRACEFS_TEXT)
			memcpy(payload + event->fields[0].offset, at,
			       len < TRACEFS_TEXT ? len : TRACEFS_TEXT - 1);
		return true;
	}
	for (; piece->field; piece++) {
		if (!take_text(&at, piece->text, piece->len) || !take_value(&at, piece, &value))
			return false;
		if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
			value <<= 8 * (sizeof(value) - piece->field->size);
		memcpy(payload + piece->field->offset, &value, piece->field->size);
	}
	/* a format without fields is blank */
	return event->nr_pieces > 1 ? take_text(&at, piece->text, piece->len) && !*at :
				  !at[strspn(at, " \t")];
}

/* "[001]\t   12.345678: host_hcall id=5 invalid=0" */
static bool parse_event(const struct tracefs *t, struct tracefs_page *page, const char *at)
{
	const struct tracefs_event *event;
	uint64_t sec, usec, cpu;
	char payload[TRACEFS_PAYLOAD_MAX] __attribute__((aligned(8))) = {};
	size_t len;

	if (!take_text(&at, "[", 1) || !take_number(&at, 10, UINT32_MAX, &cpu) ||
	    !take_text(&at, "]", 1))
		return false;
	at += strspn(at, " \t");
	if (!take_number(&at, 10, UINT64_MAX / NSEC_PER_SEC / 2, &sec) || !take_text(&at, ".", 1) ||
	    strspn(at, "0123456789") != 6 || !take_number(&at, 10, UINT32_MAX, &usec) ||
	    !take_text(&at, ": ", 2))
		return false;
	len = strcspn(at, " ");
	event = hyptrace_tracefs_find(t, at, len);
	if (!event)
		return false;
	at += len;
	at += *at == ' ';
	if (!parse_fields(event, at, payload))
		return false;
	put(page, sec * NSEC_PER_SEC + usec * NSEC_PER_USEC, event, payload);
	return true;
}

/* "CPU:1 [LOST 23 EVENTS]" */
static bool parse_loss(struct tracefs_page *page, const char *at)
{
	static const char lost[] = " [LOST ";
	uint64_t cpu, nr;

	if (!take_text(&at, "CPU:", 4) || !take_number(&at, 10, UINT32_MAX, &cpu) ||
	    !take_text(&at, lost, strlen(lost)))
		return false;
	if (!take_number(&at, 10, UINT64_MAX, &nr) || strcmp(at, " EVENTS]"))
		nr = HYPTRACE_LOST_UNKNOWN;
	hyptrace_tracefs_lose(page, nr);
	return true;
}

/* @line: @len bytes and a NUL, without the newline */
void hyptrace_tracefs_line(const struct tracefs *t, struct tracefs_page *page, const char *line,
			   size_t len)
{
	if (strlen(line) == len && (parse_loss(page, line) || parse_event(t, page, line)))
		return;
	hyptrace_tracefs_lose(page, 1);
}
