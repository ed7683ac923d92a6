// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of values that the driver does not name. For sentence*.c.
 */
#include <stddef.h>

#include "names.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

/* Those of arm64 (asm-generic/errno.h): a record may be printed on another architecture. */
static const char *const errnos[] = {
	[1] = "-EPERM", [2] = "-ENOENT", [3] = "-ESRCH", [4] = "-EINTR", [5] = "-EIO",
	[6] = "-ENXIO", [7] = "-E2BIG", [8] = "-ENOEXEC", [9] = "-EBADF", [10] = "-ECHILD",
	[11] = "-EAGAIN", [12] = "-ENOMEM", [13] = "-EACCES", [14] = "-EFAULT", [15] = "-ENOTBLK",
	[16] = "-EBUSY", [17] = "-EEXIST", [18] = "-EXDEV", [19] = "-ENODEV", [20] = "-ENOTDIR",
	[21] = "-EISDIR", [22] = "-EINVAL", [23] = "-ENFILE", [24] = "-EMFILE", [25] = "-ENOTTY",
	[26] = "-ETXTBSY", [27] = "-EFBIG", [28] = "-ENOSPC", [29] = "-ESPIPE", [30] = "-EROFS",
	[31] = "-EMLINK", [32] = "-EPIPE", [33] = "-EDOM", [34] = "-ERANGE", [35] = "-EDEADLK",
	[36] = "-ENAMETOOLONG", [37] = "-ENOLCK", [38] = "-ENOSYS", [39] = "-ENOTEMPTY",
	[40] = "-ELOOP", [42] = "-ENOMSG", [43] = "-EIDRM", [44] = "-ECHRNG", [45] = "-EL2NSYNC",
	[46] = "-EL3HLT", [47] = "-EL3RST", [48] = "-ELNRNG", [49] = "-EUNATCH", [50] = "-ENOCSI",
	[51] = "-EL2HLT", [52] = "-EBADE", [53] = "-EBADR", [54] = "-EXFULL", [55] = "-ENOANO",
	[56] = "-EBADRQC", [57] = "-EBADSLT", [59] = "-EBFONT", [60] = "-ENOSTR",
	[61] = "-ENODATA", [62] = "-ETIME", [63] = "-ENOSR", [64] = "-ENONET", [65] = "-ENOPKG",
	[66] = "-EREMOTE", [67] = "-ENOLINK", [68] = "-EADV", [69] = "-ESRMNT", [70] = "-ECOMM",
	[71] = "-EPROTO", [72] = "-EMULTIHOP", [73] = "-EDOTDOT", [74] = "-EBADMSG",
	[75] = "-EOVERFLOW", [76] = "-ENOTUNIQ", [77] = "-EBADFD", [78] = "-EREMCHG",
	[79] = "-ELIBACC", [80] = "-ELIBBAD", [81] = "-ELIBSCN", [82] = "-ELIBMAX",
	[83] = "-ELIBEXEC", [84] = "-EILSEQ", [85] = "-ERESTART", [86] = "-ESTRPIPE",
	[87] = "-EUSERS", [88] = "-ENOTSOCK", [89] = "-EDESTADDRREQ", [90] = "-EMSGSIZE",
	[91] = "-EPROTOTYPE", [92] = "-ENOPROTOOPT", [93] = "-EPROTONOSUPPORT",
	[94] = "-ESOCKTNOSUPPORT", [95] = "-EOPNOTSUPP", [96] = "-EPFNOSUPPORT",
	[97] = "-EAFNOSUPPORT", [98] = "-EADDRINUSE", [99] = "-EADDRNOTAVAIL",
	[100] = "-ENETDOWN", [101] = "-ENETUNREACH", [102] = "-ENETRESET",
	[103] = "-ECONNABORTED", [104] = "-ECONNRESET", [105] = "-ENOBUFS", [106] = "-EISCONN",
	[107] = "-ENOTCONN", [108] = "-ESHUTDOWN", [109] = "-ETOOMANYREFS", [110] = "-ETIMEDOUT",
	[111] = "-ECONNREFUSED", [112] = "-EHOSTDOWN", [113] = "-EHOSTUNREACH",
	[114] = "-EALREADY", [115] = "-EINPROGRESS", [116] = "-ESTALE", [117] = "-EUCLEAN",
	[118] = "-ENOTNAM", [119] = "-ENAVAIL", [120] = "-EISNAM", [121] = "-EREMOTEIO",
	[122] = "-EDQUOT", [123] = "-ENOMEDIUM", [124] = "-EMEDIUMTYPE", [125] = "-ECANCELED",
	[126] = "-ENOKEY", [127] = "-EKEYEXPIRED", [128] = "-EKEYREVOKED",
	[129] = "-EKEYREJECTED", [130] = "-EOWNERDEAD", [131] = "-ENOTRECOVERABLE",
	[132] = "-ERFKILL", [133] = "-EHWPOISON",
};

#define KERNEL_ERRNO	512

/* Those that only the kernel uses (linux/errno.h), from KERNEL_ERRNO on */
static const char *const kernel_errnos[] = {
	[0] = "-ERESTARTSYS", [1] = "-ERESTARTNOINTR", [2] = "-ERESTARTNOHAND",
	[3] = "-ENOIOCTLCMD", [4] = "-ERESTART_RESTARTBLOCK", [5] = "-EPROBE_DEFER",
	[6] = "-EOPENSTALE", [7] = "-ENOPARAM", [9] = "-EBADHANDLE", [10] = "-ENOTSYNC",
	[11] = "-EBADCOOKIE", [12] = "-ENOTSUPP", [13] = "-ETOOSMALL", [14] = "-ESERVERFAULT",
	[15] = "-EBADTYPE", [16] = "-EJUKEBOX", [17] = "-EIOCBQUEUED", [18] = "-ERECALLCONFLICT",
	[19] = "-ENOGRACE",
};

/* linux/psci.h */
static const char *const psci_errors[] = {
	[1] = "NOT_SUPPORTED", [2] = "INVALID_PARAMETERS", [3] = "DENIED", [4] = "ALREADY_ON",
	[5] = "ON_PENDING", [6] = "INTERNAL_FAILURE", [7] = "NOT_PRESENT", [8] = "DISABLED",
	[9] = "INVALID_ADDRESS",
};

/* linux/arm_ffa.h */
static const char *const ffa_errors[] = {
	[1] = "NOT_SUPPORTED", [2] = "INVALID_PARAMETERS", [3] = "NO_MEMORY", [4] = "BUSY",
	[5] = "INTERRUPTED", [6] = "DENIED", [7] = "RETRY", [8] = "ABORTED", [9] = "NO_DATA",
	[10] = "NOT_READY",
};

/* linux/arm-smccc.h */
static const char *const smccc_errors[] = {
	[1] = "NOT_SUPPORTED", [2] = "NOT_REQUIRED", [3] = "INVALID_PARAMETER",
};

static const char *name_of(const char *const *names, uint64_t nr, uint64_t index)
{
	return index < nr ? names[index] : NULL;
}

/* Get the name of an error. Return the name with a minus, such as "-EPERM"; NULL if it has none. */
const char *hyptrace_errno_name(int64_t value)
{
	uint64_t number = -(uint64_t)value;

	if (number < KERNEL_ERRNO)
		return name_of(errnos, COUNT(errnos), number);
	return name_of(kernel_errnos, COUNT(kernel_errnos), number - KERNEL_ERRNO);
}

/* Get the name of an error of PSCI. Return the name, such as "DENIED"; NULL if it has none. */
const char *hyptrace_psci_error_name(int64_t value)
{
	return name_of(psci_errors, COUNT(psci_errors), -(uint64_t)value);
}

/* Get the name of an error of FF-A. Return the name, such as "DENIED"; NULL if it has none. */
const char *hyptrace_ffa_error_name(int64_t value)
{
	return name_of(ffa_errors, COUNT(ffa_errors), -(uint64_t)value);
}

/*
 * Get the name of an error of the SMC calling convention. Return the name, such as "NOT_SUPPORTED";
 * NULL if it has none.
 */
const char *hyptrace_smccc_error_name(int64_t value)
{
	return name_of(smccc_errors, COUNT(smccc_errors), -(uint64_t)value);
}

/*
 * The codes from @first to @last have the same name. @level is that of @first; each next code
 * is of the next level.
 */
struct faults {
	uint8_t		first;
	uint8_t		last;
	int8_t		level;
	const char	*name;
};

/* DFSC and IFSC of ESR_EL2 in the Arm ARM: the same for data and instructions */
static const struct faults faults[] = {
	{ 0x00, 0x03, 0, "address size fault" },
	{ 0x04, 0x07, 0, "translation fault" },
	{ 0x08, 0x0b, 0, "access flag fault" },
	{ 0x0c, 0x0f, 0, "permission fault" },
	{ 0x10, 0x10, NO_LEVEL, "external abort" },
	{ 0x11, 0x11, NO_LEVEL, "tag check fault" },
	{ 0x12, 0x17, -2, "external abort on table walk" },
	{ 0x18, 0x18, NO_LEVEL, "parity error" },
	{ 0x1b, 0x1f, -1, "parity error on table walk" },
	{ 0x21, 0x21, NO_LEVEL, "alignment fault" },
	{ 0x22, 0x27, -2, "granule protection fault on table walk" },
	{ 0x28, 0x28, NO_LEVEL, "granule protection fault" },
	{ 0x29, 0x29, -1, "address size fault" },
	{ 0x2a, 0x2b, -2, "translation fault" },
	{ 0x2c, 0x2c, -2, "address size fault" },
	{ 0x30, 0x30, NO_LEVEL, "TLB conflict" },
	{ 0x31, 0x31, NO_LEVEL, "unsupported atomic update" },
	{ 0x34, 0x34, NO_LEVEL, "lockdown fault" },
	{ 0x35, 0x35, NO_LEVEL, "unsupported exclusive access" },
};

/*
 * Explain the fault status code of an abort. Return its name and level; a name of NULL if the
 * architecture does not define the code.
 */
struct fault_status hyptrace_fault_status(unsigned int code)
{
	struct fault_status status = { NULL, NO_LEVEL };
	unsigned int i;

	for (i = 0; i < COUNT(faults); i++) {
		if (code < faults[i].first || code > faults[i].last)
			continue;
		status.name = faults[i].name;
		if (faults[i].level != NO_LEVEL)
			status.level = faults[i].level + (int)(code - faults[i].first);
		return status;
	}
	return status;
}
