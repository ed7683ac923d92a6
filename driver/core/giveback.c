// SPDX-License-Identifier: GPL-2.0-only
/*
 * Getting the memory of rings back from a writer. Called by state.c and resize.c.
 *
 * Large rings take long, and what has begun must come to its end. So a worker does it:
 * a requester that is killed does not wait for it, and the next load does.
 */
#include <linux/completion.h>
#include <linux/workqueue.h>

#include "internal.h"

static void giveback_work(struct work_struct *work)
{
	struct hyptrace_remote *remote = container_of(work, struct hyptrace_remote, giveback.work);
	struct hyptrace_giveback *giveback = &remote->giveback;

	giveback->err = giveback->op(&giveback->buf, remote->desc->priv);
	if (giveback->err)
		hyptrace_buffer_lose(remote, &giveback->buf);
	else
		hyptrace_buffer_free(&giveback->buf);
	complete_all(&giveback->done);
}

/**
 * hyptrace_giveback_init - nothing is being given back
 * @remote:	a new one
 */
void hyptrace_giveback_init(struct hyptrace_remote *remote)
{
	INIT_WORK(&remote->giveback.work, giveback_work);
	init_completion(&remote->giveback.done);
	complete_all(&remote->giveback.done);
}

/**
 * hyptrace_giveback - have the writer give rings back, and free them
 * @remote:	control mutex held
 * @buf:	the rings, which nobody uses any more; empty on return
 * @op:		unload_trace_buffer or finish_resize of the remote
 *
 * What is still being given back is waited for first.
 *
 * Return: 0; -EINTR if a fatal signal came first: it goes on without the caller; or
 * what @op answered: the writer has kept some, and @remote cannot be loaded again.
 */
int hyptrace_giveback(struct hyptrace_remote *remote, struct hyptrace_buffer *buf,
		      int (*op)(struct hyptrace_buffer *buf, void *priv))
{
	struct hyptrace_giveback *giveback = &remote->giveback;

	/* of a resize, whose requester was killed */
	hyptrace_giveback_finish(remote);
	giveback->buf = *buf;
	memset(buf, 0, sizeof(*buf));
	giveback->op = op;
	reinit_completion(&giveback->done);
	queue_work(hyptrace_wq, &giveback->work);
	return hyptrace_giveback_wait(remote) ?: giveback->err;
}

/**
 * hyptrace_giveback_wait - wait until nothing is being given back
 * @remote:	control mutex held
 *
 * Return: 0, or -EINTR if a fatal signal came first.
 */
int hyptrace_giveback_wait(struct hyptrace_remote *remote)
{
	return wait_for_completion_killable(&remote->giveback.done) ? -EINTR : 0;
}

/**
 * hyptrace_giveback_finish - wait for it, whatever signal comes
 * @remote:	control mutex held
 */
void hyptrace_giveback_finish(struct hyptrace_remote *remote)
{
	wait_for_completion(&remote->giveback.done);
}
