// SPDX-License-Identifier: GPL-2.0-only
/* CPUs: which ones go off and on, and on which one a test runs. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "cpus.h"

bool has_hotplug(void)
{
	return !access("/sys/devices/system/cpu/cpu1/online", F_OK);
}

int cpu_set_online(unsigned int cpu, bool online)
{
	char path[64];
	int fd, ret;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = write(fd, online ? "1" : "0", 1) == 1 ? 0 : -errno;
	close(fd);
	return ret;
}

/* Run on this CPU only. */
int pin_to(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}
