// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bytes of a CPU's sub-buffers, wherever they are in a trace file. For file_source.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "file.h"

/* Get where a byte of a CPU's sub-buffers is in the file. */
uint64_t hyptrace_data_where(const struct file_data *data, uint64_t at, bool *own)
{
	if (data->compressed)
		at = data->here;
	*own = data->own_fd && at >= data->moved;
	return at < data->moved ? data->to + at : data->offset + at;
}

/* Get how many bytes the sub-buffers of a CPU have. */
int hyptrace_data_size(const struct hyptrace_file *f, struct file_data *data, uint64_t *size,
		       struct hyptrace_error *err)
{
	if (data->compressed)
		return hyptrace_data_index(f, data, size, err);
	*size = data->size - data->size % f->meta.info.subbuf_size;
	return 0;
}

/*
 * Read sub-buffers of a CPU. Return the bytes that were read, a multiple of a sub-buffer; 0 at the
 * end; a negative errno: -EBADMSG if there is something that is no whole sub-buffer.
 */
int64_t hyptrace_data_read(struct hyptrace_file *f, struct file_data *data, uint64_t at,
			   char *to, size_t room, struct hyptrace_error *err)
{
	const uint32_t subbuf = f->meta.info.subbuf_size;
	uint64_t left = at < data->size ? data->size - at : 0;
	int64_t n;

	if (!data->size && !data->missing)
		return 0;
	if (data->compressed)
		return hyptrace_data_inflate(f, data, at, to, room, err);
	if (left < subbuf && data->missing)
		return hyptrace_data_cut(data, err);
	if (!left)
		return 0;
	if (left > room)
		left = room - room % subbuf;
	n = hyptrace_data_pread(f, data, to, left, at);
	if (n < 0)
		return hyptrace_error_set(err, -n, "%s", strerror(-n));
	if (n < subbuf)
		return hyptrace_error_set(err, EBADMSG, "the last %" PRId64 " bytes are no whole sub-buffer",
					  n);
	return n - n % subbuf;
}
