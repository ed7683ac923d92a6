/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The verbs: each is a function in a file of this folder, and a row of the table of main.c. It
 * returns an exit code.
 */
#ifndef VERBS_H
#define VERBS_H

struct context;

int cmd_list(struct context *ctx, int argc, char **argv);
int cmd_enable(struct context *ctx, int argc, char **argv);
int cmd_disable(struct context *ctx, int argc, char **argv);
int cmd_start(struct context *ctx, int argc, char **argv);
int cmd_stop(struct context *ctx, int argc, char **argv);
int cmd_load(struct context *ctx, int argc, char **argv);
int cmd_unload(struct context *ctx, int argc, char **argv);
int cmd_clear(struct context *ctx, int argc, char **argv);
int cmd_reset(struct context *ctx, int argc, char **argv);
int cmd_set(struct context *ctx, int argc, char **argv);
int cmd_status(struct context *ctx, int argc, char **argv);
int cmd_stream(struct context *ctx, int argc, char **argv);
int cmd_strace(struct context *ctx, int argc, char **argv);
int cmd_catch(struct context *ctx, int argc, char **argv);
int cmd_record(struct context *ctx, int argc, char **argv);
int cmd_show(struct context *ctx, int argc, char **argv);
int cmd_export(struct context *ctx, int argc, char **argv);
int cmd_report(struct context *ctx, int argc, char **argv);
int cmd_dump(struct context *ctx, int argc, char **argv);
int cmd_monitor(struct context *ctx, int argc, char **argv);
int cmd_wait(struct context *ctx, int argc, char **argv);
int cmd_count(struct context *ctx, int argc, char **argv);
int cmd_stat(struct context *ctx, int argc, char **argv);
int cmd_top(struct context *ctx, int argc, char **argv);
int cmd_who(struct context *ctx, int argc, char **argv);
int cmd_mark(struct context *ctx, int argc, char **argv);

#endif /* VERBS_H */
