// SPDX-License-Identifier: GPL-2.0-only
/* Giving up privileges: see privilege.h. */
#include <errno.h>
#include <grp.h>
#include <unistd.h>
#include <sys/syscall.h>

#include "privilege.h"

/**
 * capabilities_keep - give up all capabilities but these; still root otherwise
 * @capabilities:	bits
 *
 * Return: 0 or a negative errno.
 */
int capabilities_keep(uint64_t capabilities)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {
		{ .effective = capabilities, .permitted = capabilities },
		{ .effective = capabilities >> 32, .permitted = capabilities >> 32 },
	};

	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

/**
 * become_nobody - give up the user, and all capabilities with it
 *
 * Return: 0 or a negative errno.
 */
int become_nobody(void)
{
	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		return -errno;
	return 0;
}
