// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace status: print the state and the counters of remotes and CPUs.
 */
#include "cmd.h"

static void print_cpu(struct printer *p, const struct hyptrace_cpu *cpu)
{
	uint64_t lost = cpu->overrun + cpu->dropped;

	printer_row(p);
	printer_uint(p, "cpu", cpu->id);
	printer_styled(p, "state",
		       cpu->state == HYPTRACE_CPU_STATE_ATTACHED ? STYLE_GOOD : STYLE_PLAIN,
		       hyptrace_cpu_state_name(cpu->state));
	printer_bool(p, "online", cpu->online);
	printer_uint(p, "written", cpu->written);
	printer_uint(p, "read", cpu->read);
	printer_uint(p, "lost", lost);
	if (printer_is_json(p)) {
		printer_uint(p, "overrun", cpu->overrun);
		printer_uint(p, "dropped", cpu->dropped);
		printer_uint(p, "nr_subbufs", cpu->nr_subbufs);
	}
	printer_uint(p, "unread", cpu->unread);
	if (cpu->consumer)
		printer_uint(p, "consumer", cpu->consumer);
	else
		printer_none(p, "consumer");
	printer_end(p);
}

static int print_remote(struct context *ctx, const struct hyptrace_remote *remote)
{
	struct printer *p = ctx->p;
	struct hyptrace_cpu **cpus;
	unsigned int nr, i;
	int code;

	code = cmd_get_cpus(ctx, remote->name, &cpus, &nr);
	if (code)
		return code;

	printer_object(p, NULL);
	printer_heading(p, "name", remote->name);
	printer_str(p, "description", remote->description);
	printer_styled(p, "state",
		       remote->state == HYPTRACE_STATE_TRACING ? STYLE_GOOD : STYLE_PLAIN,
		       hyptrace_state_name(remote->state));
	printer_str(p, "mode", hyptrace_mode_name(remote->mode));
	printer_size(p, "size_requested", remote->size_requested);
	printer_size(p, "size_allocated", remote->size_allocated);
	printer_uint(p, "nr_subbufs", remote->nr_subbufs);
	printer_size(p, "subbuf_size", remote->subbuf_size);
	printer_str(p, "clock", remote->clock);
	printer_uint(p, "readers", remote->readers);
	printer_bool(p, "protected", remote->is_protected);
	printer_table(p, "cpus");
	for (i = 0; i < nr; i++)
		print_cpu(p, cpus[i]);
	printer_end(p);
	printer_end(p);
	hyptrace_free_cpus(cpus);
	return EXIT_DONE;
}

int cmd_status(struct context *ctx, int argc, char **argv)
{
	struct hyptrace_remote **remotes;
	unsigned int nr, i;
	int code;

	cmd_no_arguments(ctx, "status", argc, argv);
	code = cmd_connect(ctx);
	if (!code)
		code = cmd_get_remotes(ctx, true, &remotes, &nr);
	if (code)
		return code;

	printer_array(ctx->p, NULL);
	for (i = 0; i < nr && !code; i++)
		code = print_remote(ctx, remotes[i]);
	printer_end(ctx->p);
	hyptrace_free_remotes(remotes);
	return code;
}
