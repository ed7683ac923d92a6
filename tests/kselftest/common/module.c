// SPDX-License-Identifier: GPL-2.0-only
#include "module.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Where the kernel's own build installs modules, and where those of others are */
static const char folders[] = "{kernel/drivers/hyptrace,updates,updates/dkms,extra}";

/**
 * module_load - load a module of the driver or of the tests
 * @name:	those that it needs must be loaded
 * @parameters:	as on its command line, separated by spaces
 *
 * Return: 0 or a negative errno: -EEXIST if it is loaded.
 */
int module_load(const char *name, const char *parameters)
{
	char pattern[PATH_MAX];
	struct utsname kernel;
	glob_t found;
	int fd, err;

	uname(&kernel);
	snprintf(pattern, sizeof(pattern), "/lib/modules/%s/%s/%s.ko", kernel.release, folders,
		 name);
	if (glob(pattern, GLOB_BRACE, NULL, &found))
		return -ENOENT;
	fd = open(found.gl_pathv[0], O_RDONLY | O_CLOEXEC);
	globfree(&found);
	if (fd < 0)
		return -errno;
	err = syscall(SYS_finit_module, fd, parameters, 0) ? -errno : 0;
	close(fd);
	return err;
}

/**
 * module_unload - unload a module
 * @name:	its name
 *
 * Return: 0 or a negative errno: -ENOENT if it is not loaded, -EWOULDBLOCK if it is in use.
 */
int module_unload(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? -errno : 0;
}
