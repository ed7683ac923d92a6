// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse netlink's extended ack: why the kernel refused a request. For netlink.c.
 *
 * libnl walks the attributes. It has nothing that finds where they begin in an answer.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <netlink/attr.h>

#include "message.h"

/* Return the offset of an answer's attributes, 0 if it has none. */
static size_t attrs_offset(const struct nlmsghdr *answer, size_t len)
{
	const struct nlmsgerr *e = NLMSG_DATA(answer);

	if (!(answer->nlmsg_flags & NLM_F_ACK_TLVS))
		return 0;

	/* at the end of a dump the attributes follow the error code */
	if (answer->nlmsg_type == NLMSG_DONE)
		return NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(int));

	if (answer->nlmsg_flags & NLM_F_CAPPED)
		return NLMSG_HDRLEN + sizeof(*e);

	/* the whole request, with its header, follows the error */
	if (e->msg.nlmsg_len < NLMSG_HDRLEN || e->msg.nlmsg_len > len)
		return 0;
	return NLMSG_HDRLEN + sizeof(e->error) + NLMSG_ALIGN(e->msg.nlmsg_len);
}

int hyptrace_extack_parse(const struct nlmsghdr *answer, size_t len, struct hyptrace_extack *ext)
{
	struct nlattr *attr;
	size_t off, need;
	int error, rem;

	memset(ext, 0, sizeof(*ext));

	if (len < NLMSG_HDRLEN || answer->nlmsg_len < NLMSG_HDRLEN || answer->nlmsg_len > len)
		return -EBADMSG;
	len = answer->nlmsg_len;

	if (answer->nlmsg_type == NLMSG_ERROR)
		need = NLMSG_HDRLEN + sizeof(struct nlmsgerr);
	else if (answer->nlmsg_type == NLMSG_DONE)
		need = NLMSG_HDRLEN + sizeof(int);
	else
		return -EBADMSG;
	/* the end of a dump without an error code means success */
	if (len < need)
		return answer->nlmsg_type == NLMSG_DONE ? 0 : -EBADMSG;

	memcpy(&error, NLMSG_DATA(answer), sizeof(error));
	/* the lower limit also avoids negating INT_MIN */
	if (error < 0)
		ext->errnum = error >= -4095 ? -error : EBADMSG;

	off = attrs_offset(answer, len);
	if (!off)
		return 0;
	nla_for_each_attr(attr, (struct nlattr *)((char *)answer + off), (int)(len - off), rem) {
		if (nla_type(attr) == NLMSGERR_ATTR_MSG) {
			ext->msg = nla_data(attr);
			ext->msg_len = strnlen(nla_data(attr), nla_len(attr));
		} else if (nla_type(attr) == NLMSGERR_ATTR_OFFS) {
			ext->offset = hyptrace_parse_u32(attr);
		}
	}
	return 0;
}

/* Does the attribute hold one printable name and its NUL? */
static bool printable(const char *text, size_t len)
{
	size_t i;

	if (len < 2 || text[len - 1] != '\0')
		return false;
	for (i = 0; i < len - 1; i++)
		if ((unsigned char)text[i] <= ' ' || (unsigned char)text[i] >= 0x7f)
			return false;
	return true;
}

/* Return the attribute of a request at an offset, or NULL. It is not inside another attribute. */
static const struct nlattr *attr_at(const struct nlmsghdr *request, uint32_t offset)
{
	const struct nlattr *attr;
	int rem;

	if (request->nlmsg_len < NLMSG_HDRLEN + GENL_HDRLEN)
		return NULL;
	nla_for_each_attr(attr, (struct nlattr *)((char *)request + NLMSG_HDRLEN + GENL_HDRLEN),
			  (int)(request->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN), rem)
		if ((const char *)attr - (const char *)request == offset)
			return attr;
	return NULL;
}

/* Each string attribute of the family, outside of nests, holds a name. */
static bool attr_is_string(int cmd, unsigned int type)
{
	switch (cmd) {
	case HYPTRACE_CMD_REMOTE_GET:
		return type == HYPTRACE_A_REMOTE_NAME;
	case HYPTRACE_CMD_EVENT_GET:
	case HYPTRACE_CMD_EVENT_SET:
		return type == HYPTRACE_A_EVENT_REMOTE || type == HYPTRACE_A_EVENT_NAME ||
		       type == HYPTRACE_A_EVENT_NAMES;
	default:
		/* "remote" is the same attribute in the sets cpu and control */
		return type == HYPTRACE_A_CONTROL_REMOTE;
	}
}

void hyptrace_extack_error(const struct hyptrace_extack *ext, const struct nlmsghdr *request,
			   struct hyptrace_error *err)
{
	const struct genlmsghdr *genl = NLMSG_DATA(request);
	const struct nlattr *attr;
	size_t len;

	if (ext->msg_len)
		hyptrace_error_set(err, ext->errnum, "%.*s", (int)ext->msg_len, ext->msg);
	else if (ext->errnum == EPERM || ext->errnum == EACCES)
		hyptrace_error_set(err, ext->errnum,
				   "permission denied: CAP_PERFMON or CAP_SYS_ADMIN is needed");
	else
		hyptrace_error_set(err, ext->errnum, "%m");

	attr = err ? attr_at(request, ext->offset) : NULL;
	if (!attr)
		return;

	len = nla_len(attr);
	if (attr_is_string(genl->cmd, nla_type(attr)) && printable(nla_data(attr), len) &&
	    len <= sizeof(err->subject))
		memcpy(err->subject, nla_data(attr), len);
}
