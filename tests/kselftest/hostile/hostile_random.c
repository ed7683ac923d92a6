// SPDX-License-Identifier: GPL-2.0-only
/* Random numbers, and those that are likely to be a limit of something. */
#include "hostile.h"

/* splitmix64: a seed is as good as any other */
uint64_t hostile_random(struct hostile *h)
{
	uint64_t z = h->random += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* A number near a power of two, near 0, or any */
uint64_t hostile_number(struct hostile *h)
{
	switch (hostile_below(h, 4)) {
	case 0:
		return hostile_below(h, 8) - 2;
	case 1:
		return (1ULL << hostile_below(h, 64)) + hostile_below(h, 3) - 1;
	case 2:
		return hostile_below(h, 4096);
	default:
		return hostile_random(h) >> hostile_below(h, 64);
	}
}

const char *hostile_remote(struct hostile *h)
{
	static const char *const others[] = { "", "hypervisor", "test", "kernel", "no_such" };

	return hostile_below(h, 16) ? h->remote : others[hostile_below(h, 5)];
}
