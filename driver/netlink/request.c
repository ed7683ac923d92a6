// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs all requests but dumps, outside of generic netlink's lock. Called through netlink_gen.c.
 *
 * Generic netlink holds cb_lock while it handles a message. A family that registers waits for
 * cb_lock, and the messages to all families wait behind it. So no request may take long there, or
 * wait for one that does. hyptrace_nl_pre_doit() only keeps the request. The process runs it when
 * its system call returns to user space, with its own limits, signals and memory cgroup.
 *
 * At that moment the kernel also releases the files whose last reference the process has put. A
 * kept request is such a file: its file_operations pin this module until release() has returned.
 */
#include <linux/anon_inodes.h>
#include <linux/cleanup.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/uidgid.h>
#include <net/genetlink.h>
#include <net/sock.h>

#include "netlink.h"

/* A request that was kept */
struct request {
	struct list_head	node;		/* in the list of those that were not run yet */
	struct task_struct	*task;		/* the process that has sent it */
	const struct cred	*cred;		/* as then: io_uring may run it with others */
	struct file		*socket;	/* stays open, and what belongs to it */
	struct sk_buff		*skb;		/* the message; @info points into it */
	/* the function of the table */
	int			(*doit)(struct sk_buff *skb, struct genl_info *info);
	struct genl_info	info;		/* as generic netlink passes it to @doit */
	struct netlink_ext_ack	extack;		/* the answer's */
	struct nlattr		*attrs[];	/* the attributes, by type */
};

/* Most requests of one system call: each takes memory until the call returns */
#define MAX_KEPT	64

static DEFINE_SPINLOCK(requests_lock);	/* protects the list */
static LIST_HEAD(requests);

/*
 * Only the user to whom the trace belongs may do these without CAP_SYS_ADMIN. Others need no change
 * mutex: they are short, or only write events (mark).
 */
static bool changes_trace(u8 cmd)
{
	switch (cmd) {
	case HYPTRACE_CMD_EVENT_SET:
	case HYPTRACE_CMD_LOAD:
	case HYPTRACE_CMD_UNLOAD:
	case HYPTRACE_CMD_START:
	case HYPTRACE_CMD_STOP:
	case HYPTRACE_CMD_CLEAR:
	case HYPTRACE_CMD_RESET:
	case HYPTRACE_CMD_SET:
		return true;
	default:
		return false;
	}
}

/* A process may release what it holds also if the trace belongs to another user. */
static bool takes_change(u8 cmd)
{
	return changes_trace(cmd) || cmd == HYPTRACE_CMD_EVENT_RELEASE;
}

/*
 * The user must have opened the socket, too: a privileged process may write what others have
 * prepared, to a socket that they have passed to it.
 */
static bool is_own(const struct request *request, const struct hyptrace_remote *remote)
{
	return hyptrace_remote_is_own(remote) &&
	       (!uid_valid(remote->owner) ||
		uid_eq(remote->owner, request->socket->f_cred->euid));
}

static int check_owner(const struct request *request, const struct hyptrace_remote *remote)
{
	if (is_own(request, remote) || netlink_capable(request->skb, CAP_SYS_ADMIN))
		return 0;
	NL_SET_ERR_MSG_ATTR_FMT(request->info.extack, request->attrs[A_REMOTE],
				"user %u has started this trace: to change it needs CAP_SYS_ADMIN",
				from_kuid(&init_user_ns, remote->owner));
	return -EPERM;
}

/* The control mutex is held, and for a change also the change mutex. */
static int call_doit(struct request *request, struct hyptrace_remote *remote)
{
	struct genl_info *info = &request->info;
	int err = 0;

	if (changes_trace(info->genlhdr->cmd))
		err = check_owner(request, remote);
	info->user_ptr[0] = remote;
	return err ?: request->doit(request->skb, info);
}

static int run_with(struct request *request, struct hyptrace_remote *remote)
{
	bool is_change = takes_change(request->info.genlhdr->cmd);
	bool is_gone;
	int err;

	err = is_change ? hyptrace_remote_begin_change(remote) :
			  mutex_lock_killable(&remote->control);
	if (err)
		return err;
	is_gone = !remote->desc;
	if (!is_gone)
		err = call_doit(request, remote);
	if (is_change)
		hyptrace_remote_end_change(remote);
	else
		mutex_unlock(&remote->control);
	/* This takes hyptrace_remotes_lock, which is outside of the control mutex. */
	if (is_gone)
		return hyptrace_nl_refuse_remote(request->attrs[A_REMOTE], &request->extack);
	return err;
}

static void run(struct request *request)
{
	const struct nlattr *name = request->attrs[A_REMOTE];
	struct nlmsghdr *header = nlmsg_hdr(request->skb);
	struct hyptrace_remote *remote;
	int err = -EINTR;

	/* A process that exits has no limits and no memory any more. */
	if (!(current->flags & (PF_EXITING | PF_KTHREAD))) {
		remote = hyptrace_remote_get(nla_data(name));
		if (remote) {
			err = run_with(request, remote);
			hyptrace_remote_put(remote);
		} else {
			err = hyptrace_nl_refuse_remote(name, &request->extack);
		}
	}
	if (err || header->nlmsg_flags & NLM_F_ACK)
		netlink_ack(request->skb, header, err, &request->extack);
}

static void free_request(struct request *request)
{
	/* It does not count as memory of that socket. */
	if (request->skb)
		request->skb->sk = NULL;
	consume_skb(request->skb);
	fput(request->socket);
	put_cred(request->cred);
	put_task_struct(request->task);
	kfree(request);
}

static struct request *take_first(const struct task_struct *task)
{
	struct request *request;

	guard(spinlock)(&requests_lock);
	list_for_each_entry(request, &requests, node) {
		if (request->task == task) {
			list_del(&request->node);
			return request;
		}
	}
	return NULL;
}

/* A process may send several requests in one call. Their files are released in any order. */
static int release(struct inode *inode, struct file *filp)
{
	struct request *own = filp->private_data, *request;
	const struct cred *cred;

	while ((request = take_first(own->task))) {
		cred = override_creds(request->cred);
		run(request);
		revert_creds(cred);
	}
	free_request(own);
	return 0;
}

static const struct file_operations request_fops = {
	.owner		= THIS_MODULE,
	.release	= release,
};

static struct request *make_request(const struct genl_split_ops *ops, struct sk_buff *skb,
				    const struct genl_info *info)
{
	unsigned int nr_attrs = ops->maxattr + 1;
	struct request *request = kzalloc(struct_size(request, attrs, nr_attrs),
					  GFP_KERNEL_ACCOUNT);

	if (!request)
		return NULL;
	request->task = get_task_struct(current);
	request->cred = get_current_cred();
	request->socket = get_file(NETLINK_CB(skb).sk->sk_socket->file);
	request->doit = ops->doit;
	request->info = *info;
	request->info.attrs = request->attrs;
	request->info.extack = &request->extack;
	memcpy(request->attrs, info->attrs, nr_attrs * sizeof(*info->attrs));
	request->skb = netlink_skb_clone(skb, GFP_KERNEL);
	if (!request->skb) {
		free_request(request);
		return NULL;
	}
	/* netlink_ack() sends the answer from it. */
	request->skb->sk = skb->sk;
	return request;
}

static bool keeps_too_many(const struct task_struct *task)
{
	const struct request *request;
	unsigned int nr = 0;

	guard(spinlock)(&requests_lock);
	list_for_each_entry(request, &requests, node)
		nr += request->task == task;
	return nr >= MAX_KEPT;
}

/* Hook of all requests but dumps: keep the request. */
int hyptrace_nl_pre_doit(const struct genl_split_ops *ops, struct sk_buff *skb,
			 struct genl_info *info)
{
	struct request *request;
	struct file *file;
	int err;

	err = hyptrace_nl_check_sender(skb, info->extack);
	if (err)
		return err;
	if (hyptrace_nl_is_missing(info, A_REMOTE, ops->cmd == HYPTRACE_CMD_REMOTE_GET ?
				   "name" : "remote"))
		return -EINVAL;
	if (keeps_too_many(current)) {
		NL_SET_ERR_MSG(info->extack, "too many requests in one system call: send fewer");
		return -ENOBUFS;
	}
	request = make_request(ops, skb, info);
	if (!request)
		return -ENOMEM;
	file = anon_inode_getfile("[hyptrace]", &request_fops, request, O_RDONLY);
	if (IS_ERR(file)) {
		free_request(request);
		return PTR_ERR(file);
	}
	scoped_guard(spinlock, &requests_lock)
		list_add_tail(&request->node, &requests);
	fput(file);
	/* Generic netlink neither calls ops->doit() nor answers. */
	return -EINTR;
}
