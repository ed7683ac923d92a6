// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading the modules, with each fault: the first allocation, or copy from user space, fails, then
 * the second, and so on until none is left. A module that does not load has left nothing behind.
 * One that loads works. If its parameter "trace" describes a trace of the boot, that is on, or the
 * log says that it is not. The rings of EL2 are loaded with faults of allocations. The log of the
 * kernel must have no warning.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "kselftest_harness.h"
#include "control.h"
#include "counters.h"
#include "fault.h"
#include "kmsg.h"
#include "module.h"
#include "page.h"

/* Far more than a load needs */
#define MOST_FAULTS	20000
/* The kernel fills its caches now and then, so one round does not reach each allocation. */
#define ROUNDS		3
#define PATIENCE_S	600
#define REMOTE		"test"
#define TRACE		"trace=selftest,hyp_enter:size=64K:stop=hyp_exit:filter=id==7"

FIXTURE(fail_load) {
	unsigned int nr_failed;
	unsigned int nr_loaded;
};

static bool is_loaded(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/module/%s", name);
	return !access(path, F_OK);
}

static void unload_all(void)
{
	static const char *const names[] = {
		"hyptrace_kernel", "hyptrace_pkvm", "hyptrace_test", "hyptrace",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (module_unload(names[i]))
			abort();
	}
}

/* The kernel loads the driver by itself when somebody asks for its family: not here. */
static void set_modprobe(const char *path)
{
	const int fd = open("/proc/sys/kernel/modprobe", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, path, strlen(path)) != (ssize_t)strlen(path))
		abort();
	close(fd);
}

FIXTURE_SETUP(fail_load)
{
	if (!fault_init(true))
		SKIP(return, "this kernel cannot inject faults");
	unload_all();
	set_modprobe("\n");
}

FIXTURE_TEARDOWN(fail_load)
{
	fault_end();
	set_modprobe("/sbin/modprobe");
}

/* A module as it is in its file */
struct image {
	const char	*name;
	void		*data;
	size_t		size;
};

static bool read_image(const char *name, struct image *image)
{
	char command[64], path[256];
	struct stat stat;
	FILE *pipe;
	bool done;
	int fd;

	snprintf(command, sizeof(command), "modinfo -n %s", name);
	pipe = popen(command, "r");
	done = pipe && fgets(path, sizeof(path), pipe);
	if (pipe)
		pclose(pipe);
	if (!done)
		return false;
	path[strcspn(path, "\n")] = 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &stat))
		return false;
	image->name = name;
	image->size = stat.st_size;
	image->data = malloc(image->size);
	done = image->data && read(fd, image->data, image->size) == (ssize_t)image->size;
	close(fd);
	return done;
}

/* Return what is wrong with what a load has left behind, or NULL. */
static const char *look_at_driver(bool is_there, int kmsg)
{
	struct nl nl;
	int err = nl_open(&nl);

	if (!err)
		nl_close(&nl);
	if (is_there != !access("/dev/hyptrace", F_OK))
		return is_there ? "there is no device" : "the device is left";
	if (is_there)
		return err ? "there is no family" : NULL;
	return err != -ENOENT ? "the family is left" : NULL;
}

/* Return all that the log has since the last call. */
static const char *new_log(int kmsg)
{
	static char text[65536];
	size_t used = 0;
	ssize_t len;

	while ((len = read(kmsg, text + used, sizeof(text) - 1 - used)) > 0 ||
	       (len < 0 && errno == EPIPE))
		used += len > 0 ? len : 0;
	text[used] = 0;
	return text;
}

/* The trace of the boot is as without a fault, or the log says what is not. */
static const char *look_at_remote(bool is_there, int kmsg)
{
	const char *log = new_log(kmsg), *not_traced = strstr(log, "\"" REMOTE "\" is not traced");
	static struct snapshot expected, found;
	struct info info;
	struct nl nl;
	int err = nl_open(&nl);

	if (err)
		return "there is no family";
	err = control_info(&nl, REMOTE, &info) ?: snapshot_of_any_load(&nl, &found);
	nl_close(&nl);
	if (!is_there)
		return err == -ENODEV ? NULL : "the remote is left";
	if (err)
		return "there is no remote";
	if (info.state == HYPTRACE_STATE_UNLOADED)
		return not_traced && strstr(not_traced, ": not enough free memory") ? NULL :
		       "the log does not say why the boot is not traced";
	if (not_traced)
		return "the log says that the boot is not traced";
	if (info.state != HYPTRACE_STATE_TRACING)
		return "the trace of the boot has stopped half way";
	/* The first load is without a fault. */
	if (!expected.len)
		expected = found;
	return snapshot_equal(&expected, &found) || strstr(log, "remote \"" REMOTE "\"") ? NULL :
	       "the log does not say what is missing of the trace of the boot";
}

static void sweep(struct __test_metadata *_metadata, struct _test_data_fail_load *self,
		  const char *name, const char *args,
		  const char *(*look)(bool is_there, int kmsg))
{
	const int kmsg = log_open();
	struct image image = {};
	unsigned int nth, round = 0;

	ASSERT_LE(0, kmsg);
	ASSERT_TRUE(read_image(name, &image));
	/* A module needs some memory of its own when it is loaded for the first time. */
	for (nth = 0; round < ROUNDS && nth < MOST_FAULTS; nth++) {
		const char *wrong;
		bool failed;
		int err;

		log_has(kmsg, "");
		fault_begin(nth);
		err = syscall(SYS_init_module, image.data, image.size, args) ? errno : 0;
		failed = fault_end() || !nth;
		EXPECT_TRUE(!err || err == ENOMEM || err == EFAULT)
			TH_LOG("%s, fault %u: %s", name, nth, strerror(err));
		EXPECT_EQ(!err, is_loaded(name));
		wrong = look(!err, kmsg);
		EXPECT_EQ(NULL, wrong) TH_LOG("%s, fault %u: %s (%d)", name, nth, wrong, err);
		if (failed && nth)
			(*(err ? &self->nr_failed : &self->nr_loaded))++;
		if (!err)
			ASSERT_EQ(0, module_unload(name));
		if (!failed) {
			round++;
			nth = 0;
		}
	}
	EXPECT_LT(nth, MOST_FAULTS);
	EXPECT_NE(0, self->nr_failed);
	free(image.data);
	close(kmsg);
}

TEST_F_TIMEOUT(fail_load, driver, PATIENCE_S)
{
	sweep(_metadata, self, "hyptrace", "", look_at_driver);
	printf("# tried: %u faults of loading the driver, which failed, and %u, which did not\n",
	       self->nr_failed, self->nr_loaded);
}

TEST_F_TIMEOUT(fail_load, remote_and_its_trace_of_the_boot, PATIENCE_S)
{
	ASSERT_EQ(0, system("modprobe hyptrace"));
	sweep(_metadata, self, "hyptrace_test", TRACE, look_at_remote);
	printf("# tried: %u faults of loading the remote, which failed, and %u, which did not\n",
	       self->nr_failed, self->nr_loaded);
}

/* The rings of EL2. Without a hypervisor, test_fail_nth.c loads those of the remote "test". */
FIXTURE(fail_rings) {
	struct nl nl;
};

FIXTURE_VARIANT(fail_rings) {
	const char *module;
	const char *remote;
};

FIXTURE_VARIANT_ADD(fail_rings, hypervisor) { "hyptrace_pkvm", "hypervisor" };
/* mainline's own tracer at EL2 */
FIXTURE_VARIANT_ADD(fail_rings, hypervisor_kernel) { "hyptrace_kernel", "kernel" };

FIXTURE_SETUP(fail_rings)
{
	unload_all();
	ASSERT_EQ(0, module_load("hyptrace", ""));
	if (!fault_init(false) || module_load(variant->module, ""))
		SKIP(return, "this kernel cannot inject faults, or has no such module");
	ASSERT_EQ(0, nl_open(&self->nl));
}

FIXTURE_TEARDOWN(fail_rings)
{
	fault_end();
	nl_close(&self->nl);
	EXPECT_EQ(0, module_unload(variant->module));
}

TEST_F_TIMEOUT(fail_rings, of_el2, PATIENCE_S)
{
	unsigned int nth, nr_failed = 0;
	bool failed = true;
	struct info info;
	int err;

	for (nth = 1; failed && nth < MOST_FAULTS; nth++) {
		fault_begin(nth);
		err = control_load(&self->nl, variant->remote, 16 * PAGE, HYPTRACE_MODE_OVERWRITE);
		failed = fault_end();
		nr_failed += !!err;
		EXPECT_TRUE(!err || err == -ENOMEM || err == -ENOBUFS)
			TH_LOG("fault %u: %s", nth, strerror(-err));
		ASSERT_EQ(0, control_info(&self->nl, variant->remote, &info));
		/* of -ENOBUFS, the answer is lost only */
		EXPECT_TRUE(info.state == (err ? HYPTRACE_STATE_UNLOADED : HYPTRACE_STATE_LOADED) ||
			    err == -ENOBUFS)
			TH_LOG("fault %u: %s", nth, strerror(-err));
		ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_UNLOAD, variant->remote));
	}
	EXPECT_FALSE(failed);
	EXPECT_LT(0, nr_failed);
}

/* Without a PMU, or by a remote that cannot use it, each request is refused. */
TEST_F_TIMEOUT(fail_rings, pmu_of_el2, PATIENCE_S)
{
	const uint32_t cycles = 0x11;
	char message[COUNTER_MESSAGE];
	bool failed = true;
	unsigned int nth;
	int err, usual;

	counters_remote = variant->remote;
	usual = counters_measure(&self->nl, "hyp_enter", &cycles, 1, message);
	EXPECT_TRUE(!usual || usual == -EOPNOTSUPP);
	counters_hold(&self->nl, "hyp_enter", false);
	for (nth = 1; failed && nth < MOST_FAULTS; nth++) {
		fault_begin(nth);
		err = counters_measure(&self->nl, "hyp_enter", &cycles, 1, message);
		failed = fault_end();
		EXPECT_TRUE(err == usual || (failed && (err == -ENOMEM || err == -ENOBUFS)))
			TH_LOG("fault %u: %s (%s)", nth, strerror(-err), message);
		/* It may have been done, and its answer lost. */
		counters_hold(&self->nl, "hyp_enter", false);
	}
	EXPECT_FALSE(failed);
}

TEST_HARNESS_MAIN
