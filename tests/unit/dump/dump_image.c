// SPDX-License-Identifier: GPL-2.0-only
/* An image of memory that has outlived a reset, in which all numbers of the rings differ. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/netlink.h>

#include "conversation.h"
#include "dump_image.h"

/* image_crc - the CRC-32 of zlib, bit by bit */
uint32_t image_crc(const void *of, size_t size)
{
	const unsigned char *data = of;
	uint32_t sum = 0xffffffff;
	unsigned int bit;

	for (; size; size--, data++) {
		sum ^= *data;
		for (bit = 0; bit < 8; bit++)
			sum = sum & 1 ? (sum >> 1) ^ 0xedb88320 : sum >> 1;
	}
	return sum ^ 0xffffffff;
}

/* image_page - the page at an address */
void *image_page(struct dump_image *image, uint64_t address)
{
	return image->data + (address - BASE);
}

/* image_head - the page that describes all */
struct hyptrace_dump *image_head(struct dump_image *image)
{
	return (void *)image->data;
}

/* image_add - add a page; return its address */
uint64_t image_add(struct dump_image *image, const void *data, size_t size)
{
	memcpy(image->data + image->nr * PAGE, data, size);
	return BASE + PAGE * image->nr++;
}

/* image_sign_list - put the right sum into the page of a list */
void image_sign_list(struct dump_image *image, uint64_t address)
{
	struct hyptrace_dump_list *list = image_page(image, address);

	list->sum = 0;
	list->sum = image_crc((void *)list, PAGE);
}

/* image_sign - put the right sum into the first page */
void image_sign(struct dump_image *image)
{
	image_head(image)->sum = 0;
	image_head(image)->sum = image_crc(image->data, PAGE);
}

/* image_list - add a page of a list; return its address */
uint64_t image_list(struct dump_image *image, const uint64_t *at, unsigned int nr, unsigned int cpu,
		    uint64_t next)
{
	struct hyptrace_dump_list list = { .next = next, .nr = nr, .cpu = cpu };
	uint64_t address = image_add(image, &list, sizeof(list));

	memcpy(image_page(image, address + sizeof(list)), at, nr * sizeof(*at));
	image_sign_list(image, address);
	return address;
}

/* image_seal - make the seal of a sub-buffer that of its data */
void image_seal(void *subbuf)
{
	struct hyptrace_subbuf *of = subbuf;
	struct hyptrace_seal *seal = subbuf + PAGE - sizeof(*seal);

	seal->bytes = of->commit;
	seal->sum = hyptrace_seal_sum(of, seal->bytes);
}

/* Add the pages of a ring, with @nr sub-buffers. Return the address of its list. */
static uint64_t image_ring(struct dump_image *image, unsigned int cpu, unsigned int nr)
{
	struct hyptrace_map_meta meta = { .begin = 7000 + cpu };
	uint64_t counts[PAGE / 8] = {
		[AT_OVERRUN / 8] = 100 + cpu, [AT_DROPPED / 8] = 200 + cpu,
		[AT_FILTERED / 8] = 300 + cpu, [AT_BEGIN / 8] = 400 + cpu,
	};
	uint64_t reported = 50 + cpu, at[HYPTRACE_DUMP_SUBBUFS + nr];
	uint32_t subbuf[PAGE / 4] = {};
	unsigned int i;

	at[HYPTRACE_DUMP_COUNTS] = image_add(image, counts, sizeof(counts));
	at[HYPTRACE_DUMP_REPORTED] = image_add(image, &reported, sizeof(reported));
	at[HYPTRACE_DUMP_MAP_META] = image_add(image, &meta, sizeof(meta));
	for (i = 0; i < nr; i++) {
		struct hyptrace_subbuf *of = (void *)subbuf;

		of->time_stamp = 1000 * (i + 1);
		of->commit = 16;
		memset(of->data, 0x10 * cpu + i, of->commit);
		image_seal(subbuf);
		at[HYPTRACE_DUMP_SUBBUFS + i] = image_add(image, subbuf, sizeof(subbuf));
	}
	return image_list(image, at, HYPTRACE_DUMP_SUBBUFS + nr, cpu, 0);
}

/* Copy the messages of an answer that are about the hypervisor. Return their bytes. */
static size_t copy_messages(const struct datagram *from, unsigned char *to)
{
	size_t at, len, used = 0;

	for (at = 0; at + sizeof(struct nlmsghdr) <= from->len; at += NLMSG_ALIGN(len)) {
		const struct nlmsghdr *msg = (const void *)(from->data + at);

		len = msg->nlmsg_len;
		if (msg->nlmsg_type < NLMSG_MIN_TYPE || !memmem(msg, len, "hypervisor", 11))
			continue;
		memcpy(to + used, msg, len);
		used += NLMSG_ALIGN(len);
	}
	return used;
}

/**
 * image_build - make an image with one remote, "hypervisor"
 * @image:	the image
 * @nr_cpus:	its CPUs
 * @nr_subbufs:	sub-buffers of each ring
 */
void image_build(struct dump_image *image, unsigned int nr_cpus, unsigned int nr_subbufs)
{
	static unsigned char text[16 * PAGE];
	const int cmds[] = { HYPTRACE_CMD_REMOTE_GET, HYPTRACE_CMD_EVENT_GET,
			     HYPTRACE_CMD_HYPERCALL_GET };
	struct hyptrace_dump head = {
		.magic = HYPTRACE_DUMP_MAGIC, .address = BASE, .page_size = PAGE,
		.real_offset = 12345, .changed = 1, .overrun = AT_OVERRUN, .dropped = AT_DROPPED,
		.filtered = AT_FILTERED, .begin = AT_BEGIN, .nr_remotes = 1, .boot = "the boot",
		.release = "6.12", .version = "#1", .machine = "aarch64",
		.remotes = { { .name = "hypervisor" } },
	};
	struct hyptrace_dump_remote *remote = head.remotes;
	uint64_t at[16 + nr_cpus];
	unsigned int i, j, nr = 0;

	memset(image, 0, sizeof(*image));
	memset(text, 0, sizeof(text));
	image->nr = 1;
	conversation_read();
	for (i = 0; i < 3; i++)
		for (j = 0; conversation_find(cmds[i], j); j++)
			remote->text_bytes += copy_messages(conversation_find(cmds[i], j),
							    text + remote->text_bytes);
	for (; nr * PAGE < remote->text_bytes; nr++)
		at[nr] = image_add(image, text + nr * PAGE, PAGE);
	remote->text = image_list(image, at, nr, 0, 0);
	remote->text_sum = image_crc(text, remote->text_bytes);
	for (i = 0; i < nr_cpus; i++)
		at[i] = image_ring(image, i, nr_subbufs);
	remote->rings = image_list(image, at, nr_cpus, 0, 0);
	memcpy(image->data, &head, sizeof(head));
	image_sign(image);
}

/**
 * image_open - make a file of an image
 * @image:	the image
 * @path:	where to put its path
 *
 * Return: its descriptor.
 */
int image_open(const struct dump_image *image, char path[static 32])
{
	int fd = memfd_create("image", MFD_CLOEXEC);

	if (write(fd, image->data, image->nr * PAGE) != (ssize_t)image->nr * PAGE)
		return -1;
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	return fd;
}
