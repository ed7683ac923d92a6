// SPDX-License-Identifier: GPL-2.0-only
/*
 * How a trace file is made: its parts, and its sub-buffers one by one.
 */
#include <errno.h>
#include <string.h>

#include <linux/hyptrace_record.h>

#include "file.h"

/**
 * hyptrace_file_pieces - get the parts of a file
 * @file:	the file
 * @nr:		out: their number
 *
 * Return: the parts, in the order of their places; very many are not all known. Valid as long as
 * the file is open.
 */
const struct hyptrace_file_piece *const *hyptrace_file_pieces(const struct hyptrace_file *file,
							      unsigned int *nr)
{
	*nr = file->nr_pieces;
	return (const struct hyptrace_file_piece *const *)file->pieces;
}

/* Describe the sub-buffer that was loaded. */
static void describe(const struct hyptrace_file *f, struct file_source *src,
		     struct hyptrace_file_subbuf *subbuf)
{
	const uint32_t size = f->meta.info.subbuf_size;
	uint64_t at = src->next - src->len + src->pos - size, commit;
	const char *data = src->copy ? src->copy : src->buf + src->pos - size;

	subbuf->offset = hyptrace_data_where(src->data, at, &subbuf->own_file);
	memcpy(&subbuf->ts, data, sizeof(subbuf->ts));
	memcpy(&commit, data + sizeof(subbuf->ts), sizeof(commit));
	subbuf->used = commit & HYPTRACE_COMMIT_MASK;
}

/* Walk over the sub-buffers of a CPU. Return 0 or a negative errno. */
static int walk_source(struct hyptrace_file *f, struct file_source *src,
		       hyptrace_file_subbuf_fn fn, void *arg, struct hyptrace_error *err)
{
	struct hyptrace_file_subbuf subbuf;
	struct hyptrace_record rec;
	uint64_t at, nr;
	int ret;

	do {
		at = src->next - src->len + src->pos;
		nr = src->nr_loaded;
		ret = hyptrace_file_source_load(src, err);
		if (!ret || (ret < 0 && ret != -EBADMSG))
			break;
		memset(&subbuf, 0, sizeof(subbuf));
		subbuf.cpu = src->cpu->id;
		/* what is damaged may be no sub-buffer */
		if (src->nr_loaded > nr)
			describe(f, src, &subbuf);
		else
			subbuf.offset = hyptrace_data_where(src->data, at, &subbuf.own_file);
		if (ret > 0) {
			subbuf.lost = hyptrace_decoder_lost(src->dec);
			while ((ret = hyptrace_decoder_next(src->dec, &rec, err)) > 0)
				subbuf.events++;
			if (ret < 0)
				hyptrace_file_source_fail(src, ret, err);
		}
		subbuf.damage = ret < 0 ? err->text : NULL;
		fn(&subbuf, arg);
	} while (!src->over);
	return ret == -EBADMSG ? 0 : ret;
}

/**
 * hyptrace_file_walk - call a function for each sub-buffer of the chosen CPUs
 * @f:		the file; reading starts again
 * @fn:		the function
 * @arg:	its second argument
 * @err:	the reason if it fails; not NULL
 *
 * Return: 0 or a negative errno.
 */
int hyptrace_file_walk(struct hyptrace_file *f, hyptrace_file_subbuf_fn fn, void *arg,
		       struct hyptrace_error *err)
{
	unsigned int i;
	int ret;

	hyptrace_file_rewind(f);
	ret = hyptrace_file_begin(f, err);
	for (i = 0; i < f->nr_sources && !ret; i++)
		ret = walk_source(f, &f->sources[i], fn, arg, err);
	hyptrace_file_rewind(f);
	return ret;
}
