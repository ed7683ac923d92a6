/* SPDX-License-Identifier: GPL-2.0-only */
/* What the module of the remote "test" has in common */
#ifndef __HYPTRACE_TEST_H
#define __HYPTRACE_TEST_H

void hyptrace_test_visit(void *unused);

#endif /* __HYPTRACE_TEST_H */
