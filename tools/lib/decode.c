// SPDX-License-Identifier: GPL-2.0-only
/*
 * The records of a sub-buffer, in the format of the Linux ring buffer.
 *
 * libtraceevent's kbuffer reads them, but believes what it reads: each record is
 * looked at here before kbuffer goes there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <kbuffer.h>

#include "hyptrace.h"

/* A record's header: 5 bits of type or length, 27 bits of time. */
#define TYPE_MASK	0x1f
#define TYPE_BITS	5
#define TYPE_LONG	0
#define RECORD_HEADER	4
#define RECORD_ALIGN	4

#define COMMIT_BITS \
	(HYPTRACE_COMMIT_MASK | HYPTRACE_COMMIT_MISSED | HYPTRACE_COMMIT_STORED)

struct hyptrace_decoder {
	struct kbuffer	*kbuf;
	const char	*data;
	uint32_t	size;		/* bytes of data */
	uint32_t	next;		/* where the next record starts */
	uint64_t	lost;		/* not yet told of */
	bool		begun;
};

/**
 * hyptrace_decoder_new - make a decoder
 *
 * Return: the decoder, NULL without memory.
 */
struct hyptrace_decoder *hyptrace_decoder_new(void)
{
	struct hyptrace_decoder *dec = calloc(1, sizeof(*dec));

	if (!dec)
		return NULL;
	dec->kbuf = kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_SAME_AS_HOST);
	if (!dec->kbuf) {
		free(dec);
		return NULL;
	}
	return dec;
}

/**
 * hyptrace_decoder_free - free a decoder
 * @dec:	the decoder, or NULL
 */
void hyptrace_decoder_free(struct hyptrace_decoder *dec)
{
	if (!dec)
		return;
	kbuffer_free(dec->kbuf);
	free(dec);
}

static uint32_t word_at(const struct hyptrace_decoder *dec, uint32_t offset)
{
	uint32_t word;

	memcpy(&word, dec->data + offset, sizeof(word));
	return word;
}

/*
 * Walk over what is no event to the next event, and over that one. Return 1 with
 * dec->next behind it, 0 at the end, -EBADMSG where the data make no sense.
 */
static int check_record(struct hyptrace_decoder *dec)
{
	uint32_t at = dec->next;

	while (dec->size - at >= RECORD_HEADER) {
		uint32_t head = word_at(dec, at), type = head & TYPE_MASK, len;
		uint32_t room = dec->size - at - RECORD_HEADER;

		if (type > TYPE_LONG && type < KBUFFER_TYPE_PADDING) {
			len = type * RECORD_ALIGN;
		} else {
			/* a padding without time has no length: it goes to the end */
			if (type == KBUFFER_TYPE_PADDING && !(head >> TYPE_BITS))
				break;
			if (room < sizeof(uint32_t))
				return -EBADMSG;
			/* the length counts its own word */
			len = type >= KBUFFER_TYPE_TIME_EXTEND ? sizeof(uint32_t) :
			      word_at(dec, at + RECORD_HEADER);
			if (len < sizeof(uint32_t) || len > room || len % RECORD_ALIGN)
				return -EBADMSG;
		}
		if (len > room)
			return -EBADMSG;
		at += RECORD_HEADER + len;
		if (type < KBUFFER_TYPE_PADDING) {
			dec->next = at;
			return 1;
		}
	}
	/* less than a header is left over */
	if (at != dec->size && dec->size - at < RECORD_HEADER)
		return -EBADMSG;
	dec->next = dec->size;
	return 0;
}

/**
 * hyptrace_decoder_load - begin a sub-buffer
 * @dec:	the decoder
 * @subbuf:	the sub-buffer; must stay as long as records of it are used
 * @size:	its bytes, header included
 * @err:	why not
 *
 * Return: 0, or -EBADMSG if it is none.
 */
int hyptrace_decoder_load(struct hyptrace_decoder *dec, const void *subbuf, size_t size,
			  struct hyptrace_error *err)
{
	uint64_t commit, stored;
	size_t room, used;

	dec->size = 0;
	dec->next = 0;
	dec->begun = false;

	if (size < HYPTRACE_SUBBUF_HEADER)
		return hyptrace_error_set(err, EBADMSG, "a sub-buffer of %zu bytes", size);
	room = size - HYPTRACE_SUBBUF_HEADER;

	memcpy(&commit, (const char *)subbuf + sizeof(uint64_t), sizeof(commit));
	used = commit & HYPTRACE_COMMIT_MASK;
	if ((commit & ~(uint64_t)COMMIT_BITS) || used > room || used % RECORD_ALIGN)
		return hyptrace_error_set(err, EBADMSG,
					  "a sub-buffer with the commit word 0x%llx",
					  (unsigned long long)commit);

	dec->data = (const char *)subbuf + HYPTRACE_SUBBUF_HEADER;
	dec->size = used;

	if (commit & HYPTRACE_COMMIT_MISSED) {
		if (commit & HYPTRACE_COMMIT_STORED && room - dec->size >= sizeof(stored))
			memcpy(&stored, dec->data + dec->size, sizeof(stored));
		else
			stored = HYPTRACE_LOST_UNKNOWN;
		/* of a sub-buffer without events the next one has to tell */
		if (dec->lost > HYPTRACE_LOST_UNKNOWN - stored)
			dec->lost = HYPTRACE_LOST_UNKNOWN;
		else
			dec->lost += stored;
	}
	return 0;
}

/**
 * hyptrace_decoder_next - the next record
 * @dec:	the decoder
 * @rec:	filled in; valid as long as the sub-buffer
 * @err:	why not
 *
 * Return: 1, 0 at the end of the sub-buffer, -EBADMSG where it makes no sense;
 * the rest of it is then passed over.
 */
int hyptrace_decoder_next(struct hyptrace_decoder *dec, struct hyptrace_record *rec,
			  struct hyptrace_error *err)
{
	uint32_t before = dec->next;
	unsigned long long ts;
	int ret = check_record(dec);

	if (ret < 0) {
		dec->next = dec->size;
		return hyptrace_error_set(err, EBADMSG,
					  "a sub-buffer with a bad record at byte %u of its data",
					  before);
	}
	if (!ret)
		return 0;

	if (!dec->begun) {
		/* kbuffer looks at the first record at once, so not any sooner */
		kbuffer_load_subbuffer(dec->kbuf, (void *)(dec->data - HYPTRACE_SUBBUF_HEADER));
		rec->data = kbuffer_read_event(dec->kbuf, &ts);
		dec->begun = true;
	} else {
		rec->data = kbuffer_next_event(dec->kbuf, &ts);
	}
	if (!rec->data)
		return 0;

	rec->ts = ts;
	rec->size = kbuffer_event_size(dec->kbuf);
	rec->lost = dec->lost;
	dec->lost = 0;
	return 1;
}

/**
 * hyptrace_decoder_lost - losses that no record has told of yet
 * @dec:	the decoder
 *
 * For the end of reading: a sub-buffer may say that events went missing and have
 * none itself.
 *
 * Return: how many, HYPTRACE_LOST_UNKNOWN if nobody knows; 0 from then on.
 */
uint64_t hyptrace_decoder_lost(struct hyptrace_decoder *dec)
{
	uint64_t lost = dec->lost;

	dec->lost = 0;
	return lost;
}
