// SPDX-License-Identifier: GPL-2.0-only
/*
 * The writer releases rings to the host. That takes long, and must not stop half way: a worker does
 * it. If the requester is killed, the next load waits. Called by register.c, state.c, resize.c.
 */
#include <linux/completion.h>
#include <linux/workqueue.h>

#include "internal.h"

static void release_work(struct work_struct *work)
{
	struct hyptrace_remote *remote = container_of(work, struct hyptrace_remote, release.work);
	struct hyptrace_release *release = &remote->release;

	release->err = release->op(&release->buf, remote->desc->priv);
	if (release->err)
		hyptrace_buffer_leak(remote, &release->buf);
	else
		hyptrace_buffer_free(&release->buf);
	complete_all(&release->done);
}

/**
 * hyptrace_release_init - initialize the state: no release is in progress
 * @remote:	a new remote
 */
void hyptrace_release_init(struct hyptrace_remote *remote)
{
	INIT_WORK(&remote->release.work, release_work);
	init_completion(&remote->release.done);
	complete_all(&remote->release.done);
}

/**
 * hyptrace_release_rings - make the writer release rings, and free them
 * @remote:	control mutex held; this releases it meanwhile
 * @buf:	the rings, which must be unused; empty on return
 * @op:		unload_trace_buffer or finish_resize of the remote
 *
 * First waits for the end of a release that is still in progress.
 *
 * Return: 0; -EINTR after a fatal signal, and the release continues without the caller; or
 * the error of @op: the writer has kept pages, and @remote cannot be loaded again.
 */
int hyptrace_release_rings(struct hyptrace_remote *remote, struct hyptrace_buffer *buf,
			   int (*op)(struct hyptrace_buffer *buf, void *priv))
{
	struct hyptrace_release *release = &remote->release;

	/* A resize whose requester was killed may still release rings. */
	hyptrace_release_finish(remote);
	release->buf = *buf;
	memset(buf, 0, sizeof(*buf));
	release->op = op;
	reinit_completion(&release->done);
	queue_work(hyptrace_wq, &release->work);
	return hyptrace_release_wait(remote, NULL) ?: release->err;
}

/**
 * hyptrace_release_wait - wait until no release is in progress
 * @remote:	control mutex held; this releases it meanwhile
 * @extack:	out: the reason if it fails; may be NULL
 * Return: 0, or -EINTR after a fatal signal.
 */
int hyptrace_release_wait(struct hyptrace_remote *remote, struct netlink_ext_ack *extack)
{
	int err;

	mutex_unlock(&remote->control);
	err = wait_for_completion_killable(&remote->release.done);
	mutex_lock(&remote->control);
	if (!err)
		return 0;
	NL_SET_ERR_MSG(extack, "killed while older rings were released");
	return -EINTR;
}

/**
 * hyptrace_release_finish - wait until no release is in progress, ignoring signals
 * @remote:	control mutex held; this releases it meanwhile
 */
void hyptrace_release_finish(struct hyptrace_remote *remote)
{
	mutex_unlock(&remote->control);
	wait_for_completion(&remote->release.done);
	mutex_lock(&remote->control);
}
