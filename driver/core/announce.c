// SPDX-License-Identifier: GPL-2.0-only
/* Whom core tells of changes: the listener, and the waiters of attachments. */
#include "internal.h"

const struct hyptrace_listener *hyptrace_listener;

/**
 * hyptrace_wake_waiters - wake the waiters of all attachments, so that they look again
 * @remote:	control mutex held
 */
void hyptrace_wake_waiters(const struct hyptrace_remote *remote)
{
	struct hyptrace_attachment *attachment;

	list_for_each_entry(attachment, &remote->attached, node)
		attachment->wake(attachment);
}
