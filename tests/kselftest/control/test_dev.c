// SPDX-License-Identifier: GPL-2.0-only
/* /dev/hyptrace: open(), HYPTRACE_IOC_ATTACH, and the calls that must fail. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "page.h"
#include "privilege.h"
#include "remotes.h"

REMOTE_FIXTURE(dev);

/* Return the errno of the ioctl, or 0 if it succeeds. */
static int ioctl_errno(int fd, unsigned long request, void *argument)
{
	return ioctl(fd, request, argument) ? errno : 0;
}

static struct hyptrace_attach request_for(const char *remote)
{
	struct hyptrace_attach request = { .size = sizeof(request) };

	snprintf(request.remote, sizeof(request.remote), "%s", remote);
	return request;
}

static int open_device(void)
{
	return open(DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
}

TEST_F(dev, attach_returns_the_layout)
{
	struct hyptrace_attach request = request_for(variant->remote);
	struct info info;
	int fd = open_device();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl_errno(fd, HYPTRACE_IOC_ATTACH, &request));
	ASSERT_EQ(0, control_info(&self->nl, variant->remote, &info));
	EXPECT_EQ(sizeof(request), request.size);
	EXPECT_EQ(PAGE, request.subbuf_size);
	EXPECT_EQ(info.nr_subbufs, request.nr_subbufs);
	EXPECT_EQ(info.size_allocated / PAGE + 1, request.nr_subbufs);
	EXPECT_EQ(HYPTRACE_STATE_LOADED, info.state);
	EXPECT_EQ(1, info.readers);
	EXPECT_EQ(0, close(fd));
	EXPECT_UNLOADED();
}

TEST_F(dev, attach_to_all_cpus_returns_no_nr_subbufs)
{
	struct hyptrace_attach request = request_for(variant->remote);
	int fd = open_device();

	request.cpu = HYPTRACE_CPU_ALL;
	ASSERT_EQ(0, ioctl_errno(fd, HYPTRACE_IOC_ATTACH, &request));
	EXPECT_EQ(PAGE, request.subbuf_size);
	EXPECT_EQ(0, request.nr_subbufs);
	EXPECT_EQ(0, close(fd));
	EXPECT_UNLOADED();
}

TEST_F(dev, attach_checks_the_size_of_its_struct)
{
	struct {
		struct hyptrace_attach attach;
		uint64_t extra[16];
	} request = { .attach = request_for(variant->remote) };
	static const uint32_t small[] = { 0, 1, 4, sizeof(request.attach) - 1 };
	unsigned int i;
	int fd = open_device();

	for (i = 0; i < ARRAY_SIZE(small); i++) {
		request.attach.size = small[i];
		EXPECT_EQ(EINVAL, ioctl_errno(fd, HYPTRACE_IOC_ATTACH, &request))
			TH_LOG("size %u", small[i]);
	}

	request.attach.size = sizeof(request);
	request.extra[15] = 1ULL << 63;
	EXPECT_EQ(E2BIG, ioctl_errno(fd, HYPTRACE_IOC_ATTACH, &request));
	request.extra[15] = 0;
	*(uint8_t *)request.extra = 1;
	EXPECT_EQ(E2BIG, ioctl_errno(fd, HYPTRACE_IOC_ATTACH, &request));
	request.attach.size = sizeof(request.attach) + 1;
	EXPECT_EQ(E2BIG, ioctl_errno(fd, HYPTRACE_IOC_ATTACH, &request));
	EXPECT_UNLOADED();

	/* A caller newer than the kernel uses none of its new fields. */
	request.extra[0] = 0;
	request.attach.size = sizeof(request);
	EXPECT_EQ(0, ioctl_errno(fd, HYPTRACE_IOC_ATTACH, &request));
	EXPECT_EQ(PAGE, request.attach.subbuf_size);
	EXPECT_EQ(0, request.extra[0]);
	close(fd);
	EXPECT_UNLOADED();
}

TEST_F(dev, attach_takes_a_struct_of_a_page_at_most)
{
	struct hyptrace_attach *request = calloc(2, PAGE);
	int fd = open_device();

	ASSERT_NE(NULL, request);
	*request = request_for(variant->remote);
	request->size = PAGE + 1;
	EXPECT_EQ(E2BIG, ioctl_errno(fd, HYPTRACE_IOC_ATTACH, request));
	EXPECT_UNLOADED();
	request->size = PAGE;
	EXPECT_EQ(0, ioctl_errno(fd, HYPTRACE_IOC_ATTACH, request));
	close(fd);
}

TEST_F(dev, attach_fails_if_the_new_fields_are_not_mapped)
{
	char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	struct hyptrace_attach *request = (void *)(pages + PAGE - sizeof(*request));
	int fd = open_device();

	ASSERT_NE(MAP_FAILED, pages);
	ASSERT_EQ(0, mprotect(pages + PAGE, PAGE, PROT_NONE));
	*request = request_for(variant->remote);
	request->size = sizeof(*request) + 8;
	EXPECT_EQ(EFAULT, ioctl_errno(fd, HYPTRACE_IOC_ATTACH, request));
	request->size = PAGE;
	EXPECT_EQ(EFAULT, ioctl_errno(fd, HYPTRACE_IOC_ATTACH, request));
	/* Larger than any struct: refused without reading the memory. */
	request->size = UINT32_MAX;
	EXPECT_EQ(E2BIG, ioctl_errno(fd, HYPTRACE_IOC_ATTACH, request));
	request->size = sizeof(*request);
	EXPECT_EQ(0, ioctl_errno(fd, HYPTRACE_IOC_ATTACH, request));
	close(fd);
	EXPECT_UNLOADED();
}

TEST_F(dev, attach_refuses_bad_pointers)
{
	struct hyptrace_attach *half;
	char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	int fd = open_device();

	ASSERT_NE(MAP_FAILED, pages);
	EXPECT_EQ(EFAULT, ioctl_errno(fd, HYPTRACE_IOC_ATTACH, NULL));
	EXPECT_EQ(EFAULT, ioctl_errno(fd, HYPTRACE_IOC_ATTACH, (void *)-1L));
	EXPECT_EQ(EFAULT, ioctl_errno(fd, HYPTRACE_IOC_ATTACH, (void *)(1UL << 55)));

	/* The field size is mapped, the rest of the struct is not. */
	ASSERT_EQ(0, mprotect(pages + PAGE, PAGE, PROT_NONE));
	half = (void *)(pages + PAGE - sizeof(half->size));
	half->size = sizeof(*half);
	EXPECT_EQ(EFAULT, ioctl_errno(fd, HYPTRACE_IOC_ATTACH, half));
	EXPECT_UNLOADED();
	close(fd);
}

TEST_F(dev, attach_refuses_unknown_flags_and_reserved_bits)
{
	struct hyptrace_attach request;
	unsigned int bit;
	int fd = open_device();

	for (bit = 0; bit < 32; bit++) {
		request = request_for(variant->remote);
		request.flags = 1U << bit;
		/* A known flag, but a snapshot of all CPUs is refused. */
		if (request.flags == HYPTRACE_ATTACH_SNAPSHOT)
			request.cpu = HYPTRACE_CPU_ALL;
		EXPECT_EQ(EINVAL, ioctl_errno(fd, HYPTRACE_IOC_ATTACH, &request));
		request = request_for(variant->remote);
		request.reserved = 1U << bit;
		EXPECT_EQ(EINVAL, ioctl_errno(fd, HYPTRACE_IOC_ATTACH, &request));
	}
	EXPECT_UNLOADED();
	close(fd);
}

TEST_F(dev, attach_refuses_unknown_remote_names)
{
	struct hyptrace_attach request = request_for(variant->remote);
	int fd = open_device();

	memset(request.remote, 'x', sizeof(request.remote));
	EXPECT_EQ(EINVAL, ioctl_errno(fd, HYPTRACE_IOC_ATTACH, &request));
	request.remote[sizeof(request.remote) - 1] = 0;
	EXPECT_EQ(ENODEV, ioctl_errno(fd, HYPTRACE_IOC_ATTACH, &request));
	request = request_for("");
	EXPECT_EQ(ENODEV, ioctl_errno(fd, HYPTRACE_IOC_ATTACH, &request));
	request = request_for("no-such");
	EXPECT_EQ(ENODEV, ioctl_errno(fd, HYPTRACE_IOC_ATTACH, &request));
	/* A prefix of a name is refused. */
	request = request_for(variant->remote);
	request.remote[strlen(variant->remote) - 1] = 0;
	EXPECT_EQ(ENODEV, ioctl_errno(fd, HYPTRACE_IOC_ATTACH, &request));
	EXPECT_UNLOADED();
	close(fd);
}

TEST_F(dev, attach_refuses_unknown_cpus)
{
	struct hyptrace_attach request = request_for(variant->remote);
	const int32_t bad[] = { -2, INT32_MIN, INT32_MAX, 1 << 16, 4096,
				sysconf(_SC_NPROCESSORS_CONF) };
	unsigned int i;
	int fd = open_device();

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		request.cpu = bad[i];
		EXPECT_EQ(ENXIO, ioctl_errno(fd, HYPTRACE_IOC_ATTACH, &request))
			TH_LOG("CPU %d", bad[i]);
	}
	EXPECT_UNLOADED();
	close(fd);
}

TEST_F(dev, a_ring_has_one_consumer)
{
	struct hyptrace_attach request = request_for(variant->remote);
	int first = open_device(), second = open_device(), all = open_device();

	ASSERT_EQ(0, attach(first, variant->remote, 0, NULL));
	EXPECT_EQ(-EBUSY, attach(second, variant->remote, 0, NULL));
	EXPECT_EQ(-EBUSY, attach(all, variant->remote, HYPTRACE_CPU_ALL, NULL));
	/* A refused descriptor can still be attached to a free ring. */
	EXPECT_EQ(0, attach(second, variant->remote, 1, NULL));
	EXPECT_EQ(-EISCONN, attach(first, variant->remote, 0, NULL));
	EXPECT_EQ(-EISCONN, attach(first, variant->remote, 1, NULL));
	request.flags = HYPTRACE_ATTACH_SNAPSHOT << 1;
	EXPECT_EQ(EINVAL, ioctl_errno(first, HYPTRACE_IOC_ATTACH, &request));

	close(first);
	close(second);
	EXPECT_EQ(0, attach(all, variant->remote, HYPTRACE_CPU_ALL, NULL));
	first = open_device();
	EXPECT_EQ(-EBUSY, attach(first, variant->remote, 0, NULL));
	EXPECT_EQ(-EBUSY, attach(first, variant->remote, 1, NULL));
	close(all);
	EXPECT_EQ(0, attach(first, variant->remote, 0, NULL));
	close(first);
	EXPECT_UNLOADED();
}

TEST_F(dev, cpu_get_names_the_consumer)
{
	struct counts counts;
	int fd = open_attached(variant->remote, 1, 0);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 1, &counts));
	EXPECT_EQ(getpid(), counts.consumer);
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 0, &counts));
	EXPECT_EQ(0, counts.consumer);
	close(fd);
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 1, &counts));
	EXPECT_EQ(0, counts.consumer);
}

/* A kill closes descriptors, too. */
TEST_F(dev, ring_has_a_consumer_until_the_last_copy_is_closed)
{
	int fd = open_device(), other = open_device(), status;
	pid_t child;

	ASSERT_EQ(0, attach(fd, variant->remote, 0, NULL));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		pause();
		_exit(0);
	}
	close(fd);
	EXPECT_EQ(-EBUSY, attach(other, variant->remote, 0, NULL));
	kill(child, SIGKILL);
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, attach(other, variant->remote, 0, NULL));
	close(other);
	EXPECT_UNLOADED();
}

TEST_F(dev, calls_before_attach_fail)
{
	char buffer[64];
	int fd = open_device();
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	EXPECT_EQ(-1, read(fd, buffer, sizeof(buffer)));
	EXPECT_EQ(ENOTCONN, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0));
	EXPECT_EQ(ENOTCONN, errno);
	EXPECT_EQ(ENOTCONN, ioctl_errno(fd, TRACE_MMAP_IOCTL_GET_READER, NULL));
	EXPECT_EQ(1, poll(&poll_fd, 1, 5000));
	EXPECT_EQ(POLLERR, poll_fd.revents);
	close(fd);
}

TEST_F(dev, unknown_ioctls_fail)
{
	struct hyptrace_attach request = request_for(variant->remote);
	const unsigned long unknown[] = {
		_IOWR(HYPTRACE_IOC_MAGIC, 0x01, struct hyptrace_attach),
		_IOWR(HYPTRACE_IOC_MAGIC, 0xff, struct hyptrace_attach),
		_IOWR(HYPTRACE_IOC_MAGIC + 1, 0x00, struct hyptrace_attach),
		_IO('R', 0x21),
		0, ~0UL >> 32,
	};
	unsigned int i, attached;
	int fd = open_device();

	for (attached = 0; attached < 2; attached++) {
		for (i = 0; i < ARRAY_SIZE(unknown); i++) {
			unsigned long number = unknown[i];

			EXPECT_EQ(ENOTTY, ioctl_errno(fd, number, &request))
				TH_LOG("ioctl %#lx", number);
		}
		if (!attached)
			ASSERT_EQ(0, attach(fd, variant->remote, 0, NULL));
	}
	close(fd);
}

TEST_F(dev, write_and_seek_fail)
{
	char byte = 0;
	int fd = open_device();

	ASSERT_EQ(0, attach(fd, variant->remote, 0, NULL));
	EXPECT_EQ(-1, write(fd, &byte, 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, lseek(fd, 0, SEEK_SET));
	EXPECT_EQ(ESPIPE, errno);
	EXPECT_EQ(-1, pread(fd, &byte, 1, 0));
	EXPECT_EQ(ESPIPE, errno);
	close(fd);
}

TEST_F(dev, attach_fails_if_there_is_no_memory)
{
	struct info info;
	uint64_t pages = sysconf(_SC_PHYS_PAGES);
	int fd = open_device();
	struct nl_msg *msg = calloc(1, sizeof(*msg));
	struct nl_answer *answer = calloc(1, sizeof(*answer));

	ASSERT_TRUE(msg && answer);
	ASSERT_EQ(0, control_info(&self->nl, variant->remote, &info));
	/* nearly all memory of the machine: more than is free */
	nl_begin(msg, &self->nl, HYPTRACE_CMD_SET);
	nl_put_str(msg, HYPTRACE_A_CONTROL_REMOTE, variant->remote);
	nl_put_u64(msg, HYPTRACE_A_CONTROL_SIZE, (pages / info.nr_cpus - 16) * PAGE);
	ASSERT_EQ(0, nl_do(&self->nl, msg, answer));
	EXPECT_EQ(-ENOMEM, attach(fd, variant->remote, 0, NULL));
	EXPECT_UNLOADED();

	/* The descriptor can still be attached. */
	EXPECT_EQ(0, control_fresh(&self->nl, variant->remote));
	EXPECT_EQ(0, attach(fd, variant->remote, 0, NULL));
	close(fd);
}

/* Each test has its own process, so a dropped capability does not have to come back. */
TEST(cap_perfmon_may_open)
{
	ASSERT_EQ(0, capabilities_keep(CAPABILITY(CAP_PERFMON)));
	EXPECT_LE(0, open_device());
}

TEST(cap_sys_admin_may_open)
{
	ASSERT_EQ(0, capabilities_keep(CAPABILITY(CAP_SYS_ADMIN)));
	EXPECT_LE(0, open_device());
}

TEST(all_other_capabilities_may_not_open)
{
	ASSERT_EQ(0, capabilities_keep(~(CAPABILITY(CAP_SYS_ADMIN) | CAPABILITY(CAP_PERFMON)) &
				       (CAPABILITY(CAP_LAST_CAP + 1) - 1)));
	EXPECT_EQ(-1, open_device());
	EXPECT_EQ(EPERM, errno);
}

TEST(root_without_capabilities_may_not_open)
{
	ASSERT_EQ(0, capabilities_keep(0));
	EXPECT_EQ(-1, open_device());
	EXPECT_EQ(EPERM, errno);
}

TEST(open_needs_file_permission_and_a_capability)
{
	struct stat stat_before;
	int status;
	pid_t child;

	ASSERT_EQ(0, stat(DEVICE, &stat_before));
	EXPECT_TRUE(S_ISCHR(stat_before.st_mode));
	EXPECT_EQ(0600, stat_before.st_mode & 0777);

	child = fork();
	if (!child) {
		if (become_nobody())
			_exit(1);
		_exit(open_device() == -1 && errno == EACCES ? 0 : 2);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);

	ASSERT_EQ(0, chmod(DEVICE, 0666));
	child = fork();
	if (!child) {
		if (become_nobody())
			_exit(1);
		_exit(open_device() == -1 && errno == EPERM ? 0 : 2);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, chmod(DEVICE, stat_before.st_mode & 0777));
}

TEST_HARNESS_MAIN
