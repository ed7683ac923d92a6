// SPDX-License-Identifier: GPL-2.0-only
/*
 * Release of rings: the writer gives their memory back. Called by remote.c, state.c and
 * resize.c.
 *
 * The release of large rings takes long, and must not stop half way. So a worker does it.
 * If the requester is killed, it stops waiting, and the next load waits instead.
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
		hyptrace_buffer_leak(remote, &giveback->buf);
	else
		hyptrace_buffer_free(&giveback->buf);
	complete_all(&giveback->done);
}

/**
 * hyptrace_giveback_init - initialize the state: no release is in progress
 * @remote:	a new remote
 */
void hyptrace_giveback_init(struct hyptrace_remote *remote)
{
	INIT_WORK(&remote->giveback.work, giveback_work);
	init_completion(&remote->giveback.done);
	complete_all(&remote->giveback.done);
}

/**
 * hyptrace_giveback - make the writer release rings, and free them
 * @remote:	control mutex held
 * @buf:	the rings, which must be unused; empty on return
 * @op:		unload_trace_buffer or finish_resize of the remote
 *
 * First waits for the end of a release that is still in progress.
 *
 * Return: 0; -EINTR after a fatal signal, and the release continues without the caller; or
 * the error of @op: the writer has kept pages, and @remote cannot be loaded again.
 */
int hyptrace_giveback(struct hyptrace_remote *remote, struct hyptrace_buffer *buf,
		      int (*op)(struct hyptrace_buffer *buf, void *priv))
{
	struct hyptrace_giveback *giveback = &remote->giveback;

	/* A resize whose requester was killed may still release rings. */
	hyptrace_giveback_finish(remote);
	giveback->buf = *buf;
	memset(buf, 0, sizeof(*buf));
	giveback->op = op;
	reinit_completion(&giveback->done);
	queue_work(hyptrace_wq, &giveback->work);
	return hyptrace_giveback_wait(remote) ?: giveback->err;
}

/**
 * hyptrace_giveback_wait - wait until no release is in progress
 * @remote:	control mutex held
 *
 * Return: 0, or -EINTR after a fatal signal.
 */
int hyptrace_giveback_wait(struct hyptrace_remote *remote)
{
	return wait_for_completion_killable(&remote->giveback.done) ? -EINTR : 0;
}

/**
 * hyptrace_giveback_finish - wait until no release is in progress, ignoring signals
 * @remote:	control mutex held
 */
void hyptrace_giveback_finish(struct hyptrace_remote *remote)
{
	wait_for_completion(&remote->giveback.done);
}
