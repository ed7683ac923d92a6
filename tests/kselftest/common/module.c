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

/* Where modules of others are, and where the kernel's own build installs them: the first is used */
static const char folders[] = "{updates,updates/dkms,extra,kernel/drivers/hyptrace}";

/**
 * module_load - load a module of the driver or of the tests
 * @name:	those that it needs must be loaded
 * @parameters:	as on its command line, separated by spaces
 *
 * Return: 0 or a negative errno: -EEXIST if it is loaded, -ENOENT if there is no such file that is
 * not compressed.
 */
int module_load(const char *name, const char *parameters)
{
	char pattern[PATH_MAX];
	struct utsname kernel;
	int fd, err;
	glob_t found;

	uname(&kernel);
	snprintf(pattern, sizeof(pattern), "/lib/modules/%s/%s/%s.ko",
		 kernel.release, folders, name);
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
 * Return: 0, also if it is not loaded, or a negative errno: -EWOULDBLOCK if it is in use.
 */
int module_unload(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) && errno != ENOENT ? -errno : 0;
}

/**
 * module_reload - load a module anew, also if it was not loaded
 * @name:	its name
 * @parameters:	as for module_load()
 *
 * Return: 0 or a negative errno.
 */
int module_reload(const char *name, const char *parameters)
{
	return module_unload(name) ?: module_load(name, parameters);
}
