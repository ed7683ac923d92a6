/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The format of a sub-buffer: one definition for the writer, the driver and programs.
 *
 * A sub-buffer is struct hyptrace_subbuf, which is byte for byte a page of the kernel's own
 * ring buffer. It is one page of memory; read() may deliver a part of it.
 *
 * A record begins with a u32 of two bit-fields, as in the kernel's own ring buffer:
 * 5 bits of type_len, then 27 bits of delta. The first bit-field takes the low bits on
 * a little-endian machine, and the high bits on a big-endian one.
 *
 *	type_len	what follows the header
 *	0		a u32: bytes of the payload and of itself; then the payload
 *	1 to 28		a payload of type_len words of 4 bytes
 *	29, delta 0	padding, to the end of the data
 *	29, else	a u32: bytes of the padding and of itself; then the padding
 *	30		a u32: the high bits of a delta of more than 27 bits
 *	31		a u32: the high bits of an absolute time; delta has the low bits
 *
 * The next record begins at a multiple of 4 bytes.
 */
#ifndef _UAPI_LINUX_HYPTRACE_RECORD_H
#define _UAPI_LINUX_HYPTRACE_RECORD_H

#include <linux/types.h>

/**
 * struct hyptrace_subbuf - a sub-buffer
 * @time_stamp:	nanoseconds; the delta of the first record is relative to it
 * @commit:	bytes of @data that hold records, and HYPTRACE_COMMIT_* flags
 * @data:	the records
 */
struct hyptrace_subbuf {
	__u64 time_stamp;
	__u64 commit;
	__u8  data[];
};

/* Flags of @commit of a sub-buffer; its low bits are the bytes of data. */
#define HYPTRACE_COMMIT_MISSED	(1U << 31)
#define HYPTRACE_COMMIT_STORED	(1U << 30)
#define HYPTRACE_COMMIT_MASK	((1U << 20) - 1)

#define HYPTRACE_TYPE_LEN_BITS		5
#define HYPTRACE_DELTA_BITS		27

#define HYPTRACE_TYPE_LENGTH_WORD	0
#define HYPTRACE_TYPE_PADDING		29
#define HYPTRACE_TYPE_TIME_EXTEND	30
#define HYPTRACE_TYPE_TIME_ABSOLUTE	31

/* The largest type_len that is the number of words of a payload. */
#define HYPTRACE_TYPE_MAX_WORDS		28

/* Bits of an absolute time. The time of the record before has the higher bits. */
#define HYPTRACE_ABSOLUTE_BITS		(HYPTRACE_DELTA_BITS + 32)

/**
 * hyptrace_record_header() - make the header of a record
 * @type_len:	see above
 * @delta:	nanoseconds since the record before, less than 2^HYPTRACE_DELTA_BITS
 * Return: the header, to be stored as a u32 of this machine.
 */
static __always_inline __u32 hyptrace_record_header(__u32 type_len, __u32 delta)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return type_len << HYPTRACE_DELTA_BITS | delta;
#else
	return type_len | delta << HYPTRACE_TYPE_LEN_BITS;
#endif
}

/**
 * hyptrace_record_type_len() - get the type_len of a record
 * @header:	loaded as a u32 of this machine
 * Return: its type_len.
 */
static __always_inline __u32 hyptrace_record_type_len(__u32 header)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return header >> HYPTRACE_DELTA_BITS;
#else
	return header & ((1U << HYPTRACE_TYPE_LEN_BITS) - 1);
#endif
}

/**
 * hyptrace_record_delta() - get the delta of a record
 * @header:	loaded as a u32 of this machine
 * Return: nanoseconds since the record before, or the low bits of a longer time.
 */
static __always_inline __u32 hyptrace_record_delta(__u32 header)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return header & ((1U << HYPTRACE_DELTA_BITS) - 1);
#else
	return header >> HYPTRACE_TYPE_LEN_BITS;
#endif
}

/**
 * hyptrace_record_long_time() - get the time of a record of type_len 30 or 31
 * @header:	loaded as a u32 of this machine
 * @word:	the u32 that follows it
 * Return: nanoseconds since the record before (30), or the low HYPTRACE_ABSOLUTE_BITS of
 * an absolute time (31).
 */
static __always_inline __u64 hyptrace_record_long_time(__u32 header, __u32 word)
{
	return (__u64)word << HYPTRACE_DELTA_BITS | hyptrace_record_delta(header);
}

/**
 * struct hyptrace_gap - a gap record: events were lost right before this sub-buffer
 * @header:	hyptrace_record_header(HYPTRACE_TYPE_PADDING, HYPTRACE_GAP_DELTA)
 * @length:	HYPTRACE_GAP_LENGTH
 * @lost:	how many events
 *
 * A ring that discards writes it as the first record of a sub-buffer. It is a padding
 * record, so readers of the kernel's format skip it.
 */
struct hyptrace_gap {
	__u32 header;
	__u32 length;
	__u64 lost;
};

#define HYPTRACE_GAP_DELTA	1
#define HYPTRACE_GAP_LENGTH	(sizeof(struct hyptrace_gap) - sizeof(__u32))

/**
 * struct hyptrace_seal - the end of a sub-buffer whose memory outlives a reset of the machine
 * @sum:	hyptrace_seal_sum()
 * @bytes:	of data; records that were added later are not part of it
 * @reserved:	0
 */
struct hyptrace_seal {
	__u64 sum;
	__u32 bytes;
	__u32 reserved;
};

/**
 * hyptrace_seal_sum() - compute the sum of a seal
 * @subbuf:	the sub-buffer
 * @bytes:	of data, a multiple of 4
 *
 * FNV-1a, but of 8 bytes at a time: a reset may lose whole lines of a cache.
 *
 * Return: the sum of the time stamp and of the first @bytes bytes of data.
 */
static inline __u64 hyptrace_seal_sum(const struct hyptrace_subbuf *subbuf, __u32 bytes)
{
	const __u64 *at = (const __u64 *)subbuf->data, *end = at + bytes / sizeof(*at);
	__u64 sum = 0xcbf29ce484222325 ^ bytes;

	for (sum = (sum ^ subbuf->time_stamp) * 0x100000001b3; at < end; at++)
		sum = (sum ^ *at) * 0x100000001b3;
	if (bytes % sizeof(*at))
		sum = (sum ^ *(const __u32 *)at) * 0x100000001b3;
	return sum;
}

#endif /* _UAPI_LINUX_HYPTRACE_RECORD_H */
