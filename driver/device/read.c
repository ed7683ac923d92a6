// SPDX-License-Identifier: GPL-2.0-only
/*
 * read() and splice(): they deliver whole sub-buffers, as the kernel's trace_pipe_raw does. The
 * writer owns the pages of a loaded ring, so splice() copies each sub-buffer once, into a new page.
 * Called by chardev.c.
 */
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/pipe_fs_i.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/splice.h>
#include <linux/uaccess.h>

#include "device.h"

/*
 * Deliver only data that is in the rings now. A non-blocking reader that loops until -EAGAIN must
 * come to an end, even if the writer is faster: so drain_left limits the loop to the data that is
 * present when it begins, plus the capacity of the rings.
 */
static int begin_read(struct hyptrace_file *file, bool nonblock)
{
	struct hyptrace_reader *reader;
	u64 present = 0, capacity = 0;
	unsigned int cpu;
	int err;

	for_each_possible_cpu(cpu) {
		if (!hyptrace_file_is_for_all(file) && file->attachment.cpu != cpu)
			continue;
		reader = hyptrace_remote_reader(file->attachment.remote, cpu);
		err = hyptrace_reader_begin_read(reader, &present, &capacity);
		if (err)
			return err;
	}
	/* While tracing is off no data is added, so the loop ends without a limit. */
	if (!nonblock || !hyptrace_remote_is_tracing(file->attachment.remote)) {
		WRITE_ONCE(file->draining, false);
	} else if (!READ_ONCE(file->draining)) {
		WRITE_ONCE(file->draining, true);
		file->drain_left = present + capacity;
	} else if (!file->drain_left) {
		return -EAGAIN;
	}
	return 0;
}

/* Whether a read that has delivered data must return now. */
static bool must_end(const struct hyptrace_file *file)
{
	return signal_pending(current) || (READ_ONCE(file->draining) && !file->drain_left);
}

static void count_delivered(struct hyptrace_file *file, const struct hyptrace_subbuf *subbuf)
{
	u64 size = subbuf->commit & HYPTRACE_COMMIT_MASK;

	file->drain_left -= min(file->drain_left, size);
}

/* Take from each CPU in turn, so that a busy CPU does not starve the others. */
static int take_from_all(struct hyptrace_file *file, struct hyptrace_subbuf *to)
{
	struct hyptrace_frame *frame = file->pending;
	struct hyptrace_reader *reader;
	unsigned int i, cpu;
	u64 lost;
	int err;

	for (i = 0; i < nr_cpu_ids; i++) {
		cpu = (file->next_cpu + i) % nr_cpu_ids;
		reader = hyptrace_remote_reader(file->attachment.remote, cpu);
		if (!reader)
			continue;
		err = hyptrace_reader_take(reader, to, &lost);
		if (err == -EAGAIN)
			continue;
		if (err)
			return err;
		file->next_cpu = cpu + 1;
		frame->cpu = cpu;
		frame->size = PAGE_SIZE;
		frame->lost = lost;
		return 0;
	}
	return -EAGAIN;
}

static int take_from_one(struct hyptrace_file *file, struct hyptrace_subbuf *to)
{
	u64 lost;

	return hyptrace_reader_take(hyptrace_file_reader(file), to, &lost);
}

static int take_subbuf(struct hyptrace_file *file)
{
	struct hyptrace_subbuf *to = file->pending + HYPTRACE_FRAME_BYTES;
	const bool all = hyptrace_file_is_for_all(file);
	int err = all ? take_from_all(file, to) : take_from_one(file, to);

	if (err)
		return err;
	WRITE_ONCE(file->pending_at, all ? 0 : HYPTRACE_FRAME_BYTES);
	WRITE_ONCE(file->pending_end, HYPTRACE_FRAME_BYTES + PAGE_SIZE);
	count_delivered(file, to);
	return 0;
}

static ssize_t read_present(struct hyptrace_file *file, char __user *buf, size_t count,
			    bool nonblock)
{
	size_t whole = PAGE_SIZE + (hyptrace_file_is_for_all(file) ? HYPTRACE_FRAME_BYTES : 0);
	size_t done = 0, n, left;
	int err = 0;

	if (mutex_lock_interruptible(&file->lock))
		return -ERESTARTSYS;
	if (file->pending_at == file->pending_end)
		err = begin_read(file, nonblock);
	while (!err && done < count) {
		if (file->pending_at == file->pending_end) {
			/* Only the first sub-buffer of a read may be delivered in pieces. */
			if (done && (count - done < whole || must_end(file)))
				break;
			err = take_subbuf(file);
			if (err)
				break;
		}
		n = min(count - done, file->pending_end - file->pending_at);
		left = copy_to_user(buf + done, file->pending + file->pending_at, n);
		WRITE_ONCE(file->pending_at, file->pending_at + n - left);
		done += n - left;
		if (left)
			err = -EFAULT;
		cond_resched();
	}
	mutex_unlock(&file->lock);
	return done ? done : err;
}

static int take_page(struct hyptrace_file *file, struct pipe_buffer *buf)
{
	struct page *page = alloc_page(GFP_KERNEL_ACCOUNT);
	int err;

	if (!page)
		return -ENOMEM;
	err = take_from_one(file, page_address(page));
	if (err) {
		__free_page(page);
		return err;
	}
	count_delivered(file, page_address(page));
	*buf = (struct pipe_buffer) {
		.ops = &nosteal_pipe_buf_ops, .page = page, .len = PAGE_SIZE,
	};
	return 0;
}

/*
 * Check for room in the pipe first: a sub-buffer cannot be put back into the ring. add_to_pipe()
 * cannot fail then: the caller holds the pipe's lock and has checked that the pipe has a reader.
 * The pages are charged to the caller's memory cgroup, so the pipe's reader must not steal them.
 */
static ssize_t splice_present(struct hyptrace_file *file, struct pipe_inode_info *pipe,
			      size_t count, bool nonblock)
{
	struct pipe_buffer buf;
	size_t done = 0;
	ssize_t ret;

	if (mutex_lock_interruptible(&file->lock))
		return -ERESTARTSYS;
	/* splice() delivers whole sub-buffers: not the rest of one that read() has begun. */
	ret = file->pending_at == file->pending_end ? begin_read(file, nonblock) : -EINVAL;
	while (ret >= 0 && done < count && !(done && must_end(file))) {
		if (pipe_full(pipe->head, pipe->tail, pipe->max_usage))
			break;
		ret = take_page(file, &buf);
		if (!ret)
			ret = add_to_pipe(pipe, &buf);
		if (ret > 0)
			done += ret;
		cond_resched();
	}
	mutex_unlock(&file->lock);
	return done ? done : ret;
}

struct request {
	char __user		*buf;
	struct pipe_inode_info	*pipe;
	size_t			count;
};

static ssize_t deliver_present(struct hyptrace_file *file, const struct request *req,
			       bool nonblock)
{
	return req->pipe ? splice_present(file, req->pipe, req->count, nonblock) :
			   read_present(file, req->buf, req->count, nonblock);
}

/* Wait for the first event unless @nonblock. Return 0 if tracing is off and no data is left. */
static ssize_t deliver(struct hyptrace_file *file, const struct request *req, bool nonblock)
{
	while (req->count) {
		int nr_wakeups = atomic_read(&file->nr_wakeups);
		bool tracing = hyptrace_remote_is_tracing(file->attachment.remote);
		ssize_t done = deliver_present(file, req, nonblock);
		int err;

		if (done != -EAGAIN)
			return done;
		WRITE_ONCE(file->draining, false);
		if (!tracing)
			return 0;
		if (nonblock) {
			hyptrace_file_rearm_timer(file);
			return -EAGAIN;
		}
		err = hyptrace_file_sleep(file, nr_wakeups);
		if (err)
			return err;
	}
	return 0;
}

/**
 * hyptrace_file_read - read(): see linux/hyptrace.h
 * @filp:	the open file
 * @buf:	destination
 * @count:	its size in bytes
 * @pos:	not used
 * Return: the number of bytes delivered, or an errno of linux/hyptrace.h.
 */
ssize_t hyptrace_file_read(struct file *filp, char __user *buf, size_t count, loff_t *pos)
{
	const struct request req = { .buf = buf, .count = count };
	struct hyptrace_file *file = filp->private_data;
	int err = hyptrace_file_check_consumer(file);

	if (err)
		return err;
	if (hyptrace_file_is_for_all(file) && count < HYPTRACE_FRAME_BYTES + PAGE_SIZE)
		return -EINVAL;
	return deliver(file, &req, filp->f_flags & O_NONBLOCK);
}

/**
 * hyptrace_file_splice_read - splice(): see linux/hyptrace.h
 * @filp:	the open file
 * @pos:	not used
 * @pipe:	destination; its lock is held
 * @count:	maximum number of bytes, rounded down to whole sub-buffers
 * @flags:	SPLICE_F_*
 * Return: the number of bytes delivered, or an errno of linux/hyptrace.h.
 */
ssize_t hyptrace_file_splice_read(struct file *filp, loff_t *pos, struct pipe_inode_info *pipe,
				  size_t count, unsigned int flags)
{
	const struct request req = { .pipe = pipe, .count = round_down(count, PAGE_SIZE) };
	struct hyptrace_file *file = filp->private_data;
	int err = hyptrace_file_check_consumer(file);

	if (err)
		return err;
	if (hyptrace_file_is_for_all(file) || !req.count)
		return -EINVAL;
	return deliver(file, &req, (filp->f_flags & O_NONBLOCK) || (flags & SPLICE_F_NONBLOCK));
}
