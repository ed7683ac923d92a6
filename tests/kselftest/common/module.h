/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Modules, loaded by system calls: in a kernel in user mode, a process takes longer than most
 * tests.
 */
#ifndef __MODULE_H
#define __MODULE_H

int module_load(const char *name, const char *parameters);
int module_unload(const char *name);
int module_reload(const char *name, const char *parameters);

#endif /* __MODULE_H */
