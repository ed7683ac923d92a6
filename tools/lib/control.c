// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control requests: change a remote, its settings and its events.
 */
#include <errno.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "hyptrace.h"

static int put_request(struct nl_msg *msg, const struct hyptrace_request *req)
{
	if (nla_put_string(msg, HYPTRACE_A_CONTROL_REMOTE, req->remote))
		return -ENOMEM;
	if (req->attrs & HYPTRACE_REQUEST_CPU && nla_put_u32(msg, HYPTRACE_A_CONTROL_CPU, req->cpu))
		return -ENOMEM;
	if (req->attrs & HYPTRACE_REQUEST_SIZE &&
	    nla_put_u64(msg, HYPTRACE_A_CONTROL_SIZE, req->size))
		return -ENOMEM;
	if (req->attrs & HYPTRACE_REQUEST_MODE &&
	    nla_put_u32(msg, HYPTRACE_A_CONTROL_MODE, req->mode))
		return -ENOMEM;
	if (req->attrs & HYPTRACE_REQUEST_VALUE &&
	    nla_put_u64(msg, HYPTRACE_A_CONTROL_VALUE, req->value))
		return -ENOMEM;
	if (req->attrs & HYPTRACE_REQUEST_COUNT &&
	    nla_put_u32(msg, HYPTRACE_A_CONTROL_COUNT, req->count))
		return -ENOMEM;
	if (req->attrs & HYPTRACE_REQUEST_RATE &&
	    nla_put_u32(msg, HYPTRACE_A_CONTROL_RATE, req->rate))
		return -ENOMEM;
	return 0;
}

/**
 * hyptrace_control - send a control request
 * @nl:		the connection
 * @cmd:	HYPTRACE_CMD_LOAD, UNLOAD, START, STOP, CLEAR, RESET, SET or MARK
 * @req:	its attributes; hyptrace.yaml lists those of each command
 * @err:	the reason if it fails; may be NULL
 *
 * Return: 0 or a negative errno. On failure nothing has changed, unless the remote
 * failed half way or a signal interrupted MARK.
 */
int hyptrace_control(struct hyptrace_nl *nl, int cmd, const struct hyptrace_request *req,
		     struct hyptrace_error *err)
{
	struct nl_msg *msg = hyptrace_nl_msg(nl, cmd, 0);

	if (!msg || put_request(msg, req)) {
		nlmsg_free(msg);
		return hyptrace_error_set(err, ENOMEM, "out of memory");
	}
	return hyptrace_nl_send(nl, msg, NULL, NULL, err);
}

/**
 * hyptrace_set_events - enable or disable events
 * @nl:		the connection
 * @remote:	name of their remote
 * @names:	their exact names, each once
 * @nr:		number of @names, at most HYPTRACE_EVENT_LIST_MAX
 * @enable:	true to enable them, false to disable them
 * @err:	the reason if it fails, its subject the name at fault; may be NULL
 *
 * Return: 0 or a negative errno; on failure no event has changed.
 */
int hyptrace_set_events(struct hyptrace_nl *nl, const char *remote, const char *const *names,
			unsigned int nr, bool enable, struct hyptrace_error *err)
{
	struct nl_msg *msg;
	unsigned int i;

	if (nr > HYPTRACE_EVENT_LIST_MAX)
		return hyptrace_error_set(err, E2BIG, "at most %u events can be named at once",
					  HYPTRACE_EVENT_LIST_MAX);

	msg = hyptrace_nl_msg(nl, HYPTRACE_CMD_EVENT_SET, 0);
	if (!msg)
		goto no_memory;
	if (nla_put_string(msg, HYPTRACE_A_EVENT_REMOTE, remote))
		goto no_memory;
	for (i = 0; i < nr; i++)
		if (nla_put_string(msg, HYPTRACE_A_EVENT_NAMES, names[i]))
			goto no_memory;
	if (nla_put_u8(msg, HYPTRACE_A_EVENT_ENABLED, enable))
		goto no_memory;
	return hyptrace_nl_send(nl, msg, NULL, NULL, err);

no_memory:
	nlmsg_free(msg);
	return hyptrace_error_set(err, ENOMEM, "out of memory");
}

/**
 * hyptrace_state_name - the name of a remote's state
 * @state:	enum hyptrace_state
 *
 * Return: its name, "unknown" for one that is newer than this library.
 */
const char *hyptrace_state_name(uint32_t state)
{
	switch (state) {
	case HYPTRACE_STATE_UNLOADED:
		return "unloaded";
	case HYPTRACE_STATE_LOADED:
		return "loaded";
	case HYPTRACE_STATE_TRACING:
		return "tracing";
	}
	return "unknown";
}

/**
 * hyptrace_mode_name - the name of a mode
 * @mode:	enum hyptrace_mode
 *
 * Return: its name, "unknown" for one that is newer than this library.
 */
const char *hyptrace_mode_name(uint32_t mode)
{
	switch (mode) {
	case HYPTRACE_MODE_OVERWRITE:
		return "overwrite";
	case HYPTRACE_MODE_DISCARD:
		return "discard";
	}
	return "unknown";
}

/**
 * hyptrace_cpu_state_name - the name of the state of a CPU's ring
 * @state:	enum hyptrace_cpu_state
 *
 * Return: its name, "unknown" for one that is newer than this library.
 */
const char *hyptrace_cpu_state_name(uint32_t state)
{
	switch (state) {
	case HYPTRACE_CPU_STATE_DETACHED:
		return "detached";
	case HYPTRACE_CPU_STATE_ATTACHED:
		return "attached";
	case HYPTRACE_CPU_STATE_PARKED:
		return "parked";
	}
	return "unknown";
}
