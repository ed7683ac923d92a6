/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The words on the kernel's command line that start a trace at boot: see hyptrace-boot(7). For the
 * verb status.
 */
#ifndef BOOT_H
#define BOOT_H

struct context;

int boot_words(struct context *ctx, char *words);

#endif /* BOOT_H */
