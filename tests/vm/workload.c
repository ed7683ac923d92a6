// SPDX-License-Identifier: GPL-2.0-only
/*
 * A KVM guest of some instructions whose exits are known: usage() has them. For the tests and
 * the demo.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <linux/kvm.h>

#define GUEST_RAM	0x80000000ULL	/* address of its code */
#define GUEST_RAM_SIZE	0x10000		/* one page, whatever its size */
#define GUEST_DEVICE	0x1000ULL	/* an address without memory or device */

/* KVM_VM_TYPE_ARM_PROTECTED of newer kernels */
#define PROTECTED_VM	(1UL << 31)

/* A signal ends a WFI of the guest. */
#define TIMER_US	1000

/* 2^32 divided by the golden ratio: Knuth, The Art of Computer Programming, volume 3, 6.4 */
#define HASH		2654435761u

/* No store for two such periods: the guest hangs. Tests wait 30 s. */
#define PERIOD_S	10

#define CORE_REG(field) \
	(KVM_REG_ARM64 | KVM_REG_SIZE_U64 | KVM_REG_ARM_CORE | KVM_REG_ARM_CORE_REG(field))

/*
 * x19: the device, x20: PSCI calls to make, x21: PSCI calls that were answered, x22:
 * floating-point instructions, x23: reads, x24: WFIs, x25: rounds, x26: whether to run AArch32
 * code. They come from the memory behind the code, since Android sets no register of a protected
 * guest but the program counter and x0. KVM returns PSCI results in x0 to x3.
 */
asm(".pushsection .rodata\n"
    ".balign 8\n"
    "guest_code:\n"
    "	mov	x0, #(3 << 20)\n"	/* no trap of floating point to the guest itself */
    "	msr	cpacr_el1, x0\n"
    "	isb\n"
    "	adr	x0, guest_code_end\n"
    "	ldp	x19, x20, [x0]\n"
    "	ldp	x21, x22, [x0, #16]\n"
    "	ldp	x23, x24, [x0, #32]\n"
    "	ldp	x25, x26, [x0, #48]\n"
    "0:	cbz	x20, 1f\n"
    "	mov	w0, #0x84000000\n"	/* PSCI_VERSION */
    "	hvc	#0\n"
    "	tbnz	w0, #31, 1f\n"		/* an error is negative */
    "	add	x21, x21, #1\n"
    "	sub	x20, x20, #1\n"
    "	b	0b\n"
    "1:	cbz	x22, 2f\n"
    "	fmov	d0, xzr\n"
    "	mov	w0, #0x84000000\n"
    "	hvc	#0\n"
    "	tbnz	w0, #31, 2f\n"
    "	add	x21, x21, #1\n"
    "	sub	x22, x22, #1\n"
    "	b	1b\n"
    "2:	cbz	x23, 3f\n"
    "	mrs	x0, id_aa64isar0_el1\n"
    "	sub	x23, x23, #1\n"
    "	b	2b\n"
    "3:	cbz	x24, 4f\n"
    "	wfi\n"
    "	sub	x24, x24, #1\n"
    "	b	3b\n"
    "4:	cbz	x25, 5f\n"
    "	sub	x25, x25, #1\n"
    "	b	4b\n"
    "5:	cbnz	x26, 6f\n"
    "	str	x21, [x19]\n"
    "	b	5b\n"
    "6:	adr	x0, 7f\n"
    "	msr	elr_el1, x0\n"
    "	mov	x0, #0x1d0\n"		/* AArch32, user mode, all interrupts masked */
    "	msr	spsr_el1, x0\n"
    "	eret\n"
    "7:	.inst	0xeafffffe\n"		/* b 7b, in A32 */
    ".balign 8\n"
    "guest_code_end:\n"
    ".popsection\n");

/* Hidden, so that they need no entry in the global offset table: the linker mixes those up. */
extern const char guest_code[] __attribute__((visibility("hidden")));
extern const char guest_code_end[] __attribute__((visibility("hidden")));

/* What the guest is to do */
struct work {
	unsigned long mmio, psci, fp, sysreg, wfi, spin;
	bool protected, vary, aarch32;
};

struct guest {
	int vcpu;
	struct kvm_run *run;
};

static volatile sig_atomic_t periods;

static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *format, ...)
{
	int error = errno;
	va_list args;

	fputs("workload: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	if (error)
		fprintf(stderr, ": %s", strerror(error));
	fputc('\n', stderr);
	exit(EXIT_FAILURE);
}

static int kvm_ioctl(int fd, unsigned long request, void *argument, const char *what)
{
	int ret = ioctl(fd, request, argument);

	if (ret < 0)
		die("KVM refuses %s", what);
	return ret;
}

static void set_reg(int vcpu, uint64_t id, uint64_t value)
{
	struct kvm_one_reg reg = { .id = id, .addr = (uintptr_t)&value };

	kvm_ioctl(vcpu, KVM_SET_ONE_REG, &reg, "to set a register");
}

static struct guest guest_create(const struct work *work)
{
	struct kvm_userspace_memory_region ram = {
		.guest_phys_addr = GUEST_RAM,
		.memory_size = GUEST_RAM_SIZE,
	};
	/* x19 to x26, see above; a new vCPU is little-endian */
	const uint64_t values[] = {
		htole64(GUEST_DEVICE), htole64(work->psci), 0, htole64(work->fp),
		htole64(work->sysreg), htole64(work->wfi), htole64(work->spin),
		htole64(work->aarch32),
	};
	struct kvm_vcpu_init init;
	struct guest guest;
	int kvm, vm, run_size;
	char *memory;

	kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (kvm < 0)
		die("cannot open /dev/kvm");
	vm = ioctl(kvm, KVM_CREATE_VM, work->protected ? PROTECTED_VM : 0UL);
	if (vm < 0)
		die("KVM refuses a virtual machine");

	memory = mmap(NULL, GUEST_RAM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (memory == MAP_FAILED)
		die("no memory for the guest");
	memcpy(memory, guest_code, guest_code_end - guest_code);
	memcpy(memory + (guest_code_end - guest_code), values, sizeof(values));
	__builtin___clear_cache(memory, memory + GUEST_RAM_SIZE);
	ram.userspace_addr = (uintptr_t)memory;
	kvm_ioctl(vm, KVM_SET_USER_MEMORY_REGION, &ram, "the guest's memory");

	guest.vcpu = ioctl(vm, KVM_CREATE_VCPU, 0UL);
	if (guest.vcpu < 0)
		die("KVM refuses a vCPU");
	run_size = kvm_ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, NULL, "to tell the size of kvm_run");
	guest.run = mmap(NULL, run_size, PROT_READ | PROT_WRITE, MAP_SHARED, guest.vcpu, 0);
	if (guest.run == MAP_FAILED)
		die("cannot map kvm_run");

	kvm_ioctl(vm, KVM_ARM_PREFERRED_TARGET, &init, "to name a CPU model");
	init.features[0] |= 1U << KVM_ARM_VCPU_PSCI_0_2;
	kvm_ioctl(guest.vcpu, KVM_ARM_VCPU_INIT, &init, "to set up the vCPU");
	set_reg(guest.vcpu, CORE_REG(regs.pc), GUEST_RAM);
	return guest;
}

static uint64_t get_reg(int vcpu, uint64_t id)
{
	uint64_t value;
	struct kvm_one_reg reg = { .id = id, .addr = (uintptr_t)&value };

	kvm_ioctl(vcpu, KVM_GET_ONE_REG, &reg, "to tell a register");
	return value;
}

/* Say what a guest does that has made no store for long. */
static void __attribute__((noreturn)) die_of_hang(const struct guest *guest, unsigned long ioctls)
{
	uint64_t pc, calls, answered;

	/* the registers of a protected guest are refused */
	fprintf(stderr, "workload: no store for %u s: %lu KVM_RUN\n", PERIOD_S, ioctls);
	pc = get_reg(guest->vcpu, CORE_REG(regs.pc));
	calls = get_reg(guest->vcpu, CORE_REG(regs.regs[20]));
	answered = get_reg(guest->vcpu, CORE_REG(regs.regs[21]));
	errno = 0;
	die("pc=%#llx, %lld PSCI calls to make, %llu answered", (unsigned long long)pc,
	    (long long)calls, (unsigned long long)answered);
}

/* Run to the next store to the device. Return the value: the PSCI calls that were answered. */
static uint64_t guest_run(const struct guest *guest, unsigned long *ioctls)
{
	const struct kvm_run *run = guest->run;
	const sig_atomic_t begin = periods;
	uint64_t stored;
	int ret;

	do {
		++*ioctls;
		ret = ioctl(guest->vcpu, KVM_RUN, 0UL);
		if (ret < 0 && periods - begin > 1)
			die_of_hang(guest, *ioctls);
	} while (ret < 0 && errno == EINTR);
	if (ret < 0)
		die("KVM cannot run the vCPU");
	errno = 0;
	if (run->exit_reason != KVM_EXIT_MMIO || !run->mmio.is_write ||
	    run->mmio.phys_addr != GUEST_DEVICE || run->mmio.len != sizeof(stored))
		die("the guest did not exit by its store: KVM exit reason %u",
		    run->exit_reason);
	memcpy(&stored, run->mmio.data, sizeof(stored));
	/* A new vCPU is little-endian, on a big-endian host too. */
	return le64toh(stored);
}

/* Run until EL2 finds the guest in AArch32 state, which a protected guest must not have. */
static void guest_run_aarch32(const struct guest *guest, unsigned long *ioctls)
{
	const sig_atomic_t begin = periods;
	int ret;

	do {
		++*ioctls;
		ret = ioctl(guest->vcpu, KVM_RUN, 0UL);
	} while (ret < 0 && errno == EINTR && periods - begin <= 1);
	if (ret >= 0 || errno != EINVAL || guest->run->exit_reason != KVM_EXIT_FAIL_ENTRY)
		die("KVM has not stopped the guest: %d, KVM exit reason %u", ret,
		    guest->run->exit_reason);
}

static void pin(unsigned long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (cpu >= CPU_SETSIZE) {
		errno = 0;
		die("there is no CPU %lu", cpu);
	}
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("cannot run on CPU %lu", cpu);
}

static unsigned long number(const char *text, const char *what)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 0);
	if (errno || end == text || *end || *text == '-') {
		errno = 0;
		die("%s: \"%s\" is not a number", what, text);
	}
	return value;
}

static void ignore(int signal __attribute__((unused)))
{
}

static void count(int signal __attribute__((unused)))
{
	periods++;
}

/* Count periods. They are long: a guest that runs as it should does not exit because of them. */
static void start_periods(void)
{
	const struct itimerspec period = {
		.it_interval.tv_sec = PERIOD_S, .it_value.tv_sec = PERIOD_S,
	};
	const struct sigaction action = { .sa_handler = count };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	timer_t timer;

	if (sigaction(SIGUSR1, &action, NULL) || timer_create(CLOCK_MONOTONIC, &event, &timer) ||
	    timer_settime(timer, 0, &period, NULL))
		die("no timer");
}

/* Interrupt system calls periodically. */
static void start_timer(void)
{
	const struct itimerval period = {
		.it_interval.tv_usec = TIMER_US, .it_value.tv_usec = TIMER_US,
	};
	const struct sigaction action = { .sa_handler = ignore };

	if (sigaction(SIGALRM, &action, NULL) || setitimer(ITIMER_REAL, &period, NULL))
		die("no timer");
}

/*
 * Spend a time after each store that looks random. With the same time, or with one that grows by
 * steps, the machine's ticks can stay in step with the stores: then more of them, or fewer,
 * interrupt the guest.
 */
static void vary(unsigned long exits)
{
	unsigned long left;

	for (left = (uint32_t)(exits * HASH) >> 24; left; left--)
		asm volatile("");
}

static void __attribute__((noreturn)) usage(FILE *f)
{
	fputs("Usage: workload [OPTION...]\n"
	      "Run a small KVM guest whose exits are known: it does, in this order,\n"
	      "  --psci N     PSCI calls, which the host's kernel answers (1000)\n"
	      "  --fp N       floating-point instructions, each followed by a PSCI call\n"
	      "  --sysreg N   reads of an ID register, which the host's kernel emulates\n"
	      "  --wfi N      WFI: it waits until a timer of this program interrupts the wait\n"
	      "  --spin N     rounds of a loop, so that interrupts of the host come while it runs\n"
	      "  --mmio N     stores to a device that does not exist, which exit to user space (1000)\n"
	      "and the host\n"
	      "  --cpu N      runs it on this CPU\n"
	      "  --protected  makes a protected VM of it\n"
	      "  --aarch32    has it run AArch32 code instead of stores, for which EL2 stops a protected VM\n"
	      "  --vary       spends a different time after each store\n"
	      "--mmio must be at least 1: without a store the guest would never exit to user space.\n",
	      f);
	exit(f == stdout ? EXIT_SUCCESS : EXIT_FAILURE);
}

static void parse(int argc, char **argv, struct work *work)
{
	static const struct option options[] = {
		{ "cpu", required_argument, NULL, 'c' },
		{ "mmio", required_argument, NULL, 'm' },
		{ "psci", required_argument, NULL, 'p' },
		{ "fp", required_argument, NULL, 'f' },
		{ "sysreg", required_argument, NULL, 's' },
		{ "wfi", required_argument, NULL, 'w' },
		{ "spin", required_argument, NULL, 'S' },
		{ "protected", no_argument, NULL, 'P' },
		{ "vary", no_argument, NULL, 'V' },
		{ "aarch32", no_argument, NULL, 'A' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'c':
			pin(number(optarg, "--cpu"));
			break;
		case 'm':
			work->mmio = number(optarg, "--mmio");
			break;
		case 'p':
			work->psci = number(optarg, "--psci");
			break;
		case 'f':
			work->fp = number(optarg, "--fp");
			break;
		case 's':
			work->sysreg = number(optarg, "--sysreg");
			break;
		case 'w':
			work->wfi = number(optarg, "--wfi");
			break;
		case 'S':
			work->spin = number(optarg, "--spin");
			break;
		case 'P':
			work->protected = true;
			break;
		case 'V':
			work->vary = true;
			break;
		case 'A':
			work->aarch32 = true;
			break;
		case 'h':
			usage(stdout);
		default:
			usage(stderr);
		}
	}
	if (optind < argc || !work->mmio)
		usage(stderr);
}

int main(int argc, char **argv)
{
	struct work work = { .mmio = 1000, .psci = 1000 };
	unsigned long exits, ioctls = 0;
	uint64_t answered = 0;
	struct guest guest;

	parse(argc, argv, &work);
	guest = guest_create(&work);
	start_periods();
	if (work.wfi)
		start_timer();
	if (work.aarch32) {
		guest_run_aarch32(&guest, &ioctls);
		printf("run_ioctls=%lu vcpu_pid=%d\n", ioctls, gettid());
		return EXIT_SUCCESS;
	}
	for (exits = 0; exits < work.mmio; exits++) {
		answered = guest_run(&guest, &ioctls);
		if (work.vary)
			vary(exits);
	}
	errno = 0;
	if (answered != work.psci + work.fp)
		die("KVM answered %llu of %lu PSCI calls", (unsigned long long)answered,
		    work.psci + work.fp);
	printf("mmio_exits=%lu psci_calls=%lu run_ioctls=%lu vcpu_pid=%d\n", exits,
	       work.psci + work.fp, ioctls, gettid());
	return EXIT_SUCCESS;
}
