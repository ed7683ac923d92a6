// SPDX-License-Identifier: GPL-2.0-only
/* Drop privileges: see privilege.h. */
#include <errno.h>
#include <grp.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "privilege.h"

/**
 * capabilities_keep - drop all capabilities but these, and stay user root
 * @capabilities:	bits to keep
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
 * become_nobody - become user nobody, without capabilities
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

/**
 * become_nobody_with - become user nobody, and keep these capabilities
 * @capabilities:	bits to keep
 *
 * Return: 0 or a negative errno.
 */
int become_nobody_with(uint64_t capabilities)
{
	int err = prctl(PR_SET_KEEPCAPS, 1) ? -errno : become_nobody();

	return err ?: capabilities_keep(capabilities);
}
