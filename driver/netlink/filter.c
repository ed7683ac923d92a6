// SPDX-License-Identifier: GPL-2.0-only
/* Read the filter of an event-set request. Called by control.c. */
#include <linux/netlink.h>
#include <net/netlink.h>

#include "netlink.h"

static int refuse_missing(const struct nlattr *nest, int type, struct netlink_ext_ack *extack)
{
	NL_SET_ERR_ATTR_MISS(extack, nest, type);
	return -EINVAL;
}

static int read_term(const struct nlattr *attr, struct hyptrace_term_request *term,
		     struct netlink_ext_ack *extack)
{
	static const int required[] = {
		HYPTRACE_A_TERM_FIELD, HYPTRACE_A_TERM_OP, HYPTRACE_A_TERM_VALUE,
		HYPTRACE_A_TERM_ON_TRUE, HYPTRACE_A_TERM_ON_FALSE,
	};
	struct nlattr *tb[ARRAY_SIZE(hyptrace_term_nl_policy)];
	unsigned int i;
	int err;

	err = nla_parse_nested(tb, ARRAY_SIZE(tb) - 1, attr, hyptrace_term_nl_policy, extack);
	if (err)
		return err;
	for (i = 0; i < ARRAY_SIZE(required); i++) {
		if (!tb[required[i]]) {
			NL_SET_ERR_MSG(extack,
				       "a term needs field, op, value, on-true and on-false");
			return refuse_missing(attr, required[i], extack);
		}
	}
	*term = (struct hyptrace_term_request) {
		.attr		= attr,
		.field		= nla_data(tb[HYPTRACE_A_TERM_FIELD]),
		.op		= nla_get_u32(tb[HYPTRACE_A_TERM_OP]),
		.value		= nla_get_u64(tb[HYPTRACE_A_TERM_VALUE]),
		.on_true	= nla_get_u8(tb[HYPTRACE_A_TERM_ON_TRUE]),
		.on_false	= nla_get_u8(tb[HYPTRACE_A_TERM_ON_FALSE]),
	};
	return 0;
}

/**
 * hyptrace_nl_read_filter - read a filter
 * @nest:	the attribute
 * @filter:	out: the filter; it points into the request
 * @extack:	of the request
 *
 * core checks the terms for each event.
 *
 * Return: 0; -EINVAL if an attribute is missing, -E2BIG if there are too many terms.
 */
int hyptrace_nl_read_filter(const struct nlattr *nest, struct hyptrace_filter_request *filter,
			    struct netlink_ext_ack *extack)
{
	struct nlattr *tb[ARRAY_SIZE(hyptrace_filter_nl_policy)];
	struct nlattr *attr;
	int rem, err;

	err = nla_parse_nested(tb, ARRAY_SIZE(tb) - 1, nest, hyptrace_filter_nl_policy, extack);
	if (err)
		return err;
	if (!tb[HYPTRACE_A_FILTER_TEXT] || !tb[HYPTRACE_A_FILTER_TERM]) {
		NL_SET_ERR_MSG(extack, "a filter needs its text and at least one term");
		return refuse_missing(nest, tb[HYPTRACE_A_FILTER_TEXT] ? HYPTRACE_A_FILTER_TERM :
				      HYPTRACE_A_FILTER_TEXT, extack);
	}
	filter->text = nla_data(tb[HYPTRACE_A_FILTER_TEXT]);
	filter->nr_terms = 0;
	nla_for_each_nested(attr, nest, rem) {
		if (nla_type(attr) != HYPTRACE_A_FILTER_TERM)
			continue;
		if (filter->nr_terms == HYPTRACE_FILTER_TERMS_MAX) {
			NL_SET_ERR_MSG_ATTR_FMT(extack, attr, "more than %u terms",
						HYPTRACE_FILTER_TERMS_MAX);
			return -E2BIG;
		}
		err = read_term(attr, &filter->terms[filter->nr_terms++], extack);
		if (err)
			return err;
	}
	return 0;
}
