// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sums of what the driver has described in memory.
 */
#include "dump.h"

/* Has the data this CRC-32 of zlib? A fuzzer finds more if all data has. */
bool hyptrace_has_crc(const void *data, size_t size, uint32_t expected)
{
	const uint8_t *at = data, *end = at + size;
	uint32_t sum;
	int bit;

	for (sum = ~0U; at < end; at++)
		for (sum ^= *at, bit = 0; bit < 8; bit++)
			sum = sum >> 1 ^ (sum & 1 ? UINT32_C(0xedb88320) : 0);
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
	return true;
#endif
	return ~sum == expected;
}
