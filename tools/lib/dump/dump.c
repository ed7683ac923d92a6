// SPDX-License-Identifier: GPL-2.0-only
/* Open a dump of a machine's memory as a connection that answers by what the driver left in it. */
#include <fcntl.h>
#include <stdarg.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "../hyptrace_file.h"
#include "dump.h"

/* More than this, and a list is damaged: 4 GiB of sub-buffers */
#define ADDRESSES_MAX	(1U << 20)
#define TEXT_BYTES_MAX	(16U << 20)
#define CPUS_MAX	8192
#define RINGS_BYTES_MAX	(UINT64_C(1) << 30)
/* With so many rings, all lists of a dump have fewer pages, unless they lead back. */
#define LIST_PAGES_MAX	(1U << 16)

#define ELF_MAGIC	"\177ELF"
#define ELF_TYPE_AT	16
#define ELF_TYPE_CORE	4

struct dump_list {
	uint64_t	*at;		/* addresses */
	unsigned int	nr;
	uint32_t	cpu;
};

struct ring {
	struct dump_list	list;
	uint64_t		overrun;
	uint64_t		dropped;
	uint64_t		filtered;
	uint64_t		begin;
	uint64_t		reported;
};

struct dump {
	struct dump_memory		*mem;
	struct hyptrace_dump		*page;
	const struct hyptrace_dump_remote *remote;
	char				*text;
	size_t				text_bytes;
	struct ring			*rings;		/* by CPU; without a list: no ring */
	unsigned int			nr_rings;
	uint64_t			bytes_left;	/* that further rings may take */
	unsigned int			pages_left;	/* that further lists may take */
	hyptrace_note_fn		note;
	void				*note_arg;
};

/**
 * hyptrace_is_dump - find out whether a file is a dump of a machine's memory
 * @path:	the file
 * Return: true if it begins like a vmcore, like a compressed dump, or like memory that has outlived
 * a reset.
 */
bool hyptrace_is_dump(const char *path)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	static const char *const magics[] = { "KDUMP   ", "DISKDUMP", "makedumpfile" };
	char head[ELF_TYPE_AT + 2];
	unsigned int i;

	if (fd < 0 || pread(fd, head, sizeof(head), 0) != sizeof(head))
		return false;
	/* the type is a number of 16 bits in the byte order of the machine */
	if (!memcmp(head, ELF_MAGIC, 4))
		return head[ELF_TYPE_AT] + head[ELF_TYPE_AT + 1] == ELF_TYPE_CORE;
	for (i = 0; i < COUNT(magics); i++)
		if (!strncmp(head, magics[i], strlen(magics[i])))
			return true;
	return !memcmp(head, HYPTRACE_DUMP_MAGIC, sizeof(HYPTRACE_DUMP_MAGIC));
}

__attribute__((format(printf, 2, 3)))
static void note(const struct dump *d, const char *fmt, ...)
{
	char text[HYPTRACE_ERROR_TEXT];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (d->note)
		d->note(d->note_arg, text);
}

static const char *why(int ret)
{
	return ret == -ENODATA ? "is not in the dump" : ret == -EBADMSG ? "is damaged" :
	       "takes too much memory";
}

/*
 * Read a list whose first page is at an address. @has_sum: its pages have sums. list->cpu says
 * whose list it must be, 0 for others; the caller frees list->at. All that the list says is
 * checked: the memory may be damaged. Return 0; -ENODATA if the dump does not have all of it,
 * -EBADMSG if it is damaged, or -ENOMEM.
 */
static int read_list(struct dump *d, uint64_t address, bool has_sum, struct dump_list *list)
{
	auto_free struct hyptrace_dump_list *part = malloc(d->page->page_size);
	const uint32_t page_size = d->page->page_size;
	const uint32_t max = (page_size - sizeof(*part)) / sizeof(*part->at);
	uint64_t *at;
	uint32_t sum;
	int ret = part ? 0 : -ENOMEM;

	*list = (struct dump_list){ .cpu = list->cpu };
	for (; !ret && address; address = part->next) {
		if (!hyptrace_memory_read(d->mem, address, part, page_size)) {
			ret = -ENODATA;
			break;
		}
		sum = part->sum;
		part->sum = 0;
		if (!part->nr || part->nr > max || part->cpu != list->cpu || !d->pages_left ||
		    part->nr > ADDRESSES_MAX - list->nr ||
		    (has_sum && !hyptrace_has_crc(part, page_size, sum))) {
			ret = -EBADMSG;
			break;
		}
		d->pages_left--;
		at = reallocarray(list->at, list->nr + part->nr, sizeof(*at));
		if (!at) {
			ret = -ENOMEM;
			break;
		}
		memcpy(at + list->nr, part->at, part->nr * sizeof(*at));
		list->at = at;
		list->nr += part->nr;
	}
	if (!ret)
		return 0;
	free(list->at);
	list->at = NULL;
	return ret;
}

static int read_text(struct dump *d, struct hyptrace_error *err)
{
	const struct hyptrace_dump_remote *remote = d->remote;
	const uint32_t page_size = d->page->page_size;
	struct dump_list list = {};
	unsigned int i;
	int ret = !remote->text ? -ENODATA : remote->text_bytes > TEXT_BYTES_MAX ? -EBADMSG : 0;

	if (!ret)
		ret = read_list(d, remote->text, true, &list);
	if (!ret && list.nr != (remote->text_bytes + page_size - 1) / page_size)
		ret = -EBADMSG;
	d->text = ret ? NULL : malloc((size_t)list.nr * page_size);
	if (!ret && !d->text)
		ret = -ENOMEM;
	for (i = 0; i < list.nr && !ret; i++)
		if (!hyptrace_memory_read(d->mem, list.at[i], d->text + (size_t)i * page_size,
					  page_size))
			ret = -ENODATA;
	if (!ret && !hyptrace_has_crc(d->text, remote->text_bytes, remote->text_sum))
		ret = -EBADMSG;
	d->text_bytes = remote->text_bytes;
	free(list.at);
	return ret ? hyptrace_error_set(err, -ret, "the description of remote \"%.*s\" %s",
					HYPTRACE_REMOTE_NAME_MAX, remote->name, why(ret)) : 0;
}

static uint64_t read_count(struct dump *d, const struct ring *ring, unsigned int offset,
			   bool *complete)
{
	const uint64_t page = ring->list.at[HYPTRACE_DUMP_COUNTS];
	uint64_t count = 0;

	*complete &= offset <= d->page->page_size - sizeof(count) &&
		     hyptrace_memory_read(d->mem, page + offset, &count, sizeof(count));
	return count;
}

static bool has_pages(const struct dump *d, const struct dump_list *list)
{
	uint64_t word;
	unsigned int i;

	for (i = HYPTRACE_DUMP_SUBBUFS; i < list->nr; i++)
		if (hyptrace_memory_read(d->mem, list->at[i], &word, sizeof(word)))
			return true;
	return false;
}

/* Return 1; 0 if an image does not have the ring; or the error of its list, which was noted. */
static int read_ring(struct dump *d, unsigned int cpu, uint64_t address)
{
	struct ring *ring = &d->rings[cpu];
	bool complete = true;
	int ret;

	ring->list.cpu = cpu;
	ret = read_list(d, address, true, &ring->list);
	if (!ret && ring->list.nr <= HYPTRACE_DUMP_SUBBUFS)
		ret = -EBADMSG;
	if (!ret && (uint64_t)ring->list.nr * d->page->page_size > d->bytes_left)
		ret = -ENOMEM;
	if (ret)
		note(d, "the ring of CPU %u %s", cpu, why(ret));
	if (ret || (d->mem->is_image && !has_pages(d, &ring->list))) {
		free(ring->list.at);
		ring->list.at = NULL;
		return ret;
	}
	d->bytes_left -= (uint64_t)ring->list.nr * d->page->page_size;
	ring->overrun = read_count(d, ring, d->page->overrun, &complete);
	ring->dropped = read_count(d, ring, d->page->dropped, &complete);
	ring->filtered = read_count(d, ring, d->page->filtered, &complete);
	ring->begin = read_count(d, ring, d->page->begin, &complete);
	if (!d->mem->is_image)
		complete &= hyptrace_memory_read(d->mem, ring->list.at[HYPTRACE_DUMP_REPORTED],
						 &ring->reported, sizeof(ring->reported));
	if (!complete)
		note(d, "counters of CPU %u are not in the dump: more events may be lost", cpu);
	return 1;
}

static int read_rings(struct dump *d, struct hyptrace_error *err)
{
	struct dump_list list = {};
	unsigned int cpu, lost = 0;
	bool found = !d->mem->is_image;
	int ret = read_list(d, d->remote->rings, false, &list), damage = 0;

	if (ret)
		return hyptrace_error_set(err, -ret, "the list of the rings %s", why(ret));
	if (d->mem->missing)
		note(d, "the file was cut: %llu bytes of memory are missing at its end",
		     (unsigned long long)d->mem->missing);
	d->bytes_left = RINGS_BYTES_MAX;
	d->rings = calloc(CPUS_MAX, sizeof(*d->rings));
	d->nr_rings = d->rings ? MIN(list.nr, CPUS_MAX) : 0;
	for (cpu = 0; cpu < d->nr_rings; cpu++) {
		ret = list.at[cpu] ? read_ring(d, cpu, list.at[cpu]) : -ENODATA;
		found |= ret > 0;
		lost += !ret;
		damage = ret < 0 && ret != -ENODATA ? ret : damage;
	}
	free(list.at);
	if (!d->rings || (!found && damage == -ENOMEM))
		return hyptrace_error_memory(err);
	if (!found && damage)
		return hyptrace_error_set(err, -damage, "no ring of \"%.*s\" can be read: what is left of them is damaged",
					  HYPTRACE_REMOTE_NAME_MAX, d->remote->name);
	if (found && lost)
		note(d, "the rings of %u CPUs are not in the image: it was cut, or they did not fit in the memory that outlives a reset",
		     lost);
	return found ? 0 :
	       hyptrace_error_set(err, ENODATA, "no ring of \"%.*s\" is in the memory that outlives a reset: it was not loaded, or did not fit",
				  HYPTRACE_REMOTE_NAME_MAX, d->remote->name);
}

static bool has_rings(struct dump *d, const struct hyptrace_dump_remote *remote)
{
	struct dump_list list = {}, ring;
	bool found = false;
	unsigned int i;

	if (read_list(d, remote->rings, false, &list))
		return false;
	for (i = 0; i < list.nr && !found; i++) {
		ring = (struct dump_list){ .cpu = i };
		found = list.at[i] && !read_list(d, list.at[i], true, &ring) && has_pages(d, &ring);
		free(ring.at);
	}
	free(list.at);
	return found;
}

/* Choose the remote: by name, else the first one that has rings, else the first one. */
static int choose(struct dump *d, const char *name, struct hyptrace_error *err)
{
	const struct hyptrace_dump_remote *at = d->page->remotes, *other = NULL;
	unsigned int i, nr = MIN(d->page->nr_remotes, HYPTRACE_DUMP_REMOTES);

	for (i = 0; i < nr; i++, at++) {
		if (!*at->name || (name && strncmp(at->name, name, sizeof(at->name))))
			continue;
		if (!other || (!name && !has_rings(d, other) && has_rings(d, at)))
			other = at;
		else if (has_rings(d, at))
			note(d, "remote \"%.*s\" has rings, too: choose it by --remote",
			     HYPTRACE_REMOTE_NAME_MAX, at->name);
	}
	d->remote = other;
	if (!other)
		return name ? hyptrace_error_set(err, ENODEV, "no such remote \"%s\"", name) :
			      hyptrace_error_set(err, ENODEV, "no remote was registered");
	return 0;
}

/* Answer by all messages of the description with this command. */
static int answer_text(const struct dump *d, const struct hyptrace_request *r, int cmd)
{
	struct nlattr *name = cmd == HYPTRACE_CMD_EVENT_GET ?
			      hyptrace_request_attr(r, HYPTRACE_A_EVENT_NAME) : NULL;
	struct nlmsghdr *msg = (struct nlmsghdr *)d->text;
	int rest = d->text_bytes, ret = 0, got = 0;

	for (; nlmsg_ok(msg, rest) && !ret; msg = nlmsg_next(msg, &rest)) {
		const struct genlmsghdr *hdr = nlmsg_data(msg);
		const struct nlattr *own;

		if (!genlmsg_valid_hdr(msg, 0) || hdr->cmd != cmd)
			continue;
		own = name ? nlmsg_find_attr(msg, GENL_HDRLEN, HYPTRACE_A_EVENT_NAME) : NULL;
		if (name && (!own || nla_strcmp(own, nla_data(name))))
			continue;
		ret = r->fn(msg, r->arg);
		got++;
	}
	return ret || got || !name ? ret : hyptrace_error_set(r->err, ENOENT, "no such event");
}

static int answer_cpu(const struct dump *d, const struct hyptrace_request *r, unsigned int cpu)
{
	const struct ring *ring = &d->rings[cpu];
	const uint64_t lost = ring->overrun + ring->dropped;
	struct nl_msg *msg = hyptrace_answer_new();
	char name[HYPTRACE_REMOTE_NAME_MAX + 1];

	snprintf(name, sizeof(name), "%.*s", HYPTRACE_REMOTE_NAME_MAX, d->remote->name);
	return hyptrace_answer_send(r, msg, !msg ||
		nla_put_string(msg, HYPTRACE_A_CPU_REMOTE, name) ||
		nla_put_u32(msg, HYPTRACE_A_CPU_ID, cpu) ||
		nla_put_u32(msg, HYPTRACE_A_CPU_STATE, HYPTRACE_CPU_STATE_DETACHED) ||
		nla_put_u32(msg, HYPTRACE_A_CPU_NR_SUBBUFS,
			    ring->list.nr - HYPTRACE_DUMP_SUBBUFS) ||
		nla_put_u64(msg, HYPTRACE_A_CPU_OVERRUN, ring->overrun) ||
		nla_put_u64(msg, HYPTRACE_A_CPU_DROPPED, ring->dropped) ||
		nla_put_u64(msg, HYPTRACE_A_CPU_FILTERED, ring->filtered) ||
		nla_put_u64(msg, HYPTRACE_A_CPU_UNREPORTED, lost - MIN(lost, ring->reported)));
}

static int answer_cpus(const struct dump *d, const struct hyptrace_request *r)
{
	const struct nlattr *id = hyptrace_request_attr(r, HYPTRACE_A_CPU_ID);
	unsigned int cpu, got = 0;
	int ret = 0;

	for (cpu = 0; cpu < d->nr_rings && !ret; cpu++) {
		if (!d->rings[cpu].list.at || (id && nla_get_u32(id) != cpu))
			continue;
		ret = answer_cpu(d, r, cpu);
		got++;
	}
	return ret || got || !id ? ret : hyptrace_error_set(r->err, ENXIO, "no such CPU");
}

static int answer(void *arg, const struct hyptrace_request *r, int cmd)
{
	switch (cmd) {
	case HYPTRACE_CMD_REMOTE_GET:
	case HYPTRACE_CMD_EVENT_GET:
	case HYPTRACE_CMD_HYPERCALL_GET:
		return answer_text(arg, r, cmd);
	case HYPTRACE_CMD_CPU_GET:
		return answer_cpus(arg, r);
	}
	return hyptrace_error_set(r->err, EOPNOTSUPP, "a dump of memory can only be read");
}

/* Read what was read and cleared of a ring. Memory that outlives a reset has all that was not. */
static void read_meta(struct dump *d, unsigned int cpu, struct hyptrace_map_meta *meta)
{
	const struct ring *ring = &d->rings[cpu];
	const size_t page_size = d->page->page_size;

	if (d->mem->is_image) {
		meta->begin = ring->begin;
	} else if (!hyptrace_memory_read(d->mem, ring->list.at[HYPTRACE_DUMP_MAP_META], meta,
					 page_size)) {
		memset(meta, 0, page_size);
		note(d, "what was read of CPU %u is not known: its events may be read before", cpu);
	}
	meta->buffer.meta_struct_len = sizeof(*meta);
	/* a clear was in progress */
	if (meta->begin == UINT64_MAX)
		meta->begin = 0;
}

/* A fuzzer finds more if all sub-buffers have their sum. */
static bool has_sum(const struct hyptrace_subbuf *subbuf, const struct hyptrace_seal *seal)
{
	const uint64_t sum = hyptrace_seal_sum(subbuf, seal->bytes);

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
	return true;
#endif
	return seal->sum == sum;
}

/* Cut a sub-buffer to what is sealed of it. Return false if it has data, and no valid seal. */
static bool unseal(struct hyptrace_subbuf *subbuf, size_t page_size)
{
	const size_t max = page_size - sizeof(*subbuf) - sizeof(struct hyptrace_seal);
	const struct hyptrace_seal *seal = (const void *)(subbuf->data + max);
	const bool is_valid = seal->bytes <= max && seal->bytes % sizeof(uint32_t) == 0 &&
			      has_sum(subbuf, seal);
	const bool is_empty = !subbuf->commit;

	subbuf->commit = is_valid ? seal->bytes : 0;
	return is_valid || is_empty;
}

/* Copy the pages of a ring, as they would be mapped. One that is missing is empty. */
static struct hyptrace_reader *map_ring(void *arg, int cpu, struct hyptrace_error *err)
{
	struct dump *d = arg;
	const size_t page_size = d->page->page_size;
	struct hyptrace_reader *reader;
	struct hyptrace_map_meta *meta;
	const struct dump_list *list;
	unsigned int i, missing = 0, broken = 0;
	char *to;

	if (cpu < 0 || (unsigned int)cpu >= d->nr_rings || !d->rings[cpu].list.at)
		return hyptrace_error_null(hyptrace_error_set(err, ENXIO, "no such CPU"));
	reader = calloc(1, sizeof(*reader));
	if (!reader)
		return hyptrace_error_null(hyptrace_error_memory(err));
	list = &d->rings[cpu].list;
	reader->fd = -1;
	reader->subbuf_size = page_size;
	reader->meta_size = page_size;
	reader->data_size = (list->nr - HYPTRACE_DUMP_SUBBUFS) * page_size;
	meta = hyptrace_map_memory(page_size, MAP_PRIVATE);
	to = hyptrace_map_memory(reader->data_size, MAP_PRIVATE);
	reader->meta = (void *)meta;
	reader->is_image = d->mem->is_image;
	reader->data = to;
	if (!meta || !to) {
		hyptrace_reader_close(reader);
		return hyptrace_error_null(hyptrace_error_memory(err));
	}
	read_meta(d, cpu, meta);
	for (i = HYPTRACE_DUMP_SUBBUFS; i < list->nr; i++, to += page_size)
		if (!hyptrace_memory_read(d->mem, list->at[i], to, page_size)) {
			memset(to, 0, page_size);
			missing++;
		} else if (d->mem->is_image) {
			broken += !unseal((void *)to, page_size);
		}
	if (broken)
		note(d, "%u of %u sub-buffers of CPU %d were not finished, or their checksum is wrong: their events are missing",
		     broken, list->nr - HYPTRACE_DUMP_SUBBUFS, cpu);
	if (missing)
		note(d, "%u of %u sub-buffers of CPU %d are not in the dump: their events are missing",
		     missing, list->nr - HYPTRACE_DUMP_SUBBUFS, cpu);
	return reader;
}

/* The dump does not say the name of the machine, and the UUID of the boot is the driver's. */
static void identify(void *arg, struct hyptrace_file_info *info)
{
	const struct hyptrace_dump *page = ((struct dump *)arg)->page;

	info->boot = strndup(page->boot, sizeof(page->boot));
	info->offset = page->real_offset;
	if (asprintf(&info->uname, "Linux (none) %.*s %.*s %.*s",
		     (int)sizeof(page->release), page->release,
		     (int)sizeof(page->version), page->version,
		     (int)sizeof(page->machine), page->machine) < 0)
		info->uname = NULL;
}

static void close_source(void *arg)
{
	struct dump *d = arg;
	unsigned int i;

	for (i = 0; i < d->nr_rings; i++)
		free(d->rings[i].list.at);
	free(d->rings);
	free(d->text);
	free(d->page);
	hyptrace_memory_close(d->mem);
	free(d);
}

static const struct hyptrace_backend backend = {
	.request = answer,
	.map = map_ring,
	.identify = identify,
	.close = close_source,
};

/* What copies sub-buffers takes their size from the remote. */
static int check_size(struct hyptrace *h, const struct dump *d, struct hyptrace_error *err)
{
	struct hyptrace_remote **remotes;
	unsigned int nr;
	bool is_good;
	int ret = hyptrace_get_remotes(h, &remotes, &nr, err);

	if (ret)
		return ret;
	is_good = nr == 1 && remotes[0]->subbuf_size == d->page->page_size;
	hyptrace_free_remotes(remotes);
	return is_good ? 0 : hyptrace_error_set(err, EBADMSG, "the description of remote \"%.*s\" is damaged",
						HYPTRACE_REMOTE_NAME_MAX, d->remote->name);
}

/**
 * hyptrace_open_dump - read a dump of a machine's memory in place of the driver
 * @path:	a vmcore of kdump, also one that makedumpfile has compressed, what QEMU's
 *		dump-guest-memory has written, /proc/kcore, /proc/vmcore, or
 *		/dev/hyptrace-previous
 * @remote:	name of the remote, or NULL for the first one that has rings
 * @note:	called with a sentence for each part that is missing; NULL for none
 * @arg:	its first argument
 * @err:	the reason if it fails; may be NULL
 *
 * The connection has one remote. It offers its events and hypercalls, and snapshots of its rings by
 * hyptrace_reader_open_snapshot_on(). All else fails with EOPNOTSUPP.
 *
 * Return: the connection, for hyptrace_close(), or NULL. The errno is ENOENT if the machine had no
 * hyptrace, EBADMSG if what it has left is damaged.
 */
struct hyptrace *hyptrace_open_dump(const char *path, const char *remote, hyptrace_note_fn note,
				    void *arg, struct hyptrace_error *err)
{
	struct hyptrace *h = calloc(1, sizeof(*h));
	struct dump *d = calloc(1, sizeof(*d));
	int found;

	if (!h || !d) {
		free(d);
		free(h);
		return hyptrace_error_null(hyptrace_error_memory(err));
	}
	h->backend = &backend;
	h->backend_arg = d;
	d->note = note;
	d->note_arg = arg;
	d->pages_left = LIST_PAGES_MAX;
	d->mem = hyptrace_memory_open(path, err);
	found = d->mem ? hyptrace_memory_find(d->mem, &d->page) : 0;
	if (found == -EBADMSG)
		hyptrace_error_set(err, EBADMSG, "\"%s\": the page by which hyptrace describes its rings is damaged, or was just being changed",
				   path);
	else if (found == -ENOMEM)
		hyptrace_error_memory(err);
	else if (found && d->mem->missing)
		hyptrace_error_set(err, ENOENT, "\"%s\" has nothing of hyptrace: the file was cut, %llu bytes of memory are missing at its end",
				   path, (unsigned long long)d->mem->missing);
	else if (found)
		hyptrace_error_set(err, ENOENT, "\"%s\" has nothing of hyptrace: its driver was not loaded, or is another version, or its pages are not in the dump",
				   path);
	else if (d->mem && !choose(d, remote, err) && !read_text(d, err) && !read_rings(d, err) &&
		 !check_size(h, d, err))
		return h;
	hyptrace_close(h);
	return NULL;
}
