// SPDX-License-Identifier: GPL-2.0-only
/* The connection to the netlink family "hyptrace": requests, dumps and errors. */
#include <sys/socket.h>

#include <linux/netlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>

#include "message.h"

/* How often a dump is tried while changes interrupt it */
#define DUMP_TRIES	8

/* The largest request is a full list of event names, with the largest filter. */
#define NAME_MAX_ATTR	(NLA_HDRLEN + NLA_ALIGN(HYPTRACE_EVENT_NAME_MAX + 1))
#define TERM_MAX_ATTR	(NAME_MAX_ATTR + 64)
#define REQUEST_MAX	(1024 + HYPTRACE_EVENT_LIST_MAX * NAME_MAX_ATTR + \
			 HYPTRACE_FILTER_TEXT_MAX + HYPTRACE_FILTER_TERMS_MAX * TERM_MAX_ATTR)
/* The same of an answer of a backend: an event, whose fields name all their values */
#define ANSWER_MAX	(256 << 10)

/* A request that waits for its answer */
struct call {
	hyptrace_nl_fn		fn;
	void			*arg;
	const struct nlmsghdr	*request;
	struct hyptrace_error	*err;
	int			ret;
	bool			done;
	bool			interrupted;
};

static void call_answer(struct call *call, const struct nlmsghdr *answer)
{
	struct hyptrace_extack ext;

	call->done = true;
	if (call->ret)
		return;

	if (hyptrace_extack_parse(answer, answer->nlmsg_len, &ext)) {
		call->ret = hyptrace_error_set(call->err, EBADMSG,
					       "the kernel's answer makes no sense");
	} else if (ext.errnum) {
		hyptrace_extack_error(&ext, call->request, call->err);
		call->ret = -ext.errnum;
	}
}

/* Skip the rest of an earlier answer that was given up. */
static int on_sequence(struct nl_msg *msg, void *arg)
{
	const struct call *call = arg;

	return nlmsg_hdr(msg)->nlmsg_seq == call->request->nlmsg_seq ? NL_OK : NL_SKIP;
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *e, void *arg)
{
	(void)from;
	call_answer(arg, (const void *)((const char *)e - NLMSG_HDRLEN));
	return NL_STOP;
}

/* The answer, or the end of a dump */
static int on_ack(struct nl_msg *msg, void *arg)
{
	struct call *call = arg;

	call->interrupted |= !!(nlmsg_hdr(msg)->nlmsg_flags & NLM_F_DUMP_INTR);
	call_answer(call, nlmsg_hdr(msg));
	return NL_STOP;
}

static int on_answer(const struct nlmsghdr *answer, void *arg)
{
	struct call *call = arg;
	int ret = call->fn ? call->fn(answer, call->arg) : 0;

	if (ret == -ENOMEM)
		hyptrace_error_memory(call->err);
	else if (ret)
		hyptrace_error_set(call->err, -ret, "the kernel's answer makes no sense");
	return ret;
}

static int on_valid(struct nl_msg *msg, void *arg)
{
	struct call *call = arg;

	call->interrupted |= !!(nlmsg_hdr(msg)->nlmsg_flags & NLM_F_DUMP_INTR);
	if (!call->ret)
		call->ret = on_answer(nlmsg_hdr(msg), call);
	return NL_OK;
}

/**
 * hyptrace_open - connect to the driver
 * @err:	the reason if it fails; may be NULL
 * Return: the connection, or NULL; the errno is ENOENT if the driver is not loaded.
 */
struct hyptrace *hyptrace_open(struct hyptrace_error *err)
{
	struct hyptrace *h = calloc(1, sizeof(*h));
	int one = 1, ret;

	if (!h)
		goto no_memory;
	h->sock = nl_socket_alloc();
	h->cb = nl_cb_alloc(NL_CB_DEFAULT);
	if (!h->sock || !h->cb)
		goto no_memory;

	ret = genl_connect(h->sock);
	if (ret) {
		hyptrace_error_set(err, EPROTONOSUPPORT, "cannot open a netlink socket: %s",
				   nl_geterror(ret));
		goto fail;
	}
	/* an error is ignored: older kernels have no extended ack */
	setsockopt(nl_socket_get_fd(h->sock), SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));

	h->family = genl_ctrl_resolve(h->sock, HYPTRACE_FAMILY_NAME);
	if (h->family < 0) {
		hyptrace_error_set(err, ENOENT,
				   "the driver is not loaded (modprobe hyptrace_pkvm, or hyptrace_test)");
		goto fail;
	}
	return h;

no_memory:
	hyptrace_error_memory(err);
fail:
	hyptrace_close(h);
	return NULL;
}

/**
 * hyptrace_close - disconnect
 * @h:		the connection, or NULL
 */
void hyptrace_close(struct hyptrace *h)
{
	if (!h)
		return;
	if (h->backend)
		h->backend->close(h->backend_arg);
	nl_cb_put(h->cb);
	nl_socket_free(h->sock);
	free(h);
}

#define SAME(attr)	_Static_assert((int)(attr) == (int)HYPTRACE_A_CONTROL_REMOTE, "")
SAME(HYPTRACE_A_REMOTE_NAME);
SAME(HYPTRACE_A_CPU_REMOTE);
SAME(HYPTRACE_A_EVENT_REMOTE);
SAME(HYPTRACE_A_HYPERCALL_REMOTE);
SAME(HYPTRACE_A_COUNTER_REMOTE);
SAME(HYPTRACE_A_PAGE_REMOTE);
SAME(HYPTRACE_A_VISIT_REMOTE);

/* Make a request about a remote, which is the same attribute in all sets; or about all of them. */
struct nl_msg *hyptrace_nl_msg(struct hyptrace *h, int cmd, int flags, const char *remote)
{
	struct nl_msg *msg = nlmsg_alloc_size(REQUEST_MAX);

	hyptrace_nl_check(&msg, msg && !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, h->family, 0,
						    flags, cmd, HYPTRACE_FAMILY_VERSION));
	if (remote)
		hyptrace_nl_put_string(&msg, HYPTRACE_A_CONTROL_REMOTE, remote);
	return msg;
}

/* @ret: what has put something into the message */
void hyptrace_nl_check(struct nl_msg **msg, int ret)
{
	if (!ret)
		return;
	nlmsg_free(*msg);
	*msg = NULL;
}

#define DEFINE_PUT(kind, type)						\
void hyptrace_nl_put_##kind(struct nl_msg **msg, int attr, type value)	\
{									\
	hyptrace_nl_check(msg, *msg ? nla_put_##kind(*msg, attr, value) : 0); \
}

DEFINE_PUT(string, const char *)
DEFINE_PUT(u32, uint32_t)
DEFINE_PUT(u64, uint64_t)

static int send_once(struct hyptrace *h, struct nl_msg *msg, struct call *call)
{
	int ret;

	nl_cb_err(h->cb, NL_CB_CUSTOM, on_error, call);
	nl_cb_set(h->cb, NL_CB_SEQ_CHECK, NL_CB_CUSTOM, on_sequence, call);
	nl_cb_set(h->cb, NL_CB_VALID, NL_CB_CUSTOM, on_valid, call);
	nl_cb_set(h->cb, NL_CB_ACK, NL_CB_CUSTOM, on_ack, call);
	nl_cb_set(h->cb, NL_CB_FINISH, NL_CB_CUSTOM, on_ack, call);

	ret = nl_send_auto(h->sock, msg);
	/* libnl fails after each part of a dump that was interrupted: the rest still comes */
	while ((ret >= 0 || ret == -NLE_DUMP_INTR) && !call->done)
		ret = nl_recvmsgs(h->sock, h->cb);
	/* libnl also fails if the answer is an error */
	if (call->done)
		return call->ret;
	return hyptrace_error_set(call->err, EIO, "the netlink socket failed: %s",
				  nl_geterror(ret));
}

int hyptrace_nl_send(struct hyptrace *h, struct nl_msg *msg, hyptrace_nl_fn fn, void *arg,
		     struct hyptrace_error *err)
{
	struct call call = { .fn = fn, .arg = arg, .err = err };
	int tries, ret;

	if (!msg)
		return hyptrace_error_memory(err);
	call.request = nlmsg_hdr(msg);
	if (h->backend) {
		const struct hyptrace_request request = { nlmsg_hdr(msg), on_answer, &call, err };

		ret = h->backend->request(h->backend_arg, &request,
					  genlmsg_hdr(request.msg)->cmd);
		nlmsg_free(msg);
		return ret;
	}
	for (tries = 0; tries < DUMP_TRIES; tries++) {
		call.done = false;
		call.interrupted = false;
		/* each try has its own sequence number */
		nlmsg_hdr(msg)->nlmsg_seq = NL_AUTO_SEQ;
		ret = send_once(h, msg, &call);
		if (ret || !call.interrupted)
			break;
		if (fn)
			fn(NULL, arg);
		ret = hyptrace_error_set(err, EAGAIN, "what was asked for keeps changing");
	}
	nlmsg_free(msg);
	return ret;
}

struct nlattr *hyptrace_request_attr(const struct hyptrace_request *r, int attr)
{
	return nlmsg_find_attr(r->msg, GENL_HDRLEN, attr);
}

/* Begin an answer of a backend. Return NULL if there is no memory. */
struct nl_msg *hyptrace_answer_new(void)
{
	struct nl_msg *msg = nlmsg_alloc_size(ANSWER_MAX);

	if (msg && genlmsg_put(msg, 0, 0, GENL_ID_CTRL, 0, 0, 0, HYPTRACE_FAMILY_VERSION))
		return msg;
	nlmsg_free(msg);
	return NULL;
}

/* Deliver an answer for which all attributes were put, unless @ret says no. */
int hyptrace_answer_send(const struct hyptrace_request *r, struct nl_msg *answer, int ret)
{
	ret = answer && !ret ? r->fn(nlmsg_hdr(answer), r->arg) : hyptrace_error_memory(r->err);
	nlmsg_free(answer);
	return ret;
}

/* Return the number of the notifications' multicast group, negative if there is none. */
int hyptrace_nl_group(struct hyptrace *h)
{
	return h->backend ? -1 :
	       genl_ctrl_resolve_grp(h->sock, HYPTRACE_FAMILY_NAME, HYPTRACE_MCGRP_NOTIFY);
}
