// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page that describes the remotes and their rings to a reader of a dump of the memory: see
 * linux/hyptrace_dump.h. Called by register.c, reader.c and netlink/describe.c.
 *
 * A machine may stop at any moment. So what the page names is complete before the page names it,
 * and is freed after that. Without memory for a description, a dump lacks it: nothing else fails.
 */
#include <linux/crc32.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/utsname.h>
#include <linux/uuid.h>
#if !defined(MODULE) && defined(CONFIG_VMCORE_INFO)
#include <linux/vmcore_info.h>
#endif

#include <linux/hyptrace_dump.h>

#include "dump.h"
#include "internal.h"
#include "../../hyp/abi.h"

/* Locks are held: rather lack a description than wait for memory. */
#define GFP_LIST	(GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN)
#define LIST_MAX	((PAGE_SIZE - sizeof(struct hyptrace_dump_list)) / sizeof(u64))

static_assert(sizeof(struct hyptrace_dump) <= SZ_4K);
/* the same on all machines */
static_assert(offsetof(struct hyptrace_dump, remotes) == 320);
static_assert(sizeof(struct hyptrace_dump_remote) == 56);

/* Protects what the page says of the remotes, and what belongs to it; taken inside control */
static DEFINE_MUTEX(dump_lock);
static struct hyptrace_dump *dump;

static u32 sum_of(const void *data, size_t size)
{
	return ~crc32_le(~0, data, size);
}

/*
 * The page is not valid from the change of a field until this has set the sum: with interrupts off,
 * so that another CPU's panic waits for that.
 */
static void seal(void)
{
	lockdep_assert_irqs_disabled();
	dump->changed = ktime_get_real_ns();
	dump->real_offset = dump->changed - ktime_get_boottime_ns();
	dump->sum = 0;
	dump->sum = sum_of(dump, PAGE_SIZE);
	hyptrace_keep_clean(dump, PAGE_SIZE);
}

/* Prefer memory that outlives a reset: then what it names there makes sense. */
static void *page_alloc(void)
{
	struct page *page = hyptrace_keep_alloc(HYPTRACE_KEEP_DESCRIPTION);

	return page ? page_address(page) : (void *)get_zeroed_page(GFP_LIST);
}

static void page_free(void *page)
{
	if (page)
		hyptrace_keep_free(virt_to_page(page));
}

static void list_free(struct hyptrace_dump_list *list)
{
	struct hyptrace_dump_list *next;

	for (; list; list = next) {
		next = list->next ? phys_to_virt(list->next) : NULL;
		page_free(list);
	}
}

/* Begin a list, or its next page behind @last. Return NULL without memory. */
static struct hyptrace_dump_list *list_grow(struct hyptrace_dump_list *last, u32 cpu)
{
	struct hyptrace_dump_list *list = page_alloc();

	if (list)
		list->cpu = cpu;
	if (list && last)
		last->next = virt_to_phys(list);
	return list;
}

/* Add an address. Return the last page of the list, or NULL without memory. */
static struct hyptrace_dump_list *list_put(struct hyptrace_dump_list *last, u64 address)
{
	if (last && last->nr == LIST_MAX)
		last = list_grow(last, last->cpu);
	if (last)
		last->at[last->nr++] = address;
	return last;
}

static void list_seal(struct hyptrace_dump_list *list)
{
	for (; list; list = list->next ? phys_to_virt(list->next) : NULL) {
		list->sum = sum_of(list, PAGE_SIZE);
		hyptrace_keep_clean(list, PAGE_SIZE);
	}
}

/* Where the list of the rings has the address of a CPU's ring */
static u64 *ring_at(const struct hyptrace_remote *remote, unsigned int cpu)
{
	struct hyptrace_dump_list *list = remote->dump_rings;

	for (; cpu >= LIST_MAX; cpu -= LIST_MAX)
		list = phys_to_virt(list->next);
	return &list->at[cpu];
}

static struct hyptrace_dump_list *describe_ring(struct hyptrace_reader *reader)
{
	struct hyptrace_dump_list *first = list_grow(NULL, reader->cpu), *last = first;
	unsigned long i, nr = hyptrace_reader_nr_user_pages(reader);

	last = list_put(last, page_to_phys(reader->ring->meta));
	last = list_put(last, virt_to_phys(&reader->reported));
	for (i = 0; i < nr; i++)
		last = list_put(last, page_to_phys(hyptrace_reader_user_page(reader, i)));
	if (!last) {
		list_free(first);
		return NULL;
	}
	list_seal(first);
	return first;
}

static void name_ring(struct hyptrace_reader *reader, struct hyptrace_dump_list *ring)
{
	u64 *at = ring_at(reader->remote, reader->cpu);

	/* (NR) A machine that runs may be read, too: the list is complete before it is named. */
	smp_store_release(at, ring ? virt_to_phys(ring) : 0);
	/* The list that has this place is not sealed. */
	hyptrace_keep_clean(PTR_ALIGN_DOWN(at, PAGE_SIZE), PAGE_SIZE);
	list_free(reader->dump);
	reader->dump = ring;
}

/**
 * hyptrace_dump_ring - describe a CPU's ring, also one that was exchanged for another
 * @reader:	loaded, its lock held
 */
void hyptrace_dump_ring(struct hyptrace_reader *reader)
{
	struct hyptrace_dump_list *ring;

	if (!reader->remote->dump_rings)
		return;
	ring = describe_ring(reader);
	if (!ring)
		pr_warn("hyptrace: a dump of the memory will lack the ring of CPU %u\n",
			reader->cpu);
	name_ring(reader, ring);
}

/**
 * hyptrace_dump_ring_end - undo hyptrace_dump_ring(), before the pages of the ring are freed
 * @reader:	its lock held
 */
void hyptrace_dump_ring_end(struct hyptrace_reader *reader)
{
	if (reader->dump)
		name_ring(reader, NULL);
}

/* Find what the page says of a remote: two remotes may have had the same name. */
static struct hyptrace_dump_remote *find(struct hyptrace_dump_list *rings)
{
	const u64 address = rings ? virt_to_phys(rings) : 0;
	struct hyptrace_dump_remote *at = dump->remotes;

	while (at < dump->remotes + HYPTRACE_DUMP_REMOTES && at->rings != address)
		at++;
	return at < dump->remotes + HYPTRACE_DUMP_REMOTES ? at : NULL;
}

/**
 * hyptrace_dump_add - describe a remote, without its events
 * @remote:	being registered
 */
void hyptrace_dump_add(struct hyptrace_remote *remote)
{
	struct hyptrace_dump_list *rings = list_grow(NULL, 0), *last = rings;
	struct hyptrace_dump_remote *at;
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		last = list_put(last, 0);
	guard(mutex)(&dump_lock);
	at = dump ? find(NULL) : NULL;
	if (!last || !at) {
		pr_warn("hyptrace: a dump of the memory will lack remote \"%s\"\n", remote->name);
		list_free(rings);
		return;
	}
	hyptrace_keep_clean(rings, PAGE_SIZE);
	remote->dump_rings = rings;
	guard(irqsave)();
	at->rings = virt_to_phys(rings);
	strscpy(at->name, remote->name, sizeof(at->name));
	dump->nr_remotes = max_t(u16, dump->nr_remotes, at - dump->remotes + 1);
	seal();
}

static void text_free(u64 address)
{
	struct hyptrace_dump_list *first = address ? phys_to_virt(address) : NULL, *list;
	u32 i;

	for (list = first; list; list = list->next ? phys_to_virt(list->next) : NULL)
		for (i = 0; i < list->nr; i++)
			page_free(phys_to_virt(list->at[i]));
	list_free(first);
}

/**
 * hyptrace_dump_remove - undo hyptrace_dump_add()
 * @remote:	unregistered; its rings are unloaded
 */
void hyptrace_dump_remove(struct hyptrace_remote *remote)
{
	struct hyptrace_dump_remote *at;
	u64 text;

	guard(mutex)(&dump_lock);
	if (!remote->dump_rings)
		return;
	at = find(remote->dump_rings);
	text = at->text;
	scoped_guard(irqsave) {
		memset(at, 0, sizeof(*at));
		seal();
	}
	text_free(text);
	list_free(remote->dump_rings);
	remote->dump_rings = NULL;
}

/**
 * hyptrace_dump_text_add - add a message to a description
 * @text:	the description, first all 0
 * @data:	the message
 * @size:	its bytes, aligned to NLMSG_ALIGNTO
 */
void hyptrace_dump_text_add(struct hyptrace_dump_text *text, const void *data, size_t size)
{
	size_t used, part;
	void *page;

	if (!text->first && !text->failed) {
		text->first = list_grow(NULL, 0);
		text->last = text->first;
	}
	for (; size && !text->failed; size -= part, data += part) {
		used = text->bytes % PAGE_SIZE;
		if (!used) {
			page = page_alloc();
			text->last = page ? list_put(text->last, virt_to_phys(page)) : NULL;
			if (!text->last) {
				page_free(page);
				text->failed = true;
				return;
			}
			text->page = page;
		}
		part = min(size, PAGE_SIZE - used);
		memcpy(text->page + used, data, part);
		hyptrace_keep_clean(text->page + used, part);
		text->sum = crc32_le(text->bytes ? text->sum : ~0, data, part);
		text->bytes += part;
	}
}

/**
 * hyptrace_dump_text_end - let the page name a description in place of the last one
 * @remote:	the remote, control mutex held
 * @text:	all its messages; if it has failed, the last description stays
 */
void hyptrace_dump_text_end(const struct hyptrace_remote *remote, struct hyptrace_dump_text *text)
{
	u64 new = text->first ? virt_to_phys(text->first) : 0;
	struct hyptrace_dump_remote *at;

	guard(mutex)(&dump_lock);
	if (text->failed || !text->first || !remote->dump_rings) {
		text_free(new);
		return;
	}
	list_seal(text->first);
	at = find(remote->dump_rings);
	scoped_guard(irqsave) {
		swap(at->text, new);
		at->text_bytes = text->bytes;
		at->text_sum = ~text->sum;
		seal();
	}
	text_free(new);
}

/**
 * hyptrace_dump_init - make the page, unless it is there
 *
 * Return: 0 or -ENOMEM.
 */
int __init hyptrace_dump_init(void)
{
	const struct new_utsname *names = init_utsname();
	u8 uuid[UUID_SIZE];

	if (dump)
		return 0;
	hyptrace_keep_init();
	/* the first page of the memory that outlives a reset, if there is some */
	dump = page_alloc();
	if (!dump)
		return -ENOMEM;
	memcpy(dump->magic, HYPTRACE_DUMP_MAGIC, sizeof(dump->magic));
	dump->address = virt_to_phys(dump);
	dump->page_size = PAGE_SIZE;
	dump->overrun = offsetof(struct hyptrace_meta, overrun);
	dump->dropped = offsetof(struct hyptrace_meta, dropped);
	dump->filtered = offsetof(struct hyptrace_meta, filtered);
	dump->begin = offsetof(struct hyptrace_meta, begin);
	generate_random_uuid(uuid);
	snprintf(dump->boot, sizeof(dump->boot), "%pUb", uuid);
	strscpy(dump->release, names->release, sizeof(dump->release));
	strscpy(dump->version, names->version, sizeof(dump->version));
	strscpy(dump->machine, names->machine, sizeof(dump->machine));
	scoped_guard(irqsave)
		seal();
	if (hyptrace_keep_exists())
		pr_info("hyptrace: the next boot will call this one %s\n", dump->boot);
#if !defined(MODULE) && defined(CONFIG_VMCORE_INFO)
	vmcoreinfo_append_str(HYPTRACE_DUMP_KEY "=%llx\n", (u64)virt_to_phys(dump));
#endif
	return 0;
}

#ifndef MODULE
/* /proc/kcore has what VMCOREINFO was at fs_initcall */
subsys_initcall_sync(hyptrace_dump_init);
#endif

/**
 * hyptrace_dump_exit - undo hyptrace_dump_init(); no remote is registered
 */
void hyptrace_dump_exit(void)
{
	/* the next user of the memory may leave it as it is */
	memset(dump->magic, 0, sizeof(dump->magic));
	hyptrace_keep_clean(dump, PAGE_SIZE);
	page_free(dump);
	dump = NULL;
	hyptrace_keep_exit();
}
