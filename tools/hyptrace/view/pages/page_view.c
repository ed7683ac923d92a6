// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace page: the owner of a page now, and how it got there.
 */
#include <inttypes.h>
#include <unistd.h>

#include <linux/hyptrace_netlink.h>

#include "output/clock.h"
#include "output/die.h"
#include "output/message.h"
#include "who.h"

static const char *phrase(uint32_t owner)
{
	static const char *const phrases[] = {
		[HYPTRACE_OWNERSHIP_NO_MEMORY]		= "no memory",
		[HYPTRACE_OWNERSHIP_HOST]		= "the host owns it alone",
		[HYPTRACE_OWNERSHIP_HOST_SHARED_HYP] =
			"the host owns it, and shares it with the hypervisor",
		[HYPTRACE_OWNERSHIP_HOST_SHARED_GUEST] =
			"the host owns it, and shares it with a guest",
		[HYPTRACE_OWNERSHIP_HOST_SHARED_FFA] =
			"the host owns it, and shares it with the secure world",
		[HYPTRACE_OWNERSHIP_HYP]		= "the hypervisor owns it alone",
		[HYPTRACE_OWNERSHIP_HYP_SHARED_HOST] =
			"the hypervisor owns it, and shares it with the host",
		[HYPTRACE_OWNERSHIP_GUEST]		= "a protected guest owns it",
	};

	return owner < sizeof(phrases) / sizeof(phrases[0]) ? phrases[owner] : "unknown";
}

/* Print the answer of the hypervisor, or what the file implies. */
static void print_owner(const struct who *who, bool is_implied, uint32_t implied)
{
	const struct page_history *history = &who->history;
	const struct session *s = &who->session;
	struct printer *p = s->ctx->p;

	if (s->path)
		printer_line(p, STYLE_NAME, "page 0x%" PRIx64 " at the end of \"%s\": %s",
			     history->pfn, s->name,
			     is_implied ? phrase(implied) : "not known, since nothing has changed");
	else
		printer_line(p, STYLE_NAME, "page 0x%" PRIx64 ": %s", history->pfn,
			     phrase(who->owner));
	printer_u64(p, "pfn", history->pfn);
	if (s->path)
		printer_none(p, "owner");
	else
		printer_str(p, "owner", hyptrace_ownership_name(who->owner));
	if (is_implied)
		printer_str(p, "implied", hyptrace_ownership_name(implied));
	else
		printer_none(p, "implied");
	printer_uint(p, "changes", history->nr);
	printer_u64(p, "lost", s->counts.lost);
	printer_bool(p, "lost_more", s->counts.lost_more || s->counts.damaged);
	printer_end(p);
}

static void print_changes(struct who *who, unsigned int first)
{
	const struct page_history *history = &who->history;
	struct context *ctx = who->session.ctx;
	unsigned int i;

	who_begin_rows(who);
	for (i = first; i < history->nr && !ctx->out.error; i++) {
		const struct page_change *change = &history->changes[i];

		if (!who->csv)
			printer_line(ctx->p, change->ret ? STYLE_BAD : STYLE_PLAIN,
				     "[%03u] %5" PRIu64 ".%09" PRIu64 ": %s%s%s%s", change->cpu,
				     change->ts / NSEC_PER_SEC, change->ts % NSEC_PER_SEC,
				     change->ret ? "failed: " : "", change->text,
				     change->call ? " by " : "", change->call ? change->call : "");
		who_put_row(who, &(struct who_row){ .change = change });
	}
	who_end_rows(who);
}

/* Nothing is known about the page: it may be none. */
static void note_address(const struct who *who, uint64_t page_size)
{
	if (!who->is_address && who->page >= page_size)
		cmd_note("0x%" PRIx64 " is taken as a page frame number: if it is an address, use --address",
			 who->page);
}

static void print_all(struct who *who, uint64_t page_size)
{
	const unsigned int nr = who->history.nr;
	const unsigned int first = who->last && who->last < nr ? nr - who->last : 0;
	const struct session *s = &who->session;
	uint32_t implied = 0;
	const bool is_implied = page_history_owner(&who->history, &implied);

	if (!who->csv)
		print_owner(who, is_implied, implied);
	print_changes(who, first);
	if (!s->path && is_implied && implied != who->owner)
		cmd_note("the changes imply another owner (%s): some are missing, or the owner has changed meanwhile",
			 hyptrace_ownership_name(implied));
	if (s->path ? !nr : who->owner == HYPTRACE_OWNERSHIP_NO_MEMORY)
		note_address(who, page_size);
	who_note_losses(who);
	if (!s->path && !s->has_rings)
		cmd_note("there is no history: the rings are not loaded (" WHO_ENABLE ")");
	session_note_counts(s, "change", nr - first, "printed");
}

int page_run(struct who *who)
{
	struct session *s = &who->session;
	/* a sub-buffer is a page */
	const uint64_t page_size = s->file ? hyptrace_file_info(s->file)->subbuf_size :
					     (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t pfn = who->is_address ? who->page / page_size : who->page;
	struct hyptrace_error err;
	int code;

	if (s->remote &&
	    hyptrace_get_page_owners(s->ctx->h, s->name, pfn, 1, &who->owner, &err)) {
		code = cmd_fail("cannot ask \"%s\" for the owner of page 0x%" PRIx64 ": %s",
				s->name, pfn, err.text);
		note_address(who, page_size);
		return code;
	}
	page_history_init(&who->history, pfn, s->formats);
	if (who->history.transition)
		code = session_run(s);
	else
		code = cmd_fail("cannot read \"%s\": it has no event mem_transition, so it is not of a hypervisor",
				s->name);
	if (!code)
		print_all(who, page_size);
	page_history_free(&who->history);
	return code;
}
